"""Tree embedding models: the leaf-means embedding with a linear head.

Shen, Dong and Priebe, "Decision Tree Embedding by Leaf-Means". With the linear activation both
layers are linear, and so is the model: it is fitted in rank(W) dimensions without forming the
embedding, and predicts with one matrix, ``collapsed_``. With another activation it is a network of
two layers whose first comes from trees and whose second has a closed form.
"""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    GINI_TEXT,
    MEAN_CRITERION,
    MEAN_TEXT,
)
from hedgerow._parameters import Rule, resolve_n_jobs
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter, TableClassifier, TableRegressor
from hedgerow.embedding.blending import Blend
from hedgerow.embedding.growth import BIASES, LayerLearner
from hedgerow.embedding.heads import Head
from hedgerow.embedding.layer import activation_names
from hedgerow.embedding.leaf_means import (
    BINS,
    PAPER,
    POSITIVE,
    LayerParameters,
    LeafMeansEmbedding,
    activation_rule,
)
from hedgerow.embedding.network import Network, RowPredictor
from hedgerow.embedding.second_layer import (
    ClassHeadLearner,
    HeadLearner,
    NumberHeadLearner,
    SecondLayer,
)

HEADS = ("ridge", "lda", "shrunken_lda", "logistic", "indicator", "class_sum")
AUTO = ("raw", "rbf", "vote")
_ACTIVATION = activation_rule("auto")


def _check_shrinkage(name: str, value: Any) -> None:
    if isinstance(value, str):
        parameters.check_option(name, value, ("ledoit_wolf", "oas"))
    else:
        parameters.real(0, 1).check(name, value)


class _TreeEmbedding(TransformerMixin, LayerParameters):
    n_estimators: int = parameter(
        10,
        parameters.integer(high=parameters.MOST_MEMBERS),
        "Number of trees. The first grows on all rows, the others on bootstrap samples.",
        kw_only=False,
    )
    preset: str | None = parameter(
        None,
        parameters.PRESET,
        'What the parameters that are left open mean. "paper" is the model of the paper, with as '
        "many trees as ``n_estimators`` says.",
    )
    max_anchors: Any = parameter(
        None,
        parameters.integer(optional=True, word="all"),
        'Most anchors per tree (16; paper "all"): the tree is cut where its splits gain least. '
        '"all" takes every leaf.',
    )
    bias: str | None = parameter(
        None,
        parameters.option(*BIASES, optional=True),
        'What is added to a linear affinity ("half"; paper "method"), see '
        ":class:`LeafMeansEmbedding`.",
    )
    standardize: bool | None = parameter(
        None,
        parameters.OPTIONAL_FLAG,
        "Centre all columns and scale them to unit variance before leaf means are taken (True; "
        "paper False).",
    )
    n_components: int | None = parameter(
        None,
        parameters.integer(optional=True),
        "Fit the head on this many principal components of the layer; None takes all its columns.",
    )
    penalty: float | None = parameter(
        None,
        POSITIVE,
        'Price of the squared coefficients of "ridge" and "logistic", for columns of unit variance '
        'and a mean loss. None chooses that of "ridge" by leave-one-out and is 1e-3 for '
        '"logistic".',
    )
    min_samples_leaf: int | float | None = parameter(
        None,
        parameters.count(1, optional=True),
        "A split must leave this many rows (or this share) on both sides (0.0002, which is one row "
        "up to 5,000; paper 10).",
    )
    max_bins: Any = parameter(
        "auto",
        BINS,
        "Features with more distinct values are cut into this many quantile bins; None keeps every "
        'distinct value. "auto" means 255 (paper 30).',
    )
    merge_siblings: bool | None = parameter(
        None,
        parameters.OPTIONAL_FLAG,
        "Take out splits that leave no fewer training rows wrong (False; paper True), see "
        ":class:`LeafMeansEmbedding`.",
    )

    embedding_: LeafMeansEmbedding = fitted(
        "LeafMeansEmbedding", "The first layer: ``anchors_``, ``bias_`` and so on."
    )
    activation_: Any = fitted(
        "str or tuple of str", 'The first layer; the one that was chosen for "auto".'
    )
    coef_: np.ndarray = fitted(
        "ndarray of shape (n_features_out, n_values)",
        "The second layer, on the columns of ``transform``: one column for each class, or one. Not "
        'for the head "indicator".',
        optional=True,
    )
    intercept_: np.ndarray = fitted(
        "ndarray of shape (n_values,)", "Of the second layer.", optional=True
    )
    collapsed_: np.ndarray = fitted(
        "ndarray of shape (n_columns, n_values)",
        "Both layers as one matrix, on the columns of ``embedding_.numeric``; only for the "
        'activations "linear" and "raw".',
        optional=True,
    )
    collapsed_intercept_: np.ndarray = fitted("ndarray of shape (n_values,)", optional=True)
    blend_: Blend = fitted(
        "Blend",
        'For "auto", the multiple of each head and its loss on rows left out.',
        optional=True,
    )

    default_settings = PAPER | {
        "activation": "auto",
        "max_anchors": 16,
        "bias": "half",
        "standardize": True,
        "min_samples_leaf": 0.0002,
        "max_bins": 255,
        "merge_siblings": False,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the trees, take their leaf means and fit the head.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers below 1e100 in size, or a pandas or polars frame whose categorical, boolean and
            string columns are read as categories. NaN, None and NA are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        settings = self.settings()
        blends = settings.activation == "auto"
        if blends:
            automatic = AUTO if settings.n_estimators > 1 else AUTO[:-1]
            settings = Settings(vars(settings) | {"activation": automatic})
        table = self.read_table(X, y, sample_weight)
        weights = table.weighed(getattr(settings, "class_weight", None))
        layer, rows = LayerLearner(settings).grow(table, weights, settings.random_state)
        second = self._head_learner(settings, blends, table).fit(layer, rows)
        values = {name: getattr(settings, name) for name in LeafMeansEmbedding().get_params()}
        embedding = LeafMeansEmbedding(**values | {"activation": second.activation})
        self._adopt(table, embedding.adopt(table, layer), second)
        return self

    def _head_learner(self, settings: Settings, blends: bool, table: Table) -> HeadLearner:
        raise NotImplementedError

    def _adopt(self, table: Table, embedding: LeafMeansEmbedding, second: SecondLayer) -> None:
        """Become the model of two layers; what an earlier fit had besides is forgotten."""
        facts = table.facts() | {"embedding_": embedding, "activation_": second.activation}
        if second.head is not None:
            facts |= {"coef_": second.head.coef, "intercept_": second.head.intercept}
        if second.collapsed is not None:
            facts["collapsed_"] = second.collapsed.coef
            facts["collapsed_intercept_"] = second.collapsed.intercept
        if second.blend is not None:
            facts["blend_"] = second.blend
        for name in ("coef_", "intercept_", "collapsed_", "collapsed_intercept_", "blend_"):
            if name not in facts:
                self.__dict__.pop(name, None)
        self.become(facts)
        self.rebuild()

    def check_fitted(self) -> None:
        super().check_fitted()
        embedding = self.embedding_
        if vars(embedding).keys() & {"schema_", "layer_"} != {"schema_", "layer_"}:
            raise ValueError("the first layer is not fitted")
        if not embedding.schema_.is_like(self.schema_):
            raise ValueError("the first layer has other features than the model")
        if self.activation_ != embedding.activation:
            raise ValueError("the first layer has another activation than the model")
        n_values = embedding.layer_.values.shape[1]
        width = len(embedding.get_feature_names_out())
        shapes = {
            "coef_": (width, n_values),
            "intercept_": (n_values,),
            "collapsed_": (embedding.anchors_.shape[1], n_values),
            "collapsed_intercept_": (n_values,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name, None)
            if array is None:
                continue
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} does not fit the first layer")
        for coef, intercept in (("coef_", "intercept_"), ("collapsed_", "collapsed_intercept_")):
            if hasattr(self, coef) != hasattr(self, intercept):
                raise ValueError(f"there is {coef} or {intercept} alone")

    def rebuild(self) -> None:
        if not hasattr(self, "embedding_"):
            return
        head = Head(self.coef_, self.intercept_) if hasattr(self, "coef_") else None
        collapsed = None
        if hasattr(self, "collapsed_"):
            collapsed = Head(self.collapsed_, self.collapsed_intercept_)
        # One object, so that a prediction during another fit has all its parts from one fit.
        self._network = Network(
            self.embedding_.layer_, activation_names(self.activation_), head, collapsed
        )

    def _scores(self, X: Any) -> np.ndarray:
        """One column per output, of some rows."""
        check_is_fitted(self)
        network, encoded = self._network, self.schema_.encode(self, X)
        return network.scores(encoded, resolve_n_jobs(self.n_jobs))

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

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf that each row ends in, for each tree behind the anchors.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
        """
        check_is_fitted(self)
        return self.embedding_.apply(X)

    def row_predictor(self) -> RowPredictor:
        """A faster lane for one row at a time.

        Returns
        -------
        predictor : RowPredictor
            ``predictor(row)`` predicts a one-dimensional float array; ``predictor.values(row)``
            gives the probabilities. Nothing is checked but the length. Categories are given as
            their codes, see ``embedding_.encode``.
        """
        check_is_fitted(self)
        labels = self.classes_.tolist() if hasattr(self, "classes_") else None
        return RowPredictor(self._network, labels, self.n_features_in_)

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
        # Imported when it is asked for: torch takes a second.
        return import_module("hedgerow.embedding.torch_module").as_module(self._network)

    @property
    def n_splits_(self) -> int:
        """Number of tests in the trees behind the anchors."""
        check_is_fitted(self)
        return self.embedding_.n_splits_

    @property
    def nbytes_(self) -> int:
        """Bytes of the anchors, trees and matrices that prediction needs."""
        check_is_fitted(self)
        return self._network.nbytes

    def get_depth(self) -> int:
        """Length of the longest path from a root to a leaf in the trees behind the anchors."""
        check_is_fitted(self)
        return self.embedding_.get_depth()


class TreeEmbeddingClassifier(TableClassifier, ClassWeightParameter, _TreeEmbedding):
    """Leaf means of a few trees as the first layer, a linear head as the second.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from hedgerow import TreeEmbeddingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(cross_val_score(TreeEmbeddingClassifier(random_state=0), X, y).mean() > 0.95)
    True
    """

    activation: Any = parameter(
        None,
        _ACTIVATION,
        'The first layer ("auto"; paper "linear"), see :class:`LeafMeansEmbedding`. "auto" blends '
        'heads "ridge" on ("raw", "rbf", "vote") and on parts of it, by their loss on rows left '
        "out, and drops what is of no use. Other heads get the columns that are left.",
    )
    head: str | None = parameter(
        None,
        parameters.option(*HEADS, optional=True),
        'The second layer ("ridge"; paper "lda"). "ridge" is discriminant analysis with a '
        "quadratic penalty, the same as in the space of ridge regressions of the class indicators; "
        '"lda" is that with the pseudo-inverse of the covariance; "indicator" gives the most '
        'frequent class of the nearest anchor and looks at no activation; "class_sum" the class '
        "whose anchors have the largest sum of the activation, the rule that the paper prints in "
        'Theorem 2 (with ``activation="linear"`` and ``bias="theory"``): not recommended, for a '
        "sum counts how many anchors a class has.",
    )
    shrinkage: Any = parameter(
        "ledoit_wolf",
        Rule('float or {"ledoit_wolf", "oas"}', _check_shrinkage),
        'How far "shrunken_lda" moves correlations towards zero.',
    )
    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, GINI_TEXT)

    default_settings = _TreeEmbedding.default_settings | {"head": "ridge"}
    paper_settings = PAPER | {"head": "lda"}

    def _head_learner(self, settings: Settings, blends: bool, table: Table) -> HeadLearner:
        return ClassHeadLearner(settings, blends, table.n_classes)

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

    def _best_classes(self, X: Any) -> np.ndarray:
        return self._scores(X).argmax(axis=1)

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        network, encoded = self._network, self.schema_.encode(self, X)
        return network.probabilities(encoded, resolve_n_jobs(self.n_jobs))


class TreeEmbeddingRegressor(TableRegressor, _TreeEmbedding):
    """Leaf means of a few regression trees as the first layer, ridge regression as the second.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeEmbeddingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeEmbeddingRegressor(random_state=0).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    activation: Any = parameter(
        None,
        _ACTIVATION,
        'The first layer ("auto"; paper "linear"), see :class:`LeafMeansEmbedding`. "auto" blends '
        'heads on ("raw", "rbf", "vote") and on parts of it, by their error on rows left out, and '
        "drops what is of no use.",
    )
    criterion: str = parameter("squared_error", MEAN_CRITERION, MEAN_TEXT)

    def _head_learner(self, settings: Settings, blends: bool, table: Table) -> HeadLearner:
        return NumberHeadLearner(settings, blends)

    def _values(self, X: Any) -> np.ndarray:
        return self._scores(X)
