"""What the columns of a program hold, for targets that keep categories as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.reading import ExportError


def categories_of(program: p.Program) -> list[Sequence[Any] | None]:
    """For each column its categories by code, None for numbers.

    The columns of `Recode` hold codes of other lists: there the categories are the codes.
    """
    found: list[Sequence[Any] | None] = [feature.categories for feature in program.features]
    for step in program.steps:
        if isinstance(step, p.Recode):
            found.append(range(int(step.table.max(initial=-1)) + 1))
        else:
            found += [None] * step.width
    _check_numbers(program, found)
    return found


def sides(graph: p.Graph, test: int, categories: Sequence[Any]) -> tuple[list[Any], bool]:
    """The categories that decide a test, and whether they go left.

    All others, the missing and those never seen go to the other side.
    """
    goes_left = graph.sets[graph.detail[test]]
    named = not graph.missing_left[test]
    places = np.flatnonzero(goes_left == named)
    return [categories[place] for place in places.tolist() if place < len(categories)], named


def columns_of_step(step: p.Step) -> set[int]:
    """The columns that a step reads."""
    found: list[Any] = []
    for attribute in ("columns", "parts", "sources", "fill_columns"):
        if getattr(step, attribute, None) is not None:
            found += np.asarray(getattr(step, attribute)).ravel().tolist()
    if isinstance(step, p.Recode):
        found.append(step.column)
    for graph in step.graphs if isinstance(step, p.Walk) else ():
        found += graph.column[graph.column >= 0].tolist()
        for oblique in graph.obliques:
            found += [*oblique.columns.tolist(), *(place for place, _, _ in oblique.tables)]
    return set(found)


def columns_read(program: p.Program) -> set[int]:
    """The columns that any step reads."""
    return set().union(*map(columns_of_step, program.steps))


def _check_numbers(program: p.Program, categories: list[Sequence[Any] | None]) -> None:
    """Refuse codes of categories that are read as numbers."""
    read: list[np.ndarray] = []
    for step in program.steps:
        if isinstance(step, p.Walk):
            read += [oblique.columns for graph in step.graphs for oblique in graph.obliques]
        elif isinstance(step, p.Numbers):
            read.append(step.sources[step.categories < 0])
    for column in set(np.concatenate([np.empty(0, dtype=int), *read]).tolist()):
        if categories[column] is not None:
            raise ExportError(
                f"A member reads the codes of feature {column} as numbers: name it in the member's "
                "'categorical_features', or export to JavaScript or JSON."
            )
