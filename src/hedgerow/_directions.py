"""Monotone constraints: which way predictions may go with a feature.

The messages are scikit-learn's where it refuses the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow._parameters import Rule
from hedgerow._table import Table


def _check(name: str, value: Any) -> None:
    if value is None:
        return
    by_name = isinstance(value, Mapping)
    directions = np.asarray(list(value.values()) if by_name else value)
    if by_name and not all(isinstance(key, str) for key in value):
        raise ValueError(f"{name} must have names of features as its keys, got {value!r}.")
    is_number = directions.dtype.kind in "iuf"
    if directions.ndim != 1 or not is_number or not np.isin(directions, (-1, 0, 1)).all():
        raise ValueError(
            f"{name} must be None or an array-like of -1, 0 or 1, or a dict of them by names of "
            f"features, got {value!r}."
        )


DIRECTIONS = Rule("array-like of int, dict or None", _check)
DIRECTIONS_TEXT = (
    "1 where the prediction must not fall as a feature rises, -1 where it must not rise, 0 where "
    "it is free: for each feature, or a dict by name. For numbers and, as the probability of the "
    "second class, for two classes."
)


def directions_of(given: Any, table: Table) -> list[int]:
    """The direction of each feature of a table, or nothing where all are free."""
    if given is None:
        return []
    if table.n_outputs > 1:
        raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
    names, directions = table.schema.feature_names, [0] * table.n_features
    if isinstance(given, Mapping):
        for name, direction in given.items():
            if names is None or name not in names:
                raise ValueError(f"monotonic_cst names {name!r}, which X does not have.")
            directions[names.index(name)] = int(direction)
    elif len(given) != table.n_features:
        raise ValueError(
            f"monotonic_cst has shape {len(given)} but the input data X has {table.n_features} "
            "features."
        )
    else:
        directions = [int(direction) for direction in given]
    if not any(directions) or table.n_classes == 1:
        return []
    if table.n_classes > 2:
        raise ValueError(
            "Monotonicity constraints are not supported with multiclass classification: y has "
            f"{table.n_classes} classes."
        )
    for feature in table.categories:
        if directions[feature]:
            raise ValueError(
                f"monotonic_cst gives feature {feature} a direction, which is categorical: "
                "categories have no order."
            )
    return directions
