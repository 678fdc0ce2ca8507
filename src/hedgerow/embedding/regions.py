"""Growing the trees of an embedding and cutting them into regions.

The first tree grows on all rows, the others on bootstrap samples of them, all on one binned
:class:`Dataset`. A region is a leaf, or, where fewer anchors than leaves are wanted, a node at
which the tree is cut: from the root on, the split with the largest impurity decrease is opened
next. Coarse regions give steady means while the full tree still votes. The paper's own trees have
no siblings that predict the same class: those are merged before all this (``merge_siblings``).
"""

import heapq
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph, grow, merge_siblings
from hedgerow._growth import grow_params
from hedgerow._learner import weight_of
from hedgerow._table import Table
from hedgerow._threads import in_threads


@dataclass(frozen=True, eq=False)
class CutTree:
    """One tree of an embedding, cut into regions.

    Attributes
    ----------
    graph : DecisionGraph
    nodes : ndarray
        The nodes at which the tree is cut, ascending.
    """

    graph: DecisionGraph
    nodes: np.ndarray

    def regions(self, leaves: np.ndarray) -> np.ndarray:
        """The region of each leaf: trees are numbered in preorder, a subtree is a range."""
        return np.searchsorted(self.nodes, leaves, side="right") - 1


def grow_trees(
    table: Table,
    weights: np.ndarray | None,
    settings: Any,
    rng: np.random.RandomState,
    n_jobs: int,
) -> tuple[list[DecisionGraph], np.ndarray]:
    """Grow the trees; return them and how often each drew each row, of shape (n_trees, n_rows)."""
    n, n_trees = table.n_rows, int(settings.n_estimators)
    data = table.bins(settings.max_bins, n_jobs)
    weighty = np.arange(n) if weights is None else np.flatnonzero(weights)
    samples: list[np.ndarray | None] = [None]
    for _ in range(n_trees - 1):
        samples.append(weighty[rng.randint(len(weighty), size=len(weighty))].astype(np.uint32))
    seeds = rng.randint(2**31 - 1, size=n_trees)
    threads_of_each = max(1, n_jobs // n_trees)

    def grown(rows: np.ndarray | None, seed: int) -> DecisionGraph:
        params = grow_params(
            settings,
            n_rows=n,
            n_features=table.n_features,
            n_classes=table.n_classes,
            total_weight=weight_of(table, weights, None),
            seed=int(seed),
        )
        graph = grow(data, rows, table.targets, weights, params, threads_of_each)
        return merge_siblings(graph) if settings.merge_siblings and table.n_classes else graph

    pairs = zip(samples, seeds, strict=True)
    graphs = in_threads((partial(grown, rows, seed) for rows, seed in pairs), n_jobs)
    drawn = [np.ones(n, int) if r is None else np.bincount(r, minlength=n) for r in samples]
    return graphs, np.array(drawn)


def cut(graph: DecisionGraph, max_regions: int | None) -> CutTree:
    """Cut a tree into at most ``max_regions`` regions, None for its leaves."""
    if max_regions is None or graph.n_leaves <= max_regions:
        return CutTree(graph, np.flatnonzero(graph.feature < 0))
    left, right, lost = graph.left, graph.right, graph.weight * graph.impurity

    def candidate(node: int) -> tuple[float, int]:
        return lost[left[node]] + lost[right[node]] - lost[node], node

    open_nodes = [candidate(0)]
    closed: list[int] = []
    while open_nodes and len(open_nodes) + len(closed) < max_regions:
        _, node = heapq.heappop(open_nodes)
        for child in (int(left[node]), int(right[node])):
            if left[child] < 0:
                closed.append(child)
            else:
                heapq.heappush(open_nodes, candidate(child))
    return CutTree(graph, np.sort(closed + [node for _, node in open_nodes]))
