"""The list of commands, each with its example.

A command's module is imported when the command runs: ``hedgerow --help`` waits for none of them.
"""

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from hedgerow._version import __version__


class Place(NamedTuple):
    """Where a command is, and what is said of it before it is imported."""

    module: str
    help: str
    example: str
    settings: dict[str, Any] = {}  # noqa: RUF012


PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
COMMANDS = {
    "compare": Place(
        "compare",
        "Cross-validate every model on the same folds, beside other libraries'.",
        "hedgerow compare houses.csv --target price --budget 10min",
    ),
    "train": Place(
        "train",
        "Fit one model on all rows and write it to a file.",
        "hedgerow train houses.csv --target price --model RandomForest --out houses.hedgerow",
    ),
    "compress": Place(
        "compress",
        "Make a small model of a large one, within exact limits or a tolerance.",
        "hedgerow compress houses.hedgerow houses.csv --target price --max-splits 100",
    ),
    "predict": Place(
        "train",
        "Predict every row of a file, a part at a time: the file may be of any size.",
        "hedgerow predict houses.hedgerow new.csv --out predicted.csv",
    ),
    "show": Place(
        "show",
        "Show a model as text, as rules, as a graph for Graphviz or as a picture.",
        "hedgerow show houses.hedgerow --as rules",
    ),
    "explain": Place(
        "show",
        "Say in words which way some rows of a file take through the model.",
        "hedgerow explain houses.hedgerow new.csv --row 17",
    ),
    "export": Place(
        "export",
        "Write a model in another language, as a file that needs nothing of hedgerow.",
        "hedgerow export houses.hedgerow --to javascript --check new.csv",
    ),
    "reproduce": Place(
        "reproduce",
        "Run a paper's tables and figures again, beside the published numbers.",
        "hedgerow reproduce tree-in-tree --table 1 --quick",
        {"context_settings": PASSED_ON},
    ),
    "data": Place(
        "data",
        "List data sets, or say what is in one: its columns, and how they are read.",
        "hedgerow data adult --out adult.parquet",
    ),
}


class Commands(TyperGroup):
    """The commands of `COMMANDS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in this order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; None for a name that is none."""
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        function = getattr(import_module(f"hedgerow.cli.{place.module}"), cmd_name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(epilog=f"Example: {place.example}", **place.settings)(function)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in the help, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.help) for name, place in COMMANDS.items()])


app = typer.Typer(
    cls=Commands, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


@app.callback(invoke_without_command=True)
def hedgerow(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Tree models for tabular data."""
    if show_version:
        print("hedgerow", __version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())
