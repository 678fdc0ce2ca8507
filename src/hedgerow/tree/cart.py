"""Classification and regression trees (CART), drop-in for scikit-learn's.

Greedy binary splits by the largest decrease of Gini impurity, entropy, squared or absolute error,
pinball loss or Poisson deviance, on numbers, categories and missing values as they are. Grown by
the engine (``cpp/grow``); this module checks parameters and speaks scikit-learn.

Differences from scikit-learn, all of them on purpose: ties between equally good splits are always
settled the same way, so the default tree is the same in every run; features with more than
``max_bins`` distinct values are binned (``max_bins=None`` is exact); ``tree_`` is a
:class:`DecisionGraph`.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch

from hedgerow import _parameters as parameters
from hedgerow._directions import directions_of
from hedgerow._engine import DecisionGraph, GrowParams, grow, merge_siblings, pruning_path
from hedgerow._estimator import fitted, parameter
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    GINI_TEXT,
    MERGE_TEXT,
    REGRESSION_CRITERION,
    REGRESSION_TEXT,
    FeatureDrawParameter,
    GrowthParameters,
    MonotonicParameter,
    QuantileParameter,
    check_criterion,
    grow_params,
)
from hedgerow._learner import Grown, Learner, n_rows_of, weight_of
from hedgerow._several_outputs import SeveralOutputsClassifier
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter


class CartLearner(Learner):
    """Grows a tree by greedy binary splits."""

    def check_table(self, table: Table) -> None:
        check_criterion(self.settings.criterion, table.targets)
        if table.n_outputs > 1 and getattr(self.settings, "merge_siblings", False):
            raise ValueError("'merge_siblings' is for one output; y has several.")

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The tree of some rows of a table; see :meth:`Learner.grow`."""
        given = self.settings
        self.check_table(table)
        weights = table.weighed(getattr(given, "class_weight", None), weights)
        weight = weight_of(table, weights, rows)
        params = self.params(table, n_rows_of(table, rows), weight, seed)
        data = table.bins(given.max_bins, self.n_jobs)
        graph = grow(data, rows, table.targets, weights, params, self.n_jobs)
        return self.finished(table, graph)

    def params(
        self, table: Table, n_rows: int, weight: float, seed: Any = None, stem: Any = None
    ) -> GrowParams:
        """The engine's parameters for a tree of so many rows of a table, of so much weight.

        ``stem`` is where it continues a larger tree: its depth, its key and the weight of all rows.
        """
        given, max_features = self.settings, self._features_to_try(table)
        splitter = getattr(given, "splitter", "best")
        draws = splitter == "random" or max_features < table.n_features
        return grow_params(
            given,
            n_rows=n_rows,
            n_features=table.n_features,
            n_classes=table.n_classes,
            class_counts=table.class_counts,
            total_weight=weight,
            seed=parameters.tree_seed(seed) if draws else 0,
            splitter=splitter,
            monotonic=directions_of(getattr(given, "monotonic_cst", None), table),
            stem=stem,
        )

    def finished(self, table: Table, graph: DecisionGraph) -> Grown:
        """What a tree of a table, grown and pruned, becomes."""
        if getattr(self.settings, "merge_siblings", False):
            graph = merge_siblings(graph)
        return Grown(graph, {"max_features_": self._features_to_try(table)})

    def _features_to_try(self, table: Table) -> int:
        max_features = getattr(self.settings, "max_features", None)
        return parameters.features_to_try(max_features, table.n_features)


class _DecisionTree(GraphModel, FeatureDrawParameter, MonotonicParameter, GrowthParameters):
    splitter: str = parameter(
        "best",
        parameters.option("best", "random"),
        "The best threshold of each feature, or the best of one random threshold per feature.",
    )
    random_state: Any = parameter(
        None,
        parameters.SEED,
        'For ``splitter="random"`` and ``max_features``. The default tree needs no chance.',
    )

    max_features_: int = fitted(
        "int", "Features looked at for each split; not for members of forests.", optional=True
    )

    def learner(self) -> CartLearner:
        return CartLearner(self.settings())

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The effective alphas of minimal cost-complexity pruning, and the leaf impurity at each.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        path : Bunch
            ``ccp_alphas`` and ``impurities``.
        """
        unpruned = clone(self).set_params(ccp_alpha=0.0)
        alphas, impurities = pruning_path(unpruned.fit(X, y, sample_weight).graph_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)


class DecisionTreeClassifier(
    SeveralOutputsClassifier, GraphClassifier, ClassWeightParameter, _DecisionTree
):
    """A classification tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.n_splits_
    2
    """

    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, GINI_TEXT)
    merge_siblings: bool = parameter(False, parameters.FLAG, MERGE_TEXT)


class DecisionTreeRegressor(GraphRegressor, QuantileParameter, _DecisionTree):
    """A regression tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y).get_n_leaves()
    5
    """

    criterion: str = parameter("squared_error", REGRESSION_CRITERION, REGRESSION_TEXT)
    _many_outputs = True
