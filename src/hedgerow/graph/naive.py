"""The naive decision graph (NDG): leaves are split or joined, whichever gains more, one at a time.

Algorithm 1 of B. Zhu and M. Shoaran, "Tree in Tree: from Decision Trees to Decision Graphs" (2021),
after J. Oliver, "Decision graphs: an extension of decision trees" (1992). A step takes the best of
all splits of a leaf and all joins of two leaves, by the decrease of the total Gini impurity; a
split pays ``C`` for its new test. Joins never lower the impurity, so they come when no split is
worth its price, and what they join may be worth splitting again.

The paper's search over all pairs of leaves is quadratic in every step. Here pairs are looked at
when no split is worth its price, each leaf remembers its best partner, and a step looks only at
the pairs of leaves that are new or have lost their partner.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, DecisionGraph, GrowParams, grow
from hedgerow._graph_model import GraphClassifier
from hedgerow._growth import MOST, total_weight

CATEGORY = 2  # the kind of a node that tests for a set of categories


def _decrease(stump: DecisionGraph) -> float:
    """What the one test of a tree takes off its weighted impurity; -inf without a test."""
    lost = stump.weight * stump.impurity
    return lost[0] - lost[1:].sum() if stump.n_splits else -np.inf


class _Pairs:
    """The best partner of each leaf to be joined with: of equal ones the first.

    Partners are looked for when they are asked for; until then new leaves and those that lost
    their partner are only marked.
    """

    def __init__(self, n_classes: int, noise: float):
        self.noise = noise  # a smaller loss is rounding
        # By leaf, in the order of their numbers.
        self.number = np.empty(0, dtype=np.intp)
        self.counts = np.empty((0, n_classes))
        self.weight = np.empty(0)
        self.squares = np.empty(0)  # sum of the squared counts
        self.gain = np.empty(0)  # of joining a leaf with its best partner
        self.partner = np.empty(0, dtype=np.intp)
        self.marked = np.empty(0, dtype=bool)

    def add(self, number: int, counts: np.ndarray) -> None:
        """Append a leaf with these class weights."""
        self.number = np.append(self.number, number)
        self.counts = np.vstack([self.counts, counts])
        self.weight = np.append(self.weight, counts.sum())
        self.squares = np.append(self.squares, counts @ counts)
        self.gain = np.append(self.gain, -np.inf)
        self.partner = np.append(self.partner, -1)
        self.marked = np.append(self.marked, True)

    def remove(self, numbers: list[int]) -> None:
        """Forget leaves that were split or joined."""
        stay = np.ones(len(self.number), dtype=bool)
        for number in numbers:
            stay[self.number.searchsorted(number)] = False
            self.marked |= self.partner == number
        for name in ("number", "counts", "weight", "squares", "gain", "partner", "marked"):
            setattr(self, name, getattr(self, name)[stay])

    def best(self) -> tuple[float, list[int]]:
        """Gain and leaves of the best join."""
        lost = self.weight - self.squares / self.weight
        for leaf in np.flatnonzero(self.marked):
            weight = self.weight + self.weight[leaf]
            squares = self.squares + self.squares[leaf] + 2 * (self.counts @ self.counts[leaf])
            gains = lost + lost[leaf] - (weight - squares / weight)  # zero at most
            gains[gains > -self.noise] = 0
            gains[leaf] = -np.inf
            better = gains > self.gain
            self.gain[better] = gains[better]
            self.partner[better] = self.number[leaf]
            self.gain[leaf] = gains.max()
            self.partner[leaf] = self.number[gains.argmax()]
        self.marked[:] = False
        best = int(self.gain.argmax())
        return self.gain[best], [int(self.number[best]), int(self.partner[best])]


class _Growth:
    """A decision graph while it grows: nodes that are leaves, tests, or joined into others."""

    def __init__(
        self,
        table: Dataset,
        rows: np.ndarray,
        find_stump: Callable[[np.ndarray], DecisionGraph],
        count_classes: Callable[[np.ndarray], np.ndarray],
    ):
        self.table, self.find_stump, self.count_classes = table, find_stump, count_classes
        self.stumps: list[DecisionGraph] = []  # by node: its best split, as a tree of one test
        self.gains = np.empty(0)  # by node: of the split, if it is a leaf
        self.rows: dict[int, np.ndarray] = {}  # of the leaves
        self.branches: dict[int, list[tuple[int, int]]] = {}  # (node, side) that lead to a leaf
        self.children: dict[int, list[int]] = {}  # of the tests
        counts = count_classes(rows)
        self.pairs = _Pairs(len(counts), noise=1e-12 * counts.sum())
        self.add(rows, [])

    def add(self, rows: np.ndarray, branches: list[tuple[int, int]]) -> None:
        """Append a leaf, at the end of these branches."""
        leaf, stump = len(self.stumps), self.find_stump(rows)
        self.stumps.append(stump)
        self.gains = np.append(self.gains, _decrease(stump))
        self.rows[leaf], self.branches[leaf] = rows, branches
        for parent, side in branches:
            self.children[parent][side] = leaf
        self.pairs.add(leaf, self.count_classes(rows))

    def remove(self, leaves: list[int]) -> None:
        """Leaves become something else."""
        self.gains[leaves] = -np.inf
        self.pairs.remove(leaves)

    def best_split(self) -> tuple[float, int]:
        """Gain and leaf of the best split; of equal ones the first."""
        leaf = int(self.gains.argmax())
        return self.gains[leaf], leaf

    def split(self, leaf: int) -> None:
        self.remove([leaf])
        self.children[leaf] = [-1, -1]
        rows = self.rows.pop(leaf)
        ends = self.stumps[leaf].apply_rows(self.table, rows)
        for side in 0, 1:
            self.add(rows[ends == side + 1], [(leaf, side)])

    def join(self, leaves: list[int]) -> None:
        self.remove(leaves)
        rows = np.sort(np.concatenate([self.rows.pop(leaf) for leaf in leaves]))
        self.add(rows, [branch for leaf in leaves for branch in self.branches.pop(leaf)])

    def removed(self) -> np.ndarray:
        """Impurity decrease by feature."""
        total = np.zeros(self.table.n_features)
        for test in self.children:
            total[self.stumps[test].feature[0]] += _decrease(self.stumps[test])
        return total

    def graph(self) -> DecisionGraph:
        """The graph, numbered by first visit from the root, left before right."""
        order: dict[int, int] = {}
        stack = [0]
        while stack:
            node = stack.pop()
            if node not in order:
                order[node] = len(order)
                stack.extend(reversed(self.children.get(node, ())))
        stumps = [self.stumps[node] for node in order]
        columns = stumps[0].arrays()
        tests = {"kind": 0, "feature": -1, "threshold": 0, "missing_left": 0}  # and leaves
        for name in ("n_samples", "weight", "impurity", *tests):
            first = [getattr(stump, name)[0] for stump in stumps]
            columns[name] = np.array(first, dtype=columns[name].dtype)
        columns["value"] = np.concatenate([stump.value[0] for stump in stumps])
        leaves = np.array([node not in self.children for node in order])
        for name, blank in tests.items():
            columns[name][leaves] = blank
        pairs = [self.children.get(node, ()) for node in order]
        ends = [[order[child] for child in pair] or [-1, -1] for pair in pairs]
        columns["left"], columns["right"] = np.array(ends, dtype=np.int32).T.copy()
        has_set = columns["kind"] == CATEGORY
        columns["detail"] = np.where(has_set, np.cumsum(has_set) - 1, -1).astype(np.int32)
        sets = [stumps[i].arrays()["category_words"] for i in np.flatnonzero(has_set)]
        columns["category_words"] = np.concatenate([np.empty(0, dtype=np.uint64), *sets])
        columns["category_start"] = np.cumsum([0, *map(len, sets)]).astype(np.uint32)
        return DecisionGraph.from_arrays(columns)


class NaiveDecisionGraphClassifier(GraphClassifier):
    """A decision graph grown by splits and joins of its leaves.

    Parameters
    ----------
    C : float, default=3e-4
        Price of a split, as a share of the total weight in units of Gini impurity; the paper's.
    max_splits : int, default=None
        Grow until the graph has this many splits, also by steps that lose (a join can make a split
        worth its price). None stops before the first step that loses.
    min_samples_split : int or float, default=2
        A leaf with fewer rows (or a smaller share of all rows) is not split.
    min_samples_leaf : int or float, default=1
        A split must leave this many rows (or this share) on both sides.
    min_weight_fraction_leaf : float, default=0.0
        A split must leave this share of the total weight on both sides.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with ``sample_weight``.
    max_bins : int, default=255
        Features with more distinct values are cut into this many quantile bins. None keeps every
        distinct value (up to 65,535; beyond, bins).
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.

    Attributes
    ----------
    graph_ : DecisionGraph
        The fitted graph as columns.
    steps_ : list of (str, float) pairs
        The steps, "split" or "join", with what each gained.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import NaiveDecisionGraphClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> NaiveDecisionGraphClassifier(max_splits=100).fit(X, y).n_splits_
    100
    """

    steps_: list[tuple[str, float]]

    def __init__(
        self,
        *,
        C=3e-4,
        max_splits=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.C = C
        self.max_splits = max_splits
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        parameters.check_real("C", self.C, low=0)
        parameters.check_int("max_splits", self.max_splits, low=1, optional=True)
        parameters.check_real(
            "min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0, high=0.5
        )

    def _load(self, X: Any) -> Dataset:
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        return self.schema_.bin(X, parameters.max_bins_code(self.max_bins), n_jobs)

    def _grow(
        self, table: Dataset, y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        weights = self._with_class_weight(y, weights)
        rows = np.arange(len(y), dtype=np.uint32) if rows is None else rows
        if weights is not None:
            rows = rows[weights[rows] > 0]
        total = total_weight(y, weights, rows)
        split = parameters.count_or_share(
            "min_samples_split", self.min_samples_split, len(rows), low=2
        )
        leaf = parameters.count_or_share(
            "min_samples_leaf", self.min_samples_leaf, len(rows), low=1
        )
        limits = GrowParams(
            n_classes=self.n_classes_,
            max_depth=1,
            min_samples_split=min(split, MOST),
            min_samples_leaf=min(leaf, MOST),
            min_weight_leaf=float(self.min_weight_fraction_leaf * total),
        )
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        growth = _Growth(
            table,
            rows,
            lambda some: grow(table, some, y, weights, limits, n_jobs),
            lambda some: np.bincount(
                y[some], None if weights is None else weights[some], self.n_classes_
            ).astype(np.float64),
        )
        price = self.C * total
        self.steps_ = []
        while self.max_splits is None or len(growth.children) < self.max_splits:
            split_gain, leaf = growth.best_split()
            split_gain -= price
            join_gain, pair = growth.pairs.best() if split_gain <= 0 else (-np.inf, [])
            # Without a split there is nothing to hope for but a smaller graph.
            worth_it = 0 if self.max_splits is None or split_gain == -np.inf else -np.inf
            if max(split_gain, join_gain) < worth_it or (split_gain == join_gain == -np.inf):
                break
            if join_gain >= split_gain:
                growth.join(pair)
                self.steps_.append(("join", join_gain / total))
            else:
                growth.split(leaf)
                self.steps_.append(("split", split_gain / total))
        self._removed = growth.removed()
        return growth.graph()
