"""Prices, directions, losses, and the moves after growing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import mean_pinball_loss
from tree_sum_oracle import dominated_pairs
from tree_sum_tables import engine, mixed

from hedgerow import TreeSumClassifier, TreeSumRegressor


def thresholds(model):
    """The distinct thresholds of all members."""
    return {
        (int(f), float(t))
        for graph in model.graphs_
        for f, t in zip(graph.feature, graph.threshold, strict=True)
        if f >= 0
    }


def features(model):
    return {feature for feature, _ in thresholds(model)}


def test_prices_save_features_and_thresholds():
    X, y = load_diabetes(return_X_y=True)
    plain = TreeSumRegressor(20, min_gain=0).fit(X, y)
    few = TreeSumRegressor(20, min_gain=0, feature_price=0.05).fit(X, y)
    assert len(features(few)) < len(features(plain))
    shared = TreeSumRegressor(20, min_gain=0, threshold_price=0.01).fit(X, y)
    assert len(thresholds(shared)) / shared.n_splits_ < len(thresholds(plain)) / plain.n_splits_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "poisson"])
def test_directions_hold_everywhere(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (250, 3)).astype(float)
    X[rng.random(250) < 0.1, 2] = np.nan
    signal = 0.3 * X[:, 0] - 0.2 * X[:, 1] + np.sin(X[:, 0] * X[:, 1]) + rng.normal(size=250)
    if loss == "squared_error":
        y = signal
    elif loss == "poisson":
        y = rng.poisson(np.exp(signal / 3)).astype(float)
    else:
        y = (signal > 0.5).astype(np.int32)
    settings = {"min_gain": 0, "min_samples_leaf": 4, "monotonic_cst": [1, -1, 0]}
    settings |= {"tuning_passes": 2, "max_swaps": 3} if seed == 2 else {}
    if loss == "log_loss":
        model = TreeSumClassifier(25, **settings).fit(X, y)
    else:
        model = TreeSumRegressor(25, loss=loss, **settings).fit(X, y)
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 2, [0.0, 3.0, 5.0, 99.0], indexing="ij"), -1)
    scores = model._scores(grid.reshape(-1, 3))[:, 0].reshape(8, 8, 4)
    assert (np.diff(scores, axis=0) >= 0).all()
    assert (np.diff(scores, axis=1) <= 0).all()
    assert model.n_splits_ > 5
    assert np.ptp(scores) > 0.5
    for lower, higher in dominated_pairs(X[:60], 0):
        pair = model._scores(X[[lower, higher]])[:, 0]
        assert pair[0] <= pair[1]


def test_directions_by_name():
    frame, y = mixed()
    free = TreeSumRegressor(20).fit(frame, y)
    falling = TreeSumRegressor(20, monotonic_cst={"size": -1}).fit(frame, y)
    assert falling.score(frame, y) < free.score(frame, y)
    with pytest.raises(ValueError, match="monotonic_cst names 'weight', which X does not have"):
        TreeSumRegressor(monotonic_cst={"weight": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="monotonic_cst .* categor"):
        TreeSumRegressor(monotonic_cst={"kind": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="monotonic_cst has shape 2 but the input data X has 3"):
        TreeSumRegressor(monotonic_cst=[1, 0]).fit(frame, y)
    with pytest.raises(ValueError, match="monotonic_cst must"):
        TreeSumRegressor(monotonic_cst=[1, 0, 2]).fit(frame, y)
    with pytest.raises(ValueError, match="not supported with multiclass"):
        TreeSumClassifier(monotonic_cst=[1, 0, 0]).fit(frame, np.arange(len(y)) % 3)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles(q):
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    y = 4 * X[:, 0] + rng.exponential(1 + 2 * (X[:, 1] > 0.5))
    model = TreeSumRegressor(15, loss="quantile", quantile=q).fit(X[:1000], y[:1000])
    predicted = model.predict(X[1000:])
    assert abs((y[1000:] <= predicted).mean() - q) < 0.06
    constant = np.full(500, np.quantile(y[:1000], q))
    mean = TreeSumRegressor(15).fit(X[:1000], y[:1000]).predict(X[1000:])
    own = mean_pinball_loss(y[1000:], predicted, alpha=q)
    assert own < 0.9 * mean_pinball_loss(y[1000:], constant, alpha=q)
    assert own < mean_pinball_loss(y[1000:], mean, alpha=q)
    with pytest.raises(ValueError, match="loss 'quantile' needs 'quantile'"):
        TreeSumRegressor(loss="quantile").fit(X, y)


def test_absolute_errors_are_medians():
    rng = np.random.default_rng(1)
    X = rng.random((600, 2))
    y = 3 * (X[:, 0] > 0.5) + rng.standard_t(1.5, 600)
    absolute = TreeSumRegressor(6, loss="absolute_error").fit(X, y)
    median = TreeSumRegressor(6, loss="quantile", quantile=0.5).fit(X, y)
    truth = 3.0 * (X[:, 0] > 0.5)
    assert np.abs(absolute.predict(X) - truth).mean() < 0.4
    assert np.abs(median.predict(X) - truth).mean() < 0.4


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_logarithms_of_positive_numbers(loss):
    rng = np.random.default_rng(2)
    X = rng.random((800, 3))
    mean = np.exp(2 * X[:, 0] + (X[:, 1] > 0.5))
    y = rng.poisson(mean) if loss == "poisson" else rng.gamma(3, mean / 3)
    model = TreeSumRegressor(20, loss=loss).fit(X, y)
    predicted = model.predict(X)
    assert predicted.min() > 0
    assert predicted.mean() == pytest.approx(y.mean(), rel=0.02)
    assert np.corrcoef(predicted, mean)[0, 1] > 0.95
    if loss == "gamma":
        with pytest.raises(ValueError, match="'gamma' needs targets above zero"):
            TreeSumRegressor(loss="gamma").fit(X, y - y.min())


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
@pytest.mark.parametrize("move", [{"max_swaps": 10}, {"tuning_passes": 3}])
def test_moves_lower_the_loss_and_keep_the_number_of_splits(loss, move):
    if loss == "squared_error":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = load_breast_cancer(return_X_y=True)
        y = y.astype(np.int32)
    settings = {"max_splits": 15, "ridge": 1.0, "min_samples_leaf": 5}
    plain = engine(X, y, loss, **settings)
    moved = engine(X, y, loss, **settings, **move)
    assert moved["losses"][-1] < plain["losses"][-1]
    assert sum(graph.n_splits for graph in moved["members"]) == 15
    assert min(n for graph in moved["members"] for n in graph.n_samples) >= 5


def test_moves_with_categories_and_missing_values():
    frame, y = mixed()
    plain = TreeSumRegressor(12, ridge=1.0).fit(frame, y)
    moved = TreeSumRegressor(12, ridge=1.0, tuning_passes=5, max_swaps=5).fit(frame, y)
    assert moved.n_splits_ == plain.n_splits_ == 12
    assert moved.score(frame, y) >= plain.score(frame, y) - 1e-3


def test_lazy_search_is_nearly_exact():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.normal(scale=0.5, size=2000)
    exact = TreeSumRegressor(40, search="exact").fit(X, y)
    lazy = TreeSumRegressor(40, search="lazy").fit(X, y)
    assert lazy.n_splits_ == 40
    assert lazy.score(X, y) > exact.score(X, y) - 0.02


def test_every_missing_pattern():
    frame, y = mixed()
    empty = frame.assign(age=np.nan)
    assert TreeSumRegressor(10).fit(empty, y).score(empty, y) > 0.5
    only = pd.DataFrame({"age": np.where(np.arange(400) % 3 == 0, np.nan, 1.0)})
    target = only["age"].isna().to_numpy() * 5.0
    assert TreeSumRegressor(3).fit(only, target).score(only, target) > 0.99
