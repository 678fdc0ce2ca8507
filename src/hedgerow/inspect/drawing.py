"""What is drawn of a tree or decision graph: the nodes, their colours and their texts.

Both pictures, `export_dot` and `plot`, start from the `Drawing` made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.inspect.colours import node_colours
from hedgerow.inspect.reading import Reading, read
from hedgerow.inspect.wording import fraction, rows_text


@dataclass(frozen=True)
class Drawing:
    """The upper levels of a model, ready to be drawn.

    Attributes
    ----------
    model : Reading
    children : dict of int to tuple of int
        The nodes to draw and their children; none for leaves and where the drawing ends.
    colours : dict of int to str
    """

    model: Reading
    children: dict[int, tuple[int, ...]]
    colours: dict[int, str]

    def lines(self, node: int) -> list[str]:
        """Return the lines of text inside a node."""
        model = self.model
        rows = [rows_text(model.rows[node])] if model.rows[0] else []
        if not model.is_leaf(node):
            if self.children[node]:
                return [model.question(node), *rows]
            return [f"... {model.below(node)}", *rows]
        if model.class_names is not None:
            rows.insert(0, f"p = {fraction(model.value(node).max(), model.words.decimals)}")
        return [model.outcome(node), ", ".join(rows)] if rows else [model.outcome(node)]

    def answer(self, node: int, side: int) -> str:
        """Return the text of a branch: side 0 passed the test."""
        text = ("yes", "no")[side]
        left = bool(self.model.missing_left[node])
        if not self.model.words.mention_missing or node in self.model.oblique:
            return text
        return f"{text}, missing" if left == (side == 0) else text


def drawing(
    model: Any,
    max_depth: int | None,
    decimals: int | None,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    max_terms: int = 4,
) -> Drawing:
    """Return what is drawn of a model: all nodes, or those at most `max_depth` tests away."""
    if max_depth is not None and (
        isinstance(max_depth, bool) or not isinstance(max_depth, int | np.integer) or max_depth < 1
    ):
        raise ValueError(f"'max_depth' must be a positive int or None, got {max_depth!r}.")
    names = {"feature_names": feature_names, "class_names": class_names}
    found = read(model, decimals=decimals, max_terms=max_terms, **names)
    children: dict[int, tuple[int, ...]] = {}
    level, depth = [0], 0
    while level:
        for node in level:
            children[node] = () if depth == max_depth else found.children(node)
        level = list(dict.fromkeys(c for n in level for c in children[n] if c not in children))
        depth += 1
    drawn = sorted(children)
    values = found.graph.value[drawn]
    if found.outputs is not None:  # the first one has the colours
        values = values[:, : len(found.outputs[0])]
    has_classes = found.classes is not None or found.outputs is not None
    colours = node_colours(values, has_classes)
    return Drawing(found, children, dict(zip(drawn, colours, strict=True)))
