"""``hedgerow data``: the data sets that there are, and what is in one of them, column by column."""

import shutil
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow._files import replacing
from hedgerow.cli import options
from hedgerow.comparison.tables import guess_task, useless_columns
from hedgerow.datasets import TableReading, available, load_data, read_table
from hedgerow.datasets.columns import as_target
from hedgerow.datasets.files import chunk_writer, read_columns
from hedgerow.datasets.summary import ColumnSummary, summarise_columns


def data(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="A file or a name; without, the sets are listed."),
    ] = None,
    target: options.Target = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    out: Annotated[
        Path | None, typer.Option(help="Write it to this CSV, TSV, Parquet or Feather file.")
    ] = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List data sets, or say what is in one: its columns, and how they are read.

    With --out it is written as the models see it.
    """
    if name is None:
        known = available()
        if as_json:
            options.print_json(known)
        else:
            for each, origin in known.items():
                print(f"{each:26} {origin}")
            print("and any name or number of a data set on OpenML, which is fetched once")
        return
    text = options.text_options(sep, decimal, encoding)
    notes: list[str] = []
    y: Any = None
    reading: TableReading | None
    if Path(name).is_file() and target is None and "target" not in read_columns(name, text):
        frame, reading = read_table(name, **text._asdict(), na=options.names_in(na))
        X = frame
    else:
        table = load_data(name, target, **text._asdict(), na=options.names_in(na))
        X, y, target, reading = table.X, table.y, table.target, table.reading
        frame = X.assign(**{target: y})
        notes = [note for note in table.notes if "were left out" in note]
    columns = summarise_columns(
        X,
        reading=reading,
        left_out=useless_columns(X) | (reading.left_out() if reading else {}),
        target=target,
        y=y,
    )
    notes += list(reading.notes) if reading else []
    if out is not None:
        with replacing(out) as file, chunk_writer(file, out) as write:
            write(frame)
    categorical = sum(column.kind in ("category", "yes/no") for column in columns)
    record = {
        "name": name,
        "task": None if y is None else guess_task(as_target(frame[target])),
        "rows": len(X),
        "features": X.shape[1],
        "categorical": categorical,
        "missing": int(X.isna().to_numpy().sum()),
        "target": target,
        "file": None if out is None else str(out),
        "notes": notes,
        "columns": [asdict(column) for column in columns],
    }
    if as_json:
        options.print_json(record)
        return
    task = "" if y is None else f"{record['task']} of {target}, "
    print(
        f"{name}: {task}{record['rows']:,} rows, {record['features']} features "
        f"({categorical} categorical, {record['missing']:,} missing values)"
    )
    for note in notes:
        print(note)
    print_columns(columns)
    if out is not None:
        print(f"wrote {out}")


def print_columns(columns: list[ColumnSummary]) -> None:
    """A line for each column, and lines for what was converted and what looks odd."""
    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    longest = max((len(column.name) for column in columns), default=0)
    names = min(max(longest, 6), 24)
    print(f"\n{'column':{names}}  {'kind':17}{'missing':>8}{'values':>8}  distribution")
    for column in columns:
        name = column.name if len(column.name) <= names else column.name[: names - 1] + "…"
        line = (
            f"{name:{names}}  {column.kind:17}{column.n_missing:>8,}{column.n_values:>8,}  "
            f"{column.sparkline:12}  {column.spread}"
        )
        print(line if len(line) <= width else line[: width - 1] + "…")
        texts = [*column.changes, *(f"careful: {warning}" for warning in column.warnings)]
        for text in texts:
            print(textwrap.fill(text, width, initial_indent="    ", subsequent_indent="      "))
