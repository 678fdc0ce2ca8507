"""The theory in "Analyzing the tree-layer structure of Deep Forests": risks and their bounds.

`bounds` are the paper's Propositions 3 and 4, `risk` is what centred trees and networks have on a
chessboard: exact for a given sample, averaged over samples.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hedgerow.datasets.chessboard import chessboard, make_chessboard
from hedgerow.papers import study
from hedgerow.tree import CentredTreeNetworkRegressor, CentredTreeRegressor


class Risk(NamedTuple):
    """Mean squared distance to the true probability, over samples, with its standard error."""

    mean: float
    error: float


def risk(
    k: int,
    k_star: int,
    p: float,
    n: int,
    *,
    network: bool,
    repetitions: int = 100,
    n_features: int = 2,
) -> Risk:
    """The risk of a centred tree, or of a network with one second cut, on a balanced board."""
    board = chessboard(k_star, n_features)
    # Both predictor and truth are constant on the cells of a grid as fine as either.
    side = 2 ** -(-max(k, k_star) // n_features)
    cells = np.indices((side,) * n_features).reshape(n_features, -1).T
    truth = np.where(board[tuple((cells * board.shape[0] // side).T)], p, 1 - p)
    regressor = CentredTreeNetworkRegressor if network else CentredTreeRegressor
    model = regressor(k, bounds=(0, 1))
    found = []
    for seed in range(repetitions):
        X, y = make_chessboard(n, k=k_star, p=p, n_features=n_features, random_state=seed)
        predicted = model.fit(X, y).predict((cells + 0.5) / side)
        found.append(np.mean((predicted - truth) ** 2))
    return Risk(float(np.mean(found)), float(np.std(found) / np.sqrt(repetitions)))


def bounds(k: int, k_star: int, p: float, n: int, *, network: bool) -> tuple[float, float]:
    """Lower and upper bound of `risk`: Proposition 3 for ``k < k_star``, else Proposition 4.

    Two terms of lower order that the paper leaves unspecified are left out: epsilon in the
    network's upper bound of Proposition 3, rho in its lower bound of Proposition 4. The latter
    holds for large samples only; for the others the lower bound is 0.

    The printed upper bound of Proposition 4 for a single tree, with ``2**k p(1-p) / (n+1)``, does
    not hold: a leaf's rows N are binomial, and ``E[1/N; N > 0]`` is above ``2**k / (n+1)``. The
    bound on it behind Proposition 3 is twice as large, and so is the term here.
    """
    leaves, empty, variance = 2.0**k, (1 - 2.0**-k) ** n, p * (1 - p)
    squares = p**2 + (1 - p) ** 2
    if k < k_star:
        bias = (p - 0.5) ** 2
        if network:
            first = 2 ** (k / 2 + 3) * (p - 0.5) / np.sqrt(np.pi * n)
            second = 7 * 2.0 ** (2 * k + 2) / (np.pi**2 * (n + 1))
            return bias, bias + first + second + squares / 2 * empty
        low = leaves / (4 * (n + 1)) + empty / 4 * (1 - leaves / (n + 1))
        return bias + low, bias + leaves / (2 * (n + 1)) + empty / 4
    if network:
        missed = squares / 2 * empty  # half of the cells of a balanced board are black
        wrong_side = n * (1 - (1 - np.exp(-2 * (p - 0.5) ** 2)) / leaves) ** n
        low = 2 * variance / n + missed if n >= 2 * leaves * (k + 1) else 0.0
        return low, 2 * variance / (n + 1) + 2 * leaves * wrong_side / n + missed
    low = leaves / 2 * variance / (n + 1)
    low += (squares - leaves * variance / (n + 1)) * empty / 2
    return low, 2 * leaves * variance / (n + 1) + squares * empty / 2


def infinite_sample_risk(
    model: CentredTreeRegressor | CentredTreeNetworkRegressor, probability: np.ndarray
) -> float:
    """The risk when the truth of every finest cell is known: one row for each, without noise."""
    n_features, side = probability.ndim, probability.shape[0]
    X = (np.indices(probability.shape).reshape(n_features, -1).T + 0.5) / side
    truth = probability.ravel()
    return float(np.mean((model.fit(X, truth).predict(X) - truth) ** 2))


def lemma_1(k: int, repetitions: int = 100) -> tuple[float, float]:
    """Risk of a network, and its lower bound, where every cell has a probability of its own."""
    rng = np.random.default_rng(0)
    network = CentredTreeNetworkRegressor(k, bounds=(0, 1))
    boards = rng.uniform(size=(repetitions, 2 ** (k // 2), 2 ** (k // 2)))
    found = float(np.mean([infinite_sample_risk(network, board) for board in boards]))
    return found, 1 / 48 * (1 - 8 / (2**k - 1)) + 9 / 24 / 2 ** (2 * k)


def lemma_2(k: int, k_star: int, p: float) -> dict[str, float]:
    """Infinite-sample risks on a balanced board of a tree, a network, and a tree of raw cuts."""
    side = 2 ** -(-max(k, k_star) // 2)
    cells = np.indices((side, side)).reshape(2, -1)
    board = chessboard(k_star)
    black = board[tuple(cells * board.shape[0] // side)].reshape(side, side)
    probability = np.where(black, p, 1 - p)
    models = {
        "tree of depth k": CentredTreeRegressor(k, bounds=(0, 1)),
        "network, one cut on the new feature": CentredTreeNetworkRegressor(k, bounds=(0, 1)),
        "second tree of k* raw cuts": CentredTreeRegressor(k_star, bounds=(0, 1)),
    }
    return {name: infinite_sample_risk(model, probability) for name, model in models.items()}


def page(out: Path, repetitions: int = 100) -> str:
    """The theory's part of the page, with its picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    k_star, p, sizes = 4, 0.8, (100, 300, 1000, 3000, 10_000)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3), layout="constrained")
    rows = []
    for axis, k in zip(axes, (2, 3, 4, 6), strict=True):
        for network, colour in ((False, "tab:blue"), (True, "tab:orange")):
            found = [risk(k, k_star, p, n, network=network, repetitions=repetitions) for n in sizes]
            low, high = np.array([bounds(k, k_star, p, n, network=network) for n in sizes]).T
            label = "network" if network else "tree"
            axis.errorbar(sizes, [r.mean for r in found], [2 * r.error for r in found],
                          color=colour, label=label)  # fmt: skip
            axis.fill_between(sizes, np.maximum(low, 1e-6), high, color=colour, alpha=0.15)
            rows += [
                [k, label, n, f"{r.mean:.5f}", f"{a:.5f}", f"{b:.5f}"]
                for n, r, a, b in zip(sizes, found, low, high, strict=True)
                if n in (300, 3000)
            ]
        axis.set(xscale="log", yscale="log", title=f"k = {k}, k* = {k_star}", xlabel="rows")
    axes[0].legend()
    figure.savefig(out / "deep_forest_chessboard.png")
    plt.close(figure)
    biased = [[k, *(f"{v:.4f}" for v in lemma_1(k))] for k in (2, 4, 6, 8)]
    exact = {k: lemma_2(k, k_star, p) for k in (2, 3, 4, 6)}
    return (
        "## Chessboards: risks and bounds\n\n"
        f"Balanced boards of 2^{k_star} cells, p = {p}, {repetitions} samples for each mean. The "
        "bands are Propositions 3 (k < k*) and 4.\n\n"
        + study.markdown(["k", "model", "rows", "risk", "lower bound", "upper bound"], rows)
        + "\n\n![Risks and bounds](deep_forest_chessboard.png)\n\n"
        "The bounds hold with one correction: the upper bound printed for a deep single tree "
        "(Proposition 4.1) has a variance term that is too small by up to a factor of two, and the "
        "risk exceeds it; `bounds` uses twice that term.\n\n"
        "Lemma 1, a probability of its own in every cell, infinite sample, k = k*: a tree has risk "
        "0, a network does not.\n\n"
        + study.markdown(["k*", "network's risk", "lower bound"], biased)
        + f"\n\nLemma 2, infinite sample, k* = {k_star}: below k* only raw cuts help, from k* on "
        "one cut on the new feature is enough.\n\n"
        + study.markdown(
            ["k", *exact[2]], [[k, *(f"{v:.4f}" for v in row.values())] for k, row in exact.items()]
        )
        + "\n"
    )
