"""Linear heads: from the rows of an embedding to one score per class, or to a number.

Every head is a function that returns ``coef`` of shape (n_columns, n_outputs) and ``intercept`` of
shape (n_outputs,). For classes, ``softmax(Z @ coef + intercept)`` are probabilities:

- ``pseudo_linear_lda``: linear discriminant analysis with the pseudo-inverse of the pooled
  covariance, the head of the paper;
- ``shrunken_lda``: the same with the correlations shrunk towards the identity;
- ``ridge``: least squares on the class indicators, or on a number, with a quadratic penalty;
- ``logistic``: multinomial logistic regression with a quadratic penalty.

All of them work on columns scaled to unit variance, so that no unit of measurement matters.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.linear_model import LogisticRegression

PENALTIES = 10.0 ** np.arange(-5, 1.5, 0.5)  # tried by leave-one-out where none is given


class Head(NamedTuple):
    """A fitted head."""

    coef: np.ndarray
    intercept: np.ndarray


class _Classes(NamedTuple):
    """Class means and scaled residuals of some rows."""

    priors: np.ndarray
    centre: np.ndarray
    offsets: np.ndarray  # class means minus the centre, in units of scale
    residuals: np.ndarray  # times the root of the weight, in units of scale
    scale: np.ndarray
    freedom: float


def pseudo_linear_lda(Z: np.ndarray, y: np.ndarray, weights, n_classes: int) -> Head:
    """Linear discriminant analysis with a pseudo-inverse in correlation space.

    Residuals from the class means are scaled to unit variance; directions whose singular value is
    rounding noise, under ``max(n, m) * eps``, are left out.
    """
    parts = _by_class(Z, y, weights, n_classes)
    # The triangular factor has the singular values of the residuals at a fraction of the cost.
    _, values, directions = np.linalg.svd(
        np.linalg.qr(parts.residuals, mode="r"), full_matrices=False
    )
    kept = values > max(Z.shape) * np.spacing(values[0])
    whitening = directions[kept] / values[kept, None] * np.sqrt(parts.freedom)
    return _discriminant(parts, whitening.T @ (whitening @ parts.offsets.T))


def shrunken_lda(Z: np.ndarray, y: np.ndarray, weights, n_classes: int, shrinkage) -> Head:
    """Linear discriminant analysis with correlations ``(1 - s) * C + s * I``.

    ``shrinkage`` is s, or "ledoit_wolf" or "oas" to estimate it.
    """
    parts = _by_class(Z, y, weights, n_classes)
    R = parts.residuals * np.sqrt(len(Z) / parts.freedom)
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
        solved = cho_solve(cho_factor(correlations), parts.offsets.T)
    except LinAlgError:
        raise ValueError(
            f"The covariance is singular: 'shrinkage' must be larger than {shrinkage:g}, or the "
            "head 'lda'."
        ) from None
    return _discriminant(parts, solved)


def _by_class(Z: np.ndarray, y: np.ndarray, weights, n_classes: int) -> _Classes:
    w = np.ones(len(y)) if weights is None else weights
    indicators = np.zeros((len(y), n_classes))
    indicators[np.arange(len(y)), y] = w
    totals = indicators.sum(axis=0)
    centre = w @ Z / w.sum()
    Z = Z - centre
    means = indicators.T @ Z / totals[:, None]
    residuals = (Z - means[y]) * np.sqrt(w)[:, None]
    # Weights count as rows: n - K for equal ones, whatever their unit.
    effective = w.sum() ** 2 / (w @ w)
    freedom = w.sum() * (max(effective - n_classes, 1) / effective)
    scale = np.sqrt(np.square(residuals).sum(axis=0) / freedom)
    noise = (
        10 * np.finfo(float).eps * np.sqrt(len(y)) * np.maximum(np.abs(centre), np.abs(Z).max(0))
    )
    scale[scale <= noise] = 1.0
    return _Classes(totals / w.sum(), centre, means / scale, residuals / scale, scale, freedom)


def _discriminant(parts: _Classes, solved: np.ndarray) -> Head:
    """Scores from the class means times the inverse covariance, both in units of scale."""
    coef = solved / parts.scale[:, None]
    halves = np.einsum("kj,jk->k", parts.offsets, solved) / 2
    return Head(coef, np.log(parts.priors) - halves - parts.centre @ coef)


def _standardized(Z: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of mean 0 and variance 1, with the means and scales that made them so."""
    centre = shares @ Z
    S = Z - centre
    scale = np.sqrt(shares @ np.square(S))
    scale[scale <= 1e-12 * np.abs(centre)] = 1.0
    S /= scale
    return S, centre, scale


def ridge(Z: np.ndarray, targets: np.ndarray, weights, penalty: float | None) -> Head:
    """Least squares of all columns of ``targets`` at once.

    The mean squared error plus ``penalty`` times the squared coefficients of the scaled columns is
    smallest. Without a penalty, the one with the smallest leave-one-out error is taken: one
    eigendecomposition serves all of them.
    """
    w = np.full(len(Z), 1 / len(Z)) if weights is None else weights / weights.sum()
    S, centre, scale = _standardized(Z, w)
    level, root = w @ targets, np.sqrt(w)[:, None]
    T = (targets - level) * root
    S *= root
    if len(Z) < Z.shape[1]:
        values, rotated = np.linalg.eigh(S @ S.T)
        kept = values > values[-1] * max(Z.shape) * np.finfo(float).eps
        values, rotated = values[kept], rotated[:, kept] * np.sqrt(values[kept])
        directions = S.T @ (rotated / values)
    else:
        values, directions = np.linalg.eigh(S.T @ S)
        values, rotated = np.maximum(values, 0), S @ directions
    projected = rotated.T @ T
    if penalty is None:
        leverage = np.square(rotated)
        errors = []
        for trial in PENALTIES:
            residuals = T - rotated @ (projected / (values + trial)[:, None])
            held_out = np.maximum(1 - leverage @ (1 / (values + trial)) - w, 1e-10)
            errors.append(np.square(residuals / held_out[:, None]).sum())
        penalty = PENALTIES[np.argmin(errors)]
    coef = directions @ (projected / (values + penalty)[:, None]) / scale[:, None]
    return Head(coef, level - centre @ coef)


def ridge_classifier(Z, y, weights, n_classes: int, penalty: float | None) -> Head:
    """Ridge regression of the class indicators, scaled so that its softmax are probabilities.

    One factor for all scores: the one with the smallest log loss on the training rows.
    """
    coef, intercept = ridge(Z, np.eye(n_classes)[y], weights, penalty)
    scores = Z @ coef + intercept
    own = scores[np.arange(len(y)), y]

    def log_loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return np.average(logsumexp(factor * scores, axis=1) - factor * own, weights=weights)

    factor = np.exp(minimize_scalar(log_loss, bounds=(0, np.log(100)), method="bounded").x)
    return Head(factor * coef, factor * intercept)


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
