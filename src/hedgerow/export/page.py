"""A model as a web page that answers as one moves its sliders."""

import html
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.columns import columns_read
from hedgerow.export.facts import compared_with, header
from hedgerow.export.javascript import literal, to_javascript
from hedgerow.export.reading import read

_STEPS = 200  # of a slider whose numbers are not whole


def to_html(model: Any, *, name: str = "model") -> str:
    """Write a model as one web page: a slider or a list for each feature, and its answer.

    The page needs no network; it holds the module of `to_javascript`.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
        Its title.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_html
    >>> X, y = load_iris(return_X_y=True)
    >>> text = to_html(DecisionTreeClassifier(max_depth=2).fit(X, y), name="iris")
    >>> "<title>iris</title>" in text
    True
    """
    program = read(model)
    template = (Path(__file__).parent / "templates" / "page.html").read_text()
    return template.format(
        title=html.escape(name),
        about=html.escape("; ".join(header(program, name))),
        module=to_javascript(program, name=name),
        controls=literal(_controls(program)),
    )


def _controls(program: p.Program) -> Any:
    """What can be moved: the features that are read, and the range of their thresholds."""
    wanted = columns_read(program)
    controls = []
    for place, known in enumerate(compared_with(program)):
        if place not in wanted:
            continue
        if program.features[place].categories is not None:
            controls.append([place, 0.0, 0.0, 0.0, 0.0])
            continue
        width = max(float(known.max() - known.min()), 1.0)
        low, high = float(known.min()) - width / 5, float(known.max()) + width / 5
        is_whole = bool((np.rint(2 * known) == 2 * known).all()) and width > 4
        step = 1.0 if is_whole else float(f"{(high - low) / _STEPS:.1g}")
        low, high = np.floor(low / step) * step, np.ceil(high / step) * step
        if known.min() >= 0:
            low = max(low, 0.0)
        controls.append([place, float(low), float(high), step, float(np.median(known))])
    names = ("place", "low", "high", "step", "start")
    return [dict(zip(names, control, strict=True)) for control in controls]
