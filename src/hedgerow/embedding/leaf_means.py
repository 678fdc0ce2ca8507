"""Leaf-means embedding: rows as their affinities with the leaf means of a few trees.

Shen, Dong and Priebe, "Decision Tree Embedding by Leaf-Means". Each leaf of a tree is summarised by
the mean of its rows, the anchor; a row is described by its inner products with all anchors.
That layer is linear. The other activations here make it a layer of its own kind: distances to the
anchors, Gaussian bumps on them, the share of each anchor, the leaf itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from scipy.special import softmax
from sklearn.base import TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import PackedGraphs
from hedgerow._growth import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA, check_poisson
from hedgerow._table import encode_labels
from hedgerow._table_model import TableModel
from hedgerow.embedding.numeric import NumericView
from hedgerow.embedding.regions import cut, grow_trees

ACTIVATIONS = ("raw", "linear", "relu", "distance", "rbf", "softmax", "leaf", "vote")
CRITERIA = CLASSIFICATION_CRITERIA | REGRESSION_CRITERIA
INTERCEPTS = {"method": 1.0, "theory": -1.0, "half": -0.5}
_CELLS_AT_ONCE = 1 << 22  # of a layer, while it is computed
_ROWS_AT_ONCE = 1 << 11  # of a linear model: they stay in the cache


def activation_names(activation: Any) -> tuple[str, ...]:
    """The parts of an activation, checked."""
    names = (activation,) if isinstance(activation, str) else activation
    known = isinstance(names, tuple | list) and all(name in ACTIVATIONS for name in names)
    if not known or not names:
        options = ", ".join(repr(name) for name in ACTIVATIONS)
        raise ValueError(f"'activation' must be one or several of {options}, got {activation!r}.")
    return tuple(names)


@dataclass
class TrainingRows:
    """What fitting knows of the training rows: a head is fitted on it."""

    encoded: np.ndarray
    numbers: np.ndarray
    votes: np.ndarray | None
    targets: np.ndarray
    weights: np.ndarray | None


class LeafMeansEmbedding(TransformerMixin, TableModel):
    """Rows as affinities with the leaf means of a few trees.

    Parameters
    ----------
    n_trees : int, default=3
        The first tree grows on all rows, the others on bootstrap samples.
    activation : str or tuple of str, default="linear"
        What becomes of a row ``x`` and an anchor ``mu``; several are put side by side.

        - "linear": ``x @ mu + b``, the paper's;
        - "relu": its positive part;
        - "distance": ``|x - mu|``;
        - "rbf": ``exp(-|x - mu|² / (2 bandwidth²))``;
        - "softmax": the same, divided by its sum over the anchors of a tree;
        - "leaf": 1 for the region that the tree puts the row in, else 0;
        - "raw": the numbers of ``x`` themselves;
        - "vote": the mean leaf value of the bootstrap trees: class shares, or the mean target.

        "leaf" is over-optimistic on training rows, because the tree has seen their targets.
        "vote" is not: ``fit_transform`` lets only the trees that did not draw a row vote on it.
    max_anchors : int, default=None
        Most anchors per tree: the tree is cut where its splits gain least. None takes all leaves.
    intercept : {"method", "theory", "half"}, default="method"
        ``b`` is ``|mu|²``, ``-|mu|²`` or ``-|mu|²/2``. The paper has the first in its method and
        the second in its theory; with the third the largest coordinate belongs to the nearest
        anchor. No linear head on a linear layer depends on it.
    standardize : bool, default=False
        Centre all columns and scale them to unit variance.
    impute : {"mean", "leaf"}, default="mean"
        What a missing value is for the anchors: the mean of its column in all training rows, or
        in those of the region that the first tree puts the row in. The trees know missing values.
    bandwidth : float, default=None
        Width of "rbf" and "softmax". None takes the root mean squared distance of the training
        rows to the anchor of their own region.
    criterion : {"gini", "entropy", "log_loss", "squared_error", "poisson"}, default="gini"
        What the trees' splits decrease; the last two are for numeric targets.
    max_depth : int, default=None
    max_leaf_nodes : int, default=None
    min_samples_leaf : int or float, default=10
    max_features : int, float, {"sqrt", "log2"}, default=None
    max_bins : int, default=30
        As in :class:`DecisionTreeClassifier`. The paper's trees have 30 bins and 10 rows a leaf.
    categorical_features : "auto", None or list, default="auto"
        As in :class:`DecisionTreeClassifier`. Trees split categories as they are; for the
        anchors a category is one 0/1 column per value.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads for growing and walking trees. Matrix products use what NumPy is set to.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_columns)
        The leaf means, ``W`` in the paper, of the columns that :meth:`numeric` gives.
    intercept_ : ndarray of shape (n_anchors,)
        ``b`` in the paper.
    anchor_counts_ : ndarray of shape (n_anchors,)
        Total weight of the rows that an anchor is the mean of.
    anchor_values_ : ndarray of shape (n_anchors, n_outputs)
        Class shares, or the mean target, of those rows.
    anchor_class_ : ndarray of shape (n_anchors,)
        Most frequent class of those rows; only for the criteria of classification.
    anchor_tree_ : ndarray of shape (n_anchors,)
        The tree that an anchor comes from.
    bandwidth_ : float
    graphs_ : list of DecisionGraph
    classes_ : ndarray of shape (n_classes,)
        Only for the criteria of classification.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import LeafMeansEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LeafMeansEmbedding(n_trees=1).fit(X, y)
    >>> embedding.anchors_.shape
    (6, 4)
    >>> embedding.transform(X).shape
    (150, 6)
    """

    def __init__(
        self,
        n_trees=3,
        *,
        activation="linear",
        max_anchors=None,
        intercept="method",
        standardize=False,
        impute="mean",
        bandwidth=None,
        criterion="gini",
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_leaf=10,
        max_features=None,
        max_bins=30,
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
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the trees and take their leaf means.

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
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
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
        rows = self._fit(X, y, sample_weight)
        if rows.votes is None:
            return self.transform(X)
        return self._layer(rows.encoded, rows.numbers, rows.votes)

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
        return self._layer(encoded, self._numbers(encoded), self._votes(encoded))

    def numeric(self, X: Any) -> np.ndarray:
        """The numbers that anchors are means of: filled, one-hot, standardised where asked for.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_columns)
        """
        return self._numbers(self.encode(X))

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
        starts = np.append(self._starts, len(self.anchors_))
        anchors = [
            f"{tree}_{anchor}"
            for tree, size in enumerate(np.diff(starts))
            for anchor in range(size)
        ]
        names: list[str] = []
        for part in activation_names(self.activation):
            if part == "raw":
                names += self._view.names(features)
            elif part == "vote":
                names += [f"vote_{label}" for label in getattr(self, "classes_", ["mean"])]
            else:
                names += [f"{part}_{anchor}" for anchor in anchors]
        return np.array(names, dtype=object)

    def _input_names(self, given: Any) -> list:
        known = getattr(self, "feature_names_in_", None)
        if given is None:
            return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)
        if known is not None and not np.array_equal(known, given):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        return list(given)

    def _check_parameters(self) -> None:
        parameters.check_int("n_trees", self.n_trees, low=1)
        parts = activation_names(self.activation)
        if "vote" in parts and self.n_trees == 1:
            raise ValueError("'n_trees' must be at least 2 for the activation 'vote', got 1.")
        parameters.check_int("max_anchors", self.max_anchors, low=1, optional=True)
        parameters.check_option("intercept", self.intercept, INTERCEPTS)
        parameters.check_bool("standardize", self.standardize)
        parameters.check_option("impute", self.impute, ("mean", "leaf"))
        if self.bandwidth is not None and not (
            parameters.is_real(self.bandwidth) and 0 < self.bandwidth < np.inf
        ):
            raise ValueError(
                f"'bandwidth' must be a positive number or None, got {self.bandwidth!r}."
            )
        parameters.check_option("criterion", self.criterion, CRITERIA)
        parameters.check_int("max_depth", self.max_depth, low=1, optional=True)
        parameters.check_int("max_leaf_nodes", self.max_leaf_nodes, low=2, optional=True)

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        if self.criterion in REGRESSION_CRITERIA:
            y = check_array(y, ensure_2d=False, dtype=np.float64, order="C", input_name="y")
            return check_poisson(self.criterion, y)
        check_classification_targets(y)
        self.classes_, codes = encode_labels(y)
        return codes

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        self._check_parameters()
        max_bins = parameters.max_bins_code(self.max_bins)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        self.__dict__.pop("classes_", None)  # of an earlier fit with another criterion
        X, targets, weights = self._read_table(X, y, sample_weight)
        data = self.schema_.bin(X, max_bins, n_jobs)
        encoded = self.schema_.encode(self, X)
        self._view = NumericView(self.schema_, encoded, weights, self.standardize)
        most = np.iinfo(np.int32).max
        leaf = parameters.count_or_share(
            "min_samples_leaf", self.min_samples_leaf, data.n_rows, low=1
        )
        params = {
            "criterion": CRITERIA[self.criterion],
            "n_classes": len(getattr(self, "classes_", ())),
            "max_depth": -1 if self.max_depth is None else min(int(self.max_depth), most),
            "max_leaf_nodes": -1
            if self.max_leaf_nodes is None
            else min(int(self.max_leaf_nodes), most),
            "max_features": parameters.features_to_try(self.max_features, data.n_features),
            "min_samples_leaf": min(leaf, most),
        }
        rng = check_random_state(self.random_state)
        self.graphs_, drawn = grow_trees(
            data, targets, weights, params, int(self.n_trees), rng, n_jobs
        )
        self._packed: PackedGraphs | None = None
        self._trees = [cut(graph, self.max_anchors) for graph in self.graphs_]
        leaves = [graph.apply(encoded, n_jobs) for graph in self.graphs_]
        self._fills = None
        if self.impute == "leaf":
            self._fills = self._region_means(encoded, self._trees[0].regions(leaves[0]), weights)
        numbers = self._numbers(encoded)
        self._set_anchors(numbers, leaves, drawn if weights is None else drawn * weights)
        votes = None
        if "vote" in activation_names(self.activation):
            votes = self._votes_of_others(leaves, drawn)
        return TrainingRows(encoded, numbers, votes, targets, weights)

    def _set_anchors(self, numbers: np.ndarray, leaves: list, shares: np.ndarray) -> None:
        """Means of the regions, with the weight ``shares[tree, row]`` of a row in a tree."""
        sizes = [len(tree.nodes) for tree in self._trees]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self.anchor_tree_ = np.repeat(np.arange(len(sizes)), sizes)
        own = self._own_anchors(leaves)
        n_trees, n = own.shape
        starts = np.arange(0, n_trees * n + 1, n_trees)
        member = csc_matrix((shares.T.ravel(), own.T.ravel(), starts), shape=(sum(sizes), n))
        self.anchor_counts_ = np.asarray(member.sum(axis=1)).ravel()
        # Centred first: a mean of large numbers that hardly differ loses nothing.
        centred = numbers - self._centre(numbers.dtype)
        means = (member @ centred) / self.anchor_counts_[:, None]
        self.anchors_ = means + self._centre(np.float64)
        self.intercept_ = INTERCEPTS[self.intercept] * np.square(self.anchors_).sum(axis=1)
        values = [tree.graph.value[tree.nodes] for tree in self._trees]
        self.anchor_values_ = np.vstack(values)
        if hasattr(self, "classes_"):
            self.anchor_class_ = self.classes_[self.anchor_values_.argmax(axis=1)]
        # Mean squared distance to the own anchor: that to the centre, less that of the anchors.
        whole = shares.sum(axis=0) @ np.square(centred).sum(axis=1)
        between = self.anchor_counts_ @ np.square(means).sum(axis=1)
        spread = np.sqrt(max(whole - between, 0) / shares.sum())
        self.bandwidth_ = float(self.bandwidth or spread or 1.0)

    def _region_means(self, encoded: np.ndarray, regions: np.ndarray, weights: Any) -> np.ndarray:
        """Means of what is known in each region of the first tree; of all rows if nothing is."""
        X = self._view.expand(encoded)
        gaps = np.isnan(X)
        shares = np.ones(len(X)) if weights is None else weights
        member = csr_matrix((shares, (regions, np.arange(len(X)))))
        known = member @ ~gaps
        sums = member @ np.where(gaps, 0, X)
        return np.where(known > 0, sums / np.maximum(known, np.finfo(float).tiny), self._view.mean)

    def _own_anchors(self, leaves: list) -> np.ndarray:
        """The anchor of each row in each tree, of shape (n_trees, n_samples)."""
        each = zip(self._starts, self._trees, leaves, strict=True)
        return np.array([start + tree.regions(leaf) for start, tree, leaf in each])

    def _votes_of_others(self, leaves: list, drawn: np.ndarray) -> np.ndarray:
        """Mean leaf value over the trees that did not draw a row; the overall mean without any."""
        total, count = 0.0, np.zeros(drawn.shape[1])
        for graph, leaf, times in zip(self.graphs_[1:], leaves[1:], drawn[1:], strict=True):
            unseen = times == 0
            total = total + graph.value[leaf] * unseen[:, None]
            count += unseen
        overall = self.graphs_[0].value[0]
        return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], overall)

    def _votes(self, encoded: np.ndarray) -> np.ndarray | None:
        if "vote" not in activation_names(self.activation):
            return None
        if self._packed is None:
            self._packed = PackedGraphs(self.graphs_[1:])
        return self._packed.predict(encoded, parameters.resolve_n_jobs(self.n_jobs))

    def _numbers(self, encoded: np.ndarray) -> np.ndarray:
        if self._fills is None or not np.isnan(encoded).any():
            return self._view(encoded)
        leaves = self.graphs_[0].apply(encoded, parameters.resolve_n_jobs(self.n_jobs))
        return self._view(encoded, self._fills[self._trees[0].regions(leaves)])

    def _linear(self, encoded: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """A linear function of the numbers; without categories by one product of the rows."""
        if self.schema_.categories:
            return self._numbers(encoded) @ coef + intercept
        folded, constant = self._view.folded(coef, intercept)
        out = np.empty((len(encoded), coef.shape[1]))
        for begin in range(0, len(encoded), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            out[rows] = encoded[rows].astype(np.float64) @ folded + constant
        gaps = np.isnan(out[:, 0])
        if gaps.any():
            out[gaps] = self._numbers(encoded[gaps]) @ coef + intercept
        return out

    def _centre(self, dtype) -> np.ndarray:
        return (0.0 if self.standardize else 1.0) * self._view.mean.astype(dtype)

    def _layer(self, encoded: np.ndarray, numbers: np.ndarray, votes: Any) -> np.ndarray:
        """The embedding of some rows, block by block."""
        parts = activation_names(self.activation)
        widths = {"raw": numbers.shape[1], "vote": self.anchor_values_.shape[1]}
        ends = np.cumsum([0] + [widths.get(part, len(self.anchors_)) for part in parts])
        out = np.empty((len(numbers), ends[-1]), dtype=numbers.dtype)
        step = max(1, _CELLS_AT_ONCE // (ends[-1] + numbers.shape[1]))
        for begin in range(0, len(numbers), step):
            rows = slice(begin, begin + step)
            squared: Any = None
            if not {"distance", "rbf", "softmax"}.isdisjoint(parts):
                squared = self._squared_distances(numbers[rows])
            for part, start, end in zip(parts, ends, ends[1:], strict=False):
                if part == "raw":
                    block = numbers[rows]
                elif part == "vote":
                    block = votes[rows]
                elif part == "leaf":
                    block = self._membership(encoded[rows])
                elif part == "distance":
                    block = np.sqrt(squared)
                elif part == "rbf":
                    place = out[rows, start:end]
                    np.exp(np.multiply(squared, -0.5 / self.bandwidth_**2, out=place), out=place)
                    continue
                elif part == "softmax":
                    block = self._softmax(squared)
                else:
                    block = self._affinities(numbers[rows])
                    if part == "relu":
                        block = np.maximum(block, 0)
                out[rows, start:end] = block
        return out

    def _affinities(self, numbers: np.ndarray) -> np.ndarray:
        """The paper's Z."""
        return numbers @ self.anchors_.T.astype(numbers.dtype) + self.intercept_.astype(
            numbers.dtype
        )

    def _squared_distances(self, numbers: np.ndarray) -> np.ndarray:
        """Squared distances to all anchors, by one matrix product of centred numbers."""
        dtype = numbers.dtype
        x = numbers if self.standardize else numbers - self._centre(dtype)
        mu = (self.anchors_ - self._centre(np.float64)).astype(dtype)
        out = x @ (-2 * mu.T)
        out += np.einsum("ij,ij->i", x, x)[:, None]
        out += np.square(mu).sum(axis=1)
        return np.maximum(out, 0, out=out)

    def _softmax(self, squared: np.ndarray) -> np.ndarray:
        blocks = np.split(squared / (-2 * self.bandwidth_**2), self._starts[1:], axis=1)
        return np.hstack([softmax(block, axis=1) for block in blocks])

    def _membership(self, encoded: np.ndarray) -> np.ndarray:
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        own = self._own_anchors([graph.apply(encoded, n_jobs) for graph in self.graphs_])
        out = np.zeros((len(encoded), len(self.anchors_)))
        out[np.arange(len(encoded)), own] = 1
        return out

    def __getstate__(self) -> dict:
        # The packed form is made from the graphs again where it is needed.
        return super().__getstate__() | ({"_packed": None} if hasattr(self, "graphs_") else {})

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32", "float64"]
        return tags
