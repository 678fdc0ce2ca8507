"""Targets and weights as the engine takes them, or a message that says why not."""

import numbers
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from hedgerow._columns import count_rows

LARGEST = 1e100  # of numbers whose squares are summed


class SparseTargetsError(TypeError, ValueError):
    """Sparse targets: scikit-learn's trees raise the one, its forests the other."""


def read_targets(
    y: Any, *, has_classes: bool, many_outputs: bool = False
) -> tuple[np.ndarray, Any]:
    """The targets as the engine takes them, and the classes.

    Classes are an array, or a list of them for several outputs, or None for numbers.
    """
    if issparse(y):
        raise SparseTargetsError("sparse multilabel-indicator for y is not supported.")
    y = check_array(
        y, ensure_2d=False, dtype=None, ensure_min_samples=0, allow_nd=True, input_name="y"
    )
    if y.dtype.kind in "mM":
        raise TypeError(f"y has type {y.dtype}: give times as numbers, such as seconds.")
    if y.ndim == 2 and y.shape[1] != 1:
        if not many_outputs:
            raise ValueError(
                f"y has {y.shape[1]} outputs, and this model takes one: fit a model for each, as "
                "sklearn.multioutput does, or take a decision tree, a forest or a bag of trees."
            )
    elif y.ndim != 1:
        y = column_or_1d(y, warn=True)
    if has_classes and y.ndim == 2:
        columns = [np.array(c.tolist()) for c in y.T] if y.dtype == object else y.T
        read = [_read_classes(column) for column in columns]
        return np.column_stack([codes for codes, _ in read]), [classes for _, classes in read]
    if has_classes:
        return _read_classes(y)
    if y.dtype != np.float64:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    y = np.ascontiguousarray(y)
    check_magnitude("y", y)
    return y, None


def _read_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's class as int32, and the sorted classes."""
    is_discrete = y.dtype.kind in "biuU"
    if not is_discrete:
        check_classification_targets(y)
    classes, codes = encode_labels(y)
    # scikit-learn takes 0.2 ms, half of the fit of a small tree, and refuses no such labels: it
    # only warns where most rows have a class of their own.
    if is_discrete and 2 * len(classes) > len(y):
        check_classification_targets(y)
    return codes, classes


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and each row's class as int32."""
    if y.dtype != object:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int32)
    # Sorting all labels as objects, as np.unique does, took more time than growing the tree.
    labels = y.tolist()
    try:
        classes = np.array(sorted(set(labels)), dtype=object)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"The labels in y are of several types ({', '.join(kinds)}): make them all strings or "
            "all numbers, and drop the rows without a label."
        ) from None
    place = {label: code for code, label in enumerate(classes)}
    return classes, np.fromiter(map(place.__getitem__, labels), dtype=np.int32, count=len(labels))


def side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    """The columns of several outputs as one array; words and numbers stay what they are."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def same_classes(some: Any, others: Any) -> bool:
    """Whether the classes of two tables are the same, as :func:`read_targets` gives them."""
    lists = isinstance(some, list), isinstance(others, list)
    if any(lists):
        return all(lists) and len(some) == len(others) and all(map(same_classes, some, others))
    return np.array_equal(() if some is None else some, () if others is None else others)


def check_targets_match(X: Any, y: np.ndarray) -> None:
    n_rows = count_rows(X)
    if n_rows != len(y):
        raise ValueError(f"X has {n_rows} rows and y has {len(y)}: they must be equally long.")


def check_magnitude(
    name: str, values: np.ndarray, most: float = LARGEST, remedy: str | None = None
) -> None:
    """Refuse numbers whose weighted squares would overflow when they are summed.

    What is missing is passed over.
    """
    if not values.size:
        return
    largest = float(max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)))
    if largest > most:
        raise ValueError(
            f"{name} holds numbers up to {largest:g}: sums of their squares overflow beyond "
            f"{most:g}; {remedy or f'divide {name} by a constant'}."
        )


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights as float64, or None; they must be finite, non-negative and not all zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_rows, sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row."
        )
    if (weights < 0).any():
        raise ValueError(
            "Negative values in data passed to `sample_weight`: "
            f"got {weights.min():g} at row {weights.argmin()}."
        )
    check_magnitude("'sample_weight'", weights)
    if not weights.any():
        raise ValueError("'sample_weight' is zero for every row: there is nothing to learn from.")
    return weights
