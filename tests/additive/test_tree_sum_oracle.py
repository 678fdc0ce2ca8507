"""The engine grows the sums of the brute-force oracle: the same splits, the same leaf values."""

import numpy as np
import pytest
from tree_sum_oracle import SumOracle, derivatives

from hedgerow._engine import Dataset, GraphSum, TreeSumParams, grow_tree_sum

TIGHT = 1e-13  # refits are run to the end, as the oracle's


def grown(X, y, loss, n_scores, n_splits, *, weights=None, categorical=(), n_jobs=1, **settings):
    """Scores of the training rows, and all that the engine says."""
    data = Dataset(len(X))
    for f in range(X.shape[1]):
        if f in categorical:
            codes = np.nan_to_num(X[:, f], nan=-1).astype(np.int32)
            data.append_categories(codes, int(codes.max()) + 1)
        else:
            data.append_numbers([np.ascontiguousarray(X[:, f])], 255, 1)
    params = TreeSumParams(
        loss=loss,
        n_classes={"log_loss": max(n_scores, 2)}.get(loss, 0),
        max_splits=n_splits,
        **{"tolerance": TIGHT, **settings},
    )
    out = grow_tree_sum(data, None, y, weights, params, n_jobs)
    total = GraphSum(X.shape[1], out["members"], out["intercept"], "identity")
    return total.scores(X), out


def targets(loss, n_scores, signal, rng):
    if loss == "squared_error":
        return signal + rng.normal(scale=0.3, size=len(signal))
    if loss == "poisson":
        return rng.poisson(np.exp(signal / 2)).astype(float)
    if n_scores == 1:
        return (signal + rng.normal(size=len(signal)) > 0).astype(np.int32)
    return np.digitize(signal + rng.normal(size=len(signal)), [-0.7, 0.7]).astype(np.int32)


LOSSES = [("squared_error", 1), ("log_loss", 1), ("log_loss", 3), ("poisson", 1)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("loss", "n_scores"), LOSSES)
def test_same_splits_and_same_leaves(loss, n_scores, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, len(X)).astype(float) if seed else None
    clean = np.nan_to_num(X)
    signal = clean[:, 0] + np.where(clean[:, 1] > 0, 1.5, -1) * (clean[:, 2] > 0.3)
    y = targets(loss, n_scores, signal, rng)
    settings = {"ridge": 0.7, "min_samples_leaf": 3}
    oracle = SumOracle(X, y, loss, n_scores, weights=weights, **settings)
    for n_splits in range(1, 7):
        clear = oracle.grow()
        scores, out = grown(X, y, loss, n_scores, n_splits, weights=weights, **settings)
        if not clear:
            break  # two splits gain the same: either is right
        np.testing.assert_allclose(scores, oracle.scores, rtol=0, atol=1e-9)
        assert out["losses"][-1] == pytest.approx(oracle.penalised_loss, abs=1e-9)
    assert n_splits > 3


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_same_sets_of_categories(loss):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 7, 80).astype(float), rng.normal(size=80)])
    X[rng.random(80) < 0.1, 0] = np.nan
    signal = np.nan_to_num(rng.normal(size=7)[np.nan_to_num(X[:, 0]).astype(int)]) * 2 + X[:, 1]
    y = targets(loss, 1, signal, rng)
    settings = {"ridge": 0.5, "min_samples_leaf": 4}
    oracle = SumOracle(X, y, loss, categorical=(0,), smoothing=2.0, **settings)
    for n_splits in range(1, 6):
        clear = oracle.grow()
        scores, _ = grown(
            X, y, loss, 1, n_splits, categorical=(0,), category_smoothing=2.0, **settings
        )
        if not clear:
            break
        np.testing.assert_allclose(scores, oracle.scores, rtol=0, atol=1e-9)
    assert n_splits > 3


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_the_ridge_is_three_times_that_of_the_evidence(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    y = targets(loss, 1, X[:, 0] + X[:, 1], rng)
    scores, out = grown(X, y, loss, 1, 12, min_samples_leaf=5)
    leaves = [graph.apply(X, 1) for graph in out["members"]]

    def fitted(ridge):
        """The sum with another ridge, and its freedom."""
        oracle = SumOracle(X, y, loss, ridge=ridge)
        oracle.leaves = [[at == leaf for leaf in np.unique(at)] for at in leaves]
        n_leaves = sum(map(len, oracle.leaves))
        oracle.values = np.vstack([oracle.values, np.zeros((n_leaves, 1))])
        oracle.fit()
        h = derivatives(loss, y, oracle.scores)[1]
        penalty = ridge * np.diag([0] + [1] * n_leaves)
        inverse = np.linalg.inv(oracle.design.T @ (oracle.design * h) + penalty)
        return oracle, n_leaves - ridge * np.trace(inverse[1:, 1:])

    final, freedom = fitted(out["ridge"])
    np.testing.assert_allclose(final.scores, scores, rtol=0, atol=1e-8)
    # The gram of classes is kept while steps by it converge.
    assert out["freedom"] == pytest.approx(freedom, rel=1e-9 if loss == "squared_error" else 0.02)
    probable, freedom = fitted(out["ridge"] / 3)
    rest = ((y - probable.scores[:, 0]) ** 2).sum() / (len(X) - freedom)
    noise = rest if loss == "squared_error" else 1.0
    evidence = noise * freedom / (probable.values[1:] ** 2).sum()
    # The loss of classes is not quadratic: the engine finds the evidence where it is.
    assert out["ridge"] / 3 == pytest.approx(evidence, rel=0.01 if loss == "squared_error" else 0.2)
