"""Arnould, Boyer and Scornet, "Analyzing the tree-layer structure of Deep Forests": the theory.

`bounds` are the paper's Propositions 3 and 4, `risk` is what centred trees and networks have on a
chessboard: exact for a given sample, averaged over samples.
"""

from typing import NamedTuple

import numpy as np

from hedgerow.datasets.chessboard import chessboard, make_chessboard
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
    kind = CentredTreeNetworkRegressor if network else CentredTreeRegressor
    model = kind(k, bounds=(0, 1))
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
