"""Options that several commands share, and how they print."""

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console

from hedgerow.comparison.budget import in_words
from hedgerow.comparison.models import MODELS, Model
from hedgerow.datasets import LoadedData
from hedgerow.datasets.columns import did_you_mean
from hedgerow.datasets.text_files import TextOptions

MOST_NOTES = 20

SECONDS_BETWEEN_LINES = 20.0

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
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="The first decides: accuracy, balanced_accuracy, roc_auc, average_precision, f1, "
        "log_loss, brier; r2, rmse, mae, mape, pinball_0.9; or a scorer of scikit-learn. "
        "[default: accuracy or r2; average_precision or balanced_accuracy for rare classes]",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="The class to find, of two. [default: the rare one]"),
]
TaskOption = Annotated[
    str | None,
    typer.Option("--task", help="classification or regression. [default: by the target]"),
]
Drop = Annotated[
    str | None, typer.Option(metavar="COLS", help="Columns that are no features: a,b.")
]
Keep = Annotated[
    str | None,
    typer.Option(metavar="COLS", help="Columns to keep although they look like identifiers."),
]
Sep = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Between the columns of a text file. [default: found]"),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Of numbers: a point or a comma. [default: found]"),
]
Encoding = Annotated[
    str | None, typer.Option(help="Of a text file: utf-8, cp1252, ... [default: found]")
]
Na = Annotated[
    str | None,
    typer.Option(metavar="WORDS", help="Further words for missing: -99,unknown; !NA is a word."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seeds whatever is random.")]
Jobs = Annotated[int, typer.Option(help="Threads of each model; -1 for all cores.")]
MaxSplits = Annotated[int | None, typer.Option(min=1, help="Most tests a model may have.")]
MaxBytes = Annotated[int | None, typer.Option(min=1, help="Most bytes a model may take.")]
MaxLatency = Annotated[
    float | None, typer.Option("--max-latency-us", min=0, help="Most microseconds per row.")
]
MaxPath = Annotated[
    int | None, typer.Option(min=1, help="Most tests that a row meets in any of the trees.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback on error.")]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that 'train' or 'compare' wrote.")
]


def parse_settings(settings: Iterable[str] | None) -> dict[str, Any]:
    """Settings from "name=value"; values are JSON, or words where they are not."""
    parsed: dict[str, Any] = {}
    for text in settings or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"'--set' must be like max_depth=5, got {text!r}.")
        try:
            parsed[name] = json.loads("null" if value == "None" else value)
        except json.JSONDecodeError:
            parsed[name] = value
    return parsed


def note(text: str) -> None:
    """Say something on stderr, beside the result."""
    console = Console(stderr=True)
    console.print("hedgerow:", text, markup=False, highlight=False, soft_wrap=True)


def listener() -> Any:
    """Progress of something long: a bar in a terminal, elsewhere a line now and then."""
    if sys.stderr.isatty():
        return None
    last = perf_counter()

    def tell(done: int, total: int, what: str, seconds: float | None) -> None:
        nonlocal last
        if perf_counter() - last > SECONDS_BETWEEN_LINES:
            last = perf_counter()
            left = "" if seconds is None else f", {in_words(seconds)} left"
            note(f"{done} of {total} done{left}; {what}")

    return tell


def check_task(task: str | None) -> Any:
    """The task as it was given."""
    if task not in (None, "classification", "regression"):
        raise typer.BadParameter(f"'--task' must be classification or regression, got {task!r}.")
    return task


def process_age() -> float:
    """Seconds since the process began; where the system does not tell, its processor time."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError, IndexError):
        return time.process_time()


def names_in(text: str | None) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def features_of(table: LoadedData, names: Iterable[str | None]) -> list[str]:
    """The features that columns of the file became: a date may be several, an identifier none."""
    reading, features = table.reading, []
    for name in names:
        if name is None:
            continue
        if reading is not None and name in [column.name for column in reading.columns]:
            features += [made for made in reading[name].features if made in table.X.columns]
        else:
            features.append(name)
    return features


def text_options(sep: str | None, decimal: str | None, encoding: str | None) -> TextOptions:
    """How a text file is written, as the options say."""
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
    options = TextOptions(named.get(sep or "", sep), named.get(decimal or "", decimal), encoding)
    if options.sep is not None and len(options.sep) != 1:
        raise typer.BadParameter(f"'--sep' must be one character or tab, got {sep!r}.")
    if options.decimal not in (None, ".", ","):
        raise typer.BadParameter(f"'--decimal' must be . or , got {decimal!r}.")
    return options


def note_all(texts: list[str], where: str) -> None:
    """Say what was done to a table, not all of too much."""
    for text in texts[:MOST_NOTES]:
        note(text)
    if len(texts) > MOST_NOTES:
        note(f"and {len(texts) - MOST_NOTES} more; 'hedgerow data {where}' has all")


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
        peers = [n for n in MODELS if word and word in n.lower()]
        if not matching and peers:
            raise typer.BadParameter(
                f"{peers[0]} is of another library: 'hedgerow compare' compares with it, but its "
                "own library trains and saves it. Of hedgerow's there are "
                f"{', '.join(short)}."
            )
        if not word or not matching:
            raise typer.BadParameter(
                f"no model is called {typed!r}; there are {', '.join(known)}."
                + did_you_mean(typed, short)
            )
        found |= {name: known[name] for name in matching}
    return found
