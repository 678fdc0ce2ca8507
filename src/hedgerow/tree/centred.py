"""Centred trees and networks of two of them: the models of deep-forest theory.

Definition 1 of L. Arnould, C. Boyer and E. Scornet, "Analyzing the tree-layer structure of Deep
Forests" (2021). A centred tree cuts every cell at its centre, one feature after the other, whatever
the data; a leaf predicts the mean of its rows, and 0 when it has none. The network's second tree
sees that mean as a new feature and cuts it first, at 1/2: it gathers the leaves of the first tree
into two groups.

Both are decision graphs. In the network the leaves of the first tree are shared nodes: after the
cut of the new feature only two places are left to go on from.
"""

from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import GraphRegressor

_MOST_CUTS = 20  # a million leaves

_PARAMETERS = """\
    bounds : "data" or (float, float), default="data"
        The cube that is cut: the range of each feature in the training rows, or the same two
        numbers for all of them; the theory has (0, 1). Rows outside belong to the nearest cell.
    categorical_features : "auto", None or list, default="auto"
        As in the other trees; a category counts as its number in ``schema_``.
    n_jobs : int, default=None
        Threads for predicting.
"""

_ATTRIBUTES = """\
    graph_ : DecisionGraph
        The fitted model; ``tree_`` is the same. A missing value goes left.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(parameters=_PARAMETERS.strip(), attributes=_ATTRIBUTES.strip())
    return cls


class _Cuts:
    """A centred tree without values: 2 ** depth - 1 tests, numbered level by level."""

    def __init__(self, low: np.ndarray, high: np.ndarray, depth: int) -> None:
        n_features, self.depth = len(low), depth
        feature, threshold = [], []
        low, high = low[None], high[None]  # the corners of the cells of a level
        for level in range(depth):
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
            name: [] for name in ("feature", "threshold", "left", "right", "moments", "rows")
        }
        self.n_nodes = 0

    def add(self, feature, threshold, left, right, moments, rows) -> np.ndarray:
        """Append nodes; return their numbers."""
        n = len(moments)
        given = (feature, threshold, left, right, moments, rows)
        for column, values in zip(self.columns.values(), given, strict=True):
            column.append(np.broadcast_to(values, (n, *np.shape(values)[1:])))
        self.n_nodes += n
        return np.arange(self.n_nodes - n, self.n_nodes)

    def add_cuts(self, cuts: _Cuts, ends: np.ndarray, moments: np.ndarray, rows: np.ndarray) -> int:
        """Append the tests of a centred tree whose leaves are the nodes `ends`; return its root."""
        below = ends
        for level in reversed(range(cuts.depth)):
            span = slice(2**level - 1, 2 ** (level + 1) - 1)
            moments, rows = moments[0::2] + moments[1::2], rows[0::2] + rows[1::2]
            below = self.add(
                cuts.feature[span], cuts.threshold[span], below[0::2], below[1::2], moments, rows
            )
        return int(below[0])

    def graph(self, n_features: int, root: int) -> DecisionGraph:
        """The nodes as a graph; the root was added last and becomes node 0."""
        assert root == self.n_nodes - 1
        column = {name: np.concatenate(parts)[::-1] for name, parts in self.columns.items()}
        weight, total, squares = column["moments"].T
        safe = np.where(weight > 0, weight, 1)
        split = column["left"] >= 0
        return DecisionGraph.from_arrays(
            {
                "format": 1,
                "n_features": n_features,
                "n_outputs": 1,
                "kind": split.astype(np.uint8),
                "missing_left": split.astype(np.uint8),
                "feature": np.where(split, column["feature"], -1).astype(np.int32),
                "left": np.where(split, root - column["left"], -1).astype(np.int32),
                "right": np.where(split, root - column["right"], -1).astype(np.int32),
                "detail": np.full(self.n_nodes, -1, np.int32),
                "threshold": column["threshold"].astype(float),
                "n_samples": column["rows"].astype(np.int32),
                "weight": weight.astype(float),
                "impurity": np.maximum(squares / safe - (total / safe) ** 2, 0.0),
                "value": total / safe,
                "category_words": np.empty(0, np.uint64),
                "category_start": np.zeros(1, np.uint32),
                "oblique_feature": np.empty(0, np.int32),
                "oblique_category": np.empty(0, np.int32),
                "oblique_weight": np.empty(0),
                "oblique_centre": np.empty(0),
                "oblique_start": np.zeros(1, np.uint32),
            }
        )


def _moments(groups: np.ndarray, n_groups: int, y: np.ndarray, weights: np.ndarray | None):
    """Sums of the weights, of y and of its square by group, and the number of rows."""
    w = np.ones(len(y)) if weights is None else weights
    sums = [np.bincount(groups, w * y**power, n_groups) for power in range(3)]
    return np.column_stack(sums), np.bincount(groups, minlength=n_groups)


class _CentredModel(GraphRegressor):
    def _check_depth(self, name: str, depth: Any) -> None:
        if not parameters.is_int(depth) or not 0 <= depth <= _MOST_CUTS:
            raise ValueError(f"'{name}' must be an int from 0 to {_MOST_CUTS}, got {depth!r}.")

    def _load(self, X: Any) -> np.ndarray:
        matrix = self.schema_.encode(self, X).astype(float)
        self.schema_.missing = set(np.flatnonzero(np.isnan(matrix).any(axis=0)).tolist())
        return matrix

    def _cube(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper corner of what is cut."""
        if isinstance(self.bounds, str) and self.bounds == "data":
            numbers = np.where(np.isnan(matrix), np.inf, matrix)
            low, high = numbers.min(axis=0), np.where(np.isinf(numbers), -np.inf, numbers).max(0)
            empty = np.isinf(low)  # a column without a number
            return np.where(empty, 0.0, low), np.where(empty, 0.0, high)
        try:
            low, high = (float(bound) for bound in self.bounds)
            valid = np.isfinite([low, high]).all() and low < high
        except (TypeError, ValueError):
            valid = False
        if not valid:
            raise ValueError(
                f"'bounds' must be 'data' or two numbers, low before high, got {self.bounds!r}."
            )
        return np.full(matrix.shape[1], low), np.full(matrix.shape[1], high)

    def _graph(self, matrix: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        """The graph of rows that all count."""
        raise NotImplementedError

    def _grow(self, table, y, weights, rows=None) -> DecisionGraph:
        if rows is None and weights is not None:
            rows = np.flatnonzero(weights)
        if rows is not None:
            table, y = table[rows], y[rows]
            weights = None if weights is None else weights[rows]
        return self._graph(table, y, weights)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # its cuts do not look at the data
        return tags


@_with_parameters
class CentredTreeRegressor(_CentredModel):
    """A tree that cuts every cell at its centre, the features in turn.

    Parameters
    ----------
    depth : int, default=6
        Cuts on every path (the paper's k): ``2 ** depth`` leaves.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from hedgerow import CentredTreeRegressor
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(1000, k=2, p=0.9, random_state=0)
    >>> CentredTreeRegressor(2, bounds=(0, 1)).fit(X, y).predict([[0.1, 0.1], [0.1, 0.9]]).round(1)
    array([0.9, 0.1])
    """

    def __init__(self, depth=6, *, bounds="data", categorical_features="auto", n_jobs=None):
        self.depth = depth
        self.bounds = bounds
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        self._check_depth("depth", self.depth)

    def _graph(self, matrix, y, weights) -> DecisionGraph:
        cuts = _Cuts(*self._cube(matrix), self.depth)
        moments, counts = _moments(cuts.leaves(matrix), cuts.n_leaves, y, weights)
        builder = _Builder()
        ends = builder.add(0, 0.0, -1, -1, moments, counts)
        return builder.graph(matrix.shape[1], builder.add_cuts(cuts, ends, moments, counts))


@_with_parameters
class CentredTreeNetworkRegressor(_CentredModel):
    """Two centred trees in cascade: the second one sees the first one's prediction.

    Parameters
    ----------
    depth : int, default=6
        Cuts of the first, encoding tree (the paper's k).
    output_depth : int, default=1
        Cuts of the second tree (the paper's k'). The first of them cuts the new feature, the
        others cut the raw features in turn; 0 leaves the encoding tree alone.
    threshold : float, default=0.5
        Where the new feature is cut; the theory has labels 0 and 1.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    A leaf of the encoding tree without rows predicts 0 here as well, as in the paper's proofs.

    Examples
    --------
    >>> from hedgerow import CentredTreeNetworkRegressor
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(1000, k=4, p=0.9, random_state=0)
    >>> network = CentredTreeNetworkRegressor(4, bounds=(0, 1)).fit(X, y)
    >>> network.n_splits_, network.get_n_leaves()
    (15, 2)
    """

    def __init__(
        self,
        depth=6,
        output_depth=1,
        *,
        threshold=0.5,
        bounds="data",
        categorical_features="auto",
        n_jobs=None,
    ):
        self.depth = depth
        self.output_depth = output_depth
        self.threshold = threshold
        self.bounds = bounds
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        self._check_depth("depth", self.depth)
        self._check_depth("output_depth", self.output_depth)
        parameters.check_real("threshold", self.threshold, low=-np.inf)

    def _graph(self, matrix, y, weights) -> DecisionGraph:
        if self.output_depth == 0:
            return CentredTreeRegressor._graph(self, matrix, y, weights)
        cube = self._cube(matrix)
        cuts = _Cuts(*cube, self.depth)
        leaf = cuts.leaves(matrix)
        moments, counts = _moments(leaf, cuts.n_leaves, y, weights)
        empty = counts == 0
        mean = moments[:, 1] / np.where(empty, 1, moments[:, 0])
        group = np.where(empty, 2, mean >= self.threshold)  # 0 below, 1 above, 2 without rows

        builder = _Builder()
        ends = np.full(cuts.n_leaves, -1)
        if empty.any():
            ends[empty] = builder.add(0, 0.0, -1, -1, np.zeros((1, 3)), np.zeros(1, int))
        output = _Cuts(*cube, self.output_depth - 1)
        for side in np.unique(group[~empty]):
            here = group[leaf] == side
            below, n = _moments(
                output.leaves(matrix[here]),
                output.n_leaves,
                y[here],
                None if weights is None else weights[here],
            )
            leaves = builder.add(0, 0.0, -1, -1, below, n)
            ends[group == side] = builder.add_cuts(output, leaves, below, n)
        return builder.graph(matrix.shape[1], builder.add_cuts(cuts, ends, moments, counts))
