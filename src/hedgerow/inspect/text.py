"""A tree or decision graph as indented text, one line per branch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow.additive.sum_model import SumModel
from hedgerow.inspect.reading import Reading, read
from hedgerow.inspect.wording import number

MOST_BARS = 40  # of a line: the bars of a chain of 20,000 tests would take 1.6 GB


def export_text(
    model: Any,
    *,
    max_depth: int | None = None,
    decimals: int | None = 2,
    show_weights: bool = False,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> str:
    """Write a fitted tree or decision graph as indented text.

    Each branch is one line: its condition, and after the colon the prediction if it ends there.
    A node that several branches of a graph share is written out once, with its number, and
    referred to afterwards. Below 40 levels a line gives its level instead of more bars.
    A sum of trees begins with its intercept; what members give is added to it.

    Parameters
    ----------
    model : estimator
        Any fitted hedgerow estimator with a `graph_`, or a sum of trees.
    max_depth : int or None, default=None
        Deepest level written; what lies below is summed up in one line.
    decimals : int or None, default=2
        Digits after the point. More are shown where fewer would make a number 0 or two thresholds
        of a feature alike; None shows all.
    show_weights : bool, default=False
        Whether leaves list the total weight of their training rows, per class in a classifier.
    feature_names : sequence of str or None, default=None
        Names to use instead of those seen in `fit`.
    class_names : sequence of str or None, default=None
        Names to use instead of the class labels, in the order of `classes_`.

    Returns
    -------
    text : str

    See Also
    --------
    rules : The same model as a list of if-then rules.
    explain : The path of one row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.inspect import export_text
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> print(export_text(tree, class_names=iris.target_names))
    petal length (cm) <= 2.45: setosa (p = 1, 50 rows)
    petal length (cm) > 2.45:
    |   petal width (cm) <= 1.75: versicolor (p = 0.91, 54 rows)
    |   petal width (cm) > 1.75: virginica (p = 0.98, 46 rows)
    """
    if isinstance(model, SumModel):
        return _sum(
            model,
            max_depth=max_depth,
            decimals=decimals,
            show_weights=show_weights,
            feature_names=feature_names,
        )
    if max_depth is not None and (
        isinstance(max_depth, bool) or not isinstance(max_depth, int | np.integer) or max_depth < 1
    ):
        raise ValueError(f"'max_depth' must be a positive int or None, got {max_depth!r}.")
    model = read(
        model,
        decimals=decimals,
        feature_names=feature_names,
        class_names=class_names,
        max_terms=8,
    )
    if model.is_leaf(0):
        return _leaf(model, 0, show_weights)

    lines = []
    written: set[int] = set()
    pending = [(0, 0, "")]  # a stack, not recursion: a tree may be deeper than Python allows
    while pending:
        node, depth, branch = pending.pop()
        name = f" [node {node}]" if node in model.shared else ""
        opens = False
        if model.is_leaf(node):
            end = _leaf(model, node, show_weights) + name
        elif node in written:
            end = f"go to node {node}"
        elif depth == max_depth:
            end = f"... {model.below(node)}{name}"
        else:
            opens, end = True, name.strip()
            written.add(node)
            for condition, child in reversed(model.branches(node)):
                pending.append((child, depth + 1, model.words.condition(condition)))
        if depth > 0:
            line = f"{_indentation(depth - 1)}{branch}: {end}"
            lines.append(line.rstrip() if opens else line)
    return "\n".join(lines)


def _sum(model: SumModel, decimals: int | None, **settings: Any) -> str:
    """Return the intercept and each member with what it adds."""
    check_is_fitted(model)
    start = ", ".join(number(float(score), decimals) for score in model.intercept_)
    parts = [f"score = {start}"]
    for place, member in enumerate(model):
        parts.append(f"\n+ member {place}")
        parts.append(export_text(member, decimals=decimals, **settings))
    return "\n".join(parts)


def _indentation(level: int) -> str:
    """Return a bar for each level; far down, where bars would make up the text, their number."""
    if level <= MOST_BARS:
        return "|   " * level
    return "|   " * MOST_BARS + f"... level {level}: "


def _leaf(model: Reading, node: int, show_weights: bool) -> str:
    """Return the prediction of a leaf as text, with or without its weights."""
    if not show_weights:
        return model.leaf(node)
    weight = float(model.graph.weight[node])
    if model.classes is None:
        return model.leaf(node, f"weight {number(weight, model.words.decimals)}")
    weights = [number(w, model.words.decimals) for w in weight * model.value(node)]
    return model.leaf(node, f"weights [{', '.join(weights)}]")
