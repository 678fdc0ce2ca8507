"""``hedgerow compare``: the leaderboard, the report, the results and the best model."""

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

import hedgerow
from hedgerow._files import write_text
from hedgerow.cli import options
from hedgerow.cli.leaderboard import leaderboard, summary, unranked
from hedgerow.cli.options import note
from hedgerow.comparison import Comparison
from hedgerow.comparison.budget import in_words, parse_budget
from hedgerow.comparison.records import INTERRUPTED
from hedgerow.datasets import LoadedData, load_data
from hedgerow.datasets.columns import did_you_mean

RESULTS, JOURNAL, MODEL, REPORT = "results.json", "folds.jsonl", "best.hedgerow", "report.html"
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


def compare(
    data: options.Data = "breast_cancer",
    target: options.Target = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    budget: Annotated[
        str, typer.Option(help="small, balanced, thorough, or a time: 90s, 10min, 1h.")
    ] = "balanced",
    models: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only models with these in their name: tree,LightGBM."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Number of folds. [default: by the budget]")
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often the rows are divided into folds anew.")
    ] = 1,
    groups: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Rows with the same value stay in one fold."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Folds in this order: models see only what was before."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="COL", help="A column that says train and test, or numbers folds."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file to test on, in place of folds.")
    ] = None,
    metric: options.Metric = None,
    positive: options.Positive = None,
    task: options.TaskOption = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    max_splits: options.MaxSplits = None,
    max_bytes: options.MaxBytes = None,
    max_latency_us: options.MaxLatency = None,
    max_path: options.MaxPath = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for report.html, results.json and best.hedgerow.")
    ] = Path("hedgerow-results"),
    files: Annotated[bool, typer.Option(help="Write them.")] = True,
    resume: Annotated[
        bool | None,
        typer.Option(help="Go on from the folds that a stopped run finished, or start anew."),
    ] = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Cross-validate every model on the same folds, beside other libraries'."""
    began = perf_counter() - min(options.process_age(), 15.0)  # loading libraries counts, too
    seconds = parse_budget(budget).seconds
    if resume and not files:
        raise typer.BadParameter("'--resume' reads from the folder of results: drop '--no-files'.")
    chosen = list(options.find_models(models)) if models else None
    text = options.text_options(sep, decimal, encoding)
    table = load_data(
        data, target, **text._asdict(), na=options.names_in(na), keep=options.names_in(keep)
    )
    # Columns that are left out are named with those that the comparison leaves out.
    options.note_all([line for line in table.notes if ": left out: " not in line], data)
    if files:
        out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(record=True) as caught, _terminable() as terminated:
        warnings.simplefilter("default")
        result = hedgerow.compare(
            table.X,
            table.y,
            budget=budget if seconds is None else max(seconds - (perf_counter() - began), 0.1),
            cv=folds,
            repeats=repeats,
            groups=column_of(table, groups, "--groups"),
            time=column_of(table, time, "--time"),
            split=column_of(table, split, "--split"),
            test=table.read_alike(test, **text._asdict()) if test else None,
            drop=[
                *options.features_of(table, [*options.names_in(drop), groups, split]),
                # Of a time that orders the folds months, weekdays and hours come again.
                *(name for name in options.features_of(table, [time]) if name == time),
            ],
            keep=options.features_of(table, options.names_in(keep)),
            reading=table.reading,
            scoring=metric,
            positive=positive,
            task=options.check_task(task),
            models=chosen,
            max_splits=max_splits,
            max_bytes=max_bytes,
            max_latency_us=max_latency_us,
            max_path=max_path,
            random_state=seed,
            n_jobs=jobs,
            progress=options.listener(),
            name=table.name,
            target=table.target,
            journal=out / JOURNAL if files else None,
            resume=resume,
        )
    result.budget = budget
    if files:
        write_text(out / RESULTS, result.to_json())
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(f"warning: {message}")
    show(result, as_json)
    stopped = any(entry.error == INTERRUPTED for entry in result.results)
    if files:
        note(f"wrote {out / RESULTS}")
        if stopped:
            note(f"the finished folds are in {out / JOURNAL}; '--resume' goes on from them")
        if not terminated:
            end = None if seconds is None else began + seconds
            write_models(result, out, stopped, end)
        if not stopped:
            (out / JOURNAL).unlink(missing_ok=True)
    if stopped:
        raise typer.Exit(EXIT_TERMINATED if terminated else EXIT_INTERRUPTED)


def column_of(table: LoadedData, name: str | None, option: str) -> Any:
    """The values of a column that divides the rows; None where none is named.

    Dates as the models read them, so that they can be ordered; all else as it stands in the file,
    where rare words are not one.
    """
    if name is None:
        return None
    raw = table.X if table.raw is None else table.raw
    if name not in raw.columns:
        raise typer.BadParameter(
            f"'{option}' must name a column, got {name!r}." + did_you_mean(name, raw.columns)
        )
    is_read = option == "--time" and name in table.X.columns
    return np.asarray(table.X[name] if is_read else raw[name])


@contextmanager
def _terminable() -> Iterator[list[int]]:
    """Take SIGTERM for a Ctrl-C, so that what is finished is written; yield the signals heard."""
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def end(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield heard
    except KeyboardInterrupt:  # nothing was finished
        raise typer.Exit(EXIT_TERMINATED if heard else EXIT_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def show(result: Comparison, as_json: bool) -> None:
    """Print the result, and beside it what was left out."""
    for column, reason in result.data.dropped.items():
        note(f"left out the column '{column}': it {reason}")
    for text in unranked(result):
        note(text)
    for text in result.warnings:
        note(f"careful: {text}")
    if as_json:
        print(result.to_json())
    else:
        page = Console()
        if not page.is_terminal:  # a file has no edge
            page.width = 120
        page.print(leaderboard(result, page.width))
        for line in summary(result):
            page.print(line, markup=False, highlight=False, soft_wrap=not page.is_terminal)


def write_models(result: Comparison, folder: Path, stopped: bool, end: float | None) -> None:
    """Write the best of hedgerow's models and the report, in time, and say so.

    After an interrupt the one fit that is still made is announced, and the report has no others.
    """
    ours = result.best_of_ours
    if stopped:
        seconds = in_words(float(np.median(ours.fit_seconds))) if ours else ""
        fit = f"fitting {ours.name} on all rows, about {seconds}, and " if ours else ""
        note(f"{fit}making the report; Ctrl-C leaves out what is not done")
    if ours:
        hedgerow.save(result.fit(ours.name), folder / MODEL)
        note(f"wrote {folder / MODEL}")
    else:
        (folder / MODEL).unlink(missing_ok=True)  # it would be that of an earlier run
        note(f"no {MODEL}: none of hedgerow's models is better than a constant")
    try:
        left = None if end is None else end - perf_counter()
        result.report(refit=not stopped, seconds=left).write_html(folder / REPORT)
        note(f"wrote {folder / REPORT}")
    except ModuleNotFoundError as error:
        note(f"no {REPORT}: {error}")
