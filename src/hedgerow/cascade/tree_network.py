"""Shallow tree networks: two CART trees in cascade.

Section 3.3 of L. Arnould, C. Boyer and E. Scornet, "Analyzing the tree-layer structure of Deep
Forests" (2021). The encoding tree is fitted to the table; its class probabilities (or its number)
are new features for the output tree, beside the raw ones. The output tree gathers leaves of the
encoding tree that say the same, which reduces the variance of a tree that is deep enough.

The table is binned once; the new features are appended to it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, PackedGraphs
from hedgerow._table import Schema
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_FOLDS = 3
_PATIENCE = 4  # depths without improvement before the search for the best one ends

_PARAMETERS = """\
    encoding_depth : int, "cv" or None, default="cv"
        Most splits on a path of the encoding tree (the paper's k). "cv" takes the depth at which a
        single tree is best in 3-fold cross-validation, as the paper does; None sets no limit.
    output_depth : int, "cv" or None, default="cv"
        The same for the output tree (k'); "cv" takes the best depth of the whole network.
    criterion : str, default={criterion}
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        As in the decision tree, for both trees.
    random_state : int, RandomState instance or None, default=None
        Has no effect on CART; kept for scikit-learn's tools.
"""

_MORE_PARAMETERS = """\
    max_bins : int, default=255
        Features with more distinct values are cut into this many quantile bins; None is exact.
    categorical_features : "auto", None or list, default="auto"
        As in the decision tree.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
"""

_ATTRIBUTES = """\
    encoder_ : decision tree
        The fitted first tree.
    output_ : decision tree
        The fitted second tree; its last columns are the new features.
    encoding_depth_, output_depth_ : int or None
        The depth limits used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip().format(criterion=cls._default_criterion),
        more=_MORE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


def _check_depth(name: str, depth: Any) -> None:
    if depth is None or (isinstance(depth, str) and depth == "cv"):
        return
    if not parameters.is_int(depth) or depth < 1:
        raise ValueError(f"'{name}' must be a positive int, 'cv' or None, got {depth!r}.")


def _best_depth(score: Callable[[int], float]) -> int:
    """The depth with the best score, the smaller of equal ones."""
    best, best_score, depth = 1, -np.inf, 1
    while depth - best <= _PATIENCE:
        found = score(depth)
        if found > best_score:
            best, best_score = depth, found
        depth += 1
    return best


class _TreeNetwork(TableModel):
    _tree: type

    def _make_tree(self, depth: int | None) -> Any:
        """A tree of the network, which knows the training table."""
        known = self._tree().get_params()
        shared = {name: value for name, value in self.get_params().items() if name in known}
        tree = self._tree(**shared, max_depth=depth)
        tree._adopt_table(self)
        return tree

    def _append(self, data: Dataset, encoded: np.ndarray) -> None:
        """Append the new features to a binned table."""
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        data.append_numbers(list(encoded.T), parameters.max_bins_code(self.max_bins), n_jobs)

    def _new_names(self) -> list[str]:
        """The names of the new features."""
        raise NotImplementedError

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        """How good the values of unseen rows are; more is better."""
        raise NotImplementedError

    def _choose_depths(self, table: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Set the depth limits that are left to cross-validation."""
        rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        if len(rows) < _FOLDS:
            raise ValueError(
                f"Found {len(rows)} sample(s) while a depth of 'cv' needs at least {_FOLDS}."
            )
        folds = [
            _Fold(self, table, y, weights, rows[train], rows[test])
            for train, test in KFold(_FOLDS, shuffle=True, random_state=0).split(rows)
        ]
        if self.encoding_depth == "cv":
            self.encoding_depth_ = _best_depth(lambda depth: sum(f.score(depth) for f in folds))
        if self.output_depth == "cv":
            for fold in folds:
                fold.append_encoding(self.encoding_depth_)
            self.output_depth_ = _best_depth(lambda depth: sum(f.score(depth) for f in folds))

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the encoding tree, then the output tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        _check_depth("encoding_depth", self.encoding_depth)
        _check_depth("output_depth", self.output_depth)
        table, codes, weights = self._read_table(X, y, sample_weight)
        self._make_tree(None)._check_parameters()
        self.encoding_depth_, self.output_depth_ = self.encoding_depth, self.output_depth
        if "cv" in (self.encoding_depth, self.output_depth):
            self._choose_depths(table, codes, weights)

        self.encoder_ = self._make_tree(self.encoding_depth_)
        data = self.encoder_._load(table)
        self.encoder_._set_graph(self.encoder_._grow(data, codes, weights))
        self._append(data, self.encoder_._values(table))
        self.output_ = self._make_tree(self.output_depth_)
        self.output_.schema_ = self._wider_schema()
        self.output_.n_features_in_ = data.n_features
        self.output_._set_graph(self.output_._grow(data, codes, weights))
        return self

    def _wider_schema(self) -> Schema:
        """The schema with the new features after the raw ones."""
        wider, new = Schema(), self._new_names()
        wider.n_features = self.schema_.n_features + len(new)
        raw = self.schema_.feature_names
        wider.feature_names = None if raw is None else raw + new
        wider.categories, wider.missing = self.schema_.categories, self.schema_.missing
        return wider

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        matrix = self.schema_.encode(self, X)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        encoded = self.encoder_._packed.predict(matrix, n_jobs)
        return self.output_._packed.predict(np.hstack([matrix, encoded]), n_jobs)

    @property
    def n_splits_(self) -> int:
        """Number of tests in both trees."""
        check_is_fitted(self)
        return self.encoder_.n_splits_ + self.output_.n_splits_

    def get_depth(self) -> int:
        """Length of the longest path through both trees."""
        check_is_fitted(self)
        return self.encoder_.get_depth() + self.output_.get_depth()


class _Fold:
    """A part of the rows to grow on and a part to score on, of one binned table."""

    def __init__(self, network: _TreeNetwork, table: Any, y: np.ndarray, weights: Any, train, test):
        self.network, self.y, self.weights = network, y, weights
        self.train, self.test = train.astype(np.uint32), test
        tree = network._make_tree(None)
        self.matrix = network.schema_.encode(network, table)
        self.data = tree._load(table)
        by_class = network._with_class_weight(y, weights)
        self.test_weights = None if by_class is None else by_class[test]

    def _grow(self, depth: int | None) -> PackedGraphs:
        tree = self.network._make_tree(depth)
        return PackedGraphs([tree._grow(self.data, self.y, self.weights, self.train)])

    def score(self, depth: int) -> float:
        """The score of a tree on the test rows, seeing all features that there are."""
        n_jobs = parameters.resolve_n_jobs(self.network.n_jobs)
        values = self._grow(depth).predict(self.matrix[self.test], n_jobs)
        return self.network._score(self.y[self.test], values, self.test_weights)

    def append_encoding(self, depth: int | None) -> None:
        """Append the new features that an encoding tree of the training rows makes."""
        n_jobs = parameters.resolve_n_jobs(self.network.n_jobs)
        encoded = self._grow(depth).predict(self.matrix, n_jobs)
        self.network._append(self.data, encoded)
        self.matrix = np.hstack([self.matrix, encoded])


@_with_parameters
class TreeNetworkClassifier(TableClassifier, _TreeNetwork):
    """Two classification trees in cascade.

    Parameters
    ----------
    {parameters}
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with ``sample_weight``.
    {more}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    The output tree's first split is on a feature that the encoding tree made:

    >>> from hedgerow import TreeNetworkClassifier
    >>> from hedgerow.datasets import make_chessboard
    >>> X, y = make_chessboard(2000, k=4, p=0.9, random_state=0)
    >>> network = TreeNetworkClassifier(encoding_depth=12, output_depth=1).fit(X, y)
    >>> int(network.output_.tree_.feature[0]) >= network.n_features_in_
    True
    """

    _default_criterion = '"gini"'
    _tree = DecisionTreeClassifier

    def __init__(
        self,
        encoding_depth="cv",
        output_depth="cv",
        *,
        criterion="gini",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        random_state=None,
        class_weight=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.encoding_depth = encoding_depth
        self.output_depth = output_depth
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.random_state = random_state
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _new_names(self):
        return [f"probability of {label}" for label in self.classes_]

    def _score(self, y, values, weights):
        return float(accuracy_score(y, values.argmax(axis=1), sample_weight=weights))


@_with_parameters
class TreeNetworkRegressor(TableRegressor, _TreeNetwork):
    """Two regression trees in cascade.

    Parameters
    ----------
    {parameters}
    {more}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeNetworkRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeNetworkRegressor(4, 3).fit(X, y).output_.n_features_in_
    11
    """

    _default_criterion = '"squared_error"'
    _tree = DecisionTreeRegressor

    def __init__(
        self,
        encoding_depth="cv",
        output_depth="cv",
        *,
        criterion="squared_error",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        random_state=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.encoding_depth = encoding_depth
        self.output_depth = output_depth
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.random_state = random_state
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _new_names(self):
        return ["prediction"]

    def _score(self, y, values, weights):
        return -float(mean_squared_error(y, values[:, 0], sample_weight=weights))
