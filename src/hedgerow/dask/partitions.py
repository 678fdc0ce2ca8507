"""The partitions of Dask arrays and data frames: rows that are read where they lie.

`Part`       one partition: features, targets and weights, none of them computed yet
`parts_of`   the partitions of a training table, which must be cut alike
`predicted`  what a fitted model says of a collection, partition by partition, when it is asked for
"""

from typing import Any, NamedTuple

import dask
import numpy as np
from dask import array as dask_array


class Part(NamedTuple):
    """Features, targets and weights of some neighbouring rows, as Dask's delayed values."""

    X: Any
    y: Any
    weights: Any = None


def is_collection(X: Any) -> bool:
    """Whether it is a Dask array or data frame."""
    return dask.is_dask_collection(X)


def parts_of(X: Any, y: Any, sample_weight: Any) -> tuple[list[Part], list[int] | None]:
    """The partitions of a training table, and how many rows each has where that is known."""
    X, sizes = _features(X)
    given = {"X": _blocks(X)}
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if column is None:
            if name == "y":
                raise ValueError("this estimator requires y to be passed, but the target y is None")
            continue
        if not is_collection(column):
            raise TypeError(
                f"'{name}' is of type {type(column).__name__} and X is a Dask collection: give "
                f"'{name}' as a Dask array or series, cut as X is."
            )
        if isinstance(column, dask_array.Array):
            if column.ndim != 1:
                raise ValueError(f"'{name}' must have one dimension, got {column.ndim}.")
            if sizes is not None and not any(np.isnan(column.chunks[0])):
                if sum(column.chunks[0]) != sum(sizes):
                    raise ValueError(
                        f"X has {sum(sizes)} rows and '{name}' has {sum(column.chunks[0])}: they "
                        "must be equally long."
                    )
                column = column.rechunk((tuple(sizes),))
        given[name] = _blocks(column)
        if len(given[name]) != len(given["X"]):
            raise ValueError(
                f"X has {len(given['X'])} partitions and '{name}' has {len(given[name])}: cut both "
                "alike, such as by taking them from one frame."
            )
    weights = given.get("sample_weight") or [None] * len(given["X"])
    return [Part(*row) for row in zip(given["X"], given["y"], weights, strict=True)], sizes


def _features(X: Any) -> tuple[Any, list[int] | None]:
    """X with whole rows in each block, and the rows of each where these are known."""
    if not isinstance(X, dask_array.Array):
        if not hasattr(X, "columns"):
            raise TypeError(f"X must be a Dask array or data frame, got a {type(X).__name__}.")
        return X, None
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, got an array of shape {X.shape}.")
    X = X.rechunk({1: -1})
    sizes = X.chunks[0]
    return X, None if any(np.isnan(sizes)) else [int(n) for n in sizes]


def _blocks(collection: Any) -> list[Any]:
    return np.ravel(collection.to_delayed()).tolist()


def predicted(model: Any, method: str, X: Any, n_columns: int | None, dtype: Any) -> Any:
    """What a model's method says of each row: a Dask array, or a series or frame of a frame."""
    X, _ = _features(X)
    shape = () if n_columns is None else (n_columns,)
    empty = np.empty((0, *shape), dtype)
    if not isinstance(X, dask_array.Array):
        return X.map_partitions(_said_frame, model, method, empty, meta=_framed(empty, None))
    rows = X.chunks[0]
    how: Any = {"drop_axis": 1, "chunks": (rows,)}
    if shape:
        how = {"chunks": (rows, shape)}
    block: Any = said  # Dask's own types are too narrow
    return X.map_blocks(block, model, method, empty, dtype=empty.dtype, meta=empty, **how)


def said(X: Any, model: Any, method: str, empty: np.ndarray) -> np.ndarray:
    """What a model says of a partition, which may have no rows."""
    return getattr(model, method)(X) if len(X) else empty


def _said_frame(X: Any, model: Any, method: str, empty: np.ndarray) -> Any:
    return _framed(said(X, model, method, empty), X.index)


def _framed(values: np.ndarray, index: Any) -> Any:
    import pandas as pd

    kind = pd.Series if values.ndim == 1 else pd.DataFrame
    return kind(values, index)
