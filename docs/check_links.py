"""Every link inside the built site leads somewhere: ``python docs/check_links.py build/site``.

Pages, pictures, scripts and anchors are checked; addresses elsewhere are not, because a test must
not need the network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchors of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """The links that lead nowhere, as 'page: link'."""
    paths = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            known = pages.get(target)
            if not target.exists() or (anchor and known and anchor not in known.anchors):
                found.append(f"{path.relative_to(site)}: {link}")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return found


if __name__ == "__main__":
    if lost := broken(Path(sys.argv[1]).resolve()):
        sys.exit("\n".join([*sorted(set(lost)), f"{len(lost)} broken links"]))
