"""Tables in files: read whole or in chunks, written in chunks.

By the ending of the name: CSV, TSV, Parquet, Feather (Arrow), Excel and ARFF. Text files may be
compressed (``.csv.gz``). All of this needs pandas, and pyarrow for Parquet and Feather.
"""

import importlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Any

KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".xlsx": "excel",
    ".xls": "excel",
    ".arff": "arff",
}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zip", ".zst"}
CELLS_AT_ONCE = 2_000_000  # of a chunk: some 16 MB of numbers

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s", re.IGNORECASE)


def needed(module: str) -> ModuleType:
    """Import a package that reading files needs, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"reading and writing such files needs {module.partition('.')[0]}; install it with: "
            'pip install "hedgerow[cli]"'
        ) from None


def kind_of(path: Path) -> str:
    """What is in a file, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise ValueError(f"'{path}' must end in {', '.join(sorted(KINDS))}.")
    return kind


def read_frame(path: Any) -> Any:
    """Read a whole file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    frame : pandas DataFrame
    """
    path = Path(path)
    pd = needed("pandas")
    kind = kind_of(path)
    if kind == "text":
        return pd.read_csv(path, sep=_delimiter(path), low_memory=False)
    if kind == "parquet":
        return pd.read_parquet(path)
    if kind == "feather":
        return pd.read_feather(path)
    if kind == "excel":
        needed("openpyxl")
        return pd.read_excel(path)
    return pd.read_csv(path, **_arff_options(path), low_memory=False)


def read_columns(path: Any) -> list[str]:
    """The names of a file's columns.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    names : list of str
    """
    path = Path(path)
    kind = kind_of(path)
    if kind == "text":
        return list(needed("pandas").read_csv(path, sep=_delimiter(path), nrows=0).columns)
    if kind == "parquet":
        return list(needed("pyarrow.parquet").ParquetFile(path).schema_arrow.names)
    if kind == "feather":
        with needed("pyarrow.ipc").open_file(str(path)) as reader:
            return list(reader.schema.names)
    if kind == "arff":
        return _arff_options(path)["names"]
    return list(read_frame(path).columns)


def read_chunks(path: Any, columns: Sequence[str], words: Sequence[str] = ()) -> Iterator[Any]:
    """Read a file some rows at a time; an Excel file is read as a whole.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
        The columns to read.
    words : sequence of str, default=()
        Those of them to read as text even where they look like numbers.

    Yields
    ------
    frame : pandas DataFrame
    """
    path = Path(path)
    kind = kind_of(path)
    n_rows = max(1000, CELLS_AT_ONCE // max(1, len(columns)))
    columns = list(columns)
    if kind in ("text", "arff"):
        options = {"sep": _delimiter(path)} if kind == "text" else _arff_options(path)
        yield from needed("pandas").read_csv(
            path, usecols=columns, dtype=dict.fromkeys(words, str), chunksize=n_rows, **options
        )
    elif kind == "parquet":
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            for batch in file.iter_batches(n_rows, columns=columns):
                yield batch.to_pandas()
    elif kind == "feather":
        with needed("pyarrow.ipc").open_file(str(path)) as reader:
            for place in range(reader.num_record_batches):
                batch = reader.get_batch(place).select(columns)
                for begin in range(0, batch.num_rows, n_rows):
                    yield batch.slice(begin, n_rows).to_pandas()
    else:
        yield read_frame(path)[columns]


def _delimiter(path: Path) -> str:
    """The character between columns: a tab by the name, else the most frequent in the header."""
    if any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes):
        return "\t"
    if path.suffix.lower() in _COMPRESSED:
        return ","
    with path.open(encoding="utf-8", errors="replace") as file:
        return max(",;\t|", key=file.readline().count)


def _arff_options(path: Path) -> dict[str, Any]:
    """How pandas reads the data of an ARFF file: the header's names, and where the rows begin."""
    names = []
    with path.open(encoding="utf-8", errors="replace") as file:
        n_lines = 0
        for line in file:
            n_lines += 1
            text = line.strip()
            attribute = _ATTRIBUTE.match(text)
            if attribute:
                names.append(re.sub(r"\\(.)", r"\1", attribute[1].strip("'\"")))
            elif text.lower().startswith("@data"):
                break
        else:
            raise ValueError(f"'{path}' has no @data: it is no ARFF file.")
        first = file.readline()
    if first.lstrip().startswith("{"):
        raise ValueError(f"'{path}' is a sparse ARFF file, which is not supported.")
    return {
        "names": names,
        "header": None,
        "skiprows": n_lines,
        "na_values": "?",
        "comment": "%",
        "quotechar": "'",
        "escapechar": "\\",
        "skipinitialspace": True,
    }


@contextmanager
def chunk_writer(file: IO[bytes], name: Any) -> Iterator[Callable[[Any], None]]:
    """A function that appends a frame to a file.

    Parameters
    ----------
    file : binary file
    name : path-like
        Its ending says what is written: CSV, TSV, Parquet or Feather.

    Yields
    ------
    write : callable
    """
    path = Path(name)
    kind = kind_of(path)
    if kind == "text":
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        sep = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        state = {"header": True}

        def write(frame: Any) -> None:
            frame.to_csv(text, sep=sep, index=False, lineterminator="\n", **state)
            state["header"] = False

        yield write
        text.flush()
        text.detach()
        return
    if kind not in ("parquet", "feather"):
        raise ValueError(f"'{path}' must end in .csv, .tsv, .parquet or .feather to be written.")
    pa = needed("pyarrow")
    make = needed("pyarrow.parquet").ParquetWriter if kind == "parquet" else pa.ipc.new_file
    writer: Any = None

    def append(frame: Any) -> None:
        nonlocal writer
        table = pa.Table.from_pandas(frame, preserve_index=False)
        if writer is None:
            writer = make(file, table.schema)
        writer.write_table(table)

    try:
        yield append
    finally:
        if writer is not None:
            writer.close()
