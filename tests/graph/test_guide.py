"""The examples of the guide run and print what it says."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "graph.md"


def test_guide_prints_what_it_says():
    blocks = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) == GUIDE.read_text().count("```python")
    names = {}
    for code, promised in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, GUIDE.name, "exec"), names)
        assert out.getvalue() == promised
