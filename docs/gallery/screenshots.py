"""Pictures of a report, for the README and the gallery: at 1280 pixels, on a phone, and dark.

    hedgerow compare --out results
    python docs/gallery/screenshots.py results/report.html docs/gallery/breast_cancer

writes ``<name>.png`` and, beside it, ``-model``, ``-phone`` and ``-dark``, each below 200 kB. Needs
playwright, Pillow and Chromium.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

LARGEST = 200_000  # bytes
ROW = 3  # of the rows to follow


def save(picture: bytes, path: Path) -> None:
    """Write a PNG with a palette of as many colours as fit into the limit."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in (256, 128, 64, 32):
        image.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            return
    raise ValueError(f"{path} is larger than {LARGEST} bytes.")


def main(report: str, out: str) -> None:
    """Take the pictures of a report."""
    address = Path(report).resolve().as_uri()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(address)
        save(page.screenshot(), Path(f"{out}.png"))
        dark = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="dark")
        dark.goto(address)
        save(dark.screenshot(), Path(f"{out}-dark.png"))
        if page.locator("#model").count():
            page.locator('[data-test="pick"]').select_option(index=ROW)
            save(page.locator("#model").screenshot(), Path(f"{out}-model.png"))
        phone = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=2)
        phone.goto(address)
        save(phone.screenshot(), Path(f"{out}-phone.png"))
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
