"""Bags: of hedgerow's trees in the engine, of any other member through joblib."""

import os
import pickle
import re
import signal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

import hedgerow
from hedgerow import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
)

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

MEMBERS = [
    None,
    DecisionTreeClassifier(splitter="random", max_features=2),
    ExtraTreesClassifier(n_estimators=2),
    TheirTree(max_features=2),
    GaussianNB(),
    KNeighborsClassifier(3, algorithm="kd_tree"),
    make_pipeline(StandardScaler(), GaussianNB()),
]
over_members = pytest.mark.parametrize("member", MEMBERS, ids=lambda m: type(m).__name__)
over_libraries = pytest.mark.parametrize(
    "kind", [BaggingClassifier, sklearn.ensemble.BaggingClassifier], ids=["hedgerow", "sklearn"]
)


# --- like scikit-learn ----------------------------------------------------------------------------


@over_members
def test_accuracy_agrees_with_scikit_learn(member):
    theirs = TheirTree() if member is None else member
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        train, test = slice(0, None, 2), slice(1, None, 2)
        scores = [
            kind(estimator, n_estimators=15, random_state=0)
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for kind, estimator in (
                (BaggingClassifier, member),
                (sklearn.ensemble.BaggingClassifier, theirs),
            )
        ]
        assert abs(scores[0] - scores[1]) < 0.06


@over_libraries
@pytest.mark.parametrize(
    "settings",
    [
        {"max_samples": 0.5},
        {"max_samples": 20, "bootstrap": False},
        {"max_features": 2},
        {"max_features": 0.5, "bootstrap_features": True},
        {"max_samples": 0.5, "max_features": 0.5, "bootstrap": False},
    ],
    ids=str,
)
def test_rows_and_features_are_drawn(kind, settings):
    X, y = IRIS
    bag = kind(n_estimators=10, random_state=0, **settings).fit(X, y)
    assert bag.score(X, y) > 0.85
    share = settings.get("max_samples", 1.0)
    for rows in bag.estimators_samples_:
        assert len(rows) == (share if isinstance(share, int) else share * 150)
        assert settings.get("bootstrap", True) or len(np.unique(rows)) == len(rows)
    for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True):
        n_features = 2 if "max_features" in settings else 4
        assert len(features) == n_features or settings.get("bootstrap_features")
        assert member.n_features_in_ == len(features)


@over_libraries
def test_member_can_be_fitted_again_from_its_draws(kind):
    X, y = IRIS
    bag = kind(KNeighborsClassifier(1), 5, max_features=3, random_state=0).fit(X, y)
    draws = zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True)
    for member, rows, features in draws:
        again = KNeighborsClassifier(1).fit(X[rows][:, features], y[rows])
        assert again.predict(X[:, features]).tolist() == member.predict(X[:, features]).tolist()


@over_libraries
def test_members_vote_with_their_probabilities(kind):
    X, y = IRIS
    bag = kind(GaussianNB(), 5, random_state=0).fit(X, y)
    mean = np.mean([member.predict_proba(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), mean)
    assert (bag.predict(X) == mean.argmax(axis=1)).all()
    np.testing.assert_allclose(np.exp(bag.predict_log_proba(X)), mean)


@over_libraries
def test_members_without_probabilities_are_counted(kind):
    X, y = IRIS
    bag = kind(LinearSVC(), 5, random_state=0).fit(X[y > 0], y[y > 0] - 1)
    votes = np.mean([member.predict(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X)[:, 1], votes)


@over_libraries
def test_out_of_bag_score_is_close_to_that_on_unseen_rows(kind):
    X, y = load_breast_cancer(return_X_y=True)
    bag = kind(n_estimators=40, oob_score=True, random_state=0).fit(X[::2], y[::2])
    assert abs(bag.oob_score_ - bag.score(X[1::2], y[1::2])) < 0.04
    assert bag.oob_decision_function_.shape == (285, 2)


@pytest.mark.parametrize("kind", [BaggingRegressor, sklearn.ensemble.BaggingRegressor])
@pytest.mark.parametrize("member", [None, Ridge(alpha=0.01), KNeighborsRegressor()], ids=str)
def test_regressors_are_averaged(kind, member):
    X, y = DIABETES
    bag = kind(member, 30, oob_score=True, random_state=0).fit(X[::2], y[::2])
    mean = np.mean([member.predict(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict(X), mean)
    assert abs(bag.oob_score_ - bag.score(X[1::2], y[1::2])) < 0.2
    assert bag.oob_prediction_.shape == (221,)


@over_libraries
def test_too_few_members_for_out_of_bag_scores_warn(kind):
    X, y = IRIS
    for member in (None, GaussianNB()):
        with (
            pytest.warns(UserWarning, match="Some inputs do not have OOB scores"),
            np.errstate(invalid="ignore"),
        ):
            kind(member, n_estimators=1, oob_score=True, random_state=0).fit(X, y)


@over_libraries
def test_out_of_bag_scores_need_bags(kind):
    with pytest.raises(ValueError, match="Out of bag estimation only available if bootstrap=True"):
        kind(oob_score=True, bootstrap=False).fit(*IRIS)


@over_libraries
def test_warm_start_refuses_fewer_members_and_warns_of_none(kind):
    bag = kind(n_estimators=5, warm_start=True, random_state=0).fit(*IRIS)
    with pytest.warns(UserWarning, match="does not fit new"):
        bag.fit(*IRIS)
    with pytest.raises(ValueError, match="n_estimators=4 must be larger or equal"):
        bag.set_params(n_estimators=4).fit(*IRIS)


@over_libraries
def test_grid_search_reaches_the_member(kind):
    grid = GridSearchCV(
        kind(DecisionTreeClassifier(), 3, random_state=0), {"estimator__max_depth": [1, 4]}, cv=2
    )
    best = grid.fit(*IRIS).best_estimator_
    assert best.estimator_.max_depth in (1, 4)
    assert best.estimators_[0].get_depth() <= best.estimator_.max_depth


def test_parameters_and_defaults_are_those_of_scikit_learn():
    ours = BaggingClassifier().get_params()
    theirs = sklearn.ensemble.BaggingClassifier().get_params() | {"max_samples": None}
    assert {key: ours[key] for key in theirs} == theirs


# --- one result, whoever does the work ------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_depth": 3, "min_samples_leaf": 4},
        {"criterion": "entropy", "class_weight": "balanced", "ccp_alpha": 0.02},
        {"min_samples_split": 0.3, "min_weight_fraction_leaf": 0.05, "max_leaf_nodes": 6},
    ],
    ids=str,
)
@pytest.mark.parametrize("max_samples", [1.0, 0.4])
def test_engine_and_joblib_grow_the_same_bag(settings, max_samples):
    X, y = IRIS
    tree = DecisionTreeClassifier(**settings)
    rest = {"n_estimators": 25, "max_samples": max_samples, "oob_score": True, "random_state": 3}
    grown = BaggingClassifier(tree, **rest).fit(X, y)
    fitted = BaggingClassifier(_Tree(**tree.get_params()), **rest).fit(X, y)
    np.testing.assert_allclose(grown.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(
        grown.oob_decision_function_, fitted.oob_decision_function_, rtol=1e-12
    )
    assert grown.forest_ is not None
    assert fitted.forest_ is None
    assert grown.n_splits_ == fitted.n_splits_


def test_engine_draws_rows_without_replacement():
    X, y = IRIS
    rest = {"n_estimators": 25, "max_samples": 0.4, "bootstrap": False, "random_state": 3}
    grown = BaggingClassifier(DecisionTreeClassifier(), **rest).fit(X, y)
    fitted = BaggingClassifier(_Tree(), **rest).fit(X, y)
    assert grown.forest_ is not None
    np.testing.assert_allclose(grown.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    bags = np.array(grown.estimators_samples_)
    assert bags.shape == (25, 60)
    assert all(len(np.unique(bag)) == 60 for bag in bags)
    share = np.bincount(bags.ravel(), minlength=150) / 25
    assert 0 < share.min() < 0.4 < share.max() < 1
    assert abs(share[:75].mean() - 0.4) < 0.05


class _Tree(DecisionTreeClassifier):
    """Not a plain tree, so not grown by the engine as a forest."""


@over_members
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_result_is_the_same_for_any_n_jobs(member, voting):
    X, y = IRIS
    one, two = (
        BaggingClassifier(
            member, 12, max_samples=0.5, oob_score=True, voting=voting, random_state=0, n_jobs=jobs
        ).fit(X, y)
        for jobs in (1, 2)
    )
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert one.oob_score_ == two.oob_score_


@over_members
def test_warm_start_equals_one_fit(member):
    X, y = IRIS
    warm = BaggingClassifier(member, 15, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=30, oob_score=True).fit(X, y)
    cold = BaggingClassifier(member, 30, oob_score=True, random_state=0).fit(X, y)
    assert (warm.predict_proba(X) == cold.predict_proba(X)).all()
    np.testing.assert_allclose(warm.oob_decision_function_, cold.oob_decision_function_)


@over_members
def test_subset_is_the_bag_of_the_first_members(member):
    X, y = IRIS
    bag = BaggingClassifier(member, 20, oob_score=True, random_state=0).fit(X, y)
    first = BaggingClassifier(member, 6, random_state=0).fit(X, y)
    cut = bag.subset(6)
    assert (cut.predict_proba(X) == first.predict_proba(X)).all()
    assert len(cut.estimators_) == 6
    assert not hasattr(cut, "oob_score_")
    assert len(bag.estimators_) == 20
    with pytest.raises(ValueError, match="'n_estimators' must be at most 20, got 21."):
        bag.subset(21)


@over_members
def test_pickle_predicts_the_same(member):
    X, y = IRIS
    bag = BaggingClassifier(member, 4, random_state=0).fit(X, y)
    assert (pickle.loads(pickle.dumps(bag)).predict_proba(X) == bag.predict_proba(X)).all()


def test_member_has_a_seed_of_its_own():
    bag = BaggingClassifier(make_pipeline(TheirTree()), 3, random_state=0).fit(*IRIS)
    seeds = [member[0].random_state for member in bag.estimators_]
    assert len(set(seeds)) == 3
    again = BaggingClassifier(make_pipeline(TheirTree()), 2, random_state=0).fit(*IRIS)
    assert [member[0].random_state for member in again.estimators_] == seeds[:2]


# --- votes, labels, weights -----------------------------------------------------------------------


@over_members
def test_hard_vote_counts_predictions(member):
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    bag = BaggingClassifier(member, 7, voting="hard", random_state=0).fit(X[::2], names[::2])
    votes = np.array([member.predict(X) for member in bag.estimators_])
    shares = np.stack([(votes == name).mean(axis=0) for name in bag.classes_], axis=1)
    np.testing.assert_allclose(bag.predict_proba(X), shares)
    assert (bag.predict(X) == bag.classes_[shares.argmax(axis=1)]).all()


def test_member_that_missed_a_class_votes_for_those_it_saw():
    X = np.arange(12.0)[:, None]
    y = np.array(["a"] * 5 + ["b"] * 6 + ["c"])
    bag = BaggingClassifier(KNeighborsClassifier(1), 20, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in bag.estimators_} == {2, 3}
    np.testing.assert_allclose(bag.predict_proba(X).sum(axis=1), 1)
    assert bag.predict(X)[:5].tolist() == ["a"] * 5


@pytest.mark.parametrize("member", [None, _Tree()], ids=str)
def test_rows_without_weight_are_not_learnt(member):
    X, y = IRIS
    weights = (y < 2).astype(float)
    bag = BaggingClassifier(member, 5, random_state=0).fit(X, y, sample_weight=weights)
    assert set(bag.predict(X)) == {0, 1}


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(), GaussianNB()], ids=str)
def test_rows_are_drawn_by_their_weights(member):
    X, y = IRIS
    weights = np.where(np.arange(150) % 3, 0.0, 2.0)
    weights[0] = 50  # of 148 in all
    bag = BaggingClassifier(member, 40, random_state=0).fit(X, y, weights)
    drawn = np.bincount(np.concatenate(bag.estimators_samples_), minlength=150)
    assert drawn.sum() == 40 * 150
    assert not drawn[weights == 0].any()
    assert abs(drawn[0] / drawn.sum() - 50 / 148) < 0.03


def test_shared_table_and_joblib_grow_the_same_bag_of_weighted_rows():
    X, y = IRIS
    weights = np.random.default_rng(0).uniform(0.5, 2, 150)
    grown, fitted = (
        BaggingClassifier(tree, 25, random_state=3).fit(X, y, weights)
        for tree in (DecisionTreeClassifier(), _Tree())
    )
    np.testing.assert_allclose(grown.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)


def test_bags_drawn_by_weights_go_on_with_the_same_weights():
    X, y = IRIS
    weights = 1.0 + (y == 1)
    once = BaggingClassifier(n_estimators=40, random_state=0).fit(X, y, weights)
    more = BaggingClassifier(n_estimators=20, random_state=0, warm_start=True).fit(X, y, weights)
    assert_array_equal(
        more.set_params(n_estimators=40).fit(X, y, weights).predict_proba(X),
        once.predict_proba(X),
    )
    with pytest.raises(ValueError, match="warm_start needs the table"):
        more.set_params(n_estimators=50).fit(X, y, weights + 1)


def test_a_share_of_rows_is_one_of_the_weights():
    X, y = IRIS
    bag = BaggingClassifier(max_samples=0.5, random_state=0).fit(X, y, np.full(150, 2.0))
    assert {len(rows) for rows in bag.estimators_samples_} == {150}
    with pytest.warns(UserWarning, match=r"low number \(1\) of bootstrap samples"):
        BaggingClassifier(max_samples=1.0).fit(X, y, np.full(150, 0.01))


@pytest.mark.filterwarnings("ignore:When fitting BaggingClassifier with sample_weight")
def test_without_replacement_no_more_rows_are_drawn_than_have_a_weight():
    X, y = IRIS
    weights = (np.arange(150) % 3 == 0).astype(float)
    bag = BaggingClassifier(bootstrap=False, max_samples=20, random_state=0).fit(X, y, weights)
    assert all(weights[rows].all() and len(set(rows)) == 20 for rows in bag.estimators_samples_)
    with pytest.raises(ValueError, match="only 50 have a weight"):
        BaggingClassifier(bootstrap=False, max_samples=51).fit(X, y, weights)


def test_a_file_keeps_the_weights_that_rows_were_drawn_by(tmp_path):
    X, y = IRIS
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y, 1.0 + (y == 1))
    hedgerow.save(bag, tmp_path / "bag.hedgerow")
    kept = hedgerow.load(tmp_path / "bag.hedgerow")
    for rows, same in zip(bag.estimators_samples_, kept.estimators_samples_, strict=True):
        assert_array_equal(rows, same)
    assert_array_equal(bag.predict_proba(X), kept.predict_proba(X))


# --- frames ---------------------------------------------------------------------------------------


def mixed_table():
    random = np.random.default_rng(0)
    colour = random.choice(["blue", "green", "red"], 200)
    kind = random.integers(0, 5, 200)
    size = np.where(random.random(200) < 0.1, np.nan, random.normal(size=200))
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "kind": kind, "size": size})
    return frame, ((colour == "green") ^ np.isin(kind, [0, 3])).astype(int)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "settings", [{}, {"max_features": 2}, {"bootstrap_features": True}], ids=str
)
def test_hedgerow_members_read_frames_as_they_are(library, settings):
    frame, y = mixed_table()
    X = pl.from_pandas(frame) if library == "polars" else frame
    for tree in (DecisionTreeClassifier, RandomForestClassifier):
        member = tree(categorical_features=["colour", "kind"], max_depth=4)
        if tree is RandomForestClassifier:
            member.set_params(n_estimators=2)
        bag = BaggingClassifier(member, 20, random_state=0, **settings).fit(X, y)
        assert bag.score(X, y) > 0.7
        for features, fitted in zip(bag.estimators_features_, bag.estimators_, strict=True):
            categorical = [place for place, f in enumerate(features) if f < 2]
            assert list(fitted.schema_.categories) == categorical


def test_scikit_learn_members_get_frames_too():
    X, y = load_iris(return_X_y=True, as_frame=True)
    bag = BaggingClassifier(GaussianNB(), 3, max_features=2, random_state=0).fit(X, y)
    for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True):
        assert list(member.feature_names_in_) == list(X.columns[features])
    assert bag.score(X, y) > 0.8


# --- progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
def test_callback_and_bar_tell_members_done(member, capsys):
    heard = []
    bag = BaggingClassifier(member, 5, callback=lambda done, of: heard.append((done, of)))
    bag.fit(*IRIS)
    assert capsys.readouterr().out == ""
    assert heard == sorted(heard)
    assert heard[-1] == (5, 5)
    bag.set_params(verbose=1).fit(*IRIS)
    assert "5/5" in capsys.readouterr().out


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_features": 5}, "'max_features' must be at most 4, the number of features, got 5."),
        ({"max_features": 0}, "'max_features' must be an int of at least 1 or a float in (0, 1]"),
        ({"max_features": 1.1}, "'max_features' must be an int of at least 1 or a float in (0, 1]"),
        ({"max_samples": 151}, "`max_samples` must be <= n_samples=150 but got value 151"),
        ({"max_samples": 0.0}, "'max_samples' must be an int of at least 1 or a float in (0, 1]"),
        ({"n_estimators": 0}, "'n_estimators' must be a positive int, got 0."),
        ({"voting": "loud"}, "'voting' must be one of 'soft', 'hard', got 'loud'."),
        ({"bootstrap": "yes"}, "'bootstrap' must be True or False, got 'yes'."),
        ({"n_jobs": 0}, "'n_jobs' must be a non-zero int or None, got 0."),
        ({"estimator": DecisionTreeRegressor()}, "'estimator' must be a classifier, got Decision"),
        ({"estimator": DecisionTreeClassifier(max_depth=-3)}, "'max_depth' must be a positive int"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError) as error:
        BaggingClassifier(**settings).fit(*IRIS)
    assert message in str(error.value)


@pytest.mark.parametrize("estimator", [3, GaussianNB])
def test_estimator_must_be_one(estimator):
    with pytest.raises(TypeError, match="'estimator' must be an estimator with a fit method"):
        BaggingClassifier(estimator).fit(*IRIS)


def test_warm_start_on_another_table_is_refused():
    X, y = IRIS
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 2, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="set warm_start=False to start anew"):
            bag.set_params(n_estimators=4).fit(X[:90], y[:90])


def breaking_member(how):
    """A class that joblib ships to its workers by value, since it has no place to import from."""

    class Breaking(ClassifierMixin, BaseEstimator):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y):
            how()

        def predict(self, X):
            return X

    return Breaking()


def failing():
    """A function that reaches other processes by value: they cannot import this module."""

    def fail():
        raise ArithmeticError("the numbers are too large")

    return fail


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failing_member_is_named_and_its_cause_kept(n_jobs):
    with pytest.raises(RuntimeError) as error:
        BaggingClassifier(breaking_member(failing()), 3, n_jobs=n_jobs).fit(*IRIS)
    assert re.match(r"Member \d \(Breaking\) failed with ArithmeticError", str(error.value))
    assert "ArithmeticError" in repr(error.value.__cause__)


def test_missing_values_for_a_member_without_them_name_the_member():
    X, y = IRIS
    with pytest.raises(RuntimeError, match=r"Member 0 \(LogisticRegression\).*contains NaN"):
        BaggingClassifier(LogisticRegression()).fit(np.where(X > 7, np.nan, X), y)


def test_killed_worker_ends_in_a_clear_error():
    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="A worker process was killed.*fewer workers"):
        BaggingClassifier(breaking_member(die), 4, n_jobs=2).fit(*IRIS)
