"""Forests and bags of several outputs: against their members and scikit-learn's forests."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble as theirs
from sklearn.datasets import load_diabetes, make_multilabel_classification
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

import hedgerow
from hedgerow import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesRegressor,
    inspect,
)
from hedgerow.export import ExportError, to_python

LABELS = make_multilabel_classification(n_samples=400, n_features=12, n_classes=4, random_state=1)
TABLE, TARGET = load_diabetes(return_X_y=True)
NUMBERS = TABLE[:, :8], np.column_stack([TARGET, 100 * TABLE[:, 8]])
KINDS = [RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor,
         RandomTreesRegressor, BaggingClassifier, BaggingRegressor]  # fmt: skip


def data_for(kind):
    return LABELS if kind.__name__.endswith("Classifier") else NUMBERS


def stacked(model, X):
    """The probabilities of all outputs beside each other, or the numbers."""
    if hasattr(model, "classes_"):
        return np.hstack(model.predict_proba(X))
    return model.predict(X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_is_the_mean_of_its_members(kind):
    X, y = data_for(kind)
    model = kind(n_estimators=12, random_state=0).fit(X, y)
    assert model.n_outputs_ == y.shape[1]
    members = [stacked(member, X) for member in model.estimators_]
    assert_allclose(stacked(model, X), np.mean(members, axis=0), atol=1e-12)
    assert model.predict(X).shape == y.shape
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert len(set(map(str, (member.tree_.feature for member in model)))) > 1
    assert_array_equal(stacked(kind(n_estimators=12, random_state=0, n_jobs=2).fit(X, y), X),
                       stacked(model, X))  # fmt: skip


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor,
                                  ExtraTreesClassifier, ExtraTreesRegressor])  # fmt: skip
def test_is_as_good_as_scikit_learns(kind):
    X, y = data_for(kind)
    halves = slice(0, None, 2), slice(1, None, 2)
    settings = {"n_estimators": 100, "random_state": 0, "bootstrap": True, "oob_score": True}
    ours = kind(**settings).fit(X[halves[0]], y[halves[0]])
    other = getattr(theirs, kind.__name__)(**settings).fit(X[halves[0]], y[halves[0]])
    if hasattr(ours, "classes_"):
        scores = [(m.predict(X[halves[1]]) == y[halves[1]]).mean() for m in (ours, other)]
    else:
        scores = [r2_score(y[halves[1]], m.predict(X[halves[1]])) for m in (ours, other)]
    assert scores[0] == pytest.approx(scores[1], abs=0.03)
    assert ours.oob_score_ == pytest.approx(other.oob_score_, abs=0.06)
    name = "oob_decision_function_" if hasattr(ours, "classes_") else "oob_prediction_"
    assert getattr(ours, name).shape == getattr(other, name).shape
    assert_allclose(ours.feature_importances_, other.feature_importances_, atol=0.05)


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_out_of_bag_is_what_unseen_rows_are_told(kind):
    X, y = LABELS
    model = kind(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    sums, counts = np.zeros((len(X), 8)), np.zeros(len(X))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(len(X)), rows)
        sums[unseen] += stacked(member, X[unseen])
        counts[unseen] += 1
    means = (sums / counts[:, None]).reshape(len(X), 4, 2)
    assert_allclose(model.oob_decision_function_, means.transpose(0, 2, 1), atol=1e-12)
    right = (means.argmax(axis=2) == y).all(axis=1)
    assert model.oob_score_ == pytest.approx(right.mean())


def test_intervals_hold_each_output():
    X, y = NUMBERS
    model = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    intervals = model.predict_interval(X, coverage=0.8)
    assert intervals.shape == (*y.shape, 2)
    assert ((intervals[..., 0] <= y) & (y <= intervals[..., 1])).mean(axis=0).min() > 0.8


@pytest.mark.parametrize("bootstrap", [True, False])
def test_equal_outputs_are_one_output(bootstrap):
    X, y = LABELS
    settings = {"n_estimators": 5, "random_state": 3, "bootstrap": bootstrap}
    one = RandomForestClassifier(**settings).fit(X, y[:, 0])
    both = RandomForestClassifier(**settings).fit(X, y[:, [0, 0]])
    assert_allclose(one.predict_proba(X), both.predict_proba(X)[1], atol=1e-12)


def test_weights_of_classes_multiply_in_each_bag():
    X, y = LABELS
    y = y[:, :2]
    settings = {"n_estimators": 4, "max_depth": 3, "max_features": None, "random_state": 0}
    model = RandomForestClassifier(class_weight="balanced_subsample", **settings).fit(X, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(y)).astype(float)
        for output in y.T:
            share = np.bincount(output, np.bincount(rows, minlength=len(y)), 2)
            counts *= (share.sum() / (2 * share))[output]
        alone = DecisionTreeClassifier(max_depth=3).fit(X, y, counts)
        assert_allclose(np.hstack(alone.predict_proba(X)), stacked(member, X), atol=1e-9)


def test_more_members_and_fewer_are_the_same_forest():
    X, y = LABELS
    whole = RandomForestClassifier(8, random_state=0).fit(X, y)
    grown = RandomForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=8).fit(X, y)
    assert_array_equal(stacked(whole, X), stacked(grown, X))
    fewer = RandomForestClassifier(4, random_state=0).fit(X, y)
    assert_array_equal(stacked(whole.subset(4), X), stacked(fewer, X))
    with pytest.raises(ValueError, match="features and classes of the first fit"):
        grown.set_params(n_estimators=9).fit(X, y[:, :3])


def test_features_that_are_drawn_for_members():
    X, y = LABELS
    soft = BaggingClassifier(n_estimators=6, max_features=5, random_state=0).fit(X, y)
    votes = np.zeros((len(X), 8))
    for member, features in zip(soft.estimators_, soft.estimators_features_, strict=True):
        votes += stacked(member, X[:, features])
    assert_allclose(stacked(soft, X), votes / 6)
    hard = BaggingClassifier(n_estimators=6, voting="hard", random_state=0).fit(X, y)
    counted = np.mean([member.predict(X) for member in hard], axis=0)
    assert_allclose(stacked(hard, X)[:, 1::2], counted)


def test_regressors_of_scikit_learn_in_a_bag():
    X, y = NUMBERS
    bag = BaggingRegressor(KNeighborsRegressor(), n_estimators=3, random_state=0).fit(X, y)
    assert_allclose(bag.predict(X), np.mean([member.predict(X) for member in bag], axis=0))


def test_contests_of_trees_know_several_numbers():
    X, y = NUMBERS
    tree = hedgerow.CrossValidatedTreeRegressor(random_state=0).fit(X, y)
    assert set(tree.scores_) == {"cart", "mmdt"}
    forest = hedgerow.HeterogeneousForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    members = np.mean([member.predict(X) for member in forest], axis=0)
    assert_allclose(forest.predict(X), members)
    assert forest.score(X, y) > 0.5


def test_importance_by_shuffling_is_the_mean_over_outputs():
    X, y = NUMBERS
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    together = forest.oob_permutation_importance(X, y).importances_mean
    assert together.shape == (8,)
    assert together.argmax() == 2
    with pytest.raises(ValueError, match="other classes"):
        labels = RandomForestClassifier(3, random_state=0).fit(*LABELS)
        labels.oob_permutation_importance(LABELS[0], LABELS[1][:, :3])


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor, BaggingClassifier])
def test_files_and_fast_lanes(kind, tmp_path):
    X, y = data_for(kind)
    model = kind(n_estimators=3, random_state=0).fit(X, y)
    hedgerow.save(model, tmp_path / "forest.hedgerow")
    again = hedgerow.load(tmp_path / "forest.hedgerow")
    assert_array_equal(again.predict(X), model.predict(X))
    predict = model.row_predictor()
    assert_allclose([predict(row) for row in X[:5]], model.predict(X[:5]))


def test_words_and_pictures_of_a_member():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(*LABELS)
    member = inspect.member(forest, 0, *LABELS)
    text = inspect.export_text(member)
    assert "[0, 1, " in text or "[1, " in text
    assert "p = [" in text
    assert len(inspect.rules(member)) == member.get_n_leaves()
    told = inspect.explain(member, LABELS[0][0])
    assert told.prediction == member.predict(LABELS[0][:1])[0].tolist()
    assert "fillcolor" in inspect.export_dot(member)
    assert "4 outputs" in inspect.overview(forest)
    numbers = RandomForestRegressor(2, max_depth=2, random_state=0).fit(*NUMBERS)
    member = inspect.member(numbers, 0, *NUMBERS)
    told = inspect.explain(member, NUMBERS[0][0])
    assert_allclose(told.prediction, member.predict(NUMBERS[0][:1])[0])


def test_what_is_for_one_output_says_so():
    X, y = LABELS
    kinds = np.column_stack([y[:, 0], y[:, :3].sum(axis=1)])
    with pytest.raises(ValueError, match="type of target cannot be used to compute OOB"):
        RandomForestClassifier(3, oob_score=True).fit(X, kinds)
    with pytest.raises(ValueError, match="one target"):
        RandomForestRegressor(3, keep_targets=True).fit(*NUMBERS)
    with pytest.raises(ValueError, match="2 outputs, and this model takes one"):
        hedgerow.HeterogeneousForestClassifier().fit(X, kinds)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="4 outputs"):
        hedgerow.compress(forest, X, y, max_splits=10)
    with pytest.raises(ExportError, match="classes of 4 outputs"):
        to_python(forest)
