"""Programs whose leaves take fewer bytes, and what that costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.facts import test_rows
from hedgerow.export.reading import ExportError
from hedgerow.export.reference import answers, evaluate

_LARGEST = 255  # of an 8-bit leaf
_N_ROWS = 2000  # that the loss is measured on


def rounded(program: p.Program, leaves: str) -> p.Program:
    """The program with rounded leaves.

    "double" leaves it as it is. "float" rounds every leaf to single precision. "uint8" makes them
    whole numbers from 0 to 255: sums of them are exact, and `Walk.factor` makes them values again.
    A single graph keeps the class of every leaf. "class" makes the leaves of a single graph the
    classes, in their order: probabilities are 0 and 1.
    """
    if leaves == "double":
        return program
    if leaves == "float":
        walks = [_in_single(step) for step in program.steps]
        return replace(program, steps=tuple(walks))
    if leaves == "class":
        return _as_classes(program)
    if len(program.steps) != 1 or not isinstance(program.steps[0], p.Walk):
        raise ExportError(
            "8-bit leaves are for one graph and for means and sums of graphs; "
            f"{program.model} computes more than that: take leaves='float'."
        )
    return replace(program, steps=(_in_bytes(program.steps[0], program.outputs[0].classes),))


def _as_classes(program: p.Program) -> p.Program:
    graph, walk = program.graph, program.steps[0]
    if graph is None or program.outputs[0].classes is None:
        raise ExportError(
            "Leaves are classes in one tree or graph of a classifier alone; "
            f"{program.model} is more than that: take leaves='uint8' or 'float'."
        )
    assert isinstance(walk, p.Walk)
    chosen = graph.values.argmax(axis=1)

    def ends(side: np.ndarray) -> np.ndarray:
        return np.where(side < 0, -1 - chosen[-1 - np.minimum(side, -1)], side).astype(np.int32)

    classes = replace(
        graph, left=ends(graph.left), right=ends(graph.right), values=np.eye(walk.width)
    )
    if not graph.n_tests:  # the only leaf
        classes = replace(graph, values=np.eye(walk.width)[chosen])
    return replace(program, steps=(replace(walk, graphs=(classes,)),))


def _in_single(step: p.Step) -> p.Step:
    if not isinstance(step, p.Walk):
        return step
    return replace(step, graphs=tuple(
        replace(g, values=_same_largest(
            g.values, g.values.astype(np.float32),
            lambda x: np.nextafter(x, np.float32(np.inf)),
        ).astype(np.float64))
        for g in step.graphs
    ))  # fmt: skip


def _in_bytes(walk: p.Walk, classes: tuple | None) -> p.Walk:
    low, high = (f(graph.values.min() if f is min else graph.values.max() for graph in walk.graphs)
                 for f in (min, max))  # fmt: skip
    low, high = (0.0, 1.0) if classes is not None and low >= 0 and high <= 1 else (low, high)
    unit = (high - low) / _LARGEST or 1.0
    graphs = []
    for graph in walk.graphs:
        whole = np.rint((graph.values - low) / unit)
        if is_binary(graph.values):
            if len(walk.graphs) == 1:  # a leaf of equal classes says the first
                is_second = graph.values[:, 1] > graph.values[:, 0]
                half = np.where(is_second, np.maximum(whole[:, 1], 128), whole[:, 1])
                whole[:, 1] = np.where(is_second, half, np.minimum(half, 127))
            whole[:, 0] = _LARGEST - whole[:, 1]
        elif classes is not None:
            whole = _same_largest(graph.values, whole, lambda x: x + 1)
        graphs.append(replace(graph, values=whole))
    per_sum = len(graphs) // walk.width if walk.in_turns else len(graphs)
    start = np.rint((walk.start + per_sum * low) / unit) + 0.0
    return replace(walk, graphs=tuple(graphs), start=start, factor=walk.factor * unit)


def is_binary(values: np.ndarray) -> bool:
    """Whether leaves hold the probabilities of two classes."""
    return values.shape[1] == 2 and bool(np.allclose(values.sum(axis=1), 1.0))


def _same_largest(
    values: np.ndarray, other: np.ndarray, next_to: Callable[[Any], Any]
) -> np.ndarray:
    """The other values, changed where the first of the largest is another one."""
    other = other.copy()
    for row in np.flatnonzero(values.argmax(axis=1) != other.argmax(axis=1)):
        chosen = values[row].argmax()
        most = other[row].max()
        is_last = (other[row][:chosen] < most).all()
        other[row, chosen] = most if is_last else next_to(most)
    return other


def loss(program: p.Program, other: p.Program) -> tuple[float, int, int]:
    """The largest difference of values, the rows of another class, and the rows compared.

    The rows are those at the program's thresholds and beside them.
    """
    rows = test_rows(program, _N_ROWS)
    (values, decisions), (found, chosen) = evaluate(program, rows), evaluate(other, rows)
    different = 0
    if program.outputs[0].classes is not None:
        same = zip(answers(program, values, decisions), answers(other, found, chosen), strict=True)
        different = int(np.any([a != b for a, b in same], axis=0).sum())
    return float(np.abs(values - found).max()), different, len(rows)
