"""Linear heads: from the rows of an embedding to one score per class, or to a number.

Every head is a function that returns ``coef`` of shape (n_columns, n_outputs) and ``intercept`` of
shape (n_outputs,). For classes, ``softmax(Z @ coef + intercept)`` are probabilities:

- ``pseudo_linear_lda``: linear discriminant analysis with the pseudo-inverse of the pooled
  covariance, the head of the paper;
- ``shrunken_lda``: the same with the correlations shrunk towards the identity;
- ``ridge``: least squares with a quadratic penalty, the head for numbers;
- ``penalised_lda``: discriminant analysis of ridge regressions of the class indicators;
- ``logistic``: multinomial logistic regression with a quadratic penalty.

All of them work on columns scaled to unit variance, so that no unit of measurement matters.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.linear_model import LogisticRegression

PENALTIES = 10.0 ** np.arange(-5, 1.5, 0.5)  # tried by leave-one-out where none is given
_ROWS_AT_ONCE = 1 << 13


class Head(NamedTuple):
    """A fitted head."""

    coef: np.ndarray
    intercept: np.ndarray


class _Classes(NamedTuple):
    """The class means of some rows."""

    priors: np.ndarray
    centre: np.ndarray
    offsets: np.ndarray  # class means minus the centre
    freedom: float  # what a sum of weighted squares is divided by


def pseudo_linear_lda(Z: np.ndarray, y: np.ndarray, weights, n_classes: int) -> Head:
    """Linear discriminant analysis with a pseudo-inverse in correlation space.

    Residuals from the class means are scaled to unit variance; directions whose singular value is
    rounding noise, under ``max(n, m) * eps``, are left out.
    """
    classes = _class_means(Z, y, weights, n_classes)
    # The triangular factor has the norms and singular values of the residuals; made block by block
    # in the cache it takes 0.1 s instead of 0.25 s for 39,000 x 105.
    triangle: np.ndarray = np.empty((0, Z.shape[1]))
    for block in _residuals(Z, y, weights, classes, max(512, 4 * Z.shape[1])):
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
    scale = _scale(triangle, classes, len(Z))
    _, values, directions = np.linalg.svd(triangle / scale, full_matrices=False)
    kept = values > max(Z.shape) * np.spacing(values[0])
    whitening = directions[kept] / values[kept, None] * np.sqrt(classes.freedom)
    return _discriminant(classes, scale, whitening.T @ (whitening @ (classes.offsets / scale).T))


def shrunken_lda(Z: np.ndarray, y: np.ndarray, weights, n_classes: int, shrinkage) -> Head:
    """Linear discriminant analysis with correlations ``(1 - s) * C + s * I``.

    ``shrinkage`` is s, or "ledoit_wolf" or "oas" to estimate it.
    """
    classes = _class_means(Z, y, weights, n_classes)
    (R,) = _residuals(Z, y, weights, classes, len(Z))
    scale = _scale(R, classes, len(Z))
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


def _scale(residuals: np.ndarray, classes: _Classes, n: int) -> np.ndarray:
    """Standard deviations within the classes, one where they are rounding noise."""
    scale = np.sqrt(np.square(residuals).sum(axis=0) / classes.freedom)
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


class Ridge(NamedTuple):
    """A fitted ridge regression, and what it says of rows (every k-th) that it did not see."""

    coef: np.ndarray
    intercept: np.ndarray
    held_out: np.ndarray


def ridge(Z: np.ndarray, targets: np.ndarray, weights, penalty: float | None) -> Ridge:
    """Least squares of all columns of ``targets`` at once.

    The mean squared error plus ``penalty`` times the squared coefficients of the scaled columns is
    smallest. Without a penalty, the one with the smallest leave-one-out error is taken: one
    eigendecomposition serves all of them, and of many rows some thousands are left out in turn.
    """
    w = np.full(len(Z), 1 / len(Z)) if weights is None else weights / weights.sum()
    S, centre, scale = _standardized(Z, w)
    level, root = w @ targets, np.sqrt(w)[:, None]
    T = (targets - level) * root
    S *= root.astype(S.dtype)
    if len(Z) < Z.shape[1]:
        S = S.astype(np.float64)
        values, rotated = np.linalg.eigh(S @ S.T)
        kept = values > values[-1] * max(Z.shape) * np.finfo(float).eps
        directions = S.T @ (rotated[:, kept] / np.sqrt(values[kept]))
        values = values[kept]
    else:
        values, directions = np.linalg.eigh(_gram(S))
        values = np.maximum(values, 0)
    projected = directions.T @ (S.T @ T.astype(S.dtype))
    some = some_rows(len(Z))
    rotated = S[some] @ directions
    leverage = np.square(rotated)

    def left_out_residuals(trial: float) -> np.ndarray:
        fitted = rotated @ (projected / (values + trial)[:, None])
        leverages = leverage @ (1 / (values + trial)) + w[some]
        return (T[some] - fitted) / np.maximum(1 - leverages, 1e-10)[:, None]

    if penalty is None:
        penalty = min(PENALTIES, key=lambda trial: np.square(left_out_residuals(trial)).sum())
    coef = directions @ (projected / (values + penalty)[:, None]) / scale[:, None]
    held_out = targets[some] - left_out_residuals(penalty) / root[some]
    return Ridge(coef, level - centre @ coef, held_out)


def some_rows(n: int) -> slice:
    """Every row, or of many rows every k-th."""
    return slice(None, None, -(-n // _ROWS_AT_ONCE))


def _gram(S: np.ndarray) -> np.ndarray:
    """S' S; sums over blocks are in double precision even where S is not."""
    total = np.zeros((S.shape[1], S.shape[1]))
    for rows in _blocks(len(S), _ROWS_AT_ONCE):
        total += S[rows].T @ S[rows]
    return total


def penalised_lda(Z, y, weights, n_classes: int, penalty: float | None) -> Head:
    """Discriminant analysis in the space of ridge regressions of the class indicators.

    By itself such a regression hides a class that lies between two others; discriminant analysis
    of what it says (of rows left out, so that it is not too sure) mends that.
    """
    inner = ridge(Z, np.eye(n_classes)[y], weights, penalty)
    some = some_rows(len(Z))
    outer = pseudo_linear_lda(
        inner.held_out, y[some], None if weights is None else weights[some], n_classes
    )
    return Head(inner.coef @ outer.coef, inner.intercept @ outer.coef + outer.intercept)


def logistic(Z, y, weights, n_classes: int, penalty: float | None) -> Head:
    """Multinomial logistic regression; the penalty is 1e-3 where none is given."""
    w = np.full(len(Z), 1 / len(Z)) if weights is None else weights / weights.sum()
    S, centre, scale = _standardized(Z, w)
    strength = 1 / ((1e-3 if penalty is None else penalty) * len(y))
    model = LogisticRegression(C=strength, max_iter=1000).fit(S, y, sample_weight=len(y) * w)
    coef, intercept = model.coef_.T / scale[:, None], model.intercept_
    if n_classes == 2:  # one column, the difference of two scores
        coef, intercept = coef * [[-0.5, 0.5]], intercept * [-0.5, 0.5]
    return Head(coef, intercept - centre @ coef)
