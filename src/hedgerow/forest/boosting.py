"""AdaBoost around any member that takes weights, drop-in for scikit-learn's.

Classifiers follow SAMME (Zhu, Zou, Rosset and Hastie, 2009): rows that a member gets wrong weigh
more for the next one. Regressors follow AdaBoost.R2 (Drucker, 1997): rows are drawn anew by their
weights, and the prediction is the weighted median of the members'.

hedgerow's trees and graphs grow on one table, which is binned once for all rounds.
"""

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._columns import count_rows
from hedgerow._engine import link
from hedgerow._estimator import fitted, parameter
from hedgerow._progress import members_progress, with_callbacks
from hedgerow._table import Table
from hedgerow._table_model import TableClassifier, TableRegressor
from hedgerow.forest.ensemble import Ensemble, ProgressParameters
from hedgerow.forest.members import (
    EstimatorParameter,
    check_columns,
    check_members,
    fit_member,
    grow_member,
    is_graph_model,
    learner_of,
    seeded,
    takes_weights,
)
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

# Fits one member: (place, member, rows=None, weights=None) -> fitted member.
Fit = Callable[..., Any]


class _Round(NamedTuple):
    """What became of one member."""

    member: Any  # None where it is no better than chance
    error: float = 1.0
    weight: float = 0.0
    row_weights: np.ndarray | None = None  # for the next round; None ends the boosting


class _AdaBoost(Ensemble, ProgressParameters, EstimatorParameter):
    n_estimators: int = parameter(
        50,
        parameters.integer(high=parameters.MOST_MEMBERS),
        "Most members; boosting ends early at a member without error or no better than chance.",
    )
    learning_rate: float = parameter(
        1.0, parameters.real(0, above=True), "Factor of every member's weight."
    )
    estimator_: Any = fitted("estimator", "What the members are copies of.")
    members_: list = fitted("list of estimators", "The same as ``estimators_``.")
    estimator_weights_: np.ndarray = fitted(
        "ndarray of shape (n_estimators,)",
        "Weight of each member, zero for those that were not fitted.",
    )
    estimator_errors_: np.ndarray = fitted(
        "ndarray of shape (n_estimators,)",
        "Weighted error of each member, one for those that were not fitted.",
    )

    def check_fitted(self) -> None:
        super().check_fitted()
        check_members(self, self.members_, self.n_features_in_)
        weights = self.estimator_weights_
        if not 1 <= len(self.members_) <= len(weights) or weights.dtype != np.float64:
            raise ValueError("the members have no weights")
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise ValueError("a weight of a member is none")
        if self._has_classes and weights[0] == 0:
            raise ValueError("the first member has no weight")
        if any(member.n_features_in_ != self.n_features_in_ for member in self.members_):
            raise ValueError("a member has other features than its ensemble")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit the members one after the other.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Frames are passed on to the members as frames.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights before the first round; equal when None.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        estimator = self._new_estimator()
        table = self.read_table(X, y, sample_weight)
        members: list = []
        errors, weights = np.ones(self.n_estimators), np.zeros(self.n_estimators)
        with members_progress(self, self.n_estimators) as report:
            for place, done in enumerate(self._rounds(table, estimator)):
                errors[place], weights[place] = done.error, done.weight
                if done.member is not None:
                    members.append(done.member)
                if report is not None:
                    report(place + 1)
        facts = {
            "estimator_": estimator,
            "members_": members,
            "estimator_weights_": weights,
            "estimator_errors_": errors,
        }
        self.become(table.facts() | facts)
        return self

    def _rounds(self, table: Table, estimator: Any) -> Iterator[_Round]:
        """Boost until a round ends it."""
        fit = _growing(table, estimator) or _fitting(table)
        X = table.rows() if is_graph_model(estimator) else table.source
        random = check_random_state(self.random_state)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        never = weights == 0
        for place in range(self.n_estimators):
            weights = weights / weights.sum()
            # A weight that vanishes would never come back.
            weights = np.where(never, 0.0, np.maximum(weights, np.finfo(float).eps))
            member = seeded(estimator, random)
            done = self._boost(place, member, table, X, weights, random, fit)
            yield done
            if done.row_weights is None or not done.row_weights.any():
                return
            weights = done.row_weights
            if not np.isfinite(weights.sum()):
                warnings.warn(
                    f"Sample weights have reached infinite values, at iteration {place}, so "
                    "boosting ended: try a lower learning_rate.",
                    stacklevel=3,
                )
                return

    def _boost(
        self,
        place: int,
        member: Any,
        table: Table,
        X: Any,
        weights: np.ndarray,
        random: np.random.RandomState,
        fit: Fit,
    ) -> _Round:
        """Fit one member and judge it."""
        raise NotImplementedError

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions after each member."""
        raise NotImplementedError

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy or R² after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        score : float
        """
        metric = accuracy_score if self._has_classes else r2_score
        for predicted in self.staged_predict(X):
            yield metric(y, predicted, sample_weight=sample_weight)

    @property
    def _n_members(self) -> int:
        return len(self.members_)

    def _member(self, place: int) -> Any:
        return self.members_[place]

    def _prepared(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_graph_model(self.estimator_):
            return self.schema_.rows(self, X)
        return check_columns(self, X)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Weighted mean of the members' importances, where they have some."""
        check_is_fitted(self)
        importances = [member.feature_importances_ for member in self.members_]
        weights = self.estimator_weights_[: len(importances)]
        return np.average(importances, axis=0, weights=weights if weights.any() else None)

    def subset(self, n_estimators: int):
        """The first members, with their weights.

        Parameters
        ----------
        n_estimators : int
            How many members to keep, at least one.

        Returns
        -------
        boosted : object of the same class
            Equal to a model fitted with that many members.
        """
        self._check_subset(n_estimators)
        smaller = copy(self).set_params(n_estimators=n_estimators)
        names = ("members_", "estimator_weights_", "estimator_errors_")
        smaller.become({name: getattr(self, name)[:n_estimators] for name in names})
        return smaller


def _growing(table: Table, estimator: Any) -> Fit | None:
    """How members grow on the table as it was read, if they can."""
    learner = learner_of(estimator)
    if learner is None:
        return None
    learner.check_table(table)
    equal = np.ones(table.n_rows)

    def fit(place, member, rows=None, weights=None):
        weights, seed = equal if weights is None else weights, getattr(member, "random_state", None)
        return grow_member(place, member, learner, table, rows=rows, weights=weights, seed=seed)

    return fit


def _fitting(table: Table) -> Fit:
    """How members are fitted that read the table themselves."""
    X, y = table.as_given, table.labels

    def fit(place, member, rows=None, weights=None):
        return fit_member(place, member, X, y, weights=weights, rows=rows)

    return fit


class AdaBoostClassifier(TableClassifier, _AdaBoost):
    """Boosted classifiers: each member minds most the rows that those before it got wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boosted = AdaBoostClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> boosted.score(X[1::2], y[1::2]) > 0.94
    True
    """

    estimator: Any = parameter(
        None,
        parameters.anything("estimator or None"),
        "What the members are copies of, hedgerow's or scikit-learn's, if it takes "
        "``sample_weight``; None is a decision tree of depth one.",
        kw_only=False,
    )
    _tree = DecisionTreeClassifier
    _tree_depth = 1

    def check_parameters(self) -> None:
        super().check_parameters()
        estimator = self._new_estimator()
        if not takes_weights(estimator):
            raise ValueError(
                f"{type(estimator).__name__} doesn't support sample_weight, which boosting needs: "
                "take another estimator, or a BaggingClassifier."
            )

    def _boost(self, place, member, table, X, weights, random, fit):
        member = fit(place, member, weights=weights)
        wrong = _places_of(member, X, table.classes) != table.targets
        error = np.average(wrong, weights=weights)
        if error <= 0:
            return _Round(member, 0.0, 1.0)
        if error >= 1 - 1 / table.n_classes:
            if place == 0:
                raise ValueError(
                    f"The first member ({type(member).__name__}) is worse than random on the "
                    "training rows, or no better, so there is nothing to boost: take a stronger "
                    "estimator."
                )
            return _Round(None)
        weight = self.learning_rate * (np.log((1 - error) / error) + np.log(table.n_classes - 1))
        return _Round(member, error, weight, weights * np.exp(weight * wrong))

    def _staged_sums(self, X: Any) -> Iterator[np.ndarray]:
        """After each member the weighted mean of the votes: 1 for a class, -1/(K - 1) against."""
        X, codes = self._prepared(X), np.arange(self.n_classes_)
        sums, total = np.zeros((count_rows(X), len(codes))), 0.0
        against = -1 / max(1, self.n_classes_ - 1)
        for member, weight in zip(self.members_, self.estimator_weights_, strict=False):
            chosen = _places_of(member, X, self.classes_)[:, None] == codes
            sums, total = sums + np.where(chosen, weight, against * weight), total + weight
            yield sums / total

    def _values(self, X: Any) -> np.ndarray:
        *_, last = self._staged_sums(X)
        return link(last / max(1, self.n_classes_ - 1), "softmax")

    def decision_function(self, X: Any) -> np.ndarray:
        """The weighted mean of the members' votes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        votes : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            From -1 to 1; for two classes positive for the second.
        """
        *_, last = self.staged_decision_function(X)
        return last

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """:meth:`decision_function` after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        votes : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        for sums in self._staged_sums(X):
            yield sums[:, 1] - sums[:, 0] if self.n_classes_ == 2 else sums

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predicted classes after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for sums in self._staged_sums(X):
            yield self.classes_[sums.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """The class probabilities after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        for sums in self._staged_sums(X):
            yield link(sums / max(1, self.n_classes_ - 1), "softmax")


def _places_of(member: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """A member's predictions for a prepared table, as places in ``classes``."""
    if is_graph_model(member):
        return member.values_of_encoded(X).argmax(axis=1)
    return np.searchsorted(classes, member.predict(X))


def _numbers_of(member: Any, X: Any) -> np.ndarray:
    """A member's predictions for a prepared table."""
    if is_graph_model(member):
        return member.values_of_encoded(X)[:, 0]
    return member.predict(X)


class AdaBoostRegressor(TableRegressor, _AdaBoost):
    """Boosted regressors: each member is fitted on rows drawn by how far those before it were off.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdaBoostRegressor(random_state=0).fit(X, y).score(X, y) > 0.5
    True
    """

    estimator: Any = parameter(
        None,
        parameters.anything("estimator or None"),
        "What the members are copies of, hedgerow's or scikit-learn's; None is a decision tree of "
        "depth three.",
        kw_only=False,
    )
    loss: str = parameter(
        "linear",
        parameters.option("linear", "square", "exponential"),
        "How the error of a row, as a share of the largest, counts.",
    )
    _tree = DecisionTreeRegressor
    _tree_depth = 3

    def _boost(self, place, member, table, X, weights, random, fit):
        rows = random.choice(table.n_rows, table.n_rows, p=weights).astype(np.uint32)
        member = fit(place, member, rows=rows)
        counted = weights > 0
        loss = np.abs(_numbers_of(member, X) - table.targets)
        loss = loss / (loss[counted].max() or 1.0)
        if self.loss == "square":
            loss = loss**2
        elif self.loss == "exponential":
            loss = 1 - np.exp(-loss)
        error = np.sum(weights[counted] * loss[counted])
        if error <= 0:
            return _Round(member, 0.0, 1.0)
        if error >= 0.5:
            return _Round(None if place else member)
        beta = error / (1 - error)
        weights = weights * beta ** ((1 - loss) * self.learning_rate)
        return _Round(member, error, -self.learning_rate * np.log(beta), weights)

    def _median(self, predictions: np.ndarray) -> np.ndarray:
        """The weighted median over the first members; a column of predictions for each."""
        order = np.argsort(predictions, axis=1, kind="stable")
        sums = np.cumsum(self.estimator_weights_[order], axis=1)
        middle = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        return np.take_along_axis(
            predictions, np.take_along_axis(order, middle[:, None], axis=1), axis=1
        )

    def _all_predictions(self, X: Any) -> np.ndarray:
        X = self._prepared(X)
        return np.column_stack([_numbers_of(member, X) for member in self.members_])

    def _values(self, X: Any) -> np.ndarray:
        return self._median(self._all_predictions(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predicted numbers after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        predictions = self._all_predictions(X)
        for n in range(1, predictions.shape[1] + 1):
            yield self._median(predictions[:, :n])[:, 0]
