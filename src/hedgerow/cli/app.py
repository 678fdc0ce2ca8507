"""The commands: each reads its options, calls the library and prints."""

import warnings
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from hedgerow.cli.data import BUNDLED, load
from hedgerow.compare import Comparison
from hedgerow.compare import compare as cross_validate

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
notes = Console(stderr=True)


@app.callback(invoke_without_command=True)
def hedgerow(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Tree models for tabular data."""
    if show_version:
        print("hedgerow", version("hedgerow"))
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command(epilog="Example: hedgerow compare houses.csv --target price --folds 10")
def compare(
    data: Annotated[
        str, typer.Argument(help=f"A CSV or Parquet file, or one of {', '.join(BUNDLED)}.")
    ] = "breast_cancer",
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="The column of the file to predict.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seeds the folds and the models.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on error.")] = False,
) -> None:
    """Cross-validate every model on the same folds, beside other libraries'."""
    X, y = load(data, target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = cross_validate(X, y, cv=folds, random_state=seed, name=data, target=target)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        notes.print("hedgerow: warning:", message, markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print(result.to_json())
    else:
        page = Console()
        if not page.is_terminal:  # a file has no edge
            page.width = 120
        page.print(render(result))


def render(result: Comparison) -> Table:
    """The comparison as a table for people."""
    table = Table(
        title=f"{result.data.name}: {result.task}, {result.data.n_rows} rows, "
        f"{result.data.n_features} features",
        caption=f"{result.n_folds} folds, seed {result.random_state}; mean ± std of the score, "
        "medians of the rest; ≈ not distinguishable from the best",
    )
    table.add_column("model", no_wrap=True)
    headings = {"accuracy": "accuracy", "log_loss": "log-loss", "r2": "R²", "rmse": "RMSE"}
    metric, other = result.metrics
    for heading in (headings[metric], headings[other], "splits", "bytes", "fit s", "µs/row"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in result.rows:
        if not row["folds"]:
            continue
        table.add_row(
            row["model"],
            f"{row[metric]:.3f} ± {row[metric + '_std']:.3f}" + " ≈"[row["indistinguishable"]],
            f"{row[other]:.3g}",
            *("?" if row[cost] is None else f"{row[cost]:,}" for cost in ("splits", "bytes")),
            f"{row['fit_seconds']:.2g}",
            f"{row['us_per_row']:.2g}",
            style="bold" if row["model"].startswith("hedgerow") else None,
        )
    return table
