"""Cross-validate models on the same folds and set score, size and speed side by side.

`compare` makes the folds once and runs every model of ``hedgerow.compare.models`` over them, fold
by fold, so that a run that is stopped has all models on the first folds. Whatever is chosen from
the data, settings under a limit or in the thorough budget, is chosen inside the training rows.
"""

import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length
from threadpoolctl import threadpool_limits

from hedgerow import _parameters as parameters
from hedgerow._table import is_frame
from hedgerow.compare import tables
from hedgerow.compare.budget import Plan, parse_budget, time_limit
from hedgerow.compare.comparison import METRICS, Comparison, Result, Task
from hedgerow.compare.models import BUDGETS, MODELS, Model
from hedgerow.compare.progress import Report, in_words, progress_bar
from hedgerow.compare.sizes import count_bytes, count_splits, find_depth, time_row
from hedgerow.compare.within import Choice, Limits, inner_folds, maker, settings_of
from hedgerow.forest.members import take_rows

FOLDS = {"small": 5, "balanced": 5, "thorough": 10}
TRIAL_ROWS = 1000  # a model is tried on so many, to see whether it fits into the time,
TRIAL_SHARE = 0.02  # or on this share of large tables, where a fixed cost would count too much
SHORTEST_TRIAL = 0.3  # seconds
ALLOWANCE = 1.3  # for growth faster than the number of rows
RESERVED = 0.15  # of the time, for the best model on all rows and the report


def compare(
    X: Any,
    y: Any,
    *,
    budget: str | float | None = None,
    cv: int | BaseCrossValidator | None = None,
    models: Iterable[str] | None = None,
    max_splits: int | None = None,
    max_bytes: int | None = None,
    max_latency_us: float | None = None,
    task: Task | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | Report | None = None,
    name: str | None = None,
    target: str | None = None,
) -> Comparison:
    """Cross-validate models on the same folds.

    Ctrl-C stops the comparison and returns what is finished.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        pandas and polars frames may hold categories and missing values. Columns that look like
        identifiers are left out; ``Comparison.data.dropped`` names them.
    y : array-like of shape (n_samples,)
        The target.
    budget : {"small", "balanced", "thorough"}, str or float, default=None
        "small" runs the quick models, "balanced" (the default) all of them, both at their default
        parameters in five folds; "thorough" has ten folds and tunes each model inside the training
        rows. A time, "10min" or seconds, runs the balanced plan and leaves out, or stops, what
        would take longer.
    cv : int or cross-validator, default=None
        Number of shuffled, for classes stratified, folds; or any splitter of scikit-learn.
    models : iterable of str, default=None
        Names out of ``hedgerow.compare.MODELS``; by default all that are installed.
    max_splits, max_bytes, max_latency_us : default=None
        Limits, as in `fit_within`: each model is then the best of its settings within them, chosen
        inside the training rows.
    task : {"classification", "regression"}, default=None
        By default regression for a numeric target with more than 20 distinct values, or with a
        value that is not whole, and classification for any other.
    random_state : int, default=0
        Seeds the folds and every model.
    n_jobs : int, default=None
        Threads of each model.
    progress : bool or callable, default=None
        True shows a bar (needs rich), None does so in a notebook or terminal. A function is called
        with folds done, folds to do, what comes next, and the seconds left or None.
    name, target : str, default=None
        Of the table and its target, for the report.

    Returns
    -------
    comparison : Comparison
        One result per model, best score first.

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = hedgerow.compare(X, y, cv=3, models=["hedgerow DecisionTree"])
    >>> result.metric
    'accuracy'
    >>> result.best.mean("accuracy") > 0.9
    True
    """
    began = perf_counter()
    plan = parse_budget(budget)
    limits = Limits(max_splits, max_bytes, max_latency_us)
    if task not in (None, *METRICS):
        raise ValueError(f"'task' must be 'classification', 'regression' or None, got {task!r}.")
    X = X if is_frame(X) else np.asarray(X)
    y = tables.read_target(y)
    check_consistent_length(X, y)
    task = task or tables.guess_task(y)
    dropped = tables.useless_columns(X)
    X = tables.drop_columns(X, dropped)
    chosen = choose_models(models, task, plan)
    splits = _make_folds(cv, plan, task, y, random_state)
    threads = parameters.resolve_n_jobs(n_jobs)
    runs = [
        Run(name, model, task, X, y, splits, limits, plan, random_state, threads)
        for name, model in chosen.items()
    ]
    with progress_bar(progress) as report, threadpool_limits(threads):
        interrupted = _run_all(runs, len(splits), began, plan.seconds, report)
    return Comparison(
        task=task,
        classes=np.unique(y).tolist() if task == "classification" else None,
        feature_names=tables.feature_names(X),
        data=tables.describe(X, dropped, name, target),
        results=[run.result() for run in runs],
        n_folds=len(splits),
        test_ratio=float(np.mean([len(test) / len(train) for train, test in splits])),
        random_state=random_state,
        budget=None if budget is None else str(budget),
        limits=limits.given,
        seconds=perf_counter() - began,
        interrupted=interrupted,
        X=X,
        y=y,
        splits=splits,
        _fit=lambda name: next(run for run in runs if run.name == name).fit(),
    )


def choose_models(names: Iterable[str] | None, task: Task, plan: Plan) -> dict[str, Model]:
    """The models that take part: those named, or all that are installed and in the plan."""
    if names is None:
        allowed = BUDGETS[: BUDGETS.index(plan.budget) + 1]
        return {
            name: model
            for name, model in MODELS.items()
            if task in model.tasks and model.budget in allowed and model.is_installed
        }
    names = list(names)
    unknown = sorted(set(names) - set(MODELS))
    if unknown or not names:
        raise ValueError(f"'models' must be some of {list(MODELS)}, got {unknown or names}.")
    unable = [name for name in names if task not in MODELS[name].tasks]
    if unable:
        raise ValueError(f"'models' names {unable[0]!r}, which does not do {task}.")
    return {name: MODELS[name] for name in names}


def _make_folds(cv: Any, plan: Plan, task: Task, y: np.ndarray, seed: int) -> list:
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros(len(y)), y))
    cv = FOLDS[plan.budget] if cv is None else cv
    parameters.check_int("cv", cv, low=2)
    return list(inner_folds(task, cv, seed).split(np.zeros(len(y)), y))


def _run_all(
    runs: list["Run"], n_folds: int, began: float, seconds: float | None, report: Report
) -> bool:
    """All models through all folds; whether something was left undone for want of time."""

    def left() -> float | None:
        return None if seconds is None else began + seconds * (1 - RESERVED) - perf_counter()

    total = len(runs) * n_folds
    done = 0
    stopped = False
    try:
        if seconds is not None:
            _admit(runs, n_folds, left, report)
        for fold in range(n_folds):
            for run in runs:
                if run.error is None:
                    report(done, total, f"{run.name}, fold {fold + 1}", _expected(runs, n_folds))
                    run.try_fold(fold, left())
                done += 1
    except KeyboardInterrupt:
        if not any(run.folds for run in runs):
            raise
        stopped = True
        for run in runs:
            run.error = run.error or (None if len(run.folds) == n_folds else "interrupted")
    report(total, total, "done", 0.0)
    if not any(run.folds for run in runs):
        first = next(run for run in runs if run.error)
        raise ValueError(f"no model could be compared; {first.name}: {first.error}")
    return stopped or any(run.lacked_time for run in runs)


def _admit(
    runs: list["Run"], n_folds: int, left: Callable[[], float | None], report: Report
) -> None:
    """Leave out the slowest models where all together would not fit into the time.

    Each is tried on some rows; from the quickest on, they enter as long as there is time.
    """
    trials = []
    for run in runs:
        report(0, len(runs) * n_folds, f"{run.name}, trial", None)
        trials.append((n_folds * run.trial_seconds((left() or 0.0) / n_folds), run))
    available, planned = left() or 0.0, 0.0
    for expected, run in sorted(trials, key=lambda trial: trial[0]):
        if run.error is None and planned + expected > available:
            run.end_for_time(f"left out: it would take about {in_words(expected)}")
        elif run.error is None:
            planned += expected


def _expected(runs: list["Run"], n_folds: int) -> float | None:
    """Seconds left, once every model has been through a fold."""
    running = [run for run in runs if run.error is None]
    if not all(run.folds for run in running):
        return None
    return sum(run.fold_seconds * (n_folds - len(run.folds)) for run in running)


class Run:
    """One model on its way through the folds."""

    def __init__(self, name, model, task, X, y, splits, limits, plan, seed, n_jobs):
        self.name, self.model, self.task = name, model, task
        self.X, self.y, self.splits = X, y, splits
        self.classes = np.unique(y) if task == "classification" else None
        make = maker(model, task, seed, n_jobs)
        chosen = limits or (plan.budget == "thorough" and model.grid)
        self._new: Callable[[], Any] = lambda: (
            Choice(make, settings_of(model, limits), task, limits, random_state=seed)
            if chosen
            else make({})
        )
        self.error: str | None = None
        self.lacked_time = False
        self.folds: list[int] = []
        self.fold_seconds = 0.0
        self.scores: dict[str, list[float]] = {metric: [] for metric in METRICS[task]}
        self.costs: list[tuple] = []
        self.fit_seconds: list[float] = []
        self.settings: list[dict] = []
        self.predictions = np.zeros(len(y), dtype=float if self.classes is None else y.dtype)
        self.probabilities = (
            None
            if self.classes is None
            else np.full((len(y), len(self.classes)), np.nan, dtype=np.float32)
        )

    def fit(self) -> Any:
        """The model fitted on all rows."""
        model = self._fitted(self.X, self.y)
        return model.chosen_ if isinstance(model, Choice) else model

    def _fitted(self, X: Any, y: np.ndarray) -> Any:
        """The model fitted; warnings of other libraries are not ours to pass on."""
        ours = self.model.is_ours
        with nullcontext() if ours else warnings.catch_warnings():
            if not ours:
                warnings.simplefilter("ignore")
            return self._new().fit(X, y)

    def trial_seconds(self, most: float) -> float:
        """About what a fold will take, by a fit on some of its rows that may not take longer."""
        train = self.splits[0][0]
        n_rows = max(TRIAL_ROWS, round(TRIAL_SHARE * len(train)))
        some = np.random.default_rng(0).permutation(train)[:n_rows]
        growth = len(train) / len(some)
        limit = max(SHORTEST_TRIAL, most / growth)
        began = perf_counter()
        try:
            with time_limit(limit):
                self._fitted(take_rows(self.X, some), self.y[some])
        except TimeoutError:
            self.end_for_time(f"left out: {len(some)} rows took more than {in_words(limit)}")
        except Exception as error:
            self.error = _one_line(error)
        return (perf_counter() - began) * growth * (ALLOWANCE if growth > 1 else 1.0)

    def try_fold(self, fold: int, limit: float | None) -> None:
        """Fit and score on one fold; what goes wrong ends this model's run, and is kept."""
        try:
            with time_limit(limit):
                self._run_fold(fold)
        except TimeoutError:
            self.end_for_time(f"the time was up in fold {fold + 1}")
        except Exception as error:
            self.error = _one_line(error)

    def end_for_time(self, reason: str) -> None:
        """Take no further part, because there is no time."""
        self.error, self.lacked_time = reason, True

    def _run_fold(self, fold: int) -> None:
        train, test = self.splits[fold]
        X_test = take_rows(self.X, test)
        began = perf_counter()
        model = self._fitted(take_rows(self.X, train), self.y[train])
        fit_seconds = perf_counter() - began
        predicted = np.asarray(model.predict(X_test))
        shares = None if self.classes is None else self._shares(model, X_test)
        scores = _scores(self.y[test], predicted, shares, self.classes)
        cost = count_splits(model), count_bytes(model), find_depth(model), time_row(model, X_test)

        # From here on nothing can fail: a fold counts as a whole or not at all.
        self.predictions[test] = predicted
        if self.probabilities is not None:
            self.probabilities[test] = shares
        for metric, score in scores.items():
            self.scores[metric].append(score)
        self.costs.append(cost)
        self.fit_seconds.append(fit_seconds)
        self.settings.append(dict(getattr(model, "settings_", {})))
        self.fold_seconds = perf_counter() - began
        self.folds.append(fold)

    def _shares(self, model: Any, X: Any) -> np.ndarray:
        """Probabilities of all classes, those that the training rows did not have included."""
        assert self.classes is not None
        shares = np.zeros((X.shape[0], len(self.classes)))
        shares[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return shares

    def result(self) -> Result:
        """What was found."""
        typical = [_median(values) for values in zip(*self.costs, strict=True)] or [None] * 4
        n_splits, n_bytes, depth = (None if v is None else round(v) for v in typical[:3])
        return Result(
            name=self.name,
            family=self.model.family,
            library=self.model.library,
            scores=self.scores,
            folds=self.folds,
            fit_seconds=self.fit_seconds,
            n_splits=n_splits,
            n_bytes=n_bytes,
            depth=depth,
            microseconds_per_row=typical[3],
            parameters=self.settings,
            predictions=self.predictions if self.folds else None,
            probabilities=self.probabilities if self.folds else None,
            error=self.error,
        )


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
