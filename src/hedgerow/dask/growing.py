"""Classification trees and forests whose rows stay on the workers that have them.

Large nodes are split by counts: each worker counts its rows by feature, code and class, counts are
added up, and the engine finds the split that it finds in one place. Counts are whole numbers, so
neither their order nor the partitions matter. A node of few rows is gathered on one worker, which
grows what is below it. All trees of a forest advance together: a round counts nodes of all of them.
Ties are settled, and features drawn, by a key that follows from the node's place in its tree; rows
are drawn by their numbers.

Every step is a pure task: what a lost worker had is made again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import dask
import numpy as np

from hedgerow._engine import (
    DecisionGraph,
    Forest,
    count_classes,
    decide,
    grow,
    join_nodes,
    prune,
)
from hedgerow.batches.coding import Coder
from hedgerow.batches.dataset import Dataset, facts_of
from hedgerow.batches.survey import Plan
from hedgerow.dask.reading import MERGED_AT_ONCE, Coded, Piece, in_tree
from hedgerow.forest.extra_trees import ExtraTreesClassifier
from hedgerow.forest.forest_model import ForestModel
from hedgerow.forest.learner import new_seed
from hedgerow.forest.random_forest import RandomForestClassifier
from hedgerow.tree.cart import DecisionTreeClassifier

ROWS_AT_ONCE = 1 << 22  # of a node that is gathered; the setting "hedgerow.rows-at-once" of Dask
_NODES_AT_ONCE = 256  # counted in a round: counts of a node are some 100 kB

Place = tuple[int, int]  # of a node: its tree; 1 for the root, 2i and 2i + 1 below i
Rows = dict[Place, np.ndarray]


class Notes(NamedTuple):
    """What is known of a table besides its codes."""

    low: list[np.ndarray]  # by feature: the smallest value in each bin
    high: list[np.ndarray]
    missing: np.ndarray  # which features have missing values
    n_rows: int
    weight: float
    whole: bool  # whether all weights are whole numbers


class Node(NamedTuple):
    """A node that is to be split or grown."""

    place: Place
    key: int | None  # None: of a root
    n_rows: int
    total: float  # weight of the whole tree; 0: not known yet


class Test(NamedTuple):
    """Where the rows of a node go."""

    feature: int
    goes_left: np.ndarray  # by code


@dataclass(frozen=True)
class Growth:
    """How the trees of a model grow on a table: sent along with every task."""

    model: Any
    n_rows: int
    weight: float
    seed: int

    @property
    def n_trees(self) -> int:
        return self.model.n_estimators if isinstance(self.model, ForestModel) else 1

    def params(self, outline: Dataset, node: Node) -> Any:
        """The engine's parameters for a node."""
        tree, path = node.place
        learner = self.model.learner()
        fixed: dict[str, Any] = {}
        if node.key is not None:
            fixed["stem"] = path.bit_length() - 1, node.key, node.total
        if not isinstance(self.model, ForestModel):
            return learner.params(outline, self.n_rows, self.weight, **fixed)
        fixed["seed"] = self._bags(outline).seed_of_tree(tree)
        size = self.n_rows, outline.n_features, outline.class_counts
        return learner.tree_params(*size, self.weight, **fixed)

    def weights(self, outline: Dataset, piece: Piece, first: int, tree: int) -> np.ndarray | None:
        """The weights that the rows of a piece have in a tree."""
        if not isinstance(self.model, ForestModel):
            return piece.weights
        bag = self._bags(outline).bag_of_rows(self.n_rows, tree, first, len(piece.targets))
        return bag.astype(np.float64) if piece.weights is None else bag * piece.weights

    def _bags(self, outline: Dataset) -> Any:
        size = self.n_rows, outline.n_features, outline.class_counts
        return self.model.learner().params(*size, self.seed, self.weight)

    def data(self, table: Dataset) -> Any:
        return table.bins(self.model.max_bins, 1)


def rows_at_once() -> int:
    """How many rows of a node one worker may hold."""
    return int(dask.config.get("hedgerow.rows-at-once", ROWS_AT_ONCE))


def may_grow_from_counts(model: Any) -> bool:
    """Whether the rows of a model's table may stay where they are."""
    if type(model) is DecisionTreeClassifier:
        fits = model.max_features is None and model.splitter == "best"
    else:
        fits = (
            type(model) in (RandomForestClassifier, ExtraTreesClassifier)
            and model.keyed_draws
            and not model.oob_score
            and not model.warm_start
        )
    return (
        fits
        and model.class_weight is None
        and model.max_leaf_nodes is None
        and model.monotonic_cst is None
    )


def grows_from_counts(notes: Notes) -> bool:
    """Whether the rows are too many for one worker, and their weights can be counted."""
    return notes.whole and notes.n_rows > rows_at_once()


def noted(client: Any, table: Coded) -> Any:
    """The notes on a table, as a future."""
    note = dask.delayed(_note, pure=True)
    notes = [note(dask.delayed(piece), dask.delayed(table.plan)) for piece in table.pieces]
    return client.compute(in_tree(dask.delayed(_noted_together, pure=True), notes))


def grow_from_counts(
    client: Any, model: Any, table: Coded, notes: Any, told: Callable[[int, int], None] | None
) -> Any:
    """The fitted model."""
    known, most = notes.result(), rows_at_once()
    seed = new_seed(model.random_state) if isinstance(model, ForestModel) else 0
    growth = Growth(model, known.n_rows, known.weight, seed)
    outline = client.submit(_outline, table.plan, notes)
    states = [
        client.submit(_begin, growth, outline, piece, first)
        for piece, first in zip(table.pieces, table.firsts, strict=True)
    ]
    top: dict[Place, DecisionGraph] = {}
    parts: dict[Place, tuple[Any, int]] = {}  # a task, and where among its graphs
    large = [Node((tree, 1), None, known.n_rows, 0.0) for tree in range(growth.n_trees)]
    tests: dict[Place, Test | None] = {}  # of the nodes that the states are to forget
    while large:
        now, large = large[:_NODES_AT_ONCE], large[_NODES_AT_ONCE:]
        counts = [
            client.submit(_count, growth, outline, piece, first, state, now)
            for piece, first, state in zip(table.pieces, table.firsts, states, strict=True)
        ]
        while len(counts) > 1:
            starts = range(0, len(counts), MERGED_AT_ONCE)
            counts = [client.submit(sum, counts[i : i + MERGED_AT_ONCE]) for i in starts]
        small: list[Node] = []
        decisions = client.submit(_decide, growth, outline, counts[0], now).result()
        for node, (graph, goes_left, n_left, keys) in zip(now, decisions, strict=True):
            tree, path = node.place
            top[node.place] = graph
            tests[node.place] = None
            if len(goes_left) == 0:
                continue
            tests[node.place] = Test(int(graph.feature[0]), goes_left)
            total = node.total or float(graph.weight[0])
            for side, n_rows in enumerate((n_left, int(graph.n_samples[0]) - n_left)):
                child = Node((tree, 2 * path + side), keys[side], n_rows, total)
                (large if n_rows > most else small).append(child)
        states = [
            client.submit(_advance, state, piece, tests)
            for state, piece in zip(states, table.pieces, strict=True)
        ]
        for group in _groups(small, most):
            taken = [
                client.submit(_take, growth, outline, piece, first, state, group)
                for piece, first, state in zip(table.pieces, table.firsts, states, strict=True)
            ]
            grown = client.submit(_grow, growth, outline, taken, group)
            parts |= {node.place: (grown, at) for at, node in enumerate(group)}
        tests = {node.place: None for node in small}
    found = {future: future.result() for future, _ in parts.values()}
    subtrees = {place: found[future][at] for place, (future, at) in parts.items()}
    graphs = [_joined(top, subtrees, tree) for tree in range(growth.n_trees)]
    if told is not None:
        told(growth.n_trees, growth.n_trees)
    if model.ccp_alpha > 0:
        graphs = [prune(graph, model.ccp_alpha) for graph in graphs]
    return client.submit(_finish, growth, outline, graphs).result()


def _groups(nodes: list[Node], most: int) -> list[list[Node]]:
    """Nodes that are gathered together."""
    groups: list[list[Node]] = []
    n_rows = most
    for node in nodes:
        if n_rows + node.n_rows > most:
            groups.append([])
            n_rows = 0
        groups[-1].append(node)
        n_rows += node.n_rows
    return groups


def _joined(
    top: dict[Place, DecisionGraph], subtrees: dict[Place, DecisionGraph], tree: int
) -> DecisionGraph:
    """One tree from its upper nodes and what was grown below them."""
    upper = sorted(place for place in top if place[0] == tree)
    lower = sorted(place for place in subtrees if place[0] == tree)
    number = {place: at for at, place in enumerate(upper)}
    number |= {place: -2 - at for at, place in enumerate(lower)}
    left, right = (
        [number.get((tree, 2 * path + side), -1) for _, path in upper] for side in (0, 1)
    )
    nodes, parts = [top[place] for place in upper], [subtrees[place] for place in lower]
    return join_nodes(nodes, left, right, parts)


# ---- tasks ----


def _note(piece: Piece, plan: Plan) -> Notes:
    missing = [
        bool((codes == column.n_bins).any())
        for codes, column in zip(piece.codes, plan.columns, strict=True)
    ]
    n_rows, weights = len(piece.targets), piece.weights
    whole = weights is None or bool((weights == np.floor(weights)).all())
    weight = float(n_rows if weights is None else weights.sum())
    return Notes(piece.low, piece.high, np.array(missing, dtype=bool), n_rows, weight, whole)


def _noted_together(notes: list[Notes]) -> Notes:
    columns = range(len(notes[0].low))
    return Notes(
        [np.minimum.reduce([note.low[f] for note in notes]) for f in columns],
        [np.maximum.reduce([note.high[f] for note in notes]) for f in columns],
        np.logical_or.reduce([note.missing for note in notes]),
        sum(note.n_rows for note in notes),
        sum(note.weight for note in notes),
        all(note.whole for note in notes),
    )


def _outline(plan: Plan, notes: Notes) -> Dataset:
    """What the codes mean: a table of one row, which misses what any row misses."""
    coder = Coder(plan)
    coder.merge(notes.low, notes.high)
    codes = [
        np.full(1, column.n_bins if missing else 0, column.dtype)
        for column, missing in zip(plan.columns, notes.missing, strict=True)
    ]
    weights = np.ones(1) if plan.weighted else None
    return _table(Piece(codes, np.zeros(1, np.int32), weights, [], []), facts_of(coder))


def _table(piece: Piece, facts: dict[str, Any]) -> Dataset:
    arrays = {str(feature): codes for feature, codes in enumerate(piece.codes)}
    arrays["targets"] = piece.targets
    if piece.weights is not None:
        arrays["weights"] = piece.weights
    return Dataset(arrays, facts, has_classes=True)


def _begin(growth: Growth, outline: Dataset, piece: Piece, first: int) -> Rows:
    """The rows of the roots."""
    rows = {}
    for tree in range(growth.n_trees):
        weights = growth.weights(outline, piece, first, tree)
        some = np.arange(len(piece.targets)) if weights is None else np.flatnonzero(weights)
        rows[tree, 1] = some.astype(np.uint32)
    return rows


def _count(
    growth: Growth, outline: Dataset, piece: Piece, first: int, state: Rows, nodes: list[Node]
) -> np.ndarray:
    data = growth.data(_table(piece, outline.facts_of_codes))
    counts = []
    for tree, of_tree in groupby(nodes, lambda node: node.place[0]):
        some = list(of_tree)
        node_of = np.full(len(piece.targets), -1, np.int32)
        for at, node in enumerate(some):
            node_of[state[node.place]] = at
        weights = growth.weights(outline, piece, first, tree)
        params = growth.params(outline, some[0])
        counts.append(count_classes(data, node_of, len(some), piece.targets, weights, params))
    return np.concatenate(counts)


def _decide(growth: Growth, outline: Dataset, counts: np.ndarray, nodes: list[Node]) -> list[tuple]:
    data, n_classes = growth.data(outline), outline.n_classes
    weighted = outline.weights is not None or isinstance(growth.model, ForestModel)
    found = []
    for node, of_node in zip(nodes, counts, strict=True):
        if node.key is None:  # now the weight of the tree is known: any feature tells
            by_code = of_node.reshape(-1, n_classes + weighted)[: data.n_bins(0) + 1]
            key = growth.params(outline, node).root_key(data.n_features)
            node = node._replace(key=key, total=float(by_code[:, :n_classes].sum()))
        found.append(decide(data, growth.params(outline, node), of_node, weighted))
    return found


def _advance(state: Rows, piece: Piece, tests: dict[Place, Test | None]) -> Rows:
    """The rows of the children of nodes that were split, and of nodes that wait."""
    out: Rows = {}
    for (tree, path), rows in state.items():
        test = tests.get((tree, path))
        if test is not None:
            left = test.goes_left[piece.codes[test.feature][rows]] != 0
            out[tree, 2 * path], out[tree, 2 * path + 1] = rows[left], rows[~left]
        elif (tree, path) not in tests:
            out[tree, path] = rows
    return out


def _take(
    growth: Growth, outline: Dataset, piece: Piece, first: int, state: Rows, nodes: list[Node]
) -> tuple[Piece, list[int]]:
    """The rows of some nodes, one after the other, and how many each has."""
    of_nodes = [state[node.place] for node in nodes]
    weights = []
    for tree, of_tree in groupby(nodes, lambda node: node.place[0]):
        of_piece = growth.weights(outline, piece, first, tree)
        if of_piece is not None:
            weights += [of_piece[state[node.place]] for node in of_tree]
    rows = np.concatenate(of_nodes)
    codes = [column[rows] for column in piece.codes]
    joined = np.concatenate(weights) if weights else None
    return Piece(codes, piece.targets[rows], joined, [], []), [len(some) for some in of_nodes]


def _grow(
    growth: Growth, outline: Dataset, taken: list[tuple[Piece, list[int]]], nodes: list[Node]
) -> list[DecisionGraph]:
    """The subtrees of some nodes, from their rows in all partitions."""
    pieces = [piece for piece, _ in taken]
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    columns = zip(*(piece.codes for piece in pieces), strict=True)
    whole = Piece(
        [np.concatenate(column) for column in columns],
        np.concatenate([piece.targets for piece in pieces]),
        np.concatenate(weights) if weights else None,
        [],
        [],
    )
    owner = np.concatenate([np.repeat(np.arange(len(nodes)), sizes) for _, sizes in taken])
    data = growth.data(_table(whole, outline.facts_of_codes))
    return [
        grow(
            data,
            np.flatnonzero(owner == at).astype(np.uint32),
            whole.targets,
            whole.weights,
            growth.params(outline, node),
        )
        for at, node in enumerate(nodes)
    ]


def _finish(growth: Growth, outline: Dataset, graphs: list[DecisionGraph]) -> Any:
    model = growth.model
    table = model.read_table(outline, None)
    if isinstance(model, ForestModel):
        forest = Forest.of(graphs)
        return model.adopt_members(table, forest, growth.seed, n_rows=growth.n_rows)
    return model.adopt(table, model.learner().finished(table, graphs[0]))
