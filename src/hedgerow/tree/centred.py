"""Centred trees and networks of two of them: the models of deep-forest theory.

Definition 1 of L. Arnould, C. Boyer and E. Scornet, "Analyzing the tree-layer structure of Deep
Forests" (2021). A centred tree cuts every cell at its centre, one feature after the other, whatever
the data; a leaf predicts the mean of its rows, and 0 when it has none. The network's second tree
sees that mean as a new feature and cuts it at 1/2: it gathers the leaves of the first tree into two
groups. Its cuts look at no data either, so its cells are the same wherever that cut stands among
those of the raw features.

Both are decision graphs. In the network the leaves of the first tree are shared nodes: after the
cut of the new feature only two places are left to go on from.
"""

from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph
from hedgerow._estimator import parameter
from hedgerow._graph_columns import graph_of_columns
from hedgerow._graph_model import GraphRegressor, shared_gains
from hedgerow._learner import Grown, Learner
from hedgerow._table import Table

_MOST_CUTS = 20  # a million leaves


def _check_cuts(name: str, value: Any) -> None:
    if not parameters.is_int(value) or not 0 <= value <= _MOST_CUTS:
        parameters.refuse(name, f"an int from 0 to {_MOST_CUTS}", value)


def _check_bounds(name: str, value: Any) -> None:
    if parameters.is_word(value, "data"):
        return
    try:
        low, high = (float(bound) for bound in value)
        valid = np.isfinite([low, high]).all() and low < high
    except (TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        parameters.refuse(name, "'data' or two numbers, low before high", value)


CUTS = parameters.Rule("int", _check_cuts)
BOUNDS = parameters.Rule('"data" or tuple of two floats', _check_bounds)


class _Cuts:
    """A centred tree without values: 2 ** depth - 1 tests, numbered level by level."""

    def __init__(self, low: np.ndarray, high: np.ndarray, depth: int) -> None:
        n_features, self.depth = len(low), int(depth)
        feature, threshold = [], []
        low, high = low[None], high[None]  # the corners of the cells of a level
        for level in range(self.depth):
            f = level % n_features
            centre = low[:, f] / 2 + high[:, f] / 2
            feature.append(np.full(len(centre), f))
            threshold.append(centre)
            low, high = np.repeat(low, 2, axis=0), np.repeat(high, 2, axis=0)
            high[0::2, f], low[1::2, f] = centre, centre
        self.feature = np.concatenate([np.empty(0, int), *feature])
        self.threshold = np.concatenate([np.empty(0), *threshold])

    @property
    def n_leaves(self) -> int:
        return 2**self.depth

    def leaves(self, X: np.ndarray) -> np.ndarray:
        """The leaf of each row, from left to right."""
        node = np.zeros(len(X), dtype=np.int64)
        for _ in range(self.depth):
            value = X[np.arange(len(X)), self.feature[node]]
            node = 2 * node + 1 + (value > self.threshold[node])
        return node - (self.n_leaves - 1)


class _Builder:
    """Nodes collected level by level, then handed to the engine."""

    def __init__(self) -> None:
        self.columns: dict[str, list[np.ndarray]] = {
            name: [] for name in ("feature", "threshold", "left", "right", "moments", "n_samples")
        }
        self.n_nodes = 0

    def add(
        self,
        moments: np.ndarray,
        n_samples: np.ndarray,
        feature=-1,
        threshold=0.0,
        left=-1,
        right=-1,
    ) -> np.ndarray:
        """Append nodes, leaves unless children are given; return their numbers."""
        n = len(moments)
        values = (feature, threshold, left, right, moments, n_samples)
        for column, entries in zip(self.columns.values(), values, strict=True):
            column.append(np.broadcast_to(entries, (n, *np.shape(entries)[1:])))
        self.n_nodes += n
        return np.arange(self.n_nodes - n, self.n_nodes)

    def add_cuts(
        self, cuts: _Cuts, ends: np.ndarray, moments: np.ndarray, n_samples: np.ndarray
    ) -> int:
        """Append the tests of a centred tree whose leaves are the nodes `ends`; return its root."""
        below = ends
        for level in reversed(range(cuts.depth)):
            span = slice(2**level - 1, 2 ** (level + 1) - 1)
            moments = moments[0::2] + moments[1::2]
            n_samples = n_samples[0::2] + n_samples[1::2]
            below = self.add(
                moments,
                n_samples,
                cuts.feature[span],
                cuts.threshold[span],
                below[0::2],
                below[1::2],
            )
        return int(below[0])

    def graph(self, n_features: int, root: int) -> DecisionGraph:
        """The nodes as a graph; the root was added last and becomes node 0."""
        assert root == self.n_nodes - 1
        column: dict[str, Any] = {
            name: np.concatenate(parts)[::-1] for name, parts in self.columns.items()
        }
        weight, total, squares = column.pop("moments").T
        safe = np.where(weight > 0, weight, 1)
        is_test = column["left"] >= 0
        for side in ("left", "right"):
            column[side] = np.where(is_test, root - column[side], -1)
        return graph_of_columns(
            n_features,
            **column,
            missing_left=True,
            weight=weight,
            impurity=np.maximum(squares / safe - (total / safe) ** 2, 0.0),
            value=(total / safe)[:, None],
        )


def _moments(
    groups: np.ndarray, n_groups: int, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the weights, of y and of its square by group, and the number of rows."""
    w = np.ones(len(y)) if weights is None else weights
    sums = [np.bincount(groups, w * y**power, n_groups) for power in range(3)]
    return np.column_stack(sums), np.bincount(groups, minlength=n_groups)


class CentredLearner(Learner):
    """Cuts cells at their centres, in one tree or in a network of two."""

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The graph of some rows of a table; see :meth:`Learner.grow`."""
        weights = table.weights if weights is None else weights
        if weights is not None:
            rows = np.flatnonzero(weights) if rows is None else rows[weights[rows] > 0]
        taken = slice(None) if rows is None else rows
        matrix = table.matrix()[taken].astype(np.float64)
        y = table.targets[taken]
        w = None if weights is None else weights[taken]
        output_depth = getattr(self.settings, "output_depth", 0)
        if output_depth == 0:
            graph = self._tree(matrix, y, w, self.settings.depth)
        elif self.settings.cuts == "raw":
            graph = self._tree(matrix, y, w, output_depth)
        else:
            graph = self._network(matrix, y, w)
        return Grown(graph, shared_gains(graph, table, rows, weights))

    def _cube(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper corner of what is cut."""
        if not isinstance(self.settings.bounds, str):
            low, high = (np.full(matrix.shape[1], float(bound)) for bound in self.settings.bounds)
            return low, high
        numbers = np.where(np.isnan(matrix), np.inf, matrix)
        low, high = numbers.min(axis=0), np.where(np.isinf(numbers), -np.inf, numbers).max(axis=0)
        is_empty = np.isinf(low)  # a column without a number
        return np.where(is_empty, 0.0, low), np.where(is_empty, 0.0, high)

    def _tree(
        self, matrix: np.ndarray, y: np.ndarray, weights: np.ndarray | None, depth: int
    ) -> DecisionGraph:
        cuts = _Cuts(*self._cube(matrix), depth)
        moments, counts = _moments(cuts.leaves(matrix), cuts.n_leaves, y, weights)
        builder = _Builder()
        ends = builder.add(moments, counts)
        return builder.graph(matrix.shape[1], builder.add_cuts(cuts, ends, moments, counts))

    def _network(
        self, matrix: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> DecisionGraph:
        cube = self._cube(matrix)
        cuts = _Cuts(*cube, self.settings.depth)
        leaf = cuts.leaves(matrix)
        moments, counts = _moments(leaf, cuts.n_leaves, y, weights)
        is_empty = counts == 0
        mean = moments[:, 1] / np.where(is_empty, 1, moments[:, 0])
        side = mean >= self.settings.threshold
        is_apart = is_empty
        if self.settings.empty == "low":  # its side has rows in other leaves, as a rule
            is_apart = ~np.isin(side, side[~is_empty])
        # 0 below, 1 above, 2 without rows and apart
        group = np.where(is_apart, 2, side)

        builder = _Builder()
        ends = np.full(cuts.n_leaves, -1)
        if is_apart.any():
            ends[is_apart] = builder.add(np.zeros((1, 3)), np.zeros(1, int))
        output = _Cuts(*cube, self.settings.output_depth - 1)
        for one in np.unique(group[~is_empty]):
            here = group[leaf] == one
            w = None if weights is None else weights[here]
            below, n = _moments(output.leaves(matrix[here]), output.n_leaves, y[here], w)
            ends[group == one] = builder.add_cuts(output, builder.add(below, n), below, n)
        return builder.graph(matrix.shape[1], builder.add_cuts(cuts, ends, moments, counts))


class _CentredModel(GraphRegressor):
    depth: int = parameter(
        6, CUTS, "Cuts on every path (the paper's k): ``2 ** depth`` leaves.", kw_only=False
    )
    bounds: Any = parameter(
        "data",
        BOUNDS,
        "The cube that is cut: the range of each feature in the training rows, or the same two "
        "numbers for all of them; the theory has (0, 1). Rows outside belong to the nearest cell, "
        "missing values go left, a category counts as its number in ``schema_``.",
    )

    def learner(self) -> CentredLearner:
        return CentredLearner(self.settings())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # its cuts do not look at the data
        return tags


class CentredTreeRegressor(_CentredModel):
    """A tree that cuts every cell at its centre, the features in turn.

    Examples
    --------
    >>> from hedgerow import CentredTreeRegressor
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(1000, k=2, p=0.9, random_state=0)
    >>> CentredTreeRegressor(2, bounds=(0, 1)).fit(X, y).predict([[0.1, 0.1], [0.1, 0.9]]).round(1)
    array([0.9, 0.1])
    """


class CentredTreeNetworkRegressor(_CentredModel):
    """Two centred trees in cascade: the second one sees the first one's prediction.

    Examples
    --------
    >>> from hedgerow import CentredTreeNetworkRegressor
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(1000, k=4, p=0.9, random_state=0)
    >>> network = CentredTreeNetworkRegressor(4, bounds=(0, 1)).fit(X, y)
    >>> network.n_splits_, network.get_n_leaves()
    (15, 2)
    """

    depth: int = parameter(
        6, CUTS, "Cuts of the first, encoding tree (the paper's k).", kw_only=False
    )
    output_depth: int = parameter(
        1,
        CUTS,
        "Cuts of the second tree (the paper's k'); 0 leaves the encoding tree alone.",
        kw_only=False,
    )
    cuts: str = parameter(
        "new",
        parameters.option("new", "raw"),
        'What the second tree cuts: "new" is one cut of the new feature, the others cut the raw '
        'features in turn, whichever comes first; "raw" cuts raw features alone, which is best '
        "where the encoding tree is too shallow and, in theory, no use of the encoding tree.",
    )
    empty: str = parameter(
        "zero",
        parameters.option("zero", "low"),
        'A leaf of the encoding tree without rows predicts 0 here as well ("zero"), as in the '
        "paper's proofs; or its mean is taken for 0 and the new feature is cut as it stands "
        '("low"), as the definition says.',
    )
    threshold: float = parameter(
        0.5,
        parameters.real(-np.inf),
        "Where the new feature is cut; the theory has labels 0 and 1.",
    )
