"""Columns of a file as a model reads them: in training, and in the same way in prediction.

At prediction `conform` reads a table as the training table was read, and brings it into its form,
or says why it does not fit.
"""

from collections import Counter
from difflib import get_close_matches
from typing import Any

import numpy as np

from hedgerow._reading import TableReading, read_as


def as_target(column: Any) -> np.ndarray:
    """A target without missing values: numbers as they are, all else as words."""
    from pandas.api import types

    if types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        return np.asarray(column.astype(str), dtype=str)
    return np.asarray(column.to_numpy(dtype=float) if column.dtype.kind == "O" else column)


def reading_of(model: Any) -> TableReading:
    """How a model reads the columns of a table: as it was trained, or numbers and words."""
    if model.schema_.feature_names is None:
        raise ValueError("the model was fitted on an array and knows no names of columns.")
    return getattr(model, "reading_", None) or read_as(model.schema_)


def source_columns(model: Any) -> list[str]:
    """The columns of a file that a model reads, by name."""
    return reading_of(model).sources(model.schema_.feature_names)


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
    missing = [name for name in source_columns(model) if name not in names]
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


def conform(model: Any, frame: Any, first_row: int = 0, told: Counter | None = None) -> Any:
    """A table in the form of the model's training table.

    Parameters
    ----------
    model : estimator
    frame : pandas DataFrame
        With all columns of the model's, in any order.
    first_row : int, default=0
        Number of the first row, for messages.
    told : Counter, default=None
        Counts cells that were read as something else, by column and what was done.

    Returns
    -------
    frame : pandas DataFrame
    """
    import pandas as pd

    read, found = reading_of(model).read(frame, first_row)
    if told is not None:
        told.update(found)
    schema = model.schema_
    columns = {
        name: _as_known(read[name], schema.categories[feature])
        if feature in schema.categories
        else read[name]
        for feature, name in enumerate(schema.feature_names)
    }
    return pd.DataFrame(columns)


def _as_known(column: Any, categories: list) -> Any:
    """A column of the model's categories; those that it does not know are missing."""
    import pandas as pd

    known = {str(category): category for category in categories}
    for word in ("true", "false"):  # as other programs write them
        if word.title() in known:
            known.setdefault(word, known[word.title()])
            known.setdefault(word.upper(), known[word.title()])
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = [known.get(str(value)) for value in column.cat.categories]
        place = {category: code for code, category in enumerate(categories)}
        table = np.array([place.get(value, -1) for value in codes] + [-1])
        return pd.Categorical.from_codes(table[column.cat.codes.to_numpy()], categories=categories)
    return pd.Categorical(column.map(known), categories=categories)
