"""Every parameter of every estimator, tried with every odd value.

A value is either refused by name, or the words of the parameter allow it and a fit with it works.
"""

import inspect
import re
import warnings
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import check_random_state

import hedgerow

ESTIMATORS = {
    name: getattr(hedgerow, name)
    for name in hedgerow.__all__
    if inspect.isclass(getattr(hedgerow, name))
    and issubclass(getattr(hedgerow, name), BaseEstimator)
}
SMALL = {
    "n_estimators": 3,
    "n_trees": 3,
    "max_layers": 1,
    "encoding_depth": 2,
    "output_depth": 2,
    "random_state": 0,
}
ODD_VALUES = [
    None,
    True,
    False,
    "x",
    "",
    b"x",
    -1,
    0,
    1,
    3,
    0.5,
    1.5,
    -0.5,
    np.nan,
    -np.inf,
    np.inf,
]
ODD_VALUES += [np.bool_(True), np.int64(2), np.float32(0.5), 1j, [1.5], {}, set(), object]
ODD_VALUES += [np.array([0.5, 2]), -(10**18), 10**18, 10**400, np.uint64(2**64 - 1), ("a", "b")]

X = np.round(np.random.default_rng(0).normal(size=(40, 3)), 2)
CLASSES = (X[:, 0] + X[:, 1] > 0).astype(int)
NUMBERS = X[:, 0] + X[:, 1] ** 2

CASES = [(name, field.name) for name, kind in ESTIMATORS.items() for field in fields(kind)
         if field.init]  # fmt: skip


def words_allow(words: str, value: object) -> bool:
    """Whether the words that document a parameter cover a value."""
    if isinstance(value, str) and f'"{value}"' in words:
        return True
    plain = set(re.findall(r"[A-Za-z_]+", re.sub(r'"[^"]*"', "", words)))
    is_bool = isinstance(value, bool | np.bool_)
    is_int = isinstance(value, int | np.integer) and not is_bool
    is_real = is_int or (isinstance(value, float | np.floating) and not is_bool)
    return (
        (value is None and "None" in plain)
        or (is_bool and bool({"bool", "verbose"} & plain))
        or (is_int and bool({"int", "float"} & plain))
        or (is_real and "float" in plain)
        or (isinstance(value, dict) and "dict" in plain)
        or (
            isinstance(value, list | tuple | np.ndarray) and bool({"list", "tuple", "path"} & plain)
        )
        or (isinstance(value, str) and bool({"path", "str"} & plain))
        or (callable(value) and "callable" in plain)
    )


def test_parameters_are_the_constructor():
    for kind in ESTIMATORS.values():
        declared = {field.name for field in fields(kind) if field.init}
        assert declared == set(kind().get_params(deep=False))
        assert list(inspect.signature(kind).parameters)


def test_every_parameter_and_attribute_is_documented():
    for kind in ESTIMATORS.values():
        doc = inspect.getdoc(kind)
        for field in fields(kind):
            assert re.search(rf"^{field.name} : .", doc, re.MULTILINE), (kind, field.name)
            assert not field.init or field.metadata["text"], (kind, field.name)


@pytest.mark.parametrize(("estimator", "parameter"), CASES)
def test_odd_values_are_refused_by_name_or_documented(estimator, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = ESTIMATORS[estimator]
    known = kind().get_params(deep=False)
    words = next(f.metadata["rule"].words for f in fields(kind) if f.name == parameter)
    for value in ODD_VALUES:
        changed = {k: v for k, v in SMALL.items() if k in known} | {parameter: value}
        model = kind(**changed)
        y = NUMBERS if is_regressor(model) else CLASSES
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)
        except (ValueError, TypeError, NotImplementedError) as error:
            assert parameter in str(error), (value, error)
        else:
            if parameter == "random_state":
                check_random_state(value)
            elif not (parameter == "verbose" and isinstance(value, bool | np.bool_)):
                assert words_allow(words, value), f"{value!r} is accepted as {words}"
