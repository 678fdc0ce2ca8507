"""A fitted tree or graph under the names of scikit-learn's ``tree_``.

Code that walks through scikit-learn's trees reads these arrays, and so do scikit-learn's own text
and pictures. Nothing is copied: they are views of the model's :class:`DecisionGraph`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from hedgerow._engine import DecisionGraph, PackedGraphs
from hedgerow._sparse import as_table, issparse


@dataclass(frozen=True, eq=False)
class TreeStructure:
    """The nodes of a fitted model as arrays; node 0 is the root.

    A leaf has children -1, feature and threshold -2. A test on categories has the number of
    categories as threshold, an oblique test the feature -2: :attr:`graph` has what they ask.

    Attributes
    ----------
    graph : DecisionGraph
    n_classes : ndarray of shape (n_outputs,)
        Number of classes of each output, 1 for numbers.
    """

    graph: DecisionGraph
    n_classes: np.ndarray

    @property
    def n_features(self) -> int:
        return self.graph.n_features

    @property
    def n_outputs(self) -> int:
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        return int(self.n_classes.max())

    @property
    def node_count(self) -> int:
        return self.graph.n_nodes

    @property
    def capacity(self) -> int:
        """The same as ``node_count``: nothing is kept in reserve."""
        return self.graph.n_nodes

    @property
    def n_leaves(self) -> int:
        return self.graph.n_leaves

    @property
    def max_depth(self) -> int:
        return self.graph.depth

    @property
    def children_left(self) -> np.ndarray:
        return self.graph.left

    @property
    def children_right(self) -> np.ndarray:
        return self.graph.right

    @property
    def feature(self) -> np.ndarray:
        return self.graph.feature

    @property
    def threshold(self) -> np.ndarray:
        return self.graph.threshold

    @property
    def missing_go_to_left(self) -> np.ndarray:
        return self.graph.missing_left

    @property
    def impurity(self) -> np.ndarray:
        """Impurity of the training rows; zero in members of forests, which keep none."""
        return self.graph.impurity

    @property
    def n_node_samples(self) -> np.ndarray:
        """Number of training rows; zero in members of forests, which keep none."""
        return self.graph.n_samples

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """Weight of the training rows; zero in members of forests, which keep none."""
        return self.graph.weight

    @property
    def value(self) -> np.ndarray:
        """Class shares or means, of shape (node_count, n_outputs, max_n_classes)."""
        return self._by_output(self.graph.value)

    def _by_output(self, values: np.ndarray) -> np.ndarray:
        if (self.n_classes == self.max_n_classes).all():
            return values.reshape(len(values), self.n_outputs, self.max_n_classes)
        out = np.zeros((len(values), self.n_outputs, self.max_n_classes))
        starts = np.cumsum(self.n_classes)[:-1]
        for output, part in enumerate(np.split(values, starts, axis=1)):
            out[:, output, : part.shape[1]] = part
        return out

    def predict(self, X: Any) -> np.ndarray:
        """The values of the leaves that rows end in; ``X`` as ``schema_.encode`` gives it."""
        values = self._by_output(PackedGraphs([self.graph]).predict(_matrix(X)))
        return values[:, 0] if self.n_outputs == 1 else np.squeeze(values, axis=2)

    def apply(self, X: Any) -> np.ndarray:
        """The leaves that rows end in; ``X`` as ``schema_.encode`` gives it."""
        return self.graph.apply(_matrix(X))

    def decision_path(self, X: Any) -> csr_matrix:
        """One where a row passes a node; ``X`` as ``schema_.encode`` gives it."""
        starts, nodes = self.graph.decision_path(_matrix(X))
        shape = (len(starts) - 1, self.node_count)
        return csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, starts), shape=shape)


def _matrix(X: Any) -> Any:
    if issparse(X):
        X = X.tocsr().astype(np.float64)
        X.sum_duplicates()
        return as_table(X)
    X = np.ascontiguousarray(X)
    return X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
