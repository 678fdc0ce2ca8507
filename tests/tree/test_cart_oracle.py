"""Trees against the brute force: every split has the best gain, every leaf has a reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import check_tree
from strategies import limits, tables

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = {
    "gini": (DecisionTreeClassifier, "classes"),
    "entropy": (DecisionTreeClassifier, "classes"),
    "squared_error": (DecisionTreeRegressor, "reals"),
    "poisson": (DecisionTreeRegressor, "counts"),
    "absolute_error": (DecisionTreeRegressor, "reals"),
    "quantile": (DecisionTreeRegressor, "reals"),
}
criteria = pytest.mark.parametrize("criterion", CRITERIA)


def grow(criterion, table, **parameters):
    if criterion == "quantile":
        parameters["quantile"] = 0.7
    estimator = CRITERIA[criterion][0](
        criterion=criterion,
        max_bins=None,
        categorical_features=list(table.categorical),
        random_state=0,
        **parameters,
    )
    return estimator.fit(table.X, table.y, sample_weight=table.w)


@criteria
@given(data=st.data())
def test_every_split_of_a_full_tree_has_the_best_gain(criterion, data):
    table = data.draw(tables(CRITERIA[criterion][1]))
    check_tree(grow(criterion, table), table.X, table.y, table.w)


@criteria
@given(data=st.data())
def test_every_split_has_the_best_gain_under_limits(criterion, data):
    table = data.draw(tables(CRITERIA[criterion][1]))
    parameters = data.draw(limits())
    check_tree(grow(criterion, table, **parameters), table.X, table.y, table.w)


@criteria
@given(data=st.data())
def test_every_split_has_the_best_gain_when_grown_best_first(criterion, data):
    table = data.draw(tables(CRITERIA[criterion][1], max_rows=20))
    max_leaf_nodes = data.draw(st.integers(2, 8))
    tree = grow(criterion, table, max_leaf_nodes=max_leaf_nodes)
    assert tree.get_n_leaves() <= max_leaf_nodes
    check_tree(tree, table.X, table.y, table.w)


def test_rounded_weights_leave_no_poisson_leaf_without_counts():
    X, y, w = np.arange(3.0)[:, None], np.array([3.0, 3.0, 0.0]), np.array([4.6, 8.3, 7.6])
    tree = DecisionTreeRegressor(criterion="poisson", max_bins=None).fit(X, y, sample_weight=w)
    check_tree(tree, X, y, w)
