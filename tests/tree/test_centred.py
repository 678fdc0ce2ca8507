"""Centred trees and networks: their graphs, and the risks that the theory promises."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import CentredTreeNetworkRegressor, CentredTreeRegressor
from hedgerow.datasets import make_chessboard
from hedgerow.datasets.chessboard import chessboard
from hedgerow.inspect import export_text
from hedgerow.papers.chessboard import (
    bounds,
    infinite_sample_risk,
    lemma_1,
    lemma_2,
    printed_bounds,
    risk,
    tree_risk,
)


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


def test_an_empty_cell_of_the_network_may_be_taken_for_low():
    X, y = [[0.1, 0.1], [0.9, 0.1], [0.6, 0.6]], [0.9, 0.1, 0.3]
    empty, high, low = [0.1, 0.9], [0.1, 0.1], [0.6, 0.6]
    predicted = {
        kind: CentredTreeNetworkRegressor(2, bounds=(0, 1), empty=kind)
        .fit(X, y)
        .predict([empty, high, low])
        for kind in ("zero", "low")
    }
    assert_allclose(predicted["zero"], [0, 0.9, 0.2])
    assert_allclose(predicted["low"], [0.2, 0.9, 0.2])
    alone = CentredTreeNetworkRegressor(1, bounds=(0, 1), empty="low").fit([[0.1], [0.2]], [1, 1])
    assert_array_equal(alone.predict([[0.3], [0.9]]), [1, 0])


def test_raw_cuts_alone_are_a_tree_of_their_own():
    X, y = make_chessboard(500, random_state=0)
    network = CentredTreeNetworkRegressor(2, 5, bounds=(0, 1), cuts="raw").fit(X, y)
    tree = CentredTreeRegressor(5, bounds=(0, 1)).fit(X, y)
    assert_array_equal(network.predict(X), tree.predict(X))


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
@pytest.mark.parametrize(("k", "k_star", "p", "n_black"), [(2, 4, 0.9, None), (3, 4, 0.7, None),
    (4, 4, 0.7, None), (5, 4, 0.9, 3), (6, 4, 0.7, None), (2, 2, 0.9, 4), (4, 6, 0.7, None),
    (4, 4, 0.9, 5)])  # fmt: skip
@pytest.mark.parametrize("n", [4, 300, 2000])
def test_risk_lies_between_the_bounds(k, k_star, p, n_black, n, network):
    found = risk(k, k_star, p, n, network=network, n_black=n_black, repetitions=60)
    low, high = bounds(k, k_star, p, n, network=network, n_black=n_black)
    assert low - 4 * found.error - 1e-12 <= found.mean <= high + 4 * found.error + 1e-12


def test_risk_of_a_tree_is_the_mean_over_all_samples():
    """Three rows on a board of two cells: all places of the rows and all labels."""
    board, p, k = np.array([True, False]), 0.8, 1
    found = 0.0
    for black in itertools.product([True, False], repeat=3):
        for ones in itertools.product([True, False], repeat=3):
            chance = 1.0
            for is_black, is_one in zip(black, ones, strict=True):
                chance *= 0.5 * (p if is_black == is_one else 1 - p)
            for colour, truth in ((True, p), (False, 1 - p)):
                seen = [one for one, b in zip(ones, black, strict=True) if b == colour]
                predicted = np.mean(seen) if seen else 0.0
                found += chance * (predicted - truth) ** 2 / 2
    assert tree_risk(k, board, p, 3) == pytest.approx(found)


def test_four_of_the_printed_bounds_do_not_hold():
    """Proposition 3.1 below, 4.1 on both sides, and 4.2 above."""
    exact, _ = bounds(6, 4, 0.7, 300, network=False)
    assert printed_bounds(6, 4, 0.7, 300, network=False)[1] < exact
    exact, _ = bounds(6, 6, 0.7, 30, network=False)
    assert printed_bounds(6, 6, 0.7, 30, network=False)[0] > exact
    exact, _ = bounds(5, 6, 0.8, 16, network=False)
    assert printed_bounds(5, 6, 0.8, 16, network=False)[0] > exact
    low, _ = bounds(2, 2, 0.9, 2000, network=True)
    assert printed_bounds(2, 2, 0.9, 2000, network=True)[1] < low


def test_below_the_boards_depth_its_risk_depends_on_where_the_cells_are():
    with pytest.raises(ValueError, match="leave 'n_black' at None, or ask 'tree_risk'"):
        bounds(2, 4, 0.8, 100, network=False, n_black=3)
    boards = [chessboard(4, pattern="generalized", n_black=8, board_state=s) for s in range(20)]
    risks = [tree_risk(2, board, 0.8, 1000) for board in boards]
    assert max(risks) <= tree_risk(2, chessboard(4), 0.8, 1000)  # the balanced one is the worst
    assert min(risks) < 0.9 * max(risks)


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
