"""What all ensembles promise: members, sizes, and a model that answers while it is fitted anew."""

import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error
from sklearn.naive_bayes import GaussianNB

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    HeterogeneousForestClassifier,
    HeterogeneousForestRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesClassifier,
    RandomTreesRegressor,
    TreeInTreeClassifier,
)

WINE, DIABETES = load_wine(return_X_y=True), load_diabetes(return_X_y=True)
FORESTS = [
    RandomForestClassifier(6, random_state=0),
    RandomForestRegressor(6, random_state=0),
    ExtraTreesClassifier(6, random_state=0),
    RandomTreesClassifier(6, random_state=0),
    RandomTreesRegressor(6, random_state=0),
]
BAGS = [
    BaggingClassifier(n_estimators=6, random_state=0),
    BaggingRegressor(n_estimators=6, random_state=0),
    BaggingClassifier(MeanMarginTreeClassifier(), 6, random_state=0),
    BaggingRegressor(MeanMarginTreeRegressor(), 6, random_state=0),
    HeterogeneousForestClassifier(n_estimators=6, random_state=0),
    HeterogeneousForestRegressor(n_estimators=6, random_state=0),
]
OTHER_BAGS = [
    BaggingClassifier(GaussianNB(), 6, random_state=0),
    BaggingRegressor(Ridge(), 6, random_state=0),
    BaggingClassifier(n_estimators=6, max_features=0.5, random_state=0),
]
BOOSTED = [
    AdaBoostClassifier(n_estimators=6, random_state=0),
    AdaBoostRegressor(n_estimators=6, random_state=0),
    AdaBoostClassifier(MeanMarginTreeClassifier(max_depth=1), n_estimators=6, random_state=0),
    AdaBoostClassifier(GaussianNB(), n_estimators=6, random_state=0),
]


def over(models):
    return pytest.mark.parametrize("model", models, ids=repr)


def data_for(model):
    return WINE if type(model).__name__.endswith("Classifier") else DIABETES


def fitted(model, **parameters):
    return clone(model).set_params(**parameters).fit(*data_for(model))


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


# --- members --------------------------------------------------------------------------------------


@over(FORESTS + BAGS)
def test_members_are_fitted_estimators_whose_mean_is_the_ensemble(model):
    X, _ = data_for(model)
    model = fitted(model)
    assert_allclose(outputs(model, X), np.mean([outputs(m, X) for m in model.estimators_], axis=0))
    member = model.estimators_[0]
    if hasattr(model, "classes_"):
        assert_array_equal(member.classes_, model.classes_)


@over(FORESTS + BAGS + OTHER_BAGS + BOOSTED)
def test_members_are_counted_and_found_by_their_place(model):
    X, _ = data_for(model)
    model = fitted(model)
    assert len(model) == len(model.estimators_) == 6
    by_place = [model[place] for place in range(6)]
    for listed, found, stepped in zip(model.estimators_, by_place, model, strict=True):
        assert_array_equal(listed.predict(X[:, : listed.n_features_in_]),
                           found.predict(X[:, : listed.n_features_in_]))  # fmt: skip
        assert type(stepped) is type(found)
    assert len(model[1:3]) == 2
    assert_array_equal(model[-1].n_features_in_, model[5].n_features_in_)
    with pytest.raises(IndexError):
        model[6]


def test_a_forest_s_tree_has_the_forest_s_settings():
    tree = fitted(FORESTS[3], max_depth=3, min_samples_leaf=2)[0]
    assert isinstance(tree, DecisionTreeClassifier)
    assert (tree.splitter, tree.max_features, tree.max_depth) == ("random", 1, 3)
    assert tree.max_features_ == 1
    assert tree.get_depth() <= 3


def test_a_bag_of_graphs_merges_leaves_where_its_members_do():
    X, y = WINE
    merging = TreeInTreeClassifier(max_splits=12, merge_leaves=True, random_state=0)
    bag = BaggingClassifier(merging, 3, random_state=0).fit(X, y)
    for member, rows in zip(bag, bag.estimators_samples_, strict=True):
        assert member.get_n_leaves() == len(bag.classes_)
        weights = np.bincount(rows, minlength=len(y))
        alone = TreeInTreeClassifier(**member.get_params()).fit(X, y, sample_weight=weights)
        assert_array_equal(alone.predict_proba(X), member.predict_proba(X))


# --- sizes and looks ------------------------------------------------------------------------------


@over(FORESTS + BAGS + BOOSTED[:3])
def test_ensembles_of_graphs_know_their_size(model):
    model = fitted(model)
    assert model.n_splits_ == sum(member.n_splits_ for member in model)
    assert model.get_depth() == max(member.get_depth() for member in model)
    members_alone = sum(member.nbytes_ for member in model)
    assert 0.5 * members_alone < model.nbytes_ <= members_alone


@over(FORESTS + BAGS + BOOSTED[:3])
def test_ensembles_of_graphs_have_importances(model):
    model = fitted(model)
    importances = model.feature_importances_
    assert importances.shape == (model.n_features_in_,)
    assert importances.sum() == pytest.approx(1)
    if getattr(model, "forest_", None) is None:  # trees of a forest keep no impurities
        weights = getattr(model, "estimator_weights_", None)
        members = [member.feature_importances_ for member in model]
        assert_allclose(importances, np.average(members, axis=0, weights=weights))


def test_importances_of_drawn_features_are_at_their_places():
    bag = fitted(OTHER_BAGS[2])
    total = np.zeros(bag.n_features_in_)
    for member, features in zip(bag, bag.estimators_features_, strict=True):
        total[features] += member.feature_importances_ / 6
    assert_allclose(bag.feature_importances_, total)


@over(FORESTS + BAGS)
def test_rows_can_be_followed_through_graphs(model):
    X, _ = data_for(model)
    model = fitted(model)
    leaves = model.apply(X)
    assert_array_equal(leaves, np.column_stack([member.apply(X) for member in model]))
    path, ends = model.decision_path(X)
    assert issparse(path)
    assert path.shape == (len(X), ends[-1])
    for place, member in enumerate(model):
        assert (path[:, ends[place] : ends[place + 1]] != member.decision_path(X)).nnz == 0


@over(FORESTS + BAGS)
def test_row_predictor_says_what_predict_says(model):
    X, _ = data_for(model)
    model = fitted(model)
    predictor = model.row_predictor()
    assert_allclose([predictor(row) for row in X[:20]], model.predict(X[:20]))


@over(OTHER_BAGS)
def test_what_other_members_cannot_do_is_said(model):
    model = fitted(model)
    for name in ("row_predictor", "apply", "decision_path"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="has no attribute 'apply'") as error:
        model.apply(data_for(model)[0])
    assert "no graphs of one table" in str(error.value.__cause__)


def test_other_members_have_sizes_where_they_have_them():
    assert not hasattr(fitted(OTHER_BAGS[0]), "nbytes_")
    assert not hasattr(fitted(OTHER_BAGS[0]), "feature_importances_")
    with_trees = fitted(OTHER_BAGS[2])
    assert with_trees.n_splits_ == sum(tree.n_splits_ for tree in with_trees)
    assert with_trees.nbytes_ == sum(tree.nbytes_ for tree in with_trees)


def test_counted_votes_have_no_row_predictor():
    bag = fitted(BAGS[0], voting="hard")
    assert not hasattr(bag, "row_predictor")
    assert bag.apply(WINE[0]).shape == (len(WINE[0]), 6)


@over(BOOSTED)
def test_subset_of_boosted_members_is_a_shorter_boosting(model):
    X, _ = data_for(model)
    cut, shorter = fitted(model).subset(3), fitted(model, n_estimators=3)
    assert_array_equal(outputs(cut, X), outputs(shorter, X))
    assert_array_equal(cut.estimator_errors_, shorter.estimator_errors_)
    assert cut.get_params()["n_estimators"] == 3
    with pytest.raises(ValueError, match="'n_estimators' must be at most 6, got 7"):
        fitted(model).subset(7)


# --- out of bag -----------------------------------------------------------------------------------


@over([FORESTS[0], FORESTS[1], *BAGS, *OTHER_BAGS])
def test_out_of_bag_score_may_be_a_function(model):
    metric = balanced_accuracy_score if data_for(model) is WINE else mean_absolute_error
    model = fitted(model, n_estimators=40, oob_score=metric)
    _, y = data_for(model)
    if hasattr(model, "classes_"):
        predicted = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    else:
        predicted = model.oob_prediction_
    assert model.oob_score_ == pytest.approx(metric(y, predicted))


@over([FORESTS[0], BAGS[0], OTHER_BAGS[1]])
def test_a_fit_without_out_of_bag_score_keeps_none_of_an_earlier_fit(model):
    model = fitted(model, n_estimators=40, oob_score=True)
    assert hasattr(model, "oob_score_")
    model.set_params(oob_score=False).fit(*data_for(model))
    assert not [name for name in vars(model) if name.startswith("oob_") and name[-1] == "_"]


# --- a model answers until the next one is complete -----------------------------------------------


@over(FORESTS[:2] + BAGS + OTHER_BAGS[:2])
@pytest.mark.parametrize("warm", [True, False])
def test_predictions_inside_the_callback_are_those_of_the_last_fit(model, warm):
    X, y = data_for(model)
    model = fitted(model, warm_start=warm)
    before, heard = outputs(model, X), []

    def callback(done, n):
        heard.append(np.array_equal(outputs(model, X), before) and len(model) == 6)

    model.set_params(n_estimators=12, callback=callback).fit(X, y)
    assert heard
    assert all(heard)
    assert len(model) == 12


@over(BOOSTED)
def test_boosted_predictions_inside_the_callback_are_those_of_the_last_fit(model):
    X, y = data_for(model)
    model = fitted(model)
    before, heard = outputs(model, X), []
    model.set_params(
        n_estimators=4,
        callback=lambda done, n: heard.append(np.array_equal(outputs(model, X), before)),
    ).fit(X, y)
    assert heard == [True] * 4
    assert len(model) == 4


@over([FORESTS[0], BAGS[0], BAGS[2], OTHER_BAGS[0], BOOSTED[0]])
def test_threads_predict_while_a_model_is_fitted(model):
    X, y = data_for(model)
    model = fitted(model, **({"warm_start": True} if hasattr(model, "warm_start") else {}))
    ended, faults = threading.Event(), []

    def predict():
        while not ended.is_set():
            try:
                values = model.predict_proba(X)
                if not np.allclose(values.sum(axis=1), 1):
                    faults.append(values)
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n_estimators in range(7, 27):
        model.set_params(n_estimators=n_estimators).fit(X, y)
    ended.set()
    for thread in threads:
        thread.join()
    assert not faults


@over([*FORESTS[:2], *BAGS, *OTHER_BAGS, *BOOSTED])
def test_an_interrupted_fit_leaves_the_model_as_it_was(model):
    X, y = data_for(model)
    model = fitted(model)
    before = outputs(model, X)

    def interrupt(done, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=9, callback=interrupt).fit(X[::2], y[::2])
    assert_array_equal(outputs(model, X), before)
    assert len(model) == 6


# --- state ----------------------------------------------------------------------------------------


@over(FORESTS + BAGS + OTHER_BAGS + BOOSTED)
def test_pickles_hold_parameters_and_fitted_attributes_alone(model):
    X, _ = data_for(model)
    model = fitted(model)
    names = set(model.__getstate__()) - set(model.get_params(deep=False))
    assert {name for name in names if name[0] == "_" and "sklearn" not in name} == set()
    assert all(name.endswith("_") for name in names if name[0] != "_")
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(outputs(again, X), outputs(model, X))
    assert len(again) == 6
