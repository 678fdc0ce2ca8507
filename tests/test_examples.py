"""Every example a reader sees, in the README and in the docstrings, runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hedgerow

README = Path(__file__).parents[1] / "README.md"
MODULES = [
    module.name
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")
    if module.name != "hedgerow._engine"
]


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL))
def test_readme_example_runs(code):
    exec(compile(code, README.name, "exec"), {})


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
