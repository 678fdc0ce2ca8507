"""Classification and regression trees (CART), drop-in for scikit-learn's.

Greedy binary splits by the largest decrease of Gini impurity, entropy, squared error or Poisson
deviance, on numbers, categories and missing values as they are. Grown by the engine
(``cpp/grow``); this module checks parameters and speaks scikit-learn.

Differences from scikit-learn, all of them on purpose: ties between equally good splits go to the
lowest feature and threshold, so the default tree is the same in every run; features with more than
``max_bins`` distinct values are binned (``max_bins=None`` is exact); ``tree_`` is a
:class:`DecisionGraph`.
"""

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, DecisionGraph, GrowParams, grow, prune, pruning_path
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor

_SHARED_PARAMETERS = """\
    max_depth : int, default=None
        Most splits on a path from the root to a leaf.
    min_samples_split : int or float, default=2
        A node with fewer rows (or a smaller share of all rows) is not split.
    min_samples_leaf : int or float, default=1
        A split must leave this many rows (or this share) on both sides.
    min_weight_fraction_leaf : float, default=0.0
        A split must leave this share of the total weight on both sides.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Features looked at for each split, drawn anew for each node; None means all.
    random_state : int, RandomState instance or None, default=None
        For ``splitter="random"`` and ``max_features``. The default tree needs no chance.
    max_leaf_nodes : int, default=None
        Grow best-first until this many leaves.
    min_impurity_decrease : float, default=0.0
        A split must decrease the impurity by this much, weighted by the node's share of the
        rows. At 0 splits without gain are allowed, as in scikit-learn: XOR needs them.
"""

_ENGINE_PARAMETERS = """\
    ccp_alpha : non-negative float, default=0.0
        Price of a leaf in minimal cost-complexity pruning.
    monotonic_cst : None
        Not supported yet.
    max_bins : int, default=255
        Features with more distinct values are cut into this many quantile bins; up to 255 bins a
        cell takes one byte. None keeps every distinct value (up to 65,535; beyond, bins).
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
"""

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
        shared=_SHARED_PARAMETERS.strip(),
        engine=_ENGINE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


class _DecisionTree(GraphModel):
    _criteria: dict[str, str]
    _future_criteria: tuple[str, ...] = ()

    def _check_parameters(self) -> None:
        if self.criterion in self._future_criteria:
            raise NotImplementedError(
                f"'criterion' {self.criterion!r} is not supported yet; use one of "
                + ", ".join(repr(name) for name in self._criteria)
                + "."
            )
        parameters.check_option("criterion", self.criterion, self._criteria)
        parameters.check_option("splitter", self.splitter, ("best", "random"))
        parameters.check_int("max_depth", self.max_depth, low=1, optional=True)
        parameters.check_int("max_leaf_nodes", self.max_leaf_nodes, low=2, optional=True)
        parameters.check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0, high=0.5)
        parameters.check_real("min_impurity_decrease", self.min_impurity_decrease, low=0)
        parameters.check_real("ccp_alpha", self.ccp_alpha, low=0)
        if self.monotonic_cst is not None:
            raise NotImplementedError(
                "'monotonic_cst' is not supported yet; leave it at None."
            )

    def _grow_params(self, data: Dataset, total_weight: float, n_classes: int) -> GrowParams:
        most = np.iinfo(np.int32).max  # no node has more rows, levels or leaves than this
        split = parameters.count_or_share(
            "min_samples_split", self.min_samples_split, data.n_rows, low=2
        )
        leaf = parameters.count_or_share(
            "min_samples_leaf", self.min_samples_leaf, data.n_rows, low=1
        )
        return GrowParams(
            criterion=self._criteria[self.criterion],
            splitter=self.splitter,
            n_classes=n_classes,
            max_depth=-1 if self.max_depth is None else min(int(self.max_depth), most),
            max_leaf_nodes=-1
            if self.max_leaf_nodes is None
            else min(int(self.max_leaf_nodes), most),
            max_features=parameters.features_to_try(self.max_features, data.n_features),
            min_samples_split=min(split, most),
            min_samples_leaf=min(leaf, most),
            min_weight_leaf=self.min_weight_fraction_leaf * total_weight,
            min_impurity_decrease=float(self.min_impurity_decrease),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> DecisionGraph:
        """Read, bin and grow; the whole tree before pruning."""
        self._check_parameters()
        max_bins = parameters.max_bins_code(self.max_bins)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        X, y, weights = self._read_table(X, y, sample_weight)
        weights = self._with_class_weight(y, weights)
        data = self.schema_.bin(X, max_bins, n_jobs)
        self.max_features_ = parameters.features_to_try(self.max_features, data.n_features)
        total = float(len(y) if weights is None else weights.sum())
        params = self._grow_params(data, total, getattr(self, "n_classes_", 0))
        return grow(data, None, y, weights, params, n_jobs)

    def _with_class_weight(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        return weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the tree.

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
        graph = self._fit(X, y, sample_weight)
        self._set_graph(prune(graph, float(self.ccp_alpha)) if self.ccp_alpha > 0 else graph)
        return self

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
        unpruned = type(self)(**(self.get_params(deep=False) | {"ccp_alpha": 0.0}))
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
    3
    """

    _criteria = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}

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

    def _with_class_weight(self, y, weights):
        if self.class_weight is None:
            return weights
        if not isinstance(self.class_weight, dict):
            parameters.check_option("class_weight", self.class_weight, ("balanced",))
        by_class = compute_sample_weight(self.class_weight, self.classes_[y])
        return by_class if weights is None else weights * by_class


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

    _criteria = {"squared_error": "squared_error", "poisson": "poisson"}
    _future_criteria = ("absolute_error", "friedman_mse")

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
        y = super()._read_targets(y)
        if self.criterion == "poisson" and (y.min() < 0 or y.sum() <= 0):
            raise ValueError(
                "criterion 'poisson' needs targets that are not negative and not all zero, "
                f"got a smallest target of {y.min():g}."
            )
        return y
