"""Leaf values of a sum, fitted together: squared error or log-loss with a ridge, and an intercept.

Both are convex and smooth, so L-BFGS on columns scaled by their curvature finds the values without
ever forming a Gram matrix: a pass over the rows and trees a step.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit, log_softmax, xlogy

MOST_STEPS = {"rough": 40, "exact": 200}
TOLERANCE = {"rough": 1e-5, "exact": 1e-9}  # of the loss, from step to step


def log_odds(shares: np.ndarray, most: float) -> np.ndarray:
    """Class probabilities as scores, one for two classes, cut where they are all but certain."""
    logs = np.log(np.maximum(shares, 1e-12))
    if shares.shape[1] == 2:
        return np.clip(logs[:, 1:] - logs[:, :1], -most, most)
    return np.maximum(logs - logs.max(axis=1, keepdims=True), -most)


def log_loss(scores: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The log-loss of each row's scores against class shares, above the least possible."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    entropy = -xlogy(shares, shares).sum(axis=1)
    return -(shares * log_softmax(scores, axis=1)).sum(axis=1) - entropy


def fit_values(
    rows: csr_matrix,
    targets: np.ndarray,
    weights: np.ndarray,
    ridge: float,
    has_classes: bool,
    start: np.ndarray | None = None,
    precision: str = "exact",
) -> tuple[np.ndarray, np.ndarray]:
    """The intercept and the value of each column.

    Parameters
    ----------
    rows : csr_matrix of shape (n_rows, n_columns)
        Which leaves a row is in.
    targets : ndarray
        Class shares (n_rows x n_classes) or numbers (n_rows x 1).
    weights : ndarray of shape (n_rows,)
    ridge : float
        The weight of each squared value, in rows.
    start : ndarray of shape (1 + n_columns, n_scores), default=None
        Values to begin with, the intercept first.
    precision : {"rough", "exact"}, default="exact"
        "rough" is for the choice among settings.

    Returns
    -------
    intercept : ndarray of shape (n_scores,)
    values : ndarray of shape (n_columns, n_scores)
    """
    n_scores = 1 if targets.shape[1] <= 2 else targets.shape[1]
    mean = np.average(targets, axis=0, weights=weights)[None]
    if has_classes:
        scale = 1.0
        base = log_odds(np.maximum(mean, 1e-6), 14)
        curvature = weights * ((mean * (1 - mean)).max() + 1e-3)
    else:
        spread = np.sqrt(np.average((targets - mean)[:, 0] ** 2, weights=weights))
        scale = float(spread) or 1.0
        targets, base, curvature = (targets - mean) / scale, np.zeros((1, 1)), weights
    size = np.concatenate([[curvature.sum()], rows.T @ curvature])
    size = 1 / np.sqrt(np.maximum(size, 1e-12) + ridge)[:, None]
    transposed = rows.T.tocsr()
    pull = np.full((rows.shape[1], 1), float(ridge))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        values = flat.reshape(-1, n_scores) * size
        scores = base + values[0] + rows @ values[1:]
        if not has_classes:
            slope = scores - targets
            total = 0.5 * float(weights @ (slope**2).sum(axis=1))
        elif n_scores == 1:
            score = scores[:, 0]
            second = targets[:, 1:]
            total = float(weights @ (np.logaddexp(0, score) - second[:, 0] * score))
            slope = expit(scores) - second
        else:
            logs = log_softmax(scores, axis=1)
            total = -float(weights @ (targets * logs).sum(axis=1))
            slope = np.exp(logs) - targets
        slope = slope * weights[:, None]
        total += 0.5 * float((pull * values[1:] ** 2).sum())
        gradient = np.vstack([slope.sum(axis=0, keepdims=True), transposed @ slope])
        gradient[1:] += pull * values[1:]
        return total, (gradient * size).ravel()

    if start is None:
        flat = np.zeros((1 + rows.shape[1]) * n_scores)
    else:
        begun = start.copy()
        begun[0] -= base[0] if has_classes else mean[0]
        flat = (begun / scale / size).ravel()
    steps = MOST_STEPS[precision]
    gtol = 1e-6 if precision == "exact" else 0.0
    options = {"maxiter": steps, "maxfun": 2 * steps, "ftol": TOLERANCE[precision], "gtol": gtol}
    found = minimize(loss, flat, jac=True, method="L-BFGS-B", options=options)
    values = found.x.reshape(-1, n_scores) * size * scale
    intercept = values[0] + (base[0] if has_classes else mean[0])
    return intercept, values[1:]
