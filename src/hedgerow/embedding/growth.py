"""From a table to a fitted first layer: grow the trees, cut them, take the means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix
from sklearn.utils import check_random_state

from hedgerow._engine import DecisionGraph
from hedgerow._estimator import Settings
from hedgerow._growth import check_criterion
from hedgerow._parameters import resolve_n_jobs
from hedgerow._table import Table
from hedgerow.embedding.layer import AnchorLayer, activation_names, own_anchors
from hedgerow.embedding.numeric import NumericView, check_numbers, count_categories
from hedgerow.embedding.regions import cut, grow_trees

BIASES = {"method": 1.0, "theory": -1.0, "half": -0.5}  # b in units of |mu|²


@dataclass(frozen=True)
class TrainingRows:
    """What growing knows of the training rows: a head is fitted on it."""

    encoded: np.ndarray
    numbers: np.ndarray
    votes: np.ndarray | None
    targets: np.ndarray
    weights: np.ndarray | None

    def used(self) -> "TrainingRows":
        """Those of positive weight."""
        if self.weights is None:
            return self
        rows = self.weights > 0
        return TrainingRows(
            self.encoded[rows],
            self.numbers[rows],
            None if self.votes is None else self.votes[rows],
            self.targets[rows],
            self.weights[rows],
        )


@dataclass(frozen=True)
class LayerLearner:
    """Grows a first layer on a table; it writes to nothing."""

    settings: Settings

    @property
    def n_jobs(self) -> int:
        return resolve_n_jobs(self.settings.n_jobs)

    def grow(
        self, table: Table, weights: np.ndarray | None, seed: Any
    ) -> tuple[AnchorLayer, TrainingRows]:
        """The layer, and the training rows as it sees them."""
        settings, encoded = self.settings, table.matrix()
        check_criterion(settings.criterion, table.targets)
        if table.classes is None:  # votes are columns of the embedding, in its precision
            check_numbers("y", table.targets, encoded.dtype)
        n_categories = count_categories(table.categories)
        view = NumericView.learn(encoded, n_categories, weights, settings.standardize)
        rng = check_random_state(seed)
        graphs, drawn = grow_trees(table, weights, settings, rng, self.n_jobs)
        most = None if settings.max_anchors == "all" else settings.max_anchors
        trees = [cut(graph, most) for graph in graphs]
        leaves = np.array([graph.apply(encoded, self.n_jobs) for graph in graphs])
        fills = None
        if settings.impute == "leaf":
            fills = view.region_means(encoded, trees[0].regions(leaves[0]), weights)
        numbers = view(encoded, None if fills is None else fills[trees[0].regions(leaves[0])])
        shares = drawn if weights is None else drawn * weights
        member = _membership(own_anchors(trees, leaves), shares, sum(len(t.nodes) for t in trees))
        anchors, counts, spread = _means(view, numbers, member, shares)
        layer = AnchorLayer(
            trees=trees,
            view=view,
            fills=fills,
            anchors=anchors,
            bias=BIASES[settings.bias] * np.square(anchors).sum(axis=1),
            counts=counts,
            values=np.vstack([tree.graph.value[tree.nodes] for tree in trees]),
            bandwidth=float(settings.bandwidth or spread or 1.0),
        )
        votes = None
        if "vote" in activation_names(settings.activation):
            votes = _votes_of_others(graphs, leaves, drawn)
        return layer, TrainingRows(encoded, numbers, votes, table.targets, weights)


def _membership(anchor_of_row: np.ndarray, shares: np.ndarray, n_anchors: int) -> csc_matrix:
    """What row i counts for an anchor: ``shares[t, i]`` for its own one in each tree t."""
    n_trees, n = anchor_of_row.shape
    starts = np.arange(0, n_trees * n + 1, n_trees)
    return csc_matrix((shares.T.ravel(), anchor_of_row.T.ravel(), starts), shape=(n_anchors, n))


def _means(
    view: NumericView, numbers: np.ndarray, member: csc_matrix, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Means of the regions, their weights, and the root mean squared distance to the own mean."""
    counts = np.asarray(member.sum(axis=1)).ravel()
    # Centred first: a mean of large numbers that hardly differ loses nothing.
    centred = numbers - view.centre.astype(numbers.dtype)
    means = (member @ centred) / counts[:, None]
    # Mean squared distance to the own anchor: that to the centre, less that of the anchors.
    whole = shares.sum(axis=0) @ np.square(centred).sum(axis=1)
    between = counts @ np.square(means).sum(axis=1)
    spread = np.sqrt(max(whole - between, 0) / shares.sum())
    return means + view.centre, counts, spread


def _votes_of_others(
    graphs: list[DecisionGraph], leaves: np.ndarray, drawn: np.ndarray
) -> np.ndarray:
    """Mean leaf value over the trees that did not draw a row; the overall mean without any."""
    total, count = 0.0, np.zeros(drawn.shape[1])
    for graph, leaf, times in zip(graphs[1:], leaves[1:], drawn[1:], strict=True):
        unseen = times == 0
        total = total + graph.value[leaf] * unseen[:, None]
        count += unseen
    overall = graphs[0].value[0]
    return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], overall)
