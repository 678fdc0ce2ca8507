"""Shallow tree networks: two CART trees in cascade.

Section 3.3 of L. Arnould, C. Boyer and E. Scornet, "Analyzing the tree-layer structure of Deep
Forests" (2021). The encoding tree is fitted to the table; its class probabilities (or its number)
are new features for the output tree, beside the raw ones. The output tree gathers leaves of the
encoding tree that say the same, which reduces the variance of a tree that is deep enough.

The table is binned once; folds are rows of it, and the new features are appended to it.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import PackedGraphs, RowPredictor
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import GraphModel
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    GINI_TEXT,
    MEAN_CRITERION,
    MEAN_TEXT,
)
from hedgerow._parameters import SEED, count, integer, real, resolve_n_jobs
from hedgerow._table import Table
from hedgerow._table_model import (
    BinParameters,
    ClassWeightParameter,
    TableClassifier,
    TableRegressor,
)
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_FOLDS = 3
_ENCODER_TEXT = "The fitted first tree."
_OUTPUT_TEXT = "The fitted second tree; its last columns are the new features."
_PATIENCE = 4  # depths without improvement before the search for the best one ends


def _best_depth(score: Callable[[int], float]) -> int:
    """The depth with the best score, the smaller of equal ones."""
    best, best_score, depth = 1, -np.inf, 1
    while depth - best <= _PATIENCE:
        found = score(depth)
        if found > best_score:
            best, best_score = depth, found
        depth += 1
    return best


class NetworkRowPredictor:
    """Predicts one row of numbers by two trees, the second of which reads what the first says."""

    def __init__(self, encoder: RowPredictor, output: RowPredictor) -> None:
        self._encoder, self._output = encoder, output

    def __call__(self, row: np.ndarray) -> Any:
        """The class, or the number, of a one-dimensional float array."""
        return self._output(self._widened(row))

    def values(self, row: np.ndarray) -> np.ndarray:
        """The class probabilities, or the number in an array."""
        return self._output.values(self._widened(row))

    def _widened(self, row: np.ndarray) -> np.ndarray:
        return np.concatenate([row, self._encoder.values(row)])


class _TreeNetwork(BinParameters):
    encoding_depth: int | str | None = parameter(
        "cv",
        integer(1, optional=True, word="cv"),
        'Most splits on a path of the encoding tree (the paper\'s k). "cv" takes the depth at '
        "which a single tree is best in 3-fold cross-validation, as the paper does; None sets no "
        "limit.",
        kw_only=False,
    )
    output_depth: int | str | None = parameter(
        "cv",
        integer(1, optional=True, word="cv"),
        'The same for the output tree (k\'); "cv" takes the best depth of the whole network.',
        kw_only=False,
    )
    min_samples_split: int | float = parameter(2, count(2), "As in the decision tree.")
    min_samples_leaf: int | float = parameter(1, count(1), "As in the decision tree.")
    min_weight_fraction_leaf: float = parameter(0.0, real(0, 0.5), "As in the decision tree.")
    min_impurity_decrease: float = parameter(0.0, real(0), "As in the decision tree.")
    random_state: Any = parameter(
        None,
        SEED,
        'Seed of the folds of "cv"; None draws others in every fit. Depths that are given need no '
        "chance.",
    )
    encoder_: GraphModel = fitted("decision tree", _ENCODER_TEXT)
    output_: GraphModel = fitted("decision tree", _OUTPUT_TEXT)
    encoding_depth_: int | None = fitted("int or None", "The depth limit of the first tree.")
    output_depth_: int | None = fitted("int or None", "The depth limit of the second tree.")
    _tree: ClassVar[Any]

    def check_fitted(self) -> None:
        super().check_fitted()
        sizes = [(tree.n_features_in_, tree.n_values) for tree in (self.encoder_, self.output_)]
        p, n_values = self.n_features_in_, self.n_values
        if sizes != [(p, n_values), (p + n_values, n_values)]:
            raise ValueError("the trees of the network have other features or outputs than it")

    def _new_names(self, table: Table) -> list[str]:
        """The names of the new features."""
        raise NotImplementedError

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        """How good the values of unseen rows are; more is better."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
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
        settings = self.settings()
        table = self.read_table(X, y, sample_weight)
        encoding_depth, output_depth = self._choose_depths(table, settings)
        encoder = self._tree_of(settings, encoding_depth)
        encoder.adopt(table, encoder.learner().grow(table))
        encoded = encoder.values_of_encoded(table.matrix())
        wider = table.widened(self._new_names(table), encoded)
        output = self._tree_of(settings, output_depth)
        output.adopt(wider, output.learner().grow(wider))
        depths = {"encoding_depth_": encoding_depth, "output_depth_": output_depth}
        self.become(table.facts() | depths | {"encoder_": encoder, "output_": output})
        return self

    def _tree_of(self, settings: Settings, depth: int | None) -> Any:
        """An unfitted tree of the network."""
        known = set(self._tree().get_params()) - {"random_state"}  # plain CART needs no chance
        shared = {name: value for name, value in vars(settings).items() if name in known}
        return self._tree(**shared, max_depth=depth)

    def _choose_depths(self, table: Table, settings: Settings) -> tuple[Any, Any]:
        """The depth limits, by cross-validation where they are left to it."""
        encoding_depth, output_depth = settings.encoding_depth, settings.output_depth
        if "cv" not in (encoding_depth, output_depth):
            return encoding_depth, output_depth
        rows = np.arange(table.n_rows) if table.weights is None else np.flatnonzero(table.weights)
        if len(rows) < _FOLDS:
            raise ValueError(
                f"Found {len(rows)} sample(s) while a depth of 'cv' needs at least {_FOLDS}."
            )
        weights = table.weighed(getattr(settings, "class_weight", None))
        folds = list(KFold(_FOLDS, shuffle=True, random_state=settings.random_state).split(rows))

        def tree_of_fold(table: Table, depth: int | None, fold: int) -> PackedGraphs:
            train = rows[folds[fold][0]].astype(np.uint32)
            return PackedGraphs([self._tree_of(settings, depth).learner().grow(table, train).graph])

        n_jobs = resolve_n_jobs(settings.n_jobs)

        def best_depth(tables: list[Table]) -> int:
            def score(depth: int) -> float:
                return sum(score_of_fold(depth, fold) for fold in range(_FOLDS))

            def score_of_fold(depth: int, fold: int) -> float:
                test = rows[folds[fold][1]]
                tree = tree_of_fold(tables[fold], depth, fold)
                values = tree.predict(tables[fold].matrix()[test], n_jobs)
                test_weights = None if weights is None else weights[test]
                return self._score(table.targets[test], values, test_weights)

            return _best_depth(score)

        if encoding_depth == "cv":
            encoding_depth = best_depth([table] * _FOLDS)
        if output_depth == "cv":
            names = self._new_names(table)
            output_depth = best_depth(
                [
                    table.widened(
                        names,
                        tree_of_fold(table, encoding_depth, fold).predict(table.matrix(), n_jobs),
                    )
                    for fold in range(_FOLDS)
                ]
            )
        return encoding_depth, output_depth

    def _widened(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The rows as the encoding tree reads them, and as the output tree does."""
        check_is_fitted(self)
        matrix = self.schema_.encode(self, X)
        return matrix, np.hstack([matrix, self.encoder_.values_of_encoded(matrix)])

    def _values(self, X: Any) -> np.ndarray:
        _, wider = self._widened(X)
        return self.output_.values_of_encoded(wider)

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf of the output tree that each row ends in.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
        """
        _, wider = self._widened(X)
        return self.output_.graph_.apply(wider, resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """The nodes that each row passes, in both trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
        n_nodes_ptr : ndarray of shape (3,)
            The columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` belong to tree i.
        """
        parts = []
        for tree, matrix in zip((self.encoder_, self.output_), self._widened(X), strict=True):
            starts, nodes = tree.graph_.decision_path(matrix)
            ones, shape = np.ones(len(nodes), dtype=np.int64), (len(matrix), tree.graph_.n_nodes)
            parts.append(csr_matrix((ones, nodes, starts), shape=shape))
        ends = np.cumsum([0] + [part.shape[1] for part in parts])
        return hstack(parts, format="csr"), ends

    def row_predictor(self) -> NetworkRowPredictor:
        """A fast lane for one row at a time; see :meth:`DecisionTreeClassifier.row_predictor`.

        Returns
        -------
        predictor : NetworkRowPredictor
        """
        check_is_fitted(self)
        return NetworkRowPredictor(self.encoder_.row_predictor(), self.output_.row_predictor())

    @property
    def n_splits_(self) -> int:
        """Number of tests in both trees."""
        check_is_fitted(self)
        return self.encoder_.n_splits_ + self.output_.n_splits_

    @property
    def nbytes_(self) -> int:
        """Bytes that both trees take in the form that predicts."""
        check_is_fitted(self)
        return self.encoder_.nbytes_ + self.output_.nbytes_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the raw features; what a new feature brings goes to those that made it."""
        check_is_fitted(self)
        of_output = self.output_.feature_importances_
        raw, new = np.split(of_output, [self.n_features_in_])
        return raw + new.sum() * self.encoder_.feature_importances_

    def get_depth(self) -> int:
        """Length of the longest path through both trees."""
        check_is_fitted(self)
        return self.encoder_.get_depth() + self.output_.get_depth()


class TreeNetworkClassifier(TableClassifier, ClassWeightParameter, _TreeNetwork):
    """Two classification trees in cascade.

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

    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, GINI_TEXT)
    encoder_: DecisionTreeClassifier = fitted("decision tree", _ENCODER_TEXT)
    output_: DecisionTreeClassifier = fitted("decision tree", _OUTPUT_TEXT)
    _tree = DecisionTreeClassifier

    def _new_names(self, table: Table) -> list[str]:
        assert table.classes is not None
        return [f"probability of {label}" for label in table.classes]

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        return float(accuracy_score(y, values.argmax(axis=1), sample_weight=weights))


class TreeNetworkRegressor(TableRegressor, _TreeNetwork):
    """Two regression trees in cascade.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeNetworkRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeNetworkRegressor(4, 3).fit(X, y).output_.n_features_in_
    11
    """

    criterion: str = parameter("squared_error", MEAN_CRITERION, MEAN_TEXT)
    encoder_: DecisionTreeRegressor = fitted("decision tree", _ENCODER_TEXT)
    output_: DecisionTreeRegressor = fitted("decision tree", _OUTPUT_TEXT)
    _tree = DecisionTreeRegressor

    def _new_names(self, table: Table) -> list[str]:
        return ["prediction"]

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        return -float(mean_squared_error(y, values[:, 0], sample_weight=weights))
