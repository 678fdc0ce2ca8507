"""Cross-validate models on the same folds and set score, size and speed side by side.

`compare` makes the folds once and runs every model of ``hedgerow.comparison.models`` over them, in
the order of ``schedule``. Whatever is chosen from the data, settings under a limit or in the
thorough budget, is chosen inside the training rows.
"""

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length
from threadpoolctl import threadpool_limits

from hedgerow import _parameters as parameters
from hedgerow._columns import is_frame, known_table
from hedgerow._reading import TableReading
from hedgerow.comparison import tables, watch
from hedgerow.comparison.baseline import constant_for
from hedgerow.comparison.budget import Listener, parse_budget, progress_bar
from hedgerow.comparison.comparison import Comparison
from hedgerow.comparison.division import Division, divide
from hedgerow.comparison.front import front_of
from hedgerow.comparison.journal import FoldJournal, describe
from hedgerow.comparison.metrics import Metric, find_metrics, find_positive, label_of
from hedgerow.comparison.models import choose_models
from hedgerow.comparison.records import CONSTANT, Task
from hedgerow.comparison.run import Problem, Run
from hedgerow.comparison.schedule import Clock, Schedule
from hedgerow.comparison.within import Limits

MOST_CATEGORIES = 2000  # for an embedding, to which each is a column; asked for, it runs
WATCH_SHARE = 0.02  # of the time, for what looks too good
FOLDS = {"small": 5, "balanced": 5, "thorough": 10}


def compare(
    X: Any,
    y: Any,
    *,
    budget: str | float | None = None,
    cv: int | BaseCrossValidator | None = None,
    repeats: int = 1,
    groups: Any = None,
    time: Any = None,
    split: Any = None,
    test: tuple[Any, Any] | None = None,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    models: Iterable[str] | None = None,
    max_splits: int | None = None,
    max_bytes: int | None = None,
    max_latency_us: float | None = None,
    max_path: int | None = None,
    task: Task | None = None,
    scoring: Any = None,
    positive: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | Listener | None = None,
    name: str | None = None,
    target: str | None = None,
    journal: str | os.PathLike | None = None,
    resume: bool | None = None,
    reading: TableReading | None = None,
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
        "small" runs the quick models, "balanced" (the default) all but the very slow, both at their
        default parameters in five folds; "thorough" has all in ten folds and tunes each inside the
        training rows. A time, "10min" or seconds, runs all at their defaults in five folds, and
        leaves out, or stops, what would take longer.
    cv : int or cross-validator, default=None
        Number of shuffled, for classes stratified, folds; or any splitter of scikit-learn.
    repeats : int, default=1
        How often the rows are shuffled anew and divided into folds.
    groups : str or array-like of shape (n_samples,), default=None
        A column, or values: rows with the same one are never in training and test rows of a fold.
        A column that is named is then no feature.
    time : str or array-like of shape (n_samples,), default=None
        A column, or values, of what can be ordered: each fold is tested by models that saw only
        rows from before. A column that is named is then no feature: later values were never seen.
    split : str or array-like of shape (n_samples,), default=None
        A column, or values, that says "train" and "test" for each row, or numbers the folds.
    test : tuple (X, y), default=None
        A table to test on, in place of folds. The final model is fitted on the first table only.
    drop, keep : iterable of str, default=()
        Columns that are no features; and those that are, whatever they look like.
    models : iterable of str, default=None
        Names out of ``hedgerow.comparison.MODELS``; by default all that are installed.
    max_splits, max_bytes, max_latency_us, max_path : default=None
        Limits, as in `fit_within`: each model is then the best of its settings within them, chosen
        inside the training rows. ``Comparison.front`` and the report then have every model from one
        split to its full size.
    task : {"classification", "regression"}, default=None
        By default regression for a numeric target with more than 20 distinct values, or with a
        value that is not whole, and classification for any other.
    scoring : str, callable or list of them, default=None
        The first decides, the others are shown: "accuracy", "balanced_accuracy", "roc_auc",
        "average_precision", "f1", "log_loss", "brier"; "r2", "rmse", "mae", "mape", "pinball_0.9";
        or any scorer of scikit-learn, by name or as a function. By default accuracy or R²; where a
        class has under 5 % of the rows, average precision of two classes, and balanced accuracy of
        more.
    positive : object, default=None
        The class that F1, average precision and ROC AUC look for, of two; by default the rare one,
        or else the last.
    random_state : int, default=0
        Seeds the folds and every model.
    n_jobs : int, default=None
        Threads of each model.
    progress : bool or callable, default=None
        True shows a bar (needs rich), None does so in a notebook or terminal. A function is called
        with folds done, folds to do, what comes next, and the seconds left or None.
    name, target : str, default=None
        Of the table and its target, for the report.
    journal : path-like, default=None
        A file to which every fold of a model is written as soon as it is finished.
    resume : bool, default=None
        True goes on from the folds that a run which was stopped, or killed, left in the journal;
        that of another table, or of other folds, limits or seeds, is refused. False deletes them.
        None does so, too, unless they are of this very comparison.
    reading : TableReading, default=None
        How X was made from a raw table: the report tells of it, and the fitted models keep it.

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
    >>> result.best_result.mean("accuracy") > 0.9
    True
    """
    began = perf_counter()
    plan = parse_budget(budget)
    limits = Limits(max_splits, max_bytes, max_latency_us, max_path)
    if resume and journal is None:
        raise ValueError("'resume' must be None where no 'journal' is given, got True.")
    X = known_table(X)
    X = X if is_frame(X) else np.asarray(X)
    y, task = tables.read_target(y, task)
    check_consistent_length(X, y)
    n_test = 0
    if test is not None:
        X, y, n_test = _join_test(X, y, test)
    wanted = tables.check_names(X, drop, "drop")
    kept = tables.check_names(X, keep, "keep")
    ways: dict[str, Any] = {}
    for what, column in (("groups", groups), ("time", time), ("split", split)):
        X, ways[what] = tables.take_out(X, column, what)
    X = tables.drop_columns(X, [name for name in wanted if name in X.columns])
    dropped = tables.useless_columns(X, kept)
    X = tables.drop_columns(X, dropped)
    if reading is not None:
        dropped |= reading.left_out()
    # Within a time the slow ones come last, where there is time left for them.
    most = plan.budget if plan.seconds is None else "thorough"
    chosen = choose_models(models, task, most)
    n_folds = FOLDS[plan.budget] if cv is None else cv
    division = divide(n_folds, task, y, random_state, repeats=repeats, n_test=n_test, **ways)
    splits = division.splits
    threads = parameters.resolve_n_jobs(n_jobs)
    tuned = plan.budget == "thorough"
    metrics = find_metrics(scoring, task, y)
    classes = np.unique(y) if task == "classification" else None
    positive = find_positive(positive, classes, y)
    problem = Problem(
        task,
        X,
        y,
        splits,
        limits,
        tuned,
        random_state,
        threads,
        metrics,
        positive,
        division.fit_rows,
    )
    written = None
    if journal is not None:
        settings = {
            "task": task,
            "seed": random_state,
            "limits": limits.given,
            "tuned": tuned,
            "metrics": [metric.name for metric in metrics],
            "positive": str(positive),
        }
        written = FoldJournal(journal, describe(X, y, splits, **settings), resume)
    runs = {
        name: Run(name, model, problem, written.folds_of(name, len(splits)) if written else [])
        for name, model in chosen.items()
    }
    n_categories = tables.count_categories(X)
    for run in runs.values():
        if models is None and run.model.family == "embedding" and n_categories > MOST_CATEGORIES:
            run.error = f"left out: its time grows with the cube of {n_categories:,} categories"
    with progress_bar(progress) as listener, threadpool_limits(threads):
        clock = Clock(began, plan.seconds)
        interrupted = Schedule(list(runs.values()), len(splits), clock, listener, written).go()
        front = front_of(runs.values(), clock) if limits and not interrupted else []
    runs[CONSTANT] = _run_constant(problem, list(runs.values()))
    found = Comparison(
        task=task,
        classes=None if problem.classes is None else problem.classes.tolist(),
        feature_names=tables.feature_names(X),
        data=tables.describe(X, dropped, name, target),
        results=[run.result() for run in runs.values()],
        n_folds=len(splits),
        test_ratio=float(np.mean([len(test) / len(train) for train, test in splits])),
        random_state=random_state,
        budget=None if budget is None else str(budget),
        limits=limits.given,
        metrics=[metric.name for metric in metrics],
        positive=positive,
        division=division.words,
        seconds=perf_counter() - began,
        interrupted=interrupted,
        front=front,
        X=X,
        y=y,
        splits=splits,
        reading=reading,
        _fit=lambda name: runs[name].fit(),
        _fit_fold=lambda name, fold, refit: runs[name].fold_model(fold, refit),
    )
    if found.ranked:
        seconds = min(watch.SECONDS, WATCH_SHARE * (plan.seconds or math.inf))
        found.warnings += _watch(found, division, metrics[0], scoring is not None, seconds)
    return found


def _join_test(X: Any, y: np.ndarray, test: tuple[Any, Any]) -> tuple[Any, np.ndarray, int]:
    """Both tables, one after the other, and how many rows are those of the second."""
    X_test, y_test = test
    y_test = np.asarray(y_test)
    check_consistent_length(X_test, y_test)
    return tables.join_rows(X, X_test), np.concatenate([y, y_test]), len(y_test)


def _watch(
    found: Comparison, division: Division, metric: Metric, asked: bool, seconds: float
) -> Iterator[str]:
    """What is suspicious about the table, the folds and the scores."""
    if found.task == "classification":
        yield from watch.rare_class_notes(found.y, found.n_folds, label_of(metric.name), asked)
    yield from watch.repeated_identifiers(found.X, division)
    yield from watch.dates(found.reading, division)
    yield from watch.copies(found.X, found.y, division)
    constant = found.constant
    if constant is not None:
        yield from watch.telling_columns(
            found.X,
            found.y,
            division,
            metric,
            None if found.classes is None else np.asarray(found.classes),
            found.positive,
            constant.mean(metric.name),
            found.best_result.mean(metric.name),
            seconds,
        )


def _run_constant(problem: Problem, runs: list[Run]) -> Run:
    """The constant, on the folds that any model finished; no limit of size is too small for it."""
    constant = constant_for(problem.metrics[0].name)
    run = Run(CONSTANT, constant, replace(problem, limits=Limits(), tuned=False), [])
    for number in sorted({fold.number for each in runs for fold in each.folds}):
        run.run_fold(number)
    return run
