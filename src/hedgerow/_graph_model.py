"""What every estimator with one fitted :class:`DecisionGraph` shares: prediction and inspection.

A model's ``fit`` reads its table with :meth:`GraphModel._read_table` and ends with
:meth:`GraphModel._set_graph`; the rest is here, once for trees and decision graphs.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgerow._engine import DecisionGraph, PackedGraphs, RowPredictor
from hedgerow._parameters import resolve_n_jobs
from hedgerow._table import Schema, check_sample_weight, check_targets_match


def impurity_importances(graph: DecisionGraph) -> np.ndarray:
    """Total impurity decrease by feature, as shares of one."""
    total = np.zeros(graph.n_features)
    splits = np.flatnonzero(graph.feature >= 0)
    lost = graph.weight * graph.impurity
    gain = lost[splits] - lost[graph.left[splits]] - lost[graph.right[splits]]
    np.add.at(total, graph.feature[splits], gain)
    return total / total.sum() if total.sum() > 0 else total


class GraphModel(BaseEstimator):
    """A fitted model that is one decision graph."""

    graph_: DecisionGraph
    schema_: Schema

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Check and remember the training table; return it with targets and weights."""
        self.schema_, X = Schema.learn(self, X, self.categorical_features)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            raise ValueError(f"y has {np.shape(y)[1]} outputs; only one output is supported so far.")
        y = self._read_targets(column_or_1d(y, warn=True))
        check_targets_match(X, y)
        self.n_outputs_ = 1
        return X, y, check_sample_weight(sample_weight, len(y))

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _set_graph(self, graph: DecisionGraph) -> None:
        self.graph_ = graph
        self._packed = None

    def __getstate__(self) -> dict:
        # The packed form is made from the graph again where it is needed.
        return super().__getstate__() | ({"_packed": None} if hasattr(self, "graph_") else {})

    def _values(self, X: Any) -> np.ndarray:
        """The leaf values of each row: class probabilities or one number."""
        check_is_fitted(self)
        encoded = self.schema_.encode(self, X)
        if self._packed is None:
            self._packed = PackedGraphs([self.graph_])
        return self._packed.predict(encoded, resolve_n_jobs(self.n_jobs))

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
        return RowPredictor(self.graph_, labels)

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class GraphClassifier(ClassifierMixin, GraphModel):
    """A classifier that is one decision graph."""

    classes_: np.ndarray
    n_classes_: int

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        return codes.astype(np.int32)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities: the class shares of the leaf that a row ends in.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._values(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self.classes_[self._values(X).argmax(axis=1)]


class GraphRegressor(RegressorMixin, GraphModel):
    """A regressor that is one decision graph."""

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        return check_array(y, ensure_2d=False, dtype=np.float64, order="C", input_name="y")

    def predict(self, X: Any) -> np.ndarray:
        """The value of the leaf that each row ends in.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._values(X)[:, 0]
