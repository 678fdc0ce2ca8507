"""Classifiers of one output or several at once, as scikit-learn's trees and forests are.

With several outputs ``classes_`` and ``n_classes_`` are lists, ``predict`` has a column for each,
and ``predict_proba`` gives a list. Inside, the probabilities of all outputs stand next to each
other: a leaf has one row of values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow._estimator import fitted
from hedgerow._table_model import TableClassifier
from hedgerow._targets import side_by_side


def by_output(values: np.ndarray, class_counts: Sequence[int] | np.ndarray) -> list[np.ndarray]:
    """The columns of each output."""
    return np.split(values, np.cumsum(class_counts)[:-1], axis=-1)


class SeveralOutputsClassifier(TableClassifier):
    """A classifier whose targets may have several columns."""

    classes_: Any = fitted("ndarray of shape (n_classes,), or a list of them with several outputs")
    n_classes_: Any = fitted("int, or a list of int with several outputs")

    @property
    def _many_outputs(self) -> bool:
        return True

    @property
    def _has_several(self) -> bool:
        return getattr(self, "n_outputs_", 1) > 1

    @property
    def n_values(self) -> int:
        return int(sum(self.class_counts))

    @property
    def _labels(self) -> Any:
        if self._has_several:
            return tuple(classes.tolist() for classes in self.classes_)
        return super()._labels

    def check_classes(self) -> None:
        if not self._has_several:
            super().check_classes()
            return
        counts, classes = self.n_classes_, self.classes_
        if not (type(counts) is list is type(classes) and len(counts) == self.n_outputs_):
            raise ValueError("the model has other outputs than classes")
        if [getattr(known, "shape", None) for known in classes] != [(n,) for n in counts]:
            raise ValueError("the model has other classes than it says")

    def calibrate(self, X: Any, y: Any):
        if self._has_several:
            raise ValueError("Sets of classes are for one output; this model has several.")
        return super().calibrate(X, y)

    calibrate.__doc__ = TableClassifier.calibrate.__doc__

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or a list of them
            Columns in the order of ``classes_``; one array for each of several outputs.
        """
        values = self._values(X)
        return by_output(values, self.class_counts) if self._has_several else values

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes), or a list of them
        """
        if not self._has_several:
            return super().predict_log_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(probabilities) for probabilities in self.predict_proba(X)]

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        if not self._has_several:
            return super().predict(X)
        probabilities = self.predict_proba(X)
        return side_by_side(
            [c[p.argmax(axis=1)] for c, p in zip(self.classes_, probabilities, strict=True)]
        )
