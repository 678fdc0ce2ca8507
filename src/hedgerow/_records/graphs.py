"""Graphs and packed forests as records.

Columns that follow from others are left out where that gives the very same bits, which is tried
when a graph is written: the children of a tree in preorder, weights that are row counts, values
and Gini impurities that are made of class counts. Whole numbers make them exact: no sum depends on
its order, and no function that processors compute differently is used.
"""

from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph, Forest, PackedGraphs
from hedgerow._records.container import damaged
from hedgerow._records.values import Codec, Fields, Writer

_AXIS, _CATEGORY, _OBLIQUE = 1, 2, 3
_TYPES = {
    "kind": np.uint8, "missing_left": np.uint8, "feature": np.int32, "left": np.int32,
    "right": np.int32, "detail": np.int32, "threshold": np.float64, "n_samples": np.int32,
    "weight": np.float64, "impurity": np.float64, "value": np.float64,
}  # fmt: skip
_POOL_TYPES = {
    "category_words": np.uint64, "category_start": np.uint32,
    "oblique_feature": np.int32, "oblique_category": np.int32, "oblique_weight": np.float64,
    "oblique_centre": np.float64, "oblique_start": np.uint32,
}  # fmt: skip


def _leaf() -> dict[str, Any]:
    """The columns of a graph that is one leaf, as the engine makes them."""
    numbers = dict.fromkeys(("threshold", "weight", "impurity", "value"), np.zeros(1))
    nodes = dict.fromkeys(("feature", "left", "right", "detail"), np.full(1, -1, np.int32))
    empty = {name: np.zeros(0, dtype) for name, dtype in _POOL_TYPES.items()}
    starts = {name: np.zeros(1, np.uint32) for name in ("category_start", "oblique_start")}
    flags = {name: np.zeros(1, np.uint8) for name in ("kind", "missing_left")}
    sizes = {"format": 1, "n_features": 1, "n_outputs": 1, "n_samples": np.zeros(1, np.int32)}
    leaf = DecisionGraph.from_arrays(numbers | nodes | empty | starts | flags | sizes)
    return PackedGraphs([leaf]).graph(0).arrays()


_MOST_EXACT = 2.0**53
_NO_FEATURE = _leaf()["feature"][0]  # of leaves and sums in the engine; -1 in files
# Columns with one item for each test; what leaves have instead.
_OF_TESTS = {"missing_left": 0, "feature": -1, "left": -1, "right": -1, "detail": -1,
             "threshold": _leaf()["threshold"][0]}  # fmt: skip


def right_children(kind: np.ndarray) -> list[int]:
    """The right child of each test of a tree whose nodes are numbered in preorder.

    What follows a leaf is the right child of the last test that has none yet.
    """
    right, waiting = [-1] * len(kind), []
    for node, is_test in enumerate(kind.tolist()):
        if is_test:
            waiting.append(node)
        elif waiting:
            right[waiting.pop()] = node + 1
    return [child for child, is_test in zip(right, kind.tolist(), strict=True) if is_test]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _followed(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns that follow from others where they are not stored."""
    kind = columns["kind"]
    tests = np.flatnonzero(kind)
    detail = np.full(len(tests), -1)
    for counted in (_CATEGORY, _OBLIQUE):
        of_kind = kind[tests] == counted
        detail[of_kind] = np.arange(of_kind.sum())
    return {
        "left": tests + 1,
        "right": np.array(right_children(kind), dtype=np.int64),
        "detail": detail,
        "weight": columns["n_samples"],
    }


def class_counts(weight: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Counts of all classes: the first has what the others leave of a node's weight."""
    return np.column_stack([weight - others.sum(axis=1), others])


def _values(counts: np.ndarray, weight: np.ndarray, rule: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        if rule == "share":
            return counts / weight[:, None]
        return counts * np.where(weight > 0, 1 / weight, 0)[:, None]


def _impurities(counts: np.ndarray, weight: np.ndarray, rule: str) -> np.ndarray:
    squares = (counts * counts).sum(axis=1)
    with np.errstate(all="ignore"):
        if rule == "gini":
            return np.maximum(0, 1 - squares / weight / weight)
        return np.where(weight > 0, np.maximum(0, weight - squares / weight) / weight, 0)


def _counts_of(value: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Whole class counts that give the values, and by which rule."""
    with np.errstate(all="ignore"):
        counts = np.rint(value * weight[:, None])
        if not np.isfinite(counts).all() or (counts.sum(axis=1) != weight).any():
            return None, ""
        if (counts < 0).any() or ((counts * counts).sum(axis=1) >= _MOST_EXACT).any():
            return None, ""
    for rule in ("share", "scaled"):
        if _same(_values(counts, weight, rule), value):
            return counts, rule
    return None, ""


def _encode_graph(graph: DecisionGraph, writer: Writer, where: str) -> dict[str, Any]:
    columns = graph.arrays()
    columns["feature"] = np.maximum(columns["feature"], -1)
    n_outputs = columns["n_outputs"]
    is_test = columns["kind"] > 0
    stored = {"kind": columns["kind"]}
    follows = _followed(columns)
    for name, of_leaf in _OF_TESTS.items():
        column = columns[name]
        short = column[is_test] if (column[~is_test] == of_leaf).all() else column
        if name not in follows or not np.array_equal(short, follows[name]):
            stored[name] = short
    for name in ("n_samples", "weight"):
        if name not in follows or not np.array_equal(columns[name], follows[name]):
            stored[name] = columns[name]
    fields: dict[str, Any] = {"n_features": columns["n_features"], "n_outputs": n_outputs}
    value, weight = columns["value"].reshape(-1, n_outputs), columns["weight"]
    counts, rule = _counts_of(value, weight) if n_outputs > 1 else (None, "")
    stored_impurity = True
    if counts is None:
        stored["value"] = columns["value"]
    else:
        fields["value_rule"], stored["count"] = rule, counts[:, 1:].T.ravel()
        for impurity_rule in ("gini", "gini-loss"):
            if _same(_impurities(counts, weight, impurity_rule), columns["impurity"]):
                fields["impurity_rule"], stored_impurity = impurity_rule, False
                break
    if stored_impurity:
        stored["impurity"] = columns["impurity"]
    fields |= {name: writer.array(column, where) for name, column in stored.items()}
    return fields | _encode_pool(columns, writer, where)


def _encode_pool(columns: dict[str, Any], writer: Writer, where: str) -> dict[str, Any]:
    """Category sets and oblique tests; nothing where there are none."""
    stored = {}
    starts = columns["category_start"]
    if len(starts) > 1:
        stored["category_words"] = columns["category_words"]
        if not np.array_equal(starts, np.arange(len(starts))):
            stored["category_start"] = starts
    if len(columns["oblique_start"]) > 1:
        stored |= {name: columns[name] for name in _POOL_TYPES if name.startswith("oblique")}
    return {name: writer.array(column, where) for name, column in stored.items()}


def _decode_pool(fields: Fields) -> dict[str, np.ndarray]:
    pool = {
        name: _column(fields, name, dtype) for name, dtype in _POOL_TYPES.items() if name in fields
    }
    words = pool.setdefault("category_words", np.zeros(0, np.uint64))
    pool.setdefault("category_start", np.arange(len(words) + 1, dtype=np.uint32))
    pool.setdefault("oblique_start", np.zeros(1, np.uint32))
    for name, dtype in _POOL_TYPES.items():
        pool.setdefault(name, np.zeros(0, dtype))
    return pool


def _column(fields: Fields, name: str, kind: Any) -> np.ndarray:
    column = fields.take(name, np.ndarray)
    if column.ndim != 1 or column.dtype != kind:
        damaged(f"{name!r} of its {fields.name} has another type or shape")
    return column


def _decode_graph(fields: Fields) -> DecisionGraph:
    columns: dict[str, Any] = {"kind": _column(fields, "kind", np.uint8)}
    kind = columns["kind"]
    n, tests = len(kind), np.flatnonzero(kind)
    columns["n_samples"] = _column(fields, "n_samples", np.int32)
    follows = _followed(columns) if len(columns["n_samples"]) == n else {}
    for name in [*_OF_TESTS, "weight"]:
        if name in fields or name not in follows:
            columns[name] = _column(fields, name, _TYPES[name])
        else:
            columns[name] = follows[name].astype(_TYPES[name])
    for name, of_leaf in _OF_TESTS.items():
        if len(columns[name]) == len(tests):
            short, columns[name] = columns[name], np.full(n, of_leaf, _TYPES[name])
            columns[name][tests] = short
    tests_one = (kind == _AXIS) | (kind == _CATEGORY)
    if len(columns["feature"]) != n or (columns["feature"][~tests_one] != -1).any():
        damaged("a node of its graph tests a feature that it cannot test")
    columns["feature"][~tests_one] = _NO_FEATURE
    n_outputs = fields.take("n_outputs", int)
    if "count" in fields:
        weight = columns["weight"]
        rule = fields.take("value_rule", str)
        others = _column(fields, "count", np.float64)
        if (
            rule not in ("share", "scaled")
            or len(others) != n * (n_outputs - 1)
            or len(weight) != n
        ):
            damaged("the class counts of its graph are none")
        counts = class_counts(weight, others.reshape(n_outputs - 1, n).T)
        if counts.min(initial=0) < 0:
            damaged("a class count of its graph is negative")
        columns["value"] = np.ascontiguousarray(_values(counts, weight, rule)).ravel()
        if "impurity_rule" in fields:
            impurity_rule = fields.take("impurity_rule", str)
            if impurity_rule not in ("gini", "gini-loss"):
                damaged("the impurity of its graph is unknown")
            columns["impurity"] = _impurities(counts, weight, impurity_rule)
    else:
        columns["value"] = _column(fields, "value", np.float64)
    if "impurity" not in columns:
        columns["impurity"] = _column(fields, "impurity", np.float64)
    return DecisionGraph.from_arrays(
        {
            "format": 1,
            "n_features": fields.take("n_features", int),
            "n_outputs": n_outputs,
            **columns,
            **_decode_pool(fields),
        }
    )


_NODE = np.dtype([("number", "<f8"), ("test", "<u4"), ("left", "<u4")])
_IS_TEST, _MISSING_LEFT, _IS_CATEGORY, _IS_OBLIQUE = 1 << 31, 1 << 30, 1 << 29, 1 << 28
_INDEX = _IS_OBLIQUE - 1


def _encode_forest(forest: Forest, writer: Writer, where: str) -> dict[str, Any]:
    state = forest.__getstate__()
    nodes = state["nodes"].view(_NODE)
    test = nodes["test"]
    is_test = (test & _IS_TEST) > 0
    kind = np.where(test & _IS_OBLIQUE, _OBLIQUE, np.where(test & _IS_CATEGORY, _CATEGORY, _AXIS))
    number = nodes["number"]
    n_outputs = state["n_outputs"]
    leaf = number[~is_test]
    stored = {
        "kind": np.where(is_test, kind, 0).astype(np.uint8),
        "missing_left": ((test[is_test] & _MISSING_LEFT) > 0).astype(np.uint8),
        "index": (test[is_test] & _INDEX).astype(np.uint32),
        "threshold": number[is_test],
        # Pairs of children stand after their parents, most of them near by.
        "step": (nodes["left"] - np.arange(len(nodes), dtype=np.int64))[is_test],
        "leaf": leaf if n_outputs == 1 else leaf.view(np.uint64),
        "n_nodes": np.diff(state["roots"]),
        "value": state["values"],
        "category_feature": state["category_feature"],
        "importance": state["importances"],
    }
    fields: dict[str, Any] = {"n_features": state["n_features"], "n_outputs": n_outputs}
    fields |= {name: writer.array(np.asarray(v), where) for name, v in stored.items() if len(v)}
    return fields | _encode_pool(state, writer, where)


def _decode_forest(fields: Fields) -> Forest:
    n_outputs = fields.take("n_outputs", int)
    types = {
        "kind": np.uint8, "missing_left": np.uint8, "index": np.uint32, "threshold": np.float64,
        "step": np.int64, "leaf": np.float64 if n_outputs == 1 else np.uint64,
        "n_nodes": np.uint32, "value": np.float64, "category_feature": np.uint32,
        "importance": np.float64,
    }  # fmt: skip
    given = {
        name: _column(fields, name, kind) if name in fields else np.zeros(0, kind)
        for name, kind in types.items()
    }
    kind = given["kind"]
    tests, leaves = np.flatnonzero(kind), np.flatnonzero(kind == 0)
    lengths = {len(given[name]) for name in ("missing_left", "index", "threshold", "step")}
    if (lengths | {len(tests)}) != {len(tests)} or len(given["leaf"]) != len(leaves):
        damaged("the columns of its forest differ in length")
    if (
        kind.max(initial=0) > _OBLIQUE
        or given["missing_left"].max(initial=0) > 1
        or given["index"].max(initial=0) > _INDEX
        or given["n_nodes"].sum(dtype=np.uint64) != len(kind)
    ):
        damaged("a node of its forest is none")
    left = np.add(given["step"], tests)
    if len(tests) and (left.min() < 0 or left.max() >= len(kind)):
        damaged("a child of its forest is out of range")
    nodes = np.zeros(len(kind), _NODE)
    nodes["left"] = np.arange(len(kind))
    nodes["left"][tests] = left
    flags = np.array([0, 0, _IS_CATEGORY, _IS_OBLIQUE], dtype=np.uint32)[kind[tests]]
    nodes["test"][tests] = (
        given["index"] | flags | np.uint32(_IS_TEST) | given["missing_left"].astype(np.uint32) << 30
    )
    nodes["number"][tests] = given["threshold"]
    nodes["number"][leaves] = given["leaf"].view(np.float64)
    forest = Forest.__new__(Forest)
    forest.__setstate__(
        {
            "format": 1,
            "n_features": fields.take("n_features", int),
            "n_outputs": n_outputs,
            "nodes": nodes.view(np.uint8),
            "roots": np.append([0], np.cumsum(given["n_nodes"])).astype(np.uint32),
            "values": given["value"],
            "category_feature": given["category_feature"],
            "importances": given["importance"],
            **_decode_pool(fields),
        }
    )
    return forest


CODECS = [
    Codec("graph", DecisionGraph, _encode_graph, _decode_graph, is_shared=True),
    Codec("packed", Forest, _encode_forest, _decode_forest, is_shared=True),
]
