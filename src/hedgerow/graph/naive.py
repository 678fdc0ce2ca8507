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
from hedgerow._engine import Dataset, DecisionGraph, grow
from hedgerow._estimator import fitted, parameter
from hedgerow._graph_columns import graph_of_columns
from hedgerow._graph_model import CATEGORY, GraphClassifier
from hedgerow._growth import SplitParameters, grow_params
from hedgerow._learner import Grown, Learner, weight_of
from hedgerow._table import Table
from hedgerow._table_model import BinParameters, ClassWeightParameter


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
        noise: float,
        least_gain: float,
    ):
        self.table, self.find_stump, self.count_classes = table, find_stump, count_classes
        self.least_gain = least_gain  # of the split of what was joined
        self.stumps: list[DecisionGraph] = []  # by node: its best split, as a tree of one test
        self.gains = np.empty(0)  # by node: of the split, if it is a leaf
        self.rows: dict[int, np.ndarray] = {}  # of the leaves
        self.branches: dict[int, list[tuple[int, int]]] = {}  # (node, side) that lead to a leaf
        self.children: dict[int, list[int]] = {}  # of the tests
        self.pairs = _Pairs(len(count_classes(rows)), noise)
        self.add(rows, [])

    def add(self, rows: np.ndarray, branches: list[tuple[int, int]]) -> None:
        """Append a leaf, at the end of these branches."""
        leaf, stump = len(self.stumps), self.find_stump(rows)
        self.stumps.append(stump)
        gain = _decrease(stump)
        is_undone = len(branches) > 1 and gain <= self.least_gain
        self.gains = np.append(self.gains, -np.inf if is_undone else gain)
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

    def gains_by_feature(self) -> np.ndarray:
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
        names = ("feature", "threshold", "missing_left", "n_samples", "weight", "impurity", "value")
        columns = {name: np.array([getattr(stump, name)[0] for stump in stumps]) for name in names}
        pairs = [self.children.get(node, ()) for node in order]
        ends = np.array([[order[child] for child in pair] or [-1, -1] for pair in pairs])
        sets = {
            place: stump.arrays()["category_words"]
            for place, stump in enumerate(stumps)
            if pairs[place] and stump.kind[0] == CATEGORY
        }
        return graph_of_columns(
            self.table.n_features, left=ends[:, 0], right=ends[:, 1], **columns, category_sets=sets
        )


class NaiveGraphLearner(Learner):
    """Grows a decision graph by splits and joins of its leaves."""

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The graph of some rows of a table; see :meth:`Learner.grow`."""
        settings, y = self.settings, table.targets
        weights = table.weighed(settings.class_weight, weights)
        rows = np.arange(table.n_rows, dtype=np.uint32) if rows is None else rows
        if weights is not None:
            rows = rows[weights[rows] > 0]
        total = weight_of(table, weights, rows)
        if weights is not None and total < 1e-100:
            # Squares of such weights are zero; powers of two change no digit of the weights.
            weights = np.ldexp(weights, -np.frexp(total)[1])
            total = weight_of(table, weights, rows)
        n_jobs = self.n_jobs
        data = table.bins(settings.max_bins, n_jobs)
        limits = grow_params(
            settings,
            n_rows=len(rows),
            n_features=data.n_features,
            n_classes=table.n_classes,
            total_weight=total,
            max_depth=1,
        )
        price = settings.C * total
        noise = max(1e-12 * total, np.finfo(np.float64).tiny)  # less is rounding
        growth = _Growth(
            data,
            rows,
            lambda node_rows: grow(data, node_rows, y, weights, limits, n_jobs),
            lambda node_rows: np.bincount(
                y[node_rows], None if weights is None else weights[node_rows], table.n_classes
            ).astype(np.float64),
            noise,
            # A split that gains nothing would undo a join that loses nothing, and so on for ever.
            -np.inf if settings.max_splits is not None else price + noise,
        )
        steps: list[tuple[str, float]] = []
        while settings.max_splits is None or len(growth.children) < settings.max_splits:
            split_gain, leaf = growth.best_split()
            split_gain -= price
            join_gain, pair = growth.pairs.best() if split_gain <= 0 else (-np.inf, [])
            # Without a split there is nothing to hope for but a smaller graph.
            worth_it = 0 if settings.max_splits is None or split_gain == -np.inf else -np.inf
            if max(split_gain, join_gain) < worth_it or (split_gain == join_gain == -np.inf):
                break
            if join_gain >= split_gain:
                growth.join(pair)
                steps.append(("join", float(join_gain / total)))
            else:
                growth.split(leaf)
                steps.append(("split", float(split_gain / total)))
        return Grown(growth.graph(), {"steps_": steps, "gains_": growth.gains_by_feature()})


class NaiveDecisionGraphClassifier(
    GraphClassifier, ClassWeightParameter, SplitParameters, BinParameters
):
    """A decision graph grown by splits and joins of its leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import NaiveDecisionGraphClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> NaiveDecisionGraphClassifier(max_splits=100).fit(X, y).n_splits_
    100
    """

    C: float = parameter(
        3e-4,
        parameters.real(0),
        "Price of a split, as a share of the total weight in units of Gini impurity; the paper's.",
    )
    max_splits: int | None = parameter(
        None,
        parameters.integer(optional=True),
        "Grow until the graph has this many splits, also by steps that lose (a join can make a "
        "split worth its price). None stops before the first step that loses.",
    )
    steps_: list[tuple[str, float]] = fitted(
        "list of (str, float) pairs", 'The steps, "split" or "join", with what each gained.'
    )

    def learner(self) -> NaiveGraphLearner:
        return NaiveGraphLearner(self.settings())
