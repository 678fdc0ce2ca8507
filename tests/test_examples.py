"""Every example of a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import hedgerow

MODULES = [
    module.name
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")
    if module.name != "hedgerow._engine"
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
