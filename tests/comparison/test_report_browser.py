"""The report in a real browser: Chromium, driven by Playwright.

A Chromium that is installed is used. Where there is none, Playwright's own is fetched, or, as root
on a system with ``apt-get``, the system's; where that fails too, these tests are skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.comparison.report import Report
from hedgerow.comparison.report.model import describe

playwright = pytest.importorskip("playwright.sync_api")

NAMES = ["mixed", "digits", "diabetes"]
WIDTHS = [360, 768, 1280]
COMMANDS = [
    [sys.executable, "-m", "playwright", "install", "chromium"],
    ["apt-get", "update"],
    ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
]

# Pairs of visible texts whose boxes overlap by more than a hair.
OVERLAPS = """() => {
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest('script, style, title, option, .skip, .sr')) continue;
    if (!parent.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const inSvg = parent.closest('svg') !== null;
    for (const box of inSvg ? [parent.getBoundingClientRect()] : range.getClientRects()) {
      let {left, top, right, bottom} = box;
      for (let around = parent; around; around = around.parentElement) {
        if (getComputedStyle(around).overflowX === 'visible' || around === document.body) continue;
        const clip = around.getBoundingClientRect();
        left = Math.max(left, clip.left); right = Math.min(right, clip.right);
        top = Math.max(top, clip.top); bottom = Math.min(bottom, clip.bottom);
      }
      const isSeen = right - left > 2 && bottom - top > 2;
      if (isSeen) boxes.push([node.data.trim(), left, top, right, bottom, node]);
    }
  }
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [a, b] = [boxes[i], boxes[j]];
    const width = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
    const height = Math.min(a[4], b[4]) - Math.max(a[2], b[2]);
    const least = Math.min(a[4] - a[2], b[4] - b[2]);
    if (a[5] !== b[5] && width > 2 && height > 0.3 * least) found.push(`${b[0]} / ${a[0]}`);
  }
  return found;
}"""


def find_chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    with playwright.sync_playwright() as driver:

        def installed():
            found = find_chromium() or driver.chromium.executable_path
            return found if found and Path(found).exists() else None

        problem = "none is installed"
        for command in COMMANDS:
            if installed():
                break
            if command[0] == "apt-get" and (os.geteuid() != 0 or not shutil.which("apt-get")):
                break
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=150)
            except (subprocess.SubprocessError, OSError) as error:
                problem = f"{' '.join(command[-3:])} failed: {type(error).__name__}"
        if not installed():
            pytest.skip(f"no Chromium to look at the report with ({problem})")
        options = {"executable_path": installed(), "args": ["--no-sandbox"]}
        chromium = driver.chromium.launch(**options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def files(report_of, tmp_path_factory):
    """Function that gives report and address of a comparison, written once."""
    folder = tmp_path_factory.mktemp("reports")
    made = {}

    def get(name):
        if name not in made:
            report = report_of(name)
            report.write_html(folder / f"{name}.html")
            made[name] = report, (folder / f"{name}.html").as_uri()
        return made[name]

    return get


@pytest.fixture
def visit(browser, files):
    """Function that opens a report, and fails at the end if the page complained."""
    complaints, contexts = [], []

    def get(name, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
        page.goto(name if name.startswith("file:") else files(name)[1])
        return page

    yield get
    for context in contexts:
        context.close()
    assert not complaints


def part(page, name):
    return page.locator(f'[data-test="{name}"]')


def lit(page):
    nodes = page.locator(".node.lit")
    return sorted(nodes.evaluate_all("all => all.map(node => Number(node.dataset.node))"))


def scale(page):
    return float(part(page, "canvas").get_attribute("data-scale"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_overlaps_and_nothing_is_wider_than_the_page(name, width, visit):
    page = visit(name, width)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    part(page, "pick").select_option(index=1)
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_hides_no_column_at_the_side(name, visit):
    page = visit(name, 390)
    hidden = page.locator(".scroll:visible").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)"
    )
    assert hidden == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nodes_say_feature_and_number_uncut(width, visit, files):
    nodes = files("digits")[0].summary["model"]["nodes"]
    page = visit("digits", width)
    for k in range(3):
        said = page.locator(f'.node[data-node="{k}"] .label').all_text_contents()
        name, test = nodes[k]["yes"].split(" ", 1)
        assert said == [name, test, f"{nodes[k]['rows']} rows"]


@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_a_row_lights_up_as_the_model_goes(name, visit, files, request):
    summary = files(name)[0].summary["model"]
    comparison = request.getfixturevalue(name)
    model = comparison.fit(summary["name"])
    rows = [row["row"] for row in summary["rows"]]
    path = model.decision_path(comparison.X.iloc[rows])
    number = {node["id"]: i for i, node in enumerate(summary["nodes"])}
    page = visit(name)
    for k in range(len(rows)):
        part(page, "pick").select_option(index=k + 1)
        assert lit(page) == sorted(number[node] for node in path[[k]].indices)
    assert page.locator(".branch.lit").count() == len(lit(page)) - 1
    predicted = str(model.predict(comparison.X.iloc[[rows[-1]]])[0])
    if comparison.task == "classification":
        assert f"Predicts {predicted}." in part(page, "outcome").inner_text()


def test_a_typed_value_changes_the_path(visit, files):
    model = files("mixed")[0].summary["model"]
    page = visit("mixed")
    part(page, "pick").select_option(index=1)
    root = model["nodes"][0]
    field = page.locator(f"#feature-{root['feature']}")
    assert "at" in root
    for value, child in ((root["at"] - 1, 0), (root["at"] + 1, 1)):
        field.fill(str(value))
        assert root["children"][child] in lit(page)
    field.fill("")  # missing
    assert root["children"][0 if root["missing"] else 1] in lit(page)
    field.fill("seven")
    assert field.get_attribute("aria-invalid") == "true"


def test_zoom_and_pan(visit):
    page = visit("digits")
    canvas = part(page, "canvas")
    before = scale(page)
    page.get_by_label("Zoom in").click()
    assert scale(page) == pytest.approx(1.4 * before, rel=1e-3)
    canvas.scroll_into_view_if_needed()
    canvas.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, 200)
    page.keyboard.up("Control")
    page.wait_for_function(f"document.querySelector('[data-test=canvas]').dataset.scale < {before}")
    page.get_by_label("Show everything that is open").click()
    assert scale(page) == pytest.approx(before, rel=1e-3)
    world = canvas.locator("> g")
    place = world.get_attribute("transform")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + box["height"] - 60, steps=4)
    page.mouse.up()
    assert world.get_attribute("transform") != place


def test_the_wheel_alone_scrolls_the_page(visit):
    page = visit("digits")
    part(page, "canvas").hover()
    before = scale(page)
    top = page.evaluate("scrollY")
    page.mouse.wheel(0, 300)
    page.wait_for_function(f"scrollY > {top}")
    assert scale(page) == before


def test_a_text_of_the_export_is_copied_as_it_is(visit, files):
    page = visit("mixed")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first = part(page, "export-text").first
    first.locator("summary").click()
    first.get_by_role("button", name="Copy").click()
    first.get_by_role("button", name="Copied").wait_for()
    expected = files("mixed")[0].summary["exports"][0]["text"]
    assert page.evaluate("() => navigator.clipboard.readText()") == expected


def test_nodes_open_close_and_are_read_by_keyboard(visit):
    page = visit("digits")
    root = page.locator('.node[data-node="0"]')
    count = page.locator(".node").count()
    root.focus()
    page.keyboard.press("Enter")
    assert page.locator(".node").count() == 1
    assert root.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert page.locator(".node").count() == count
    page.keyboard.press("ArrowDown")
    left = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowRight")
    right = page.evaluate("document.activeElement.dataset.node")
    assert left != right
    assert "rows" in part(page, "detail").inner_text()
    assert "Rule" in part(page, "detail").inner_text()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    assert "rows" in root.get_attribute("aria-label")
    before = scale(page)
    page.keyboard.press("+")
    assert scale(page) > before


def test_boxes_of_a_former_drawing_do_nothing(visit):
    """A click draws anew; events on what was there before leave no complaint."""
    page = visit("digits")
    page.evaluate("""() => {
      for (const box of [...document.querySelectorAll('.node')]) {
        box.dispatchEvent(new FocusEvent('focus'));
        box.dispatchEvent(new MouseEvent('click'));
      }
    }""")
    assert page.locator(".node").count() == 1  # the click on the root closed it


@pytest.mark.parametrize("options", [{"java_script_enabled": False}, {}])
def test_without_script_and_on_paper_there_are_still_pictures(options, visit):
    page = visit("mixed", **options)
    if not options:
        assert not page.locator(".still").is_visible()
        page.emulate_media(media="print")
    assert page.locator(".still svg").is_visible()
    assert not page.locator("#viewer").is_visible()
    assert page.locator("svg.chart").count() >= 8
    assert page.locator(".still .box").count() > 5


def test_a_large_tree_opens_as_dots(visit, files, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 6)), rng.integers(0, 4, 4000)
    tree = hedgerow.DecisionTreeClassifier().fit(X, y)
    model = {"name": "large", "why": "", "score": 0.5} | describe(tree, X, y, None, 0)
    assert len(model["nodes"]) > 2000
    Report(files("mixed")[0].summary | {"model": model}).write_html(tmp_path / "large.html")
    page = visit((tmp_path / "large.html").as_uri())
    assert 5 < page.locator(".node").count() < 40
    page.get_by_label("Open all nodes").click()
    assert page.locator(".node").count() == len(model["nodes"])
    assert page.locator(".node .label").count() == 0
    part(page, "pick").select_option(index=2)
    assert len(lit(page)) > 5
    page.get_by_label("Show the upper part again").click()
    assert page.locator(".node .label").count() > 10


class SmallGraph:
    """A graph of three tests in which node 4 has two parents, and a table for it."""

    classes_ = np.array(["a", "b"])

    def __init__(self):
        n = 6
        inner = [1, 1, 1, 0, 0, 0]
        self.graph_ = hedgerow._engine.DecisionGraph.from_arrays(
            {
                "format": 1,
                "n_features": 2,
                "n_outputs": 2,
                "kind": np.array(inner, np.uint8),
                "missing_left": np.zeros(n, np.uint8),
                "feature": np.array([0, 1, 1, -1, -1, -1], np.int32),
                "left": np.array([1, 3, 4, -1, -1, -1], np.int32),
                "right": np.array([2, 4, 5, -1, -1, -1], np.int32),
                "detail": np.full(n, -1, np.int32),
                "threshold": np.zeros(n),
                "n_samples": np.array([100, 50, 50, 25, 50, 25], np.int32),
                "weight": np.array([100, 50, 50, 25, 50, 25], float),
                "impurity": np.zeros(n),
                "value": np.array([0.5, 0.5] * 3 + [1, 0, 0, 1, 1, 0], float),
                "category_words": np.empty(0, np.uint64),
                "category_start": np.zeros(1, np.uint32),
                "oblique_feature": np.empty(0, np.int32),
                "oblique_category": np.empty(0, np.int32),
                "oblique_weight": np.empty(0),
                "oblique_centre": np.empty(0),
                "oblique_start": np.zeros(1, np.uint32),
            }
        )
        self.schema_ = SimpleNamespace(
            feature_names=["u", "v"], categories={}, missing=set(), encode=lambda model, X: X
        )


def test_a_shared_node_is_drawn_once_and_lit_from_both_sides(visit, files, tmp_path):
    X = np.array([[-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    model = describe(SmallGraph(), X, np.array(["b", "b", "a"]), None, 0)
    assert model["n_shared"] == 1
    model |= {"name": "graph", "why": "", "score": 0.5}
    Report(files("mixed")[0].summary | {"model": model}).write_html(tmp_path / "graph.html")
    page = visit((tmp_path / "graph.html").as_uri())
    assert page.locator(".node").count() == 6
    assert page.locator(".node .box.shared").count() == 1
    assert page.locator(".branch").count() - page.locator(".still .branch").count() == 6
    shared = next(i for i, node in enumerate(model["nodes"]) if node.get("shared"))
    for k in (1, 2):
        part(page, "pick").select_option(index=k)
        assert shared in lit(page)
    part(page, "pick").select_option(index=3)
    assert shared not in lit(page)


def test_the_first_view_of_a_deep_model_can_be_read(visit, files, tmp_path):
    rng = np.random.default_rng(0)
    X = np.arange(2000.0)[:, None]
    tree = hedgerow.DecisionTreeRegressor().fit(X, X[:, 0] ** 9 + rng.normal(size=2000))
    assert tree.get_depth() > 12
    model = {"name": "deep", "why": "", "score": 0.5} | describe(tree, X, X[:, 0], None, 0)
    Report(files("diabetes")[0].summary | {"model": model}).write_html(tmp_path / "deep.html")
    for width in WIDTHS:
        page = visit((tmp_path / "deep.html").as_uri(), width)
        assert page.locator(".node").count() >= 7
        assert page.locator(".viewer .label.strong").first.is_visible()
        heights = page.locator(".viewer .label").evaluate_all(
            "all => all.map(t => t.getBoundingClientRect().height)"
        )
        assert min(heights) > 7  # pixels


def test_categories_that_are_tested_twice_are_one_line(visit, files, tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.choice(list("abcdef"), 3000)
    X = pd.DataFrame({"kind": pd.Categorical(kinds)})
    y = pd.Series(kinds).map(dict(zip("abcdef", [1, 20, 300, 4000, 50_000, 600_000], strict=True)))
    tree = hedgerow.DecisionTreeRegressor().fit(X, y)
    model = {"name": "kinds", "why": "", "score": 0.5} | describe(tree, X, y.to_numpy(), None, 0)
    Report(files("diabetes")[0].summary | {"model": model}).write_html(tmp_path / "kinds.html")
    page = visit((tmp_path / "kinds.html").as_uri())
    for k in range(5):
        part(page, "pick").select_option(index=k + 1)
        lines = part(page, "detail").locator("ol li").all_inner_texts()
        row = model["rows"][k]
        label = model["features"][0]["labels"][row["values"][0]]
        assert lines == [f"kind = {label}"]


def test_repeated_tests_of_a_path_are_one_line(visit):
    page = visit("digits")
    page.evaluate("document.querySelector('[data-test=pick]').selectedIndex = 1")
    page.locator("[data-test=pick]").dispatch_event("change")
    lines = part(page, "detail").locator("ol li").all_inner_texts()
    names = [
        line.replace(" <= ", " ").replace(" < ", " ").replace(" > ", " ").split() for line in lines
    ]
    tested = [next(word for word in words if word.startswith("pixel")) for words in names]
    assert len(tested) == len(set(tested))
