"""``hedgerow compare``: the leaderboard, the report, the results and the best model."""

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import hedgerow
from hedgerow._files import write_text
from hedgerow.cli import options
from hedgerow.cli.options import note
from hedgerow.comparison import Comparison
from hedgerow.comparison.budget import in_words
from hedgerow.comparison.metrics import label_of
from hedgerow.comparison.records import COSTS, INTERRUPTED, UNITS
from hedgerow.datasets import load_data

RESULTS, JOURNAL, MODEL, REPORT = "results.json", "folds.jsonl", "best.hedgerow", "report.html"
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


def compare(
    data: options.Data = "breast_cancer",
    target: options.Target = None,
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
    max_splits: options.MaxSplits = None,
    max_bytes: options.MaxBytes = None,
    max_latency_us: options.MaxLatency = None,
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
    if resume and not files:
        raise typer.BadParameter("'--resume' reads from the folder of results: drop '--no-files'.")
    chosen = list(options.find_models(models)) if models else None
    table = load_data(data, target)
    for text in table.notes:
        note(text)
    if files:
        out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(record=True) as caught, _terminable() as terminated:
        warnings.simplefilter("default")
        result = hedgerow.compare(
            table.X,
            table.y,
            budget=budget,
            cv=folds,
            models=chosen,
            max_splits=max_splits,
            max_bytes=max_bytes,
            max_latency_us=max_latency_us,
            random_state=seed,
            n_jobs=jobs,
            name=table.name,
            target=table.target,
            journal=out / JOURNAL if files else None,
            resume=resume,
        )
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
            write_models(result, out, stopped)
        if not stopped:
            (out / JOURNAL).unlink(missing_ok=True)
    if stopped:
        raise typer.Exit(EXIT_TERMINATED if terminated else EXIT_INTERRUPTED)


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
    if as_json:
        print(result.to_json())
    else:
        page = Console()
        if not page.is_terminal:  # a file has no edge
            page.width = 120
        page.print(leaderboard(result))
        for line in summary(result):
            page.print(line, markup=False, highlight=False, soft_wrap=True)


def unranked(result: Comparison) -> list[str]:
    """Models without a place in the ranking, and why; those that Ctrl-C cut off in one line."""
    lines = []
    for entry in result.results:
        if not entry.is_ranked and entry.error != INTERRUPTED:
            done = f", after {counted(len(entry.folds), 'fold')}" if entry.folds else ""
            lines.append(f"{entry.name} is not ranked: {entry.error or 'it has no score'}{done}")
    cut = [entry.name for entry in result.results if entry.error == INTERRUPTED]
    if cut and result.ranked:
        folds = counted(len(result.best_result.counted), "fold")
        lines.append(f"interrupted: the ranking is on {folds} of {result.n_folds}")
        missing = [
            entry.name for entry in result.results if not entry.is_ranked and entry.name in cut
        ]
        if missing:
            lines.append(f"not ranked, for want of folds: {', '.join(missing)}")
    return lines


def counted(number: int, noun: str) -> str:
    """A number of things: 1 fold, 2 folds."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def leaderboard(result: Comparison) -> Table:
    """The comparison as a table for people."""
    data = result.data
    table = Table(
        title=f"{data.name}: {result.task} of {data.target}, {data.n_rows:,} rows, "
        f"{data.n_features} features",
        caption=f"{counted(result.n_folds, 'fold')}, seed {result.random_state}; mean ± std of the "
        "score, medians of the rest; ≈ about as good as the best",
    )
    metric, other = result.metrics[:2]
    table.add_column("model", no_wrap=True)
    names = label_of(metric), label_of(other)
    for heading in (*names, "splits", "bytes", "fit s", UNITS["latency"]):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in result.rows:
        if row["rank"] is None:
            continue
        table.add_row(
            row["model"],
            f"{row[metric]:.3f} ± {row[metric + '_std']:.3f} {' ≈'[row['about_as_good']]}",
            significant(row[other]),
            *("?" if row[cost] is None else f"{row[cost]:,}" for cost in ("splits", "bytes")),
            significant(row["fit_seconds"], 2),
            significant(row["us_per_row"], 2),
            style="bold" if row["model"].startswith("hedgerow") else None,
        )
    return table


def summary(result: Comparison) -> list[str]:
    """The Pareto fronts, and the smallest model that is about as good as the best."""
    lines = []
    for cost, attribute in COSTS.items():
        front = [
            f"{name} ({result[name].mean(result.metric):.3f}, "
            f"{_cost(getattr(result[name], attribute))} {UNITS[cost]})"
            for name in result.pareto(cost)
        ]
        if front:
            lines.append(f"Best for its {cost}: " + " → ".join(front))
    if result.best_result is result.constant:
        lines.append("No model is better than a constant.")
    elif any(entry.is_ours for entry in result.ranked):
        simplest, best = result.simplest_result, result.best_result.name
        lines.append(
            f"Smallest of hedgerow's that is about as good as the best: {simplest.name}"
            if simplest.about_as_good
            else f"None of hedgerow's is about as good as {best}; the nearest is {simplest.name}"
        )
    return lines


def significant(value: float | None, digits: int = 3) -> str:
    """A number to a few significant digits and without an exponent: 47196 as 47,200."""
    if value is None:
        return "?"
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def _cost(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else significant(value)


def write_models(result: Comparison, folder: Path, stopped: bool) -> None:
    """Write the best of hedgerow's models and the report, and say so.

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
        result.report(refit=not stopped).write_html(folder / REPORT)
        note(f"wrote {folder / REPORT}")
    except ModuleNotFoundError as error:
        note(f"no {REPORT}: {error}")
