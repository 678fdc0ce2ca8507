"""Sums of trees by brute force: every leaf, every feature, every cut, dense matrices.

It shares no code and no shortcut with the engine: rows are masks, members are lists of masks, and
leaf values come out of one least-squares problem, or of Newton's method run until nothing moves.
"""

from itertools import combinations

import numpy as np

MISSING = -1


def derivatives(loss, y, scores):
    """Minus the first, and the second derivative of the loss of each row, for each score."""
    if loss == "squared_error":
        return y[:, None] - scores, np.ones_like(scores)
    if loss == "poisson":
        return y[:, None] - np.exp(scores), np.exp(scores)
    if scores.shape[1] == 1:
        p = 1 / (1 + np.exp(-scores))
        return y[:, None] - p, p * (1 - p)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    # Between classes there is none: where all are as probable, the factor makes up for it.
    return np.eye(scores.shape[1])[y] - p, p * (1 - p) * p.shape[1] / (p.shape[1] - 1)


def total_loss(loss, y, scores, weights):
    if loss == "squared_error":
        each = (y - scores[:, 0]) ** 2 / 2
    elif loss == "poisson":
        each = np.exp(scores[:, 0]) - y * scores[:, 0]
    elif scores.shape[1] == 1:
        each = np.logaddexp(0, np.where(y == 1, -scores[:, 0], scores[:, 0]))
    else:
        each = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y]
    return float((weights * each).sum())


class SumOracle:
    """A sum of trees on small tables of numbers and codes of categories."""

    def __init__(self, X, y, loss, n_scores=1, *, ridge=1.0, min_samples_leaf=1, weights=None,
                 categorical=(), smoothing=0.0):  # fmt: skip
        self.X, self.y, self.loss, self.ridge = X, y, loss, ridge
        self.fewest, self.categorical, self.smoothing = min_samples_leaf, categorical, smoothing
        self.weights = np.ones(len(X)) if weights is None else weights
        self.leaves = []  # of each member, a list of masks
        self.values = np.zeros((1, n_scores))  # the intercept, then leaf by leaf
        self.values[0] = self._constant()
        self.ranks = {f: self._ranked(X[:, f]) for f in categorical}
        self.fit()

    def _ranked(self, x):
        """Categories by the step that each would take alone from the constant, smoothed."""
        g, h = derivatives(self.loss, self.y, self.scores)
        g, h = g[:, 0] * self.weights, h[:, 0] * self.weights
        rows = [x == v for v in np.unique(x[~np.isnan(x)])]
        step = [g[r].sum() / (h[r].sum() + self.smoothing * h.mean()) for r in rows]
        ranks = np.full(len(x), np.nan)
        for r, rank in zip(rows, np.argsort(np.argsort(step, kind="stable")), strict=True):
            ranks[r] = rank
        return ranks

    def _constant(self):
        mean = np.average(self.y, weights=self.weights)
        if self.loss == "squared_error":
            return mean
        if self.loss == "poisson":
            return np.log(mean)
        if self.values.shape[1] == 1:
            return np.log(mean / (1 - mean))
        scores = np.log(np.bincount(self.y, self.weights))
        return scores - scores.mean()

    @property
    def design(self):
        columns = [np.ones(len(self.X))] + [mask for member in self.leaves for mask in member]
        return np.array(columns, dtype=float).T

    @property
    def scores(self):
        return self.design @ self.values

    @property
    def penalised_loss(self):
        return total_loss(self.loss, self.y, self.scores, self.weights) + self.ridge / 2 * (
            (self.values[1:] ** 2).sum()
        )

    def fit(self):
        """All values together, to the last digit."""
        design = self.design
        penalty = self.ridge * np.eye(design.shape[1])
        penalty[0, 0] = 0
        for _ in range(1 if self.loss == "squared_error" else 500):
            g, h = derivatives(self.loss, self.y, design @ self.values)
            step = np.zeros_like(self.values)
            for k in range(g.shape[1]):
                gram = design.T @ (design * (self.weights * h[:, k])[:, None]) + penalty
                side = design.T @ (self.weights * g[:, k]) - penalty @ self.values[:, k]
                step[:, k] = np.linalg.lstsq(gram, side, rcond=1e-13)[0]
            if g.shape[1] > 1:  # what all classes have in common, the loss does not see
                step -= step.mean(axis=1, keepdims=True)
            before, start, share = self.penalised_loss, self.values, 1.0
            self.values = start + step
            while self.penalised_loss > before + 1e-12 * abs(before) and share > 1e-6:
                share /= 2
                self.values = start + share * step
            if np.abs(step).max() < 1e-13:
                break

    def candidates(self):
        """(gain, member, leaf, mask of the rows that go left) of every split that may be."""
        g, h = derivatives(self.loss, self.y, self.scores)
        g, h = g * self.weights[:, None], h * self.weights[:, None]
        places = [(m, i) for m, member in enumerate(self.leaves) for i in range(len(member))]
        everything = np.ones(len(self.X), dtype=bool)
        column = {place: at + 1 for at, place in enumerate(places)}
        for place in [*places, (len(self.leaves), 0)]:
            is_new = place not in column
            mask = everything if is_new else self.leaves[place[0]][place[1]]
            value = np.zeros(g.shape[1]) if is_new else self.values[column[place]]
            for left in self._cuts(mask):
                right = mask & ~left
                if min(left.sum(), right.sum()) < self.fewest:
                    continue
                gain = -self.ridge * (value**2).sum()
                for side in (left, right):
                    pull = g[side].sum(axis=0) - self.ridge * value
                    gain += (pull**2 / (h[side].sum(axis=0) + self.ridge)).sum()
                yield gain / 2, *place, left

    def _cuts(self, mask):
        for f in range(self.X.shape[1]):
            x = self.X[:, f]
            missing = mask & np.isnan(x)
            values = np.unique(x[mask & ~missing])
            if f in self.categorical:
                x = self.ranks[f]
                values = np.unique(x[mask & ~missing])
            for v in values[: len(values) if missing.any() else -1]:
                yield mask & (x <= v)
                if missing.any() and v < values[-1]:
                    yield mask & ((x <= v) | missing)

    def grow(self):
        """Take the best split, fit; returns the gain by which the next best one was missed."""
        found = sorted(self.candidates(), key=lambda candidate: -candidate[0])
        gain, member, leaf, left = found[0]
        if member == len(self.leaves):
            self.leaves.append([np.ones(len(self.X), dtype=bool)])
            self.values = np.vstack([self.values, np.zeros((1, self.values.shape[1]))])
        at = 1 + sum(map(len, self.leaves[:member])) + leaf
        mask = self.leaves[member][leaf]
        self.leaves[member][leaf : leaf + 1] = [left, mask & ~left]
        self.values = np.insert(self.values, at, self.values[at], axis=0)
        self.fit()
        others = [c for c in found[1:] if abs(c[0] - gain) < 1e-9 * gain]
        return not any(_differ(c[3], left) for c in others)


def _differ(one, other):
    return bool((one != other).any() and (one != ~other).any())


def dominated_pairs(X, feature):
    """Pairs of rows that differ in one feature only, the smaller value first."""
    rest = np.delete(X, feature, axis=1)
    for i, j in combinations(range(len(X)), 2):
        if (rest[i] == rest[j]).all() and X[i, feature] != X[j, feature]:
            yield (i, j) if X[i, feature] < X[j, feature] else (j, i)
