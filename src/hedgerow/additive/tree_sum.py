"""Sums of few trees that grow together, the values of all leaves fitted together.

Of all leaves of all members, and of the root of a new one, the split is taken that lowers the loss
most; after each split all leaf values are fitted together, shrunk by a ridge whose strength the
evidence of the data chooses. So one limit, ``max_splits``, holds for the whole sum, and the data
say whether it becomes one deep tree or many stumps. FIGS (Tan et al. 2022) has the same rule
without the common fit. Grown by the engine (``cpp/additive``); this module checks parameters and
speaks scikit-learn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import TreeSumParams, grow_tree_sum
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import sum_by_feature
from hedgerow._learner import n_rows_of
from hedgerow._table import Table
from hedgerow._table_model import BinParameters, ClassWeightParameter
from hedgerow.additive.sum_model import SumClassifier, SumModel, SumRegressor

MOST_SPLITS = 10_000  # the fit of all leaves needs a matrix of their pairs
_ENGINE_LOSSES = {
    "squared_error": "squared",
    "poisson": "poisson",
    "log_loss": "log_loss",
}  # fmt: skip


@dataclass(frozen=True)
class TreeSumLearner:
    """Grows the members of a sum on rows of a table."""

    settings: Settings

    def grow(
        self, table: Table, rows: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> dict[str, Any]:
        """The fitted attributes of a sum that learns from some rows (all when None) of a table."""
        given = self.settings
        loss = getattr(given, "loss", "log_loss")
        check_targets(loss, table.targets)
        weights = table.weighed(getattr(given, "class_weight", None), weights)
        n_jobs = parameters.resolve_n_jobs(given.n_jobs)
        data = table.bins(given.max_bins, n_jobs)
        if table.n_classes == 1:
            return {"graphs_": [], "intercept_": np.zeros(1), "ridge_": 0.0, "freedom_": 0.0}
        grown = grow_tree_sum(
            data,
            rows,
            table.targets,
            weights,
            self._params(loss, table, n_rows_of(table, rows)),
            n_jobs,
        )
        return {
            "graphs_": list(grown["members"]),
            "intercept_": grown["intercept"],
            "ridge_": grown["ridge"],
            "freedom_": grown["freedom"],
        }

    def _params(self, loss: str, table: Table, n_rows: int) -> TreeSumParams:
        given = self.settings
        return TreeSumParams(
            loss=_ENGINE_LOSSES[loss],
            n_classes=table.n_classes,
            max_splits=given.max_splits,
            max_members=parameters.limit(given.max_members),
            max_depth=parameters.limit(given.max_depth),
            min_samples_leaf=parameters.count_or_share(
                "min_samples_leaf", given.min_samples_leaf, n_rows, low=1
            ),
            ridge=-1.0 if parameters.is_word(given.ridge, "evidence") else float(given.ridge),
            category_smoothing=float(given.category_smoothing),
            min_gain=float(given.min_gain),
        )


def check_targets(loss: str, targets: np.ndarray) -> None:
    """Refuse targets that the loss has no value for."""
    if loss == "poisson" and (targets.min() < 0 or targets.sum() <= 0):
        raise ValueError(
            "loss 'poisson' needs targets that are not negative and not all zero, "
            f"got a smallest target of {targets.min():g}."
        )


class TreeSum(SumModel, BinParameters):
    """A sum of few trees."""

    max_splits: int = parameter(
        40,
        parameters.integer(high=MOST_SPLITS),
        "Most splits in all members together.",
        kw_only=False,
    )
    max_members: int | None = parameter(
        None, parameters.integer(optional=True), "Most members; None sets no limit."
    )
    max_depth: int | None = parameter(
        None,
        parameters.integer(optional=True),
        "Most splits on a path from the root of a member to a leaf. Members of depth 1 use one "
        "feature each, those of depth 2 at most two: their sum can be read term by term.",
    )
    min_samples_leaf: int | float = parameter(
        10, parameters.count(1), "A split must leave this many rows (or this share) on both sides."
    )
    ridge: float | str = parameter(
        "evidence",
        parameters.real(0, word="evidence"),
        "Price of the squares of the leaf values, in the units of the second derivative of the "
        'loss of a row: a leaf of this many rows is shrunk by half. "evidence" makes it the most '
        "probable one for the training rows.",
    )
    category_smoothing: float = parameter(
        10.0,
        parameters.real(0),
        "Categories are ordered as if each had this many further rows that say nothing: rare ones "
        "stay in the middle.",
    )
    min_gain: float = parameter(
        10.0,
        parameters.real(0),
        "A split must lower twice the loss by this many times the noise of a row: growth ends "
        "where the best of all splits gains no more than one of noise would. 0 uses up "
        "``max_splits``.",
    )
    ridge_: float = fitted("float", "The ridge that the leaf values were fitted with.")
    freedom_: float = fitted(
        "float", "The effective number of leaf values: those that are not shrunk away."
    )

    def learner(self) -> TreeSumLearner:
        """What grows such sums on rows of a table: the parameters, checked and frozen."""
        return TreeSumLearner(self.settings())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the sum.

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
        learner = self.learner()
        table = self.read_table(X, y, sample_weight)
        self.become(learner.grow(table) | table.facts())
        return self

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the variance of the members' scores that the splits of each feature make."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for graph in self.graphs_:
            lost = graph.weight * graph.impurity
            made = np.where(graph.left < 0, 0.0, lost - lost[graph.left] - lost[graph.right])
            total += sum_by_feature(graph, made)
        return total / total.sum() if total.sum() > 0 else total


class TreeSumClassifier(SumClassifier, TreeSum, ClassWeightParameter):
    """A sum of few trees that adds up to the log-odds of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import TreeSumClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TreeSumClassifier(max_splits=8).fit(X, y)
    >>> model.n_splits_
    8
    """

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Class probabilities after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        yield from self._staged_values(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The most probable class of each row after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._staged_values(X):
            yield self.classes_[values.argmax(axis=1)]


class TreeSumRegressor(SumRegressor, TreeSum):
    """A sum of few trees for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeSumRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeSumRegressor(max_splits=4).fit(X, y)
    >>> model.n_splits_
    4
    """

    loss: str = parameter(
        "squared_error",
        parameters.option("squared_error", "poisson"),
        'What is made small. "poisson" is for counts: members add up to the logarithm.',
    )

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predicted number of each row after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._staged_values(X):
            yield values[:, 0]
