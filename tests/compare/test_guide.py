"""The examples of the guide run and print what it says."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "compare.md"


def test_guide_prints_what_it_says():
    blocks = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert blocks
    names = {}
    for code, printed in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, GUIDE.name, "exec"), names)
        assert out.getvalue() == printed
