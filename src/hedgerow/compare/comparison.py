"""What a comparison found: one `Result` per model, and the `Comparison` that holds them.

`Result` and `Data` are plain records that go to ``results.json`` and back. `Comparison` sorts the
results, marks those that cannot be told from the best, and answers what follows from them: the
table, the Pareto front, the best model fitted on all rows.
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import numpy as np

from hedgerow.model_selection import corrected_t_test

Task = Literal["classification", "regression"]
Cost = Literal["splits", "bytes", "latency"]

METRICS: dict[Task, tuple[str, ...]] = {
    "classification": ("accuracy", "log_loss"),
    "regression": ("r2", "rmse"),
}
COSTS: dict[Cost, str] = {
    "splits": "n_splits",
    "bytes": "n_bytes",
    "latency": "microseconds_per_row",
}
FORMAT = 1  # of results.json
LEVEL = 0.05  # of the test against the best


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
        ``hedgerow.compare.sizes``; None where a library does not tell.
    microseconds_per_row : float or None
        Of predicting a thousand rows or more at once, in one call.
    parameters : list of dict
        What tuning, or a limit, chose in each finished fold; empty dicts for the defaults.
    predictions : ndarray of shape (n_rows,) or None
        Out-of-fold predictions: labels or numbers.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Out-of-fold probabilities in the order of ``Comparison.classes``; NaN in rows of folds that
        were not finished.
    p_value : float or None
        Of the corrected resampled t-test against the best, over the folds that both finished.
    indistinguishable : bool
        Whether the test cannot tell it from the best; True for the best itself.
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
    microseconds_per_row: float | None = None
    parameters: list[dict[str, Any]] = field(default_factory=list)
    predictions: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    p_value: float | None = None
    indistinguishable: bool = False
    error: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is of one of hedgerow's models."""
        return self.library == "hedgerow"

    def mean(self, metric: str) -> float:
        """Mean of a metric over the finished folds, NaN when there is none."""
        values = self.scores.get(metric)
        return float(np.mean(values)) if values else math.nan

    def std(self, metric: str) -> float:
        """Standard deviation of a metric over the finished folds, NaN when there is none."""
        values = self.scores.get(metric)
        return float(np.std(values)) if values else math.nan


@dataclass
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    task : {"classification", "regression"}
    classes : list or None
        The classes in the order of the probabilities; None for regression.
    feature_names : list of str
    data : Data
    results : list of Result
        Best score first; models that failed are last.
    n_folds : int
    test_ratio : float
        Test rows of a fold for each of its training rows.
    random_state : int
    budget : str or None
    limits : dict of str to float
        ``max_splits``, ``max_bytes`` and ``max_latency_us`` where given.
    seconds : float
        What the comparison took.
    interrupted : bool
        Whether it was stopped, or ran out of its time, before all folds were done.
    X, y : the table and its targets, or None for a comparison read from a file
    splits : list of (train, test), or None for a comparison read from a file
    """

    task: Task
    classes: list | None
    feature_names: list[str]
    data: Data
    results: list[Result]
    n_folds: int
    test_ratio: float
    random_state: int = 0
    budget: str | None = None
    limits: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    X: Any = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    splits: list | None = field(default=None, repr=False)
    _fit: Callable[[str], Any] | None = field(default=None, repr=False)
    _fitted: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.results.sort(key=self._rank)
        self._mark()

    def _rank(self, result: Result) -> tuple:
        """Models with the most folds first, so that no best is one by a few lucky folds."""
        size = math.inf if result.n_splits is None else result.n_splits
        return (-len(result.folds), -result.mean(self.metric), size, result.name)

    def _mark(self) -> None:
        done = [result for result in self.results if result.folds]
        for result in done:
            common = sorted(set(result.folds) & set(done[0].folds))
            if result is done[0]:
                result.p_value, result.indistinguishable = None, True
            elif len(common) > 1:
                ours, best = (
                    [dict(zip(r.folds, r.scores[self.metric], strict=True))[f] for f in common]
                    for r in (result, done[0])
                )
                result.p_value = corrected_t_test(ours, best, self.test_ratio).pvalue
                result.indistinguishable = result.p_value > LEVEL

    @property
    def metric(self) -> str:
        """The metric that decides: "accuracy" or "r2"."""
        return METRICS[self.task][0]

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics, the deciding one first."""
        return METRICS[self.task]

    def __getitem__(self, name: str) -> Result:
        for result in self.results:
            if result.name == name:
                return result
        names = [result.name for result in self.results]
        raise KeyError(f"no model {name!r} was compared, only {names}.")

    @property
    def best(self) -> Result:
        """The result with the highest mean score."""
        if not self.results or not self.results[0].folds:
            raise ValueError("no model finished a fold: there is no best one.")
        return self.results[0]

    @property
    def simplest(self) -> Result:
        """The smallest of hedgerow's models that is about as good as the best one.

        The test cannot tell it from the best, and its mean score is at most one standard deviation
        over the folds below; hedgerow's best where there is no such model.
        """
        ours = [r for r in self.results if r.is_ours and r.folds]
        if not ours:
            raise ValueError("no model of hedgerow finished a fold.")
        enough = self.best.mean(self.metric) - self.best.std(self.metric)
        level = [r for r in ours if r.indistinguishable and r.mean(self.metric) >= enough]
        size = {r.name: math.inf if r.n_splits is None else r.n_splits for r in ours}
        return min(level or ours[:1], key=lambda r: size[r.name])

    @property
    def best_(self) -> Any:
        """The best model, fitted on all rows."""
        return self.fit(self.best.name)

    @property
    def simplest_(self) -> Any:
        """The model of `simplest`, fitted on all rows."""
        return self.fit(self.simplest.name)

    def fit(self, name: str) -> Any:
        """One of the compared models fitted on all rows; it is fitted once.

        Parameters
        ----------
        name : str
            A ``Result.name``.

        Returns
        -------
        model : estimator
        """
        if self._fit is None:
            raise ValueError("this comparison was read from a file and has no data to fit.")
        if name not in self._fitted:
            self._fitted[name] = self._fit(self[name].name)
        return self._fitted[name]

    def pareto(self, cost: Cost = "splits") -> list[str]:
        """Models on the front: nothing else is both cheaper and better.

        Parameters
        ----------
        cost : {"splits", "bytes", "latency"}, default="splits"

        Returns
        -------
        names : list of str
            From the cheapest to the best.
        """
        if cost not in COSTS:
            raise ValueError(f"'cost' must be one of {', '.join(map(repr, COSTS))}, got {cost!r}.")
        known = [r for r in self.results if r.folds and getattr(r, COSTS[cost]) is not None]
        known.sort(key=lambda r: (getattr(r, COSTS[cost]), -r.mean(self.metric)))
        front, top = [], -math.inf
        for result in known:
            if result.mean(self.metric) > top:
                front.append(result.name)
                top = result.mean(self.metric)
        return front

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table as dicts, one per model, best first."""
        return [
            {
                "model": result.name,
                **{metric: result.mean(metric) for metric in self.metrics},
                f"{self.metric}_std": result.std(self.metric),
                "p_value": result.p_value,
                "indistinguishable": result.indistinguishable,
                "splits": result.n_splits,
                "bytes": result.n_bytes,
                "depth": result.depth,
                "fit_seconds": float(np.median(result.fit_seconds)) if result.folds else None,
                "us_per_row": result.microseconds_per_row,
                "folds": len(result.folds),
                "error": result.error,
            }
            for result in self.results
        ]

    @property
    def table(self) -> Any:
        """The results as a pandas data frame, or as a list of dicts where pandas is missing."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            return self.rows
        return pd.DataFrame(self.rows)

    def report(self) -> Any:
        """The report: an object with ``html()``, ``json()``, ``write_html(path)``, ``open()``."""
        from hedgerow.compare.report import Report

        return Report.of(self)

    def _repr_html_(self) -> str:
        table = self.table
        return table.to_html(index=False) if hasattr(table, "to_html") else f"<pre>{table}</pre>"

    def to_json(self) -> str:
        """The comparison without table and out-of-fold predictions, as it is in results.json."""
        left_out = {"X", "y", "splits", "_fit", "_fitted", "results"}
        record = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out} | {
            "format": FORMAT,
            "data": asdict(self.data),
            "metric": self.metric,
            "results": [
                asdict(r) | {"predictions": None, "probabilities": None} for r in self.results
            ],
            "pareto": {cost: self.pareto(cost) for cost in COSTS},
        }
        return json.dumps(_plain(record), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Comparison":
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str

        Returns
        -------
        comparison : Comparison
            Without data: it cannot fit models.
        """
        record = json.loads(text)
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError("this is no results.json of a format that this version knows.")
        for derived in ("format", "metric", "pareto"):
            record.pop(derived, None)
        record["data"] = Data(**record["data"])
        record["results"] = [Result(**result) for result in record["results"]]
        return cls(**record)


def _plain(value: Any) -> Any:
    """The value in JSON's own types; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
