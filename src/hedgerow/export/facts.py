"""What every exported file says of itself, and the rows it tests itself with."""

import hashlib
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from hedgerow._version import __version__
from hedgerow.export.program import AXIS, OBLIQUE, Program, Walk
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.words import in_comment

N_ROWS = 24
UNSEEN = "(never seen)"  # a category of no table: tests that such ones count as missing


def checksum(program: Program) -> str:
    """Sixteen digits that change with anything that the program says."""
    digest = hashlib.sha256()
    _feed(digest, program)
    return digest.hexdigest()[:16]


def _feed(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    elif is_dataclass(part):
        digest.update(type(part).__name__.encode())
        for field in fields(part):
            _feed(digest, getattr(part, field.name))
    elif isinstance(part, tuple):
        digest.update(f"({len(part)}".encode())
        for item in part:
            _feed(digest, item)
    else:
        digest.update(f"{type(part).__name__}:{part!r};".encode(errors="surrogatepass"))


def header(program: Program, name: str) -> list[str]:
    """Lines about a model, safe in comments of any language."""
    n_tests = sum(graph.n_tests for graph in program.graphs)
    n_graphs = len(program.graphs)
    lines = [
        f"{in_comment(name)}: {program.model} of {n_tests} tests"
        + (f" in {n_graphs} graphs" if n_graphs > 1 else ""),
        f"written by hedgerow {__version__}, checksum {checksum(program)}",
    ]
    classes = program.outputs[0].classes
    if classes is not None:
        shown = ", ".join(in_comment(label) for label in classes[:10])
        lines.append(f"classes: {shown}{', ...' if len(classes) > 10 else ''}")
    return lines


@dataclass(frozen=True, eq=False)
class SelfTest:
    """Rows and what a program says of them.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_features)
        Codes and numbers, NaN for what is missing.
    rows : list of list
        The same as people write them: categories as they are, None for what is missing, now and
        then a category that was never seen instead.
    values : ndarray of shape (n_rows, n_values)
    answers : list of ndarray
        For each output the numbers of the classes, or the numbers.
    """

    matrix: np.ndarray
    rows: list[list[Any]]
    values: np.ndarray
    answers: list[np.ndarray]


def self_test(program: Program, n_rows: int = N_ROWS) -> SelfTest:
    """The same rows for the same program: at thresholds and beside them, missing, never seen."""
    matrix = test_rows(program, n_rows)
    values, decisions = evaluate(program, matrix)
    rows = as_written(program, matrix)
    return SelfTest(matrix, rows, values, answers(program, values, decisions))


def test_rows(program: Program, n_rows: int) -> np.ndarray:
    """Rows out of what the program compares its features with; no chance in it."""
    matrix = np.empty((n_rows, program.n_features))
    candidates = compared_with(program)
    i = np.arange(n_rows)
    for f, feature in enumerate(program.features):
        # Another stride for every feature: rows combine all kinds of values.
        turn = (i * (2 * f + 3) + i // 5 + f) % (len(candidates[f]) + 1)
        known = np.append(candidates[f], np.nan)[turn]
        if feature.categories is None:
            side = (i + f) % 3
            known = np.where(side == 1, np.nextafter(known, np.inf), known)
            known = np.where(side == 2, np.nextafter(known, -np.inf), known)
            known = np.where(np.isinf(known), np.nan, known)
        matrix[:, f] = known
    return matrix


def compared_with(program: Program) -> list[np.ndarray]:
    """For each feature its finite thresholds (1.0 without any), or all codes."""
    found: list[set[float]] = [set() for _ in program.features]
    for step in program.steps:
        for graph in step.graphs if isinstance(step, Walk) else ():
            for test in np.flatnonzero((graph.kind == AXIS) & np.isfinite(graph.threshold)):
                if graph.column[test] < program.n_features:
                    found[graph.column[test]].add(float(graph.threshold[test]))
            for test in np.flatnonzero(graph.kind == OBLIQUE):
                oblique = graph.obliques[graph.detail[test]]
                for column, centre in zip(oblique.columns, oblique.centres, strict=True):
                    if column < program.n_features:
                        found[column].add(float(centre))
    return [
        np.arange(len(feature.categories), dtype=np.float64)
        if feature.categories is not None
        else np.array(sorted(found[f]) or [1.0])
        for f, feature in enumerate(program.features)
    ]


def as_written(program: Program, matrix: np.ndarray) -> list[list[Any]]:
    """Encoded rows with categories as they are, None or an unseen category for NaN."""
    columns = []
    for f, feature in enumerate(program.features):
        numbers = matrix[:, f].tolist()
        if feature.categories is None:
            columns.append([None if x != x else x for x in numbers])
            continue
        unseen = UNSEEN if _are_words(feature.categories) else None
        gaps = [unseen if (row + f) % 2 else None for row in range(len(matrix))]
        columns.append(
            [
                gap if x != x else feature.categories[int(x)]
                for x, gap in zip(numbers, gaps, strict=True)
            ]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def _are_words(categories: tuple) -> bool:
    return all(isinstance(value, str) for value in categories) and UNSEEN not in categories
