"""Graphs as the trees of ai.onnx.ml, which say where a row ends and no more.

ONNX Runtime refuses nodes with several parents, and nothing shall be copied: a shared node begins a
tree of its own, and the trees that lead to it end in a leaf that names it. Every tree has a target,
whose value is the number of a leaf, or ``-1 - tree`` where the row goes on in another tree. Sums of
oblique tests are columns behind those that are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.c_graphs import lower_single
from hedgerow.export.reading import ExportError

_LARGEST = 2**24  # what single precision counts to
_MODES = {"BRANCH_LEQ": 0, "BRANCH_LT": 1, "BRANCH_EQ": 4, "BRANCH_MEMBER": 6}


@dataclass
class Forest:
    """Trees of a step.

    Attributes
    ----------
    attributes : dict
        Of the node; arrays become tensors.
    roots : list of int
        The tree that each graph begins in.
    n_trees : int
    n_turns : int
        The most often that a row goes on in another tree.
    """

    attributes: dict[str, Any]
    roots: list[int]
    n_trees: int
    n_turns: int


def trees(
    graphs: Sequence[p.Graph], places: dict[int, int], n_read: int, kind: str, opset: int
) -> Forest:
    """The trees of graphs.

    Parameters
    ----------
    graphs : sequence of Graph
    places : dict
        Where each column stands in the matrix; sums of oblique tests stand from ``n_read`` on.
    n_read : int
    kind : {"float", "double"}
        Of the matrix.
    opset : {3, 5}
    """
    builder = _Builder(places, n_read, np.float32 if kind == "float" else np.float64, opset)
    roots = [builder.add(graph) for graph in graphs]
    if max(len(builder.tree_of_root), *(graph.n_leaves for graph in graphs)) > _LARGEST:
        raise ExportError("ONNX numbers leaves up to 2^24: a graph has more.")
    nodes = builder.of_five() if opset == 5 else builder.of_three()
    return Forest(nodes, roots, len(builder.tree_of_root), builder.n_turns)


@dataclass
class _Tests:
    """All tests; a child is a test, or ``-1 - end`` for an end."""

    modes: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    tree: list[int] = field(default_factory=list)


class _Builder:
    """Tests and ends of all trees, each numbered through."""

    def __init__(self, places: dict[int, int], n_read: int, dtype: type, opset: int) -> None:
        self.places, self.dtype, self.opset = places, dtype, opset
        self.first_sum = n_read
        self.tests = _Tests()
        self.members: list[float] = []
        self.ends: list[tuple[int, int]] = []  # the tree, and what it says
        self.tree_of_root: list[int] = []  # the first test of each tree
        self.n_turns = 0

    def add(self, graph: p.Graph) -> int:
        """The number of the tree that a graph begins in."""
        heads = self._heads(graph)
        first = len(self.tree_of_root)
        numbers = {head: first + i for i, head in enumerate(heads)}
        self.tree_of_root += [0] * len(heads)
        turns: dict[int, int] = {}
        for head in reversed(heads):  # those that are gone on to stand behind
            turns[head] = self._tree(graph, head, numbers, turns)
        self.n_turns = max(self.n_turns, turns[graph.root])
        self.first_sum += len(graph.obliques)
        return first

    def _heads(self, graph: p.Graph) -> list[int]:
        """The root, and the nodes that have several parents here, in their order."""
        n_parents = graph.n_parents.copy()
        if self.opset == 3:  # a set is a chain of tests whose answers meet
            for test in np.flatnonzero(graph.kind == p.CATEGORY).tolist():
                codes, goes_left = _codes(graph, test)
                child = int(graph.left[test] if goes_left else graph.right[test])
                if child >= 0 and len(codes) > 1:
                    n_parents[child] += 1
        return [graph.root, *(test for test in np.flatnonzero(n_parents > 1).tolist() if test)]

    def _tree(
        self, graph: p.Graph, head: int, numbers: dict[int, int], turns: dict[int, int]
    ) -> int:
        """Add a tree, and say how often rows go on from it."""
        tree, most = numbers[head], 0
        self.tree_of_root[tree] = len(self.tests.modes)
        if head < 0:  # a root is a test: one whose sides are alike
            self._test("BRANCH_LEQ", 0, 0.0, False, tree)
            self.tests.yes[-1] = self.tests.no[-1] = self._end(tree, -1 - head)
            return 0
        waiting: list[tuple[int, list[int] | None, int]] = [(head, None, 0)]
        while waiting:
            node, side, place = waiting.pop()
            if node >= 0 and (node == head or node not in numbers):
                first, last, answers = self._node(graph, node, tree)
                goes_left = answers
                yes, no = int(graph.left[node]), int(graph.right[node])
                if not goes_left:
                    yes, no = no, yes
                if side is not None:
                    side[place] = first
                waiting.append((no, self.tests.no, last))
                waiting += [(yes, self.tests.yes, test) for test in range(first, last + 1)]
                continue
            says = -1 - node
            if node >= 0:
                says = -1 - numbers[node]
                most = max(most, 1 + turns[node])
            assert side is not None
            side[place] = self._end(tree, says)
        return most

    def _end(self, tree: int, says: int) -> int:
        self.ends.append((tree, says))
        return -len(self.ends)

    def _test(self, mode: str, column: int, bound: float, missing: bool, tree: int) -> int:
        tests = self.tests
        tests.modes.append(mode)
        tests.columns.append(column)
        tests.bounds.append(bound)
        tests.missing.append(missing)
        tests.yes.append(0)
        tests.no.append(0)
        tests.tree.append(tree)
        return len(tests.modes) - 1

    def _node(self, graph: p.Graph, test: int, tree: int) -> tuple[int, int, bool]:
        """One test, or a chain of them: the first, the last, and whether yes goes left."""
        bound, missing = float(graph.threshold[test]), bool(graph.missing_left[test])
        if graph.kind[test] == p.OBLIQUE:
            column = self.first_sum + int(graph.detail[test])
            node = self._test("BRANCH_LT", column, bound, False, tree)
            return node, node, True
        column = self.places[int(graph.column[test])]
        if graph.kind[test] == p.AXIS:
            bound = lower_single(bound) if self.dtype == np.float32 else bound
            node = self._test("BRANCH_LEQ", column, bound, missing, tree)
            return node, node, True
        codes, goes_left = _codes(graph, test)
        if self.opset == 5 and len(codes) > 1:
            node = self._test("BRANCH_MEMBER", column, 0.0, False, tree)
            self.members += [*codes, np.nan]
            return node, node, goes_left
        chain = [self._test("BRANCH_EQ", column, float(code), False, tree) for code in codes]
        for node in chain[:-1]:
            self.tests.no[node] = node + 1
        return chain[0], chain[-1], goes_left

    def of_five(self) -> dict[str, Any]:
        """TreeEnsemble."""
        tests = self.tests
        for root in self.tree_of_root:
            # Some versions take a root for a leaf where a test and an end have the same number.
            sides = (tests.yes, tests.no) if tests.yes[root] < 0 else (tests.no, tests.yes)
            if sides[0][root] < 0 <= sides[1][root] == -1 - sides[0][root]:
                sides[0][root] = self._end(*self.ends[sides[1][root]])
        yes, no = np.array(tests.yes), np.array(tests.no)
        attributes = {
            "operator": "TreeEnsemble",
            "n_targets": len(self.tree_of_root),
            "aggregate_function": 1,
            "post_transform": 0,
            "tree_roots": self.tree_of_root,
            "nodes_modes": np.array([_MODES[mode] for mode in tests.modes], dtype=np.uint8),
            "nodes_featureids": tests.columns,
            "nodes_splits": np.array(tests.bounds, dtype=self.dtype),
            "nodes_missing_value_tracks_true": [int(missing) for missing in tests.missing],
            "nodes_truenodeids": np.where(yes < 0, -1 - yes, yes).tolist(),
            "nodes_trueleafs": (yes < 0).astype(int).tolist(),
            "nodes_falsenodeids": np.where(no < 0, -1 - no, no).tolist(),
            "nodes_falseleafs": (no < 0).astype(int).tolist(),
            "leaf_targetids": [tree for tree, _ in self.ends],
            "leaf_weights": np.array([says for _, says in self.ends], dtype=self.dtype),
        }
        if self.members:
            attributes["membership_values"] = np.array(self.members, dtype=self.dtype)
        return attributes

    def of_three(self) -> dict[str, Any]:
        """TreeEnsembleRegressor: nodes are numbered anew in every tree, ends behind the tests."""
        tests, n_ends = self.tests, len(self.ends)
        trees = np.array([*tests.tree, *(tree for tree, _ in self.ends)])
        order = np.argsort(trees, kind="stable")
        counts = np.bincount(trees, minlength=len(self.tree_of_root))
        firsts = np.cumsum(counts) - counts
        ids = np.empty(len(trees), dtype=int)
        ids[order] = np.arange(len(trees)) - firsts[trees[order]]

        def children(side: list[int]) -> np.ndarray:
            at = np.array(side)
            places = np.where(at >= 0, at, len(tests.modes) - 1 - at)
            return np.append(ids[places], np.zeros(n_ends, dtype=int))

        def with_ends(values: Sequence[Any], end: Any) -> np.ndarray:
            return np.array([*values, *([end] * n_ends)])

        columns = {
            "nodes_treeids": trees,
            "nodes_nodeids": ids,
            "nodes_modes": with_ends(tests.modes, "LEAF"),
            "nodes_featureids": with_ends(tests.columns, 0),
            "nodes_missing_value_tracks_true": with_ends(tests.missing, False).astype(int),
            "nodes_truenodeids": children(tests.yes),
            "nodes_falsenodeids": children(tests.no),
        }
        bounds: np.ndarray = with_ends(tests.bounds, 0.0).astype(self.dtype)[order]
        weights: np.ndarray = np.array([says for _, says in self.ends], dtype=self.dtype)
        is_double = self.dtype == np.float64
        suffix = "_as_tensor" if is_double else ""
        return {
            "operator": "TreeEnsembleRegressor",
            "n_targets": len(self.tree_of_root),
            **{name: values[order].tolist() for name, values in columns.items()},
            f"nodes_values{suffix}": bounds if is_double else bounds.tolist(),
            "target_treeids": trees[len(tests.modes) :].tolist(),
            "target_ids": trees[len(tests.modes) :].tolist(),
            "target_nodeids": ids[len(tests.modes) :].tolist(),
            f"target_weights{suffix}": weights if is_double else weights.tolist(),
        }


def _codes(graph: p.Graph, test: int) -> tuple[list[int], bool]:
    """The codes that decide, at least one, and whether they go left: all others go elsewhere."""
    missing = bool(graph.missing_left[test])
    codes = np.flatnonzero(graph.sets[graph.detail[test]] != missing).tolist()
    return codes or [-1], not missing
