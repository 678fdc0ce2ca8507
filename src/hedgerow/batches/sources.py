"""Where batches come from: a source gives the same batches as often as it is asked.

A table is read twice, so a generator that is used up will not do: a function that makes one will.
Parquet and CSV files are read with pyarrow, a part at a time.
"""

import glob
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow._columns import is_frame

BATCH_BYTES = 64 << 20  # of a batch of a file, about: columns of 8 bytes a cell
_BLOCK_BYTES = 16 << 20  # of a CSV file: the types of its columns are found in the first


class Given(NamedTuple):
    """A batch as it came, and how many bytes of the source were read with it, as far as known."""

    batch: Any
    n_bytes: int


@dataclass(frozen=True)
class Source:
    """Batches that can be read again and again."""

    read: Callable[[], Iterator[Given]]
    n_rows: int | None = None
    n_bytes: int | None = None


def arrow() -> Any:
    """The pyarrow package."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Files are read in batches with pyarrow; install it with 'pip install pyarrow'."
        ) from None
    return pyarrow


def source_of(batches: Any) -> Source:
    """A source of whatever gives batches: a list, a function, an Arrow table, a DuckDB relation."""
    if isinstance(batches, Source):
        return batches
    module = type(batches).__module__.split(".")[0].lstrip("_")
    if module == "duckdb":
        newer = hasattr(batches, "to_arrow_reader")
        reader = batches.to_arrow_reader if newer else batches.fetch_arrow_reader
        return Source(lambda: _plain(reader(BATCH_BYTES // 64)))
    if module == "pyarrow":
        if hasattr(batches, "to_batches"):  # a table, or a data set of many files
            return Source(lambda: _plain(batches.to_batches()))
        if hasattr(batches, "read_next_batch"):
            _refuse_once(batches)
    if is_frame(batches):
        return Source(lambda: _plain([batches]), n_rows=len(batches))
    if callable(batches):
        return Source(lambda: _plain(batches()))
    if isinstance(batches, Iterator) or not isinstance(batches, Iterable):
        _refuse_once(batches)
    return Source(lambda: _plain(batches))


def _refuse_once(batches: Any) -> None:
    raise TypeError(
        f"'batches' is read twice, and a {type(batches).__name__} can be read once at most: give a "
        "list of batches, or a function that returns them anew."
    )


def _plain(batches: Iterable) -> Iterator[Given]:
    for batch in batches:
        yield Given(batch, 0)


def files_of(path: Any) -> list[Path]:
    """The files that a path, a list of paths, a folder or a pattern such as ``*.parquet`` names."""
    if isinstance(path, list | tuple):
        return [file for one in path for file in files_of(one)]
    text = str(path)
    if Path(text).is_dir():
        found = sorted(file for file in Path(text).iterdir() if file.suffix in {".parquet", ".csv"})
    elif glob.has_magic(text) and not Path(text).exists():
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))
    else:
        found = [Path(text)]
    for file in found:
        if not file.is_file():
            raise FileNotFoundError(f"there is no file '{file}'.")
    if not found:
        raise FileNotFoundError(f"no file fits '{text}'.")
    return found


def parquet_source(path: Any, columns: list[str] | None, batch_rows: int | None) -> Source:
    """Parquet files, one after the other."""
    pa, files = arrow(), files_of(path)
    n_rows, n_bytes = 0, 0
    for file in files:
        n_rows += pa.parquet.read_metadata(file).num_rows
        n_bytes += file.stat().st_size

    def read() -> Iterator[Given]:
        for file in files:
            with pa.parquet.ParquetFile(file) as opened:
                names = opened.schema_arrow.names if columns is None else columns
                lacking = [name for name in names if name not in opened.schema_arrow.names]
                if lacking:
                    raise ValueError(f"'{file}' has no column {lacking[0]!r}.")
                size = batch_rows or max(1, BATCH_BYTES // (8 * max(1, len(names))))
                share = file.stat().st_size / max(1, opened.metadata.num_rows)
                for batch in opened.iter_batches(size, columns=names):
                    yield Given(batch, int(share * batch.num_rows))

    return Source(read, n_rows, n_bytes)


def csv_source(path: Any, columns: list[str] | None, types: dict[str, Any] | None) -> Source:
    """CSV files, one after the other; types are pyarrow's, for columns that it would misread."""
    pa, files = arrow(), files_of(path)
    n_bytes = sum(file.stat().st_size for file in files)
    convert = pa.csv.ConvertOptions(
        include_columns=columns, column_types=types, strings_can_be_null=True
    )

    def read() -> Iterator[Given]:
        for file in files:
            with open(file, "rb") as opened:
                blocks = pa.csv.open_csv(
                    opened,
                    read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES),
                    convert_options=convert,
                )
                before = 0
                try:
                    for batch in blocks:
                        here = opened.tell()
                        yield Given(batch, here - before)
                        before = here
                except pa.ArrowInvalid as error:
                    raise ValueError(
                        f"'{file}': {error}. The type of a column is found in the first "
                        f"{_BLOCK_BYTES >> 20} MB; give it as types={{'name': pyarrow type}}."
                    ) from None

    return Source(read, n_bytes=n_bytes)
