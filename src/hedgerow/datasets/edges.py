"""Rows that people put around a table: second header lines below the first, totals at the end.

They are no observations, and are left out and told where a table is read to learn from it. Titles
above the header of a text file are passed over by ``text_files``.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow._cells import MISSING_BESIDE_NUMBERS, folded, read_number, tidied

MOST_LINES = 3  # of header, or of totals
LOOKED_AT = 200  # rows, to see what a column holds
ENOUGH = 0.95  # of the other cells that must be numbers
FEWEST_ROWS = 8
TITLE_ROWS = 20
TOTAL = re.compile(
    r"(grand |sub-?)?(totals?|sum|average|mean)|(gesamt|zwischen)?summe|(ins)?gesamt|mittelwert|"
    r"total général|totale|moyenne",
    re.IGNORECASE,
)


def trim(frame: Any) -> tuple[Any, list[str]]:
    """Leave out rows that are not of the table.

    Parameters
    ----------
    frame : pandas DataFrame
        As it was read from a file.

    Returns
    -------
    frame : pandas DataFrame
    notes : list of str
    """
    notes = []
    frame, n_titles = _without_titles(frame)
    if n_titles:
        rows = "row" if n_titles == 1 else f"{n_titles} rows"
        notes.append(f"the first {rows} above the names of the columns were passed over")
    n_lines = 0
    while n_lines < MOST_LINES and _is_header(frame, n_lines):
        n_lines += 1
    if n_lines:
        shown = ", ".join(f"'{word}'" for word in _words(frame.iloc[0])[:3])
        rows = "row is a" if n_lines == 1 else f"{n_lines} rows are"
        notes.append(f"the first {rows} second header ({shown}, …), left out")
        frame = frame.iloc[n_lines:].reset_index(drop=True)
    n_totals = 0
    while n_totals < MOST_LINES and _is_total(frame.iloc[: len(frame) - n_totals]):
        n_totals += 1
    if n_totals:
        rows = "row is a total" if n_totals == 1 else f"{n_totals} rows are totals"
        notes.append(f"the last {rows}, left out")
        frame = frame.iloc[: len(frame) - n_totals]
    return frame, notes


def _without_titles(frame: Any) -> tuple[Any, int]:
    """A sheet whose names stand some rows below its begin, with these names."""
    unnamed = sum(str(name).startswith("Unnamed: ") for name in frame.columns)
    if unnamed <= len(frame.columns) / 2:
        return frame, 0
    for place in range(min(TITLE_ROWS, len(frame))):
        row = frame.iloc[place]
        names = _words(row)
        if len(names) == len(set(names)) == len(frame.columns):
            below = frame.iloc[place + 1 :].reset_index(drop=True)
            return below.set_axis(names, axis=1).infer_objects(), place + 1
    return frame, 0


def _words(row: Any) -> list[str]:
    """The words of a row: neither numbers nor missing."""
    return [tidied(cell) for cell in row if isinstance(cell, str) and _is_word(cell)]


def _is_word(cell: str) -> bool:
    return folded(cell) not in MISSING_BESIDE_NUMBERS and not _numbers([cell])


def _numbers(cells: Any) -> list[float]:
    """Those cells that are numbers, with points or commas."""
    found = []
    for cell in cells:
        if not isinstance(cell, str):
            value = float(cell) if isinstance(cell, int | float | np.number) else np.nan
        else:
            number = read_number(tidied(cell), ".") or read_number(tidied(cell), ",")
            value = np.nan if number is None else number.value
        if np.isfinite(value):
            found.append(value)
    return found


def _is_header(frame: Any, place: int) -> bool:
    """Whether a row has words where the rows below have numbers, and no number."""
    if len(frame) < FEWEST_ROWS + place:
        return False
    row = frame.iloc[place]
    if _numbers(row):
        return False
    return sum(_holds_numbers(frame, name, place) for name in _text_columns(frame, row)) >= 2


def _text_columns(frame: Any, row: Any) -> Iterator[int]:
    for place, cell in enumerate(row):
        if isinstance(cell, str) and _is_word(cell):
            yield place


def _holds_numbers(frame: Any, column: int, place: int) -> bool:
    cells = frame.iloc[place + MOST_LINES : place + MOST_LINES + LOOKED_AT, column].dropna()
    present = [
        c for c in cells if not isinstance(c, str) or folded(c) not in MISSING_BESIDE_NUMBERS
    ]
    return len(present) >= 3 and len(_numbers(present)) >= ENOUGH * len(present)


def _is_total(frame: Any) -> bool:
    """Whether the last row calls itself a total, and adds up the others or says little else."""
    if len(frame) < FEWEST_ROWS:
        return False
    row = frame.iloc[-1]
    named = [
        place
        for place, cell in enumerate(row)
        if isinstance(cell, str) and TOTAL.fullmatch(tidied(cell).rstrip(":"))
    ]
    if len(named) != 1:
        return False
    above = frame.iloc[-50:-MOST_LINES, named[0]]
    if above.map(lambda cell: isinstance(cell, str) and bool(TOTAL.fullmatch(tidied(cell)))).any():
        return False  # a word of the column
    said = [
        place
        for place in range(len(row))
        if place not in named
        and row.iloc[place] == row.iloc[place]
        and str(row.iloc[place]).strip()
    ]
    if len(said) < len(row) / 2:
        return True
    return any(_adds_up(frame, place) for place in said)


def _adds_up(frame: Any, place: int) -> bool:
    last = _numbers([frame.iloc[-1, place]])
    others = _numbers(frame.iloc[:-1, place])
    if not last or len(others) < FEWEST_ROWS // 2:
        return False
    near = 1e-6 * abs(last[0]) + 0.01
    return any(abs(last[0] - found) <= near for found in (sum(others), float(np.mean(others))))
