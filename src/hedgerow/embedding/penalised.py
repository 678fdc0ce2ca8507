"""Linear heads with a quadratic penalty, chosen and judged by rows left out.

- ``ridge``: least squares, the head for numbers;
- ``penalised_lda``: discriminant analysis, the head for classes. It is the discriminant analysis of
  ridge regressions of the class indicators.

To leave a row out changes the moments of a layer by one outer product, so that what a head would
say of a row it has not seen has a closed form: for all penalties from one eigendecomposition. Of
many rows some thousands are left out in turn.
"""

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

# Penalties to try, in units of the mean variance: below 1e-6 they drown in the rounding of single
# precision, above 10 hardly anything but the means is left; the loss is flat over half a decade.
PENALTIES = 10.0 ** np.arange(-6, 1.5, 0.5)
# Multiples of scores that may be too sure: halves suffice for a loss that is flat at its best, and
# a head whose scores are 32 times too large has learned nothing worth keeping.
MULTIPLES = 2.0 ** np.arange(-5, 1)
# Rows left out at most: the share of errors of so many has a standard error below 0.8 points.
_LEFT_OUT = 1 << 12
_ROWS_AT_ONCE = 1 << 11  # they stay in the cache
# A row that is alone in its direction, or in its class, determines what is said there: nothing is
# left without it but rounding. Less than these shares of the whole count as nothing.
_LEAST_REST = 1e-10  # of a leverage: its noise is some 1e-12 of one
_LEAST_SHARE = 1e-9  # of a class, or of a row's distance, both of which are sums over rows


class Judged(NamedTuple):
    """A fitted head, its loss on rows left out, and what it says of them.

    For numbers that is relative to the mean target, for classes to the score of the own class.
    """

    coef: np.ndarray
    intercept: np.ndarray
    loss: float
    left_out: np.ndarray


def shares(n: int, weights) -> np.ndarray:
    """Weights that sum to one."""
    return np.full(n, 1 / n) if weights is None else weights / weights.sum()


class Layer:
    """The rows of a layer with the moments that heads are made of.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_columns)
    targets : ndarray of shape (n_samples, n_outputs)
        Numbers or class indicators.
    weights : ndarray of shape (n_samples,) or None
    n_components : int or None
        Look only at this many principal components of the scaled columns.
    """

    def __init__(self, Z: np.ndarray, targets: np.ndarray, weights=None, n_components=None):
        self.Z, self.targets, self.n_components = Z, targets, n_components
        self.shares = shares(len(Z), weights)
        self.centre = (self.shares.astype(Z.dtype) @ Z).astype(np.float64)
        self.level = self.shares @ targets
        spread = np.sqrt(self._sums[2])
        noise = 10 * np.finfo(Z.dtype).eps * np.abs(self.centre)
        self.scale = np.where(spread <= noise, 1.0, spread)

    @cached_property
    def _sums(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        """Covariances of the columns, where rows outnumber them, with the targets, and variances.

        Blocks of rows are in the layer's own precision, their sums in double precision.
        """
        n, width = self.Z.shape
        covariance = np.zeros((width, width)) if n > width else None
        cross, variances = np.zeros((width, self.targets.shape[1])), np.zeros(width)
        centre, T = self.centre.astype(self.Z.dtype), self.targets - self.level
        T = (T * self.shares[:, None]).astype(self.Z.dtype)
        root = np.sqrt(self.shares).astype(self.Z.dtype)[:, None]
        for begin in range(0, n, _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            block = self.Z[rows] - centre
            cross += block.T @ T[rows]
            block *= root[rows]
            if covariance is None:
                variances += np.square(block).sum(axis=0)
            else:
                covariance += block.T @ block
        return covariance, cross, variances if covariance is None else np.diag(covariance)

    def part(self, columns: slice, scale: np.ndarray | None = None) -> "Layer":
        """The layer of some of the columns, perhaps in other units; it shares the sums."""
        part = copy(self)
        part.__dict__.pop("coordinates", None)
        part.Z, part.centre = self.Z[:, columns], self.centre[columns]
        part.scale = self.scale[columns] if scale is None else scale
        covariance, cross, variances = self._sums
        if covariance is None:
            del part._sums
        else:
            part._sums = covariance[columns, columns], cross[columns], variances[columns]
        return part

    @property
    def left_out(self) -> slice:
        """The rows that are left out in turn."""
        return slice(None, None, -(-len(self.Z) // _LEFT_OUT))

    @cached_property
    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Scaled rows to leave out, covariances, those with the targets, and the axes of it all.

        Where columns outnumber rows, the axes are a basis of the span of the rows.
        """
        covariance, cross, _ = self._sums
        if covariance is not None:
            dtype = self.Z.dtype
            rows = (self.Z[self.left_out] - self.centre.astype(dtype)) / self.scale.astype(dtype)
            covariance = covariance / self.scale / self.scale[:, None]
            cross, axes = cross / self.scale[:, None], np.diag(1 / self.scale)
        else:
            S = (self.Z - self.centre) / self.scale
            values, rotated = np.linalg.eigh(S @ S.T)
            kept = values > max(values[-1], 0) * max(S.shape) * np.finfo(float).eps
            kept[-1] = True  # one column at least
            lengths = np.sqrt(np.maximum(values[kept], np.finfo(float).tiny))
            rows = rotated[:, kept] * lengths
            axes = (S.T @ (rotated[:, kept] / lengths)) / self.scale[:, None]
            weighted = rows * self.shares[:, None]
            covariance, cross = weighted.T @ rows, weighted.T @ (self.targets - self.level)
            rows = rows[self.left_out]
        if self.n_components is None or self.n_components >= len(covariance):
            return rows, covariance, cross, axes
        values, directions = np.linalg.eigh(covariance)
        values, directions = values[-self.n_components :], directions[:, -self.n_components :]
        return rows @ directions, np.diag(values), directions.T @ cross, axes @ directions


def _trials(values: np.ndarray, penalty: float | None) -> np.ndarray:
    """The penalties to try, in units of the mean variance of the directions."""
    if penalty is not None:
        return np.array([penalty])
    return PENALTIES * (values.mean() if values.any() else 1.0)


def ridge(layer: Layer, penalty: float | None) -> Judged:
    """Least squares of all targets at once.

    The mean squared error plus ``penalty`` times the squared coefficients of the scaled columns is
    smallest. Without a penalty, the one with the smallest leave-one-out error is taken.
    """
    rows, covariance, cross, axes = layer.coordinates
    values, directions = np.linalg.eigh(covariance)
    values = np.maximum(values, 0)
    projected = directions.T @ cross
    rotated = rows @ directions.astype(rows.dtype)
    w, T = layer.shares[layer.left_out, None], layer.targets[layer.left_out] - layer.level
    trials = _trials(values, penalty)
    leverages = w * (1 + np.square(rotated) @ (1 / (values[:, None] + trials)))

    def left_out(trial: int) -> np.ndarray:
        fitted = rotated @ (projected / (values + trials[trial])[:, None])
        return T - (T - fitted) / np.maximum(1 - leverages[:, [trial]], _LEAST_REST)

    def loss(trial: int) -> float:
        return float((w * np.square(left_out(trial) - T)).sum() / w.sum())

    best, chosen = min((loss(trial), trial) for trial in range(len(trials)))
    coef = axes @ (directions @ (projected / (values + trials[chosen])[:, None]))
    return Judged(coef, layer.level - layer.centre @ coef, best, left_out(chosen))


def penalised_lda(layer: Layer, y: np.ndarray, penalty: float | None) -> Judged:
    """Discriminant analysis with ``penalty`` added to all variances of the scaled columns.

    Without a penalty, the one with the smallest leave-one-out loss is taken. The scores are scaled
    such that the log loss of the rows left out is smallest: with many columns they would be too
    sure.
    """
    rows, covariance, cross, axes = layer.coordinates
    priors, n_classes = layer.level, len(layer.level)
    means = (cross / priors).T
    values, directions = np.linalg.eigh(covariance - (means.T * priors) @ means)
    values, means = np.maximum(values, 0), means @ directions
    effective = 1 / (layer.shares @ layer.shares)
    freedom = max(effective - n_classes, 1) / effective
    trials = _trials(values, penalty)
    leave_out = _LeaveOneOut(
        rows @ directions.astype(rows.dtype),
        y[layer.left_out],
        layer.shares[layer.left_out],
        means,
        priors,
    )
    every = leave_out.scores(1 / (values + trials[:, None]), freedom)
    losses = [leave_out.loss(scores) for scores in every]
    chosen = min(range(len(trials)), key=lambda trial: losses[trial][0])
    best, sureness = losses[chosen]
    weighted = means * (sureness * freedom / (values + trials[chosen]))
    coef = axes @ (directions @ weighted.T)
    intercept = sureness * np.log(priors) - np.einsum("kj,kj->k", means, weighted) / 2
    return Judged(coef, intercept - layer.centre @ coef, best, sureness * every[chosen])


class _LeaveOneOut:
    """Discriminant scores of rows that take no part in the means and the covariance.

    Rows and class means are in coordinates in which the covariance is diagonal.
    """

    def __init__(self, rows, y, shares, means, priors):
        self.rows, self.y, self.shares, self.means = rows, y, shares, means
        self.own_class = np.arange(len(y)), y
        others = priors[y] - shares
        self.known = (
            others > _LEAST_SHARE * priors[y]
        )  # the only row of a class says nothing about it
        self.growth = priors[y] / np.where(self.known, others, priors[y])
        left = np.tile(priors, (len(y), 1))
        left[self.own_class] = np.where(self.known, others, priors[y])
        self.log_priors = np.log(left / (1 - shares)[:, None])

    def scores(self, inverses: np.ndarray, freedom: float) -> list[np.ndarray]:
        """Scores of the classes less that of the own, for each diagonal inverse covariance.

        Without a row of share w at r from its class mean m_k, the scatter is smaller by the outer
        product of r with itself, times w g with g = priors[k] / (priors[k] - w), and r is g r.
        """
        dtype = self.rows.dtype
        squares = np.square(self.rows) @ inverses.T.astype(dtype)
        weighted = inverses[:, None] * self.means
        inner = self.rows @ weighted.reshape(-1, self.rows.shape[1]).T.astype(dtype)
        inner = inner.reshape(len(self.rows), *weighted.shape[:2])
        g, w, relative = self.growth, self.shares, []
        for trial in range(len(inverses)):
            square, product = squares[:, [trial]].astype(float), inner[:, trial].astype(float)
            between = self.means @ weighted[trial].T
            distances = square - 2 * product + np.diag(between)
            to_own = np.maximum(distances[self.own_class], 0)
            across = square - product[self.own_class][:, None] - product + between[self.y]
            kept = np.maximum(1 - w * g * to_own, _LEAST_SHARE)
            distances += (w * g / kept)[:, None] * np.square(across)
            distances[self.own_class] = g * g * to_own / kept
            scores = self.log_priors - freedom / 2 * distances
            relative.append(scores - scores[self.own_class][:, None])
        return relative

    def loss(self, scores: np.ndarray) -> tuple[float, float]:
        """Log loss of the best multiple of the scores plus their share of errors; the multiple.

        The first of the two changes smoothly with a penalty, the second is what counts.
        """
        w = self.shares * self.known
        if not w.any():
            return 0.0, 1.0
        by_class = np.ascontiguousarray(scores.T)  # whole rows are summed, not a few numbers each
        top = by_class.max(axis=0)
        below = by_class - top
        losses = [
            (w @ (multiple * top + np.log(np.exp(multiple * below).sum(axis=0))), multiple)
            for multiple in MULTIPLES
        ]
        best, multiple = min(losses)
        return float(best + w @ (top > 0)) / w.sum(), float(multiple)
