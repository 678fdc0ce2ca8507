"""What every estimator that reads a table shares: reading it, and predicting from values.

A model's ``fit`` reads its table with :meth:`TableModel.read_table`, becomes what it has found when
it is done (:meth:`TableModel.become`), and provides ``_values``: class probabilities or numbers for
each row. scikit-learn's prediction methods follow from them.
"""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from hedgerow._conformal import IntervalRegressor, SetClassifier
from hedgerow._estimator import Estimator, fitted, parameter
from hedgerow._parameters import CATEGORICAL, CLASS_WEIGHT, MAX_BINS, N_JOBS
from hedgerow._reading import TableReading
from hedgerow._table import Schema, Table

CATEGORICAL_TEXT = (
    '"auto" reads categorical, boolean and string columns of a data frame as categories. A list of '
    "names, indices or booleans names further columns. None reads all as numbers."
)
N_JOBS_TEXT = "Threads for fitting and predicting. The result is the same for any number."

_TABLE_FACTS = (
    "schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "classes_", "n_classes_",
    "reading_",
)  # fmt: skip


class TableModel(Estimator):
    """A model of a table with numbers, categories and missing values."""

    n_features_in_: int = fitted("int")
    feature_names_in_: np.ndarray = fitted(
        "ndarray of shape (n_features,)",
        "Only for data frames with string names.",
        optional=True,
    )
    n_outputs_: int = fitted("int", "Number of targets.")
    schema_: Schema = fitted("Schema", "Names and categories of the training table.")
    reading_: TableReading = fitted(
        "TableReading",
        "How the columns of a raw table become the features, where the command line trained the "
        "model or it was set: ``model.predict(model.reading_.apply(raw))``.",
        optional=True,
    )

    @property
    def _has_classes(self) -> bool:
        """Whether targets are classes."""
        raise NotImplementedError

    @property
    def _many_outputs(self) -> bool:
        """Whether y may have several columns."""
        return False

    def read_table(self, X: Any, y: Any, sample_weight: Any = None) -> Table:
        """The training table, checked; a `Table` stays as it is."""
        if not isinstance(X, Table):
            return Table.read(
                self,
                X,
                y,
                sample_weight,
                has_classes=self._has_classes,
                categorical_features=self.categorical_features,
                many_outputs=self._many_outputs,
            )
        if y is not None or sample_weight is not None:
            raise ValueError("a Table has targets and weights of its own: leave them out.")
        return X.with_targets(self._has_classes)

    def facts(self) -> dict[str, Any]:
        """What a fitted model knows of its table, for models that are made of its members."""
        return {name: vars(self)[name] for name in _TABLE_FACTS if name in vars(self)}

    def become(self, facts: dict[str, Any]) -> None:
        """Take over what a fit has found, at its end; of an earlier table nothing stays."""
        self.__dict__.pop("calibration_", None)
        if "schema_" in facts:
            for name in _TABLE_FACTS:
                if name not in facts:
                    self.__dict__.pop(name, None)
        self.__dict__.update(facts)

    def _values(self, X: Any) -> np.ndarray:
        """Class probabilities, or numbers, for each row."""
        raise NotImplementedError

    @property
    def n_values(self) -> int:
        """Length of what is known of a row: probabilities of classes, or numbers."""
        return self.n_outputs_

    @property
    def _labels(self) -> Any:
        """What a predictor of rows answers: labels, or None for numbers."""
        return None

    @property
    def class_counts(self) -> np.ndarray:
        """Number of classes of each output, 1 for numbers."""
        return np.ones(self.n_outputs_, dtype=np.intp)

    def check_fitted(self) -> None:
        super().check_fitted()
        schema, names = self.schema_, getattr(self, "feature_names_in_", None)
        if schema.n_features != self.n_features_in_ or self.n_outputs_ < 1:
            raise ValueError("the model has other features than its table")
        if names is not None and (names.dtype != object or names.tolist() != schema.feature_names):
            raise ValueError("the names of the features differ")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        try:
            many_outputs = self._many_outputs
        except (TypeError, ValueError):  # wrong parameters, which a fit will refuse by name
            many_outputs = False
        tags.target_tags.multi_output = many_outputs
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = many_outputs
        return tags


class OwnTableParameters(TableModel):
    """Parameters of the models that read the table themselves."""

    categorical_features: Any = parameter("auto", CATEGORICAL, CATEGORICAL_TEXT)
    n_jobs: int | None = parameter(None, N_JOBS, N_JOBS_TEXT)


class BinParameters(OwnTableParameters):
    """Parameters of the models that bin the table."""

    max_bins: int | None = parameter(
        255,
        MAX_BINS,
        "Features with more distinct values are cut into this many quantile bins; up to 255 bins a "
        "cell takes one byte. None keeps every distinct value (up to 65,535; beyond, bins).",
    )


class ClassWeightParameter(Estimator):
    """The parameter of classifiers that weigh classes."""

    class_weight: Any = parameter(
        None, CLASS_WEIGHT, "Weights of the classes, multiplied with ``sample_weight``."
    )


class TableClassifier(ClassifierMixin, SetClassifier, TableModel):
    """A classifier of rows."""

    classes_: np.ndarray = fitted("ndarray of shape (n_classes,)")
    n_classes_: int = fitted("int")

    @property
    def _has_classes(self) -> bool:
        return True

    @property
    def n_values(self) -> int:
        return self.n_classes_

    @property
    def class_counts(self) -> np.ndarray:
        return np.atleast_1d(self.n_classes_)

    @property
    def _labels(self) -> Any:
        return self.classes_.tolist()

    def check_fitted(self) -> None:
        super().check_fitted()
        self.check_classes()

    def check_classes(self) -> None:
        """Refuse classes that are none, after they came out of a file."""
        if self.n_classes_ < 1 or self.n_outputs_ != 1:
            raise ValueError("the model has no classes")

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


class TableRegressor(RegressorMixin, IntervalRegressor, TableModel):
    """A regressor of rows."""

    @property
    def _has_classes(self) -> bool:
        return False

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
