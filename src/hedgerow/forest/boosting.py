"""AdaBoost around any member that takes weights, drop-in for scikit-learn's.

Classifiers follow SAMME (Zhu, Zou, Rosset and Hastie, 2009): rows that a member gets wrong weigh
more for the next one. Regressors follow AdaBoost.R2 (Drucker, 1997): rows are drawn anew by their
weights, and the prediction is the weighted median of the members'.

For plain decision trees the table is binned once and every round grows on it.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import grow
from hedgerow._progress import progress
from hedgerow._table_model import TableClassifier, TableRegressor
from hedgerow.forest.members import (
    ATTRIBUTES,
    Ensemble,
    fit_member,
    seeded,
    takes_weights,
    tree_of,
    tree_params,
    tree_weights,
)
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_PARAMETERS = """\
    n_estimators : int, default=50
        Most members; boosting ends early at a member without error or no better than chance.
    learning_rate : float, default=1.0
        Factor of every member's weight.
"""

_PROGRESS = """\
    random_state : int, RandomState instance or None, default=None
        Seed of the members and, for regressors, of the drawn rows.
    verbose : int, default=0
        1 shows a bar with members done and time left.
    callback : callable, default=None
        Called after each member, with (members done, most members).
"""

_BOOSTING_ATTRIBUTES = """\
    estimators_ : list of estimators
        The fitted members.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weight of each member, zero for those that were not fitted.
    estimator_errors_ : ndarray of shape (n_estimators,)
        Weighted error of each member, one for those that were not fitted.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of the members' importances, where they have some.
"""

# Fits one member: (place, member, rows=None, weights=None) -> (fitted member, its predictions for
# the training table).
Round = Callable[..., tuple[Any, np.ndarray]]


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip(),
        progress=_PROGRESS.strip(),
        attributes=(_BOOSTING_ATTRIBUTES + ATTRIBUTES).strip(),
    )
    return cls


class _AdaBoost(Ensemble):
    estimators_: list

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
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
        member = self._member()
        self._check_parameters(member)
        X, y, weights = self._read_table(X, y, sample_weight)
        weights = np.ones(len(y)) if weights is None else weights
        self.estimator_ = member
        self.estimators_ = []
        self.estimator_weights_ = np.zeros(self.n_estimators)
        self.estimator_errors_ = np.ones(self.n_estimators)
        fit_round = self._tree_rounds(X, y) if self._has_trees else self._rounds(X, y)
        with progress(
            self.verbose, self.callback, self.n_estimators, type(self).__name__
        ) as report:
            for place in self._boost(y, weights, fit_round):
                if report is not None:
                    report(place + 1)
        return self

    def _check_parameters(self, member: Any) -> None:
        self._check_member(member)
        parameters.check_int("n_estimators", self.n_estimators, low=1)
        parameters.check_real("learning_rate", self.learning_rate, low=0)
        if self.learning_rate == 0:
            raise ValueError(f"'learning_rate' must be above 0, got {self.learning_rate!r}.")

    @property
    def _has_trees(self) -> bool:
        return type(self.estimator_) is self._tree

    def _tree_rounds(self, X: Any, y: np.ndarray) -> Round:
        """Rounds on one binned table."""
        tree, n_jobs = self.estimator_, parameters.resolve_n_jobs(self.estimator_.n_jobs)
        by_class = tree_weights(self, tree, y, None)
        encoded = self.schema_.encode(self, X)
        data = self.schema_.bin(X, parameters.max_bins_code(tree.max_bins), n_jobs)

        def fit_round(place, member, rows=None, weights=None):
            if by_class is not None:
                weights = weights * by_class
            total = float(len(y) if weights is None else weights.sum())
            seed = int(check_random_state(member.random_state).randint(2**31 - 1))
            params = tree_params(self, tree, len(y), total, seed)
            grown = tree_of(self, grow(data, rows, y, weights, params, n_jobs))
            return grown, self._predictions_of(grown, encoded)

        return fit_round

    def _rounds(self, X: Any, y: np.ndarray) -> Round:
        """Rounds of members that read the table themselves."""
        labels = self._labels(y)

        def fit_round(place, member, rows=None, weights=None):
            fit_member(place, member, X, labels, weights=weights, rows=rows)
            return member, self._predictions_of(member, X)

        return fit_round

    def _boost(self, y: np.ndarray, weights: np.ndarray, fit_round: Round) -> Iterator[int]:
        """Fit the members; yield the place of each."""
        random = check_random_state(self.random_state)
        never = weights == 0
        for place in range(self.n_estimators):
            weights = weights / weights.sum()
            # A weight that vanishes would never come back.
            weights = np.where(never, 0.0, np.maximum(weights, np.finfo(float).eps))
            member = seeded(self.estimator_, random)
            done = self._boost_once(place, member, y, weights, random, fit_round)
            yield place
            if done is None:
                return
            self.estimator_errors_[place], self.estimator_weights_[place], weights = done
            if self.estimator_errors_[place] == 0 or not weights.any():
                return
            if not np.isfinite(weights.sum()):
                warnings.warn(
                    f"The weights of the rows became infinite in round {place}, so boosting "
                    "ended: try a lower learning_rate.",
                    stacklevel=3,
                )
                return

    def _prepared(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.schema_.encode(self, X) if self._has_trees else self._check_table(X)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Weighted mean of the members' importances."""
        check_is_fitted(self)
        importances = [member.feature_importances_ for member in self.estimators_]
        weights = self.estimator_weights_[: len(importances)]
        return np.average(importances, axis=0, weights=weights if weights.any() else None)


@_with_parameters
class AdaBoostClassifier(TableClassifier, _AdaBoost):
    """Boosted classifiers: each member minds most the rows that those before it got wrong.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are copies of, hedgerow's or scikit-learn's, if it takes
        ``sample_weight``; None is a decision tree of depth one.
    {parameters}
    {progress}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boosted = AdaBoostClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> boosted.score(X[1::2], y[1::2]) > 0.94
    True
    """

    _tree = DecisionTreeClassifier
    _tree_depth = 1

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self, member):
        super()._check_parameters(member)
        if not takes_weights(member):
            raise ValueError(
                f"{type(member).__name__} takes no 'sample_weight', which boosting needs: take "
                "another estimator, or a BaggingClassifier."
            )

    def _boost_once(self, place, member, y, weights, random, fit_round):
        member, predictions = fit_round(place, member, weights=weights)
        wrong = predictions != y
        error = np.average(wrong, weights=weights)
        if error <= 0:
            self.estimators_.append(member)
            return 0.0, 1.0, weights
        if error >= 1 - 1 / self.n_classes_:
            if not self.estimators_:
                raise ValueError(
                    f"The first member ({type(member).__name__}) is no better than chance on the "
                    "training rows, so there is nothing to boost: take a stronger estimator."
                )
            return None
        self.estimators_.append(member)
        weight = self.learning_rate * (np.log((1 - error) / error) + np.log(self.n_classes_ - 1))
        return error, weight, weights * np.exp(weight * wrong)

    def _predictions_of(self, member, X):
        """A member's predictions for a prepared table, as places in ``classes_``."""
        if self._has_trees:
            n_jobs = parameters.resolve_n_jobs(member.n_jobs)
            return member._packed.predict(X, n_jobs).argmax(axis=1)
        return np.searchsorted(self.classes_, member.predict(X))

    def _staged_sums(self, X: Any) -> Iterator[np.ndarray]:
        """After each member the weighted mean of the votes: 1 for a class, -1/(K - 1) against."""
        X, codes = self._prepared(X), np.arange(self.n_classes_)
        sums, total = np.zeros((len(X), len(codes))), 0.0
        against = -1 / max(1, self.n_classes_ - 1)
        for member, weight in zip(self.estimators_, self.estimator_weights_, strict=False):
            chosen = self._predictions_of(member, X)[:, None] == codes
            sums, total = sums + np.where(chosen, weight, against * weight), total + weight
            yield sums / total

    def _values(self, X):
        *_, last = self._staged_sums(X)
        return softmax(last / max(1, self.n_classes_ - 1))

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
            yield softmax(sums / max(1, self.n_classes_ - 1))


@_with_parameters
class AdaBoostRegressor(TableRegressor, _AdaBoost):
    """Boosted regressors: each member is fitted on rows drawn by how far those before it were off.

    Parameters
    ----------
    estimator : estimator, default=None
        What the members are copies of, hedgerow's or scikit-learn's; None is a decision tree of
        depth three.
    {parameters}
    loss : {{"linear", "square", "exponential"}}, default="linear"
        How the error of a row, as a share of the largest, counts.
    {progress}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdaBoostRegressor(random_state=0).fit(X, y).score(X, y) > 0.5
    True
    """

    _tree = DecisionTreeRegressor
    _tree_depth = 3

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        loss="linear",
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self, member):
        super()._check_parameters(member)
        parameters.check_option("loss", self.loss, ("linear", "square", "exponential"))

    def _boost_once(self, place, member, y, weights, random, fit_round):
        rows = random.choice(len(y), len(y), p=weights).astype(np.uint32)
        member, predictions = fit_round(place, member, rows=rows)
        counted = weights > 0
        loss = np.abs(predictions - y)
        loss = loss / (loss[counted].max() or 1.0)
        if self.loss == "square":
            loss = loss**2
        elif self.loss == "exponential":
            loss = 1 - np.exp(-loss)
        error = np.sum(weights[counted] * loss[counted])
        if error >= 0.5 and self.estimators_:
            return None
        self.estimators_.append(member)
        if error <= 0:
            return 0.0, 1.0, weights
        if error >= 0.5:
            return None
        beta = error / (1 - error)
        weights = weights * beta ** ((1 - loss) * self.learning_rate)
        return error, -self.learning_rate * np.log(beta), weights

    def _predictions_of(self, member, X):
        """A member's predictions for a prepared table."""
        if self._has_trees:
            return member._packed.predict(X, parameters.resolve_n_jobs(member.n_jobs))[:, 0]
        return member.predict(X)

    def _median(self, predictions: np.ndarray) -> np.ndarray:
        """The weighted median over the first members; a column of predictions for each."""
        order = np.argsort(predictions, axis=1)
        sums = np.cumsum(self.estimator_weights_[order], axis=1)
        middle = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        return np.take_along_axis(
            predictions, np.take_along_axis(order, middle[:, None], axis=1), axis=1
        )

    def _all_predictions(self, X: Any) -> np.ndarray:
        X = self._prepared(X)
        return np.column_stack([self._predictions_of(member, X) for member in self.estimators_])

    def _values(self, X):
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
