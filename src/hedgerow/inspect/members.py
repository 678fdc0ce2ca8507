"""One member of a forest as a model that every function of `hedgerow.inspect` reads."""

from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import GraphModel
from hedgerow._learner import Grown


def member(forest: Any, index: int = 0, X: Any = None, y: Any = None) -> Any:
    """Take one member out of a forest, to draw it or to put it into words.

    A forest keeps neither row counts nor the values of inner nodes. With `X` and `y` they are
    counted on those rows; the leaves keep the values they predict.

    Parameters
    ----------
    forest : estimator
        A fitted forest, bag or boosted model of hedgerow.
    index : int, default=0
        Which member.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        Rows to count.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Their targets.

    Returns
    -------
    member : estimator
        A fitted tree or graph, for `export_text`, `rules`, `explain`, `export_dot` and `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomForestClassifier
    >>> from hedgerow.inspect import export_text, member
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(10, max_depth=1, random_state=0).fit(X, y)
    >>> text = export_text(member(forest, 3, X, y))
    """
    members = getattr(forest, "estimators_", None)
    if members is None:
        raise TypeError(f"'forest' must be a fitted forest or bag, got {type(forest).__name__}.")
    if not -len(members) <= index < len(members):
        raise ValueError(f"'index' must be one of the {len(members)} members, got {index!r}.")
    tree = members[index]
    if X is None or not isinstance(tree, GraphModel) or tree.graph_.n_samples[0]:
        return tree
    y = np.asarray(y)
    y = y[:, None] if y.ndim == 1 else y
    known = getattr(tree, "classes_", None)
    if known is None:
        targets = y.astype(float)
    else:
        known = known if isinstance(known, list) else [known]
        targets = np.hstack([y[:, [o]] == classes for o, classes in enumerate(known)])
    graph = counted(tree.graph_, tree.schema_.encode(tree, X), targets)
    return tree.with_graph(Grown(graph, {"gains_": tree.feature_importances_}))


def counted(graph: DecisionGraph, encoded: np.ndarray, targets: np.ndarray) -> DecisionGraph:
    """Return the graph with the rows and the mean target of each node, leaf values unchanged."""
    starts, nodes = graph.decision_path(encoded)
    row = np.repeat(np.arange(len(encoded)), np.diff(starts))
    rows = np.bincount(nodes, minlength=graph.n_nodes)
    arrays = dict(graph.arrays())
    value = np.array(graph.value)
    inner = np.asarray(graph.kind) != 0
    for k in range(value.shape[1]):
        total = np.bincount(nodes, weights=targets[row, k], minlength=graph.n_nodes)
        value[inner, k] = (total / np.maximum(rows, 1))[inner]
    arrays |= {
        "n_samples": rows.astype(np.int32),
        "weight": rows.astype(float),
        "value": value.ravel(),
    }
    return DecisionGraph.from_arrays(arrays)
