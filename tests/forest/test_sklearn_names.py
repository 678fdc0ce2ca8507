"""What code written for scikit-learn's ensembles reads from fitted ones, and derives from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import hedgerow
from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
)

X, Y = load_iris(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("bag", [RandomForestClassifier, BaggingClassifier])
def test_members_are_fitted_trees(bag):
    model = bag(n_estimators=4, random_state=0).fit(X, Y)
    assert len(model) == 4 == len(list(model)) == len(model[1:]) + 1
    for member in model.estimators_:
        assert isinstance(member, DecisionTreeClassifier)
        assert member.tree_.node_count == 2 * member.get_n_leaves() - 1
        assert_array_equal(member.tree_.apply(X), member.apply(X))
        assert member.feature_importances_.sum() == pytest.approx(1)
    votes = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    assert_allclose(model.predict_proba(X), votes)
    shares = np.mean([member.feature_importances_ for member in model], axis=0)
    assert_allclose(model.feature_importances_, shares)


def test_importances_leave_out_members_without_tests():
    model = RandomForestClassifier(60, min_samples_leaf=5, random_state=0).fit(X[::12], Y[::12])
    assert min(member.tree_.node_count for member in model) == 1
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_the_rows_of_a_member_are_those_it_grew_on():
    model = RandomForestClassifier(3, max_samples=0.5, max_features=None, random_state=0).fit(X, Y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert rows.dtype == np.int32
        assert len(rows) == 75
        alone = DecisionTreeClassifier().fit(X[rows], Y[rows])
        assert_allclose(alone.predict_proba(X[rows]), member.predict_proba(X[rows]))
    whole = ExtraTreesRegressor(2).fit(*NUMBERS).estimators_samples_
    assert_array_equal(whole, [np.arange(442)] * 2)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesRegressor, BaggingClassifier])
def test_a_copy_of_a_member_is_the_same_tree_on_the_same_rows(kind, tmp_path):
    data = NUMBERS if kind is ExtraTreesRegressor else (X, Y)
    drawn = DecisionTreeClassifier(max_features=2)
    settings = {"estimator": drawn} if kind is BaggingClassifier else {"max_features": 2}
    model = kind(n_estimators=3, random_state=0, **settings).fit(*data)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        again = clone(member).fit(data[0][rows], data[1][rows])
        assert_array_equal(again.tree_.feature, member.tree_.feature)
        assert_allclose(again.tree_.threshold, member.tree_.threshold)
    hedgerow.save(model[0], tmp_path / "member.hedgerow")
    assert hedgerow.load(tmp_path / "member.hedgerow").random_state == model[0].random_state


def test_a_forest_shows_what_its_members_are():
    model = ExtraTreesRegressor(2, max_depth=3, random_state=0)
    assert model.estimator.get_params()["max_depth"] == 3
    assert model.estimator.splitter == "random"
    assert not hasattr(model, "estimator_")
    assert isinstance(model.fit(*NUMBERS).estimator_, DecisionTreeRegressor)


def test_a_score_out_of_bag_is_given_later():
    asked = RandomForestClassifier(15, oob_score=True, random_state=1).fit(X, Y)
    later = RandomForestClassifier(15, warm_start=True, random_state=1).fit(X, Y)
    assert not hasattr(later, "oob_score_")
    with pytest.warns(UserWarning, match="does not fit new trees"):
        later.set_params(oob_score=True).fit(X, Y)
    assert later.oob_score_ == asked.oob_score_
    assert_allclose(later.oob_decision_function_, asked.oob_decision_function_)


class Rounded(DecisionTreeRegressor):
    """Fits in a way of its own, and returns nothing."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, np.round(y, -2), sample_weight)


@pytest.mark.parametrize("ensemble", [BaggingRegressor, AdaBoostRegressor])
def test_a_derived_member_is_fitted_in_its_own_way(ensemble):
    model = ensemble(Rounded(), n_estimators=3, random_state=0).fit(*NUMBERS)
    for member in model.estimators_:
        leaves = member.tree_.value[member.tree_.children_left < 0]
        assert_allclose(leaves, np.round(leaves, -2))


def test_decisions_are_averaged():
    bag = BaggingClassifier(SVC(), n_estimators=3, max_features=2, random_state=0).fit(X, Y)
    pairs = zip(bag.estimators_, bag.estimators_features_, strict=True)
    means = np.mean([member.decision_function(X[:, some]) for member, some in pairs], axis=0)
    assert_allclose(bag.decision_function(X), means)
    assert bag.decision_function(X).shape == (150, 3)
    assert hasattr(BaggingClassifier(LogisticRegression()), "decision_function")
    assert not hasattr(BaggingClassifier(), "decision_function")


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_scores_after_each_member(kind):
    data = (X, Y) if kind is AdaBoostClassifier else NUMBERS
    weights = np.arange(len(data[1])) % 3
    model = kind(n_estimators=4, random_state=0).fit(*data)
    scores = list(model.staged_score(*data, sample_weight=weights))
    assert len(scores) == 4
    assert scores[-1] == pytest.approx(model.score(*data, sample_weight=weights))


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array"])
def test_members_of_other_libraries_get_a_sparse_table_as_it_came(kind):
    table = getattr(sparse, kind)(np.where(X > 3, X, 0))

    class Noting(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.kind_ = type(X)
            return super().fit(X, y, sample_weight)

    for ensemble in (BaggingClassifier(Noting(), 2), AdaBoostClassifier(Noting(), n_estimators=2)):
        model = ensemble.fit(table, Y)
        assert {member.kind_ for member in model} == {type(table)}
        assert_allclose(model.predict_proba(table), model.predict_proba(table.toarray()))
    with pytest.raises((TypeError, ValueError), match="sparse multilabel-indicator for y"):
        RandomForestClassifier().fit(X, sparse.csr_array(np.eye(150)))
