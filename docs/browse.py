"""The built site in a real browser: ``python docs/browse.py build/site [folder for pictures]``.

Pages of every kind are opened on a desktop and on a phone, in light and dark: no error in the
console, no broken picture, nothing wider than the window, the contrast of WCAG AA (axe), and the
tab key reaches what can be clicked. Needs playwright, axe-playwright-python and Chromium.
"""

import functools
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

PAGES = {
    "front": "index.html",
    "start": "get_started.html",
    "guide": "graph.html",
    "guides": "user_guide.html",
    "chart": "which_model.html",
    "api": "reference/hedgerow.TreeInTreeClassifier.html",
    "module": "reference/hedgerow.inspect.html",
    "gallery": "examples/index.html",
    "example": "examples/plot_shared_branches.html",
    "benchmark": "benchmarks/sizes.html",
    "paper": "ideas/tree_in_tree.html",
    "anchors": "ideas/decision_tree_embedding.html",
    "layers": "ideas/deep_forest.html",
    "margins": "ideas/mean_margins.html",
    "figures": "papers/tree_in_tree.html",
    "papers": "papers.html",
}
WINDOWS = {"desktop": (1280, 900), "phone": (390, 844)}
# What axe says of the theme's own parts, or of tables that scroll, is not what this looks for.
RULES = {"runOnly": ["color-contrast", "image-alt", "link-name", "button-name", "html-has-lang"]}


class Quiet(SimpleHTTPRequestHandler):
    """A server that does not write a line for every file."""

    def log_message(self, *words: object) -> None:
        """Say nothing."""


def look(page: Page, scheme: str) -> list[str]:
    """What is wrong with an open page."""
    wrong = []
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    page.wait_for_load_state("networkidle")
    for source in page.evaluate(
        "[...document.images].filter(i => i.currentSrc && !i.naturalWidth).map(i => i.currentSrc)"
    ):
        wrong.append(f"broken picture {source}")
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if width[0] > width[1] + 1:
        wrong.append(f"{width[0]} pixels wide in a window of {width[1]}")
    for found in Axe().run(page, options=RULES).response["violations"]:
        for node in found["nodes"][:3]:
            wrong.append(f"{found['id']} ({scheme}): {node['html'][:120]}")
    for _ in range(12):
        page.keyboard.press("Tab")
    if page.evaluate("document.activeElement === document.body"):
        wrong.append("the tab key reaches nothing")
    return wrong


def main(site: str, pictures: str | None = None) -> int:
    """Open the pages; the number of things that are wrong."""
    handler = functools.partial(Quiet, directory=site)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for window, (width, height) in WINDOWS.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                for name, address in PAGES.items():
                    page = context.new_page()
                    said: list[str] = []
                    page.on("console", lambda m, s=said: m.type == "error" and s.append(m.text))
                    page.on("pageerror", lambda error, s=said: s.append(str(error)))
                    page.goto(f"http://127.0.0.1:{server.server_port}/{address}")
                    page.wait_for_load_state("networkidle")
                    if pictures:
                        path = Path(pictures) / f"{name}-{window}-{scheme}.png"
                        page.screenshot(path=path)
                    found = [*said, *look(page, scheme)]
                    wrong += [f"{address}, {window}, {scheme}: {what}" for what in found]
                    page.close()
                context.close()
        browser.close()
    print("\n".join(wrong) or f"{len(PAGES)} pages, two windows, two schemes: nothing wrong")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
