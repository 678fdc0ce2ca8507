"""What a model remembers of its training table, as a record."""

from typing import Any

import numpy as np

from hedgerow._records.container import damaged
from hedgerow._records.values import Codec, Fields, Writer
from hedgerow._table import Schema


def _encode(schema: Schema, writer: Writer, where: str) -> dict[str, Any]:
    record = {
        "n_features": schema.n_features,
        "names": schema.feature_names,
        "categories": [
            [feature, writer.value(list(values), where)]
            for feature, values in sorted(schema.categories.items())
        ],
        "missing": sorted(schema.missing),
    }
    return record | {"times": sorted(schema.times)} if schema.times else record


def _decode(fields: Fields) -> Schema:
    n_features = fields.take("n_features", int)
    names = fields.take("names", list | None)
    categories: dict[int, list] = {}
    for feature, values in fields.take("categories", list):
        categories[_feature(feature, n_features)] = values
        if not isinstance(values, list) or not all(
            isinstance(value, str | bool | int | float | np.generic) for value in values
        ):
            damaged("a category of its schema is none")
    missing = [_feature(feature, n_features) for feature in fields.take("missing", list)]
    if names is not None and (
        len(names) != n_features or not all(isinstance(name, str) for name in names)
    ):
        damaged("its schema names other features than it has")
    times = [_feature(f, n_features) for f in fields.take_if_there("times", list) or []]
    return Schema(names, n_features, categories, frozenset(missing), frozenset(times))


def _feature(feature: Any, n_features: int) -> int:
    if type(feature) is not int or not 0 <= feature < n_features:
        damaged("a feature of its schema is out of range")
    return feature


CODECS = [Codec("schema", Schema, _encode, _decode, is_shared=True)]
