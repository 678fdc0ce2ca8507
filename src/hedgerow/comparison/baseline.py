"""The constant that every model has to beat: it stands in every table."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from hedgerow.comparison.models import Model
from hedgerow.comparison.records import CONSTANT


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the commonest class, with the share of each class as its probability."""

    n_splits_ = 0

    def fit(self, X: Any, y: Any) -> "ConstantClassifier":
        """Count the classes.

        Parameters
        ----------
        X : not looked at
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self.value_ = counts / counts.sum()
        self.nbytes_ = self.value_.nbytes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The shares of the classes, for every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.tile(self.value_, (X.shape[0], 1))

    def predict(self, X: Any) -> np.ndarray:
        """The commonest class, for every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.repeat(self.classes_[[self.value_.argmax()]], X.shape[0])


class ConstantRegressor(RegressorMixin, BaseEstimator):
    """Predicts one number: the mean, or the quantile that a metric asks for.

    Parameters
    ----------
    quantile : float, default=None
        0.5 is the median. None is the mean.
    """

    n_splits_ = 0

    def __init__(self, quantile=None):
        self.quantile = quantile

    def fit(self, X: Any, y: Any) -> "ConstantRegressor":
        """Find the number.

        Parameters
        ----------
        X : not looked at
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        y = np.asarray(y, dtype=float)
        self.value_ = y.mean() if self.quantile is None else np.quantile(y, self.quantile)
        self.nbytes_ = 8
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number, for every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.full(X.shape[0], self.value_)


class Constant(Model):
    """The line of the constant: it needs no reading of the table."""

    @property
    def library(self) -> str:
        """It belongs to no library."""
        return "none"

    def make(self, task: Any, *, seed: int = 0, n_jobs: Any = None, settings: Any = None) -> Any:
        """A new estimator.

        Parameters
        ----------
        task : {"classification", "regression"}
        seed, n_jobs, settings : not needed

        Returns
        -------
        estimator : object
        """
        if task == "classification":
            return ConstantClassifier()
        return ConstantRegressor(**self.parameters)


def constant_for(metric: str) -> Constant:
    """The best constant by a metric."""
    quantile = 0.5 if metric in ("mae", "mape") else None
    if metric.startswith("pinball_"):
        quantile = float(metric.removeprefix("pinball_"))
    return Constant("hedgerow.comparison.baseline.Constant", CONSTANT, {"quantile": quantile})
