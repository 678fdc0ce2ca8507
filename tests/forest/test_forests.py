"""What forests promise beyond scikit-learn's."""

import io
import pickle
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification

import hedgerow
from hedgerow import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesClassifier,
    RandomTreesRegressor,
)

FORESTS = [
    getattr(hedgerow, name)
    for name in hedgerow.__all__
    if name.startswith(("RandomForest", "ExtraTrees", "RandomTrees"))
]
over_forests = pytest.mark.parametrize("kind", FORESTS, ids=lambda kind: kind.__name__)

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def data_for(kind):
    return IRIS if kind.__name__.endswith("Classifier") else DIABETES


def outputs(forest, X):
    return forest.predict_proba(X) if hasattr(forest, "classes_") else forest.predict(X)


def mixed_table(n=400, seed=0):
    """A frame with a number, a category that matters, one with gaps, and classes."""
    random = np.random.default_rng(seed)
    colour = random.choice(["blue", "green", "red", "white"], n)
    size = random.normal(size=n)
    y = (np.isin(colour, ["blue", "red"]) & (size > -0.5)).astype(int)
    gappy = pd.Series(np.where(random.random(n) < 0.3, None, colour), dtype="category")
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "gappy": gappy})
    frame.loc[random.random(n) < 0.1, "size"] = np.nan
    return frame, y


# --- members depend on (seed, i) alone ------------------------------------------------------------


@over_forests
@pytest.mark.parametrize("bootstrap", [True, False])
def test_result_is_the_same_for_any_n_jobs(kind, bootstrap):
    X, y = data_for(kind)
    one, three = (
        kind(n_estimators=7, bootstrap=bootstrap, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 3)
    )
    assert (one.apply(X) == three.apply(X)).all()
    assert (outputs(one, X) == outputs(three, X)).all()
    assert (one.feature_importances_ == three.feature_importances_).all()


@over_forests
def test_warm_start_from_50_to_100_equals_100(kind):
    X, y = data_for(kind)
    settings = {"max_depth": 6, "bootstrap": True, "oob_score": True, "random_state": 0}
    warm = kind(n_estimators=50, warm_start=True, **settings).fit(X, y)
    warm.set_params(n_estimators=100, n_jobs=2).fit(X, y)
    cold = kind(n_estimators=100, **settings).fit(X, y)
    assert (outputs(warm, X) == outputs(cold, X)).all()
    assert warm.oob_score_ == pytest.approx(cold.oob_score_)


@over_forests
def test_member_depends_on_seed_and_place_alone(kind):
    X, y = data_for(kind)
    many = kind(n_estimators=9, random_state=4).fit(X, y).estimators_
    few = kind(n_estimators=3, random_state=4).fit(X, y).estimators_
    for one, other in zip(few, many[:3], strict=True):
        assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    other_seed = kind(n_estimators=3, random_state=5).fit(X, y).estimators_
    assert few[0].tree_.threshold.tolist() != other_seed[0].tree_.threshold.tolist()
    assert few[0].tree_.threshold.tolist() != few[1].tree_.threshold.tolist()


@over_forests
def test_subset_is_the_forest_of_the_first_members(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=10, random_state=0).fit(X, y)
    first = kind(n_estimators=4, random_state=0).fit(X, y)
    cut = forest.subset(4)
    assert (outputs(cut, X) == outputs(first, X)).all()
    assert cut.get_params() == first.get_params()
    assert cut.n_splits_ == first.n_splits_
    assert (cut.feature_importances_ == first.feature_importances_).all()
    assert forest.forest_.n_members == 10
    for wrong in (0, 11, 2.5):
        with pytest.raises(ValueError, match="'n_estimators' must be"):
            forest.subset(wrong)


def test_subset_has_no_out_of_bag_scores():
    X, y = IRIS
    cut = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y).subset(30)
    assert not hasattr(cut, "oob_score_")
    assert not hasattr(cut, "oob_decision_function_")


# --- sizes, files, one row ------------------------------------------------------------------------


@over_forests
def test_pickle_keeps_predictions_and_size(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=20, random_state=0).fit(X, y)
    stored = pickle.dumps(forest)
    again = pickle.loads(stored)
    assert (outputs(again, X) == outputs(forest, X)).all()
    assert (again.n_splits_, again.nbytes_) == (forest.n_splits_, forest.nbytes_)
    assert pickle.dumps(again) == stored
    assert len(stored) < 1.5 * forest.nbytes_ + 10_000


@over_forests
def test_forest_knows_its_size(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=5, random_state=0).fit(X, y)
    assert forest.n_splits_ == sum(member.n_splits_ for member in forest)
    assert forest.get_depth() == max(member.get_depth() for member in forest)
    n_nodes = sum(member.graph_.n_nodes for member in forest)
    assert 16 * n_nodes <= forest.nbytes_ <= 32 * n_nodes + 1000


@over_forests
def test_row_predictor_equals_predict(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=7, random_state=0).fit(X[::2], y[::2])
    predict_row = forest.row_predictor()
    assert [predict_row(row) for row in X] == forest.predict(X).tolist()
    with pytest.raises(ValueError, match="features"):
        predict_row(X[0, :2])


# --- categories and missing values ----------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
@over_forests
def test_categories_and_missing_values_are_read_as_they_are(kind, library):
    frame, y = mixed_table()
    if library == "polars":
        frame = pl.from_pandas(frame)
    forest = kind(n_estimators=20, random_state=0).fit(frame[:200], y[:200])
    assert forest.schema_.categories[0] == ["blue", "green", "red", "white"]
    assert list(forest.feature_names_in_) == ["colour", "size", "gappy"]
    assert forest.score(frame[200:], y[200:]) > (0.85 if hasattr(forest, "classes_") else 0.4)
    assert all((member.graph_.kind == 2).any() for member in forest)


def test_pandas_and_polars_give_the_same_forest():
    frame, y = mixed_table()
    forest = RandomForestClassifier(10, random_state=0)
    by_pandas = forest.fit(frame, y).predict_proba(frame)
    by_polars = forest.fit(pl.from_pandas(frame), y).predict_proba(pl.from_pandas(frame))
    assert (by_pandas == by_polars).all()


def test_category_not_seen_in_training_is_predicted_as_missing():
    frame, y = mixed_table()
    forest = RandomForestClassifier(10, random_state=0).fit(frame, y)
    new = frame[:2].assign(colour=["violet", None])
    same = frame[:2].assign(colour=[None, None])
    assert (forest.predict_proba(new) == forest.predict_proba(same)).all()


# --- completely random trees ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomTreesClassifier, RandomTreesRegressor])
def test_random_trees_grow_until_pure(kind):
    X, y = data_for(kind)
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)  # no two rows alike
    forest = kind(n_estimators=5, random_state=0).fit(X, y)
    assert forest.predict(X) == pytest.approx(y)
    for leaves in forest.apply(X).T:
        for leaf in np.unique(leaves):
            assert len(np.unique(y[leaves == leaf])) == 1


def test_random_trees_choose_their_features_by_chance_alone():
    random = np.random.default_rng(0)
    X = random.random((300, 4))
    y = (X[:, 0] > 0.5).astype(int)  # the other three say nothing
    forest = RandomTreesClassifier(400, random_state=0).fit(X, y)
    roots = np.bincount([member.tree_.feature[0] for member in forest], minlength=4)
    assert roots.min() > 70  # 100 each are expected
    cuts = [m.tree_.threshold[0] for m in forest if m.tree_.feature[0] == 1]
    assert np.histogram(cuts, bins=4, range=(0, 1))[0].min() > 0.15 * len(cuts)


def test_random_trees_never_split_on_a_constant():
    X, y = IRIS
    X = np.column_stack([X, np.ones(len(X))])
    for member in RandomTreesClassifier(10, random_state=0).fit(X, y).estimators_:
        assert 4 not in member.tree_.feature


def test_random_trees_may_take_the_best_threshold_of_their_random_feature():
    X, y = make_classification(300, 6, n_informative=4, random_state=0)
    drawn = RandomTreesClassifier(10, random_state=0).fit(X, y)
    best = RandomTreesClassifier(10, splitter="best", random_state=0).fit(X, y)
    assert best.n_splits_ < drawn.n_splits_
    with pytest.raises(ValueError, match="'splitter' must be one of 'random', 'best', got 'no'."):
        RandomTreesClassifier(splitter="no").fit(X, y)


# --- importances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_importance_does_not_favour_many_values(kind):
    random = np.random.default_rng(0)
    informative = random.integers(0, 2, 300)
    X = np.column_stack([informative, random.random(300)])  # the second says nothing
    y = np.where(random.random(300) < 0.7, informative, 1 - informative)
    forest = kind(n_estimators=50, max_features=1, random_state=0).fit(X, y)
    assert forest.feature_importances_[1] > forest.feature_importances_[0]
    result = forest.oob_permutation_importance(X, y)
    assert result.importances_mean[0] > 3 * abs(result.importances_mean[1])
    assert result.importances.shape == (2, 50)
    assert result.importances_std.shape == (2,)


def test_out_of_bag_importance_of_an_unused_feature_is_zero():
    X, y = IRIS
    X = np.column_stack([X, np.zeros(len(X))])
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert forest.oob_permutation_importance(X, y).importances_mean[4] == 0


def test_out_of_bag_importance_needs_bags():
    X, y = IRIS
    with pytest.raises(ValueError, match="bootstrap=True"):
        ExtraTreesClassifier(5).fit(X, y).oob_permutation_importance(X, y)


# --- progress -------------------------------------------------------------------------------------


@over_forests
def test_callback_hears_of_all_members(kind):
    X, y = data_for(kind)
    heard = []
    kind(n_estimators=6, callback=lambda done, of: heard.append((done, of))).fit(X, y)
    assert heard == sorted(heard)
    assert heard[-1] == (6, 6)


def test_forest_is_quiet_unless_asked():
    X, y = IRIS
    for verbose in (0, 1):
        with redirect_stdout(io.StringIO()) as out:
            RandomForestClassifier(5, verbose=verbose).fit(X, y)
        assert ("5/5" in out.getvalue()) == bool(verbose)


# --- bad input ------------------------------------------------------------------------------------


@over_forests
def test_bad_draws_are_refused(kind):
    X, y = data_for(kind)
    with pytest.raises(ValueError, match="'max_samples' must be an int of at least 1 or a float"):
        kind(bootstrap=True, max_samples=1.5).fit(X, y)
    with pytest.raises(ValueError, match="max_samples.*must be <= n_samples"):
        kind(bootstrap=True, max_samples=len(y) + 1).fit(X, y)
    with pytest.raises(ValueError, match="`max_sample` cannot be set if `bootstrap=False`"):
        kind(bootstrap=False, max_samples=10).fit(X, y)


def test_warm_start_on_another_table_is_refused():
    X, y = IRIS
    forest = RandomForestClassifier(3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="set warm_start=False to start anew"):
        forest.set_params(n_estimators=5).fit(X[:, :2], y)


def test_table_with_other_columns_is_refused():
    frame, y = mixed_table(50)
    forest = RandomForestClassifier(3).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        forest.predict(frame.rename(columns={"size": "height"}))
    X, y = IRIS
    forest = RandomForestClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match="2 features, but RandomForestClassifier is expecting 4"):
        forest.predict(X[:, :2])
