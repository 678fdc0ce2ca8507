"""TAO trees: the error never rises, each step is the best of all, and nothing else matters."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import category_masks, encode, goes_left, numeric_masks
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import cross_val_score
from strategies import tables

from hedgerow import (
    CrossValidatedTreeClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    TAOTreeClassifier,
    TAOTreeRegressor,
)


def fitted(table, target, **parameters):
    kind = TAOTreeClassifier if target == "classes" else TAOTreeRegressor
    model = kind(categorical_features=list(table.categorical), max_bins=None, **parameters)
    return model.fit(table.X, table.y, table.w)


def training_error(model, table):
    found = model.predict(table.X)
    loss = found != table.y if hasattr(model, "classes_") else (found - table.y) ** 2
    return np.average(loss, weights=table.w)


def assert_same_graph(one, other):
    a, b = one.graph_.arrays(), other.graph_.arrays()
    for name in a:
        assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.parametrize("target", ["classes", "reals"])
@given(data=st.data())
def test_training_error_never_rises(target, data):
    table = data.draw(tables(target))
    leaves = data.draw(st.integers(2, 12))
    model = fitted(table, target, max_leaf_nodes=leaves, ccp_alpha=0.0)
    slack = 1e-9 * np.abs(table.y).max() ** 2
    assert (np.diff(model.history_) <= slack).all()
    assert model.n_passes_ == len(model.history_) - 1
    assert_allclose(model.history_[-1], training_error(model, table), atol=slack, rtol=1e-9)
    cart = {"classes": DecisionTreeClassifier, "reals": DecisionTreeRegressor}[target](
        categorical_features=list(table.categorical),
        max_bins=None,
        max_leaf_nodes=leaves,
    ).fit(table.X, table.y, table.w)
    assert_allclose(model.history_[0], training_error(cart, table), atol=slack, rtol=1e-9)
    assert model.n_splits_ <= cart.n_splits_


def all_masks(X, categorical):
    """Every test of every feature as a mask of the rows that go left, and the two one-way tests."""
    masks = [np.ones(len(X), bool), np.zeros(len(X), bool)]
    for j, x in enumerate(X.T):
        if j in categorical:
            found = category_masks(x)
            masks += [*found, *~found]
        else:
            masks += [*numeric_masks(x), np.isnan(x)]
    return np.array(masks)


def best_saving(model, table, node):
    """What the best test of a node would save, by trying every one; the rest of the tree stands."""
    graph = model.graph_
    here = model.decision_path(table.X)[:, [node]].toarray().ravel() > 0
    X, y = encode(model, table.X)[here], table.y[here]
    w = np.ones(len(y)) if table.w is None else table.w[here]

    def losses_from(start):
        at = np.full(len(X), start)
        while (graph.left[at] >= 0).any():
            for inner in np.unique(at[graph.left[at] >= 0]):
                rows = np.flatnonzero(at == inner)
                to_left = goes_left(graph, inner, X[rows])
                at[rows] = np.where(to_left, graph.left[inner], graph.right[inner])
        value = graph.value[at]
        if hasattr(model, "classes_"):
            return w * (model.classes_[value.argmax(axis=1)] != y)
        return w * (value[:, 0] - y) ** 2

    left, right = losses_from(graph.left[node]), losses_from(graph.right[node])
    now = np.where(goes_left(graph, node, X), left, right).sum()
    return now - np.where(all_masks(X, table.categorical), left, right).sum(axis=1).min()


@pytest.mark.parametrize("target", ["classes", "reals"])
@settings(max_examples=60)
@given(data=st.data())
def test_no_test_of_the_result_can_be_improved(target, data):
    """When no pass changes anything, brute force finds no better test of any node either."""
    table = data.draw(tables(target, max_rows=20))
    model = fitted(table, target, max_leaf_nodes=5, max_passes=100)
    scale = max(1e-12, np.abs(table.y).max() ** 2 * (1 if table.w is None else table.w.sum()))
    for node in np.flatnonzero(model.graph_.left >= 0):
        assert best_saving(model, table, node) <= 1e-9 * scale


@pytest.mark.parametrize("target", ["classes", "reals"])
@given(data=st.data())
def test_result_is_the_same_for_any_n_jobs(target, data):
    table = data.draw(tables(target))
    models = [fitted(table, target, max_leaf_nodes=8, n_jobs=n_jobs) for n_jobs in (1, 3)]
    assert_same_graph(*models)
    assert_array_equal(models[0].history_, models[1].history_)


@given(table=tables("classes", weighted=False))
def test_weight_two_is_the_row_twice(table):
    twice = np.arange(len(table.y)) % 2 + 1
    rows = np.repeat(np.arange(len(table.y)), twice)
    weighted = fitted(type(table)(table.X, table.y, twice * 1.0, table.categorical), "classes")
    repeated = fitted(type(table)(table.X[rows], table.y[rows], None, table.categorical), "classes")
    assert_array_equal(weighted.predict(table.X), repeated.predict(table.X))
    assert_allclose(weighted.history_, repeated.history_)


def test_large_nodes_are_the_same_for_any_n_jobs():
    X, y = load_digits(return_X_y=True)
    X, y = np.tile(X, (4, 1)), np.random.default_rng(0).permutation(np.tile(y, 4))
    one, many = (TAOTreeClassifier(max_depth=4, n_jobs=n).fit(X, y) for n in (1, 4))
    assert_same_graph(one, many)


def test_optimised_trees_fit_better_than_cart():
    X, y = load_digits(return_X_y=True)
    tao = TAOTreeClassifier(max_depth=5, ccp_alpha=0).fit(X, y)
    cart = DecisionTreeClassifier(max_depth=5).fit(X, y)
    assert tao.score(X, y) > cart.score(X, y) + 0.02
    X, y = load_diabetes(return_X_y=True)
    tao = TAOTreeRegressor(max_depth=4, ccp_alpha=0).fit(X, y)
    assert tao.score(X, y) > DecisionTreeRegressor(max_depth=4).fit(X, y).score(X, y)


def test_min_samples_leaf_holds_for_new_tests():
    X, y = load_digits(return_X_y=True)
    tree = TAOTreeClassifier(max_depth=1, min_samples_leaf=200).fit(X, y)
    assert tree.graph_.n_samples[1:].min() >= 200


def test_passes_end_at_max_passes():
    X, y = load_digits(return_X_y=True)
    assert TAOTreeClassifier(max_depth=6, max_passes=1).fit(X, y).n_passes_ == 1
    none = TAOTreeClassifier(max_depth=6, max_passes=0).fit(X, y)
    cart = DecisionTreeClassifier(max_depth=6, ccp_alpha=none.ccp_alpha_).fit(X, y)
    assert_array_equal(none.predict(X), cart.predict(X))


def test_any_tree_can_be_the_start():
    X, y = load_digits(return_X_y=True)
    cart = DecisionTreeClassifier(max_depth=5).fit(X, y)
    from_fitted = TAOTreeClassifier(init=cart).fit(X, y)
    from_unfitted = TAOTreeClassifier(init=DecisionTreeClassifier(max_depth=5)).fit(X, y)
    assert_same_graph(from_fitted, from_unfitted)
    assert from_fitted.history_[0] == pytest.approx(1 - cart.score(X, y))
    oblique = MeanMarginTreeClassifier(max_depth=5).fit(X, y)
    for init in oblique, clone(oblique):
        tuned = TAOTreeClassifier(init=init).fit(X, y)
        assert tuned.history_[0] == pytest.approx(1 - oblique.score(X, y))
        assert 1 - tuned.history_[-1] == pytest.approx(tuned.score(X, y))
    assert len(cross_val_score(TAOTreeClassifier(init=cart), X, y, cv=2)) == 2


def test_a_start_is_read_exactly_where_the_table_has_more_values_than_bins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    cart = DecisionTreeClassifier(max_depth=4, max_bins=None).fit(X[::2], y[::2])
    tuned = TAOTreeClassifier(init=cart, max_bins=10).fit(X, y)
    assert tuned.history_[0] <= 1 - cart.score(X, y) + 1e-12


def test_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    y = np.where((colour == "red") ^ (np.nan_to_num(size, nan=1.0) > 0), "yes", "no")
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    tree = TAOTreeClassifier(max_depth=3).fit(frame, y)
    assert tree.score(frame, y) == 1
    polars = pl.DataFrame({"colour": colour.tolist(), "size": size})
    assert_array_equal(TAOTreeClassifier(max_depth=3).fit(polars, y).predict(polars), y)
    assert_array_equal(pickle.loads(pickle.dumps(tree)).predict(frame), y)


def test_class_weights_count():
    X, y = load_digits(return_X_y=True)
    heavy = TAOTreeClassifier(max_depth=3, class_weight={k: 1 + 99 * (k == 8) for k in range(10)})
    assert (heavy.fit(X, y).predict(X)[y == 8] == 8).mean() > 0.95


def test_a_contest_takes_alternating_trees():
    X, y = load_digits(return_X_y=True)
    pairs = [
        ("tao", TAOTreeClassifier(max_depth=4)),
        ("stump", DecisionTreeClassifier(max_depth=1)),
    ]
    assert CrossValidatedTreeClassifier(pairs, random_state=0).fit(X, y).selected_ == "tao"
