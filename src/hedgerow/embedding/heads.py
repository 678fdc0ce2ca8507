"""Linear heads: from the rows of an embedding to one score per class, or to a number.

Every head is a function that returns ``coef`` of shape (n_columns, n_outputs) and ``intercept`` of
shape (n_outputs,). For classes, ``softmax(Z @ coef + intercept)`` are probabilities:

- ``pseudo_linear_lda``: linear discriminant analysis with the pseudo-inverse of the pooled
  covariance, the head of the paper;
- ``shrunken_lda``: the same with the correlations shrunk towards the identity;
- ``ridge``: least squares with a quadratic penalty, the head for numbers;
- ``penalised_lda``: discriminant analysis with a quadratic penalty, chosen by leave-one-out;
- ``logistic``: multinomial logistic regression with a quadratic penalty.

All of them work on columns scaled to unit variance, so that no unit of measurement matters.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.linear_model import LogisticRegression

PENALTIES = 10.0 ** np.arange(-6, 1.5, 0.5)  # tried by leave-one-out where none is given
MULTIPLES = 2.0 ** np.arange(-5, 1)  # of scores that may be too sure
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
    scale, values, directions = _spectrum(Z, y, weights, classes)
    whitening = directions / values[:, None] * np.sqrt(classes.freedom)
    return _discriminant(classes, scale, whitening.T @ (whitening @ (classes.offsets / scale).T))


def _spectrum(Z, y, weights, classes: _Classes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales of the residuals, and their singular values and directions that are not noise."""
    least = max(Z.shape) * np.finfo(float).eps
    if len(Z) > 2 * Z.shape[1]:
        # Squared singular values are exact up to eps times the largest: fast, and enough for all
        # but small ones. Those must be noise, which their own directions tell without squares.
        gram = np.zeros((Z.shape[1], Z.shape[1]))
        for block in _residuals(Z, y, weights, classes, _ROWS_AT_ONCE):
            gram += block.T @ block
        scale = _scale(np.diag(gram), classes, len(Z))
        squares, directions = np.linalg.eigh(gram / scale / scale[:, None])
        kept = squares > 1e-6 * squares[-1]
        small = directions[:, ~kept] / scale[:, None]
        lengths = np.zeros(small.shape[1])
        for block in _residuals(Z, y, weights, classes, _ROWS_AT_ONCE):
            lengths += np.square(block @ small).sum(axis=0)
        if kept.any() and (lengths <= least**2 * squares[-1]).all():
            return scale, np.sqrt(squares[kept]), directions[:, kept].T
    # The triangular factor has the norms and singular values of the residuals; block by block it
    # is made in the cache.
    triangle: np.ndarray = np.empty((0, Z.shape[1]))
    for block in _residuals(Z, y, weights, classes, max(512, 4 * Z.shape[1])):
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
    scale = _scale(np.square(triangle).sum(axis=0), classes, len(Z))
    _, values, directions = np.linalg.svd(triangle / scale, full_matrices=False)
    kept = values > max(Z.shape) * np.spacing(values[0])
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


def _standardized(
    Z: np.ndarray, shares: np.ndarray, scaled: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of mean 0 and variance 1, with the means and scales that made them so."""
    shares = shares.astype(Z.dtype)
    centre = shares @ Z
    S = Z - centre
    if not scaled:
        return S, centre.astype(np.float64), np.ones(Z.shape[1])
    scale = np.sqrt(shares @ np.square(S))
    scale[scale <= 10 * np.finfo(Z.dtype).eps * np.abs(centre)] = 1.0
    S /= scale
    return S, centre.astype(np.float64), scale.astype(np.float64)


def components(
    Z: np.ndarray, weights, n_components: int, scaled: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates of the rows along their leading principal directions; centre and directions."""
    w = _shares(len(Z), weights)
    S, centre, scale = _standardized(Z, w, scaled)
    _, directions = np.linalg.eigh(_gram(S * np.sqrt(w).astype(S.dtype)[:, None]))
    directions = directions[:, -n_components:]
    return S @ directions, centre, directions / scale[:, None]


class Judged(NamedTuple):
    """A fitted head with its loss on rows left out, by which penalties and layers are compared."""

    coef: np.ndarray
    intercept: np.ndarray
    loss: float


def ridge(
    Z: np.ndarray, targets: np.ndarray, weights, penalty: float | None, scaled: bool = True
) -> Judged:
    """Least squares of all columns of ``targets`` at once.

    The mean squared error plus ``penalty`` times the squared coefficients of the scaled columns is
    smallest. Without a penalty, the one with the smallest leave-one-out error is taken: one
    eigendecomposition serves all of them, and of many rows some thousands are left out in turn.
    ``scaled=False`` penalises the columns in the units they have.
    """
    w = _shares(len(Z), weights)
    S, centre, scale = _standardized(Z, w, scaled)
    level, root = w @ targets, np.sqrt(w)[:, None]
    T = (targets - level) * root
    S *= root.astype(S.dtype)
    S, basis = _few_columns(S)
    values, directions = np.linalg.eigh(_gram(S))
    values = np.maximum(values, 0)
    projected = directions.T @ (S.T @ T.astype(S.dtype))
    some = some_rows(len(Z))
    rotated = S[some] @ directions
    leverage = np.square(rotated)

    def loss(trial: float) -> float:
        fitted = rotated @ (projected / (values + trial)[:, None])
        leverages = leverage @ (1 / (values + trial)) + w[some]
        left_out = (T[some] - fitted) / np.maximum(1 - leverages, 1e-10)[:, None]
        return float(np.square(left_out).sum() / w[some].sum())

    trials = _unit(values) * PENALTIES if penalty is None else [penalty]
    best, penalty = min((loss(trial), trial) for trial in trials)
    coef = directions @ (projected / (values + penalty)[:, None])
    coef = (coef if basis is None else basis @ coef) / scale[:, None]
    return Judged(coef, level - centre @ coef, best)


def penalised_lda(
    Z: np.ndarray, y: np.ndarray, weights, n_classes: int, penalty: float | None, scaled=True
) -> Judged:
    """Discriminant analysis with ``penalty`` added to all variances of the scaled columns.

    It is the discriminant analysis of ridge regressions of the class indicators. Without a penalty,
    the one with the smallest leave-one-out loss is taken. To leave a row out changes the
    covariance by one outer product, so that its scores have a closed form. The scores are scaled
    such that the log loss of the rows left out is smallest: with many columns they would be too
    sure.
    """
    w = _shares(len(Z), weights)
    S, centre, scale = _standardized(Z, w, scaled)
    S, basis = _few_columns(S)
    priors = np.bincount(y, w, n_classes)
    indicators = np.zeros((n_classes, len(y)), dtype=S.dtype)
    indicators[y, np.arange(len(y))] = w / priors[y]
    means = (indicators @ S).astype(np.float64)
    root = None if weights is None else np.sqrt(w).astype(S.dtype)[:, None]
    scatter = _gram(S) / len(S) if root is None else _gram(S * root)
    values, directions = np.linalg.eigh(scatter - (means.T * priors) @ means)
    values = np.maximum(values, 0)
    effective = 1 / (w @ w)
    freedom = max(effective - n_classes, 1) / effective
    means = means @ directions
    some = some_rows(len(Z))
    leave_out = _LeaveOneOut(S[some] @ directions, y[some], w[some], means, priors, freedom)
    trials = _unit(values) * PENALTIES if penalty is None else np.array([penalty])
    best, sureness, penalty = min(
        (*leave_out.loss(1 / (values + trial)), trial) for trial in trials
    )
    weighted = means * (sureness * freedom / (values + penalty))
    coef = directions @ weighted.T
    coef = (coef if basis is None else basis @ coef) / scale[:, None]
    intercept = sureness * np.log(priors) - np.einsum("kj,kj->k", means, weighted) / 2
    return Judged(coef, intercept - centre @ coef, best)


class _LeaveOneOut:
    """Discriminant scores of rows that take no part in the means and the covariance.

    Rows and class means are in coordinates in which the covariance is diagonal.
    """

    def __init__(self, rows, y, shares, means, priors, freedom):
        others = priors[y] - shares
        known = others > 1e-9 * priors[y]  # the only row of a class says nothing about it
        self.rows, self.y, self.shares = rows[known], y[known], shares[known]
        self.means, self.freedom = means, freedom
        self.growth = priors[self.y] / others[known]  # of the distance to the own class mean
        left = priors - self.shares[:, None] * (self.y[:, None] == np.arange(len(priors)))
        self.log_priors = np.log(left / (1 - self.shares)[:, None])
        self.squares = np.square(self.rows)

    def loss(self, inverse: np.ndarray) -> tuple[float, float]:
        """Log loss of the best multiple of the scores plus their share of errors; the multiple.

        The first of the two changes smoothly with a penalty, the second is what counts.
        """
        if len(self.y) == 0:
            return 0.0, 1.0
        scores = self.log_priors - self.freedom / 2 * self._distances(inverse)
        scores -= scores[self._own()][:, None]
        losses = [
            np.average(logsumexp(multiple * scores, axis=1), weights=self.shares)
            for multiple in MULTIPLES
        ]
        loss, multiple = min(zip(losses, MULTIPLES, strict=True))
        return loss + np.average(scores.max(axis=1) > 0, weights=self.shares), multiple

    def _own(self):
        return np.arange(len(self.y)), self.y

    def _distances(self, inverse: np.ndarray) -> np.ndarray:
        """Squared distances to the class means, all without the row itself.

        Without a row of share w at r from its class mean m_k, the scatter is smaller by the outer
        product of r with itself, times w g with g = priors[k] / (priors[k] - w), and r is g r.
        """
        weighted = self.means * inverse
        inner = self.rows @ weighted.T
        squares = (self.squares @ inverse)[:, None]
        between = self.means @ weighted.T
        distances = squares - 2 * inner + np.diag(between)
        own, g = self._own(), self.growth
        to_own = distances[own]
        products = squares - inner[own][:, None] - inner + between[self.y]
        kept = np.maximum(1 - self.shares * g * to_own, 1e-9)
        distances += (self.shares * g / kept)[:, None] * np.square(products)
        distances[own] = g * g * to_own / kept
        return distances


def some_rows(n: int) -> slice:
    """Every row, or of many rows every k-th."""
    return slice(None, None, -(-n // _ROWS_AT_ONCE))


def _shares(n: int, weights) -> np.ndarray:
    return np.full(n, 1 / n) if weights is None else weights / weights.sum()


def _few_columns(S: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Coordinates of the rows in their own span, and its basis, where columns outnumber rows."""
    if len(S) > S.shape[1]:
        return S, None
    S = S.astype(np.float64)
    values, rotated = np.linalg.eigh(S @ S.T)
    kept = values > max(values[-1], 0) * max(S.shape) * np.finfo(float).eps
    kept[-1] = True  # one column at least
    lengths = np.sqrt(np.maximum(values[kept], np.finfo(float).tiny))
    return rotated[:, kept] * lengths, S.T @ (rotated[:, kept] / lengths)


def _unit(values: np.ndarray) -> float:
    """What a penalty is measured in: the mean variance of the directions."""
    return values.mean() if values.any() else 1.0


def _gram(S: np.ndarray) -> np.ndarray:
    """S' S; sums over blocks are in double precision even where S is not."""
    total = np.zeros((S.shape[1], S.shape[1]))
    for rows in _blocks(len(S), _ROWS_AT_ONCE):
        total += S[rows].T @ S[rows]
    return total


def logistic(Z, y, weights, n_classes: int, penalty: float | None) -> Head:
    """Multinomial logistic regression; the penalty is 1e-3 where none is given."""
    w = _shares(len(Z), weights)
    S, centre, scale = _standardized(Z, w)
    strength = 1 / ((1e-3 if penalty is None else penalty) * len(y))
    model = LogisticRegression(C=strength, max_iter=1000).fit(S, y, sample_weight=len(y) * w)
    coef, intercept = model.coef_.T / scale[:, None], model.intercept_
    if n_classes == 2:  # one column, the difference of two scores
        coef, intercept = coef * [[-0.5, 0.5]], intercept * [-0.5, 0.5]
    return Head(coef, intercept - centre @ coef)
