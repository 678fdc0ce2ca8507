"""Options that several commands share, and how they print."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hedgerow.comparison.models import MODELS, Model
from hedgerow.datasets.columns import did_you_mean

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, TSV, Parquet, Feather, Excel, ARFF), a bundled data set or one of "
        "OpenML's; 'hedgerow data' lists them.",
    ),
]
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="The column of the file to predict.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seeds whatever is random.")]
Jobs = Annotated[int, typer.Option(help="Threads of each model; -1 for all cores.")]
MaxSplits = Annotated[int | None, typer.Option(min=1, help="Most tests a model may have.")]
MaxBytes = Annotated[int | None, typer.Option(min=1, help="Most bytes a model may take.")]
MaxLatency = Annotated[
    float | None, typer.Option("--max-latency-us", min=0, help="Most microseconds per row.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback on error.")]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that 'train' or 'compare' wrote.")
]


def note(text: str) -> None:
    """Say something on stderr, beside the result."""
    console = Console(stderr=True)
    console.print("hedgerow:", text, markup=False, highlight=False, soft_wrap=True)


def print_json(record: Any) -> None:
    """Print for programs."""
    print(json.dumps(record, indent=1, default=str))


def find_models(words: str, *, ours: bool = False) -> dict[str, Model]:
    """Models by parts of their names, between commas: "tree,LightGBM".

    Parameters
    ----------
    words : str
    ours : bool, default=False
        Look among hedgerow's only, where a name may also go without the library.
    """
    known = {n: m for n, m in MODELS.items() if not ours or m.is_ours}
    found: dict[str, Model] = {}
    short = [name.removeprefix("hedgerow ") for name in known]
    for typed in (part.strip() for part in words.split(",")):
        word = typed.lower()
        exact = [n for n in known if word in (n.lower(), n.lower().removeprefix("hedgerow "))]
        matching = exact or [n for n in known if word in n.lower()]
        if not word or not matching:
            raise typer.BadParameter(
                f"no model is called {typed!r}; there are {', '.join(known)}."
                + did_you_mean(typed, short)
            )
        found |= {name: known[name] for name in matching}
    return found
