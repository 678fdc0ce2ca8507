"""From a name to a table: a file, a bundled data set, one of your folder, or one of OpenML's."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from hedgerow._reading import TableReading
from hedgerow.datasets.cleaning import CleanTable, clean
from hedgerow.datasets.columns import as_target, did_you_mean, listed
from hedgerow.datasets.edges import trim
from hedgerow.datasets.files import FILE_TYPES, file_type_of, read_frame, repeated_columns
from hedgerow.datasets.folder import VARIABLE, data_folder, read_set, sets_in
from hedgerow.datasets.text_files import TextOptions, find_form

BUNDLED: dict[str, Callable[..., Bunch]] = {
    "breast_cancer": sklearn.datasets.load_breast_cancer,
    "diabetes": sklearn.datasets.load_diabetes,
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
}


class LoadedData(NamedTuple):
    """A data set.

    Attributes
    ----------
    X : pandas DataFrame
        Numbers and categories.
    y : ndarray
    name : str
    target : str
    notes : list of str
        What was changed on the way, in words.
    reading : TableReading or None
        How the columns were read; None for a bundled set, which needs no reading.
    raw : pandas DataFrame or None
        The rows of X as they stand in the file, with all its columns.
    """

    X: Any
    y: np.ndarray
    name: str
    target: str
    notes: list[str]
    reading: TableReading | None = None
    raw: Any = None

    def read_alike(self, path: Any, **text: Any) -> tuple[Any, np.ndarray]:
        """The features and the target of another file, read in the same way.

        Parameters
        ----------
        path : path-like
        **text : dict
            ``sep``, ``decimal`` and ``encoding`` of the file, as in `read_table`.

        Returns
        -------
        X : pandas DataFrame
        y : ndarray
        """
        if self.reading is None:
            other = load_data(str(path), self.target, **text)
            return other.X, other.y
        frame = read_table(path, reading=self.reading, **text).frame
        lacking = [name for name in [*self.X.columns, self.target] if name not in frame]
        if lacking:
            raise ValueError(f"{path} lacks the column '{lacking[0]}'.")
        frame = frame[frame[self.target].notna()]
        return frame[list(self.X.columns)], as_target(frame[self.target])


def load_data(
    name: str,
    target: str | None = None,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> LoadedData:
    """Load a data set.

    Parameters
    ----------
    name : str
        A file (CSV, TSV, Parquet, Feather, Excel, ARFF); one of the bundled sets breast_cancer,
        diabetes, digits, iris and wine; the name of a Parquet file in the folder that the
        environment variable HEDGEROW_DATA names; or the name or number of a data set on OpenML
        (``"adult@2"`` for its second version).
    target : str, default=None
        The column to predict. For a file it must be given, unless a column is called "target"; the
        others have one of their own.
    sep, decimal, encoding, na : default=None
        How a file is written, where that should not be found out: see `read_table`.
    keep : iterable of str, default=()
        Columns to keep although they look like identifiers.

    Returns
    -------
    table : LoadedData

    Examples
    --------
    >>> from hedgerow.datasets import load_data
    >>> table = load_data("wine")
    >>> table.X.shape, table.target
    ((178, 13), 'cultivar')
    """
    path = Path(name)
    text = TextOptions(sep, decimal, encoding)
    na, keep = tuple(na), tuple(keep)
    if path.is_file():
        wanted, repeated = target or "target", repeated_columns(path, text)
        if wanted in repeated:
            raise ValueError(
                f"{path} has {repeated[wanted]} columns called '{wanted}': rename all but the one "
                "to predict."
            )
        frame, notes, has_commas = _read_file(path, text)
        target = _find_target(frame, target, path)
        table = clean(
            frame,
            target=target,
            decimal=decimal,
            na=na,
            keep=keep,
            notes=notes,
            is_point_default=not has_commas,
        )
        return _loaded(frame, table, path.stem, target, path)
    if path.suffix.lower() in FILE_TYPES or len(path.parts) > 1:
        raise FileNotFoundError(f"there is no file '{name}'.")
    if name in BUNDLED:
        return _bundled(name, target)
    folder = data_folder()
    if folder is not None and name in sets_in(folder):
        frame = read_set(name, folder)[0]
        target = _find_target(frame, target, name)
    else:
        frame, target = _from_openml(name, target)
    return _loaded(frame, clean(frame, target=target, na=na, keep=keep), name, target, name)


def read_table(
    path: Any,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Iterable[str] = (),
    target: str | None = None,
    reading: TableReading | None = None,
) -> CleanTable:
    """Read a file as people export them: numbers and categories, and what was converted.

    Parameters
    ----------
    path : path-like
        CSV, TSV, Parquet, Feather, Excel or ARFF.
    sep : str, default=None
        What separates the columns of a text file; by default it is found.
    decimal : {".", ","}, default=None
        The decimal mark of numbers; by default it is found for each column.
    encoding : str, default=None
        Of a text file; by default UTF-8, or what its first bytes say, else Windows-1252.
    na : iterable of str, default=()
        Further words that mean missing; one with "!" before it never does ("!NA").
    target : str, default=None
        A column to predict: its rare words are classes, and are not grouped.
    reading : TableReading, default=None
        That of an earlier table, to read this one in the same way.

    Returns
    -------
    table : CleanTable
        ``frame`` and ``reading``.

    Examples
    --------
    >>> import os, tempfile
    >>> from hedgerow.datasets import read_table
    >>> path = os.path.join(tempfile.mkdtemp(), "export.csv")
    >>> with open(path, "w", encoding="cp1252") as file:
    ...     _ = file.write("Preis;Größe\\n1.250,50;klein\\n980,00;groß\\n")
    >>> table = read_table(path)
    >>> table.frame["Preis"].tolist()
    [1250.5, 980.0]
    >>> print(table.reading["Preis"].told()[0])
    thousands separators dropped in 1 cell
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'.")
    frame, notes, has_commas = _read_file(path, TextOptions(sep, decimal, encoding))
    if reading is not None:
        reading = reading.adapted(decimal, na)
        return CleanTable(reading.apply(frame), reading)
    if target is not None:
        _find_target(frame, target, path)
    return clean(
        frame,
        target=target,
        decimal=decimal,
        na=na,
        notes=notes,
        is_point_default=not has_commas,
    )


def _read_file(path: Path, text: TextOptions) -> tuple[Any, tuple[str, ...], bool]:
    """The cells of a file, notes on it, and whether a comma may be its decimal mark."""
    file_type = file_type_of(path)
    if file_type == "excel":
        frame, notes = trim(read_frame(path))
        return frame, tuple(notes), False
    if file_type != "text":
        return read_frame(path), (), False
    form = find_form(path, text)
    frame, notes = trim(read_frame(path, text))
    return frame, (*form.notes, *notes), form.sep != ","


def available() -> dict[str, str]:
    """The data sets that `load_data` finds without a network, with where they come from.

    Returns
    -------
    names : dict of str to str
    """
    found = dict.fromkeys(BUNDLED, "bundled")
    folder = data_folder()
    own = {} if folder is None else dict.fromkeys(sets_in(folder), VARIABLE)
    return found | own | found


def _bundled(name: str, target: str | None) -> LoadedData:
    own = {"wine": "cultivar", "iris": "species", "breast_cancer": "diagnosis"}.get(name, "target")
    if target not in (None, own):
        raise ValueError(f"'target' goes with a file; '{name}' has its own target, '{own}'.")
    bunch = BUNDLED[name](as_frame=True)
    y = np.asarray(bunch.target)
    if "target_names" in bunch and name != "digits":
        y = np.asarray(bunch.target_names)[y]
    return LoadedData(bunch.data, y, name, own, [])


def _from_openml(name: str, target: str | None) -> tuple[Any, str]:
    stem, at, version = name.partition("@")
    if at and not _is_number(version):
        raise ValueError(
            f"'{name}' must name a version on OpenML by its number, as in '{stem}@2'; "
            f"got {version!r}."
        )
    which: dict[str, Any] = (
        {"data_id": int(name)}
        if _is_number(name)
        else {"name": stem, "version": int(version) if at else "active"}
    )
    try:
        bunch = sklearn.datasets.fetch_openml(
            **which, as_frame=True, parser="auto", target_column=target or "default-target"
        )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"'{name}' is neither a file nor one of {', '.join(available())}; "
            f"and OpenML did not give it: {reason}"
        ) from None
    return bunch.frame, str(bunch.target.name)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()  # "²" is a digit, too


def _find_target(frame: Any, target: str | None, source: Any) -> str:
    names = [str(column) for column in frame.columns]
    if target is None and "target" in names:
        return "target"
    if target is None:
        raise ValueError(f"'target' must name a column of {source}: {listed(names)}.")
    if target not in names:
        raise ValueError(
            f"{source} has no column '{target}', only {listed(names)}."
            + did_you_mean(target, names)
        )
    return target


def _loaded(raw: Any, table: CleanTable, name: str, target: str, source: Any) -> LoadedData:
    """A table that was read, without the rows that have no target."""
    frame, reading = table
    y = frame[target]
    notes = []
    lost = int(y.isna().sum())
    if lost == len(frame):
        raise ValueError(f"the column '{target}' of {source} is empty.")
    if lost:
        known = y.notna()
        frame, y, raw = frame[known], y[known], raw[known.to_numpy()]
        notes.append(f"{lost} rows without a '{target}' were left out")
    return LoadedData(
        frame.drop(columns=target),
        as_target(y),
        name,
        target,
        [*notes, *reading.told()],
        reading,
        raw.set_axis([str(column) for column in raw.columns], axis=1),
    )
