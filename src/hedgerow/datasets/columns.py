"""Columns of a file as the models read them, the same in training and in prediction.

Numbers stay, times become seconds since 1970, everything else becomes a category of words. At
prediction `conform` brings a table into the form of the training table, or says why it does not
fit.
"""

from difflib import get_close_matches
from typing import Any

import numpy as np


def as_features(frame: Any) -> Any:
    """A training table: each column as numbers or as categories.

    Parameters
    ----------
    frame : pandas DataFrame

    Returns
    -------
    frame : pandas DataFrame
    """
    return frame.assign(**{str(name): _as_feature(frame[name]) for name in frame.columns})


def as_target(column: Any) -> np.ndarray:
    """A target without missing values: numbers as they are, all else as words."""
    from pandas.api import types

    if types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        return np.asarray(column.astype(str), dtype=str)
    return np.asarray(column.to_numpy(dtype=float) if column.dtype.kind == "O" else column)


def _as_feature(column: Any) -> Any:
    from pandas.api import types

    times = _as_times(column)
    if times is not None:
        return times
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        is_plain = isinstance(column.dtype, np.dtype)
        return column if is_plain else column.astype("float64")
    if isinstance(column.dtype, _categorical()) and types.is_string_dtype(column.cat.categories):
        return column  # the order of the categories stays
    return _as_words(column).astype("category")


def _categorical() -> type:
    import pandas as pd

    return pd.CategoricalDtype


def _as_words(column: Any) -> Any:
    """The column as str; missing values stay missing."""
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _as_times(column: Any) -> Any:
    """Seconds since 1970 of a column of times, or of words that are all ISO times; else None."""
    import pandas as pd
    from pandas.api import types

    if isinstance(column.dtype, _categorical()):
        return None
    if types.is_string_dtype(column) and column.notna().any():  # text files have no type for times
        first = column[column.notna()].head(100)
        if pd.to_datetime(first, format="ISO8601", errors="coerce", utc=True).isna().any():
            return None
        times = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
        if not times.notna().equals(column.notna()):
            return None
        column = times
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if not types.is_datetime64_dtype(column):
        return None
    return (column - pd.Timestamp(0)).dt.total_seconds()


def decimal_commas(frame: Any) -> list[str]:
    """Columns of words that are all numbers with a comma, or whole ones."""
    from pandas.api import types

    found = []
    for name in frame.columns:
        column = frame[name]
        if types.is_string_dtype(column) and not isinstance(column.dtype, _categorical()):
            words = column.dropna().astype(str)
            is_number = words.str.fullmatch(r"[+-]?\d+(,\d+)?")
            if len(words) and is_number.all() and words.str.contains(",").any():
                found.append(name)
    return found


def feature_columns(model: Any) -> list[str]:
    """The columns that a model reads, by name."""
    names = model.schema_.feature_names
    if names is None:
        raise ValueError("the model was fitted on an array and knows no names of columns.")
    return names


def word_columns(model: Any) -> list[str]:
    """The columns that a model reads as categories."""
    return [model.schema_.feature_names[feature] for feature in model.schema_.categories]


def check_columns(model: Any, names: list[str], source: Any) -> None:
    """Refuse a file that lacks columns of the model's.

    Parameters
    ----------
    model : estimator
    names : list of str
        The columns that there are; more than the model needs are no matter.
    source : object
        Of the file, for the message.
    """
    missing = [name for name in feature_columns(model) if name not in names]
    if missing:
        one = len(missing) == 1
        raise ValueError(
            f"{source} does not fit the model: it lacks the column{'s' * (not one)} "
            f"{listed(map(repr, missing))}; it has {listed(names)}."
            + (did_you_mean(missing[0], names) if one else "")
        )


def listed(names: Any, most: int = 8) -> str:
    """Names for a message, not all of too many."""
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def did_you_mean(name: Any, names: Any) -> str:
    """A question to end a message with, where one of the names is close to a mistyped one."""
    names = [str(known) for known in names]
    folded = {known.strip().casefold(): known for known in reversed(names)}
    close = get_close_matches(str(name).strip().casefold(), folded, n=1, cutoff=0.7)
    return f" Did you mean '{folded[close[0]]}'?" if close else ""


def conform(model: Any, frame: Any, first_row: int = 0) -> Any:
    """A table in the form of the model's training table.

    Parameters
    ----------
    model : estimator
    frame : pandas DataFrame
        With all columns of the model's, in any order.
    first_row : int, default=0
        Number of the first row, for messages.

    Returns
    -------
    frame : pandas DataFrame
    """
    import pandas as pd

    columns = {}
    for feature, name in enumerate(feature_columns(model)):
        if feature in model.schema_.categories:
            columns[name] = _as_known(frame[name], model.schema_.categories[feature])
        else:
            columns[name] = _as_numbers(frame[name], name, first_row)
    return pd.DataFrame(columns)


def _as_known(column: Any, categories: list) -> Any:
    """A column of the model's categories; those that it does not know are missing."""
    import pandas as pd

    known = {str(category): category for category in categories}
    for word in ("true", "false"):  # as other programs write them
        if word.title() in known:
            known.setdefault(word, known[word.title()])
            known.setdefault(word.upper(), known[word.title()])
    if isinstance(column.dtype, _categorical()):
        codes = [known.get(str(value)) for value in column.cat.categories]
        place = {category: code for code, category in enumerate(categories)}
        table = np.array([place.get(value, -1) for value in codes] + [-1])
        return pd.Categorical.from_codes(table[column.cat.codes.to_numpy()], categories=categories)
    return pd.Categorical(_as_words(column).map(known), categories=categories)


def _as_numbers(column: Any, name: str, first_row: int) -> Any:
    import pandas as pd
    from pandas.api import types

    if types.is_numeric_dtype(column):
        return column.astype("float64") if column.dtype.kind not in "iuf" else column
    times = _as_times(column)
    if times is not None:
        return times
    numbers = pd.to_numeric(column.astype(object), errors="coerce")
    wrong = np.flatnonzero(numbers.isna().to_numpy() & column.notna().to_numpy())
    if len(wrong):
        raise ValueError(
            f"the column {name!r} does not fit the model: it must hold numbers as in training, "
            f"row {first_row + wrong[0]} has {column.iloc[wrong[0]]!r}."
        )
    return numbers.astype("float64")
