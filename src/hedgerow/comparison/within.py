"""The best model within a limit of splits, bytes, microseconds or the longest path.

`fit_within` looks through all families. `Choice` is the same for one model, as an estimator, so
that a comparison can cross-validate the choice itself; it also does the tuning of the thorough
budget, which is a choice without a limit.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain, islice
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, StratifiedKFold

from hedgerow import _parameters as parameters
from hedgerow._columns import take_rows
from hedgerow._table import Table
from hedgerow._timing import ROWS_TIMED, time_row
from hedgerow.comparison.budget import Listener, parse_budget, progress_bar
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.metrics import (
    Metric,
    find_metrics,
    find_positive,
    gain,
    label_of,
    outcome_of,
    weighs_classes,
)
from hedgerow.comparison.models import Model, Settings, choose_models
from hedgerow.comparison.records import Task
from hedgerow.comparison.sizes import count_bytes, count_flash_bytes, count_splits, find_depth
from hedgerow.comparison.tables import read_target

# Families from the quickest on, which is the order in which they are tried.
SLOWER = ("tree", "graph", "additive", "forest", "boosting", "embedding", "cascade")
MOST_SPLITS = 4096  # where the limit is not one of splits
MOST_SETTINGS = 12  # of one model
BYTES_PER_SPLIT = 16  # at the least
FLASH_PER_SPLIT = 4  # at the least


class LimitError(ValueError):
    """Nothing keeps the limits."""


@dataclass(frozen=True)
class Limits:
    """What a model may cost; None is no limit."""

    max_splits: int | None = None
    max_bytes: int | None = None
    max_latency_us: float | None = None
    max_path: int | None = None
    max_flash_bytes: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_splits", "max_bytes", "max_path", "max_flash_bytes"):
            parameters.check_int(name, getattr(self, name), low=1, optional=True)
        parameters.real(0, optional=True).check("max_latency_us", self.max_latency_us)

    def __bool__(self) -> bool:
        return bool(self.given)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.given.items())

    @property
    def given(self) -> dict[str, float]:
        """The limits that were set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def are_of_size(self) -> bool:
        """Whether there is a limit beside that of the path."""
        return bool(self.given.keys() - {"max_path"})

    @property
    def most_splits(self) -> int:
        """Splits of the largest model that may fit."""
        by_bytes = MOST_SPLITS if self.max_bytes is None else self.max_bytes // BYTES_PER_SPLIT
        by_flash = (self.max_flash_bytes or MOST_SPLITS * FLASH_PER_SPLIT) // FLASH_PER_SPLIT
        return max(1, min(by_bytes, by_flash, self.max_splits or MOST_SPLITS))

    def hold(self, model: Any, X: Any) -> bool:
        """Whether a fitted model keeps all limits; its latency is measured on rows of X."""
        if self.max_splits is not None:
            n_splits = count_splits(model)
            if n_splits is None or n_splits > self.max_splits:
                return False
        if self.max_bytes is not None and count_bytes(model) > self.max_bytes:
            return False
        if self.max_path is not None:
            depth = find_depth(model)
            if depth is None or depth > self.max_path:
                return False
        if self.max_flash_bytes is not None:
            n_bytes = count_flash_bytes(model, X)
            if n_bytes is None or n_bytes > self.max_flash_bytes:
                return False
        if self.max_latency_us is None:
            return True
        sample = take_rows(X, np.arange(min(X.shape[0], ROWS_TIMED)))
        return time_row(model, sample) <= self.max_latency_us


@dataclass(frozen=True)
class HeldOut:
    """What `fit_within` chose, and how good it is on rows that it was not fitted on.

    Attributes
    ----------
    model : str
        Name out of ``hedgerow.comparison.MODELS``.
    settings : dict
        What differs from that model's defaults.
    metric : str
        What decided.
    scores : tuple of float
        On the held-out rows of each fold of the cross-validation.
    n_compared : int
        Settings, of all models, that kept the limits. The best of many scores is somewhat too
        good; a comparison or rows of your own tell it without that.
    n_splits : int or None
    n_bytes : int
    longest_path : int or None
        Most tests that a row meets in any of the trees.
    """

    model: str
    settings: Settings
    metric: str
    scores: tuple[float, ...]
    n_compared: int
    n_splits: int | None
    n_bytes: int
    longest_path: int | None

    @property
    def score(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return float(np.std(self.scores, ddof=1) / len(self.scores) ** 0.5)

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        splits = "" if self.n_splits is None else f"{self.n_splits:,} splits, "
        path = "" if self.longest_path is None else f"longest path {self.longest_path}, "
        return (
            f"{self.model}({settings}): {label_of(self.metric)} "
            f"{self.score:.4f} ± {self.standard_error:.4f} on held-out rows, {splits}{path}"
            f"{self.n_bytes:,} bytes; the best of {self.n_compared}"
        )


def settings_of(
    model: Model, limits: Limits, is_tuned: bool, weighs_classes: bool
) -> Iterable[Settings]:
    """The settings to choose from: the default; the ladder under a limit; the grid if it is tuned.

    Each with balanced class weights, too, where these are worth a try.
    """
    rungs = _ladder(model, limits) if limits else []
    # The default of a trusted model, whose first setting counts, is no size of its own.
    default: list[Settings] = [] if model.trusted and limits.are_of_size else [{}]
    offered: Iterable[Settings] = chain(default, rungs)
    if is_tuned and not limits:
        offered = chain([{}], model.grid)
    if not weighs_classes:
        return offered
    return (each | more for each in offered for more in ({}, {"class_weight": "balanced"}))


def _ladder(model: Model, limits: Limits) -> Iterable[Settings]:
    most, path = limits.most_splits, limits.max_path
    is_single = model.family in ("tree", "graph")
    if path is not None and is_single:  # more splits would be a longer path
        most = min(most, 2**path - 1)
    # Where the path is the only limit, ensembles are as large as they like.
    rungs = model.ladder(most) if model.ladder and (is_single or limits.are_of_size) else []
    if path is None or model.depth is None:
        return rungs
    name = model.depth
    return (_no_deeper(each, name, path) for each in chain([{}], rungs))


def _no_deeper(settings: Settings, name: str, most: int) -> Settings:
    """Settings with a limit of the depth, which they may have already; 0 is none."""
    return settings | {name: min(settings.get(name) or most, most)}


class Choice(BaseEstimator):
    """One of several settings of a model, chosen by cross-validation.

    Parameters
    ----------
    make : callable
        From settings to an unfitted estimator.
    settings : iterable of dict
        The first `MOST_SETTINGS` of them that keep the limits are compared.
    task : {"classification", "regression"}
    metric : Metric
        Decides, on rows that a setting was not fitted on.
    positive : object, default=None
        The class that counts as found, of two.
    limits : Limits, default=None
    cv : int, default=3
    random_state : int, default=0
    trusts_first : bool, default=False
        Whether the first setting is taken unless another is clearly better.

    Attributes
    ----------
    chosen_ : estimator
        Fitted on all rows.
    settings_ : dict
    scores_ : list of float
        Its metric on the inner folds.
    n_compared_ : int
        Settings that kept the limits.
    """

    def __init__(
        self,
        make,
        settings,
        task,
        metric,
        positive=None,
        limits=None,
        cv=3,
        random_state=0,
        trusts_first=False,
    ):
        self.make = make
        self.settings = settings
        self.task = task
        self.metric = metric
        self.positive = positive
        self.limits = limits
        self.cv = cv
        self.random_state = random_state
        self.trusts_first = trusts_first

    def fit(self, X: Any, y: Any = None) -> "Choice":
        """Choose the settings and fit them on all rows.

        The table is read once; all settings and folds share it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or Table
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        limits = self.limits or Limits()
        table = X if isinstance(X, Table) else read_table(self, X, y, self.task)
        kept = list(islice(self._keeping(limits, table), MOST_SETTINGS))
        if not kept:
            raise LimitError(f"no setting keeps the limits {limits}.")
        folds = [
            (table.take(train), table.take(test))
            for train, test in inner_folds(table, self.task, self.cv, self.random_state)
        ]
        scores = [self._score(settings, folds) for settings, _ in kept]
        best = int(np.argmax([self._mean_gain(of_folds) for of_folds in scores]))
        if self.trusts_first and not is_clearly_better(self.metric, scores[best], scores[0]):
            best = 0
        self.settings_, fitted = kept[best]
        self.chosen_ = fitted or self.make(self.settings_).fit(table)
        self.scores_ = scores[best]
        self.n_compared_ = len(kept)
        if hasattr(self.chosen_, "classes_"):
            self.classes_ = self.chosen_.classes_
        return self

    def _keeping(self, limits: Limits, table: Table) -> Iterator[tuple[Settings, Any]]:
        """The settings that keep the limits, with the models that show it where there are some."""
        for settings in self.settings:
            fitted = self.make(settings).fit(table) if limits else None
            if fitted is None or limits.hold(fitted, table.source):
                yield settings, fitted

    def _mean_gain(self, scores: list[float]) -> float:
        """Mean over the folds that tell, turned so that more is better."""
        known = [gain(self.metric.name, score) for score in scores if np.isfinite(score)]
        return float(np.mean(known)) if known else -np.inf

    @property
    def gain_(self) -> float:
        """Mean of the scores, turned so that more is better."""
        return self._mean_gain(self.scores_)

    def _score(self, settings: Settings, folds: list[tuple[Table, Table]]) -> list[float]:
        scores = []
        for train, test in folds:
            model = self.make(settings).fit(train)
            outcome = outcome_of(model, test, test.labels, test.classes, self.positive)
            scores.append(float(self.metric.score(outcome)))
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the chosen model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self.chosen_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the chosen model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self.chosen_.predict_proba(X)


def is_clearly_better(metric: Metric, one: list[float], other: list[float]) -> bool:
    """Whether scores of the same folds are better by more than the standard error of the mean."""
    pairs = [pair for pair in zip(one, other, strict=True) if np.isfinite(pair).all()]
    if len(pairs) < 2:
        return not np.isfinite(other).any()
    apart = [gain(metric.name, a) - gain(metric.name, b) for a, b in pairs]
    return float(np.mean(apart)) > float(np.std(apart, ddof=1)) / len(apart) ** 0.5


def read_table(estimator: Any, X: Any, y: Any, task: Task) -> Table:
    """The table that all settings share."""
    return Table.read(estimator, X, y, has_classes=task == "classification")


def inner_folds(table: Table, task: Task, cv: int, seed: int) -> list:
    """Shuffled folds, stratified for classification."""
    splitter = StratifiedKFold if task == "classification" else KFold
    with warnings.catch_warnings():  # of classes with few rows
        warnings.filterwarnings("ignore", message="The least populated class")
        folds = splitter(cv, shuffle=True, random_state=seed).split(table.targets, table.targets)
        return list(folds)


def fit_within(
    X: Any,
    y: Any,
    *,
    max_splits: int | None = None,
    max_bytes: int | None = None,
    max_latency_us: float | None = None,
    max_path: int | None = None,
    max_flash_bytes: int | None = None,
    task: Task | None = None,
    scoring: Any = None,
    positive: Any = None,
    models: Iterable[str] | None = None,
    cv: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    budget: str | float | None = None,
    progress: bool | Listener | None = None,
) -> Any:
    """Fit the best of hedgerow's models within a limit, over all families.

    Every family offers settings that fill the limit; those that keep it when fitted on all rows
    are compared by cross-validation, and the best of them is returned. A sum of trees
    (``TreeSum*``) as large as the limit allows is taken unless another setting is better by more
    than the standard error of their difference: of many scores the best is often so by luck.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    max_splits : int, default=None
        Most tests in all trees of the model.
    max_bytes : int, default=None
        Most bytes of the form that predicts, see ``hedgerow.comparison.sizes``.
    max_latency_us : float, default=None
        Most microseconds per row, predicting a thousand rows at once. It is measured on this
        machine, so what is chosen may differ from run to run.
    max_path : int, default=None
        Most tests that a row meets in any of the trees: what a person has to read.
    max_flash_bytes : int, default=None
        Most bytes of flash on a Cortex-M0, measured by a compiler for it (arm-none-eabi-gcc), see
        ``hedgerow.export.size``. Where all numbers of X are whole they are "int32", else "float".
    task : {"classification", "regression"}, default=None
        By default it is found from the target.
    scoring : str or callable, default=None
        The metric that decides, and the class that it looks for, as in `compare`.
    positive : object, default=None
    models : iterable of str, default=None
        Names out of ``hedgerow.comparison.MODELS``; by default all of hedgerow's.
    cv : int, default=5
        Folds of the cross-validation that chooses.
    random_state : int, default=0
    n_jobs : int, default=None
        Threads of each model.
    budget : str or float, default=None
        A time such as "2min", or seconds: models that are not done when it is up do not take part.
        The quickest come first.
    progress : bool or callable, default=None
        As in `compare`.

    Returns
    -------
    model : estimator
        Fitted on all rows. Its attribute ``held_out_`` is a `HeldOut`: which model with which
        settings it is, and the scores of the cross-validation that chose it.

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = hedgerow.fit_within(X, y, max_splits=5)
    >>> model.n_splits_ <= 5
    True
    >>> model.held_out_.score > 0.9
    True
    """
    limits = Limits(max_splits, max_bytes, max_latency_us, max_path, max_flash_bytes)
    if not limits:
        raise ValueError(
            "'max_splits', 'max_bytes', 'max_latency_us', 'max_path' or 'max_flash_bytes' must be "
            "given."
        )
    y, task = read_target(y, task)
    metric = find_metrics(scoring, task, y)[0]
    positive = find_positive(positive, np.unique(y) if task == "classification" else None, y)
    is_rare = weighs_classes(metric.name, y)
    table = read_table(BaseEstimator(), X, y, task)
    chosen = choose_models(models, task, ours=True)
    choices: dict[str, Choice] = {}
    late: list[str] = []
    seconds, began = parse_budget(budget).seconds, perf_counter()
    with progress_bar(progress) as listener, Interrupts() as interrupts:
        for name in sorted(chosen, key=lambda name: _slowness(chosen[name])):
            left = None if seconds is None else max(began + seconds - perf_counter(), 0.0)
            listener(len(choices) + len(late), len(chosen), name, left)
            choice = Choice(
                maker(chosen[name], task, random_state, n_jobs),
                settings_of(chosen[name], limits, False, is_rare and chosen[name].weighs_classes),
                task,
                metric,
                positive,
                limits,
                cv,
                random_state,
                chosen[name].trusted,
            )
            try:
                with suppress(LimitError), interrupts.limit(left):
                    choices[name] = choice.fit(table)
            except TimeoutError:
                late.append(name)
    if not choices and late:
        raise TimeoutError(f"no model was done within {budget}; {late[0]} took longer.")
    if not choices:
        raise LimitError(f"no setting keeps the limits {limits}.")
    name = max(choices, key=lambda name: choices[name].gain_)
    for other, choice in choices.items():
        if chosen[other].trusted and not is_clearly_better(
            metric, choices[name].scores_, choice.scores_
        ):
            name = other
    best = choices[name]
    best.chosen_.held_out_ = HeldOut(
        name,
        best.settings_,
        metric.name,
        tuple(best.scores_),
        sum(choice.n_compared_ for choice in choices.values()),
        count_splits(best.chosen_),
        count_bytes(best.chosen_),
        find_depth(best.chosen_),
    )
    return best.chosen_


def _slowness(model: Model) -> int:
    return SLOWER.index(model.family) if model.family in SLOWER else len(SLOWER)


def maker(model: Model, task: Task, seed: int, n_jobs: int | None) -> Callable[[Settings], Any]:
    """A function from settings to an estimator."""
    return lambda settings: model.make(task, seed=seed, n_jobs=n_jobs, settings=settings)
