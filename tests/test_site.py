"""The tools of the site, and what a release says of itself in several places."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import hedgerow
from hedgerow._version import DOCUMENTATION
from hedgerow.cli.reproduce import papers

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PUBLIC = {name: getattr(hedgerow, name) for name in hedgerow.__all__}
ESTIMATORS = [n for n, v in PUBLIC.items() if isinstance(v, type) and issubclass(v, BaseEstimator)]


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


def test_pictures_of_ideas_show_what_their_models_find():
    ideas = load("ideas")
    graphs = ideas.tree_in_tree()
    assert "right: 6 splits." in graphs and "once: 4 splits." in graphs
    assert graphs.count('class="node shared"') == 1  # one node has several parents
    assert "says: 2 different answers" in ideas.deep_forest()
    linear, curved = map(
        int, re.findall(r"\((\d+) % of these rows\)\.<", ideas.decision_tree_embedding())
    )
    assert linear < curved
    axis, oblique = map(int, re.findall(r"(\d+) splits\.<", ideas.mean_margins()))
    assert oblique < axis


def test_each_paper_that_runs_has_a_page_of_its_idea():
    names = {idea.__name__ for idea in load("ideas").IDEAS}
    assert {name.replace("-", "_") for name in papers()} == names
    listed = (DOCS / "papers.md").read_text(encoding="utf-8")
    for name in names:
        page = (DOCS / "ideas" / f"{name}.md").read_text(encoding="utf-8")
        assert f"_made/{name}.html" in page and f"](../papers/{name}.md)" in page
        assert f"reproduce {name.replace('_', '-')}" in page
        assert f":link: ideas/{name}" in listed


def test_a_release_says_one_version_everywhere():
    """It is written in ``hedgerow/_version.py``; the package takes it from there."""
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    assert cited == hedgerow.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == hedgerow.__version__
    offered = json.loads((DOCS / "_static" / "switcher.json").read_text())
    assert hedgerow.__version__ in [version["version"] for version in offered]


def test_the_address_of_the_documentation_is_one():
    with open(ROOT / "pyproject.toml", "rb") as file:
        assert tomllib.load(file)["project"]["urls"]["Documentation"] == DOCUMENTATION


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_picture_of_an_estimator_leads_to_its_page(name):
    cls = PUBLIC[name]
    model = cls(shape=(2, 2)) if name == "MultiGrainedScanner" else cls()
    assert f'href="{DOCUMENTATION}reference/hedgerow.{name}.html"' in model._repr_html_()
