"""The engine's graphs as those of a program: reachable nodes, in order, nothing twice."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from hedgerow import _graph_model as engine
from hedgerow._engine import DecisionGraph
from hedgerow.export.program import AXIS, CATEGORY, OBLIQUE, Graph, Oblique

# Other values for the leaves of a graph, out of the values of all its nodes.
Leaves = Callable[[np.ndarray], np.ndarray]


def constant_graph(values: np.ndarray) -> Graph:
    """A graph of one leaf."""
    none = np.empty(0, dtype=np.int32)
    return Graph(
        kind=np.empty(0, dtype=np.int8),
        column=none,
        threshold=np.empty(0),
        missing_left=np.empty(0, dtype=bool),
        left=none,
        right=none,
        detail=none,
        sets=(),
        obliques=(),
        values=values[None] + 0.0,
    )


def as_graph(
    graph: DecisionGraph,
    places: np.ndarray,
    n_codes: Sequence[int | None],
    leaves: Leaves | None = None,
) -> Graph:
    """A graph of the engine.

    Parameters
    ----------
    graph : DecisionGraph
    places : ndarray of int
        The column of each of its features.
    n_codes : sequence of int or None
        The number of categories of each feature. A threshold on their codes, which some graphs
        have, becomes a set.
    leaves : callable, default=None
    """
    values = graph.value + 0.0  # no leaf says -0.0: sums begin with 0.0
    if leaves is not None:
        values = leaves(values) + 0.0
    order = _preorder(graph)
    test_of = {int(node): test for test, node in enumerate(order)}
    is_leaf = graph.left < 0
    leaf_nodes = [int(node) for node in _reached(graph, order) if is_leaf[node]]
    rows, leaf_of = _distinct(values[leaf_nodes])
    number = dict(zip(leaf_nodes, leaf_of.tolist(), strict=True))

    def child(side: np.ndarray) -> np.ndarray:
        nodes = side[order].tolist()
        return np.array(
            [-1 - number[node] if is_leaf[node] else test_of[node] for node in nodes],
            dtype=np.int32,
        )

    arrays = graph.arrays()
    tests = _Tests(arrays, places)
    n = len(order)
    kind, column = np.empty(n, dtype=np.int8), np.full(n, -1, dtype=np.int32)
    threshold, detail = np.zeros(n), np.full(n, -1, dtype=np.int32)
    for test, node in enumerate(order):
        kind[test] = graph.kind[node]
        if kind[test] == OBLIQUE:
            threshold[test] = graph.threshold[node]
            detail[test] = tests.oblique(int(arrays["detail"][node]))
            continue
        feature = int(graph.feature[node])
        column[test], n_known = places[feature], n_codes[feature]
        if kind[test] == CATEGORY:
            n_known = int(graph.threshold[node])
            detail[test] = tests.set_of_words(int(arrays["detail"][node]), n_known)
        elif n_known is not None:
            kind[test] = CATEGORY
            detail[test] = tests.set(np.arange(n_known) <= graph.threshold[node])
        else:
            assert kind[test] == AXIS
            threshold[test] = graph.threshold[node]
    return Graph(
        kind=kind,
        column=column,
        threshold=threshold,
        missing_left=arrays["missing_left"][order].astype(bool),
        left=child(graph.left),
        right=child(graph.right),
        detail=detail,
        sets=tuple(tests.sets),
        obliques=tuple(tests.obliques),
        values=rows,
    )


def _preorder(graph: DecisionGraph) -> np.ndarray:
    """The reached tests, each behind all its parents, a left child as soon as it can be."""
    left, right = graph.left.tolist(), graph.right.tolist()
    # The reverse of the order in which a depth-first search leaves nodes, right children first.
    done: list[int] = []
    seen = set()
    stack = [(0, False)]
    while stack:
        node, is_left_behind = stack.pop()
        if is_left_behind:
            done.append(node)
        elif left[node] >= 0 and node not in seen:
            seen.add(node)
            stack += [(node, True), (left[node], False), (right[node], False)]
    return np.array(done[::-1], dtype=np.intp)


def _reached(graph: DecisionGraph, order: np.ndarray) -> np.ndarray:
    """The children of the tests, and the root, in the order of the tests."""
    both = np.stack([graph.left[order], graph.right[order]], axis=1).ravel()
    return np.array(list(dict.fromkeys([0, *both.tolist()])), dtype=np.intp)


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, in the order of their first occurrence, and which of them each row is."""
    places: dict[bytes, int] = {}
    of_row = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows], dtype=int)
    first = np.unique(of_row, return_index=True)[1]
    return np.ascontiguousarray(rows[first]), of_row


class _Tests:
    """Sets of categories and oblique sums, each kept once."""

    def __init__(self, arrays: dict, places: np.ndarray) -> None:
        self._arrays, self._places = arrays, places
        self._known_sets: dict[bytes, int] = {}
        self._known_obliques: dict[int, int] = {}
        self.sets: list[np.ndarray] = []
        self.obliques: list[Oblique] = []

    def set(self, goes_left: np.ndarray) -> int:
        key = goes_left.tobytes()
        if key not in self._known_sets:
            self._known_sets[key] = len(self.sets)
            self.sets.append(goes_left)
        return self._known_sets[key]

    def set_of_words(self, detail: int, n_known: int) -> int:
        start, stop = self._arrays["category_start"][detail : detail + 2]
        words = np.ascontiguousarray(self._arrays["category_words"][start:stop]).astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return self.set(bits[:n_known].astype(bool))

    def oblique(self, detail: int) -> int:
        if detail not in self._known_obliques:
            self._known_obliques[detail] = len(self.obliques)
            self.obliques.append(self._read_oblique(detail))
        return self._known_obliques[detail]

    def _read_oblique(self, detail: int) -> Oblique:
        start, stop = self._arrays["oblique_start"][detail : detail + 2]
        feature, category, weight, centre = (
            self._arrays[f"oblique_{name}"][start:stop]
            for name in ("feature", "category", "weight", "centre")
        )
        n_numbers = int((category < 0).sum())  # they stand first
        numbers = feature[:n_numbers]
        tables = []
        firsts = np.flatnonzero(category == 0)
        for begin, end in pairwise([*firsts, len(category)]):
            weights, missing = weight[begin:end], 0.0
            for w in weights.tolist():  # in the engine's order
                missing += w
            place = int(self._places[feature[begin]])
            tables.append((place, weights.copy(), missing / len(weights)))
        # With categories alone the engine counts no numbers side by side either: both give 0.0.
        in_lanes = bool((np.diff(numbers) == 1).all())
        return Oblique(
            columns=self._places[numbers],
            weights=weight[:n_numbers].copy(),
            centres=centre[:n_numbers].copy(),
            tables=tuple(tables),
            in_lanes=in_lanes,
        )


assert (AXIS, CATEGORY, OBLIQUE) == (engine.AXIS, engine.CATEGORY, engine.OBLIQUE)
