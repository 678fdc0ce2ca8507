"""The trees of a sum as one list of nodes, and what is left of them when splits are collapsed."""

import numpy as np
from scipy.sparse import csr_matrix

from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import CATEGORY, OBLIQUE, has_shared_nodes
from hedgerow.compression.sums import UnreadableError

MOST_UNFOLDED = 1 << 14  # nodes of a graph with shared nodes, written out as a tree


class Structure:
    """Trees without their values; every node has a number of its own.

    Attributes
    ----------
    left, right, parent : ndarray of shape (n_nodes,)
        -1 where there is none.
    depth : ndarray of shape (n_nodes,)
    """

    def __init__(self, graphs: list[DecisionGraph]) -> None:
        self.graphs = [unfolded(graph) if has_shared_nodes(graph) else graph for graph in graphs]
        sizes = [graph.n_nodes for graph in self.graphs]
        self.start = np.cumsum([0, *sizes])
        self.n_nodes = int(self.start[-1])
        offset = np.repeat(self.start[:-1], sizes)
        self.left, self.right = (
            np.where(child < 0, -1, child + offset)
            for child in (
                np.concatenate([np.empty(0, int), *(graph.left for graph in self.graphs)]),
                np.concatenate([np.empty(0, int), *(graph.right for graph in self.graphs)]),
            )
        )
        tests = np.flatnonzero(self.left >= 0)
        self.parent = np.full(self.n_nodes, -1)
        self.parent[self.left[tests]] = self.parent[self.right[tests]] = tests
        self._levels = [self.start[:-1]]
        while len(above := self._levels[-1][self.left[self._levels[-1]] >= 0]):
            self._levels.append(np.concatenate([self.left[above], self.right[above]]))
        self.depth = np.zeros(self.n_nodes, dtype=int)
        for depth, level in enumerate(self._levels):
            self.depth[level] = depth

    @property
    def n_splits(self) -> int:
        return int((self.left >= 0).sum())

    def leaves(self, matrix: np.ndarray) -> np.ndarray:
        """The leaf of each encoded row in each tree, n_rows x n_trees."""
        found = np.empty((len(matrix), len(self.graphs)), dtype=np.int32)
        for place, graph in enumerate(self.graphs):
            found[:, place] = graph.apply(matrix) + self.start[place]
        return found

    def tops(self, collapsed: np.ndarray) -> np.ndarray:
        """For each node the leaf that stands for it once the marked splits are collapsed."""
        top = np.arange(self.n_nodes)
        for level in self._levels[1:]:
            parent = self.parent[level]
            gone = (top[parent] != parent) | collapsed[parent]
            top[level] = np.where(gone, top[parent], level)
        return top

    def bottom_up(self, sums: np.ndarray) -> np.ndarray:
        """Sums of leaves, added up from the leaves to the roots."""
        total = sums.copy()
        for level in self._levels[:0:-1]:
            np.add.at(total, self.parent[level], total[level])
        return total

    def upwards_largest(self, worth: np.ndarray) -> np.ndarray:
        """For each node the largest worth of it and of all below it."""
        largest = worth.copy()
        for level in self._levels[:0:-1]:
            np.maximum.at(largest, self.parent[level], largest[level])
        return largest

    def without(self, collapsed: np.ndarray) -> tuple["Structure", np.ndarray]:
        """The trees with splits left when the marked ones are collapsed.

        With it comes the place in it of each of these nodes, -1 for those that are gone.
        """
        top = self.tops(collapsed)
        stays = top == np.arange(self.n_nodes)
        place = np.full(self.n_nodes, -1)
        graphs, at = [], 0
        for graph, start, end in zip(self.graphs, self.start[:-1], self.start[1:], strict=True):
            kept = np.flatnonzero(stays[start:end])
            if len(kept) < 3:  # a root alone adds the same to every row
                continue
            is_leaf = collapsed[start:end][kept] | (graph.left[kept] < 0)
            graphs.append(_cut(graph, kept, is_leaf))
            place[start + kept] = at + np.arange(len(kept))
            at += len(kept)
        return Structure(graphs), place

    def with_values(self, value: np.ndarray) -> list[DecisionGraph]:
        """The trees with these values of their nodes (n_nodes x n_scores)."""
        graphs = []
        for graph, start, end in zip(self.graphs, self.start[:-1], self.start[1:], strict=True):
            arrays = dict(graph.arrays())
            arrays |= {"n_outputs": value.shape[1], "value": value[start:end].ravel()}
            graphs.append(DecisionGraph.from_arrays(arrays))
        return graphs


def indicators(leaves: np.ndarray, column: np.ndarray, n_columns: int) -> csr_matrix:
    """Which columns (of leaves) a row is in, as a sparse matrix; -1 is no column."""
    columns = column[leaves]
    known = columns >= 0
    start = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    ones = np.ones(start[-1])
    return csr_matrix((ones, columns[known], start), shape=(len(leaves), n_columns))


def _cut(graph: DecisionGraph, kept: np.ndarray, is_leaf: np.ndarray) -> DecisionGraph:
    """Some nodes of a tree, in which some of them are leaves."""
    arrays = dict(graph.arrays())
    place = np.full(graph.n_nodes + 1, -1)  # the last is that of no child
    place[kept] = np.arange(len(kept))
    value = arrays["value"].reshape(graph.n_nodes, -1)
    for name in ("kind", "missing_left", "feature", "detail", "threshold", "n_samples", "weight",
                 "impurity"):  # fmt: skip
        arrays[name] = arrays[name][kept]
    for name in ("left", "right"):
        arrays[name] = np.where(is_leaf, -1, place[arrays[name][kept]]).astype(np.int32)
    arrays["value"] = value[kept].ravel()
    arrays["kind"] = np.where(is_leaf, 0, arrays["kind"]).astype(np.uint8)
    arrays["missing_left"] = np.where(is_leaf, 0, arrays["missing_left"]).astype(np.uint8)
    arrays["feature"] = np.where(is_leaf, -1, arrays["feature"]).astype(np.int32)
    arrays["threshold"] = np.where(is_leaf, 0.0, arrays["threshold"])
    arrays["detail"] = np.where(is_leaf, -1, arrays["detail"]).astype(np.int32)
    for kind, start, pools in (
        (CATEGORY, "category_start", ["category_words"]),
        (OBLIQUE, "oblique_start", ["oblique_feature", "oblique_category", "oblique_weight",
                                    "oblique_centre"]),
    ):  # fmt: skip
        nodes = np.flatnonzero(arrays["kind"] == kind)
        first = arrays[start].astype(np.intp)
        spans = [slice(first[d], first[d + 1]) for d in arrays["detail"][nodes]]
        arrays["detail"][nodes] = range(len(nodes))
        for pool in pools:
            if pool == "oblique_centre" and len(arrays[pool]) != first[-1]:
                continue
            arrays[pool] = np.concatenate([arrays[pool][:0], *(arrays[pool][s] for s in spans)])
        lengths = [s.stop - s.start for s in spans]
        arrays[start] = np.cumsum([0, *lengths]).astype(np.uint32)
    return DecisionGraph.from_arrays(arrays)


def unfolded(graph: DecisionGraph) -> DecisionGraph:
    """A graph with shared nodes as a tree: each of them once for every path to it."""
    source, left, right = [0], [-1], [-1]
    at = 0
    while at < len(source):
        node = source[at]
        if graph.left[node] >= 0:
            left[at], right[at] = len(source), len(source) + 1
            source += [int(graph.left[node]), int(graph.right[node])]
            left += [-1, -1]
            right += [-1, -1]
            if len(source) > MOST_UNFOLDED:
                raise UnreadableError("its graph has too many paths to be pruned as a tree")
        at += 1
    arrays = dict(graph.arrays())
    chosen = np.array(source)
    value = arrays["value"].reshape(graph.n_nodes, -1)
    for name in ("kind", "missing_left", "feature", "detail", "threshold", "n_samples", "weight",
                 "impurity"):  # fmt: skip
        arrays[name] = arrays[name][chosen]
    arrays |= {
        "left": np.array(left, dtype=np.int32),
        "right": np.array(right, dtype=np.int32),
        "value": value[chosen].ravel(),
    }
    return DecisionGraph.from_arrays(arrays)
