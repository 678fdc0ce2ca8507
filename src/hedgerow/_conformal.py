"""Intervals and sets of classes that hold the truth with a chosen probability.

Split-conformal prediction: how far a fitted model was off on rows that it had not seen says how far
it will be off on further rows of the same kind, whatever the model. The rows are given
(``calibrate``), or are those that the members of a bag did not draw (``oob_score=True``).

With n such rows and scores s (absolute residuals; one minus the probability of the true class),
the score of a further row is at most the ceil((n + 1) * coverage)-th smallest with at least the
chosen probability, as long as the rows can change places with each other.
"""

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow._estimator import Estimator, fitted
from hedgerow._parameters import is_real, refuse
from hedgerow._targets import check_targets_match, read_targets


def radius(scores: np.ndarray, coverage: float) -> np.ndarray:
    """What the scores of further rows do not exceed with the chosen probability.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_outputs)
        Sorted by row, each output on its own.
    """
    if not (is_real(coverage) and 0 < coverage < 1):
        refuse("coverage", "a number between 0 and 1", coverage)
    # As the decimals were written: 10 * 0.9 in binary numbers is more than 9 elsewhere.
    share = Fraction(str(coverage))
    place = ceil((len(scores) + 1) * share)
    if place > len(scores):
        needed = ceil(share / (1 - share))
        raise ValueError(
            f"coverage={coverage} needs at least {needed} rows to calibrate on, "
            f"there were {len(scores)}."
        )
    return scores[place - 1]


def sorted_residuals(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Absolute residuals of rows that were not fitted: the scores of intervals."""
    residuals = np.abs(truth - predicted).reshape(len(truth), -1)
    return np.sort(residuals[~np.isnan(residuals).any(axis=1)], axis=0)


def sorted_doubts(places: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """One minus the probability of the true class (its place): the scores of sets."""
    doubts = 1 - probabilities[np.arange(len(places)), places]
    return np.sort(doubts[~np.isnan(doubts)])[:, None]


class Calibrated(Estimator):
    """A model that knows how far it was off on rows that it had not seen."""

    calibration_: np.ndarray = fitted(
        "ndarray of shape (n_calibration_rows, n_scores)",
        "Sorted scores of rows that were not fitted (absolute residuals, or one minus the "
        "probability of the true class), after ``calibrate`` or with ``oob_score=True``.",
        optional=True,
    )

    def check_fitted(self) -> None:
        super().check_fitted()
        scores = getattr(self, "calibration_", None)
        if scores is not None and not (
            scores.dtype == np.float64
            and np.isfinite(scores).all()
            and (scores >= 0).all()
            and (np.diff(scores, axis=0) >= 0).all()
        ):
            raise ValueError("the scores of the calibration are none")

    def _radius(self, coverage: float) -> np.ndarray:
        check_is_fitted(self)
        scores = getattr(self, "calibration_", None)
        if scores is None:
            raise ValueError(
                f"This {type(self).__name__} is not calibrated: call calibrate(X, y) with rows "
                "that were not in its fit"
                + (", or fit it with oob_score=True." if "oob_score" in self.get_params() else ".")
            )
        return radius(scores, coverage)


class IntervalRegressor(Calibrated):
    """A regressor that gives intervals."""

    def calibrate(self, X: Any, y: Any):
        """Learn how wide intervals must be, from rows that were not in the fit.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self : object
        """
        predicted = self.predict(X)
        truth, _ = read_targets(y, has_classes=False, many_outputs=predicted.ndim > 1)
        check_targets_match(X, truth)
        self.calibration_ = sorted_residuals(truth, predicted)
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals that hold the true number with the chosen probability.

        The model must be calibrated (``calibrate``), or fitted with ``oob_score=True`` where it
        has that parameter. All intervals are equally wide; the promise is kept on average over
        rows like those that it was calibrated on, not for every kind of row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Share of the rows whose interval holds the truth.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper ends.
        """
        width = self._radius(coverage)
        predicted = self.predict(X)
        width = width[0] if predicted.ndim == 1 else width
        return np.stack([predicted - width, predicted + width], axis=-1)


class SetClassifier(Calibrated):
    """A classifier that gives sets of classes."""

    def calibrate(self, X: Any, y: Any):
        """Learn how large sets of classes must be, from rows that were not in the fit.

        Probabilities stay as they are.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        probabilities = self.predict_proba(X)
        known = {label: place for place, label in enumerate(self.classes_.tolist())}
        codes, labels = read_targets(y, has_classes=True)
        assert labels is not None
        check_targets_match(X, codes)
        unknown = [label for label in labels.tolist() if label not in known]
        if unknown:
            raise ValueError(f"y has the class {unknown[0]!r}, which the fit did not have.")
        places = np.array([known[label] for label in labels.tolist()], dtype=np.intp)
        self.calibration_ = sorted_doubts(places[codes], probabilities)
        return self

    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Sets of classes that hold the true class with the chosen probability.

        The model must be calibrated (``calibrate``), or fitted with ``oob_score=True`` where it
        has that parameter. A set has every class that is probable enough: a sure row has one, a
        doubtful row several, an odd row none. The promise is kept on average over rows like
        those that it was calibrated on; with probabilities of few values it is more than kept.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Share of the rows whose set holds the true class.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        most = self._radius(coverage)[0]
        return 1 - self.predict_proba(X) <= most
