"""The price of a split, chosen on rows left out.

Minimal cost-complexity pruning (Breiman et al. 1984) takes a split out when it removes less loss
than its price. A tree that is grown without a price holds its prunings at all prices, so one tree
for each part of the rows tells how well every price predicts the rows of that part. A price
without splits is among them, and has the last word: what does not beat a constant clearly is noise.

Rows are dealt to the parts by their targets and by what is in them, not by their order or by
chance: the choice is the same in every fit, and targets are spread evenly.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hedgerow._engine import Dataset, DecisionGraph, pruning_prices
from hedgerow._graph_model import has_oblique_tests
from hedgerow._table import Table

_N_PARTS = 10
_ENOUGH_ROWS = 5_000  # to judge prices on; parts beyond are not left out
_LEAST_ROWS_PER_SPLIT = 0.5
_STEP = np.sqrt(2)  # from one price to the next
# Standard errors by which a tree has to beat the constant: in wrong classes or squared errors, or
# else in the squared errors of its probabilities.
_ERRORS, _ERRORS_OF_PROBABILITIES = 1, 2
_MOST_COPIES = 2.0**53  # beyond, whole numbers are not exact
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits at random


class Part(NamedTuple):
    """Rows with their weights."""

    rows: np.ndarray
    weights: np.ndarray | None  # of all rows of the table; None where all are one
    n_rows: int  # with copies


Grow = Callable[[Part], DecisionGraph]


class HeldOut:
    """Some rows of a table in parts, each of them left out once, and the losses there.

    A row of a whole weight is as many rows, which are dealt to several parts; one of another weight
    is in one part.
    """

    def __init__(
        self,
        table: Table,
        data: Dataset,
        rows: np.ndarray | None,
        weights: np.ndarray | None,
        class_weight: Any,
        n_jobs: int,
    ):
        """``weights`` of all rows in place of the table's own, without those of the classes."""
        rows = np.arange(table.n_rows, dtype=np.uint32) if rows is None else rows
        self.weights = table.weighed(class_weight, weights)
        self.rows = rows if self.weights is None else rows[self.weights[rows] > 0]
        self.table, self.data, self.n_jobs = table, data, n_jobs
        self._copies = _copies(table.weighed(None, weights), self.rows)

    @cached_property
    def n_rows(self) -> int:
        return int(self._copies.sum())

    def splits(self, n_judged: int) -> Iterator[tuple[Part, Part]]:
        """What to grow on and what is left out, until so many rows have been left out."""
        ends = np.cumsum(self._copies[self._order])
        n_left_out = 0
        for part in range(min(_N_PARTS, self.n_rows)):
            if n_left_out >= n_judged or self.n_rows < 2:
                break
            # Dealt in turns: those that are the part-th of each ten.
            dealt = np.diff((ends + _N_PARTS - 1 - part) // _N_PARTS, prepend=0)
            n_dealt = int(dealt.sum())
            n_left_out += n_dealt
            copies = np.empty_like(dealt)
            copies[self._order] = dealt
            train, test = self.rows[copies < self._copies], self.rows[copies > 0]
            if self.weights is None:
                stay = left_out = None
            else:
                stay, left_out = np.zeros((2, len(self.weights)))
                weights = self.weights[self.rows]
                left_out[self.rows] = weights * copies / self._copies
                stay[self.rows] = weights * (self._copies - copies) / self._copies
            yield Part(train, stay, self.n_rows - n_dealt), Part(test, left_out, n_dealt)

    def price(self, grow_tree: Grow) -> float:
        """The best price of a split, as a share of all rows whose impurity it has to remove.

        In units of the criterion for classes, of the targets' variance for numbers: 1 leaves no
        split. ``grow_tree`` grows a tree without a price.
        """
        n_steps = int(np.ceil(np.log(self.n_rows / _LEAST_ROWS_PER_SPLIT) / np.log(_STEP)))
        rows_per_split = np.minimum(
            _LEAST_ROWS_PER_SPLIT * _STEP ** np.arange(n_steps + 1), self.n_rows
        )
        # What each price gains over the constant, by loss; the mean square of that over the rows.
        gains, squares = np.zeros((2, 2 if self.table.n_classes else 1, n_steps + 1))
        n_judged, weight = 0, 0.0
        for train, test in self.splits(_ENOUGH_ROWS):
            tree = grow_tree(train)
            prices = rows_per_split / train.n_rows * price_unit(self.table, tree)
            reached = self._apply(tree, test.rows)
            weights = _weights_of(test)
            n_judged, weight = n_judged + test.n_rows, weight + weights.sum()
            losses = self._losses(tree, test.rows)
            constant = losses(np.zeros_like(reached))
            for at, nodes in enumerate(_pruned(tree, prices)):
                gain = constant - losses(nodes[reached])
                gains[:, at] += gain @ weights
                squares[:, at] += gain**2 @ weights
            del tree, losses  # of many classes, two trees at a time would be too much
        if n_judged < 2:
            return 1.0
        gains, squares = gains / weight, squares / weight
        errors = np.sqrt((squares - gains**2).clip(0) / n_judged)
        best = _last_best(gains[0])
        if gains[0, best] <= _ERRORS * errors[0, best]:
            best = _last_best(np.where(gains[0] >= 0, gains[-1], -np.inf))
            if gains[-1, best] <= _ERRORS_OF_PROBABILITIES * errors[-1, best]:
                return 1.0
        return float(rows_per_split[best] / self.n_rows)

    def loss(self, grow: Grow, n_judged: int) -> float:
        """The total loss of rows left out, of graphs that are grown on the others."""
        total = 0.0
        for train, test in self.splits(n_judged):
            graph = grow(train)
            losses = self._losses(graph, test.rows)(self._apply(graph, test.rows))
            total += float(losses[0] @ _weights_of(test))
        return total

    @cached_property
    def _order(self) -> np.ndarray:
        """The order that rows are dealt in."""
        return np.lexsort([_keys(self.data, self.rows), self.table.targets[self.rows]])

    def _apply(self, graph: DecisionGraph, rows: np.ndarray) -> np.ndarray:
        """The leaves of rows."""
        if has_oblique_tests(graph):
            return graph.apply(self.table.matrix(), self.n_jobs, rows)
        return graph.apply_rows(self.data, rows)

    def _losses(self, graph: DecisionGraph, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function from the nodes of rows to their losses: wrong classes and squared errors of
        probabilities, or squared errors of numbers."""
        value, targets = graph.value, self.table.targets[rows]
        if not self.table.n_classes:
            return lambda nodes: (value[nodes, 0] - targets)[None] ** 2
        best, squares = value.argmax(axis=1), np.einsum("ij,ij->i", value, value)
        return lambda nodes: np.stack(
            [best[nodes] != targets, 1 + squares[nodes] - 2 * value[nodes, targets]]
        )


def price_unit(table: Table, tree: DecisionGraph) -> float:
    """What a price is given in, as an impurity: the targets' variance, or 1 for classes."""
    return 1.0 if table.n_classes else float(tree.impurity[0])


def _copies(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """How many rows each row is."""
    weights = np.ones(len(rows)) if weights is None else weights[rows]
    is_number = (weights % 1 == 0).all() and weights.sum() <= _MOST_COPIES
    return weights.astype(np.int64) if is_number else np.ones(len(rows), dtype=np.int64)


def _weights_of(part: Part) -> np.ndarray:
    return np.ones(len(part.rows)) if part.weights is None else part.weights[part.rows]


def _last_best(values: np.ndarray) -> int:
    """The place of the largest value; of equal ones the last."""
    return int(np.flatnonzero(values >= values.max() - 1e-9 * abs(values.max()))[-1])


def _keys(data: Dataset, rows: np.ndarray) -> np.ndarray:
    """A number for each row that is the same for equal rows, and without order otherwise."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for feature in range(data.n_features):
        codes = data.codes(feature)[rows]
        # Among the codes of these rows: others have no say.
        place = np.cumsum(np.bincount(codes) > 0, dtype=np.uint64)
        keys += place[codes]
        keys *= _MIX
        keys ^= keys >> np.uint64(29)
    return keys


def _pruned(tree: DecisionGraph, prices: np.ndarray) -> Iterator[np.ndarray]:
    """For each of rising prices and each node, the node that stands for it in the pruned tree."""
    lasts_until = pruning_prices(tree)
    parent = np.zeros(tree.n_nodes, dtype=np.intp)
    splits = np.flatnonzero(tree.left >= 0)
    parent[tree.left[splits]] = parent[tree.right[splits]] = splits
    nodes = np.arange(tree.n_nodes)
    for price in prices:
        while (is_gone := (lasts_until[parent[nodes]] <= price) & (nodes > 0)).any():
            nodes = np.where(is_gone, parent[nodes], nodes)
        yield nodes
