"""The examples of the README and of every guide run, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "```python" in path.read_text(encoding="utf-8")
]
# Where chance, or another release of a library, moves a score by a hair.
ROUGH = {"README.md", "cascade.md", "compression.md", "forest.md", "uncertainty.md"}
EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")


def test_the_guides_are_found():
    assert {"README.md", "comparison.md", "tree.md", "graph.md"} <= {path.name for path in GUIDES}


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_guide_prints_what_it_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    examples = EXAMPLE.findall(text)
    assert len(examples) == text.count("```python")
    names = {}
    for code, promised in examples:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, path.name, "exec"), names)
        printed = out.getvalue()
        if path.name in ROUGH:
            numbers = [[float(n) for n in NUMBER.findall(said)] for said in (printed, promised)]
            assert numbers[0] == pytest.approx(numbers[1], rel=0.1, abs=0.03)
            printed, promised = (NUMBER.sub("#", said).split() for said in (printed, promised))
        assert printed == promised
