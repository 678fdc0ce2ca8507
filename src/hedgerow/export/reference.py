"""What a program says, computed with NumPy, row by row the same as every target computes it.

Slow and plain: it proves the reader, and gives the expected answers of self-tests.
"""

from functools import reduce

import numpy as np

from hedgerow._engine import link
from hedgerow.export import program as p
from hedgerow.export.arithmetic import exponential, square_root


def evaluate(program: p.Program, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values and the decisions of rows.

    Parameters
    ----------
    program : Program
    matrix : ndarray of shape (n_rows, n_features)
        As ``model.schema_.encode`` gives it: numbers, codes, NaN.

    Returns
    -------
    values, decisions : ndarray of shape (n_rows, n_values)
    """
    columns = np.empty((len(matrix), program.n_columns))
    columns[:, : program.n_features] = matrix
    is_done = np.zeros(len(matrix), dtype=bool)
    values = np.empty((len(matrix), program.n_values))
    with np.errstate(over="ignore", invalid="ignore"):
        for start, step in zip(program.starts, program.steps, strict=True):
            if isinstance(step, p.Exit):
                ends = ~is_done & (columns[:, step.columns].max(axis=1) >= step.gate)
                values[ends] = columns[np.ix_(ends, step.columns)]
                is_done |= ends
            else:
                columns[:, start : start + step.width] = _computed(step, columns)
    decisions = values.copy()
    values[~is_done] = columns[np.ix_(~is_done, program.values)]
    decisions[~is_done] = columns[np.ix_(~is_done, program.decisions)]
    return values, decisions


def answers(program: p.Program, values: np.ndarray, decisions: np.ndarray) -> list[np.ndarray]:
    """For each output its classes, by number, or its numbers."""
    return [
        values[:, output.start]
        if output.classes is None
        else decisions[:, output.start : output.stop].argmax(axis=1)
        for output in program.outputs
    ]


def leaves(graph: p.Graph, columns: np.ndarray) -> np.ndarray:
    """The leaf of each row."""
    at = np.full(len(columns), graph.root)
    for test in range(graph.n_tests):  # parents stand before their children
        rows = np.flatnonzero(at == test)
        if len(rows):
            goes_left = _goes_left(graph, test, columns[rows])
            at[rows] = np.where(goes_left, graph.left[test], graph.right[test])
    return -1 - at


def _goes_left(graph: p.Graph, test: int, rows: np.ndarray) -> np.ndarray:
    if graph.kind[test] == p.OBLIQUE:
        return _oblique_sum(graph.obliques[graph.detail[test]], rows) < graph.threshold[test]
    x, missing_left = rows[:, graph.column[test]], graph.missing_left[test]
    if graph.kind[test] == p.AXIS:
        return np.where(np.isnan(x), missing_left, x <= graph.threshold[test])
    return _looked_up(graph.sets[graph.detail[test]], x, missing_left)


def _looked_up(table: np.ndarray, codes: np.ndarray, missing: float | bool) -> np.ndarray:
    is_known = (codes >= 0) & (codes < len(table))
    places = np.where(is_known, codes, len(table)).astype(np.intp)
    return np.append(table, np.asarray(missing, dtype=table.dtype))[places]


def _oblique_sum(test: p.Oblique, rows: np.ndarray) -> np.ndarray:
    terms = (rows[:, test.columns] - test.centres) * test.weights
    n = terms.shape[1]
    known = np.zeros(len(rows))
    for i in range(n):
        is_missing = np.isnan(rows[:, test.columns[i]] - test.centres[i])
        known = np.where(is_missing, known, known + terms[:, i])
    total = known
    if test.in_lanes:
        lanes, i = np.zeros((8, len(rows))), 0
        while i + 4 <= n:
            for lane in range(8 if i + 8 <= n else 4):
                lanes[lane] = lanes[lane] + terms[:, i + lane]
            i += 8 if i + 8 <= n else 4
        four = lanes[:4] + lanes[4:]
        total = (four[0] + four[2]) + (four[1] + four[3])
        for j in range(i, n):
            total = total + terms[:, j]
        total = np.where(np.isnan(total), known, total)
    for column, weights, missing in test.tables:
        total = total + _looked_up(weights, rows[:, column], missing)
    return total


def _computed(step: p.Step, x: np.ndarray) -> np.ndarray:
    """The columns of a step."""
    match step:
        case p.Walk():
            sums = np.tile(step.start, (len(x), 1))
            for g, graph in enumerate(step.graphs):
                said = graph.values[leaves(graph, x)]
                if step.in_turns:
                    sums[:, g % step.width] += said[:, 0]
                else:
                    sums += said
            return sums if step.factor == 1.0 else sums * step.factor
        case p.Recode():
            table = np.where(step.table < 0, np.nan, step.table)
            return _looked_up(table, x[:, step.column], np.nan)[:, None]
        case p.Add():
            return reduce(np.add, (x[:, part] for part in step.parts))
        case p.Divide():
            return x[:, step.columns] / step.divisor
        case p.Vote():
            places = x[:, step.columns].argmax(axis=1)[:, None] == np.arange(step.width)
            return np.where(places, step.chosen, step.other)
        case p.Place():
            out = np.zeros((len(x), step.total))
            out[:, step.places] = x[:, step.columns]
            return out
        case p.Round():
            return x[:, step.columns].astype(np.float32)
        case p.Link():
            return link(np.ascontiguousarray(x[:, step.columns]), step.name)
        case p.Median():
            return _median(x[:, step.columns], step.weights)
        case p.Numbers():
            return _numbers(step, x)
        case p.Affine():
            sums = np.zeros((len(x), step.width))
            for i, column in enumerate(step.columns):
                sums += x[:, column, None] * step.matrix[i]
            return sums + step.intercept
        case p.Distances():
            sums = np.zeros((len(x), step.width))
            for i, column in enumerate(step.columns):
                sums += (x[:, column, None] - step.points[:, i]) ** 2
            return sums
        case p.Activate():
            return _activated(step, x[:, step.columns])
        case p.Nearest():
            return step.values[x[:, step.columns].argmin(axis=1)]
    raise TypeError(f"unknown step {type(step).__name__}")


def _median(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    order = np.argsort(numbers, axis=1, kind="stable")
    sums = np.cumsum(weights[order], axis=1)
    middle = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
    chosen = np.take_along_axis(order, middle[:, None], axis=1)
    return np.take_along_axis(numbers, chosen, axis=1)


def _numbers(step: p.Numbers, x: np.ndarray) -> np.ndarray:
    found = x[:, step.sources]
    is_missing = np.isnan(found)
    one_hot = (found == step.categories).astype(np.float64)
    found = np.where(step.categories >= 0, one_hot, found)
    fills = step.fills if step.fill_columns is None else x[:, step.fill_columns]
    found = np.where(is_missing, fills, found)
    return found if step.mean is None else (found - step.mean) / step.scale


def _activated(step: p.Activate, x: np.ndarray) -> np.ndarray:
    if step.name == "relu":
        return np.where(x > 0, x, 0.0)
    if step.name == "root":
        return square_root(x)
    if step.name == "bump":
        return exponential(step.factor * x)
    ends = [*step.groups[1:], x.shape[1]]
    parts = [step.factor * x[:, a:b] for a, b in zip(step.groups, ends, strict=True)]
    return np.hstack([link(np.ascontiguousarray(part), "softmax") for part in parts])
