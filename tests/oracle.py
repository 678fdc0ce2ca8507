"""Brute-force CART: the slow, obvious judge of the fast engine.

Every split of a node is written down as a boolean mask over the node's rows (True goes left) and
its impurity decrease is computed from the definition. Nothing is sorted, accumulated or updated, so
there is little to get wrong.

Parts: `impurities` of subsets of rows, `numeric_masks` and `category_masks` (all splits of one
feature), `best_gain` (the best decrease at a node) and `check_tree`, which holds a fitted tree
against all of it, node by node.
"""

from itertools import pairwise, product

import numpy as np
from scipy.special import entr, xlogy

EPSILON = np.finfo(float).eps  # scikit-learn calls a node pure at this impurity
TOLERANCE = 1e-9


def quantile_of(y, w, level):
    """Where the weights reach their share; half-way to the next where they do exactly."""
    order = np.argsort(y, kind="stable")
    y, reached = y[order], np.cumsum(w[order])
    wanted, slack = level * reached[-1], 1e-12 * reached[-1]
    at = np.flatnonzero(reached >= wanted - slack)[0]
    halfway = at + 1 < y.size and reached[at] <= wanted + slack
    return y[at] / 2 + y[at + 1] / 2 if halfway else y[at]


def smallest_pinball(y, w, level):
    """The least mean pinball loss that a constant has on some rows."""
    above = y - y[:, None]  # one candidate a line
    return (np.where(above > 0, level * above, (level - 1) * above) @ w).min() / w.sum()


def impurities(masks, y, w, criterion):
    """Impurity and weight of the subsets of rows given by ``masks`` (n_subsets, n_rows).

    A number as the criterion is the level of a quantile.
    """
    masks = np.atleast_2d(masks)
    weight = masks @ w
    if criterion == "absolute_error":
        return 2 * impurities(masks, y, w, 0.5)[0], weight
    if isinstance(criterion, float):
        return np.array([smallest_pinball(y[m], w[m], criterion) for m in masks]), weight
    if criterion in ("gini", "entropy"):
        share = masks @ (w[:, None] * (y[:, None] == np.unique(y))) / weight[:, None]
        if criterion == "gini":
            return (share * (1 - share)).sum(axis=1), weight
        return entr(share).sum(axis=1) / np.log(2), weight
    mean = (masks @ (w * y) / weight)[:, None]
    if criterion == "squared_error":
        loss = (y - mean) ** 2
    else:  # half the Poisson deviance; a subset without any count is pure
        loss = xlogy(y, y / np.where(mean > 0, mean, 1)) - y + mean
    return (masks * w * loss).sum(axis=1) / weight, weight


def midpoint(a, b):
    """Threshold between neighbouring values; the lower one where rounding would reach the upper."""
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def numeric_masks(x):
    """All splits of a numeric feature: every threshold, and missing against the rest.

    With missing values every threshold counts twice, for they can go left or right.
    """
    missing = np.isnan(x)
    values = np.unique(x[~missing])
    cuts = [x <= midpoint(a, b) for a, b in pairwise(values)]
    if missing.any():
        cuts += [cut | missing for cut in cuts]
        cuts += [~missing] if values.size else []
    return np.array(cuts, dtype=bool).reshape(-1, x.size)


def category_masks(x):
    """All splits of a categorical feature into two non-empty sets; missing is one more category."""
    x = np.where(np.isnan(x), -1, x)
    rest = np.unique(x)[1:]  # the first category stays right, so no split comes twice
    chosen = product([False, True], repeat=len(rest))
    sets = [np.array(rest)[np.array(take, dtype=bool)] for take in chosen if any(take)]
    return np.array([np.isin(x, s) for s in sets], dtype=bool).reshape(-1, x.size)


def ordered_category_masks(x, y, w):
    """The splits that cut the categories ordered by mean target, missing left and right."""
    missing = np.isnan(x)
    categories = np.unique(x[~missing])
    means = np.array([np.average(y[x == c], weights=w[x == c]) for c in categories])
    masks = []
    for cut in np.unique(means):
        below = np.isin(x, categories[means <= cut * (1 + np.sign(cut) * 1e-12)])
        masks += [below, below | missing]
    masks = np.array(masks, dtype=bool).reshape(-1, x.size)
    return masks[masks.any(axis=1) & ~masks.all(axis=1)]


class Order:
    """What monotone constraints ask of the splits of a node: directions and bounds of its value."""

    def __init__(self, directions, low=-np.inf, high=np.inf, value=None):
        self.directions, self.low, self.high, self.value = directions, low, high, value

    def sides(self, masks, y, w):
        return [np.array([self.value(y[side], w[side]) for side in m]) for m in (masks, ~masks)]

    def keeps(self, feature, masks, y, w, slack):
        """Whether each split keeps to it; a negative slack asks for more."""
        if self.directions[feature] == 0:
            return np.ones(len(masks), dtype=bool)
        left, right = self.sides(masks, y, w)
        legal = (np.minimum(left, right) >= self.low - slack) & (
            np.maximum(left, right) <= self.high + slack
        )
        return legal & ((left - right) * self.directions[feature] <= slack)

    def clip(self, value):
        return np.clip(value, self.low, self.high)

    def children(self, feature, left, y, w):
        """The orders of both children."""
        direction, middle = self.directions[feature], np.mean(self.sides(left[None], y, w))
        below = Order(self.directions, self.low, middle, self.value)
        above = Order(self.directions, middle, self.high, self.value)
        return {0: (self, self), 1: (below, above), -1: (above, below)}[direction]


def gains(masks, y, w, criterion, min_samples_leaf=1, min_weight_leaf=0.0):
    """Impurity decrease of every split, -inf where a child breaks a limit."""
    if not len(masks):
        return np.array([-np.inf])
    (total,), (weight,) = impurities(np.ones(y.size, dtype=bool), y, w, criterion)
    left, left_weight = impurities(masks, y, w, criterion)
    right, right_weight = impurities(~masks, y, w, criterion)
    decrease = total - (left_weight * left + right_weight * right) / weight
    size = masks.sum(axis=1)
    legal = np.minimum(size, y.size - size) >= min_samples_leaf
    legal &= np.minimum(left_weight, right_weight) >= min_weight_leaf
    if criterion == "poisson":  # a leaf predicts a rate, which is positive
        legal &= (masks @ (w * y) > EPSILON) & (~masks @ (w * y) > EPSILON)
    return np.where(legal, decrease, -np.inf)


def best_gain(
    X,
    y,
    w,
    criterion,
    categorical=(),
    min_samples_leaf=1,
    min_weight_leaf=0.0,
    ordered=False,
    order=None,
    slack=0.0,
):
    """Best impurity decrease over all splits of a node, -inf when no split is legal.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Numbers, or category codes in the ``categorical`` columns; NaN is missing.
    ordered : bool
        Look only at the category sets that are neighbours in mean target. Without limits on the
        children they contain the best set (two classes, squared error, Poisson).
    order : Order, default=None
        Look only at the splits that keep to it, up to the slack.
    """
    masks = [
        numeric_masks(x)
        if j not in categorical
        else ordered_category_masks(x, y, w)
        if ordered
        else category_masks(x)
        for j, x in enumerate(X.T)
    ]
    if order is not None:
        masks = [m[order.keeps(j, m, y, w, slack)] if len(m) else m for j, m in enumerate(masks)]
    return gains(np.concatenate(masks), y, w, criterion, min_samples_leaf, min_weight_leaf).max()


def goes_left(graph, node, X):
    """Which rows the node's own test sends left."""
    x = X[:, graph.feature[node]]
    if graph.kind[node] == 1:
        left = x <= graph.threshold[node]
    else:
        assert graph.kind[node] == 2
        left = np.isin(x, graph.categories_left(node))
    return np.where(np.isnan(x), bool(graph.missing_left[node]), left)


def encode(estimator, X):
    """Table with category codes in place of the categories, the unknown ones missing."""
    X = np.array(X, dtype=float)
    for j, categories in estimator.schema_.categories.items():
        code = {float(value): k for k, value in enumerate(categories)}
        X[:, j] = [code.get(value, np.nan) for value in X[:, j]]
    return X


def as_count(limit, n_samples):
    return limit if isinstance(limit, int) else int(np.ceil(limit * n_samples))


def check_tree(estimator, X, y, w=None):
    """Assert that every node of a fitted tree is what brute force makes of the rows that reach it.

    A split must have the best gain, the stored statistics must be those of the rows, and a leaf
    must be pure, held back by a limit, or without a legal split, under monotone constraints, too.
    The tree must be grown with ``max_bins=None``, ``max_features=None`` and without pruning or
    class weights.
    """
    graph, limits = estimator.graph_, estimator.get_params()
    criterion = limits["criterion"]
    level = {"absolute_error": 0.5, "quantile": limits.get("quantile")}.get(criterion)
    criterion = level if criterion == "quantile" else criterion

    def value_of(y, w):
        return np.average(y, weights=w) if level is None else quantile_of(y, w, level)

    X = encode(estimator, X)
    y = (
        np.searchsorted(estimator.classes_, y)
        if hasattr(estimator, "classes_")
        else np.asarray(y, float)
    )
    w = np.ones(y.size) if w is None else np.asarray(w, dtype=float)
    leaf_size = max(1, as_count(limits["min_samples_leaf"], y.size))
    leaf_weight = limits["min_weight_fraction_leaf"] * w.sum()
    n_classes = graph.n_outputs if criterion in ("gini", "entropy") else 0
    scale = 1.0 if n_classes else np.abs(y).max()
    noise = 1e-13 * (scale**2 if criterion == "squared_error" else scale)  # of sums over all rows

    def gain_range(rows, order):
        """Best gain that the engine promises and best that exists; equal without limits."""
        node = X[rows], y[rows], w[rows], criterion, tuple(estimator.schema_.categories), leaf_size
        limited = leaf_size > 1 or leaf_weight > 0 or (criterion == "poisson" and not y[rows].all())
        limited |= order is not None
        slack = TOLERANCE * scale
        lower = best_gain(
            *node,
            leaf_weight * (1 + TOLERANCE),
            ordered=limited and n_classes <= 2 and level is None,
            order=order,
            slack=-slack,
        )
        return lower, best_gain(*node, leaf_weight * (1 - TOLERANCE), order=order, slack=slack)

    def check_statistics(node, rows, order):
        (impurity,), (weight,) = impurities(
            np.ones(rows.size, dtype=bool), y[rows], w[rows], criterion
        )
        assert graph.n_samples[node] == rows.size
        np.testing.assert_allclose(graph.weight[node], weight, rtol=TOLERANCE)
        np.testing.assert_allclose(graph.impurity[node], impurity, rtol=TOLERANCE, atol=noise)
        targets = y[rows, None] == np.arange(n_classes) if n_classes else y[rows, None]
        value = [value_of(column, w[rows]) for column in targets.T]
        if order is not None:
            value = [order.clip(v) for v in value[-1:]]
            value = [1 - value[0], *value] if n_classes else value
        np.testing.assert_allclose(graph.value[node], value, rtol=TOLERANCE, atol=1e-13 * scale)
        return impurity

    def check_leaf(rows, depth, impurity, order):
        if np.ptp(y[rows]) == 0 or impurity <= max(EPSILON, noise):
            return
        if limits["max_depth"] is not None and depth >= limits["max_depth"]:
            return
        if rows.size < as_count(limits["min_samples_split"], y.size):
            return
        if limits["max_leaf_nodes"] is not None and graph.n_leaves >= limits["max_leaf_nodes"]:
            return
        gain, _ = gain_range(rows, order)
        share = w[rows].sum() / w.sum()
        needed = limits["min_impurity_decrease"] + share * (noise + TOLERANCE * impurity)
        assert gain == -np.inf or (
            limits["min_impurity_decrease"] > 0 and share * gain <= needed
        ), f"leaf of {rows.size} rows could be split with gain {gain}"

    def check_split(node, rows, depth, left, impurity, order):
        assert np.ptp(y[rows]) > 0, "a pure node was split"
        assert limits["max_depth"] is None or depth < limits["max_depth"]
        assert rows.size >= as_count(limits["min_samples_split"], y.size)
        (gain,) = gains(
            left[None], y[rows], w[rows], criterion, leaf_size, leaf_weight * (1 - TOLERANCE)
        )
        assert np.isfinite(gain), "a child breaks a limit"
        if order is not None:
            assert order.keeps(feature[node], left[None], y[rows], w[rows], TOLERANCE * scale)
        lower, upper = gain_range(rows, order)
        slack = TOLERANCE * impurity + noise
        assert lower - slack <= gain <= upper + slack, f"gain {gain}, best is {lower}"
        share = w[rows].sum() / w.sum()
        assert share * (gain + slack) + EPSILON >= limits["min_impurity_decrease"]
        x = X[rows, graph.feature[node]]
        if graph.kind[node] == 1 and len(set(left[~np.isnan(x)])) == 2:
            between = midpoint(np.nanmax(x[left]), np.nanmin(x[~left]))
            assert graph.threshold[node] == between, "threshold is not halfway in the gap"
        heavier = w[rows] @ left - w[rows] @ ~left
        if not np.isnan(x).any() and abs(heavier) > TOLERANCE * w[rows].sum():
            assert graph.missing_left[node] == (heavier > 0), "missing goes to the lighter child"

    order, feature = None, graph.feature
    if limits.get("monotonic_cst") is not None and n_classes != 1:
        order = Order(limits["monotonic_cst"], value=value_of)
    todo, n_seen = [(0, np.flatnonzero(w > 0), 0, order)], 0
    while todo:
        node, rows, depth, order = todo.pop()
        n_seen += 1
        impurity = check_statistics(node, rows, order)
        if graph.left[node] < 0:
            assert graph.kind[node] == 0 and graph.feature[node] == -2 and graph.right[node] == -1
            check_leaf(rows, depth, impurity, order)
        else:
            left = goes_left(graph, node, X[rows])
            check_split(node, rows, depth, left, impurity, order)
            orders = order, order
            if order is not None:
                orders = order.children(feature[node], left, y[rows], w[rows])
            todo += [
                (graph.left[node], rows[left], depth + 1, orders[0]),
                (graph.right[node], rows[~left], depth + 1, orders[1]),
            ]
    assert n_seen == graph.n_nodes
