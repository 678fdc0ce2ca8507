"""Columns of a user's table, whatever library it comes from: arrays, pandas and polars frames.

What is a category, which codes its values have, and which numbers a column holds is answered here
and nowhere else.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

_MOST_CATEGORIES = 65_535


def is_frame(X: Any) -> bool:
    """Whether X is a data frame whose columns have types of their own."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def take_columns(X: Any, features: np.ndarray) -> Any:
    """Some columns of an array or a frame."""
    return X.iloc[:, features] if hasattr(X, "iloc") else X[:, features]


def refuse_times(X: Any) -> None:
    """NumPy would read times as numbers, in units of its own."""
    kind = getattr(X, "dtype", None)
    if getattr(kind, "kind", "") in ("m", "M"):
        raise TypeError(
            f"X has type {kind}: give times as numbers, such as seconds since the first."
        )


def check_frame(X: Any) -> None:
    if len(X) == 0:
        raise ValueError("Found a data frame with 0 rows while at least one is required.")
    if len(X.columns) == 0:
        raise ValueError("Found a data frame with 0 columns while at least one is required.")


def columns_of(X: Any) -> Iterator[Any]:
    if not is_frame(X):
        yield from X.T
    elif hasattr(X, "iloc"):
        for position in range(X.shape[1]):
            yield X.iloc[:, position]
    else:
        yield from X.get_columns()


def _is_polars(column: Any) -> bool:
    return hasattr(column, "to_physical")


def is_categorical(column: Any) -> bool:
    """Whether a column's own type says that it holds categories."""
    if isinstance(column, np.ndarray):
        return False
    if _is_polars(column):
        return str(column.dtype).split("(")[0] in {"Categorical", "Enum", "String", "Boolean"}
    name = str(column.dtype)
    return name.startswith(("category", "object", "bool", "str", "dictionary"))


def factorize(column: Any) -> tuple[np.ndarray, list, bool]:
    """Codes (-1 for missing), the values they stand for, and whether their order has a meaning."""
    if isinstance(column, np.ndarray):
        values, codes = np.unique(column, return_inverse=True)
        present = values == values
        return np.where(present[codes], codes, -1), values[present].tolist(), True
    if _is_polars(column):
        kind = column.dtype
        ordered = str(kind).startswith("Enum")
        if str(kind) != "Boolean":
            column = column.cast(str)
        known = kind.categories if ordered else column.drop_nulls().unique(maintain_order=True)
        index = known.to_frame("value").with_row_index("code")
        joined = column.to_frame("value").join(index, on="value", how="left", maintain_order="left")
        return joined["code"].cast(int).fill_null(-1).to_numpy(), known.to_list(), ordered
    if str(column.dtype) == "category":
        return column.cat.codes.to_numpy(), column.cat.categories.tolist(), True
    codes, uniques = column.factorize()
    return np.asarray(codes), list(np.asarray(uniques, dtype=object)), False


def read_categories(column: Any, name: str) -> tuple[list, np.ndarray]:
    """The categories of a training column, in the type's own order, else sorted; and its codes."""
    try:
        codes, values, is_ordered = factorize(column)
    except TypeError as error:  # a value that cannot be hashed
        raise TypeError(
            f"Column {name} cannot be read as categories ({error}): categories must be strings, "
            "numbers or booleans."
        ) from None
    for value in values:
        if not isinstance(value, str | bool | int | float | np.generic):
            raise TypeError(
                f"Column {name} holds {value!r} of type {type(value).__name__}: categories must be "
                "strings, numbers or booleans."
            )
    if len(values) > _MOST_CATEGORIES:
        raise ValueError(
            f"Column {name} has {len(values)} categories, the most possible is {_MOST_CATEGORIES}: "
            "drop it if it is an identifier, or group its values."
        )
    if is_ordered:
        return values, np.ascontiguousarray(codes, dtype=np.int32)
    try:
        categories = sorted(values)
    except TypeError:  # of several types
        categories = sorted(values, key=lambda value: (type(value).__name__, str(value)))
    return categories, places_of(values, categories)[codes]


def places_of(values: list, categories: list) -> np.ndarray:
    """The place of each value among the categories, -1 for others; the last entry is -1, too.

    So codes of the values, -1 for what is missing, index it.
    """
    place = {value: code for code, value in enumerate(categories)}
    return np.array([place.get(value, -1) for value in values] + [-1], dtype=np.int32)


def as_numbers(column: Any, name: str) -> np.ndarray:
    """A column as float32 (where nothing is lost) or float64, NaN for missing."""
    if isinstance(column, np.ndarray):
        return column
    kind = str(column.dtype)
    small = kind.lower() in {"int8", "int16", "uint8", "uint16", "float32", "bool", "boolean"}
    dtype = np.float32 if small else np.float64
    try:
        if _is_polars(column):
            if not (column.dtype.is_numeric() or kind in {"Boolean", "Null"}):
                raise TypeError
            values = column.cast(float).to_numpy().astype(dtype)
        elif kind.startswith(("datetime", "timedelta", "period", "complex")):
            raise TypeError
        else:
            values = column.to_numpy(dtype=dtype, na_value=np.nan)
    except (TypeError, ValueError):
        others = ", or to strings or categories to have it read as categories"
        raise ValueError(
            f"Column {name} has type {kind} and cannot be read as numbers: convert it to numbers"
            f"{'' if is_categorical(column) else others}."
        ) from None
    if np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity in column {name}: replace it by a number or by NaN."
        )
    return values
