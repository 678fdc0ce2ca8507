"""What the theory of decision tree embedding speaks of, measured on data.

The paper's Theorem 1 needs leaves in which the class probabilities hardly vary, Theorem 2 rows that
are nearest to the mean of their own leaf. Both are about one tree, so each figure is per tree.

Theorem 1 as printed is false. Its proof takes the embedding Z = X W' + b to know of every row the
leaf that it is in, but Z can be less than that: with ``x2 = x1`` plus noise, ``y = [x1 > 0]`` and
one split at 0, both leaf means are on one line through 0, Z is the projection on it, and what
decides is lost, though every leaf is pure. It holds where Z does know the leaf. That is so where W
has full column rank, for then Z determines the row, and for the activation "leaf".
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.utils import check_array

from hedgerow._parameters import resolve_n_jobs
from hedgerow.embedding.leaf_means import LeafMeansEmbedding


@dataclass(frozen=True)
class Diagnostics:
    """Figures of one embedding on some rows.

    Attributes
    ----------
    impurity : ndarray of shape (n_anchors,)
        Share of the training rows of a region that are not of its most frequent class.
    error_bound : ndarray of shape (n_estimators,)
        Mean impurity of a tree's regions, weighted by their rows: by Theorem 2 the error of the
        head "indicator", where every row is nearest to its own anchor.
    own_nearest : ndarray of shape (n_estimators,)
        Share of the rows for which that holds.
    rank : ndarray of shape (n_estimators,)
        Rank of a tree's anchors W. With as many columns as ``n_columns`` the linear embedding
        determines the row.
    n_columns : int
        Columns of the numbers that anchors are means of.
    epsilon : ndarray of shape (n_estimators,) or None
        Largest distance (sum of absolute differences) between the class probabilities of two
        rows of one region. A tree that sees only the region loses no more than that; nor does
        the linear embedding where ``keeps_rows``. Elsewhere Theorem 1 is false, and it can lose
        more. None without probabilities.
    """

    impurity: np.ndarray
    error_bound: np.ndarray
    own_nearest: np.ndarray
    rank: np.ndarray
    n_columns: int
    epsilon: np.ndarray | None

    @property
    def keeps_rows(self) -> np.ndarray:
        """By tree, whether the linear embedding determines the row: then Theorem 1 holds."""
        return self.rank == self.n_columns


def diagnose(embedding: LeafMeansEmbedding, X: Any, probabilities: Any = None) -> Diagnostics:
    """Compare an embedding for classes with the assumptions of the theory.

    Parameters
    ----------
    embedding : LeafMeansEmbedding
        Fitted; of a classifier it is ``embedding_``.
    X : array-like or data frame of shape (n_samples, n_features)
    probabilities : array-like of shape (n_samples, n_classes), default=None
        Class probabilities of the rows, where they are known (simulations) or estimated well.

    Returns
    -------
    diagnostics : Diagnostics

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import LeafMeansEmbedding
    >>> from hedgerow.embedding import diagnose
    >>> X, y = load_iris(return_X_y=True)
    >>> found = diagnose(LeafMeansEmbedding(n_estimators=1).fit(X, y), X)
    >>> found.error_bound.round(3)
    array([0.04])
    """
    encoded = embedding.encode(X)
    if not hasattr(embedding, "classes_"):
        raise ValueError("The theory is about classes: 'embedding' has a numeric target.")
    layer, n_jobs = embedding.layer_, resolve_n_jobs(embedding.n_jobs)
    own_anchors = layer.own_anchors(layer.leaves(encoded, n_jobs))
    squared = layer.squared_distances(layer.numbers(encoded, n_jobs))
    impurity = 1 - layer.values.max(axis=1)
    bound, nearest, rank = [], [], []
    size = np.abs(layer.anchors).max(axis=0)
    anchors_of_size = layer.anchors / np.where(size > 0, size, 1)  # no unit is a missing dimension
    for tree, anchors in enumerate(own_anchors):
        members = np.flatnonzero(layer.tree_of_anchor == tree)
        bound.append(np.average(impurity[members], weights=layer.counts[members]))
        nearest.append(np.mean(members[squared[:, members].argmin(axis=1)] == anchors))
        rank.append(np.linalg.matrix_rank(anchors_of_size[members]))
    epsilon = None
    if probabilities is not None:
        P = check_array(probabilities, input_name="probabilities")
        if P.shape != (len(encoded), len(embedding.classes_)):
            raise ValueError(
                f"'probabilities' must have shape {(len(encoded), len(embedding.classes_))}, "
                f"got {P.shape}."
            )
        epsilon = np.array([max(_diameter(P[a == i]) for i in np.unique(a)) for a in own_anchors])
    return Diagnostics(
        impurity,
        np.array(bound),
        np.array(nearest),
        np.array(rank),
        layer.anchors.shape[1],
        epsilon,
    )


def _diameter(P: np.ndarray) -> float:
    distinct = np.unique(P, axis=0)
    return pdist(distinct, "cityblock").max() if len(distinct) > 1 else 0.0
