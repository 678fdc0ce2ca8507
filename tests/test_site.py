"""The tools of the site: broken links are found, and its first picture shows what was measured."""

import importlib.util
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def load(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_links_and_anchors_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="b.html#gone"></a><img src="no.png">'
        '<a href="https://example.org/no"></a><a href="#top"></a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="a.html"></a>')
    found = load("check_links").broken(tmp_path)
    assert sorted(found) == ["a.html: #top", "a.html: b.html#gone", "a.html: no.png"]


def test_picture_of_the_front_page_has_the_measured_scores():
    front = load("front")
    limits, scores = front.read("california_housing")
    text = front.RESULTS.read_text(encoding="utf-8").split("## california_housing")[1]
    line = re.search(r"^\| TreeSum \|(.*)$", text, re.MULTILINE)[1]
    assert scores["TreeSum"] == [float(x) for x in re.findall(r"([\d.]+) ±", line)]
    assert limits == sorted(limits) and len(limits) == len(scores["TreeSum"])
    assert front.draw("california_housing").count('<circle class="ours"') == len(limits)
