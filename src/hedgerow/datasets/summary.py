"""The columns of a table at a glance: what they are, how they are spread, what was converted."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow._columns import columns_of, factorize, is_categorical, is_frame
from hedgerow._reading import TableReading

MOST_BARS = 12
_MOST_SHOWN = 3  # categories by name
_MUCH = 0.5  # of a column that is missing
_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass
class ColumnSummary:
    """One column.

    Attributes
    ----------
    name : str
    kind : str
        "number", "date", "time", "yes/no", "category" or "left out"; "(target)" after it.
    n_rows, n_missing, n_values : int
        ``n_values`` are different ones.
    bars : list of int
        Numbers of cells: of equal parts of the range, or of the most frequent categories.
    labels : list of str
        Of the bars.
    spread : str
        Lowest, middle and highest value; or the most frequent categories with their shares.
    changes : list of str
        What was converted.
    warnings : list of str
    """

    name: str
    kind: str
    n_rows: int
    n_missing: int = 0
    n_values: int = 0
    bars: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    spread: str = ""
    changes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def sparkline(self) -> str:
        """The bars as one line of text."""
        top = max(self.bars, default=0)
        return "".join(_BLOCKS[-(-7 * bar // top)] if top else " " for bar in self.bars)


def summarise_columns(
    X: Any,
    *,
    reading: TableReading | None = None,
    left_out: Mapping[str, str] | None = None,
    target: str | None = None,
    y: Any = None,
) -> list[ColumnSummary]:
    """Summarise the columns of a table that was read.

    Parameters
    ----------
    X : data frame or array
    reading : TableReading, default=None
        How it was read: columns are then those of the raw table, with what was converted.
    left_out : mapping of str to str, default=None
        Columns that are no features, with the reason.
    target : str, default=None
    y : array-like, default=None
        Its values, where X has it not.

    Returns
    -------
    columns : list of ColumnSummary
    """
    names = [str(n) for n in X.columns] if is_frame(X) else [f"x{i}" for i in range(X.shape[1])]
    columns = dict(zip(names, columns_of(X), strict=True))
    if y is not None and target is not None:
        columns[target] = np.asarray(y)
    reasons = dict(left_out or {})
    entries = {} if reading is None else {entry.name: entry for entry in reading.columns}
    shown = list(entries) or [*columns, *(name for name in reasons if name not in columns)]
    found: list[ColumnSummary] = []
    first_with: dict[bytes, str] = {}
    for name in shown:
        entry = entries.get(name)
        summary = ColumnSummary(name, entry.kind if entry else "left out", len(X))
        if name in columns:
            same = _describe(summary, columns[name], is_date=summary.kind == "date")
            if same is not None and name != target:
                twin = first_with.setdefault(same, name)
                if twin != name:
                    summary.warnings.append(f"says the same as '{twin}' in every row")
        if entry is not None:
            summary.changes = entry.told()
            summary.warnings += entry.warnings
        if name in reasons:
            summary.kind = "left out"
            if not any(text.startswith("left out: ") for text in summary.warnings):
                summary.warnings.append(f"left out: it {reasons[name]}")
        elif summary.n_values == 1 and not summary.n_missing:
            summary.warnings.append("has only one value")
        elif summary.n_missing > _MUCH * summary.n_rows:
            share = 100 * summary.n_missing / summary.n_rows
            summary.warnings.append(f"{share:.0f} % of its cells are missing")
        if name == target:
            summary.kind += " (target)"
        found.append(summary)
    return found


def _describe(summary: ColumnSummary, column: Any, is_date: bool) -> bytes | None:
    """Fill in what a column holds; return what equal columns have in common."""
    is_words = is_categorical(column) or (
        isinstance(column, np.ndarray) and column.dtype.kind not in "iufb"
    )
    if is_words:
        codes, values, _ = factorize(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        order = np.argsort(-counts, kind="stable")
        summary.kind = summary.kind if summary.kind == "yes/no" else "category"
        summary.n_missing = int((codes < 0).sum())
        summary.n_values = int((counts > 0).sum())
        summary.bars = [int(counts[place]) for place in order[:MOST_BARS] if counts[place]]
        summary.labels = [str(values[place]) for place in order[: len(summary.bars)]]
        total = max(1, int(counts.sum()))
        shares = [
            f"{label} {100 * bar / total:.0f} %"
            for label, bar in zip(summary.labels, summary.bars, strict=True)
        ]
        more = summary.n_values - _MOST_SHOWN
        summary.spread = ", ".join(shares[:_MOST_SHOWN]) + (f", {more} more" if more > 0 else "")
        return _common(np.unique(codes, return_index=True, return_inverse=True), summary)
    numbers = column if isinstance(column, np.ndarray) else column.to_numpy()
    numbers = np.asarray(numbers, dtype=float)
    known = numbers[np.isfinite(numbers)]
    if summary.kind in ("left out", "words"):
        summary.kind = "number"
    summary.n_missing = int(len(numbers) - len(known))
    different, inverse = np.unique(known, return_inverse=True)
    summary.n_values = len(different)
    if not len(known):
        return None
    low, middle, high = np.quantile(known, [0, 0.5, 1])
    written = _as_date if is_date else _as_number
    summary.spread = f"{written(low)} … {written(middle)} … {written(high)}"
    if summary.n_values <= MOST_BARS and not is_date:
        summary.bars = np.bincount(inverse).tolist()
        summary.labels = [written(value) for value in different]
    else:
        near = np.quantile(known, [0.01, 0.99])  # the outermost bars hold what is beyond
        counts, edges = np.histogram(np.clip(known, *near), bins=MOST_BARS)
        summary.bars = counts.tolist()
        summary.labels = [f"{written(a)} to {written(b)}" for a, b in pairwise(edges.tolist())]
    return _common(np.unique(numbers, return_index=True, return_inverse=True), summary)


def _common(found: tuple, summary: ColumnSummary) -> bytes | None:
    """A hash of which rows have the same value, whatever it is called."""
    if summary.n_values < 2:
        return None
    _, first, inverse = found
    rank = np.argsort(np.argsort(first))  # values by their first row
    return hashlib.blake2b(rank[inverse.ravel()].astype(np.int32).tobytes()).digest()


def _as_number(value: float) -> str:
    is_whole = value == round(value) or abs(value) >= 1000
    return f"{value:,.0f}" if is_whole and abs(value) < 1e12 else f"{value:.4g}"


def _as_date(years: float) -> str:
    """The day of a year with a fraction."""
    begin, end = date(int(years), 1, 1), date(int(years) + 1, 1, 1)
    days = (years - int(years)) * (end - begin).days
    return (begin + timedelta(days=days + 1e-6)).isoformat()
