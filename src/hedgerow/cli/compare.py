"""``hedgerow compare``: the leaderboard, the report, the results and the best model."""

import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import hedgerow
from hedgerow._files import write_text
from hedgerow.cli import options
from hedgerow.cli.options import note
from hedgerow.compare import Comparison
from hedgerow.compare.comparison import COSTS
from hedgerow.datasets import load

HEADINGS = {"accuracy": "accuracy", "log_loss": "log-loss", "r2": "R²", "rmse": "RMSE"}
INTERRUPTED = 130


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
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Cross-validate every model on the same folds, beside other libraries'."""
    chosen = list(options.find_models(models)) if models else None
    table = load(data, target)
    for text in table.notes:
        note(text)
    with warnings.catch_warnings(record=True) as caught:
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
        )
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(f"warning: {message}")
    for column, reason in result.data.dropped.items():
        note(f"left out the column '{column}': it {reason}")
    for entry in result.results:
        if entry.error:
            note(f"{entry.name}: {entry.error}")
    if as_json:
        print(result.to_json())
    else:
        page = Console()
        if not page.is_terminal:  # a file has no edge
            page.width = 120
        page.print(leaderboard(result))
        for line in summary(result):
            page.print(line, markup=False, highlight=False, soft_wrap=True)
    if files:
        for path in write_files(result, out):
            note(f"wrote {path}")
    if result.interrupted and any(entry.error == "interrupted" for entry in result.results):
        raise typer.Exit(INTERRUPTED)


def leaderboard(result: Comparison) -> Table:
    """The comparison as a table for people."""
    data = result.data
    table = Table(
        title=f"{data.name}: {result.task} of {data.target}, {data.n_rows:,} rows, "
        f"{data.n_features} features",
        caption=f"{result.n_folds} folds, seed {result.random_state}; mean ± std of the score, "
        "medians of the rest; ≈ not distinguishable from the best",
    )
    metric, other = result.metrics
    table.add_column("model", no_wrap=True)
    for heading in (HEADINGS[metric], HEADINGS[other], "splits", "bytes", "fit s", "µs/row"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in result.rows:
        if not row["folds"]:
            continue
        unfinished = "" if row["folds"] == result.n_folds else f" ({row['folds']} folds)"
        table.add_row(
            row["model"] + unfinished,
            f"{row[metric]:.3f} ± {row[metric + '_std']:.3f} {' ≈'[row['indistinguishable']]}",
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
        unit = {"splits": "splits", "bytes": "bytes", "latency": "µs/row"}[cost]
        front = [
            f"{name} ({result[name].mean(result.metric):.3f}, "
            f"{_cost(getattr(result[name], attribute))} {unit})"
            for name in result.pareto(cost)
        ]
        lines.append(f"Best for its {cost}: " + " → ".join(front))
    if any(entry.is_ours and entry.folds for entry in result.results):
        name = result.simplest.name
        lines.append(f"Smallest of hedgerow's that is about as good as the best: {name}")
    return lines


def significant(value: float, digits: int = 3) -> str:
    """A number to a few significant digits and without an exponent: 47196 as 47,200."""
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def _cost(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else significant(value)


def write_files(result: Comparison, folder: Path) -> list[Path]:
    """Write the results, the report and the best of hedgerow's models; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "results.json"]
    write_text(written[0], result.to_json())
    ours = [entry for entry in result.results if entry.is_ours and entry.folds]
    if ours:
        written.append(folder / "best.hedgerow")
        hedgerow.save(result.fit(ours[0].name), written[-1])
    try:
        result.report().write_html(folder / "report.html")
        written.append(folder / "report.html")
    except ModuleNotFoundError as error:
        note(f"no report.html: {error}")
    return written
