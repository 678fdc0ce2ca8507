"""Cross-validate models on the same folds and set score, size and speed side by side.

`compare` makes the folds once and runs every model of ``hedgerow.comparison.models`` over them,
fold by fold, so that a run that is stopped has all models on the first folds. Whatever is chosen
from the data, settings under a limit or in the thorough budget, is chosen inside the training rows.
"""

import os
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length
from threadpoolctl import threadpool_limits

from hedgerow import _parameters as parameters
from hedgerow._columns import is_frame
from hedgerow.comparison import tables
from hedgerow.comparison.budget import Listener, Plan, in_words, parse_budget, progress_bar
from hedgerow.comparison.comparison import Comparison
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.journal import FoldJournal, describe
from hedgerow.comparison.models import choose_models
from hedgerow.comparison.records import INTERRUPTED, Task
from hedgerow.comparison.run import Problem, Run
from hedgerow.comparison.within import Limits, inner_folds

FOLDS = {"small": 5, "balanced": 5, "thorough": 10}
RESERVED = 0.15  # of the time, for the best model on all rows and the report
LEADERS = 3  # whose fitted models are kept: one of them will most likely be the best


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
    progress: bool | Listener | None = None,
    name: str | None = None,
    target: str | None = None,
    journal: str | os.PathLike | None = None,
    resume: bool | None = None,
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
        Names out of ``hedgerow.comparison.MODELS``; by default all that are installed.
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
    journal : path-like, default=None
        A file to which every fold of a model is written as soon as it is finished.
    resume : bool, default=None
        True goes on from the folds that a run which was stopped, or killed, left in the journal;
        that of another table, or of other folds, limits or seeds, is refused. False deletes them.
        None does so, too, unless they are of this very comparison.

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
    limits = Limits(max_splits, max_bytes, max_latency_us)
    if resume and journal is None:
        raise ValueError("'resume' must be None where no 'journal' is given, got True.")
    X = X if is_frame(X) else np.asarray(X)
    y, task = tables.read_target(y, task)
    check_consistent_length(X, y)
    dropped = tables.useless_columns(X)
    X = tables.drop_columns(X, dropped)
    chosen = choose_models(models, task, plan.budget)
    splits = _make_folds(cv, plan, task, y, random_state)
    threads = parameters.resolve_n_jobs(n_jobs)
    tuned = plan.budget == "thorough"
    problem = Problem(task, X, y, splits, limits, tuned, random_state, threads)
    written = None
    if journal is not None:
        settings = {"task": task, "seed": random_state, "limits": limits.given, "tuned": tuned}
        written = FoldJournal(journal, describe(X, y, splits, **settings), resume)
    runs = {
        name: Run(name, model, problem, written.folds_of(name, len(splits)) if written else [])
        for name, model in chosen.items()
    }
    with progress_bar(progress) as listener, threadpool_limits(threads):
        all_runs = list(runs.values())
        interrupted = _run_all(all_runs, len(splits), began, plan.seconds, listener, written)
    return Comparison(
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
        seconds=perf_counter() - began,
        interrupted=interrupted,
        X=X,
        y=y,
        splits=splits,
        _fit=lambda name: runs[name].fit(),
        _fit_fold=lambda name, fold, refit: runs[name].fold_model(fold, refit),
    )


def _make_folds(cv: Any, plan: Plan, task: Task, y: np.ndarray, seed: int) -> list:
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros(len(y)), y))
    cv = FOLDS[plan.budget] if cv is None else cv
    parameters.check_int("cv", cv, low=2)
    return list(inner_folds(task, cv, seed).split(np.zeros(len(y)), y))


def _run_all(
    runs: list[Run],
    n_folds: int,
    began: float,
    seconds: float | None,
    listener: Listener,
    journal: FoldJournal | None,
) -> bool:
    """All models through all folds; whether something was left undone for want of time."""

    def left() -> float | None:
        return None if seconds is None else began + seconds * (1 - RESERVED) - perf_counter()

    total = len(runs) * n_folds
    done = 0
    stopped = False
    try:
        with Interrupts() as interrupts:
            if seconds is not None:
                _admit(runs, n_folds, left, listener, interrupts)
            for number in range(n_folds):
                for run in runs:
                    finished = any(fold.number == number for fold in run.folds)  # by a former run
                    if run.error is None and not finished:
                        what = f"{run.name}, fold {number + 1}"
                        listener(done, total, what, _expected(runs, n_folds))
                        fold = run.try_fold(number, left(), interrupts)
                        if fold is not None and journal is not None:
                            journal.write(run.name, fold)
                        if interrupts.heard:  # a library swallowed it
                            raise KeyboardInterrupt
                    done += 1
                _keep_leaders(runs)
    except KeyboardInterrupt:
        if not any(run.folds for run in runs):
            raise
        stopped = True
        for run in runs:
            run.error = run.error or (None if len(run.folds) == n_folds else INTERRUPTED)
    listener(total, total, "done", 0.0)
    if not any(run.folds for run in runs):
        first = next(run for run in runs if run.error)
        raise ValueError(f"no model could be compared; {first.name}: {first.error}")
    return stopped or any(run.lacked_time for run in runs)


def _keep_leaders(runs: list[Run]) -> None:
    """Forget the fitted models of all runs but the best: together they would fill the memory."""
    ranked = sorted(
        (run for run in runs if run.folds), key=lambda run: (-len(run.folds), -run.score)
    )
    for run in ranked[LEADERS:]:
        run.models.clear()


def _admit(
    runs: list[Run],
    n_folds: int,
    left: Callable[[], float | None],
    listener: Listener,
    interrupts: Interrupts,
) -> None:
    """Leave out the slowest models where all together would not fit into the time.

    Each is tried on some rows; from the quickest on, they enter as long as there is time. One with
    folds that a former run finished is known.
    """
    trials = []
    for run in runs:
        if run.folds:
            fold = float(np.mean([fold.seconds for fold in run.folds]))
        else:
            listener(0, len(runs) * n_folds, f"{run.name}, trial", None)
            fold = run.trial_seconds((left() or 0.0) / n_folds, interrupts)
        trials.append(((n_folds - len(run.folds)) * fold, run))
    available, planned = left() or 0.0, 0.0
    for expected, run in sorted(trials, key=lambda trial: trial[0]):
        if run.error is None and planned + expected > available:
            run.end_for_time(f"left out: it would take about {in_words(expected)}")
        elif run.error is None:
            planned += expected


def _expected(runs: list[Run], n_folds: int) -> float | None:
    """Seconds left, once every model has been through a fold."""
    running = [run for run in runs if run.error is None]
    if not all(run.folds for run in running):
        return None
    return sum(run.folds[-1].seconds * (n_folds - len(run.folds)) for run in running)
