"""The report itself: a summary, and the page that is made of it."""

import json
import os
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

from hedgerow._files import write_text
from hedgerow.comparison.records import UNITS
from hedgerow.comparison.report import charts, still
from hedgerow.comparison.report.svg import human

TEMPLATES = Path(__file__).parent / "templates"


class Report:
    """What a comparison found, as a page for people and as JSON for programs.

    Parameters
    ----------
    summary : dict
        Plain numbers, strings, lists and dicts, as `summarise` makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import hedgerow
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = hedgerow.compare(X, y, models=["hedgerow DecisionTree"], cv=3, progress=False)
    >>> report = found.report()
    >>> report.html().startswith("<!doctype html>")
    True
    """

    def __init__(self, summary: dict[str, Any]):
        self.summary = summary

    def html(self) -> str:
        """Return the page as one self-contained HTML text.

        Returns
        -------
        html : str
        """
        try:
            from jinja2 import Environment, FileSystemLoader, StrictUndefined
        except ModuleNotFoundError:
            message = 'the report needs jinja2; install it with: pip install "hedgerow[report]"'
            raise ModuleNotFoundError(message) from None
        environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["data"] = _script_data
        environment.filters["human"] = human
        page = environment.get_template("report.html")
        return page.render(
            **self.summary,
            charts=charts,
            units=UNITS,
            still=still.draw,
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            script=(TEMPLATES / "graph.js").read_text(encoding="utf-8"),
            copying=(TEMPLATES / "copy.js").read_text(encoding="utf-8"),
        )

    def json(self) -> str:
        """Return the summary as JSON.

        Returns
        -------
        json : str
        """
        return json.dumps(self.summary, allow_nan=False)

    def write_html(self, path: str | os.PathLike) -> None:
        """Write the page to a file, completely or not at all.

        Parameters
        ----------
        path : str or path-like
        """
        write_text(path, self.html())

    def open(self) -> None:
        """Show the page in a browser."""
        folder = Path(tempfile.mkdtemp(prefix="hedgerow-"))
        self.write_html(folder / "report.html")
        webbrowser.open((folder / "report.html").as_uri())

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own so that no style leaks."""
        frame = "width:100%;height:720px;border:1px solid #8884;border-radius:8px"
        return f'<iframe title="Report" srcdoc="{escape(self.html())}" style="{frame}"></iframe>'


def _script_data(value: Any) -> Any:
    """Return JSON that is safe inside a script element, whatever the names in it."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
