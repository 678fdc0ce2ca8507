"""Comparing two models by the scores of one cross-validation.

- `FiveByTwo` makes the ten splits, for any function of scikit-learn that takes ``cv``.
- `paired_t_test` is the test of T. G. Dietterich, "Approximate statistical tests for comparing
  supervised classification learning algorithms", Neural Computation 10 (1998).
- `combined_f_test` is the more powerful one of E. Alpaydin, "Combined 5x2 cv F test for comparing
  supervised classification learning algorithms", Neural Computation 11 (1999).
- `corrected_t_test` is for the folds of any cross-validation: C. Nadeau and Y. Bengio, "Inference
  for the generalization error", Machine Learning 52 (2003).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from hedgerow import _parameters as parameters
from hedgerow._folds import folds_of

__all__ = ["FiveByTwo", "TestResult", "combined_f_test", "corrected_t_test", "paired_t_test"]


class FiveByTwo(BaseCrossValidator):
    """Five random divisions into halves; each half trains once and tests once.

    Classes are spread evenly over both halves, however few rows they have.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the divisions; with an int, every call makes the same ones.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from hedgerow import DecisionTreeClassifier, MeanMarginTreeClassifier
    >>> from hedgerow.model_selection import FiveByTwo, combined_f_test
    >>> X, y = load_iris(return_X_y=True)
    >>> halves = FiveByTwo(random_state=0)
    >>> a = cross_val_score(DecisionTreeClassifier(), X, y, cv=halves)
    >>> b = cross_val_score(MeanMarginTreeClassifier(), X, y, cv=halves)
    >>> combined_f_test(a, b).pvalue > 0.05
    True
    """

    def __init__(self, *, random_state=None):
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits: ten.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        n_splits : int
        """
        return 10

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of the ten splits; splits 2i and 2i + 1 are one division.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Classes to spread evenly; numbers are not looked at.
        groups : object
            Not used.

        Yields
        ------
        train, test : ndarray of int
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows < 2:
            raise ValueError(f"X must have at least 2 rows to be divided, got {n_rows}.")
        random = check_random_state(self.random_state)
        has_classes = y is not None and type_of_target(y) in ("binary", "multiclass")
        classes = np.unique(np.asarray(y), return_inverse=True)[1] if has_classes else None
        for _ in range(5):
            one, other = folds_of(np.arange(n_rows), 2, random, classes)
            yield one, other
            yield other, one


class TestResult(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    pvalue: float


def paired_t_test(a: Any, b: Any) -> TestResult:
    """Dietterich's 5x2 cv paired t-test of equal expected scores.

    Parameters
    ----------
    a, b : array-like of shape (10,)
        Scores of two models on the splits of one `FiveByTwo`, in its order.

    Returns
    -------
    result : TestResult
        ``statistic`` has five degrees of freedom; it is positive where ``a`` is better on the
        first split. ``pvalue`` is two-sided.

    Examples
    --------
    >>> a = [0.8, 0.7, 0.8, 0.8, 0.9, 0.8, 0.8, 0.7, 0.8, 0.8]
    >>> b = [0.6, 0.6, 0.6, 0.7, 0.7, 0.7, 0.7, 0.6, 0.7, 0.7]
    >>> result = paired_t_test(a, b)
    >>> round(result.statistic, 2), round(result.pvalue, 3)
    (3.65, 0.015)
    """
    differences, variances = _replications(a, b)
    statistic = _ratio(differences[0, 0], np.sqrt(variances.mean()))
    return TestResult(statistic, float(2 * stats.t.sf(abs(statistic), 5)))


def combined_f_test(a: Any, b: Any) -> TestResult:
    """Alpaydin's combined 5x2 cv F test of equal expected scores.

    Parameters
    ----------
    a, b : array-like of shape (10,)
        Scores of two models on the splits of one `FiveByTwo`, in its order.

    Returns
    -------
    result : TestResult
        ``statistic`` has 10 and 5 degrees of freedom.

    Examples
    --------
    >>> a = [0.8, 0.7, 0.8, 0.8, 0.9, 0.8, 0.8, 0.7, 0.8, 0.8]
    >>> b = [0.6, 0.6, 0.6, 0.7, 0.7, 0.7, 0.7, 0.6, 0.7, 0.7]
    >>> result = combined_f_test(a, b)
    >>> round(result.statistic, 2), round(result.pvalue, 3)
    (6.33, 0.027)
    """
    differences, variances = _replications(a, b)
    statistic = _ratio(np.sum(differences**2), 2 * variances.sum())
    return TestResult(statistic, float(stats.f.sf(statistic, 10, 5)))


def corrected_t_test(a: Any, b: Any, test_ratio: float) -> TestResult:
    """Nadeau and Bengio's corrected resampled t-test of equal expected scores.

    Training sets of a cross-validation overlap, so the scores vary less than independent ones
    would; the variance is enlarged by the ratio of test to training rows.

    Parameters
    ----------
    a, b : array-like of shape (n_splits,)
        Scores of two models on the same splits.
    test_ratio : float
        Test rows for each training row: 1 / (k - 1) for k folds.

    Returns
    -------
    result : TestResult
        ``statistic`` has ``n_splits - 1`` degrees of freedom and is positive where ``a`` is
        better. ``pvalue`` is two-sided.

    Examples
    --------
    >>> a = [0.8, 0.7, 0.8, 0.8, 0.9]
    >>> b = [0.6, 0.6, 0.6, 0.7, 0.7]
    >>> result = corrected_t_test(a, b, 1 / 4)
    >>> round(result.statistic, 2), round(result.pvalue, 3)
    (4.35, 0.012)
    """
    scores = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if scores[0].ndim != 1 or scores[0].shape != scores[1].shape or len(scores[0]) < 2:
        raise ValueError(
            "'a' and 'b' must be two or more scores each, of the same splits, "
            f"got shapes {scores[0].shape} and {scores[1].shape}."
        )
    parameters.real(0).check("test_ratio", test_ratio)
    difference = scores[0] - scores[1]
    if np.ptp(difference) < 1e-12:  # equal up to rounding: no spread to judge by
        difference = np.full_like(difference, difference.mean().round(12))
    n = len(difference)
    spread = np.sqrt((1 / n + test_ratio) * difference.var(ddof=1))
    statistic = _ratio(difference.mean(), spread)
    return TestResult(statistic, float(2 * stats.t.sf(abs(statistic), n - 1)))


def _replications(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Differences of the scores, a row per division, and the variance of each row."""
    scores = [np.asarray(values, dtype=float) for values in (a, b)]
    for name, values in zip("ab", scores, strict=True):
        if values.shape != (10,) or not np.isfinite(values).all():
            raise ValueError(
                f"'{name}' must be the ten scores of a 5x2 cross-validation, got {values!r}."
            )
    differences = (scores[0] - scores[1]).reshape(5, 2)
    return differences, ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def _ratio(difference: float, spread: float) -> float:
    """Their ratio; nothing over nothing is no difference."""
    if spread > 0:
        return float(difference / spread)
    return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
