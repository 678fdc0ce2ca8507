"""Centred trees and networks: their graphs, and the risks that the theory promises."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import CentredTreeNetworkRegressor, CentredTreeRegressor
from hedgerow.datasets import make_chessboard
from hedgerow.inspect import export_text
from hedgerow.papers.chessboard import bounds, infinite_sample_risk, lemma_1, lemma_2, risk


def cells(X, depth):
    """The cell of each row by the definition: coordinates halved in turn, k cuts in all."""
    n_features = X.shape[1]
    cuts = [len(range(f, depth, n_features)) for f in range(n_features)]
    return [tuple(int(np.ceil(x * 2**c) - 1) for x, c in zip(row, cuts, strict=True)) for row in X]


@pytest.mark.parametrize("depth", range(8))
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_leaves_are_the_cells_of_the_definition(depth, n_features):
    X, y = make_chessboard(300, k=6, n_features=n_features, random_state=depth)
    tree = CentredTreeRegressor(depth, bounds=(0, 1)).fit(X, y)
    by_cell = pd.DataFrame({"cell": cells(X, depth), "y": y, "leaf": tree.apply(X)})
    assert (by_cell.groupby("cell")["leaf"].nunique() == 1).all()
    assert_allclose(tree.predict(X), by_cell.groupby("cell")["y"].transform("mean"))
    assert tree.n_splits_ == 2**depth - 1
    assert tree.get_depth() == depth
    assert tree.graph_.n_samples.max() == tree.graph_.n_samples[0] == 300


def test_an_empty_leaf_predicts_zero():
    tree = CentredTreeRegressor(1, bounds=(0, 1)).fit([[0.1], [0.2]], [5.0, 7.0])
    assert_array_equal(tree.predict([[0.3], [0.9]]), [6.0, 0.0])


def test_network_of_depth_one_has_two_means():
    X, y = make_chessboard(2000, k=4, p=0.9, random_state=0)
    tree = CentredTreeRegressor(4, bounds=(0, 1)).fit(X, y)
    network = CentredTreeNetworkRegressor(4, bounds=(0, 1)).fit(X, y)
    high = tree.predict(X) >= 0.5
    assert_allclose(network.predict(X[high]), y[high].mean())
    assert_allclose(network.predict(X[~high]), y[~high].mean())
    assert network.get_n_leaves() == 2
    assert network.n_splits_ == 15


def test_deeper_second_tree_cuts_each_group_by_raw_features():
    X, y = make_chessboard(2000, k=4, p=0.9, random_state=0)
    network = CentredTreeNetworkRegressor(4, 2, bounds=(0, 1)).fit(X, y)
    high = CentredTreeRegressor(4, bounds=(0, 1)).fit(X, y).predict(X) >= 0.5
    right = X[:, 0] > 0.5
    expected = pd.Series(y).groupby([high, right]).transform("mean")
    assert_allclose(network.predict(X), expected)


def test_without_second_cuts_the_network_is_the_tree():
    X, y = make_chessboard(500, random_state=0)
    tree = CentredTreeRegressor(5).fit(X, y)
    assert_array_equal(CentredTreeNetworkRegressor(5, 0).fit(X, y).predict(X), tree.predict(X))


def test_an_empty_cell_of_the_network_predicts_zero():
    network = CentredTreeNetworkRegressor(1, bounds=(0, 1)).fit([[0.1], [0.2]], [1, 1])
    assert_array_equal(network.predict([[0.3], [0.9]]), [1.0, 0.0])


@pytest.mark.parametrize("kind", [CentredTreeRegressor, CentredTreeNetworkRegressor])
def test_frames_weights_gaps_and_pickles(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": pd.Categorical(rng.choice(["u", "v"], 200))})
    X.loc[::7, "a"] = np.nan
    y = (X["b"] == "u").astype(float) + (X["a"] > 0)
    weight = rng.integers(0, 3, 200)
    model = kind(3).fit(X, y, sample_weight=weight)
    doubled = kind(3).fit(X.loc[np.repeat(X.index, weight)], np.repeat(y, weight))
    assert_allclose(model.predict(X), doubled.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert "a" in export_text(model)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CentredTreeRegressor(-1), "'depth' must be an int from 0 to 20, got -1."),
        (CentredTreeNetworkRegressor(3, 21), "'output_depth' must be an int from 0 to 20, got 21."),
        (CentredTreeRegressor(bounds=(1, 0)), "'bounds' must be 'data' or two numbers, low before"),
        (CentredTreeRegressor(bounds="unit"), "'bounds' must be 'data' or two numbers, low before"),
        (CentredTreeNetworkRegressor(threshold="x"), "'threshold' must be a number"),
    ],
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


# The theory. The risk is exact given the sample, and averaged over samples.


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("p", [0.7, 0.9])
@pytest.mark.parametrize(("k", "k_star"), [(2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (2, 2), (4, 6)])
@pytest.mark.parametrize("n", [300, 2000])
def test_risk_lies_between_the_bounds(k, k_star, p, n, network):
    found = risk(k, k_star, p, n, network=network, repetitions=60)
    low, high = bounds(k, k_star, p, n, network=network)
    assert low - 3 * found.error <= found.mean <= high + 3 * found.error


def test_printed_upper_bound_of_a_deep_tree_does_not_hold():
    """Proposition 4.1: the variance term is too small by up to a factor of two."""
    k, p, n = 6, 0.7, 300
    printed = 2**k * p * (1 - p) / (n + 1) + (p**2 + (1 - p) ** 2) * (1 - 2.0**-k) ** n / 2
    found = risk(k, 4, p, n, network=False, repetitions=60)
    assert found.mean - 3 * found.error > printed


def test_network_has_a_bias_where_the_colours_are_many():
    """Lemma 1: with a probability of its own in each cell the network does not converge."""
    found, least = lemma_1(6)
    assert found >= least
    board = np.random.default_rng(0).uniform(size=(8, 8))
    tree = CentredTreeRegressor(6, bounds=(0, 1))
    assert infinite_sample_risk(tree, board) == pytest.approx(0)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_a_cut_on_the_new_feature_is_enough_from_the_right_depth_on(k):
    """Lemma 2: below it, only as many raw cuts as the board has will do."""
    tree, network, raw = lemma_2(k, 4, 0.8).values()
    assert raw == pytest.approx(0)
    assert tree == pytest.approx(network) == pytest.approx(0 if k >= 4 else 0.3**2)
