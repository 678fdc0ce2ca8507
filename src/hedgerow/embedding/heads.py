"""Linear heads: from the rows of an embedding to one score per class, or to a number.

Every head is a function that returns ``coef`` of shape (n_columns, n_outputs) and ``intercept`` of
shape (n_outputs,). For classes, ``softmax(Z @ coef + intercept)`` are probabilities:

- ``pseudo_linear_lda``: linear discriminant analysis with the pseudo-inverse of the pooled
  covariance, the head of the paper;
- ``shrunken_lda``: the same with the correlations shrunk towards the identity;
- ``logistic``: multinomial logistic regression with a quadratic penalty;
- ``class_sum``: the sum of the columns of each class's anchors, the paper's Theorem 2 as printed.

Heads whose penalty is chosen by rows left out are in ``penalised``. All work on columns scaled to
unit variance, so that no unit of measurement matters.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.linear_model import LogisticRegression

from hedgerow.embedding.penalised import shares

_ROWS_AT_ONCE = 1 << 13


class Head(NamedTuple):
    """A fitted head."""

    coef: np.ndarray
    intercept: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self.coef.nbytes + self.intercept.nbytes


@dataclass(frozen=True)
class _Classes:
    """The class means of some rows."""

    priors: np.ndarray
    centre: np.ndarray
    offsets: np.ndarray  # class means minus the centre
    freedom: float  # what a sum of weighted squares is divided by


def pseudo_linear_lda(
    Z: np.ndarray, y: np.ndarray, weights, n_classes: int, basis: np.ndarray | None = None
) -> Head:
    """Linear discriminant analysis with a pseudo-inverse in correlation space.

    Residuals from the class means are scaled to unit variance; directions whose singular value is
    rounding noise, under ``max(n, m) * eps``, are left out. With a basis, it is the analysis of
    ``Z @ basis``, which is formed only where second moments are not exact enough.
    """
    return _pseudo_linear(Z, y, weights, n_classes, basis)[0]


def regular_lda(
    Z: np.ndarray, y: np.ndarray, weights, n_classes: int, basis: np.ndarray | None = None
) -> Head | None:
    """The same where it does not depend on the coordinates, else None.

    Means of classes that differ in a direction in which no class varies are told apart by that
    direction alone, or not at all: a pseudo-inverse ignores part of it, and which part depends on
    how the coordinates were chosen.
    """
    head, is_regular = _pseudo_linear(Z, y, weights, n_classes, basis)
    return head if is_regular else None


def _pseudo_linear(Z, y, weights, n_classes: int, basis: np.ndarray | None) -> tuple[Head, bool]:
    """The head, and whether the classes vary wherever their means differ."""
    classes = _class_means(Z, y, weights, n_classes)
    blocks = partial(_residuals, Z, y, weights, classes)
    if basis is not None:
        classes = replace(classes, centre=classes.centre @ basis, offsets=classes.offsets @ basis)
    scale, values, directions = _spectrum(blocks, Z.shape, basis, classes)
    offsets = classes.offsets / scale
    outside = offsets - offsets @ directions.T @ directions
    is_regular = np.abs(outside).max(initial=0) <= 1e-6 * np.abs(offsets).max(initial=0)
    whitening = directions / values[:, None] * np.sqrt(classes.freedom)
    return _discriminant(classes, scale, whitening.T @ (whitening @ offsets.T)), bool(is_regular)


def _spectrum(
    blocks, shape: tuple[int, int], basis: np.ndarray | None, classes: _Classes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales of the residuals, and their singular values and directions that are not noise.

    ``blocks(step)`` are the residuals, ``step`` rows at a time.
    """
    n, width = shape
    basis = np.eye(width) if basis is None else basis
    least = max(n, basis.shape[1]) * np.finfo(float).eps
    if n > 2 * width:
        # Squared singular values are exact up to eps times the largest: fast, and enough for all
        # but small ones. Those must be noise, which their own directions tell without squares.
        gram = np.zeros((width, width))
        for block in blocks(_ROWS_AT_ONCE):
            gram += block.T @ block
        gram = basis.T @ gram @ basis
        scale = _scale(np.diag(gram), classes, n)
        squares, directions = np.linalg.eigh(gram / scale / scale[:, None])
        kept = squares > 1e-6 * squares[-1]
        small = basis @ (directions[:, ~kept] / scale[:, None])
        lengths = np.zeros(small.shape[1])
        if small.size:
            for block in blocks(_ROWS_AT_ONCE):
                lengths += np.square(block @ small).sum(axis=0)
        if kept.any() and (lengths <= least**2 * squares[-1]).all():
            return scale, np.sqrt(squares[kept]), directions[:, kept].T
    # The triangular factor has the norms and singular values of the residuals; block by block it
    # is made in the cache.
    triangle: np.ndarray = np.empty((0, basis.shape[1]))
    for block in blocks(max(512, 4 * width)):
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block @ basis]), mode="r"))
    scale = _scale(np.square(triangle).sum(axis=0), classes, n)
    _, values, directions = np.linalg.svd(triangle / scale, full_matrices=False)
    kept = values > max(n, basis.shape[1]) * np.spacing(values[0])
    return scale, values[kept], directions[kept]


def shrunken_lda(Z: np.ndarray, y: np.ndarray, weights, n_classes: int, shrinkage) -> Head:
    """Linear discriminant analysis with correlations ``(1 - s) * C + s * I``.

    ``shrinkage`` is s, or "ledoit_wolf" or "oas" to estimate it.
    """
    classes = _class_means(Z, y, weights, n_classes)
    (R,) = _residuals(Z, y, weights, classes, len(Z))
    scale = _scale(np.square(R).sum(axis=0), classes, len(Z))
    R *= np.sqrt(len(Z) / classes.freedom) / scale
    if shrinkage == "ledoit_wolf":
        shrinkage = ledoit_wolf_shrinkage(R, assume_centered=True)
    elif shrinkage == "oas":
        shrinkage = oas(R, assume_centered=True)[1]
    correlations = R.T @ R / len(Z)
    size, total = len(correlations), np.trace(correlations)
    if total > 0:
        correlations *= 1 - shrinkage
        correlations.flat[:: size + 1] += shrinkage * total / size
    else:  # no scatter within any class
        correlations = np.eye(size)
    try:
        solved = cho_solve(cho_factor(correlations), (classes.offsets / scale).T)
    except LinAlgError:
        raise ValueError(
            f"The covariance is singular: 'shrinkage' must be larger than {shrinkage:g}, or the "
            "head 'lda'."
        ) from None
    return _discriminant(classes, scale, solved)


def _class_means(Z: np.ndarray, y: np.ndarray, weights, n_classes: int) -> _Classes:
    w = np.ones(len(y)) if weights is None else weights
    indicators = np.zeros((n_classes, len(y)))
    indicators[y, np.arange(len(y))] = w
    totals = indicators.sum(axis=1)
    origin = Z[0].astype(np.float64)  # near the data, so that no digits are lost
    sums = np.zeros((n_classes, Z.shape[1]))
    for rows in _blocks(len(Z), _ROWS_AT_ONCE):
        sums += indicators[:, rows] @ (Z[rows] - origin)
    centre = sums.sum(axis=0) / w.sum()
    # Weights count as rows: n - K for equal ones, whatever their unit.
    effective = w.sum() ** 2 / (w @ w)
    freedom = w.sum() * (max(effective - n_classes, 1) / effective)
    return _Classes(totals / w.sum(), origin + centre, sums / totals[:, None] - centre, freedom)


def _residuals(Z, y, weights, classes: _Classes, step: int) -> Iterator[np.ndarray]:
    """Rows minus the mean of their class, times the root of their weight, block by block."""
    means = classes.centre + classes.offsets
    for rows in _blocks(len(Z), step):
        block = Z[rows] - means[y[rows]]
        yield block if weights is None else block * np.sqrt(weights[rows])[:, None]


def _blocks(n: int, step: int) -> Iterator[slice]:
    return (slice(begin, begin + step) for begin in range(0, n, step))


def _scale(squares: np.ndarray, classes: _Classes, n: int) -> np.ndarray:
    """Standard deviations within the classes, one where they are rounding noise."""
    scale = np.sqrt(squares / classes.freedom)
    size = np.maximum(np.abs(classes.centre), np.abs(classes.offsets).max(axis=0))
    return np.where(scale <= 10 * np.finfo(float).eps * np.sqrt(n) * size, 1.0, scale)


def _discriminant(classes: _Classes, scale: np.ndarray, solved: np.ndarray) -> Head:
    """Scores from the class means times the inverse covariance, in units of scale."""
    coef = solved / scale[:, None]
    halves = np.einsum("kj,jk->k", classes.offsets, coef) / 2
    return Head(coef, np.log(classes.priors) - halves - classes.centre @ coef)


def _standardized(Z: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of mean 0 and variance 1, with the means and scales that made them so."""
    shares = shares.astype(Z.dtype)
    centre = shares @ Z
    S = Z - centre
    scale = np.sqrt(shares @ np.square(S))
    scale[scale <= 10 * np.finfo(Z.dtype).eps * np.abs(centre)] = 1.0
    S /= scale
    return S, centre.astype(np.float64), scale.astype(np.float64)


def logistic(Z, y, weights, n_classes: int, penalty: float | None) -> Head:
    """Multinomial logistic regression; the penalty is 1e-3 where none is given."""
    w = shares(len(Z), weights)
    S, centre, scale = _standardized(Z, w)
    strength = 1 / ((1e-3 if penalty is None else penalty) * len(y))
    model = LogisticRegression(C=strength, max_iter=1000).fit(S, y, sample_weight=len(y) * w)
    coef, intercept = model.coef_.T / scale[:, None], model.intercept_
    if n_classes == 2:  # one column, the difference of two scores
        coef, intercept = coef * [[-0.5, 0.5]], intercept * [-0.5, 0.5]
    return Head(coef, intercept - centre @ coef)


def class_sum(values: np.ndarray, n_blocks: int) -> Head:
    """Each class is the sum of the columns of the anchors whose most frequent class it is.

    ``values`` are the class shares of the anchors; each of ``n_blocks`` activations has a column
    for every anchor.
    """
    majority = np.eye(values.shape[1])[values.argmax(axis=1)]
    return Head(np.vstack([majority] * n_blocks), np.zeros(values.shape[1]))
