"""The naive decision graph: every step is the one that a plain search over all pairs takes."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from strategies import tables

from hedgerow import DecisionTreeClassifier, NaiveDecisionGraphClassifier


def fitted(table, **parameters):
    model = NaiveDecisionGraphClassifier(
        categorical_features=list(table.categorical), max_bins=None, **parameters
    )
    return model.fit(table.X, table.y, table.w)


def assert_same_graph(one, other):
    a, b = one.graph_.arrays(), other.graph_.arrays()
    for name in a:
        assert_array_equal(a[name], b[name], err_msg=name)


def lost(y):
    """Rows times Gini impurity."""
    return len(y) - (np.bincount(y) ** 2).sum() / len(y)


def best_split(table, rows):
    """Gain of the best split of some rows, and the rows of both sides."""
    X, y = table.X[rows], table.y[rows]
    stump = DecisionTreeClassifier(
        max_depth=1, max_bins=None, categorical_features=list(table.categorical)
    ).fit(X, y)
    if stump.n_splits_ == 0:
        return -np.inf, None
    is_left = stump.apply(X) == 1
    sides = rows[is_left], rows[~is_left]
    return lost(y) - sum(lost(table.y[side]) for side in sides), sides


def reference(table, C, max_splits):
    """Algorithm 1 as it is written: all leaves and all pairs of leaves, in every step."""
    leaves, splits, steps, n = {0: np.arange(len(table.y))}, {}, [], 1
    while max_splits is None or sum(kind == "split" for kind, _ in steps) < max_splits:
        splits |= {leaf: best_split(table, leaves[leaf]) for leaf in leaves.keys() - splits.keys()}
        leaf = max(leaves, key=lambda leaf: splits[leaf][0])
        split_gain = splits[leaf][0] - C * len(table.y)
        join_gain, pair = -np.inf, None
        for i, j in combinations(leaves, 2):
            one, other = table.y[leaves[i]], table.y[leaves[j]]
            gain = lost(one) + lost(other) - lost(np.append(one, other))
            gain = 0 if gain > -1e-12 * len(table.y) else gain
            if gain > join_gain:
                join_gain, pair = gain, (i, j)
        best = max(split_gain, join_gain)
        can_hope = max_splits is not None and split_gain > -np.inf
        if best == -np.inf or (best < 0 and not can_hope):
            break
        if join_gain >= split_gain:
            leaves[n] = np.concatenate([leaves.pop(i) for i in pair])
            steps.append(("join", join_gain / len(table.y)))
            n += 1
        else:
            leaves.pop(leaf)
            leaves[n], leaves[n + 1] = splits[leaf][1]
            steps.append(("split", split_gain / len(table.y)))
            n += 2
    return steps, {frozenset(rows.tolist()) for rows in leaves.values()}


@settings(max_examples=40)
@given(
    table=tables("classes", weighted=False, max_rows=25),
    max_splits=st.none() | st.integers(1, 8),
    C=st.sampled_from([3e-4, 0.02, 0.1]),
)
def test_steps_are_those_of_the_plain_search(table, max_splits, C):
    model = fitted(table, max_splits=max_splits, C=C)
    steps, leaves = reference(table, C, max_splits)
    assert [kind for kind, _ in model.steps_] == [kind for kind, _ in steps]
    assert_allclose([g for _, g in model.steps_], [g for _, g in steps], atol=1e-12)
    found = model.apply(table.X)
    assert {frozenset(np.flatnonzero(found == leaf).tolist()) for leaf in set(found)} == leaves


@given(table=tables("classes"), max_splits=st.integers(1, 8), C=st.sampled_from([0.0, 3e-4, 0.05]))
def test_impurity_falls_by_what_the_steps_gained(table, max_splits, C):
    model = fitted(table, max_splits=max_splits, C=C)
    assert model.n_splits_ == [kind for kind, _ in model.steps_].count("split") <= max_splits
    n_joins = len(model.steps_) - model.n_splits_
    assert model.get_n_leaves() == model.n_splits_ + 1 - n_joins
    graph = model.graph_
    is_leaf = graph.left < 0
    remaining = (graph.weight * graph.impurity)[is_leaf].sum() / graph.weight[0]
    gained = sum(gain for _, gain in model.steps_) + C * model.n_splits_
    assert_allclose(graph.impurity[0] - remaining, gained, atol=1e-9)
    assert_allclose(graph.weight[is_leaf].sum(), graph.weight[0])


@given(table=tables("classes"))
def test_result_is_the_same_for_any_n_jobs(table):
    assert_same_graph(*(fitted(table, max_splits=6, n_jobs=n_jobs) for n_jobs in (1, 3)))


@given(table=tables("classes", weighted=False))
def test_weight_two_is_the_row_twice(table):
    twice = np.arange(len(table.y)) % 2 + 1
    rows = np.repeat(np.arange(len(table.y)), twice)
    weighted = fitted(type(table)(table.X, table.y, twice * 1.0, table.categorical), max_splits=5)
    repeated = fitted(
        type(table)(table.X[rows], table.y[rows], None, table.categorical), max_splits=5
    )
    assert weighted.steps_ == repeated.steps_
    assert_allclose(weighted.predict_proba(table.X), repeated.predict_proba(table.X))


def test_leaves_are_shared():
    X, y = load_digits(return_X_y=True)
    model = NaiveDecisionGraphClassifier(C=3e-3, max_splits=120).fit(X, y)
    tree = DecisionTreeClassifier(max_leaf_nodes=121).fit(X, y)
    assert model.n_splits_ == tree.n_splits_ == 120
    assert model.get_n_leaves() < tree.get_n_leaves()
    assert model.score(X, y) > 0.95
    assert model.feature_importances_.sum() == 1


def test_without_a_budget_it_stops_before_a_loss():
    X, y = load_digits(return_X_y=True)
    model = NaiveDecisionGraphClassifier(C=0.01).fit(X, y)
    assert min(gain for _, gain in model.steps_) >= 0
    assert model.n_splits_ < 30


def test_a_split_that_costs_nothing_does_not_undo_joins_for_ever():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 3)).astype(float), rng.integers(0, 2, 300)
    model = NaiveDecisionGraphClassifier(C=0).fit(X, y)
    place = np.unique(X, axis=0, return_inverse=True)[1]
    share = np.bincount(place, y) / np.bincount(place)
    assert_allclose(model.predict_proba(X)[:, 1], share[place])  # as pure as the cells allow
    assert min(gain for _, gain in model.steps_) >= -1e-12
    tiny = NaiveDecisionGraphClassifier().fit(X, y, np.full(300, 5e-324))
    assert tiny.n_splits_ < 300


def test_splits_without_gain_lead_to_gains_where_they_cost_nothing():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([0, 1, 1, 0])  # no first split gains anything
    assert NaiveDecisionGraphClassifier(C=0).fit(X, y).score(X, y) == 1


def test_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    y = np.where((colour == "red") ^ (np.nan_to_num(size, nan=1.0) > 0), "yes", "no")
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    model = NaiveDecisionGraphClassifier().fit(frame, y)
    assert model.score(frame, y) == 1
    polars = pl.DataFrame({"colour": colour.tolist(), "size": size})
    assert_array_equal(NaiveDecisionGraphClassifier().fit(polars, y).predict(polars), y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), y)


@given(table=tables("classes"), C=st.sampled_from([0.0, 1e-300, 1e-15]))
def test_splits_that_cost_nothing_come_to_an_end(table, C):
    model = fitted(table, C=C)  # the test is that it returns; a split may gain nothing, too
    assert all(gain >= 0 for kind, gain in model.steps_ if kind == "split")


@pytest.mark.parametrize("power", [-1074, -900, 100])
def test_the_scale_of_the_weights_does_not_matter(power):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 3)).astype(float), rng.integers(0, 2, 300)
    plain = NaiveDecisionGraphClassifier().fit(X, y)
    scaled = NaiveDecisionGraphClassifier().fit(X, y, np.full(300, 2.0**power))
    assert scaled.steps_ == plain.steps_
    assert_array_equal(scaled.predict_proba(X), plain.predict_proba(X))
