"""A fitted model of any library: what it predicts, in one form."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier


class Teacher:
    """A fitted model that is to be imitated.

    Attributes
    ----------
    model : estimator
    classes : ndarray or None
        None for regressors.
    """

    def __init__(self, model: Any) -> None:
        if not callable(getattr(model, "predict", None)):
            raise TypeError(
                "'model' must be a fitted classifier or regressor with a 'predict' method, got "
                f"{type(model).__name__}."
            )
        if isinstance(model, type):
            raise TypeError(
                f"'model' must be a fitted estimator, got the class {model.__name__}: "
                "make one and fit it first."
            )
        if getattr(model, "n_outputs_", 1) != 1:
            raise ValueError(
                f"'model' has {model.n_outputs_} outputs: give a model of one output for each."
            )
        self.model = model
        self.classes = self._classes()

    def _classes(self) -> np.ndarray | None:
        classes = getattr(self.model, "classes_", None)
        if classes is not None and len(classes):  # CatBoost's regressors have none in a list
            return np.asarray(classes)
        if hasattr(self.model, "label_classes"):  # YDF
            is_ydf_classifier = str(self.model.task()).endswith("CLASSIFICATION")
            return np.asarray(self.model.label_classes()) if is_ydf_classifier else None
        try:
            has_classes = is_classifier(self.model)
        except AttributeError:  # an object without scikit-learn's tags
            has_classes = hasattr(self.model, "predict_proba")
        if not has_classes:
            return None
        raise TypeError(
            f"{type(self.model).__name__} has no 'classes_': the classes of its probabilities are "
            "not known; give it that attribute."
        )

    def values(self, X: Any) -> np.ndarray:
        """Class probabilities, or numbers in one column, for each row.

        A classifier without ``predict_proba`` is certain of what it predicts.
        """
        if self.classes is None:
            numbers = np.asarray(self.model.predict(X), dtype=np.float64)
            if numbers.ndim > 1 and numbers.shape[1:] != (1,):
                raise ValueError(
                    f"{type(self.model).__name__} predicts {numbers.shape[1]} numbers a row; "
                    "compress takes models of one."
                )
            values = numbers.reshape(-1, 1)
        elif hasattr(self.model, "predict_proba"):
            values = np.asarray(self.model.predict_proba(X), dtype=np.float64)
            if values.ndim != 2 or values.shape[1] != len(self.classes):
                raise ValueError(
                    f"'predict_proba' of {type(self.model).__name__} gives shape {values.shape} "
                    f"for {len(self.classes)} classes: one column for each is needed."
                )
        elif hasattr(self.model, "label_classes"):
            values = np.asarray(self.model.predict(X), dtype=np.float64)
            if values.ndim == 1:  # of the second of two classes
                values = np.column_stack([1 - values, values])
        else:
            predicted = np.ravel(np.asarray(self.model.predict(X)))
            values = (predicted[:, None] == self.classes).astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{type(self.model).__name__} predicts numbers that are not finite for some rows "
                "of X."
            )
        return values
