"""Read a fitted model: check it, name its parts, and walk its graph.

`read` is the only place in `hedgerow.inspect` that looks at an estimator; what it returns, a
`Reading`, answers every question the other modules ask.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgerow._graph_model import AXIS, CATEGORY, OBLIQUE
from hedgerow._several_outputs import by_output
from hedgerow.inspect.wording import (
    Condition,
    Halfspace,
    Interval,
    Subset,
    Words,
    fraction,
    number,
    rows_text,
)


@dataclass(frozen=True)
class Reading:
    """A decision graph with names: plain lists for walking, and words for each node.

    Attributes
    ----------
    graph : DecisionGraph
    words : Words
    categories : dict of int to list
        Category values in code order.
    classes : list or None
        Class labels; None for a regressor and where there are several outputs.
    class_names : list of str or None
        What the classes are called in text.
    outputs : list of list or None
        Class labels of each of several outputs.
    left, right, kind, feature, threshold, missing_left, rows : list
        The node arrays of the graph.
    oblique : dict of int to tuple
        Features, weights, centres and places (see `Halfspace`) of each oblique node.
    shared : frozenset of int
        Nodes with several parents.
    """

    graph: Any
    words: Words
    categories: dict[int, list]
    classes: list | None
    class_names: list[str] | None
    outputs: list[list] | None
    left: list[int]
    right: list[int]
    kind: list[int]
    feature: list[int]
    threshold: list[float]
    missing_left: list[int]
    rows: list[int]
    oblique: dict[int, tuple[tuple, tuple, tuple, tuple]]
    shared: frozenset[int]

    def is_leaf(self, node: int) -> bool:
        """Return whether a node is a leaf."""
        return self.kind[node] == 0

    def children(self, node: int) -> tuple[int, ...]:
        """Return the left and the right child of a node; nothing for a leaf."""
        return () if self.is_leaf(node) else (self.left[node], self.right[node])

    def branches(self, node: int) -> list[tuple[Condition, int]]:
        """Return the condition and the child of both branches of a node, left first."""
        return [
            (self.condition(node, True), self.left[node]),
            (self.condition(node, False), self.right[node]),
        ]

    def condition(self, node: int, goes_left: bool) -> Condition:
        """Return what a node asks of the rows it sends left (or right)."""
        feature, threshold = self.feature[node], self.threshold[node]
        if self.kind[node] == OBLIQUE:
            features, weights, centres, places = self.oblique[node]
            return Halfspace(features, weights, centres, threshold, goes_left, places)
        missing = bool(self.missing_left[node]) == goes_left
        if feature not in self.categories:
            if goes_left:
                return Interval(feature, high=threshold, missing=missing)
            return Interval(feature, low=threshold, missing=missing)
        every = range(len(self.categories[feature]))
        if self.kind[node] == CATEGORY:
            inside = set(np.asarray(self.graph.categories_left(node)).tolist())
        else:
            inside = {code for code in every if code <= threshold}
        codes = frozenset(code for code in every if (code in inside) == goes_left)
        return Subset(feature, codes, missing)

    def question(self, node: int) -> str:
        """Return the test of a node in words: rows that pass it go left."""
        return self.words.condition(self.condition(node, True), mention=False)

    def below(self, node: int) -> str:
        """Sum up the part of the graph from a node on."""
        splits: set[int] = set()
        leaves: set[int] = set()
        pending = [node]
        while pending:
            node = pending.pop()
            if node in splits or node in leaves:
                continue
            (leaves if self.is_leaf(node) else splits).add(node)
            pending += self.children(node)
        plural = "" if len(splits) == 1 else "s"
        return f"{len(splits)} more split{plural}, {len(leaves)} leaves"

    def value(self, node: int) -> np.ndarray:
        """Return the class probabilities, or the mean, of a node."""
        return self.graph.value[node]

    def prediction(self, node: int) -> Any:
        """Return the class label, or the mean, that a node predicts."""
        value = self.value(node)
        if self.outputs is not None:
            return [labels[best] for labels, best, _ in self._best(node)]
        if self.classes is None:
            return float(value[0]) if len(value) == 1 else value.tolist()
        return self.classes[int(np.argmax(value))]

    def _best(self, node: int) -> list[tuple[list, int, float]]:
        """Return the labels of each of several outputs, the best one's place, and its share."""
        assert self.outputs is not None
        parts = by_output(self.value(node), [len(labels) for labels in self.outputs])
        return [
            (labels, int(part.argmax()), float(part.max()))
            for labels, part in zip(self.outputs, parts, strict=True)
        ]

    def probabilities(self, node: int) -> dict | None:
        """Return the probability of each class label; None for a regressor."""
        if self.classes is None:
            return None
        return dict(zip(self.classes, self.value(node).tolist(), strict=True))

    def outcome(self, node: int) -> str:
        """Return the prediction of a node as text."""
        value = self.value(node)
        if self.outputs is not None:
            return f"[{', '.join(str(labels[best]) for labels, best, _ in self._best(node))}]"
        if self.class_names is None:
            numbers = [number(v, self.words.decimals) for v in value]
            return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
        return self.class_names[int(np.argmax(value))]

    def leaf(self, node: int, *more: str) -> str:
        """Return the prediction of a node, what it rests on, and any more facts, as text."""
        facts = [rows_text(self.rows[node]), *more]
        if self.classes is not None:
            facts.insert(0, f"p = {fraction(self.value(node).max(), self.words.decimals)}")
        if self.outputs is not None:
            shares = [fraction(p, self.words.decimals) for _, _, p in self._best(node)]
            facts.insert(0, f"p = [{', '.join(shares)}]")
        return f"{self.outcome(node)} ({', '.join(facts)})"


def read(
    model: Any,
    *,
    decimals: int | None = 2,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_terms: int | None = None,
) -> Reading:
    """Check a fitted model and return its `Reading`."""
    graph = _graph_of(model)
    if decimals is not None and (
        isinstance(decimals, bool) or not isinstance(decimals, int | np.integer) or decimals < 0
    ):
        raise ValueError(f"'decimals' must be a non-negative int or None, got {decimals!r}.")
    names = _checked_names("feature_names", feature_names, graph.n_features, "feature")
    if names is None:
        names = model.schema_.feature_names
    if names is None:
        names = [f"x{i}" for i in range(graph.n_features)]
    known = getattr(model, "classes_", None)
    outputs = [labels.tolist() for labels in known] if isinstance(known, list) else None
    classes = None if known is None or outputs is not None else np.asarray(known).tolist()
    if classes is None and class_names is not None:
        whom = "a regressor" if outputs is None else "several outputs"
        raise ValueError(f"'class_names' must be None for {whom}, got {class_names!r}.")
    labels = _checked_names("class_names", class_names, len(classes or ()), "class")
    if labels is None and classes is not None:
        labels = [str(label) for label in classes]

    categories = {int(f): list(values) for f, values in model.schema_.categories.items()}
    left, right, kind, feature, threshold, missing_left, rows = (
        np.asarray(getattr(graph, name)).tolist()
        for name in ("left", "right", "kind", "feature", "threshold", "missing_left", "n_samples")
    )
    shared = _shared_nodes(left, right, kind)
    thresholds: dict[int, set[float]] = {}
    for node in range(len(kind)):
        if kind[node] == AXIS and feature[node] not in categories:
            thresholds.setdefault(feature[node], set()).add(threshold[node])
        if kind[node] == CATEGORY and feature[node] not in categories:
            raise ValueError(
                f"node {node} tests the category of {names[feature[node]]!r}, but the model's "
                "'schema_' lists no categories for it."
            )
    words = Words(
        [str(name) for name in names],
        categories,
        thresholds,
        decimals,
        mention_missing=bool(model.schema_.missing),
        max_terms=max_terms,
    )
    return Reading(
        graph=graph,
        words=words,
        categories=categories,
        classes=classes,
        class_names=labels,
        outputs=outputs,
        left=left,
        right=right,
        kind=kind,
        feature=feature,
        threshold=threshold,
        missing_left=missing_left,
        rows=rows,
        oblique=_oblique_terms(graph, kind, categories),
        shared=shared,
    )


def _graph_of(model: Any) -> Any:
    """Return the graph of a fitted model, or say what to pass instead."""
    if hasattr(model, "graph_") and hasattr(model, "schema_"):
        return model.graph_
    name = type(model).__name__
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"'model' must be a fitted hedgerow estimator, got {model!r}.")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"This {name} is not fitted yet: call 'fit' before inspecting it."
        ) from None
    advice = "use a hedgerow tree or decision graph"
    for attribute, hint in _INSTEAD.items():
        if hasattr(model, attribute):
            advice = f"pass {hint}"
            break
    raise TypeError(f"{name} holds no single decision graph ('graph_'): {advice}.")


_INSTEAD = {
    "best_estimator_": "its best estimator, 'model.best_estimator_'",
    "steps": "its last step, 'model[-1]'",
    "estimators_": "one of its members, 'hedgerow.inspect.member(model, 0)'",
    "estimator_": "the model inside it, 'model.estimator_'",
}


def _checked_names(
    parameter: str, names: Sequence[str] | None, expected: int, what: str
) -> list[str] | None:
    """Return the names as a list of the expected length."""
    if names is None:
        return None
    if isinstance(names, str) or len(names) != expected:
        got = repr(names) if isinstance(names, str) else str(len(names))
        raise ValueError(f"'{parameter}' must have one name per {what} ({expected}), got {got}.")
    return [str(name) for name in names]


def _shared_nodes(left: list[int], right: list[int], kind: list[int]) -> frozenset[int]:
    """Return the nodes that several branches reach from the root."""
    parents: Counter[int] = Counter()
    pending = [0]
    while pending:
        node = pending.pop()
        if kind[node] == 0:
            continue
        for child in (left[node], right[node]):
            parents[child] += 1
            if parents[child] == 1:
                pending.append(child)
    return frozenset(node for node, n in parents.items() if n > 1)


def _oblique_terms(
    graph: Any, kind: list[int], categories: dict[int, list]
) -> dict[int, tuple[tuple, tuple, tuple, tuple]]:
    """Return the features, weights, centres and places of each oblique node."""
    if OBLIQUE not in kind:
        return {}
    arrays = graph.arrays()
    start, detail = arrays["oblique_start"].tolist(), arrays["detail"].tolist()
    columns = [arrays[f"oblique_{n}"].tolist() for n in ("feature", "weight", "centre", "category")]
    terms = {}
    for node in np.flatnonzero(graph.kind == OBLIQUE).tolist():
        part = slice(start[detail[node]], start[detail[node] + 1])
        counted = [
            (feature, weight, centre, None if code < 0 else (code, len(categories[feature])))
            for feature, weight, centre, code in zip(*(c[part] for c in columns), strict=True)
            if weight != 0
        ]
        features, weights, centres, places = zip(*counted, strict=True) if counted else ((),) * 4
        terms[node] = (features, weights, centres, places)
    return terms
