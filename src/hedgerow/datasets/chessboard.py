"""Chessboards: the data on which a network of two trees provably beats one tree.

L. Arnould, C. Boyer and E. Scornet, "Analyzing the tree-layer structure of Deep Forests" (2021):
rows are uniform on the unit cube, which is cut into ``2 ** k`` equal cells, black or white. The
label is 1 with probability ``p`` in a black cell and ``1 - p`` in a white one.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters

_PATTERNS = ("balanced", "generalized", "random")


def make_chessboard(
    n_samples: int = 1000,
    *,
    k: int = 6,
    p: float = 0.8,
    n_features: int = 2,
    pattern: str = "balanced",
    n_black: int | None = None,
    black_share: float = 0.5,
    board_state: Any = 0,
    random_state: Any = None,
    return_probability: bool = False,
) -> tuple:
    """Draw rows from a chessboard.

    Parameters
    ----------
    n_samples : int, default=1000
    k : int, default=6
        The board has ``2 ** k`` cells (the paper's k*); a multiple of ``n_features``.
    p : float in [0.5, 1], default=0.8
        Probability of label 1 in a black cell, and of label 0 in a white one.
    n_features : int, default=2
        Dimensions of the board.
    pattern : {"balanced", "generalized", "random"}, default="balanced"
        Neighbouring cells differ in colour; or ``n_black`` black cells somewhere; or each cell is
        black with probability ``black_share``.
    n_black : int, default=None
        Black cells of the generalized board (the paper's N_B); None takes half of them.
    black_share : float in [0, 1], default=0.5
        For the random board.
    board_state : int, RandomState instance or None, default=0
        Where the black cells are, apart from ``random_state`` so that several samples share one
        board.
    random_state : int, RandomState instance or None, default=None
        Rows and labels.
    return_probability : bool, default=False
        Return the probability of label 1 of each row as well.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        In the unit cube.
    y : ndarray of shape (n_samples,)
        0 or 1.
    probability : ndarray of shape (n_samples,)
        Only with ``return_probability``.

    Examples
    --------
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(100, k=4, p=1.0, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    parameters.check_int("n_samples", n_samples, low=1)
    board = chessboard(k, n_features, pattern, n_black, black_share, board_state)
    parameters.real(0.5, 1).check("p", p)
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    probability = np.where(board[tuple((X * board.shape[0]).astype(int).T)], p, 1 - p)
    y = (rng.uniform(size=n_samples) < probability).astype(int)
    return (X, y, probability) if return_probability else (X, y)


def chessboard(
    k: int,
    n_features: int = 2,
    pattern: str = "balanced",
    n_black: int | None = None,
    black_share: float = 0.5,
    board_state: Any = 0,
) -> np.ndarray:
    """The board itself: an array with one axis per feature, True where a cell is black."""
    parameters.check_int("n_features", n_features, low=1)
    parameters.check_int("k", k, low=1)
    parameters.check_option("pattern", pattern, _PATTERNS)
    parameters.real(0, 1).check("black_share", black_share)
    if k % n_features or k > 24:
        raise ValueError(
            f"'k' must be a multiple of 'n_features' ({n_features}) and at most 24, got {k}."
        )
    shape = (2 ** (k // n_features),) * n_features
    if pattern == "balanced":
        return np.indices(shape).sum(axis=0) % 2 == 0
    rng = check_random_state(board_state)
    if pattern == "random":
        return rng.uniform(size=shape) < black_share
    n_black = 2 ** (k - 1) if n_black is None else n_black
    if not parameters.is_int(n_black) or not 0 <= n_black <= 2**k:
        raise ValueError(f"'n_black' must be an int from 0 to {2**k} or None, got {n_black!r}.")
    return (rng.permutation(2**k) < n_black).reshape(shape)
