"""Classification and regression trees (CART), drop-in for scikit-learn's.

Greedy binary splits by the largest decrease of Gini impurity, entropy, squared error or Poisson
deviance, on numbers, categories and missing values as they are. Grown by the engine
(``cpp/grow``); this module checks parameters and speaks scikit-learn.

Differences from scikit-learn, all of them on purpose: ties between equally good splits are always
settled the same way, so the default tree is the same in every run; features with more than
``max_bins`` distinct values are binned (``max_bins=None`` is exact); ``tree_`` is a
:class:`DecisionGraph`.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, DecisionGraph, grow, pruning_path
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow._growth import (
    CLASSIFICATION_CRITERIA,
    ENGINE_PARAMETERS,
    GROWTH_PARAMETERS,
    REGRESSION_CRITERIA,
    check_growth,
    check_poisson,
    grow_params,
    total_weight,
)

_ATTRIBUTES = """\
    graph_ : DecisionGraph
        The fitted tree as columns, in preorder; ``tree_`` is the same.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        shared=GROWTH_PARAMETERS.strip(),
        engine=ENGINE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


class _DecisionTree(GraphModel):
    _criteria: ClassVar[dict[str, str]]

    def _check_parameters(self) -> None:
        check_growth(self, self._criteria)
        parameters.check_option("splitter", self.splitter, ("best", "random"))

    def _load(self, X: Any) -> Dataset:
        return self.schema_.bin(
            X, parameters.max_bins_code(self.max_bins), parameters.resolve_n_jobs(self.n_jobs)
        )

    def _grow(
        self, table: Dataset, y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        weights = self._with_class_weight(y, weights)
        self.max_features_ = parameters.features_to_try(self.max_features, table.n_features)
        random = check_random_state(self.random_state)
        draws = self.splitter == "random" or self.max_features_ < table.n_features
        params = grow_params(
            self,
            self._criteria[self.criterion],
            splitter=self.splitter,
            n_rows=len(y) if rows is None else len(rows),
            n_features=table.n_features,
            total_weight=total_weight(y, weights, rows),
            n_classes=getattr(self, "n_classes_", 0),
            seed=int(random.randint(2**31 - 1)) if draws else 0,
            ccp_alpha=self.ccp_alpha,
        )
        return grow(table, rows, y, weights, params, parameters.resolve_n_jobs(self.n_jobs))

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


@_with_parameters
class DecisionTreeClassifier(GraphClassifier, _DecisionTree):
    """A classification tree.

    Parameters
    ----------
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        What a split decreases; "log_loss" is another name of "entropy".
    splitter : {{"best", "random"}}, default="best"
        The best threshold of each feature, or the best of one random threshold per feature.
    {shared}
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with ``sample_weight``.
    {engine}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.n_splits_
    2
    """

    _criteria = CLASSIFICATION_CRITERIA

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs


@_with_parameters
class DecisionTreeRegressor(GraphRegressor, _DecisionTree):
    """A regression tree.

    Parameters
    ----------
    criterion : {{"squared_error", "poisson"}}, default="squared_error"
        What a split decreases. "poisson" is for counts: targets must not be negative.
    splitter : {{"best", "random"}}, default="best"
        The best threshold of each feature, or the best of one random threshold per feature.
    {shared}
    {engine}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y).get_n_leaves()
    5
    """

    _criteria = REGRESSION_CRITERIA

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _read_targets(self, y):
        return check_poisson(self.criterion, super()._read_targets(y))
