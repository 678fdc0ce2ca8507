"""The examples of the guide run and print what it says, but for what chance moves by a hair."""

import contextlib
import io
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "cascade.md"
NUMBER = re.compile(r"-?\d+\.\d+")


def test_guide_prints_what_it_says():
    blocks = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert blocks
    names = {}
    for code, promised in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, GUIDE.name, "exec"), names)
        printed = out.getvalue()
        assert NUMBER.sub("", printed).split() == NUMBER.sub("", promised).split()
        numbers = [[float(n) for n in NUMBER.findall(text)] for text in (printed, promised)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.1, abs=0.03)
