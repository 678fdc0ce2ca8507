"""``hedgerow export``: a model in another language, and its check in that language's runtime."""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

import hedgerow
from hedgerow._files import replacing
from hedgerow.cli import options
from hedgerow.datasets.columns import check_columns, conform, reading_of, source_columns
from hedgerow.datasets.files import read_chunks, read_columns
from hedgerow.export.reading import read
from hedgerow.export.targets import TARGETS, check


def export(
    model: options.ModelFile,
    to: Annotated[str, typer.Option(metavar="FORMAT", help=f"One of {', '.join(TARGETS)}.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write. [default: named after the model]")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--check", metavar="TABLE", help="Compare all rows of a file in the real runtime."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the format, such as dialect=sqlite; repeatable.",
        ),
    ] = None,
    output: Annotated[
        int | None,
        typer.Option(metavar="N", help="One of several outputs, from 0; JSON has all of them."),
    ] = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write a model in another language, as a file that needs nothing of hedgerow.

    The exit code is 1 where a check finds a row with another answer than the model's.
    """
    if to not in TARGETS:
        raise typer.BadParameter(f"'--to' must be one of {', '.join(TARGETS)}, got {to!r}.")
    target, fitted = TARGETS[to], hedgerow.load(model)
    given = options.parse_settings(settings)
    known = [name for name in signature(target.write).parameters if name not in ("model", "name")]
    for name in given:
        if name not in known:
            raise typer.BadParameter(
                f"'--set' names {name!r}, which '{to}' does not have"
                + (f"; there are {', '.join(known)}." if known else ": it has no settings.")
            )
    source = fitted if output is None or to == "json" else read(fitted, output=output)
    content = target.write(source, name=model.stem, **given)
    path = out or model.with_suffix(target.suffix)
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    record: dict[str, Any] = {"model": type(fitted).__name__, "to": to, "file": str(path)}
    if table is None:
        record["bytes"] = path.stat().st_size
        text = f"wrote {path}, {record['bytes']:,} bytes"
        different = 0
    else:
        if not table.is_file():
            raise FileNotFoundError(f"there is no file '{table}'.")
        written = options.text_options(sep, decimal, encoding)
        fitted.reading_ = reading_of(fitted).adapted(written.decimal, options.names_in(na))
        check_columns(fitted, read_columns(table, written), table)
        found = _rows(fitted, table, written)
        if not len(found):
            raise ValueError(f"'--check' needs a row at least, and {table} has none.")
        compared = check(fitted, to, content, found, output=output, **given)
        record |= vars(compared)
        different = compared.different
        text = f"wrote {path}\n{compared}"
    if as_json:
        options.print_json(record)
    else:
        print(text)
    if different:
        raise typer.Exit(1)


def _rows(model: Any, table: Path, written: Any) -> Any:
    """All rows of a file in the form of the model's training table."""
    import pandas as pd

    texts, parts, done = model.reading_.text_columns(), [], 0
    for chunk in read_chunks(table, source_columns(model), texts, written):
        parts.append(conform(model, chunk, done))
        done += len(chunk)
    return pd.concat(parts, ignore_index=True)
