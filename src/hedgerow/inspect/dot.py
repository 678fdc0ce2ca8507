"""A tree or decision graph as Graphviz DOT text."""

from collections.abc import Sequence
from typing import Any

from hedgerow.inspect.drawing import drawing


def export_dot(
    model: Any,
    *,
    max_depth: int | None = None,
    decimals: int | None = 2,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> str:
    """Write a fitted tree or decision graph as Graphviz DOT text.

    Nodes have the colour of the class with more than half of their training rows, and are blue if
    there is none; in a regressor they are the darker the larger the mean. A node with several
    parents appears once, with a double border.

    Parameters
    ----------
    model : estimator
        Any fitted hedgerow estimator with a `graph_`, or a `member` of a forest.
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
    text : str
        To be drawn by Graphviz: ``dot -Tsvg``.

    See Also
    --------
    plot : The same picture with matplotlib.

    Examples
    --------
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.inspect import export_dot
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> print(export_dot(tree))
    digraph hedgerow {
        node [shape=box, style="rounded,filled", fontname="Helvetica"]
        edge [fontname="Helvetica"]
        0 [label="x0 <= 0.5\\n2 rows", fillcolor="#8fb4e8"]
        0 -> 1 [label="yes"]
        0 -> 2 [label="no"]
        1 [label="a\\np = 1, 1 row", fillcolor="#f2b25c"]
        2 [label="b\\np = 1, 1 row", fillcolor="#7cc487"]
    }
    """
    drawn = drawing(model, max_depth, decimals, feature_names, class_names)
    lines = [
        "digraph hedgerow {",
        '    node [shape=box, style="rounded,filled", fontname="Helvetica"]',
        '    edge [fontname="Helvetica"]',
    ]
    for node, children in sorted(drawn.children.items()):
        label = "\\n".join(map(_escape, drawn.lines(node)))
        border = ", peripheries=2" if node in drawn.model.shared else ""
        lines.append(f'    {node} [label="{label}", fillcolor="{drawn.colours[node]}"{border}]')
        for side, child in enumerate(children):
            lines.append(f'    {node} -> {child} [label="{drawn.answer(node, side)}"]')
    return "\n".join([*lines, "}"])


def _escape(text: str) -> str:
    """Return a text that means itself between the quotes of a DOT label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
