"""A comparison in the terminal: the leaderboard, what it comes to, and who is not on it."""

from typing import Literal, NamedTuple

from rich.table import Table

from hedgerow.comparison import Comparison, Result
from hedgerow.comparison.metrics import label_of
from hedgerow.comparison.ranking import unranked as unranked_by_reason
from hedgerow.comparison.records import COSTS, INTERRUPTED, UNITS

FEWEST_COLUMNS = 3
EXTRA = 100  # from this rank on a column is for wide terminals only


def unranked(result: Comparison) -> list[str]:
    """Models without a place in the ranking, and why; those that Ctrl-C cut off by themselves."""
    known = [entry for entry in result.results if entry.error != INTERRUPTED]
    fates = [f"{', '.join(names)} ({why})" for why, names in unranked_by_reason(known).items()]
    lines = [f"not ranked: {'; '.join(fates)}"] if fates else []
    cut = [entry.name for entry in result.results if entry.error == INTERRUPTED]
    if cut and result.ranked:
        folds = counted(len(result.best_result.counted), "fold")
        lines.append(f"interrupted: the ranking is on {folds} of {result.n_folds}")
        missing = [
            entry.name for entry in result.results if not entry.is_ranked and entry.name in cut
        ]
        if missing:
            lines.append(f"not ranked, for want of folds: {', '.join(missing)}")
    return lines


def counted(number: int, noun: str) -> str:
    """A number of things: 1 fold, 2 folds."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def leaderboard(result: Comparison, width: int = 120) -> Table:
    """The comparison as a table for people, as wide as the terminal at most.

    Where it is narrow, what is nice to have is left out, names go without "hedgerow", sizes are
    rounded, and then the columns that matter least are left out: a number is never cut.
    """
    data = result.data
    columns = _columns(result, is_wide=True)
    while _width(columns) > width and max(column.rank for column in columns) >= EXTRA:
        columns.remove(max(columns, key=lambda column: column.rank))
    if _width(columns) > width:
        columns = [column for column in _columns(result, is_wide=False) if column.rank < EXTRA]
    while _width(columns) > width and len(columns) > FEWEST_COLUMNS:
        columns.remove(max(columns, key=lambda column: column.rank))
    table = Table(
        title=f"{data.name}: {result.task} of {data.target}, {data.n_rows:,} rows, "
        f"{data.n_features} features",
        caption=f"{result.division}, seed {result.random_state}; mean ± std of the score, "
        "medians of the rest\n≈ about as good as the best",
    )
    for column in columns:
        table.add_column(column.name, justify=column.justify, no_wrap=True)
    ours = [entry.is_ours for entry in result.ranked]
    for is_ours, cells in zip(ours, zip(*(c.cells for c in columns), strict=True), strict=True):
        table.add_row(*cells, style="bold" if is_ours else None)
    return table


class Column(NamedTuple):
    """A column of the leaderboard; those with the highest rank are left out first."""

    rank: int
    name: str
    cells: list[str]
    justify: Literal["left", "right"] = "right"


def _width(columns: list[Column]) -> int:
    """Of the table, its lines included."""
    return 1 + sum(3 + max(len(c.name), *map(len, c.cells)) for c in columns)


def _columns(result: Comparison, is_wide: bool) -> list[Column]:
    rows = [row for row in result.rows if row["rank"] is not None]
    metric, *others = result.metrics
    size = _whole if is_wide else _rounded
    level = {True: " ≈", False: "  "}
    return [
        Column(0, "model", [_name(row["model"], is_wide) for row in rows], "left"),
        Column(
            1,
            label_of(metric),
            [
                f"{_score(row[metric])} ± {_score(row[metric + '_std'])}"
                + level[row["about_as_good"]]
                for row in rows
            ],
        ),
        *(
            Column(10 + place, label_of(other), [significant(row[other]) for row in rows])
            for place, other in enumerate(others)
        ),
        Column(3, "splits", [size(row["splits"]) for row in rows]),
        Column(2, "bytes", [size(row["bytes"]) for row in rows]),
        Column(5, "fit s", [significant(row["fit_seconds"], 2) for row in rows]),
        Column(EXTRA, "longest path", [_whole(row["longest_path"]) for row in rows]),
        Column(EXTRA + 1, "file bytes", [size(row["file_bytes"]) for row in rows]),
        Column(4, UNITS["latency"], [significant(row["us_per_row"], 2) for row in rows]),
    ]


def _name(name: str, is_wide: bool) -> str:
    return name if is_wide else name.removeprefix("hedgerow ").replace("scikit-learn", "sklearn")


def _score(value: float) -> str:
    # A score that rounds to nothing has no sign.
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 100 else significant(value, 5)


def _whole(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _rounded(value: int | None) -> str:
    """A size in a few characters: 950, 5.9k, 323k, 1.2M."""
    if value is None or value < 1000:
        return "?" if value is None else str(value)
    units = (("k", 1e3), ("M", 1e6), ("G", 1e9))
    unit, power = next((pair for pair in units if value < 999.5 * pair[1]), units[-1])
    return f"{value / power:.{1 if value < 9.95 * power else 0}f}{unit}"


def summary(result: Comparison) -> list[str]:
    """The Pareto fronts, and the smallest model that is about as good as the best."""
    lines = []
    for cost, attribute in COSTS.items():
        front = [
            f"{name} ({result[name].mean(result.metric):.3f}, "
            f"{_cost(getattr(result[name], attribute), UNITS[cost])})"
            for name in result.pareto(cost)
        ]
        if front:
            lines.append(f"Best for its {cost}: " + " → ".join(front))
    if result.best_result is result.constant:
        lines.append("No model is better than a constant.")
    elif any(entry.is_ours for entry in result.ranked):
        simplest, best = result.simplest_result, result.best_result.name
        lines.append(
            f"Smallest of hedgerow's that is about as good as the best: {simplest.name}"
            f"{_to_read(simplest)}"
            if simplest.about_as_good
            else f"None of hedgerow's is about as good as {best}; the nearest is {simplest.name}"
            f"{_to_read(simplest)}"
        )
    return lines


def _to_read(result: Result) -> str:
    """How large a model is, and the longest path through it."""
    found = [] if result.n_bytes is None else [f"{result.n_bytes:,} bytes"]
    found += [] if result.depth is None else [f"longest path {counted(result.depth, 'test')}"]
    return f" ({', '.join(found)})" if found else ""


def significant(value: float | None, digits: int = 3) -> str:
    """A number to a few significant digits and without an exponent: 47196 as 47,200."""
    if value is None:
        return "?"
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def _cost(value: float, unit: str) -> str:
    if isinstance(value, int):
        return counted(value, unit.removesuffix("s"))
    return f"{significant(value)} {unit}"
