"""What a comparison measures beside the score: the costs with their names, and its plain records.

`Result` and `Data` go to ``results.json`` and back.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Task = Literal["classification", "regression"]
Cost = Literal["splits", "bytes", "latency"]

TASKS: tuple[Task, ...] = ("classification", "regression")
# What a model is weighed by: where `Result` has it, and its unit.
COSTS: dict[Cost, str] = {
    "splits": "n_splits",
    "bytes": "n_bytes",
    "latency": "microseconds_per_row",
}
UNITS: dict[Cost, str] = {"splits": "splits", "bytes": "bytes", "latency": "µs/row"}
CONSTANT = "constant"  # name and family of the best constant, which stands in every table
INTERRUPTED = "interrupted"  # the error of a model that Ctrl-C left without some folds


@dataclass
class Data:
    """The table that was compared on.

    Attributes
    ----------
    n_rows, n_features, n_categorical : int
        What the models saw; dropped columns are not counted.
    n_missing : int
        Missing cells.
    dropped : dict of str to str
        Columns that were left out, with the reason.
    name : str or None
    target : str or None
    """

    n_rows: int
    n_features: int
    n_categorical: int = 0
    n_missing: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    target: str | None = None


@dataclass
class Result:
    """One model's way through the folds.

    Attributes
    ----------
    name, family, library : str
        "hedgerow DecisionTree" is of the family "tree" and the library "hedgerow".
    scores : dict of str to list of float
        For each metric its values on the folds that were finished, in the order of ``folds``.
    folds : list of int
        The folds that were finished.
    fit_seconds : list of float
        Of each finished fold, tuning included.
    n_splits, n_bytes, depth : int or None
        Medians over the folds. Bytes are those of the form that predicts, see
        ``hedgerow.comparison.sizes``; the depth is the longest path, most tests that a row meets in
        any of the trees. None where a library does not tell.
    n_file_bytes : int or None
        Of the model of the first fold in a file: hedgerow's own format, or another library's
        pickle. None for models of more than ``hedgerow.comparison.sizes.MOST_WRITTEN`` bytes, which
        are not written for this alone.
    microseconds_per_row : float or None
        Of predicting a thousand rows or more at once, in one call.
    settings : dict
        All parameters that the model runs with, but for what tuning, or a limit, chooses.
    changed : dict
        Those of them that differ from the class's own defaults.
    parameters : list of dict
        What tuning, or a limit, chose in each finished fold; empty dicts for the settings.
    predictions : ndarray of shape (n_rows,) or None
        Out-of-fold predictions: labels or numbers.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Out-of-fold probabilities in the order of ``Comparison.classes``; NaN in rows of folds that
        were not finished.
    counted : list of int
        The folds that the ranking counts: those that all ranked models finished. Empty for a model
        that is not ranked.
    p_value, standard_error : float or None
        Of the corrected resampled t-test against the best, over the counted folds; and the standard
        error of the mean difference.
    about_as_good : bool
        As ``hedgerow.comparison.ranking`` has it; True for the best itself.
    error : str or None
        Why the model has no result, or not all folds.
    """

    name: str
    family: str
    library: str
    scores: dict[str, list[float]] = field(default_factory=dict)
    folds: list[int] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    n_splits: int | None = None
    n_bytes: int | None = None
    depth: int | None = None
    n_file_bytes: int | None = None
    microseconds_per_row: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    predictions: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    counted: list[int] = field(default_factory=list)
    p_value: float | None = None
    standard_error: float | None = None
    about_as_good: bool = False
    error: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is of one of hedgerow's models."""
        return self.library == "hedgerow"

    @property
    def is_ranked(self) -> bool:
        """Whether it has a place in the ranking."""
        return bool(self.counted)

    def score_of(self, metric: str, fold: int) -> float:
        """Score of a finished fold; NaN where there is none."""
        scores = self.scores.get(metric)
        value = scores[self.folds.index(fold)] if scores else None
        return math.nan if value is None else value

    def mean(self, metric: str) -> float:
        """Mean of a metric over the counted folds, NaN when there is none.

        Of a model that is not ranked, over all that it finished.
        """
        values = self._values(metric)
        return float(np.mean(values)) if values else math.nan

    def std(self, metric: str) -> float:
        """Standard deviation of a metric over the same folds, NaN when there is none."""
        values = self._values(metric)
        return float(np.std(values)) if values else math.nan

    def _values(self, metric: str) -> list[float]:
        return [self.score_of(metric, fold) for fold in self.counted or self.folds]


@dataclass(frozen=True)
class Point:
    """A model of some size, on the way from one split to the model without a limit.

    Attributes
    ----------
    name : str
    is_ours : bool
    score : float
        On the test rows of the first fold.
    n_splits, n_bytes : int
    settings : dict
        What differs from the model's defaults.
    """

    name: str
    is_ours: bool
    score: float
    n_splits: int
    n_bytes: int
    settings: dict[str, Any] = field(default_factory=dict)
