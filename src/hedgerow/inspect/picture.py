"""A tree or decision graph drawn with matplotlib; no system program is needed."""

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from hedgerow.inspect.colours import MIXED, class_colours
from hedgerow.inspect.drawing import Drawing, drawing
from hedgerow.inspect.layout import Layout, lay_out

CHARACTERS = 23  # of a line of text in a node
SMALLEST_FONT = 3.5  # points; below, nodes become dots
LARGEST_FONT = 9.0
EM = 0.56  # mean width of a character, in units of the font size
BOX, DOT = 0.92, 0.6  # widths, as shares of the room of a node


def plot(
    model: Any,
    ax: Any = None,
    *,
    max_depth: int | None = None,
    decimals: int | None = 2,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Any:
    """Draw a fitted tree or decision graph with matplotlib.

    Nodes have the colour of the class with more than half of their training rows, and are blue if
    there is none; in a regressor they are the darker the larger the mean. Rows that pass the test
    of a node go left where the picture has room for it, and along a solid line in any case; the
    others along a dashed one. A node with several parents is drawn once, with a thick border.
    Where texts would be too small to read, nodes are dots.

    Parameters
    ----------
    model : estimator
        Any fitted hedgerow estimator with a `graph_`, or a `member` of a forest.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure that fits the picture by default.
    max_depth : int or None, default=None
        Deepest level drawn; what lies below is summed up in a node.
    decimals : int or None, default=2
        Digits after the point, more where fewer would mislead; None shows all.
    feature_names : sequence of str or None, default=None
        Names to use instead of those seen in `fit`.
    class_names : sequence of str or None, default=None
        Names to use instead of the class labels, in the order of `classes_`.

    Returns
    -------
    ax : matplotlib Axes

    See Also
    --------
    export_dot : The same picture for Graphviz.
    """
    drawn = drawing(model, max_depth, decimals, feature_names, class_names)
    layout = lay_out(drawn.children)
    width, height = layout.width + 1, layout.depth + 1.5  # room for the legend
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ModuleNotFoundError:
            message = "'plot' needs matplotlib: install it with 'pip install matplotlib'."
            raise ModuleNotFoundError(message) from None
        inch = min(1.45, 30 / width)  # of the room of a node
        figure = plt.figure(figsize=(max(width * inch, 3), max(height * max(inch * 0.7, 0.3), 2)))
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    ax.axis("off")
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    font = min(LARGEST_FONT, box.width * 72 / width * BOX / (CHARACTERS * EM))
    _draw_branches(ax, drawn, layout)
    if font >= SMALLEST_FONT:
        _draw_boxes(ax, drawn, layout, font)
    else:
        _draw_dots(ax, drawn, layout, min(box.width * 72 / width, 12))
    _draw_legend(ax, drawn)
    return ax


def _draw_branches(ax: Any, drawn: Drawing, layout: Layout) -> None:
    """Draw each branch as a line, solid for rows that pass the test."""
    for (_, side), route in layout.routes.items():
        x, y = zip(*route, strict=True)
        style = {"linestyle": "-" if side == 0 else (0, (4, 2)), "linewidth": 0.9}
        ax.plot(x, y, color="#777777", zorder=1, solid_capstyle="round", **style)


def _draw_boxes(ax: Any, drawn: Drawing, layout: Layout, font: float) -> None:
    """Draw each node as a box with its text."""
    for node, x in layout.x.items():
        lines = [part for line in drawn.lines(node) for part in _wrap(line)]
        y = layout.layer[node]
        is_shared = node in drawn.model.shared
        ax.text(
            x,
            y,
            # A dollar sign would start mathematics.
            "\n".join(lines).replace("$", r"\$"),
            fontsize=font,
            ha="center",
            va="center",
            color="#1a1a1a",
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": drawn.colours[node],
                "edgecolor": "#1a1a1a" if is_shared else "#77777788",
                "linewidth": 1.6 if is_shared else 0.6,
            },
        )


def _wrap(line: str) -> list[str]:
    """Return a text in lines that fit a node; a sign stays with the number after it."""
    line = re.sub(r"(<=|>=|[<>=*+-]) ", "\\1\xa0", line)
    return textwrap.wrap(line, CHARACTERS, max_lines=3, placeholder=" ...")


def _draw_dots(ax: Any, drawn: Drawing, layout: Layout, room: float) -> None:
    """Draw each node as a dot."""
    nodes = list(layout.x)
    shared = [node in drawn.model.shared for node in nodes]
    ax.scatter(
        [layout.x[node] for node in nodes],
        [layout.layer[node] for node in nodes],
        s=max((DOT * room) ** 2, 1.0),
        c=[drawn.colours[node] for node in nodes],
        edgecolors=["#1a1a1a" if s else "#77777788" for s in shared],
        linewidths=[0.8 if s else 0.3 for s in shared],
        zorder=2,
    )


def _draw_legend(ax: Any, drawn: Drawing) -> None:
    """Name the colours of the classes that are dominant somewhere."""
    names = drawn.model.class_names
    if names is None:
        return
    used = set(drawn.colours.values())
    entries = [*zip(names, class_colours(len(names)), strict=True), ("mixed", MIXED)]
    handles = [
        ax.scatter([], [], marker="s", s=40, c=colour, label=name.replace("$", r"\$"))
        for name, colour in entries
        if colour in used
    ]
    if len(names) <= 10:
        ax.legend(
            handles=handles,
            loc="lower center",
            ncols=max(1, min(len(handles), int(ax.figure.get_figwidth()))),
            frameon=False,
            fontsize=8,
            handletextpad=0.1,
            columnspacing=1.0,
        )
