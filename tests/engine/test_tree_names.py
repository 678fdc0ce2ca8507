"""A tree can be read by the names of scikit-learn's trees."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as sklearn_tree
from sklearn.datasets import load_iris

from hedgerow import DecisionTreeClassifier, MeanMarginTreeClassifier
from hedgerow._engine import PackedGraphs

X, Y = load_iris(return_X_y=True)
WEIGHTS = np.arange(len(Y)) % 4 + 0.5


def test_the_names_of_scikit_learn_mean_what_they_mean_there():
    one_column = X[:, [2]]  # so that no two tests are equally good
    settings = {"max_leaf_nodes": 6, "random_state": 0}
    ours = DecisionTreeClassifier(**settings).fit(one_column, Y, WEIGHTS).tree_
    theirs = sklearn_tree.DecisionTreeClassifier(**settings).fit(one_column, Y, WEIGHTS).tree_
    for name in ("node_count", "max_depth", "n_leaves", "n_features", "n_outputs"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.max_n_classes == theirs.max_n_classes
    assert_array_equal(ours.n_classes, theirs.n_classes)
    single = one_column.astype(np.float32)
    assert_allclose(ours.predict(single), theirs.predict(single)[:, :3])
    assert (
        ours.decision_path(single).sum(axis=1) == theirs.decision_path(single).sum(axis=1)
    ).all()
    # Both number the nodes in their own order: the same walk through both.
    stack = [(0, 0)]
    n_seen = 0
    while stack:
        a, b = stack.pop()
        n_seen += 1
        assert ours.feature[a] == theirs.feature[b]
        assert ours.n_node_samples[a] == theirs.n_node_samples[b]
        assert_allclose(ours.threshold[a], theirs.threshold[b])
        assert_allclose(ours.weighted_n_node_samples[a], theirs.weighted_n_node_samples[b])
        assert_allclose(ours.impurity[a], theirs.impurity[b])
        assert_allclose(ours.value[a], theirs.value[b])
        assert (ours.children_left[a] == -1) == (theirs.children_left[b] == -1)
        assert (ours.children_right[a] == -1) == (theirs.children_right[b] == -1)
        if ours.children_left[a] >= 0:
            stack.append((ours.children_left[a], theirs.children_left[b]))
            stack.append((ours.children_right[a], theirs.children_right[b]))
    assert n_seen == ours.node_count
    assert sklearn_tree._tree.TREE_UNDEFINED == -2 == ours.feature[ours.children_left < 0][0]


def test_other_names_are_the_same_arrays():
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    graph, tree = model.graph_, model.tree_
    for ours, theirs in [
        ("left", "children_left"),
        ("right", "children_right"),
        ("n_samples", "n_node_samples"),
        ("weight", "weighted_n_node_samples"),
        ("missing_left", "missing_go_to_left"),
    ]:
        assert np.shares_memory(getattr(graph, ours), getattr(tree, theirs))
    assert tree.node_count == tree.capacity == graph.n_nodes
    assert tree.max_depth == graph.depth
    assert_array_equal(tree.apply(X), model.apply(X))
    assert_array_equal(tree.value[:, 0], graph.value)


@pytest.mark.parametrize("take_over", ["grown", "pruned", "pickled", "unpacked"])
def test_a_node_without_a_feature_says_so(take_over):
    colours = pd.Series(np.array(["red", "blue", "sky"])[Y], dtype="category")
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["colour"] = colours.where(np.arange(len(Y)) % 3 > 0)
    for model in DecisionTreeClassifier(), MeanMarginTreeClassifier():
        if take_over == "pruned":
            model.set_params(ccp_alpha=0.01)
        graph = model.fit(frame, Y).graph_
        if take_over == "pickled":
            graph = pickle.loads(pickle.dumps(graph))
        if take_over == "unpacked":
            graph = PackedGraphs([graph]).graph(0)
        is_leaf = graph.left < 0
        assert_array_equal(graph.feature == -2, is_leaf | (graph.kind == 3))
        assert_array_equal(graph.threshold[is_leaf], -2.0)
        assert_array_equal(graph.threshold[graph.kind == 2], 3)  # categories


def test_a_category_that_was_not_there_goes_where_missing_values_go():
    """Raw codes reach the engine by row predictors and graphs alone."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 200)
    y = (codes == 1).astype(int)
    for rare in 0, 1:  # the side of missing values is that of the heavier child
        frame = pd.DataFrame({"c": pd.Categorical(codes)})
        weights = np.where(y == rare, 1.0, 9.0)
        model = DecisionTreeClassifier().fit(frame, y, weights)
        odd = np.array([[np.nan], [3], [4], [63], [64], [1e9], [-1]])
        assert len(set(model.graph_.apply(odd))) == 1
        predict = model.row_predictor()
        assert {predict(row) for row in odd} == {1 - rare}
        many = np.tile(odd, (20, 1))  # enough for rows that are routed together
        assert set(model._packed.predict_class(many)) == {1 - rare}
