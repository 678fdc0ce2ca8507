"""The example of the guide runs."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "report.md"


def test_guide_runs():
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names = {}
    for code in blocks:
        exec(compile(code, GUIDE.name, "exec"), names)
    assert names["html"].startswith("<!doctype html>")
