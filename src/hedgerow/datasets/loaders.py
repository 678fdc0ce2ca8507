"""From a name to a table: a file, a bundled data set, one of your folder, or one of OpenML's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from hedgerow.datasets.columns import as_features, as_target, decimal_commas, did_you_mean, listed
from hedgerow.datasets.files import FILE_TYPES, read_frame, repeated_columns
from hedgerow.datasets.folder import VARIABLE, data_folder, read_set, sets_in

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
        Numbers, times as seconds since 1970, and categories.
    y : ndarray
    name : str
    target : str
    notes : list of str
        What was changed on the way, in words.
    """

    X: Any
    y: np.ndarray
    name: str
    target: str
    notes: list[str]


def load_data(name: str, target: str | None = None) -> LoadedData:
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
    if path.is_file():
        frame = read_frame(path)
        wanted, repeated = target or "target", repeated_columns(path)
        if wanted in repeated:
            raise ValueError(
                f"{path} has {repeated[wanted]} columns called '{wanted}': rename all but the one "
                "to predict."
            )
        return _from_frame(frame, path.stem, target, path)
    if path.suffix.lower() in FILE_TYPES or len(path.parts) > 1:
        raise FileNotFoundError(f"there is no file '{name}'.")
    if name in BUNDLED:
        return _bundled(name, target)
    folder = data_folder()
    if folder is not None and name in sets_in(folder):
        return _from_frame(read_set(name, folder)[0], name, target, name)
    return _from_openml(name, target)


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


def _from_openml(name: str, target: str | None) -> LoadedData:
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
    label = str(bunch.target.name)
    return _from_frame(bunch.frame, name, label, name)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()  # "²" is a digit, too


def _from_frame(frame: Any, name: str, target: str | None, source: Any) -> LoadedData:
    names = [str(column) for column in frame.columns]
    frame = frame.set_axis(names, axis=1)
    if target is None and "target" in names:
        target = "target"
    if target is None:
        raise ValueError(f"'target' must name a column of {source}: {listed(names)}.")
    if target not in names:
        raise ValueError(
            f"{source} has no column '{target}', only {listed(names)}."
            + did_you_mean(target, names)
        )
    notes = []
    lost = int(frame[target].isna().sum())
    if lost == len(frame):
        raise ValueError(f"the column '{target}' of {source} is empty.")
    if lost:
        frame = frame[frame[target].notna()]
        notes.append(f"{lost} rows without a '{target}' were left out")
    for column in decimal_commas(frame):
        notes.append(
            f"the numbers of '{column}' have commas and are read as words; write decimal points"
        )
    return LoadedData(
        as_features(frame.drop(columns=target)), as_target(frame[target]), name, target, notes
    )
