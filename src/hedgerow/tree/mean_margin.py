"""Mean-margin trees: oblique splits half-way between the means of two groups of rows.

After M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small heterogeneous is
better than large homogeneous" (2008). A node divides its rows into two groups by their labels, and
tests on which side of the plane between the two group means a row lies: no search, no parameter,
one pass for the means and one product with the rows of the node. Grown by the engine
(``cpp/margin``); this module checks parameters and speaks scikit-learn.

Beyond the paper: ``standardize`` (the paper's trees are ``standardize=False``), limits of growth,
pruning, weights, and a fixed start of the power method in place of a random one, so that a tree
is the same in every run.
"""

from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, MarginParams, grow_mean_margin, standard_scale
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor, impurity_importances
from hedgerow._growth import total_weight

_PARAMETERS = """\
    standardize : bool, default=True
        Measure every number in its standard deviations, so that no feature counts for more
        because of its unit. False is the tree of the paper.
    max_depth : int, default=None
        Most splits on a path from the root to a leaf.
    min_samples_split : int or float, default=2
        A node with fewer rows (or a smaller share of all rows) is not split.
    min_samples_leaf : int or float, default=1
        A node whose split would leave fewer rows (or a smaller share) on a side is a leaf.
    min_weight_fraction_leaf : float, default=0.0
        The same for the share of the total weight.
    ccp_alpha : non-negative float, default=0.0
        Price of a leaf in minimal cost-complexity pruning.
"""

_TABLE_PARAMETERS = """\
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
"""

_ATTRIBUTES = """\
    graph_ : DecisionGraph
        The fitted tree as columns, in preorder; ``tree_`` is the same.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations that the numbers are measured in; None without ``standardize``.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances; a split counts for each feature by its part in the squared
        distance of the two means.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip(),
        table=_TABLE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


class _MeanMarginTree(GraphModel):
    scale_: np.ndarray | None

    def _check_parameters(self) -> None:
        parameters.check_bool("standardize", self.standardize)
        parameters.check_int("max_depth", self.max_depth, low=1, optional=True)
        parameters.check_real(
            "min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0, high=0.5
        )
        parameters.check_real("ccp_alpha", self.ccp_alpha, low=0)

    def _load(self, X: Any) -> np.ndarray:
        matrix = self.schema_.encode(self, X)
        self.schema_.missing = set(np.flatnonzero(np.isnan(matrix).any(axis=0)).tolist())
        return matrix

    def _grow(
        self, table: np.ndarray, y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        weights = self._with_class_weight(y, weights)
        n_rows = len(table) if rows is None else len(rows)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        split = parameters.count_or_share(
            "min_samples_split", self.min_samples_split, n_rows, low=2
        )
        leaf = parameters.count_or_share("min_samples_leaf", self.min_samples_leaf, n_rows, low=1)
        limits = MarginParams(
            max_depth=-1 if self.max_depth is None else int(self.max_depth),
            min_samples_split=split,
            min_samples_leaf=leaf,
            min_weight_leaf=float(self.min_weight_fraction_leaf * total_weight(y, weights, rows)),
            ccp_alpha=float(self.ccp_alpha),
        )
        categories = self.schema_.categories
        sizes = [len(categories.get(feature, ())) for feature in range(table.shape[1])]
        n_categories = np.array(sizes, dtype=np.uint32)
        self.scale_ = None
        if self.standardize:
            self.scale_ = standard_scale(table, n_categories, rows, weights, n_jobs)
        n_classes = getattr(self, "n_classes_", 0)
        return grow_mean_margin(
            table, n_categories, rows, y, weights, n_classes, self.scale_, limits, n_jobs
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers below 1e100 in size, or a pandas or polars frame whose categorical, boolean and
            string columns are read as categories. NaN, None and NA are missing values: a missing
            number is left out, a missing category counts as equal shares of all categories.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regressor
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        return super().fit(X, y, sample_weight)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total impurity decrease that each feature brought."""
        return impurity_importances(self.tree_, self.scale_)


@_with_parameters
class MeanMarginTreeClassifier(GraphClassifier, _MeanMarginTree):
    """A classification tree whose tests lie half-way between the means of two groups of classes.

    With two classes a node compares them; with more, the first principal component of the class
    labels divides the classes into two groups, anew in every node.

    Parameters
    ----------
    {parameters}
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with ``sample_weight``.
    {table}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import MeanMarginTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> MeanMarginTreeClassifier(max_depth=2).fit(X, y).get_n_leaves()
    3
    """

    def __init__(
        self,
        *,
        standardize=True,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.standardize = standardize
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs


@_with_parameters
class MeanMarginTreeRegressor(GraphRegressor, _MeanMarginTree):
    """A regression tree whose tests lie half-way between the means of low and high targets.

    With one output a node compares the rows below its mean target with the others; with several,
    the first principal component of the targets divides the rows.

    Parameters
    ----------
    {parameters}
    {table}

    Attributes
    ----------
    n_outputs_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import MeanMarginTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MeanMarginTreeRegressor(min_samples_leaf=30).fit(X, y).predict(X[:1]).round()
    array([213.])
    """

    _many_outputs = True

    def __init__(
        self,
        *,
        standardize=True,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        ccp_alpha=0.0,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.standardize = standardize
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
