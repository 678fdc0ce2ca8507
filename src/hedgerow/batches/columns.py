"""The columns of one batch, whatever library it comes from: numbers, or codes of categories.

Arrays, pandas and polars frames are read as whole tables are (``hedgerow._columns``); columns of
Arrow tables are read here, text by Arrow's own dictionaries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._columns import (
    as_numbers,
    columns_of,
    factorize,
    is_categorical,
    is_frame,
    names_of,
    number_type,
    refuse_infinity,
    refuse_times,
)


@dataclass(frozen=True)
class Words:
    """A column of categories: codes (-1 for missing) and what they stand for."""

    codes: np.ndarray
    values: list
    ordered: bool  # whether the values have an order of their own


@dataclass(frozen=True)
class Batch:
    """A batch of rows: how many, the names of its columns (None for arrays), and the columns."""

    n_rows: int
    names: list[str] | None
    columns: list[Any]

    def column(self, name: str) -> Any:
        assert self.names is not None
        if name not in self.names:
            raise ValueError(f"a batch has no column {name!r}: it has {', '.join(self.names)}.")
        return self.columns[self.names.index(name)]


def batch_of(given: Any) -> Batch:
    """A frame, an Arrow batch or table, or an array, as its columns."""
    if _is_arrow(given):
        names = [str(name) for name in given.schema.names]
        return Batch(given.num_rows, names, list(given.columns))
    if is_frame(given):
        return Batch(len(given), [str(name) for name in names_of(given)], list(columns_of(given)))
    array = np.asarray(given)
    refuse_times(array)
    if array.ndim != 2:
        raise ValueError(f"a batch must have rows and columns, got an array of {array.shape}.")
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        array = array.astype(np.float64)
    return Batch(len(array), None, list(array.T))


def is_words(column: Any) -> bool:
    """Whether a column's own type says that it holds categories."""
    return _arrow_kind(column) == "words" if _is_arrow(column) else is_categorical(column)


def is_empty_kind(column: Any) -> bool:
    """Whether the type of a column says nothing: all of it is missing."""
    return _is_arrow(column) and str(column.type) == "null"


def words_of(column: Any) -> Words:
    """A column read as categories."""
    if not _is_arrow(column):
        codes, values, _ = factorize(column)
        kind = str(getattr(column, "dtype", ""))
        ordered = not isinstance(column, np.ndarray) and kind.startswith(("category", "Enum"))
        return Words(np.asarray(codes), values, ordered)
    column = _one_array(column)
    ordered = str(column.type).startswith("dictionary")
    if is_empty_kind(column):
        return Words(np.full(len(column), -1), [], False)
    if not ordered:
        column = column.dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Words(codes, column.dictionary.to_pylist(), ordered)


def numbers_of(column: Any, name: str) -> np.ndarray:
    """A column as float32 (where nothing is lost) or float64, NaN for missing; none is infinite."""
    if not _is_arrow(column):
        values = as_numbers(column, name)
        if isinstance(column, np.ndarray) and np.isinf(values).any():
            refuse_infinity(name)
        return values
    if _arrow_kind(column) != "numbers":
        raise ValueError(
            f"Column {name} has type {column.type} and cannot be read as numbers: convert it to "
            "numbers, or to strings or categories to have it read as categories."
        )
    column = _one_array(column)
    narrow = str(column.type) in {"int8", "int16", "uint8", "uint16", "float", "halffloat"}
    if is_empty_kind(column):
        return np.full(len(column), np.nan, dtype=np.float32)
    values = column.to_numpy(zero_copy_only=False)
    values = values.astype(np.float32 if narrow else np.float64, copy=False)
    if np.isinf(values).any():
        refuse_infinity(name)
    return values


def target_values(column: Any) -> np.ndarray | Words:
    """Targets of a batch: an array of numbers, or words."""
    if _is_arrow(column):
        if is_words(column):
            return words_of(column)
        return _one_array(column).to_numpy(zero_copy_only=False)
    if is_words(column) or (isinstance(column, np.ndarray) and column.dtype.kind in "OUSb"):
        return words_of(column)
    if isinstance(column, np.ndarray):
        refuse_times(column)
        return column
    kind = getattr(column.dtype, "kind", "")
    return column.to_numpy() if kind in "iuf" else numbers_of(column, "y")


def is_wide(values: np.ndarray) -> bool:
    return number_type(values) is np.float64


def _is_arrow(given: Any) -> bool:
    return type(given).__module__.startswith("pyarrow")


def _arrow_kind(column: Any) -> str:
    kind = str(column.type)
    if kind.startswith(("string", "large_string", "string_view", "bool", "dictionary")):
        return "words"
    starts = ("int", "uint", "float", "halffloat", "double", "null")
    return "numbers" if kind.startswith(starts) else "other"


def _one_array(column: Any) -> Any:
    if not hasattr(column, "combine_chunks"):
        return column
    whole = column.combine_chunks()
    return whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole


Report = Callable[[int, int], None]  # called with the rows and the bytes that were read so far
