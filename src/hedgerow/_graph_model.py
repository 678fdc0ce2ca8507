"""What every estimator with one fitted :class:`DecisionGraph` shares: prediction and inspection.

A model provides its learner (:mod:`hedgerow._learner`); ``fit`` reads the table, lets the learner
grow and adopts what was grown. The rest is here, once for trees and decision graphs.
"""

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import DecisionGraph, Forest, PackedGraphs, RowPredictor, SparseTable
from hedgerow._estimator import fitted
from hedgerow._learner import Grown, Learner
from hedgerow._parameters import resolve_n_jobs
from hedgerow._shapley import ShapleyModel, Summands
from hedgerow._table import Table
from hedgerow._table_model import OwnTableParameters, TableClassifier, TableModel, TableRegressor
from hedgerow._tree_structure import TreeStructure

LEAF, AXIS, CATEGORY, OBLIQUE = range(4)  # kinds of nodes: no test, x <= t, a set, a weighted sum


def has_oblique_tests(graph: DecisionGraph) -> bool:
    """Whether any test weighs several features."""
    return bool((graph.kind == OBLIQUE).any())


def has_shared_nodes(graph: DecisionGraph) -> bool:
    """Whether a node has several parents, as in a decision graph that is no tree."""
    children = np.concatenate([graph.left, graph.right])
    children = children[children >= 0]
    return len(np.unique(children)) < len(children)


def sum_by_feature(
    graph: DecisionGraph, gain: np.ndarray, scale: np.ndarray | None = None
) -> np.ndarray:
    """What each node gains, added up by feature.

    An oblique test shares its gain among its features by their squared weights, in units of
    ``scale``: by what each adds to the squared distance between the two sides.
    """
    total = np.zeros(graph.n_features)
    splits = np.flatnonzero(graph.feature >= 0)
    np.add.at(total, graph.feature[splits], gain[splits])
    oblique = np.flatnonzero(graph.kind == OBLIQUE)
    if oblique.size:
        arrays = graph.arrays()
        feature, start = arrays["oblique_feature"], arrays["oblique_start"].astype(np.intp)
        weight = np.abs(arrays["oblique_weight"]) * (1.0 if scale is None else scale[feature])
        test = np.repeat(np.arange(len(start) - 1), np.diff(start))
        largest = np.zeros(len(start) - 1)
        np.maximum.at(largest, test, weight)
        share = (weight / largest[test]) ** 2  # squares of tiny weights would vanish
        share /= np.bincount(test, share)[test]
        gain_of_test = np.zeros(len(start) - 1)
        gain_of_test[arrays["detail"][oblique]] = gain[oblique]
        np.add.at(total, feature, share * gain_of_test[test])
    return total


def impurity_importances(graph: DecisionGraph, scale: np.ndarray | None = None) -> np.ndarray:
    """Total impurity decrease by feature, as shares of one."""
    lost = graph.weight * graph.impurity
    gain = np.where(graph.left < 0, 0.0, lost - lost[graph.left] - lost[graph.right])
    total = sum_by_feature(graph, gain, scale)
    return total / total.sum() if total.sum() > 0 else total


def check_graph(model: TableModel, graph: DecisionGraph, n_features: int | None = None) -> None:
    """Refuse a graph that is none of a fitted model's table, after both came out of a file."""
    n_features = model.n_features_in_ if n_features is None else n_features
    if (graph.n_features, graph.n_outputs) != (n_features, model.n_values):
        raise ValueError("the graph has other features or outputs than its model")
    if not set(graph.feature[graph.kind == CATEGORY].tolist()) <= set(model.schema_.categories):
        raise ValueError("the graph tests categories of a feature that has none")
    _check_shares(model, graph.value[graph.kind == LEAF])  # members of forests have no others


def check_forest(model: TableModel, forest: Forest, n_features: int | None = None) -> None:
    """Refuse a forest that is none of a fitted model's table, after both came out of a file."""
    n_features = model.n_features_in_ if n_features is None else n_features
    if (forest.n_features, forest.n_outputs) != (n_features, model.n_values):
        raise ValueError("the forest has other features or outputs than its model")
    _check_shares(model, forest.values)


def _check_shares(model: TableModel, values: np.ndarray) -> None:
    if not hasattr(model, "classes_") or not len(values):
        return
    starts = np.cumsum(model.class_counts) - model.class_counts
    sums = np.add.reduceat(values, starts, axis=1)
    if not (values.min() >= 0 and abs(sums - 1).max() <= 1e-6):
        raise ValueError("the class probabilities of a node do not add up to one")


class Packing:
    """Graphs that are laid out for prediction when that is first asked for.

    Members of a bag are predicted together and never need a layout of their own.
    """

    def __init__(self, graphs: list[DecisionGraph]):
        self._given = graphs

    @cached_property
    def graphs(self) -> PackedGraphs:
        return PackedGraphs(self._given)


def removed_loss(
    graph: DecisionGraph,
    matrix: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None,
    scale: np.ndarray | None = None,
) -> np.ndarray:
    """What the tests of each feature take off the weighted impurity of the given rows.

    Right for shared nodes too: each side of a test counts with the rows that the test sends there.
    Gini impurity for classes (whole numbers), squared error for real numbers. ``scale`` as in
    :func:`sum_by_feature`.
    """
    if targets.dtype.kind == "f":  # squares of numbers far from zero would drown differences
        targets = targets - np.average(targets, weights=weights)
    starts, nodes = graph.decision_path(matrix)
    is_test = graph.left[nodes] >= 0
    row = np.repeat(np.arange(len(matrix)), np.diff(starts))[is_test]
    test, child = nodes[is_test], np.roll(nodes, -1)[is_test]
    side = 2 * test + (child == graph.right[test])
    y, w = targets[row], 1.0 if weights is None else weights[row]
    if targets.dtype.kind == "f":
        powers = [np.broadcast_to(w, row.shape), w * y, w * y * y]
    else:
        powers = [w * (y == k) for k in range(graph.n_outputs)]
    sums = np.array([np.bincount(side, p, 2 * graph.n_nodes) for p in powers])

    def lost(sums: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            if targets.dtype.kind == "f":
                return np.nan_to_num(sums[2] - sums[1] ** 2 / sums[0])
            return np.nan_to_num(sums.sum(axis=0) - (sums**2).sum(axis=0) / sums.sum(axis=0))

    left, right = sums[:, ::2], sums[:, 1::2]
    gain = np.maximum(lost(left + right) - lost(left) - lost(right), 0)  # less is rounding
    return sum_by_feature(graph, gain, scale)


def shared_gains(
    graph: DecisionGraph,
    table: Table,
    rows: np.ndarray | None,
    weights: np.ndarray | None,
    scale: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """The fitted attribute ``gains_`` of a graph with shared nodes; other graphs have none."""
    if not has_shared_nodes(graph):
        return {}
    taken = slice(None) if rows is None else rows
    weights = None if weights is None else weights[taken]
    matrix, targets = table.matrix()[taken], table.targets[taken]
    return {"gains_": removed_loss(graph, matrix, targets, weights, scale)}


class GraphModel(ShapleyModel, OwnTableParameters):
    """A fitted model that is one decision graph."""

    graph_: DecisionGraph = fitted(
        "DecisionGraph", "The fitted graph as columns; node 0 is the root."
    )
    gains_: np.ndarray = fitted(
        "ndarray of shape (n_features,)",
        "What the tests of each feature took off the training loss; only where the nodes do not "
        "tell: in graphs with shared nodes, whose children have rows of other nodes as well, and "
        "in members of forests, which keep no impurities.",
        optional=True,
    )

    def learner(self) -> Learner:
        """What grows this model on rows of a table: its parameters, checked and frozen."""
        raise NotImplementedError(f"{type(self).__name__} has no learner.")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, or a pandas or polars frame whose categorical, boolean and string columns are
            read as categories. NaN, None and NA are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        learner = self.learner()
        table = self.read_table(X, y, sample_weight)
        return self.adopt(table, learner.grow(table, seed=getattr(self, "random_state", None)))

    def adopt(self, table: Table | TableModel, grown: Grown):
        """Become what was grown on a table (or on that of a fitted model); return itself."""
        self.become(table.facts())
        return self._take_over(grown)

    def with_graph(self, grown: Grown):
        """A copy of the fitted model with another graph for the same table."""
        return copy(self)._take_over(grown)

    def _take_over(self, grown: Grown):
        for name in ("gains_", "calibration_"):
            self.__dict__.pop(name, None)  # of an earlier graph
        self.__dict__.update(grown.facts)
        self.graph_ = grown.graph
        self.rebuild()
        return self

    @property
    def _packed(self) -> PackedGraphs:
        return self._packing.graphs

    def check_fitted(self) -> None:
        super().check_fitted()
        check_graph(self, self.graph_)

    def rebuild(self) -> None:
        if hasattr(self, "graph_"):
            self._packing = Packing([self.graph_])

    def _values(self, X: Any) -> np.ndarray:
        """The leaf values of each row: class probabilities or one number."""
        check_is_fitted(self)
        return self.values_of_encoded(self.schema_.rows(self, X, finite=False))

    def values_of_encoded(self, matrix: np.ndarray | SparseTable) -> np.ndarray:
        """The leaf values of each row of what ``schema_.encode`` or ``schema_.rows`` gave."""
        return self._packed.predict(matrix, resolve_n_jobs(self.n_jobs))

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
        return self.graph_.apply(self.schema_.rows(self, X), resolve_n_jobs(self.n_jobs))

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
        starts, nodes = self.graph_.decision_path(self.schema_.rows(self, X))
        shape = (len(starts) - 1, self.graph_.n_nodes)
        return csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, starts), shape=shape)

    def mean_path_length(self, X: Any) -> float:
        """Mean number of tests between the root and the leaf of a row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        length : float
        """
        check_is_fitted(self)
        starts, _ = self.graph_.decision_path(self.schema_.rows(self, X))
        return float(np.diff(starts).mean()) - 1

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
        return RowPredictor(self._packed, self._labels)

    def summands(self) -> Summands:
        return Summands(np.zeros(self.n_values), [[self.graph_]], 1.0)

    @property
    def tree_(self) -> TreeStructure:
        """The nodes under the names of scikit-learn's ``tree_``."""
        check_is_fitted(self)
        return TreeStructure(self.graph_, self.class_counts)

    @property
    def n_splits_(self) -> int:
        """Number of tests in the graph."""
        check_is_fitted(self)
        return self.graph_.n_splits

    @property
    def nbytes_(self) -> int:
        """Bytes that the graph takes in the form that predicts."""
        check_is_fitted(self)
        return self._packed.nbytes

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total decrease of the training loss that each feature brought."""
        check_is_fitted(self)
        gains = getattr(self, "gains_", None)
        if gains is None:
            scale = getattr(self, "scale_", None)
            return impurity_importances(self.graph_, scale)
        return gains / gains.sum() if gains.sum() > 0 else gains

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

    def _best_classes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X, finite=False)
        return self._packed.predict_class(encoded, resolve_n_jobs(self.n_jobs))


class GraphRegressor(TableRegressor, GraphModel):
    """A regressor that is one decision graph."""
