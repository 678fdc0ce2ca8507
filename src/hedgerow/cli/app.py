"""The list of commands, each with its example."""

from importlib.metadata import version
from typing import Annotated

import typer

from hedgerow.cli.compare import compare
from hedgerow.cli.compress import compress
from hedgerow.cli.data import data
from hedgerow.cli.export import export
from hedgerow.cli.reproduce import reproduce
from hedgerow.cli.show import explain, show
from hedgerow.cli.train import predict, train

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


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


def _add(command, example: str, **settings) -> None:
    app.command(epilog=f"Example: {example}", **settings)(command)


_add(compare, "hedgerow compare houses.csv --target price --budget 10min")
_add(train, "hedgerow train houses.csv --target price --model RandomForest --out houses.hedgerow")
_add(
    compress,
    "hedgerow compress houses.hedgerow houses.csv --target price --max-splits 100",
)
_add(predict, "hedgerow predict houses.hedgerow new.csv --out predicted.csv")
_add(show, "hedgerow show houses.hedgerow --as rules")
_add(explain, "hedgerow explain houses.hedgerow new.csv --row 17")
_add(export, "hedgerow export houses.hedgerow --to javascript --check new.csv")
_add(
    reproduce,
    "hedgerow reproduce tree-in-tree --table 1 --quick",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
_add(data, "hedgerow data adult --out adult.parquet")
