"""How a text file is written: its encoding, its separator, its quotes.

What is not said is found from the file itself, and noted where it is not the common case.
"""

import bz2
import codecs
import csv
import gzip
import importlib
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple

import numpy as np

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LINES_LOOKED_AT = 1000
_LINES_SPLIT = 100
_BLOCK = 1 << 20
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_AT_A_START = codecs.getincrementaldecoder("utf-8")().getstate()  # of a character
_UNDEFINED = rb"[\x81\x8d\x8f\x90\x9d]"  # in Windows-1252
_DIGITS = re.compile(r"\s*[+-]?[\d.,]+\s*")
_DECIMAL_COMMA = re.compile(r"[+-]?[\d.]*\d,\d+")


class TextOptions(NamedTuple):
    """What a user says about a text file; None is found out.

    Attributes
    ----------
    sep : str or None
        What separates columns.
    decimal : {".", ","} or None
    encoding : str or None
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class TextForm:
    """How a text file is written.

    Attributes
    ----------
    sep, encoding : str
    n_skipped : int
        Lines before the header.
    blank_before_quotes : bool
        Whether blanks stand between separators and quotes.
    all_text : bool
        Whether numbers may have decimal commas, so that no reader but ours may take them.
    notes : tuple of str
        What a user may want to know.
    """

    sep: str
    encoding: str
    n_skipped: int
    blank_before_quotes: bool
    all_text: bool
    notes: tuple[str, ...]

    def settings(self) -> dict[str, Any]:
        """How pandas reads the file: every word as it is written."""
        return {
            "sep": self.sep,
            "encoding": self.encoding,
            "skiprows": self.n_skipped,
            "skipinitialspace": self.blank_before_quotes,
            "keep_default_na": False,
            "na_values": [""],
        }


def needed(module: str) -> ModuleType:
    """Import a package that reading files needs, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"reading and writing such files needs {module.partition('.')[0]}; install it with: "
            'pip install "hedgerow[cli]"'
        ) from None


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say of a text file that cannot be read which one it is, and what to do."""
    try:
        yield
    except UnicodeError as error:
        raise ValueError(
            f"'{path}' cannot be read as {getattr(error, 'encoding', 'text')}: name its encoding "
            "with --encoding (in Python encoding=), for example cp1252 or utf-16."
        ) from None
    except LookupError as error:
        raise ValueError(f"'{path}': {error}; common ones are utf-8, cp1252, utf-16.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise ValueError(
            f"'{path}' is damaged or was cut off: {error}. Fetch or write it again."
        ) from None


def open_bytes(path: Path) -> IO[bytes]:
    """A file, decompressed."""
    ending = path.suffix.lower()
    if ending == ".zip":
        archive = zipfile.ZipFile(path)
        return archive.open(archive.namelist()[0])
    if ending == ".zst":
        return needed("zstandard").open(path, "rb")
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return openers.get(ending, open)(path, "rb")


def find_form(path: Path, options: TextOptions | None = None) -> TextForm:
    """How a text file is written: as the user says, else as it looks.

    Columns are separated by a tab if the name says so, else by the sign that cuts the first lines
    into equally many fields, and the most of them.
    """
    options = options or TextOptions()
    if options.sep is not None and len(options.sep) != 1:
        raise ValueError(f"'sep' must be one character, got {options.sep!r}.")
    if options.decimal not in (None, ".", ","):
        raise ValueError(f"'decimal' must be '.' or ',', got {options.decimal!r}.")
    with readable(path):
        encoding = options.encoding or find_encoding(path)
        codecs.lookup(encoding)
        with io.TextIOWrapper(open_bytes(path), encoding, newline="") as file:
            lines = list(islice(file, _LINES_LOOKED_AT))
    notes = []
    if options.encoding is None and encoding not in ("utf-8", "utf-8-sig"):
        notes.append(
            f"the file is not in UTF-8 and was read as {encoding}; --encoding names another"
        )
    n_skipped = 0
    said = re.fullmatch(r"sep=(.)\s*", lines[0].lstrip("\ufeff")) if lines else None
    if said:  # Excel's own hint
        lines, n_skipped = lines[1:], 1
    if options.sep is not None:
        sep = options.sep
    elif said:
        sep = said[1]
    elif any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes):
        sep = "\t"
    else:
        sep = find_separator(lines)
        if sep != ",":
            notes.append(f"columns are separated by {_SEPARATORS[sep]}")
    n_titles = count_titles(lines, sep)
    if n_titles:
        rows = "line" if n_titles == 1 else f"{n_titles} lines"
        notes.append(f"the first {rows} above the names of the columns were passed over")
        lines, n_skipped = lines[n_titles:], n_skipped + n_titles
    has_commas = sep != "," and any(
        _DECIMAL_COMMA.fullmatch(field.strip(' \t\r\n"%€$£'))
        for line in lines[1:]
        for field in line.split(sep)
    )
    blank_before_quotes = any(re.search(re.escape(sep) + r' +"', line) for line in lines)
    return TextForm(
        sep,
        encoding,
        n_skipped,
        blank_before_quotes,
        has_commas or options.decimal == ",",
        tuple(notes),
    )


def find_encoding(path: Path) -> str:
    """By its first bytes, UTF-8 where that can be, else Windows-1252 or Latin-1."""
    with open_bytes(path) as file:
        first = file.read(_BLOCK)
        for mark, encoding in _BOMS.items():
            if first.startswith(mark):
                return encoding
        if b"\0" in first:
            raise ValueError(f"'{path}' is not text: it has zero bytes. Save it as CSV.")
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf_8, undefined = True, False
        block = first
        while block:
            if is_utf_8 and not (block.isascii() and decoder.getstate() == _AT_A_START):
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    is_utf_8 = False
            if not block.isascii():
                undefined = undefined or re.search(_UNDEFINED, block) is not None
            block = file.read(_BLOCK)
        if is_utf_8:
            try:
                decoder.decode(b"", final=True)
                return "utf-8"
            except UnicodeDecodeError:
                pass
    return "latin-1" if undefined else "cp1252"


def find_separator(lines: list[str]) -> str:
    """The sign that cuts the first lines into equally many fields, and the most of them."""

    def worth(sep: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines[:_LINES_SPLIT], delimiter=sep) if row]
        if not widths:
            return 0.0, 0
        # A title above the table is one field.
        usual = widths[0] if widths[0] > 1 else Counter(widths).most_common(1)[0][0]
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0.0, 0)

    return max(_SEPARATORS, key=worth)


def count_titles(lines: list[str], sep: str) -> int:
    """Lines above the header: they fill fewer fields than the table, or are blank."""
    reader = csv.reader(lines[:_LINES_SPLIT], delimiter=sep)
    rows = [(row, reader.line_num) for row in reader]
    filled = [sum(bool(field.strip()) for field in row) for row, _ in rows]
    widths = Counter(len(row) for (row, _), n in zip(rows, filled, strict=True) if n > 1)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    if usual < 2 or not rows or (len(rows[0][0]) == usual and filled[0] > usual / 2):
        return 0
    for place, (row, _) in enumerate(rows):
        if len(row) == usual and filled[place] > usual / 2:
            looks_like_names = filled[place] == usual and not any(map(_DIGITS.fullmatch, row))
            return rows[place - 1][1] if looks_like_names and place else 0
    return 0


def has_leading_zeros(path: Path, form: TextForm) -> bool:
    """Whether a field of the file begins with a zero and has more digits: 01234.

    A word inside a field that does so counts, too: this only says that columns need a closer look.
    """
    begins, is_digit = np.zeros(256, dtype=bool), np.zeros(256, dtype=bool)
    begins[list(f'"\r\n +{form.sep}'.encode())] = True
    is_digit[ord("0") : ord("9") + 1] = True
    before = b"\n"
    with readable(path), open_bytes(path) as file:
        while block := file.read(_BLOCK):
            signs = np.frombuffer((before + block).replace(b"\0", b""), dtype=np.uint8)
            zeros = np.flatnonzero(signs[1:-1] == ord("0")) + 1
            if np.any(begins[signs[zeros - 1]] & is_digit[signs[zeros + 1]]):
                return True
            before = block[-8:]
    return False
