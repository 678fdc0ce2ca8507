"""The commands: each reads its options, calls the library and prints."""

import json
import warnings
from dataclasses import asdict
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
    """Cross-validate every model on the same folds, beside scikit-learn's."""
    X, y = load(data, target)
    with warnings.catch_warnings(record=True) as caught, notes.status("cross-validating"):
        warnings.simplefilter("default")
        result = cross_validate(X, y, folds=folds, seed=seed)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        notes.print("hedgerow: warning:", message, markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print(json.dumps({"data": data, **asdict(result)}, indent=2))
    else:
        Console().print(render(data, result))


def render(data: str, result: Comparison) -> Table:
    """The comparison as a table for people."""
    table = Table(
        title=f"{data}: {result.task}, {result.n_samples} rows, {result.n_features} features",
        caption=f"{result.folds} folds, seed {result.seed}; mean ± std of the score, "
        "medians of the rest, one thread",
    )
    table.add_column("model", no_wrap=True)
    metric = {"accuracy": "accuracy", "r2": "R²"}[result.metric]
    for heading in (metric, "splits", "fit ms", "predict µs/row"):
        table.add_column(heading, justify="right")
    for row in result.rows:
        table.add_row(
            row["model"],
            f"{row['score']:.3f} ± {row['score_std']:.3f}",
            str(row["n_splits"]),
            f"{row['fit_ms']:.1f}",
            f"{row['predict_us']:.2f}",
            style="bold" if row["model"].startswith("hedgerow") else None,
        )
    return table
