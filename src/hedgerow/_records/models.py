"""Estimators as records: their declared parameters and fitted attributes, nothing else.

An estimator is built as its constructor builds it, is given its fitted attributes and makes the
rest again (`Estimator.rebuild`). What it then has is held against what its class declares: rules
of parameters, types, shapes in words, and the sizes that must agree.
"""

import re
import types
import typing
from dataclasses import Field
from dataclasses import fields as declared_fields
from typing import Any

import numpy as np

from hedgerow._estimator import Estimator
from hedgerow._records.container import damaged
from hedgerow._records.values import Codec, Fields, Writer

# What belongs to the machine or the fit, and not to the model.
NOT_STORED = ("n_jobs", "checkpoint", "held_out_")
_SHAPE = re.compile(r"ndarray of shape \(([^)]*)\)")


def model_codec(name: str, cls: type[Estimator]) -> Codec:
    """How an estimator is written and read; the name stays, whatever the class is called."""

    declared = sorted(declared_fields(cls), key=lambda field: field.name)
    parameters = [field.name for field in declared if field.init]
    stored = [name for name in parameters if name not in NOT_STORED]
    attributes = {field.name: field for field in declared if not field.init}
    hints = typing.get_type_hints(cls)

    def encode(model: Estimator, writer: Writer, where: str) -> dict[str, Any]:
        state = model.__getstate__()  # layers of a cascade may be in files
        known = {*parameters, *attributes, *NOT_STORED}
        undeclared = [name for name in state if name[0] != "_" and name not in known]
        if undeclared:
            raise TypeError(f"{where}.{undeclared[0]} is not declared, so no file can hold it.")
        encoded: dict[str, Any] = {
            "parameters": {name: writer.value(state[name], f"{where}.{name}") for name in stored}
        }
        fitted = {
            name: writer.value(state[name], f"{where}.{name}")
            for name in attributes
            if name in state
        }
        return encoded | ({"fitted": fitted} if fitted else {})

    def decode(fields: Fields) -> Estimator:
        given = fields.take_named("parameters")
        if not given.keys() <= set(stored):
            odd = next(iter(given.keys() - set(stored)))
            damaged(f"{cls.__name__} has no parameter {odd[:40]!r}")
        model = cls(**given)  # a parameter that is younger than the file has its default
        model.check_parameters()
        if "fitted" in fields:
            fitted = fields.take_named("fitted")
            if not fitted.keys() <= attributes.keys():
                odd = next(iter(fitted.keys() - attributes.keys()))
                damaged(f"{cls.__name__} has no attribute {odd[:40]!r}")
            model.__dict__.update(fitted)
            _check_attributes(model, attributes, hints)
            model.rebuild()
        return model

    return Codec(name, cls, encode, decode)


def part_codec(name: str, cls: type) -> Codec:
    """How a part of a model is written and read: a dataclass or a named tuple, field by field."""
    hints = typing.get_type_hints(cls)
    optional = {name for name in hints if getattr(cls, name, ...) is None}  # left out if None

    def encode(part: Any, writer: Writer, where: str) -> dict[str, Any]:
        values = {name: getattr(part, name) for name in hints}
        return {
            name: writer.value(value, f"{where}.{name}")
            for name, value in values.items()
            if not (value is None and name in optional)
        }

    def decode(fields: Fields) -> Any:
        given = {}
        for name, hint in hints.items():
            take = fields.take_if_there if name in optional else fields.take
            given[name] = take(name)
            if not _fits(given[name], hint):
                damaged(f"{name!r} of its {fields.name} is a {type(given[name]).__name__}")
        return cls(**given)

    return Codec(name, cls, encode, decode)


def _check_attributes(
    model: Estimator, attributes: dict[str, Field], hints: dict[str, Any]
) -> None:
    """Hold the fitted attributes against their declarations."""
    state, cls = vars(model), type(model).__name__
    known = {size: state.get(f"{size}_") for size in ("n_features_in", "n_classes", "n_outputs")}
    sizes = {size.removesuffix("_in"): n for size, n in known.items() if type(n) is int}
    for name, declared in attributes.items():
        if name not in state:
            if not declared.metadata["optional"]:
                damaged(f"its {cls} lacks {name!r}")
            continue
        if not _fits(state[name], hints[name]):
            damaged(f"{name!r} of its {cls} is a {type(state[name]).__name__}")
        shape = _SHAPE.match(declared.metadata["words"])
        if shape and isinstance(state[name], np.ndarray):
            _check_shape(f"{name!r} of its {cls}", state[name], shape[1], sizes)
    model.check_fitted()


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if hint is None or hint is types.NoneType:
        return value is None
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, option) for option in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if origin is list:
        return type(value) is list and all(_fits(item, inner[0]) for item in value)
    if origin is dict:
        return type(value) is dict and all(
            _fits(key, inner[0]) and _fits(item, inner[1]) for key, item in value.items()
        )
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return type(value) is tuple and all(_fits(item, inner[0]) for item in value)
        return type(value) is tuple and len(value) == len(inner) and all(map(_fits, value, inner))
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return isinstance(value, hint)


def _check_shape(where: str, array: np.ndarray, words: str, sizes: dict[str, int]) -> None:
    """Compare an array with a shape in words; a size that has a name is the same everywhere."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    if len(named) != array.ndim:
        damaged(f"{where} has {array.ndim} dimensions")
    for word, size in zip(named, array.shape, strict=True):
        expected = int(word) if word.isdigit() else sizes.setdefault(word, size)
        if word.isidentifier() and expected != size:
            damaged(f"{where} has another size")
