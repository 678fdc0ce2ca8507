"""Columns of a user's table, whatever library it comes from: arrays, pandas and polars frames.

What else holds a table becomes one of these first (`known_table`).

What is a category, which codes its values have, and which numbers a column holds is answered here
and nowhere else.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

MOST_CATEGORIES = 65_535
_PLAIN = frozenset("?bBhHiIlLqQfd")  # NumPy's numbers that the engine reads
_NARROW_CHARS = frozenset("?bBhHf")  # of these, those that float32 holds
_NARROW = frozenset({"int8", "int16", "uint8", "uint16", "float32", "bool", "boolean"})


def known_table(X: Any) -> Any:
    """A table of any library as an array or as a frame of pandas or polars.

    A lazy frame is collected. What speaks Arrow, such as a table of pyarrow or a relation of
    DuckDB, becomes a polars frame, mostly without a copy, or a pandas one where polars is not
    installed. Arrays of other libraries become NumPy's.
    """
    if isinstance(X, np.ndarray) or hasattr(X, "iloc") or hasattr(X, "get_columns"):
        return X
    if type(X).__module__.partition(".")[0] == "xarray":
        raise TypeError(
            f"X is an xarray {type(X).__name__}, whose dimensions do not say what a row is: give a "
            "table, such as X.to_dataframe().reset_index(), or X.to_numpy() of two dimensions."
        )
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        return X.collect()
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        if hasattr(X, "columns") or hasattr(X, "schema"):  # else it is one column
            return _from_arrow(X)
    elif hasattr(X, "__dlpack__"):
        return np.asarray(X)
    return X


def _from_arrow(X: Any) -> Any:
    try:
        import polars

        return polars.DataFrame(X)
    except ImportError:
        pass
    try:
        import pyarrow

        return pyarrow.table(X).to_pandas()
    except ImportError:
        raise ImportError(
            f"X is a {type(X).__name__}, which is read through polars, or through pyarrow and "
            "pandas: install one of them, for example with 'pip install polars'."
        ) from None


def is_frame(X: Any) -> bool:
    """Whether X is a data frame whose columns have types of their own."""
    return hasattr(X, "columns") and hasattr(type(X), "dtypes")  # pandas takes 10 µs to list them


def count_rows(X: Any) -> int:
    """How many rows there are in an array, a frame or a sparse matrix."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


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


def names_of(X: Any) -> list:
    """The names of a frame's columns, whatever their type."""
    return X.columns if isinstance(X.columns, list) else X.columns.tolist()


def columns_of(X: Any) -> Iterator[Any]:
    if not is_frame(X):
        yield from X.T
    elif hasattr(X, "iloc"):
        for _, column in X.items():
            yield column
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


def is_time(column: Any) -> bool:
    """Whether a column's own type says that it holds dates or times."""
    return not isinstance(column, np.ndarray) and str(column.dtype).startswith(
        ("datetime64", "Date")  # pandas, polars
    )


def year_fractions(times: np.ndarray) -> np.ndarray:
    """Years with the day and its time as a fraction: noon of 2 July 2023 is 2023.5."""
    times = times.astype("datetime64[us]")
    year, day = times.astype("datetime64[Y]"), np.timedelta64(1, "D")
    begin, end = (y.astype("datetime64[D]") for y in (year, year + 1))
    years = 1970 + year.astype(np.int64) + (times - begin) / day / ((end - begin) / day)
    return np.where(np.isnat(times), np.nan, years)


def as_years(column: Any, name: str) -> np.ndarray:
    """A column of times, in UTC, as years; years that are numbers already stay."""
    if not is_time(column):
        return as_numbers(column, name)
    return year_fractions(
        column.to_numpy() if _is_polars(column) else column.to_numpy("datetime64[us]")
    )


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
    if len(values) > MOST_CATEGORIES:
        raise ValueError(
            f"Column {name} has {len(values)} categories, the most possible is {MOST_CATEGORIES}: "
            "drop it if it is an identifier, or group its values."
        )
    if is_ordered:
        return values, np.ascontiguousarray(codes, dtype=np.int32)
    categories = sorted_categories(values)
    return categories, _places_of(values, place_by_category(categories))[codes]


def sorted_categories(values: Iterable) -> list:
    """Categories in their order, those of several types by type."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def place_by_category(categories: list) -> dict[Any, int]:
    """Where each category stands among them: its code."""
    return {value: code for code, value in enumerate(categories)}


def _places_of(values: Iterable, place: dict[Any, int]) -> np.ndarray:
    """The place of each value, -1 for others; the last entry is -1, too.

    So codes of the values, -1 for what is missing, index it.
    """
    return np.array([place.get(value, -1) for value in values] + [-1], dtype=np.int32)


def known_codes(column: Any, place: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """Codes of a column, its own where it has some, and the place that each code stands for.

    The last place stands for negative codes; places of -1 are missing, or no known category.
    """
    if _is_polars(column):
        text = str(column.dtype).split("(")[0] in {"Categorical", "Enum", "String"}
        if text and all(isinstance(value, str) for value in place):
            import polars  # the column is one of its own

            known = column.cast(polars.Enum(list(place)), strict=False).to_physical()
            places = np.append(np.arange(len(place), dtype=np.int32), np.int32(-1))
            return known.cast(polars.Int32).fill_null(-1).to_numpy(), places
    elif not isinstance(column, np.ndarray):
        kind = column.dtype
        if kind == "category":
            own = column.array
            return own.codes, _places_of(own.categories.tolist(), place)
        if kind == np.dtype(bool):  # NumPy's, which has no missing values
            return column.to_numpy().view(np.int8), _places_of([False, True], place)
    codes, values, _ = factorize(column)
    return codes, _places_of(values, place)


def number_type(column: Any) -> type:
    """The float type that holds the numbers of a column without a loss."""
    kind = column.dtype
    if type(column) is np.ndarray and kind.kind == "f":
        return kind.type
    return np.float32 if str(kind).lower() in _NARROW else np.float64


def plain_numbers(column: Any, name: str) -> np.ndarray:
    """A column as an array of any type of numbers, its own memory where that can be."""
    if getattr(column.dtype, "char", "") in _PLAIN and column.dtype.isnative:
        return column if isinstance(column, np.ndarray) else column.to_numpy()
    return as_numbers(column, name)


def plain_block(X: Any) -> np.ndarray | None:
    """A pandas frame of one type of numbers as a matrix, mostly its own memory, else None."""
    if not hasattr(X, "iloc"):
        return None
    kinds = set(X.dtypes)
    if len(kinds) > 1:
        return None
    kind = kinds.pop()
    return X.to_numpy() if getattr(kind, "char", "") in _PLAIN and kind.isnative else None


def cells_of(X: Any, numbers: list[int]) -> tuple[np.ndarray, type] | None:
    """A small pandas frame as a matrix of objects, read in one step, and its float type.

    A column costs pandas 6 µs, however few rows it has. None where a feature of the given numbers
    is not of a plain type.
    """
    kinds = X.dtypes.tolist()
    chars = {getattr(kinds[feature], "char", "") for feature in numbers}
    if not chars <= _PLAIN:
        return None
    return X.to_numpy(dtype=object), np.float32 if chars <= _NARROW_CHARS else np.float64


def as_numbers(column: Any, name: str) -> np.ndarray:
    """A column as float32 (where nothing is lost) or float64, NaN for missing."""
    if isinstance(column, np.ndarray):
        return column
    kind = str(column.dtype)
    dtype = number_type(column)
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
        refuse_infinity(name)
    return values


def refuse_infinity(name: str) -> None:
    raise ValueError(
        f"Input X contains infinity in column {name}: replace it by a number or by NaN."
    )
