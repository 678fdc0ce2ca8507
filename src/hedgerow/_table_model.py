"""What every estimator that reads a table shares: checking the table, and predicting from values.

A model's ``fit`` reads its table with :meth:`TableModel._read_table` and provides ``_values``:
class probabilities or one number for each row. scikit-learn's prediction methods follow from them.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from hedgerow import _parameters as parameters
from hedgerow._table import (
    Schema,
    check_magnitude,
    check_sample_weight,
    check_targets_match,
    encode_labels,
)


class TableModel(BaseEstimator):
    """A model of a table with numbers, categories and missing values."""

    schema_: Schema
    _many_outputs = False  # whether y may have several columns

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Check and remember the training table; return it with targets and weights."""
        self.schema_, X = Schema.learn(self, X, self.categorical_features)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = check_array(
            y, ensure_2d=False, dtype=None, ensure_min_samples=0, allow_nd=True, input_name="y"
        )
        if y.ndim != 2 or y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        elif not self._many_outputs:
            raise ValueError(f"y has {y.shape[1]} outputs; only one output is supported so far.")
        y = self._read_targets(y)
        check_targets_match(X, y)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        return X, y, check_sample_weight(sample_weight, len(y))

    def _adopt_table(self, reader: "TableModel") -> None:
        """Take over what another model has read of the training table."""
        for name in ("schema_", "n_outputs_", "n_features_in_", "feature_names_in_",
                     "classes_", "n_classes_"):  # fmt: skip
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _with_class_weight(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        return weights

    def _values(self, X: Any) -> np.ndarray:
        """Class probabilities, or one number, for each row."""
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class TableClassifier(ClassifierMixin, TableModel):
    """A classifier of rows."""

    classes_: np.ndarray
    n_classes_: int

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = encode_labels(y)
        self.n_classes_ = len(self.classes_)
        return codes

    def _with_class_weight(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """The sample weights multiplied by the weights of the classes."""
        if self.class_weight is None:
            return weights
        if not isinstance(self.class_weight, dict):
            parameters.check_option("class_weight", self.class_weight, ("balanced",))
        by_class = compute_sample_weight(self.class_weight, self.classes_[y])
        if not (np.isfinite(by_class).all() and by_class.min() >= 0 and by_class.any()):
            raise ValueError(
                "'class_weight' must hold finite weights that are not negative and not all zero, "
                f"got {self.class_weight!r}."
            )
        return by_class if weights is None else weights * by_class

    def _best_classes(self, X: Any) -> np.ndarray:
        """The index of the most probable class of each row."""
        return self._values(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._values(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        best = self._best_classes(X)
        return self.classes_[best]


class TableRegressor(RegressorMixin, TableModel):
    """A regressor of rows."""

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        y = check_array(y, ensure_2d=False, dtype=np.float64, order="C", input_name="y")
        check_magnitude("y", y)
        return y

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values
