"""Monotone constraints of sums: which way predictions may go with a feature."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow._parameters import Rule, is_int, refuse
from hedgerow._table import Table


def _check(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, Mapping):
        directions = list(value.values())
        if not all(isinstance(key, str) for key in value):
            refuse(name, "a dict from names of features to -1, 0 or 1", value)
    elif isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        directions = list(value)
    else:
        refuse(name, "None, a list with -1, 0 or 1 for each feature, or a dict of names", value)
    if not all(is_int(direction) and -1 <= direction <= 1 for direction in directions):
        refuse(name, "made of -1 (falling), 0 (free) and 1 (rising)", value)


DIRECTIONS = Rule("list of int, dict or None", _check)


def directions_of(given: Any, table: Table) -> list[int]:
    """The direction of each feature of a table, or nothing where all are free."""
    if given is None:
        return []
    names, directions = table.schema.feature_names, [0] * table.n_features
    if isinstance(given, Mapping):
        for name, direction in given.items():
            if names is None or name not in names:
                raise ValueError(f"'monotonic_cst' names {name!r}, which X does not have.")
            directions[names.index(name)] = int(direction)
    elif len(given) != table.n_features:
        raise ValueError(
            f"'monotonic_cst' has {len(given)} entries, X has {table.n_features} features."
        )
    else:
        directions = [int(direction) for direction in given]
    if not any(directions):
        return []
    if table.n_classes > 2:
        raise ValueError("'monotonic_cst' needs numbers or two classes, got several classes.")
    for feature in table.categories:
        if directions[feature]:
            raise ValueError(
                f"'monotonic_cst' gives feature {feature} a direction, which is categorical."
            )
    return directions
