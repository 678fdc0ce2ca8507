"""Other libraries' models, with the table and the labels in the form that each of them wants.

`Peer` reads any frame: numbers as they are, missing values as NaN, categories as codes that the
library is told of, or one-hot encoded where it has no categories (scikit-learn's trees and
forests). YDF, which has an interface of its own, gets scikit-learn's here.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils.class_weight import compute_sample_weight

from hedgerow._parameters import resolve_n_jobs
from hedgerow._table import Table

MOST_CATEGORIES = 254  # scikit-learn's boosting takes no more; rarer ones count as missing
MOST_ONE_HOT = 100


class Peer(BaseEstimator):
    """An estimator of another library that reads frames with categories and missing values.

    Parameters
    ----------
    estimator : object
    one_hot : bool, default=False
        Encode categories as columns of zeros and ones.
    is_balanced : bool, default=False
        Weigh rows so that all classes weigh the same.

    Attributes
    ----------
    estimator_ : object
        The fitted estimator.
    classes_ : ndarray
        For classifiers.
    """

    def __init__(self, estimator, one_hot=False, is_balanced=False):
        self.estimator = estimator
        self.one_hot = one_hot
        self.is_balanced = is_balanced

    def fit(self, X: Any, y: Any = None) -> "Peer":
        """Fit the estimator.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or Table
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        if not isinstance(X, Table):
            X = Table.read(self, X, y, has_classes=is_classifier(self.estimator))
        self.__dict__.update(X.facts())
        y, table = X.labels, X.matrix()
        most = MOST_ONE_HOT if self.one_hot else MOST_CATEGORIES
        self._places = {
            feature: _common(table[:, feature], len(categories), most)
            for feature, categories in self.schema_.categories.items()
        }
        estimator = clone(self.estimator)
        arguments: dict[str, Any] = {}
        if self._places and not self.one_hot:
            arguments = _tell(estimator, list(self._places), self.schema_.n_features)
        if is_classifier(estimator):
            self.classes_, y = np.unique(y, return_inverse=True)
        if self.is_balanced:
            arguments["sample_weight"] = compute_sample_weight("balanced", y)
        self.estimator_ = estimator.fit(self._read(table), y, **arguments)
        return self

    def _read(self, table: np.ndarray) -> np.ndarray:
        """The table in the form that the estimator wants."""
        if not self._places:
            return table
        columns = []
        for feature, column in enumerate(table.T):
            if feature in self._places:
                place = self._places[feature]
                column = place[np.where(np.isnan(column), -1, column).astype(np.intp)]
                if self.one_hot:
                    column = column[:, None] == np.arange(np.nanmax(place, initial=-1) + 1)
            columns.append(column.reshape(len(table), -1))
        read = np.hstack(columns)
        if _library(self.estimator) == "catboost":  # wants words where others want codes
            read = read.astype(object)
            for feature in self._places:
                read[:, feature] = read[:, feature].astype(str)
        return read

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels or numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if not hasattr(self, "classes_"):
            table = self._read(self.schema_.encode(self, X))
            return np.asarray(self.estimator_.predict(table), dtype=float)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        table = self._read(self.schema_.encode(self, X))
        return np.asarray(self.estimator_.predict_proba(table), dtype=float)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if is_classifier(self.estimator) else "regressor"
        tags.input_tags.allow_nan = True
        return tags


def _library(estimator: Any) -> str:
    return type(estimator).__module__.partition(".")[0]


def _tell(estimator: Any, categorical: list[int], n_features: int) -> dict[str, Any]:
    """Say which columns hold codes of categories; return what goes to ``fit``."""
    library = _library(estimator)
    if library == "lightgbm":
        return {"categorical_feature": categorical}
    if library == "xgboost":
        kinds = ["c" if feature in categorical else "q" for feature in range(n_features)]
        estimator.set_params(enable_categorical=True, feature_types=kinds)
    elif library == "interpret":
        kinds = ["nominal" if f in categorical else "continuous" for f in range(n_features)]
        estimator.set_params(feature_types=kinds)
    else:
        name = "cat_features" if library == "catboost" else "categorical_features"
        estimator.set_params(**{name: categorical})
    return {}


def _common(codes: np.ndarray, n_categories: int, most: int) -> np.ndarray:
    """New codes, the most frequent first; NaN for the rare ones and, at the end, for missing."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=n_categories)
    kept = np.argsort(-counts, kind="stable")[:most]
    place = np.full(n_categories + 1, np.nan)
    place[kept] = np.arange(len(kept))
    return place


class _Ydf(BaseEstimator):
    """A YDF learner with scikit-learn's methods; the columns are a matrix of numbers and codes."""

    _learner = ""

    def __init__(self, random_state=0, n_jobs=None, categorical_features=()):
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _columns(self, X):
        columns = {f"x{i}": column for i, column in enumerate(np.asarray(X, dtype=np.float32).T)}
        for feature in self.categorical_features:
            column = columns[f"x{feature}"]
            words = np.where(np.isnan(column), "", column.astype(str))
            columns[f"x{feature}"] = words.astype(object)
        return columns

    def _train(self, X, y, task, sample_weight=None):
        import ydf
        from absl import logging

        logging.set_verbosity(logging.ERROR)
        learner = getattr(ydf, self._learner)(
            label="target",
            task=task,
            random_seed=self.random_state,
            num_threads=resolve_n_jobs(self.n_jobs),
            weights=None if sample_weight is None else "weight",
        )
        columns = {**self._columns(X), "target": y}
        if sample_weight is not None:
            columns["weight"] = np.asarray(sample_weight, dtype=np.float32)
        self.model_ = learner.train(columns, verbose=0)
        return self

    def _predict(self, X):
        return self.model_.predict(self._columns(X), num_threads=resolve_n_jobs(self.n_jobs))


class _YdfClassifier(ClassifierMixin, _Ydf):
    def fit(self, X, y, sample_weight=None):
        import ydf

        self.classes_ = np.unique(y)
        return self._train(X, np.asarray(y), ydf.Task.CLASSIFICATION, sample_weight)

    def predict_proba(self, X):
        shares = self._predict(X)
        if shares.ndim == 1:  # of the second of two classes
            shares = np.column_stack([1 - shares, shares])
        # YDF orders classes by frequency or by name: put them in the order of classes_.
        order = np.argsort(np.array(self.model_.label_classes()).astype(int))
        return shares[:, order]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class _YdfRegressor(RegressorMixin, _Ydf):
    def fit(self, X, y):
        import ydf

        return self._train(X, np.asarray(y, dtype=np.float32), ydf.Task.REGRESSION)

    def predict(self, X):
        return self._predict(X)


class YdfForestClassifier(_YdfClassifier):
    """YDF's random forest."""

    _learner = "RandomForestLearner"


class YdfForestRegressor(_YdfRegressor):
    """YDF's random forest."""

    _learner = "RandomForestLearner"


class YdfBoostingClassifier(_YdfClassifier):
    """YDF's gradient boosting."""

    _learner = "GradientBoostedTreesLearner"


class YdfBoostingRegressor(_YdfRegressor):
    """YDF's gradient boosting."""

    _learner = "GradientBoostedTreesLearner"
