"""Quantiles of forests, against the weights written out."""

import numpy as np
import pytest

import hedgerow
from hedgerow import ExtraTreesRegressor, RandomForestRegressor


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + (1 + np.abs(X[:, 1])) * rng.normal(size=n)


def quantiles_by_hand(forest, X, y, X_new, shares):
    leaves, leaves_new, order = forest.apply(X), forest.apply(X_new), np.argsort(y)
    out = []
    for row in leaves_new:
        together = leaves == row
        weights = (together / together.sum(axis=0)).mean(axis=1)
        total = np.cumsum(weights[order])
        out.append([y[order][np.flatnonzero(total > max(share - 1e-9, 0))[0]] for share in shares])
    return np.array(out)


@pytest.mark.parametrize("cls", [RandomForestRegressor, ExtraTreesRegressor])
def test_quantiles_are_those_of_the_weights(cls):
    X, y = rows(200, 0)
    X_new, _ = rows(30, 1)
    forest = cls(10, min_samples_leaf=3, keep_targets=True, random_state=0).fit(X, y)
    shares = [0.0, 0.05, 0.5, 0.95, 1.0]
    expected = quantiles_by_hand(forest, X, y, X_new, shares)
    np.testing.assert_array_equal(forest.predict_quantiles(X_new, shares), expected)
    assert forest.predict_quantiles(X_new, 0.5).shape == (30, 1)


def test_intervals_of_quantiles_are_wide_where_the_noise_is():
    X, y = rows(2000, 0)
    X_new, y_new = rows(1000, 1)
    forest = RandomForestRegressor(50, min_samples_leaf=5, keep_targets=True, random_state=0)
    low, high = forest.fit(X, y).predict_quantiles(X_new, [0.05, 0.95]).T
    assert 0.83 < np.mean((low <= y_new) & (y_new <= high)) < 0.95
    assert np.corrcoef(high - low, np.abs(X_new[:, 1]))[0, 1] > 0.6


def test_quantiles_stay_through_files_and_need_kept_targets(tmp_path):
    X, y = rows(100, 0)
    forest = RandomForestRegressor(5, keep_targets=True, random_state=0).fit(X, y)
    hedgerow.save(forest, tmp_path / "forest")
    again = hedgerow.load(tmp_path / "forest").predict_quantiles(X)
    np.testing.assert_array_equal(again, forest.predict_quantiles(X))
    with pytest.raises(ValueError, match="fit it with keep_targets=True"):
        RandomForestRegressor(5).fit(X, y).predict_quantiles(X)
    with pytest.raises(ValueError, match="'quantiles' must be shares from 0 to 1"):
        forest.predict_quantiles(X, [0.5, 1.5])


def test_rows_of_weight_zero_are_in_no_quantile():
    X, y = rows(200, 0)
    weights = np.ones(200)
    weights[y > 1] = 0
    forest = RandomForestRegressor(5, keep_targets=True, random_state=0).fit(X, y, weights)
    assert forest.predict_quantiles(X, [1.0]).max() <= 1
