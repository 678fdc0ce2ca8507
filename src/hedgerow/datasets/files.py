"""Tables in files: read whole or in chunks, written in chunks.

By the ending of the name: CSV, TSV, Parquet, Feather (Arrow), Excel and ARFF. Text files may be
compressed (``.csv.gz``). All of this needs pandas, and pyarrow for Parquet and Feather.

Words are read as they are written: "NA" is a word, and what it means is for ``cleaning`` to say.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from hedgerow.datasets.text_files import (
    TextForm,
    TextOptions,
    find_encoding,
    find_form,
    has_leading_zeros,
    needed,
    open_bytes,
    readable,
)

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
_WORDS_AS_WRITTEN: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s", re.IGNORECASE)


def file_type_of(path: Path) -> str:
    """What is in a file, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    file_type = FILE_TYPES.get(suffixes[-1]) if suffixes else None
    if file_type is None:
        raise ValueError(f"'{path}' must end in {', '.join(sorted(FILE_TYPES))}.")
    return file_type


def read_frame(path: Any, text: TextOptions | None = None) -> Any:
    """Read a whole file; columns of digits that begin with zeros are words.

    Parameters
    ----------
    path : path-like
    text : TextOptions, default=None
        How a text file is written, where that should not be found out.

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
        return _tidy_names(pd.read_excel(path, **_WORDS_AS_WRITTEN))
    if file_type == "arff":
        with readable(path):
            return pd.read_csv(path, **_arff_options(path), low_memory=False)
    form = find_form(path, text)
    with readable(path):
        if form.all_text:
            return _tidy_names(pd.read_csv(path, dtype=str, **form.settings()))
        frame = pd.read_csv(path, **form.settings(), low_memory=False)
        whole = [name for name in frame.columns if _is_whole(frame[name])]
        if whole and has_leading_zeros(path, form):
            dtypes = dict.fromkeys(whole, str)
            frame = frame.assign(**pd.read_csv(path, dtype=dtypes, **form.settings())[whole])
    return _tidy_names(frame)


def _is_whole(column: Any) -> bool:
    if column.dtype.kind == "f":
        values = column.to_numpy()
        # Most columns with fractions have one among their first values.
        return all(
            np.all((part == np.floor(part)) | np.isnan(part)) for part in (values[:1000], values)
        )
    return column.dtype.kind in "iu"


def _tidy_names(frame: Any) -> Any:
    """The frame with names without stray blanks, unless two would become the same."""
    tidy = [" ".join(str(name).split()) for name in frame.columns]
    return frame.set_axis(tidy, axis=1) if len(set(tidy)) == len(tidy) else frame


def read_columns(path: Any, text: TextOptions | None = None) -> list[str]:
    """The names of a file's columns.

    Parameters
    ----------
    path : path-like
    text : TextOptions, default=None

    Returns
    -------
    names : list of str
    """
    path = Path(path)
    file_type = file_type_of(path)
    if file_type in ("text", "arff"):
        settings = _settings(path, file_type, text)[0]
        with readable(path):
            frame = needed("pandas").read_csv(path, **settings, nrows=0)
        return list(_tidy_names(frame).columns)
    if file_type == "parquet":
        return list(needed("pyarrow.parquet").ParquetFile(path).schema_arrow.names)
    if file_type == "feather":
        with needed("pyarrow.ipc").open_file(str(path)) as reader:
            return list(reader.schema.names)
    return list(read_frame(path).columns)


def repeated_columns(path: Any, text: TextOptions | None = None) -> dict[str, int]:
    """How often names occur in the header of a file that has them more than once.

    Readers give such columns names of their own ("price", "price.1").

    Parameters
    ----------
    path : path-like
    text : TextOptions, default=None

    Returns
    -------
    counts : dict of str to int
    """
    path = Path(path)
    file_type = file_type_of(path)
    pd = needed("pandas")
    if file_type == "text":
        settings = find_form(path, text).settings()
        with readable(path):
            first = pd.read_csv(path, header=None, nrows=1, dtype=str, **settings)
    elif file_type == "excel":
        first = pd.read_excel(path, header=None, nrows=1, dtype=str)
    else:
        return {}
    counts = Counter(first.iloc[0].dropna())
    return {name: count for name, count in counts.items() if count > 1}


def read_chunks(
    path: Any,
    columns: Sequence[str],
    words: Sequence[str] = (),
    text: TextOptions | None = None,
) -> Iterator[Any]:
    """Read a file some rows at a time; an Excel file is read as a whole.

    There is one frame at the least, without rows if the file has none.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
        The columns to read.
    words : sequence of str, default=()
        Those of them to read as text even where they look like numbers.
    text : TextOptions, default=None

    Yields
    ------
    frame : pandas DataFrame
    """
    path = Path(path)
    file_type = file_type_of(path)
    n_rows = max(1000, CELLS_AT_ONCE // max(1, len(columns)))
    columns = list(columns)
    if file_type in ("text", "arff"):
        settings, form = _settings(path, file_type, text)
        with readable(path):
            pd = needed("pandas")
            header = pd.read_csv(path, **settings, nrows=0)
            # With "usecols" pandas would not see that a row has too many fields.
            written = zip(header.columns, _tidy_names(header).columns, strict=True)
            dtypes: Any = {name: str for name, tidy in written if tidy in set(words)}
            if form is not None and form.all_text:
                dtypes = str
            with pd.read_csv(path, dtype=dtypes, chunksize=n_rows, **settings) as chunks:
                for chunk in chunks:
                    yield _tidy_names(chunk)[columns]
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


def _settings(
    path: Path, file_type: str, text: TextOptions | None
) -> tuple[dict[str, Any], TextForm | None]:
    """How pandas reads a text or ARFF file."""
    if file_type == "arff":
        return _arff_options(path), None
    form = find_form(path, text)
    return form.settings(), form


def _arff_options(path: Path) -> dict[str, Any]:
    """How pandas reads the data of an ARFF file: the header's names, and where the rows begin."""
    names = []
    with readable(path):
        encoding = find_encoding(path)
    with readable(path), io.TextIOWrapper(open_bytes(path), encoding) as file:
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
        "encoding": encoding,
        "names": names,
        "header": None,
        "skiprows": n_lines,
        "keep_default_na": False,
        "na_values": ["", "?"],
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

        try:
            yield write
            text.flush()
        finally:
            text.detach()  # or it would close the file, even the terminal, when it is forgotten
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
