"""Leaf-means embedding: rows as their affinities with the leaf means of a few trees.

Shen, Dong and Priebe, "Decision Tree Embedding by Leaf-Means". Each leaf of a tree is summarised by
the mean of its rows, the anchor; a row is described by its inner products with all anchors.
That layer is linear. The other activations here make it a layer of its own kind: distances to the
anchors, Gaussian bumps on them, the share of each anchor, the leaf itself.
"""

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import check_graph
from hedgerow._growth import CLASSIFICATION_CRITERIA, ENGINE_CRITERIA, FeatureDrawParameter
from hedgerow._parameters import Rule, resolve_n_jobs
from hedgerow._table import Table
from hedgerow._table_model import BinParameters
from hedgerow.embedding.growth import BIASES, LayerLearner, TrainingRows
from hedgerow.embedding.layer import ACTIVATIONS, AnchorLayer, activation_names

# The layer of the paper: what parameters that are left open mean.
PAPER: dict[str, Any] = {
    "activation": "linear",
    "max_anchors": "all",
    "bias": "method",
    "standardize": False,
    "min_samples_leaf": 10,
    "max_bins": 30,
    "merge_siblings": True,
}


def activation_rule(*words: str) -> Rule:
    """One or several activations, one of some further words, or None."""

    def check(name: str, value: Any) -> None:
        if value is None or any(parameters.is_word(value, word) for word in words):
            return
        names = (value,) if isinstance(value, str) else value
        is_list = isinstance(names, tuple | list) and len(names) > 0
        if not is_list or not all(isinstance(n, str) and n in ACTIVATIONS for n in names):
            options = ", ".join(repr(option) for option in (*ACTIVATIONS, *words))
            raise ValueError(f"'{name}' must be one or several of {options}, got {value!r}.")

    return Rule("str, tuple of str or None", check)


def _check_positive(name: str, value: Any) -> None:
    if value is not None and not (parameters.is_real(value) and value > 0):
        parameters.refuse(name, "a positive number or None", value)


def _check_bins(name: str, value: Any) -> None:
    if not parameters.is_word(value, "auto"):
        parameters.MAX_BINS.check(name, value)


POSITIVE = Rule("float or None", _check_positive)
BINS = Rule('int, "auto" or None', _check_bins)


class LayerParameters(FeatureDrawParameter, BinParameters):
    """How trees become a layer; parameters that are left open follow the preset."""

    n_estimators: int = parameter(
        3,
        parameters.integer(high=parameters.MOST_MEMBERS),
        "Number of trees. The first grows on all rows, the others on bootstrap samples.",
        kw_only=False,
    )
    preset: str | None = parameter(
        None,
        parameters.PRESET,
        "What the parameters that are left open mean. The layer of the paper, linear and with "
        'every leaf an anchor, is the default, too; "paper" says so.',
    )
    activation: Any = parameter(
        None,
        activation_rule(),
        """\
        What becomes of a row ``x`` and an anchor ``mu``; several are put side by side.

        - "linear": ``x @ mu + b``, the paper's and the default;
        - "relu": its positive part;
        - "distance": ``|x - mu|``;
        - "rbf": ``exp(-|x - mu|² / (2 bandwidth²))``;
        - "softmax": the same, divided by its sum over the anchors of a tree;
        - "leaf": 1 for the region that the tree puts the row in, else 0;
        - "raw": the numbers of ``x`` themselves;
        - "vote": the mean leaf value of the bootstrap trees: class shares, or the mean target.

        "leaf" is over-optimistic on training rows, because the tree has seen their targets. "vote"
        is not: ``fit_transform`` lets only the trees that did not draw a row vote on it.""",
    )
    max_anchors: Any = parameter(
        None,
        parameters.integer(optional=True, word="all"),
        'Most anchors per tree: the tree is cut where its splits gain least. "all", the default, '
        "takes every leaf.",
    )
    bias: str | None = parameter(
        None,
        parameters.option(*BIASES, optional=True),
        "``b`` is ``|mu|²``, ``-|mu|²`` or ``-|mu|²/2``. The paper has the first, the default, in "
        "its method and the second in its theory; with the third the largest coordinate belongs "
        "to the nearest anchor. No linear head on a linear layer depends on it.",
    )
    standardize: bool | None = parameter(
        None,
        parameters.OPTIONAL_FLAG,
        "Centre all columns and scale them to unit variance. None means False.",
    )
    impute: str = parameter(
        "mean",
        parameters.option("mean", "leaf"),
        "What a missing value is for the anchors: the mean of its column in all training rows, or "
        "in those of the region that the first tree puts the row in. The trees know missing "
        "values.",
    )
    bandwidth: float | None = parameter(
        None,
        POSITIVE,
        'Width of "rbf" and "softmax". None takes the root mean squared distance of the training '
        "rows to the anchor of their own region.",
    )
    criterion: str = parameter(
        "gini",
        parameters.option(*ENGINE_CRITERIA),
        "What the trees' splits decrease; the last two are for numeric targets.",
    )
    max_depth: int | None = parameter(
        None, parameters.integer(optional=True), "Most splits on a path from the root to a leaf."
    )
    max_leaf_nodes: int | None = parameter(
        None, parameters.integer(2, optional=True), "Grow best-first until this many leaves."
    )
    min_samples_leaf: int | float | None = parameter(
        None,
        parameters.count(1, optional=True),
        "A split must leave this many rows (or this share) on both sides. None means 10.",
    )
    max_bins: Any = parameter(
        "auto",
        BINS,
        "Features with more distinct values are cut into this many quantile bins; None keeps every "
        'distinct value. "auto" means 30.',
    )
    merge_siblings: bool | None = parameter(
        None,
        parameters.OPTIONAL_FLAG,
        "Take out splits that leave no fewer training rows wrong, as the trees of the paper's "
        "authors do: fewer anchors, none of them beside another one of the same class. Only for "
        "classes. None means True.",
    )
    random_state: Any = parameter(
        None, parameters.SEED, "Of the bootstrap samples and of ``max_features``."
    )
    n_jobs: int | None = parameter(
        None,
        parameters.N_JOBS,
        "Threads for growing and walking trees. Matrix products use what NumPy is set to.",
    )

    default_settings = PAPER
    paper_settings = PAPER

    def settings(self) -> Settings:
        """The parameters, checked and frozen; those left open are the preset's."""
        values = vars(super().settings())
        preset = self.paper_settings if self.preset == "paper" else self.default_settings
        is_open = {name: values[name] is None for name in preset}
        is_open["max_bins"] = parameters.is_word(values["max_bins"], "auto")
        return Settings(values | {name: preset[name] for name in preset if is_open[name]})

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.n_estimators == 1 and "vote" in activation_names(self.activation or ()):
            raise ValueError("'n_estimators' must be at least 2 for the activation 'vote', got 1.")


class LeafMeansEmbedding(TransformerMixin, LayerParameters):
    """Rows as affinities with the leaf means of a few trees.

    Trees split categories as they are; for the anchors a category is one 0/1 column per value.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import LeafMeansEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LeafMeansEmbedding(n_estimators=1).fit(X, y)
    >>> embedding.anchors_.shape
    (3, 4)
    >>> embedding.transform(X).shape
    (150, 3)
    """

    layer_: AnchorLayer = fitted("AnchorLayer", "The trees and their anchors, which embed rows.")
    classes_: np.ndarray = fitted(
        "ndarray of shape (n_classes,)", "Only for the criteria of classification.", optional=True
    )
    n_classes_: int = fitted("int", "Only for the criteria of classification.", optional=True)

    @property
    def _has_classes(self) -> bool:
        return self.criterion in CLASSIFICATION_CRITERIA

    @property
    def n_values(self) -> int:
        return self.n_classes_ if self._has_classes else self.n_outputs_

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the trees and take their leaf means.

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
        self._grow(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and embed the training rows; "vote" then comes from trees that did not draw the row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
        """
        rows = self._grow(X, y, sample_weight)
        return self._embed(self.layer_, rows.encoded, rows.numbers, rows.votes)

    def _grow(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        learner = LayerLearner(self.settings())
        table = self.read_table(X, y, sample_weight)
        layer, rows = learner.grow(table, table.weights, self.random_state)
        self.adopt(table, layer)
        return rows

    def adopt(self, table: Table, layer: AnchorLayer):
        """Become the transformer of a layer that was grown on a table; return itself."""
        self.become(table.facts() | {"layer_": layer})
        return self

    def check_fitted(self) -> None:
        super().check_fitted()
        if self._has_classes != hasattr(self, "classes_"):
            raise ValueError("the criterion and the targets do not fit")
        self.layer_.check(self.schema_, self.n_values)
        if "vote" in self._activation and len(self.layer_.trees) < 2:
            raise ValueError("the layer has no trees that vote")
        for graph in self.layer_.graphs:
            check_graph(self, graph)

    def transform(self, X: Any) -> np.ndarray:
        """Embed rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
            float32 for a float32 array, else float64.
        """
        encoded = self.encode(X)
        layer, n_jobs = self.layer_, resolve_n_jobs(self.n_jobs)
        votes = layer.votes(encoded, self._activation, n_jobs)
        return self._embed(layer, encoded, layer.numbers(encoded, n_jobs), votes)

    def _embed(
        self, layer: AnchorLayer, encoded: np.ndarray, numbers: np.ndarray, votes: Any
    ) -> np.ndarray:
        return layer.embed(encoded, numbers, votes, self._activation, resolve_n_jobs(self.n_jobs))

    @property
    def _activation(self) -> tuple[str, ...]:
        return activation_names(self.settings().activation)

    def numeric(self, X: Any) -> np.ndarray:
        """The numbers that anchors are means of: filled, one-hot, standardised where asked for.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_columns)
        """
        return self.layer_.numbers(self.encode(X), resolve_n_jobs(self.n_jobs))

    def encode(self, X: Any) -> np.ndarray:
        """The table as a matrix: the code of a category, NaN for what is missing, numbers as such.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        encoded : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.schema_.encode(self, X)

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf that each row ends in, for each tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
        """
        return self.layer_.leaves(self.encode(X), resolve_n_jobs(self.n_jobs)).T

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the embedding's columns, such as "linear_0_3": tree 0, anchor 3.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where training saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        features = self._input_names(input_features)
        anchors = [
            f"{tree}_{anchor}"
            for tree, cut_tree in enumerate(self.layer_.trees)
            for anchor in range(len(cut_tree.nodes))
        ]
        names: list[str] = []
        for part in self._activation:
            if part == "raw":
                names += self._column_names(features)
            elif part == "vote":
                names += [f"vote_{label}" for label in getattr(self, "classes_", ["mean"])]
            else:
                names += [f"{part}_{anchor}" for anchor in anchors]
        return np.array(names, dtype=object)

    def column_names(self) -> list[str]:
        """Names of the columns that ``numeric`` gives.

        Returns
        -------
        names : list of str
        """
        return self._column_names(self._input_names(None))

    def _column_names(self, features: list) -> list[str]:
        """Names of the numbers: a feature's own, with its category after an underscore."""
        names: list[str] = []
        for feature, name in enumerate(features):
            values = self.schema_.categories.get(feature)
            names += [str(name)] if values is None else [f"{name}_{value}" for value in values]
        return names

    def _input_names(self, names: Any) -> list:
        known = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)
        if known is not None and not np.array_equal(known, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        return list(names)

    @property
    def anchors_(self) -> np.ndarray:
        """The leaf means, ``W`` in the paper, of the columns that ``numeric`` gives."""
        check_is_fitted(self)
        return self.layer_.anchors

    @property
    def bias_(self) -> np.ndarray:
        """``b`` in the paper, one number for each anchor."""
        check_is_fitted(self)
        return self.layer_.bias

    @property
    def anchor_counts_(self) -> np.ndarray:
        """Total weight of the rows that each anchor is the mean of."""
        check_is_fitted(self)
        return self.layer_.counts

    @property
    def anchor_values_(self) -> np.ndarray:
        """Class shares, or the mean target, of those rows."""
        check_is_fitted(self)
        return self.layer_.values

    @property
    def anchor_class_(self) -> np.ndarray:
        """Most frequent class of those rows; only for the criteria of classification."""
        check_is_fitted(self)
        return self.classes_[self.layer_.values.argmax(axis=1)]

    @property
    def anchor_tree_(self) -> np.ndarray:
        """The tree that each anchor comes from."""
        check_is_fitted(self)
        return self.layer_.tree_of_anchor

    @property
    def bandwidth_(self) -> float:
        """Width of the Gaussian bumps on the anchors."""
        check_is_fitted(self)
        return self.layer_.bandwidth

    @property
    def graphs_(self) -> list[DecisionGraph]:
        """The trees."""
        check_is_fitted(self)
        return self.layer_.graphs

    @property
    def n_splits_(self) -> int:
        """Number of tests in the trees."""
        check_is_fitted(self)
        return self.layer_.n_splits

    @property
    def nbytes_(self) -> int:
        """Bytes of what an embedding is computed from: anchors and the trees that are walked."""
        check_is_fitted(self)
        return self.layer_.nbytes(self._activation)

    def get_depth(self) -> int:
        """Length of the longest path from a root to a leaf."""
        check_is_fitted(self)
        return self.layer_.depth

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32", "float64"]
        return tags
