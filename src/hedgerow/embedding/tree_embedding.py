"""Tree embedding models: the leaf-means embedding with a linear head.

Shen, Dong and Priebe, "Decision Tree Embedding by Leaf-Means". With the linear activation both
layers are linear, and so is the model: it is fitted in rank(W) dimensions without forming the
embedding, and predicts with one matrix, ``collapsed_``. With another activation it is a network of
two layers whose first comes from trees and whose second has a closed form.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.special import softmax
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._growth import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor
from hedgerow.embedding import heads
from hedgerow.embedding.blending import (
    Blend,
    Part,
    blend,
    multiples_of_numbers,
    multiples_of_scores,
)
from hedgerow.embedding.leaf_means import LeafMeansEmbedding, TrainingRows, activation_names
from hedgerow.embedding.penalised import Layer, penalised_lda, ridge
from hedgerow.embedding.torch_module import as_module

HEADS = ("ridge", "lda", "shrunken_lda", "logistic", "indicator")
AUTO = ("raw", "rbf", "vote")
_ROWS_AT_ONCE = 1 << 11  # predicted at one time: their embedding stays in the cache

_SHARED_PARAMETERS = """\
    max_anchors : int, default=16
        Most anchors per tree, None for all leaves.
    intercept : {{"method", "theory", "half"}}, default="half"
        See :class:`LeafMeansEmbedding`.
    standardize : bool, default=True
        Centre all columns and scale them to unit variance before leaf means are taken.
    impute : {{"mean", "leaf"}}, default="mean"
        What a missing value is, see :class:`LeafMeansEmbedding`.
    bandwidth : float, default=None
        Width of "rbf" and "softmax"; None takes it from the data.
    n_components : int, default=None
        Fit the head on this many principal components of the layer; None takes all its columns.
    penalty : float, default=None
        Price of the squared coefficients of "ridge" and "logistic", for columns of unit variance
        and a mean loss. None chooses that of "ridge" by leave-one-out and is 1e-3 for "logistic".
"""

_TREE_PARAMETERS = """\
    max_depth : int, default=None
    max_leaf_nodes : int, default=None
    min_samples_leaf : int or float, default=0.0002
        A float is a share of the rows: one row up to 5,000 of them.
    max_features : int, float, {{"sqrt", "log2"}}, default=None
    max_bins : int, default=255
        Of the trees, as in :class:`DecisionTreeClassifier`.
    categorical_features : "auto", None or list, default="auto"
        As in :class:`DecisionTreeClassifier`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads for growing and walking trees. Matrix products use what NumPy is set to.
"""

_ATTRIBUTES = """\
    embedding_ : LeafMeansEmbedding
        The first layer: ``anchors_``, ``intercept_`` and so on.
    activation_ : str or tuple of str
        The first layer; the one that was chosen for "auto".
    blend_ : Blend
        For "auto", the multiple of each head and its loss on rows left out.
    coef_ : ndarray of shape (n_features_out, n_outputs)
        The second layer, on the columns of :meth:`transform`.
    intercept_ : ndarray of shape (n_outputs,)
    collapsed_ : ndarray of shape (n_columns, n_outputs)
        Both layers as one matrix, on the columns of ``embedding_.numeric``; only for the
        activations "linear" and "raw".
    collapsed_intercept_ : ndarray of shape (n_outputs,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only for data frames with string names.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        shared=_SHARED_PARAMETERS.strip(),
        tree=_TREE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


class _TreeEmbedding(TransformerMixin, TableModel):
    embedding_: LeafMeansEmbedding
    head = "ridge"

    def __init__(
        self,
        n_trees=10,
        *,
        activation="auto",
        max_anchors=16,
        intercept="half",
        standardize=True,
        impute="mean",
        bandwidth=None,
        n_components=None,
        penalty=None,
        criterion="squared_error",
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_leaf=0.0002,
        max_features=None,
        max_bins=255,
        categorical_features="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.n_trees = n_trees
        self.activation = activation
        self.max_anchors = max_anchors
        self.intercept = intercept
        self.standardize = standardize
        self.impute = impute
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.penalty = penalty
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_model(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.penalty is not None and not (
            parameters.is_real(self.penalty) and 0 < self.penalty < np.inf
        ):
            raise ValueError(f"'penalty' must be a positive number or None, got {self.penalty!r}.")
        parameters.check_int("n_components", self.n_components, low=1, optional=True)
        for name in ("coef_", "intercept_", "collapsed_", "collapsed_intercept_", "blend_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another head or activation
        names = LeafMeansEmbedding().get_params()
        given = {name: getattr(self, name) for name in names}
        if isinstance(self.activation, str) and self.activation == "auto":
            given["activation"] = AUTO if self.n_trees != 1 else AUTO[:-1]
        self.embedding_ = LeafMeansEmbedding(**given)
        rows = self.embedding_._fit(X, y, sample_weight)
        for name in ("schema_", "n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.embedding_, name):
                setattr(self, name, getattr(self.embedding_, name))
        if self.head != "indicator":
            self._fit_head(rows)
        self.activation_ = self.embedding_.activation

    def _fit_head(self, rows: TrainingRows) -> None:
        used = slice(None) if rows.weights is None else rows.weights > 0
        weights = None if rows.weights is None else rows.weights[used]
        numbers, targets = rows.numbers[used], rows.targets[used]
        if self.activation == "linear":
            self._fit_collapsed(numbers, targets, weights)
            return
        votes = None if rows.votes is None else rows.votes[used]
        Z = self.embedding_._layer(rows.encoded[used], numbers, votes)
        if self.activation == "auto":
            self._fit_blend(numbers, Z, targets, weights)
        else:
            self.coef_, self.intercept_ = self._head(Z, targets, weights)
        if activation_names(self.embedding_.activation) == ("raw",):
            self.collapsed_, self.collapsed_intercept_ = self.coef_, self.intercept_

    def _fit_blend(self, numbers: np.ndarray, Z: np.ndarray, targets: Any, weights: Any) -> None:
        """Blend heads on the whole layer and on its parts; without trees if they are of no use.

        The numbers alone are taken in the units of the table and in those of their spread, which
        matters because a penalty is the same for all columns.
        """
        width, n_anchors = numbers.shape[1], len(self.embedding_.anchors_)
        units = self.embedding_._view.scale if self.standardize else np.ones(width)
        parts = {
            "raw, unscaled": Part(slice(width), 1 / units),
            "raw": Part(slice(width)),
            "all": Part(slice(None)),
        }
        if "vote" in self.embedding_.activation:
            parts["vote"] = Part(slice(width + n_anchors, None))
        self.blend_ = self._blend(Z, targets, weights, parts)
        straight = not any(self.blend_.multiples[name] for name in list(parts)[2:])
        if straight:
            self.embedding_.activation = "raw"
        if self.head != "ridge":
            self.coef_, self.intercept_ = self._head(numbers if straight else Z, targets, weights)
        else:
            self.coef_ = self.blend_.coef[:width] if straight else self.blend_.coef
            self.intercept_ = self.blend_.intercept

    def _fit_collapsed(self, numbers: np.ndarray, targets: np.ndarray, weights: Any) -> None:
        """Fit the head on the rows' coordinates in the row space of the anchors W.

        A linear head on Z = X W' + b sees of X just that, and cannot see b.
        """
        anchors = self.embedding_.anchors_
        # Columns of equal size first: a small unit must not look like a missing dimension.
        size = np.abs(anchors).max(axis=0)
        size[size == 0] = 1.0
        left, values, right = np.linalg.svd(anchors / size, full_matrices=False)
        kept = values > max(anchors.shape) * np.spacing(values[0])
        if kept.sum() == anchors.shape[1]:
            head = self._head(numbers, targets, weights)
            self.collapsed_ = head.coef
        else:
            basis = self._basis(right[kept].T * size[:, None])
            head = self._head(numbers, targets, weights, basis)
            self.collapsed_ = basis @ head.coef
        self.collapsed_intercept_ = head.intercept
        inner = right[kept] @ (self.collapsed_ / size[:, None])
        self.coef_ = left[:, kept] @ (inner / values[kept, None])
        self.intercept_ = head.intercept - self.embedding_.intercept_ @ self.coef_

    def _basis(self, spanning: np.ndarray) -> np.ndarray:
        """A basis of the same span, orthogonal for columns of unit variance.

        Rows in the order of their size and pivoted columns keep a QR decomposition exact in every
        row, whatever the units of measurement.
        """
        if spanning.shape[1] == 0:  # all anchors are zero
            return np.zeros((len(spanning), 1))
        spread = self.embedding_._view.scale if not self.standardize else np.ones(len(spanning))
        rows = spanning * spread[:, None]
        order = np.argsort(-np.abs(rows).max(axis=1))
        orthogonal = np.empty_like(rows)
        orthogonal[order] = qr(rows[order], mode="economic", pivoting=True)[0]
        return orthogonal / spread[:, None]

    def _head(self, Z: np.ndarray, targets: Any, weights: Any, basis: Any = None) -> heads.Head:
        """The head that the parameters ask for, on ``Z @ basis`` if there is a basis."""
        raise NotImplementedError

    def _blend(self, Z: np.ndarray, targets: np.ndarray, weights: Any, parts: dict) -> Blend:
        raise NotImplementedError

    @property
    def n_splits_(self) -> int:
        """Number of tests in the trees behind the anchors."""
        check_is_fitted(self)
        return sum(graph.n_splits for graph in self.embedding_.graphs_)

    def transform(self, X: Any) -> np.ndarray:
        """The first layer alone: the embedding of some rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self.embedding_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the embedding's columns, see :class:`LeafMeansEmbedding`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where training saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return self.embedding_.get_feature_names_out(input_features)

    def to_torch(self):
        """The fitted model as a PyTorch module, which needs the package ``torch``.

        Returns
        -------
        module : torch.nn.Module
            Its input are rows as ``embedding_.encode`` gives them, in float64: for a table of
            numbers the table itself. Its output is that of ``decision_function`` (``predict`` for
            a regressor). Anchors and head are parameters, trees are fixed. The head "indicator"
            is not a layer and cannot be had.
        """
        check_is_fitted(self)
        return as_module(self)

    def _scores(self, X: Any) -> np.ndarray:
        """One column per output, of some rows."""
        check_is_fitted(self)
        encoded = self.embedding_.encode(X)
        if hasattr(self, "collapsed_"):
            return self.embedding_._linear(encoded, self.collapsed_, self.collapsed_intercept_)
        votes = self.embedding_._votes(encoded)
        coef = self.coef_.astype(encoded.dtype)
        out = np.empty((len(encoded), len(self.intercept_)))
        for begin in range(0, len(encoded), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            part = encoded[rows]
            Z = self.embedding_._layer(
                part, self.embedding_._numbers(part), None if votes is None else votes[rows]
            )
            out[rows] = Z @ coef + self.intercept_
        return out


@_with_parameters
class TreeEmbeddingClassifier(TableClassifier, _TreeEmbedding):
    """Leaf means of a few trees as the first layer, a linear head as the second.

    Parameters
    ----------
    n_trees : int, default=10
        The first tree grows on all rows, the others on bootstrap samples.
    activation : str or tuple of str, default="auto"
        The first layer, see :class:`LeafMeansEmbedding`; "linear" is the paper's. "auto" blends
        heads "ridge" on ("raw", "rbf", "vote") and on parts of it, by their loss on rows left out,
        and drops what is of no use. Other heads get the columns that are left.
    head : {{"ridge", "lda", "shrunken_lda", "logistic", "indicator"}}, default="ridge"
        "ridge" is discriminant analysis with a quadratic penalty, the same as in the space of ridge
        regressions of the class indicators; "lda" is the paper's, with the pseudo-inverse of the
        covariance; "indicator" gives the most frequent class of the nearest anchor and looks at no
        activation.
    shrinkage : float, {{"ledoit_wolf", "oas"}}, default="ledoit_wolf"
        How far "shrunken_lda" moves correlations towards zero.
    {shared}
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        What the trees' splits decrease.
    {tree}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    {attributes}

    Notes
    -----
    The model of the paper, with t trees, is ``TreeEmbeddingClassifier(t, activation="linear",
    head="lda", max_anchors=None, standardize=False, min_samples_leaf=10, max_bins=30)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from hedgerow import TreeEmbeddingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(cross_val_score(TreeEmbeddingClassifier(random_state=0), X, y).mean() > 0.95)
    True
    """

    def __init__(
        self,
        n_trees=10,
        *,
        activation="auto",
        head="ridge",
        shrinkage="ledoit_wolf",
        max_anchors=16,
        intercept="half",
        standardize=True,
        impute="mean",
        bandwidth=None,
        n_components=None,
        penalty=None,
        criterion="gini",
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_leaf=0.0002,
        max_features=None,
        max_bins=255,
        categorical_features="auto",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            n_trees,
            activation=activation,
            max_anchors=max_anchors,
            intercept=intercept,
            standardize=standardize,
            impute=impute,
            bandwidth=bandwidth,
            n_components=n_components,
            penalty=penalty,
            criterion=criterion,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
            max_bins=max_bins,
            categorical_features=categorical_features,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.head = head
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the trees, take their leaf means and fit the head.

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
        parameters.check_option("head", self.head, HEADS)
        parameters.check_option("criterion", self.criterion, CLASSIFICATION_CRITERIA)
        if isinstance(self.shrinkage, str):
            parameters.check_option("shrinkage", self.shrinkage, ("ledoit_wolf", "oas"))
        else:
            parameters.check_real("shrinkage", self.shrinkage, low=0, high=1)
        self._fit_model(X, y, sample_weight)
        return self

    def _fit_head(self, rows):
        # A class whose rows all have weight zero is known, but impossible.
        used = slice(None) if rows.weights is None else rows.weights > 0
        present = np.unique(rows.targets[used])
        super()._fit_head(replace(rows, targets=np.searchsorted(present, rows.targets)))
        for coef, intercept in (
            ("coef_", "intercept_"),
            ("collapsed_", "collapsed_intercept_"),
        ):
            if hasattr(self, coef):
                every = np.zeros((len(getattr(self, coef)), len(self.classes_)))
                every[:, present] = getattr(self, coef)
                level = np.full(len(self.classes_), -np.inf)
                level[present] = getattr(self, intercept)
                setattr(self, coef, every)
                setattr(self, intercept, level)

    def _layer(self, Z, y, weights):
        return Layer(Z, np.eye(y.max() + 1)[y], weights, self.n_components)

    def _head(self, Z, targets, weights, basis=None):
        n_classes = targets.max() + 1
        if self.head == "lda" and self.n_components is None and n_classes > 1:
            return heads.pseudo_linear_lda(Z, targets, weights, n_classes, basis)
        if basis is not None:
            Z = Z @ basis
        if n_classes == 1:
            return heads.Head(np.zeros((Z.shape[1], 1)), np.zeros(1))
        if self.head == "ridge":
            layer = self._layer(Z, targets, weights)
            return heads.Head(*penalised_lda(layer, targets, self.penalty)[:2])
        if self.n_components is not None:
            layer = self._layer(Z, targets, weights)
            axes = layer.coordinates[-1]
            Z = (Z - layer.centre) @ axes
        if self.head == "lda":
            head = heads.pseudo_linear_lda(Z, targets, weights, n_classes)
        elif self.head == "shrunken_lda":
            head = heads.shrunken_lda(Z, targets, weights, n_classes, self.shrinkage)
        else:
            head = heads.logistic(Z, targets, weights, n_classes, self.penalty)
        if self.n_components is None:
            return head
        coef = axes @ head.coef
        return heads.Head(coef, head.intercept - layer.centre @ coef)

    def _blend(self, Z, targets, weights, parts):
        return blend(
            self._layer(Z, targets, weights),
            parts,
            lambda layer: penalised_lda(layer, targets, self.penalty),
            multiples_of_scores,
        )

    def _scores(self, X):
        if self.head != "indicator":
            return super()._scores(X)
        check_is_fitted(self)
        squared = self.embedding_._squared_distances(self.embedding_.numeric(X))
        return self.embedding_.anchor_values_[squared.argmin(axis=1)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes: logarithms of their probabilities, up to a constant per row.

        For the head "indicator", the class shares of the nearest anchor's region.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the score of the second minus that of the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def _values(self, X):
        scores = self._scores(X)
        return scores if self.head == "indicator" else softmax(scores, axis=1)


@_with_parameters
class TreeEmbeddingRegressor(TableRegressor, _TreeEmbedding):
    """Leaf means of a few regression trees as the first layer, ridge regression as the second.

    Parameters
    ----------
    n_trees : int, default=10
        The first tree grows on all rows, the others on bootstrap samples.
    activation : str or tuple of str, default="auto"
        The first layer, see :class:`LeafMeansEmbedding`. "auto" blends heads on ("raw", "rbf",
        "vote") and on parts of it, by their error on rows left out, and drops what is of no use.
    {shared}
    criterion : {{"squared_error", "poisson"}}, default="squared_error"
        What the trees' splits decrease.
    {tree}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeEmbeddingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeEmbeddingRegressor(random_state=0).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the trees, take their leaf means and fit the head.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            As for :class:`TreeEmbeddingClassifier`.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        parameters.check_option("criterion", self.criterion, REGRESSION_CRITERIA)
        self._fit_model(X, y, sample_weight)
        return self

    def _head(self, Z, targets, weights, basis=None):
        Z = Z if basis is None else Z @ basis
        layer = Layer(Z, targets[:, None], weights, self.n_components)
        return heads.Head(*ridge(layer, self.penalty)[:2])

    def _blend(self, Z, targets, weights, parts):
        layer = Layer(Z, targets[:, None], weights, self.n_components)
        found = blend(layer, parts, lambda layer: ridge(layer, self.penalty), multiples_of_numbers)
        rest = 1 - sum(found.multiples.values())  # of the mean, which every head is relative to
        return found._replace(intercept=found.intercept + rest * layer.level)

    def _values(self, X):
        return self._scores(X)
