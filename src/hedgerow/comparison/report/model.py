"""The model that the report draws, as plain lists: a tree or graph, its texts, and rows to follow.

Nodes are numbered so that parents come before children. The page walks rows through the tests
itself, so thresholds, category codes and terms are given in full.
"""

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow._columns import take_rows
from hedgerow.comparison.records import Result
from hedgerow.comparison.report.effects import row_contributions
from hedgerow.comparison.report.patience import Patience
from hedgerow.comparison.report.svg import human
from hedgerow.inspect import member
from hedgerow.inspect.colours import MIXED, class_colours, node_colours
from hedgerow.inspect.layout import lay_out
from hedgerow.inspect.reading import CATEGORY, OBLIQUE, Reading, read

if TYPE_CHECKING:
    from hedgerow.comparison.comparison import Comparison

IT_IS_BEST = "It is the best model of this comparison."
MOST_NODES = 4000
MOST_TERMS = 40_000  # numbers of oblique tests and of rows that go into the page
MOST_ROWS = 40
# Nodes that are drawn at first, and how many of them side by side and below one another: with
# more the picture would be too small for its text.
SHOWN, WIDEST, DEEPEST = 31, 7, 6


def fitted(comparison: "Comparison", result: Result, refit: bool, patience: Patience) -> Any:
    """Return a model fitted on all rows.

    None if it would have to be fitted, which is not wanted or would take too long.
    """
    allowed = refit and patience.allows(result, result is comparison.best_result)
    return comparison.fit(result.name, refit=allowed)


def choose(
    comparison: "Comparison", refit: bool, patience: Patience
) -> tuple[str, Any, str] | None:
    """Return name and fitted model to draw, and why it is the one; None if there is nothing.

    The best single tree or graph; but one whose tests weigh many features is hard to read, so that
    it is drawn only where it is the best model at all, or where there is no other.
    """
    best = comparison.best_result
    ours = [r for r in comparison.ranked if r.is_ours]
    start = f"{best.name} scored best, but is no single tree or graph; this is the best of those"
    if best is comparison.constant:
        start = "Nothing is better than a constant; this is the best of the single trees and graphs"
    weighing = None
    for result in ours:
        model = None
        if result.family in ("tree", "graph"):
            model = fitted(comparison, result, refit, patience)
        if not hasattr(model, "graph_"):
            continue
        if result is best:
            return result.name, model, IT_IS_BEST
        if not read(model).oblique:
            tail = "" if weighing is None else " that ask for one feature at a time"
            return result.name, model, f"{start}{tail}."
        weighing = weighing or (result.name, model, f"{start}.")
    if weighing is not None:
        return weighing
    for result in ours:
        model = fitted(comparison, result, refit, patience)
        if hasattr(model, "estimators_"):
            one = member(model, 0, comparison.X, comparison.y)
            if hasattr(one, "graph_"):
                return result.name, one, "This is the first of its members."
    return None


def describe(model: Any, X: Any, y: np.ndarray, predictions: Any, seed: int) -> dict[str, Any]:
    """Return a fitted tree or graph as plain lists.

    Parameters
    ----------
    model : estimator with a ``graph_``
    X : array or data frame
        Rows to choose from.
    y : ndarray
        Their targets.
    predictions : ndarray or None
        Out-of-fold predictions: some rows are chosen because they went wrong.
    seed : int

    Returns
    -------
    description : dict
    """
    reading = read(model, max_terms=4)
    children = _largest(reading, MOST_NODES)
    layout = lay_out(children)
    order = sorted(layout.x, key=lambda node: (layout.layer[node], layout.x[node]))
    number = {node: i for i, node in enumerate(order)}
    value = reading.graph.value[order]
    colours = node_colours(value, reading.classes is not None)
    n_terms = sum(len(terms[0]) for terms in reading.oblique.values())
    nodes = [
        {
            "id": node,
            "x": round(layout.x[node], 2),
            "layer": layout.layer[node],
            "children": [number[child] for child in children[node]],
            "rows": reading.rows[node],
            "colour": colours[i],
            "value": _value(value[i], reading.classes is not None),
        }
        | ({"outcome": _outcome(reading, node)} if reading.is_leaf(node) else {})
        | ({"shared": True} if node in reading.shared else {})
        | _test(reading, node, bool(children[node]), n_terms <= MOST_TERMS)
        for i, node in enumerate(order)
    ]
    used = sorted(_used(reading, children))
    rows = _rows(model, X, y, predictions, used, number, n_terms <= MOST_TERMS, seed)
    n_classes = len(reading.classes or ())
    return {
        "nodes": nodes,
        "open": [number[node] for node, below in _first_view(reading, children).items() if below],
        "is_tree": not reading.shared,
        "tells_missing": reading.words.mention_missing,
        "total": len(reading.kind),
        "n_splits": reading.graph.n_splits,
        "n_leaves": reading.graph.n_leaves,
        "depth": reading.graph.depth,
        "n_shared": len(reading.shared),
        "classes": reading.class_names,
        "colours": class_colours(n_classes),
        "mixed": MIXED,
        "range": None if n_classes else [float(value.min()), float(value.max())],
        "walks": n_terms <= MOST_TERMS,
        "features": [
            {"index": f, "name": reading.words.names[f], "labels": reading.words.labels.get(f)}
            for f in used
        ],
        "rows": rows,
        "added": row_contributions(model, X, [row["row"] for row in rows], reading.classes),
        "names": list(reading.words.names),
    }


def _largest(reading: Reading, most: int) -> dict[int, tuple[int, ...]]:
    """Return the children of about `most` nodes: those with the most rows, from the root down."""
    children: dict[int, tuple[int, ...]] = {0: ()}
    waiting = [(-reading.rows[0], 0)]
    while waiting and len(children) < most:
        _, node = heapq.heappop(waiting)
        children[node] = reading.children(node)
        for child in children[node]:
            if child not in children:
                children[child] = ()
                heapq.heappush(waiting, (-reading.rows[child], child))
    return children


def _first_view(
    reading: Reading, children: dict[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the children of the nodes that are drawn at first: as many as can be read.

    Nodes with the most rows are opened first; one whose children would make the picture too wide or
    too deep stays closed.
    """
    view: dict[int, tuple[int, ...]] = {0: ()}
    waiting = [(-reading.rows[0], 0)]
    while waiting and len(view) < SHOWN:
        _, node = heapq.heappop(waiting)
        below = children[node]
        wider = view | {child: view.get(child, ()) for child in below} | {node: below}
        layout = lay_out(wider)
        if layout.width > WIDEST - 1 or layout.depth >= DEEPEST:
            continue
        for child in below:
            if child not in view:
                heapq.heappush(waiting, (-reading.rows[child], child))
        view = wider
    return view


def _outcome(reading: Reading, node: int) -> str:
    """Return what a leaf predicts."""
    return human(reading.value(node)[0]) if reading.classes is None else reading.outcome(node)


def _value(value: np.ndarray, is_classifier: bool) -> Any:
    """Return the mean, or the likeliest classes as [class, probability] pairs."""
    if not is_classifier:
        return float(f"{value[0]:.6g}")
    best = np.argsort(-value, kind="stable")[:8]
    return [[int(k), round(float(value[k]), 4)] for k in best if value[k] > 0]


def _test(reading: Reading, node: int, has_children: bool, with_terms: bool) -> dict[str, Any]:
    """Return the test of a node: in words, and as numbers."""
    if reading.is_leaf(node):
        return {}
    question = reading.question(node)
    if not has_children:
        return {"yes": question, "rest": reading.below(node)}
    yes, no = (reading.words.condition(reading.condition(node, side)) for side in (True, False))
    test: dict[str, Any] = {"yes": yes, "no": no}
    test |= {} if question == yes else {"question": question}
    if reading.kind[node] == OBLIQUE:
        condition = reading.condition(node, True)
        terms = [[f, w, c, *(place or ())] for f, w, c, place in condition.terms()]  # type: ignore
        return test | ({"terms": terms, "at": condition.threshold} if with_terms else {})  # type: ignore
    test |= {"feature": reading.feature[node], "missing": int(reading.missing_left[node])}
    if reading.kind[node] == CATEGORY:
        return test | {"codes": np.asarray(reading.graph.categories_left(node)).tolist()}
    at = reading.threshold[node]
    return test | {"at": at if np.isfinite(at) else float(np.copysign(1e308, at))}


def _used(reading: Reading, children: dict[int, tuple[int, ...]]) -> set[int]:
    """Return the features that the nodes drawn test."""
    used: set[int] = set()
    for node in children:
        if reading.kind[node] == OBLIQUE:
            used.update(reading.oblique[node][0])
        elif not reading.is_leaf(node):
            used.add(reading.feature[node])
    return used


def _rows(
    model: Any,
    X: Any,
    y: np.ndarray,
    predictions: Any,
    used: list[int],
    number: dict[int, int],
    with_values: bool,
    seed: int,
) -> list[dict[str, Any]]:
    """Return some rows to follow: what the model sees of them, and their targets."""
    rng = np.random.default_rng(seed)
    most = min(MOST_ROWS, max(MOST_TERMS // max(len(used), 1), 3), len(y))
    order = rng.permutation(len(y))
    if predictions is not None and hasattr(model, "classes_"):
        wrong = order[predictions[order] != y[order]][: most // 4]
        order = np.concatenate([wrong, order[~np.isin(order, wrong)]])
    chosen = np.sort(order[:most])
    sample = take_rows(X, chosen)
    # A member of a forest is no estimator that could check a table.
    encoded = _encoded(model, sample)
    starts, nodes = model.graph_.decision_path(encoded)
    return [
        {"row": int(row), "actual": _text(y[row])}
        | (
            {"values": [_plain(x) for x in encoded[i, used].tolist()]}
            if with_values
            else {"path": [number[n] for n in nodes[starts[i] : starts[i + 1]] if n in number]}
        )
        for i, row in enumerate(chosen)
    ]


def _encoded(model: Any, X: Any) -> np.ndarray:
    owner = getattr(model, "forest", model)
    return np.asarray(model.schema_.encode(owner, X))


def _text(target: Any) -> str:
    return f"{target:.4g}" if isinstance(target, float | np.floating) else str(target)


def _plain(x: float) -> float | None:
    """Return the shortest number that is the same in single precision; None if missing."""
    if np.isnan(x):
        return None
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)
