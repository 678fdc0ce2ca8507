"""One model on its way through the folds: fitted, scored, weighed, and written down."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error

from hedgerow._columns import take_rows
from hedgerow.comparison.budget import in_words
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.journal import Fold
from hedgerow.comparison.models import Model
from hedgerow.comparison.records import METRICS, Result, Task
from hedgerow.comparison.sizes import count_bytes, count_splits, find_depth, time_row
from hedgerow.comparison.within import Choice, Limits, maker, settings_of

TRIAL_ROWS = 1000  # a model is tried on so many, to see whether it fits into the time,
TRIAL_SHARE = 0.02  # or on this share of large tables, where a fixed cost would count too much
SHORTEST_TRIAL = 0.3  # seconds
ALLOWANCE = 1.3  # for growth faster than the number of rows


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
        make = maker(model, problem.task, problem.seed, problem.n_jobs)
        limits = problem.limits
        self._new: Callable[[], Any] = lambda: (
            Choice(
                make, settings_of(model, limits), problem.task, limits, random_state=problem.seed
            )
            if limits or (problem.tuned and model.grid)
            else make({})
        )
        self.models: dict[int, Any] = {}
        self.error: str | None = None
        self.lacked_time = False

    @property
    def score(self) -> float:
        """Mean of the deciding metric over the finished folds."""
        metric = METRICS[self.problem.task][0]
        return float(np.mean([fold.scores[metric] for fold in self.folds]))

    def fit(self) -> Any:
        """The model fitted on all rows."""
        model = self._fitted(self.problem.X, self.problem.y)
        return model.chosen_ if isinstance(model, Choice) else model

    def fold_model(self, number: int, refit: bool) -> Any:
        """The model of a fold, fitted again where it was not kept; None if that is not wanted."""
        if number not in self.models and refit:
            self.models[number] = self._fit_fold(number)
        return self.models.get(number)

    def _fit_fold(self, number: int) -> Any:
        train = self.problem.splits[number][0]
        return self._fitted(take_rows(self.problem.X, train), self.problem.y[train])

    def _fitted(self, X: Any, y: np.ndarray) -> Any:
        """The model fitted; warnings of other libraries are not ours to pass on."""
        ours = self.model.is_ours
        with nullcontext() if ours else warnings.catch_warnings():
            if not ours:
                warnings.simplefilter("ignore")
            return self._new().fit(X, y)

    def trial_seconds(self, most: float, interrupts: Interrupts) -> float:
        """About what a fold will take, by a fit on some of its rows that may not take longer."""
        train = self.problem.splits[0][0]
        n_rows = max(TRIAL_ROWS, round(TRIAL_SHARE * len(train)))
        sample = np.random.default_rng(0).permutation(train)[:n_rows]
        growth = len(train) / len(sample)
        limit = max(SHORTEST_TRIAL, most / growth)
        began = perf_counter()
        self._try(
            lambda: self._fitted(take_rows(self.problem.X, sample), self.problem.y[sample]),
            limit,
            interrupts,
            f"left out: {len(sample)} rows took more than {in_words(limit)}",
        )
        return (perf_counter() - began) * growth * (ALLOWANCE if growth > 1 else 1.0)

    def try_fold(self, number: int, limit: float | None, interrupts: Interrupts) -> Fold | None:
        """Fit and score on one fold; what goes wrong ends this model's run, and is kept."""
        late = f"the time was up in fold {number + 1}"
        fold = self._try(lambda: self._run_fold(number), limit, interrupts, late)
        if fold is not None:
            self.folds.append(fold)
        return fold

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

    def _run_fold(self, number: int) -> Fold:
        test = self.problem.splits[number][1]
        X_test, y_test = take_rows(self.problem.X, test), self.problem.y[test]
        classes = self.problem.classes
        began = perf_counter()
        model = self._fit_fold(number)
        fit_seconds = perf_counter() - began
        predicted = np.asarray(model.predict(X_test))
        shares = None if classes is None else _shares(model, X_test, classes)
        fold = Fold(
            number,
            _scores(y_test, predicted, shares, classes),
            (count_splits(model), count_bytes(model), find_depth(model), time_row(model, X_test)),
            fit_seconds,
            perf_counter() - began,
            dict(getattr(model, "settings_", {})),
            predicted.astype(float) if classes is None else np.searchsorted(classes, predicted),
            None if shares is None else shares.astype(np.float32),
        )
        self.models[number] = model
        return fold

    def result(self) -> Result:
        """What was found."""
        folds, problem = self.folds, self.problem
        typical = [_median(c) for c in zip(*(f.costs for f in folds), strict=True)] or [None] * 4
        n_splits, n_bytes, depth = (None if v is None else round(v) for v in typical[:3])
        return Result(
            name=self.name,
            family=self.model.family,
            library=self.model.library,
            scores={m: [fold.scores[m] for fold in folds] for m in METRICS[problem.task]},
            folds=[fold.number for fold in folds],
            fit_seconds=[fold.fit_seconds for fold in folds],
            n_splits=n_splits,
            n_bytes=n_bytes,
            depth=depth,
            microseconds_per_row=typical[3],
            parameters=[fold.settings for fold in folds],
            predictions=self._predictions() if folds else None,
            probabilities=self._probabilities() if folds else None,
            error=self.error,
        )

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


def _shares(model: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Probabilities of all classes, those that the training rows did not have included."""
    shares = np.zeros((X.shape[0], len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return shares


def _scores(y: np.ndarray, predicted: np.ndarray, shares: Any, classes: Any) -> dict[str, float]:
    if classes is None:
        return {
            "r2": float(r2_score(y, predicted)),
            "rmse": float(root_mean_squared_error(y, predicted)),
        }
    total = shares.sum(axis=1, keepdims=True)  # 1 up to the rounding of float32
    shares = np.divide(shares, total, out=np.full_like(shares, 1 / len(classes)), where=total > 0)
    loss = log_loss(y, shares, labels=classes) if len(classes) > 1 else 0.0
    return {"accuracy": float(accuracy_score(y, predicted)), "log_loss": float(loss)}


def _median(values: tuple) -> float | None:
    return None if any(value is None for value in values) else float(np.median(values))


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    return (
        text if isinstance(error, ValueError | TimeoutError) else f"{type(error).__name__}: {text}"
    )
