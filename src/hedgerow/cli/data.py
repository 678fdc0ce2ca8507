"""``hedgerow data``: the data sets that there are, and one of them to a file."""

from pathlib import Path
from typing import Annotated

import typer

from hedgerow._files import replacing
from hedgerow.cli import options
from hedgerow.comparison.tables import describe, guess_task
from hedgerow.datasets import available, load_data
from hedgerow.datasets.files import chunk_writer


def data(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Without one, the sets are listed.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write it to this CSV, TSV, Parquet or Feather file.")
    ] = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List data sets, describe one, or fetch one from OpenML and write it to a file."""
    if name is None:
        known = available()
        if as_json:
            options.print_json(known)
        else:
            for each, origin in known.items():
                print(f"{each:26} {origin}")
            print("and any name or number of a data set on OpenML, which is fetched once")
        return
    table = load_data(name)
    found = describe(table.X, {}, table.name, table.target)
    if out is not None:
        with replacing(out) as file, chunk_writer(file, out) as write:
            write(table.X.assign(**{table.target: table.y}))
    record = {
        "name": name,
        "task": guess_task(table.y),
        "rows": found.n_rows,
        "features": found.n_features,
        "categorical": found.n_categorical,
        "missing": found.n_missing,
        "target": table.target,
        "file": None if out is None else str(out),
    }
    if as_json:
        options.print_json(record)
        return
    print(
        f"{name}: {record['task']} of {record['target']}, {record['rows']:,} rows, "
        f"{record['features']} features ({record['categorical']} categorical, "
        f"{record['missing']:,} missing values)"
    )
    if out is not None:
        print(f"wrote {out}")
