"""Prices chosen on rows left out: what they are, and that noise gets no splits."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from strategies import tables

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
)
from hedgerow._engine import prune, pruning_prices
from hedgerow.tree.price import HeldOut

MODELS = [TreeInTreeClassifier, TreeInTreeRegressor, TAOTreeClassifier, TAOTreeRegressor]
CLASSIFIERS = (TreeInTreeClassifier, TAOTreeClassifier)


def noise(kind, n_rows=600):
    """Features that say nothing of the targets."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows) if kind in CLASSIFIERS else rng.exponential(size=n_rows) ** 2
    return rng.normal(size=(n_rows, 5)), y


def table_of(model, X, y, weights=None):
    table = model.read_table(X, y, weights)
    return table, HeldOut(table, table.bins(model.max_bins, 1), None, weights, None, 1)


@given(tables("classes"))
def test_a_node_is_a_split_below_its_price(table):
    tree = DecisionTreeClassifier(categorical_features=list(table.categorical))
    graph = tree.fit(table.X, table.y, table.w).graph_
    prices = pruning_prices(graph)
    splits = np.flatnonzero(graph.left >= 0)
    assert (prices[graph.left < 0] == 0).all()
    for side in graph.left, graph.right:
        assert (prices[side[splits]] <= prices[splits]).all()
    for price in [0.0, *prices]:
        assert prune(graph, price).n_splits == np.sum(prices[splits] > price)


@pytest.mark.parametrize("classes", [True, False])
def test_the_price_is_that_of_a_cross_validation(classes):
    """One tree for each part tells what pruned trees, grown anew at every price, would say."""
    X, y = load_iris(return_X_y=True) if classes else load_diabetes(return_X_y=True)
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    table, held_out = table_of(kind(), X, y)
    price = held_out.price(lambda part: kind().learner().grow(table, part.rows).graph)

    def loss(price):
        total = 0.0
        for (train, _, n_train), (test, _, _) in held_out.splits(len(y)):
            assert n_train == len(train)
            share = price * len(y) / len(train)  # the price is of as many rows
            unit = 1 if classes else np.var(y[train])
            tree = kind(ccp_alpha=share * unit).fit(X[train], y[train])
            found = tree.predict(X[test])
            total += (found != y[test]).sum() if classes else ((found - y[test]) ** 2).sum()
        return total

    prices = 0.5 * 2 ** np.arange(0, 0.5 * np.log2(len(y)) * 2, 0.5) / len(y)
    assert loss(price) == pytest.approx(min(loss(other) for other in prices))


def test_rows_are_dealt_by_what_is_in_them():
    X, y = load_iris(return_X_y=True)
    _, held_out = table_of(DecisionTreeClassifier(), X, y)
    left_out = [test.rows for _, test in held_out.splits(len(y))]
    assert len(left_out) == 10
    assert_array_equal(np.sort(np.concatenate(left_out)), np.arange(len(y)))
    assert all((np.bincount(y[rows]) == 5).all() for rows in left_out)
    order = np.random.default_rng(0).permutation(len(y))
    _, shuffled = table_of(DecisionTreeClassifier(), X[order], y[order])
    for rows, (_, test) in zip(left_out, shuffled.splits(len(y)), strict=True):
        assert_array_equal(np.sort(X[rows], axis=0), np.sort(X[order][test.rows], axis=0))


def test_a_row_of_a_whole_weight_is_dealt_as_so_many_rows():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 30, len(y))
    times = np.repeat(np.arange(len(y)), weights)
    _, weighed = table_of(DecisionTreeClassifier(), X, y, weights.astype(float))
    _, repeated = table_of(DecisionTreeClassifier(), X[times], y[times])
    splits = list(zip(weighed.splits(10**6), repeated.splits(10**6), strict=True))
    assert len(splits) == 10
    for (train, test), (other_train, other_test) in splits:
        for part, other in (train, other_train), (test, other_test):
            assert (part.weights[part.rows] > 0).all()
            assert part.n_rows == part.weights.sum() == other.n_rows == len(other.rows)
            spread = np.repeat(X[part.rows], part.weights[part.rows].astype(int), axis=0)
            assert_array_equal(np.sort(spread, axis=0), np.sort(X[times][other.rows], axis=0))


@pytest.mark.parametrize("kind", MODELS)
def test_noise_gets_no_splits(kind):
    X, y = noise(kind)
    assert kind().fit(X, y).n_splits_ == 0
    assert kind(min_samples_leaf=0.01).fit(X, y, np.tile([1.0, 0.5], 300)).n_splits_ == 0


@pytest.mark.parametrize("kind", [TreeInTreeClassifier, TreeInTreeRegressor])
@pytest.mark.parametrize("parameters", [{"max_splits": 9}, {"micro_trees": "mixed"}])
def test_noise_gets_no_splits_in_other_graphs(kind, parameters):
    X, y = noise(kind)
    assert kind(**parameters).fit(X, y).n_splits_ == 0


@pytest.mark.parametrize("kind", MODELS)
def test_what_can_be_learned_is_learned(kind):
    X = np.random.default_rng(0).integers(-20, 20, size=(600, 5))
    y = np.where(X[:, 0] > 0, 1, np.where(X[:, 1] > 0, 2, 5))
    model = kind().fit(X, y)
    assert model.n_splits_ == 2
    assert model.score(X, y) == 1


@pytest.mark.parametrize("kind", MODELS)
def test_the_choice_is_the_same_in_every_fit(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, size=(900, 4)).astype(float)
    y = X[:, 0] // 10 + (rng.random(900) < 0.3) * rng.integers(0, 3, 900)
    first, second = (kind(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
    assert first.n_splits_ > 3
    assert_array_equal(first.predict(X), second.predict(X))
    twice = kind().fit(np.tile(X, (2, 1)), np.tile(y, 2))
    weighed = kind().fit(X, y, np.full(900, 2.0))
    assert_allclose(twice.predict(X), weighed.predict(X))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_a_few_rows_are_enough(kind, n_rows):
    X, y = np.arange(2.0 * n_rows).reshape(-1, 2), np.arange(n_rows) % 2
    model = kind().fit(X, y)
    assert model.predict(X).shape == (n_rows,)
    same = kind().fit(np.ones((n_rows, 1)), y)
    assert same.n_splits_ == 0


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_what_is_never_likely_is_told_by_probabilities_and_weights(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = (rng.random(1000) < np.where(X[:, 0] > 0, 0.2, 0.02)).astype(int)
    assert kind().fit(X, y).predict_proba(X)[X[:, 0] > 0.1, 1].mean() > 0.15
    assert set(kind().fit(X, y).predict(X)) == {0}
    assert set(kind(class_weight="balanced").fit(X, y).predict(X)) == {0, 1}
