"""What a comparison found: `Comparison`, which holds one `Result` per model.

It has them ranked, and answers what follows from the ranking: the table, the Pareto front, the best
model fitted on all rows, the report.
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from hedgerow._reading import TableReading
from hedgerow.comparison.metrics import DEFAULTS, gain
from hedgerow.comparison.ranking import judge, rank
from hedgerow.comparison.records import CONSTANT, COSTS, Cost, Data, Point, Result, Task
from hedgerow.comparison.report import Patience, Report, summarise

FORMAT = 2  # of results.json


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
        Best score first, the constant among them; models that are not ranked are last.
    n_folds : int
    test_ratio : float
        Test rows of a fold for each of its training rows.
    random_state : int
    budget : str or None
    limits : dict of str to float
        ``max_splits``, ``max_bytes``, ``max_latency_us`` and ``max_path`` where given.
    metrics : list of str
        The deciding one first.
    positive : object
        The class that counts as found, of two.
    division : str
        How the rows were divided, in words.
    warnings : list of str
        What looks too good to be true, or will not hold on new rows.
    seconds : float
        What the comparison took.
    interrupted : bool
        Whether it was stopped, or ran out of its time, before all folds were done.
    front : list of Point
        Within a limit: every model from one split to its full size, on the first fold.
    X, y : the table and its targets, or None for a comparison read from a file
    splits : list of (train, test), or None for a comparison read from a file
    reading : TableReading or None
        How X was made from a raw table.
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
    metrics: list[str] = field(default_factory=list)
    positive: Any = None
    division: str = "folds"
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    front: list[Point] = field(default_factory=list)
    X: Any = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    splits: list | None = field(default=None, repr=False)
    reading: TableReading | None = field(default=None, repr=False)
    _fit: Callable[[str], Any] | None = field(default=None, repr=False)
    _fit_fold: Callable[[str, int, bool], Any] | None = field(default=None, repr=False)
    _fitted: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.metrics = list(self.metrics) or list(DEFAULTS[self.task])
        rank(self.results, self.metric)
        judge(self.results, self.metric, self.test_ratio, self.constant)

    @property
    def metric(self) -> str:
        """The metric that decides, the first of `metrics`."""
        return self.metrics[0]

    @property
    def constant(self) -> Result | None:
        """The result of the best constant; None where it was not compared."""
        return next((r for r in self.results if r.family == CONSTANT and r.is_ranked), None)

    @property
    def ranked(self) -> list[Result]:
        """The results that have a place in the ranking, the best first."""
        return [result for result in self.results if result.is_ranked]

    def __getitem__(self, name: str) -> Result:
        for result in self.results:
            if result.name == name:
                return result
        names = [result.name for result in self.results]
        raise KeyError(f"no model {name!r} was compared, only {names}.")

    @property
    def best_result(self) -> Result:
        """The first of the ranking: the constant, where nothing is better."""
        if not self.ranked:
            raise ValueError("no model finished a fold: there is no best one.")
        return self.ranked[0]

    @property
    def best_model(self) -> Result:
        """The first of the ranking that is no constant."""
        return next(r for r in self.ranked if r.family != CONSTANT)

    @property
    def best_of_ours(self) -> Result | None:
        """The best of hedgerow's models that is not worse than a constant; None if none is."""
        return next((r for r in self.ranked if r.is_ours and self._beats_constant(r)), None)

    def _beats_constant(self, result: Result) -> bool:
        """Whether its score is at least that of a constant."""
        constant = self.constant
        return constant is None or (
            gain(self.metric, result.mean(self.metric))
            >= gain(self.metric, constant.mean(self.metric))
        )

    @property
    def simplest_result(self) -> Result:
        """The smallest of hedgerow's models that is about as good as the best one.

        Smallest is by bytes. Where none is as good, hedgerow's best, whose ``about_as_good`` is
        then False.
        """
        ours = [r for r in self.ranked if r.is_ours]
        if not ours:
            raise ValueError("no model of hedgerow finished its folds.")
        level = [r for r in ours if r.about_as_good]
        return min(level or ours[:1], key=_size)

    @property
    def best_estimator_(self) -> Any:
        """The best model, fitted on all rows."""
        return self.fit(self.best_result.name)

    @property
    def simplest_estimator_(self) -> Any:
        """The model of `simplest_result`, fitted on all rows."""
        return self.fit(self.simplest_result.name)

    def fit(self, name: str, *, refit: bool = True) -> Any:
        """One of the compared models fitted on all rows; it is fitted once.

        Parameters
        ----------
        name : str
            A ``Result.name``.
        refit : bool, default=True
            Whether to fit it now if it was not fitted before.

        Returns
        -------
        model : estimator or None
            None where it would have to be fitted.
        """
        if self._fit is None:
            raise ValueError("this comparison was read from a file and has no data to fit.")
        if name not in self._fitted and refit:
            self._fitted[name] = self._fit(self[name].name)
            if self.reading is not None and self[name].is_ours:
                self._fitted[name].reading_ = self.reading
        return self._fitted.get(name)

    def fit_fold(self, name: str, fold: int, *, refit: bool = True) -> Any:
        """One of the compared models fitted on the training rows of a fold.

        The comparison has kept those of its leading models.

        Parameters
        ----------
        name : str
            A ``Result.name``.
        fold : int
        refit : bool, default=True
            Whether to fit it again if it was not kept.

        Returns
        -------
        model : estimator or None
            None where it would have to be fitted.
        """
        if self._fit_fold is None:
            raise ValueError("this comparison was read from a file and has no data to fit.")
        return self._fit_fold(self[name].name, fold, refit)

    def pareto(self, cost: Cost = "splits") -> list[str]:
        """Models on the front: nothing else is both cheaper and better, a constant included.

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
        models = [r for r in self.ranked if r.family != CONSTANT and self._beats_constant(r)]
        known = [r for r in models if getattr(r, COSTS[cost]) is not None]
        score = {r.name: gain(self.metric, r.mean(self.metric)) for r in known}
        known.sort(key=lambda r: (getattr(r, COSTS[cost]), -score[r.name]))
        front, top = [], -math.inf
        for result in known:
            if score[result.name] > top:
                front.append(result.name)
                top = score[result.name]
        return front

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table as dicts, one per model, best first."""
        return [
            {
                "rank": place if result.is_ranked else None,
                "model": result.name,
                **{metric: result.mean(metric) for metric in self.metrics},
                f"{self.metric}_std": result.std(self.metric),
                "p_value": result.p_value,
                "about_as_good": result.about_as_good,
                "splits": result.n_splits,
                "bytes": result.n_bytes,
                "longest_path": result.depth,
                "file_bytes": result.n_file_bytes,
                "fit_seconds": float(np.median(result.fit_seconds)) if result.folds else None,
                "us_per_row": result.microseconds_per_row,
                "folds": len(result.folds),
                "error": result.error,
            }
            for place, result in enumerate(self.results, 1)
        ]

    @property
    def table(self) -> Any:
        """The results as a pandas data frame, or as a list of dicts where pandas is missing."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            return self.rows
        return pd.DataFrame(self.rows)

    def report(self, *, refit: bool = True, seconds: float | None = None) -> Report:
        """The report: an object with ``html()``, ``json()``, ``write_html(path)``, ``open()``.

        Parameters
        ----------
        refit : bool, default=True
            Whether to fit models for it, on all rows. Without, it shows those that are there. Of a
            comparison that was read from a file, it has scores and costs, but no model.
        seconds : float, default=None
            About what it may take: models that would take longer are not fitted for it, and
            importances are shuffled less often. By default as long as it needs, mostly under half a
            minute.

        Returns
        -------
        report : Report
        """
        return Report(summarise(self, refit, Patience(seconds)))

    def _repr_html_(self) -> str:
        table = self.table
        shown = table.to_html(index=False) if hasattr(table, "to_html") else f"<pre>{table}</pre>"
        return shown + "".join(f"<p>Warning: {escape(text)}.</p>" for text in self.warnings)

    def to_json(self) -> str:
        """The comparison without table and out-of-fold predictions, as it is in results.json."""
        left_out = {"X", "y", "splits", "reading", "_fit", "_fit_fold", "_fitted", "results"}
        record = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out} | {
            "format": FORMAT,
            "data": asdict(self.data),
            "front": [asdict(point) for point in self.front],
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
        record["front"] = [Point(**point) for point in record["front"]]
        record["results"] = [Result(**result) for result in record["results"]]
        return cls(**record)


def _size(result: Result) -> tuple[float, ...]:
    return tuple(math.inf if n is None else n for n in (result.n_bytes, result.n_splits))


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
