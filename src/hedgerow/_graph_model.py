"""What every estimator with one fitted :class:`DecisionGraph` shares: prediction and inspection.

A model's ``fit`` ends with :meth:`GraphModel._set_graph`; the rest is here, once for trees and
decision graphs.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import DecisionGraph, PackedGraphs, RowPredictor
from hedgerow._parameters import resolve_n_jobs
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor


def impurity_importances(graph: DecisionGraph) -> np.ndarray:
    """Total impurity decrease by feature, as shares of one."""
    total = np.zeros(graph.n_features)
    splits = np.flatnonzero(graph.feature >= 0)
    lost = graph.weight * graph.impurity
    gain = lost[splits] - lost[graph.left[splits]] - lost[graph.right[splits]]
    np.add.at(total, graph.feature[splits], gain)
    return total / total.sum() if total.sum() > 0 else total


class GraphModel(TableModel):
    """A fitted model that is one decision graph."""

    graph_: DecisionGraph
    _packed: PackedGraphs

    def _set_graph(self, graph: DecisionGraph) -> None:
        self.graph_ = graph
        self._packed = PackedGraphs([graph])

    def __getstate__(self) -> dict:
        state = dict(super().__getstate__())
        state.pop("_packed", None)  # made from the graph again
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if "graph_" in state:
            self._set_graph(self.graph_)

    def _values(self, X: Any) -> np.ndarray:
        """The leaf values of each row: class probabilities or one number."""
        check_is_fitted(self)
        return self._packed.predict(self.schema_.encode(self, X), resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf that each row ends in.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.graph_.apply(self.schema_.encode(self, X), resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row passes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            One where the row passes the node.
        """
        check_is_fitted(self)
        starts, nodes = self.graph_.decision_path(self.schema_.encode(self, X))
        shape = (len(starts) - 1, self.graph_.n_nodes)
        return csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, starts), shape=shape)

    def row_predictor(self) -> RowPredictor:
        """A fast lane for one row at a time.

        Returns
        -------
        predictor : RowPredictor
            ``predictor(row)`` predicts a one-dimensional float array in about a microsecond;
            ``predictor.values(row)`` gives the probabilities. Nothing is checked but the length.
            Categories are given as their codes, see ``schema_.encode``.
        """
        check_is_fitted(self)
        labels = self.classes_.tolist() if hasattr(self, "classes_") else None
        return RowPredictor(self._packed, labels)

    @property
    def tree_(self) -> DecisionGraph:
        """The same as ``graph_``, under scikit-learn's name."""
        check_is_fitted(self)
        return self.graph_

    @property
    def n_splits_(self) -> int:
        """Number of tests in the graph."""
        check_is_fitted(self)
        return self.graph_.n_splits

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total impurity decrease that each feature brought."""
        check_is_fitted(self)
        return impurity_importances(self.graph_)

    def get_depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        check_is_fitted(self)
        return self.graph_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.graph_.n_leaves


class GraphClassifier(TableClassifier, GraphModel):
    """A classifier that is one decision graph."""


class GraphRegressor(TableRegressor, GraphModel):
    """A regressor that is one decision graph."""
