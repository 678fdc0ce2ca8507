"""Tables in files: read whole or in chunks, written in chunks.

By the ending of the name: CSV, TSV, Parquet, Feather (Arrow), Excel and ARFF. Text files may be
compressed (``.csv.gz``). All of this needs pandas, and pyarrow for Parquet and Feather.
"""

import bz2
import gzip
import importlib
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any

FILE_TYPES = {
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
_LINES_LOOKED_AT = 1000  # to see how a text file writes its numbers
_DECIMAL_COMMA, _DECIMAL_POINT = (re.compile(rf"[+-]?\d+{mark}\d+") for mark in (",", r"\."))

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


def file_type_of(path: Path) -> str:
    """What is in a file, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    file_type = FILE_TYPES.get(suffixes[-1]) if suffixes else None
    if file_type is None:
        raise ValueError(f"'{path}' must end in {', '.join(sorted(FILE_TYPES))}.")
    return file_type


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
    file_type = file_type_of(path)
    if file_type == "parquet":
        return pd.read_parquet(path)
    if file_type == "feather":
        return pd.read_feather(path)
    if file_type == "excel":
        needed("openpyxl")
        return pd.read_excel(path)
    with _readable(path):
        return pd.read_csv(path, **_options(path), low_memory=False)


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
    file_type = file_type_of(path)
    if file_type in ("text", "arff"):
        with _readable(path):
            return list(needed("pandas").read_csv(path, **_options(path), nrows=0).columns)
    if file_type == "parquet":
        return list(needed("pyarrow.parquet").ParquetFile(path).schema_arrow.names)
    if file_type == "feather":
        with needed("pyarrow.ipc").open_file(str(path)) as reader:
            return list(reader.schema.names)
    return list(read_frame(path).columns)


def repeated_columns(path: Any) -> dict[str, int]:
    """How often names occur in the header of a file that has them more than once.

    Readers give such columns names of their own ("price", "price.1").

    Parameters
    ----------
    path : path-like

    Returns
    -------
    counts : dict of str to int
    """
    path = Path(path)
    file_type = file_type_of(path)
    pd = needed("pandas")
    if file_type == "text":
        with _readable(path):
            first = pd.read_csv(path, sep=_options(path)["sep"], header=None, nrows=1, dtype=str)
    elif file_type == "excel":
        first = pd.read_excel(path, header=None, nrows=1, dtype=str)
    else:
        return {}
    counts = Counter(first.iloc[0].dropna())
    return {name: count for name, count in counts.items() if count > 1}


def read_chunks(path: Any, columns: Sequence[str], words: Sequence[str] = ()) -> Iterator[Any]:
    """Read a file some rows at a time; an Excel file is read as a whole.

    There is one frame at the least, without rows if the file has none.

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
    file_type = file_type_of(path)
    n_rows = max(1000, CELLS_AT_ONCE // max(1, len(columns)))
    columns = list(columns)
    if file_type in ("text", "arff"):
        # With "usecols" pandas would not see that a row has too many fields.
        dtypes = dict.fromkeys(words, str)
        with (
            _readable(path),
            needed("pandas").read_csv(
                path, dtype=dtypes, chunksize=n_rows, **_options(path)
            ) as chunks,
        ):
            for chunk in chunks:
                yield chunk[columns]
    elif file_type == "parquet":
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            for batch in file.iter_batches(n_rows, columns=columns):
                yield batch.to_pandas()
            if file.metadata.num_rows == 0:
                yield file.schema_arrow.empty_table().select(columns).to_pandas()
    elif file_type == "feather":
        with needed("pyarrow.ipc").open_file(str(path)) as reader:
            for place in range(reader.num_record_batches):
                batch = reader.get_batch(place).select(columns)
                for begin in range(0, max(batch.num_rows, 1), n_rows):
                    yield batch.slice(begin, n_rows).to_pandas()
            if reader.num_record_batches == 0:
                yield reader.schema.empty_table().select(columns).to_pandas()
    else:
        yield read_frame(path)[columns]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say of a text file that cannot be read which one it is, and what to do."""
    try:
        yield
    except UnicodeDecodeError as error:
        with path.open("rb") as file:
            is_utf_16 = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
        raise ValueError(
            f"'{path}' is not text in UTF-8 (byte {error.object[error.start]:#04x}): save it as "
            "CSV in UTF-8, or convert it: iconv -f "
            f"{'UTF-16' if is_utf_16 else 'LATIN1'} -t UTF-8 {path.name} > utf8.csv"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise ValueError(
            f"'{path}' is damaged or was cut off: {error}. Fetch or write it again."
        ) from None


def _open_text(path: Path) -> IO[str]:
    """A text file, decompressed."""
    ending = path.suffix.lower()
    if ending == ".zip":
        archive = zipfile.ZipFile(path)
        file: Any = archive.open(archive.namelist()[0])
    elif ending == ".zst":
        file = needed("zstandard").open(path, "rb")
    else:
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        file = openers.get(ending, open)(path, "rb")
    return io.TextIOWrapper(file, encoding="utf-8", errors="replace")


def _options(path: Path) -> dict[str, Any]:
    """How pandas reads a text file.

    Columns are separated by a tab if the name says so, else by the most frequent sign of the
    header. Where that is no comma, numbers may have decimal commas: if some of the first lines do,
    and none has a decimal point.
    """
    if file_type_of(path) == "arff":
        return _arff_options(path)
    with _readable(path), _open_text(path) as file:
        lines = list(islice(file, _LINES_LOOKED_AT))
    sep = max(",;\t|", key=(lines[0] if lines else "").count)
    if any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes):
        sep = "\t"
    options: dict[str, Any] = {"sep": sep}
    if sep != ",":
        fields = [field.strip(' \t\r\n"') for line in lines[1:] for field in line.split(sep)]
        with_points = any(_DECIMAL_POINT.fullmatch(field) for field in fields)
        if not with_points and any(_DECIMAL_COMMA.fullmatch(field) for field in fields):
            options["decimal"] = ","
    return options


def _arff_options(path: Path) -> dict[str, Any]:
    """How pandas reads the data of an ARFF file: the header's names, and where the rows begin."""
    names = []
    with _readable(path), _open_text(path) as file:
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
    file_type = file_type_of(path)
    if file_type == "text":
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
    if file_type not in ("parquet", "feather"):
        raise ValueError(f"'{path}' must end in .csv, .tsv, .parquet or .feather to be written.")
    pa = needed("pyarrow")
    make = needed("pyarrow.parquet").ParquetWriter if file_type == "parquet" else pa.ipc.new_file
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
