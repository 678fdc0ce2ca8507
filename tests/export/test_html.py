"""The web page in a browser: it says what the model says, and text of a table stays text."""

import shutil
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from export.models import example, hostile_model

from hedgerow.export import to_html

playwright = pytest.importorskip("playwright.sync_api")

DOCS = Path(__file__).parents[2] / "docs" / "export"
ROW = """() => [...document.querySelectorAll("[data-feature]")]
    .map((input) => [+input.dataset.feature, input.value])"""


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    with playwright.sync_playwright() as driver:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        found = found or driver.chromium.executable_path
        if not found or not Path(found).exists():
            pytest.skip("no Chromium is installed: playwright install chromium")
        chromium = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser, text, folder):
    """The page, and the errors that it raised."""
    (folder / "page.html").write_text(text, encoding="utf-8")
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto((folder / "page.html").as_uri())
    return page, errors


def moved(page, place, value):
    """Set a slider or a list, as a hand does."""
    page.eval_on_selector(
        f"[data-feature='{place}']",
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }",
        str(value),
    )


def test_the_page_answers_as_sliders_move(browser, tmp_path):
    model, X = example("decision-tree-classifier")
    page, errors = opened(browser, to_html(model, name="wood"), tmp_path)
    assert page.title() == "wood" and not errors
    kinds = list(X["kind"].cat.categories)
    row = page.evaluate(ROW)
    assert {place for place, _ in row} <= {0, 1, 2, 3} and len(row) > 1
    seen = set()
    for age in (10, 35, 45, 60):
        for kind in range(len(kinds)):
            for cut in (0, 1):
                for place, value in ((1, age), (2, kind), (3, cut)):
                    if any(known == place for known, _ in row):
                        moved(page, place, value)
            values = dict(page.evaluate(ROW))  # fmt: skip
            frame = X[:1].copy()
            for place, value in values.items():
                name = X.columns[place]
                if name in ("kind", "cut"):
                    known = kinds if name == "kind" else [False, True]
                    value = known[int(value)]
                    frame[name] = pd.Categorical([value], known) if name == "kind" else [value]
                else:
                    frame[name] = float(value)
            said = page.text_content("#said")
            assert said == model.predict(frame)[0]
            seen.add(said)
    assert len(seen) > 1 and not errors


def test_a_number_is_shown_and_a_missing_category_can_be_chosen(browser, tmp_path):
    model, X = example("decision-tree-regressor")
    page, errors = opened(browser, to_html(model), tmp_path)
    assert float(page.text_content("#said")) == pytest.approx(float(page.text_content("#said")))
    for place, name in enumerate(X.columns):
        if name == "kind" and page.query_selector(f"[data-feature='{place}']"):
            moved(page, place, len(X["kind"].cat.categories))
    assert not errors


def test_text_of_the_table_is_never_code(browser, tmp_path):
    name = "<img src=x onerror=alert(1)></script><script>alert(2)</script>{0}"
    text = to_html(hostile_model(), name=name)
    page, errors = opened(browser, text, tmp_path)
    assert page.title() == name and not errors
    assert page.query_selector("img") is None


def test_the_page_of_the_guide_answers(browser, tmp_path):
    page, errors = opened(browser, (DOCS / "adult.html").read_text(), tmp_path)
    said = set()
    for place in range(14):
        slider = page.query_selector(f"input[data-feature='{place}']")
        for end in ("min", "max") if slider else ():
            moved(page, place, slider.get_attribute(end))
            said.add(page.text_content("#said"))
    assert said == {"rich", "poor"} and not errors


def test_the_page_is_well_formed_without_a_browser():
    class Scripts(HTMLParser):
        n = 0

        def handle_starttag(self, tag, attributes):
            self.n += tag == "script"

    parser = Scripts()
    parser.feed(to_html(hostile_model(), name="</title><script>"))
    assert parser.n == 1
