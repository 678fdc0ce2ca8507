"""One model on its way through the folds: fitted, scored, weighed, and written down."""

import importlib
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from hedgerow._columns import take_rows
from hedgerow._timing import time_row
from hedgerow.comparison.budget import extrapolate, in_words
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.journal import Fold
from hedgerow.comparison.metrics import Metric, gain, outcome_of, weighs_classes
from hedgerow.comparison.models import Model, Settings
from hedgerow.comparison.peers import Peer
from hedgerow.comparison.records import CONSTANT, Result, Task
from hedgerow.comparison.sizes import count_bytes, count_file_bytes, count_splits, find_depth
from hedgerow.comparison.within import Choice, Limits, maker, settings_of

SILENCING = ("verbose", "allow_writing_files")  # parameters that change no model
TRIAL_ROWS = (500, 2000)  # a model is tried on so many, to see whether it fits into the time
SHORTEST_TRIAL = 0.3  # seconds; what is shorter tells little of many rows,
MORE_ROWS = 4  # and so many times the rows tell more


@dataclass(frozen=True)
class Problem:
    """What all models of a comparison have in common."""

    task: Task
    X: Any
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    limits: Limits
    tuned: bool
    seed: int
    n_jobs: int
    metrics: list[Metric]
    positive: Any = None
    fit_rows: np.ndarray | None = None  # of the final model, where they are not all

    @cached_property
    def classes(self) -> np.ndarray | None:
        """The classes in order; None for regression."""
        return np.unique(self.y) if self.task == "classification" else None


class Run:
    """One model on its way through the folds.

    Attributes
    ----------
    folds : list of Fold
        Those that are finished.
    models : dict of int to estimator
        Fitted models of finished folds, where they are kept.
    error : str or None
        Why it takes no further part.
    lacked_time : bool
        Whether that is for want of time.
    """

    def __init__(self, name: str, model: Model, problem: Problem, folds: list[Fold]) -> None:
        self.name, self.model, self.problem, self.folds = name, model, problem, folds
        self.models: dict[int, Any] = {}
        self.error: str | None = None
        self.lacked_time = False
        self._estimate: float | None = None

    def offered(self) -> Iterable[Settings]:
        """The settings to choose from, where there is a limit or tuning."""
        problem = self.problem
        return settings_of(self.model, problem.limits, problem.tuned, self.weighs_classes)

    @property
    def weighs_classes(self) -> bool:
        """Whether balanced class weights are among the settings to choose from."""
        problem = self.problem
        is_worth_it = self.model.family != CONSTANT and self.model.weighs_classes
        return is_worth_it and weighs_classes(problem.metrics[0].name, problem.y)

    def _new(self) -> Any:
        problem = self.problem
        make = maker(self.model, problem.task, problem.seed, problem.n_jobs)
        is_tuned = problem.tuned and bool(self.model.grid)
        if not (problem.limits or is_tuned or self.weighs_classes):
            return make({})
        return Choice(
            make,
            self.offered(),
            problem.task,
            problem.metrics[0],
            problem.positive,
            problem.limits,
            random_state=problem.seed,
            trusts_first=self.model.trusted and bool(problem.limits),
        )

    @property
    def score(self) -> float:
        """Mean of the deciding metric over the finished folds, turned so that more is better."""
        metric = self.problem.metrics[0].name
        return float(np.mean([gain(metric, fold.scores[metric]) for fold in self.folds]))

    def fit(self) -> Any:
        """The model fitted on all rows, or on those that are for it."""
        X, y, rows = self.problem.X, self.problem.y, self.problem.fit_rows
        model = self._fitted(X, y) if rows is None else self._fitted(take_rows(X, rows), y[rows])
        return model.chosen_ if isinstance(model, Choice) else model

    def fold_model(self, number: int, refit: bool) -> Any:
        """The model of a fold, fitted again where it was not kept; None if that is not wanted."""
        if number not in self.models and refit:
            self.models[number] = self._fit_fold(number)
        return self.models.get(number)

    def _fit_fold(self, number: int) -> Any:
        train = self.problem.splits[number][0]
        return self._fitted(take_rows(self.problem.X, train), self.problem.y[train])

    def _fitted(self, X: Any, y: np.ndarray | None) -> Any:
        """The model fitted; warnings of other libraries are not ours to pass on."""
        ours = self.model.is_ours
        with nullcontext() if ours else warnings.catch_warnings():
            if not ours:
                warnings.simplefilter("ignore")
            return self._new().fit(X, y)

    @property
    def missing(self) -> list[int]:
        """The folds that are still to do."""
        finished = {fold.number for fold in self.folds}
        return [n for n in range(len(self.problem.splits)) if n not in finished]

    @property
    def seconds_per_fold(self) -> float | None:
        """Of the folds that are finished, or as it was estimated; None before."""
        if self.folds:
            return float(np.mean([fold.seconds for fold in self.folds]))
        return self._estimate

    @property
    def n_bytes(self) -> float:
        """Of its models so far; 0 before."""
        return float(np.mean([fold.costs[1] or 0 for fold in self.folds])) if self.folds else 0.0

    def estimate(self, most: float, interrupts: Interrupts) -> None:
        """Find about what a fold will take, by fits on some of its rows.

        Parameters
        ----------
        most : float
            Seconds that each of them may take. Of one that is not done by then, it is known that a
            fold takes longer.
        interrupts : Interrupts
        """
        train = self.problem.splits[0][0]
        if len(train) <= 2 * TRIAL_ROWS[-1]:
            self._estimate = 0.0  # a fold tells as quickly
            return
        sample = np.random.default_rng(0).permutation(train)
        self._load(interrupts)
        if self.error is not None:
            return
        sizes, seconds = [*TRIAL_ROWS], []
        for n_rows in sizes:
            rows = sample[:n_rows]
            began = perf_counter()
            fit = partial(self._fitted, take_rows(self.problem.X, rows), self.problem.y[rows])
            limit = max(SHORTEST_TRIAL, most)
            self._try(fit, limit, interrupts, "")
            if self.lacked_time:
                self.error, self.lacked_time = None, False
                # Boosters grow slowly with the rows: much of their time is that of a round.
                self._estimate = limit * (len(train) / n_rows) ** (1 / 3)
                return
            if self.error is not None:
                return
            seconds.append(perf_counter() - began)
            if len(seconds) < len(TRIAL_ROWS):
                continue
            self._estimate = extrapolate(sizes[-2:], seconds[-2:], len(train))
            is_doubtful = self._estimate > most and seconds[-1] < SHORTEST_TRIAL
            if is_doubtful and MORE_ROWS * n_rows < len(train):
                sizes.append(MORE_ROWS * n_rows)

    def try_fold(self, number: int, limit: float | None, interrupts: Interrupts) -> Fold | None:
        """Fit and score on one fold; what goes wrong ends this model's run, and is kept."""
        took = "" if limit is None else f" took more than {in_words(max(limit, 0.0))}"
        late = f"left out: fold {number + 1}{took}, too long for all folds"
        self._load(interrupts)
        if self.error is not None:
            return None
        return self._try(lambda: self.run_fold(number), limit, interrupts, late)

    def _load(self, interrupts: Interrupts) -> None:
        """Import the library, without a limit: a half imported one would fail ever after."""

        def load() -> None:
            importlib.import_module(self.model.package)
            self._settings()

        self._try(load, None, interrupts, "")

    def _try(
        self, work: Callable[[], Any], limit: float | None, interrupts: Interrupts, late: str
    ) -> Any:
        try:
            with interrupts.limit(limit):
                return work()
        except TimeoutError:
            self.end_for_time(late)
        except Exception as error:
            if interrupts.heard:  # the model did not fail: a library hid the interrupt
                raise KeyboardInterrupt from error
            self.error = _one_line(error)
        return None

    def end_for_time(self, reason: str) -> None:
        """Take no further part, because there is no time."""
        self.error, self.lacked_time = reason, True

    def run_fold(self, number: int) -> Fold:
        """Fit and score on one fold."""
        test = self.problem.splits[number][1]
        X_test, y_test = take_rows(self.problem.X, test), self.problem.y[test]
        classes = self.problem.classes
        began = perf_counter()
        model = self._fit_fold(number)
        fit_seconds = perf_counter() - began
        outcome = outcome_of(model, X_test, y_test, classes, self.problem.positive)
        predicted, shares = outcome.predicted, outcome.shares
        fold = Fold(
            number,
            {metric.name: float(metric.score(outcome)) for metric in self.problem.metrics},
            (count_splits(model), count_bytes(model), find_depth(model), time_row(model, X_test)),
            fit_seconds,
            perf_counter() - began,
            dict(getattr(model, "settings_", {})),
            predicted.astype(float) if classes is None else np.searchsorted(classes, predicted),
            None if shares is None else shares.astype(np.float32),
            None if self.folds else count_file_bytes(model),
        )
        self.models[number] = model
        self.folds.append(fold)
        return fold

    def result(self) -> Result:
        """What was found."""
        folds = self.folds
        typical = [_median(c) for c in zip(*(f.costs for f in folds), strict=True)] or [None] * 4
        n_splits, n_bytes, depth = (None if v is None else round(v) for v in typical[:3])
        return Result(
            name=self.name,
            family=self.model.family,
            library=self.model.library,
            scores={
                metric.name: [fold.scores[metric.name] for fold in folds]
                for metric in self.problem.metrics
            },
            folds=[fold.number for fold in folds],
            fit_seconds=[fold.fit_seconds for fold in folds],
            n_splits=n_splits,
            n_bytes=n_bytes,
            depth=depth,
            n_file_bytes=next((f.n_file_bytes for f in folds if f.n_file_bytes), None),
            microseconds_per_row=typical[3],
            settings=self._settings() if folds else {},
            changed={n: v for n, v in self.model.parameters.items() if n not in SILENCING},
            parameters=[fold.settings for fold in folds],
            predictions=self._predictions() if folds else None,
            probabilities=self._probabilities() if folds else None,
            error=self.error,
        )

    def _settings(self) -> dict[str, Any]:
        """What the model runs with; what is None is left to the library."""
        model: Any = self.model.make(
            self.problem.task, seed=self.problem.seed, n_jobs=self.problem.n_jobs
        )
        known: Any = model.estimator if isinstance(model, Peer) else model
        return {n: v for n, v in known.get_params(deep=False).items() if v is not None}

    def _predictions(self) -> np.ndarray:
        y, classes = self.problem.y, self.problem.classes
        together = np.zeros(len(y), dtype=float if classes is None else y.dtype)
        for fold in self.folds:
            found = fold.predictions if classes is None else classes[fold.predictions]
            together[self.problem.splits[fold.number][1]] = found
        return together

    def _probabilities(self) -> np.ndarray | None:
        if self.problem.classes is None:
            return None
        shape = len(self.problem.y), len(self.problem.classes)
        together = np.full(shape, np.nan, dtype=np.float32)
        for fold in self.folds:
            together[self.problem.splits[fold.number][1]] = fold.probabilities
        return together


def _median(values: tuple) -> float | None:
    return None if any(value is None for value in values) else float(np.median(values))


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    return (
        text if isinstance(error, ValueError | TimeoutError) else f"{type(error).__name__}: {text}"
    )
