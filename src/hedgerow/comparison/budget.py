"""Budgets: a plan by name or a time by number; and a bar with the time that is left.

`parse_budget` reads ``"small"``, ``"balanced"``, ``"thorough"``, ``"90s"``, ``"10min"``, ``"1h"``.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hedgerow.comparison.models import BUDGETS, Budget

Listener = Callable[[int, int, str, float | None], None]

_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


class Plan(NamedTuple):
    """What a budget means: which models, and the seconds there are, if any."""

    budget: Budget
    seconds: float | None


def parse_budget(budget: str | float | None) -> Plan:
    """The plan of a budget; a time is kept by the balanced plan.

    Parameters
    ----------
    budget : str, float or None
        A name, a time such as "10min", or seconds. None is "balanced".

    Returns
    -------
    plan : Plan
    """
    if budget is None:
        return Plan("balanced", None)
    for known in BUDGETS:
        if budget == known:
            return Plan(known, None)
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *([a-z]*)", str(budget).strip().lower())
    if match and (match[2] in _SECONDS or match[2] == ""):
        seconds = float(match[1]) * _SECONDS.get(match[2], 1)
        if seconds > 0:
            return Plan("balanced", seconds)
    raise ValueError(
        f"'budget' must be one of {', '.join(BUDGETS)} or a time such as 90s, 10min or 1h, "
        f"got {budget!r}."
    )


@contextmanager
def progress_bar(progress: bool | Listener | None) -> Iterator[Listener]:
    """A function that is told of folds done, folds to do, what comes next and the seconds left.

    Parameters
    ----------
    progress : bool, callable or None
        True shows a bar; None does so where someone looks: in a terminal or a notebook, if rich is
        installed. A function is returned as it is.
    """
    if callable(progress):
        yield progress
        return
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
        wanted = False
    else:
        wanted = progress
    if not progress:
        yield _silent
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        if not wanted:
            yield _silent
            return
        raise ImportError(
            "progress=True draws its bar with rich; install it with "
            "'pip install \"hedgerow[cli]\"' or leave 'progress' at None."
        ) from None
    columns = (
        BarColumn(24),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1, left="")

        def report(done: int, total: int, what: str, seconds: float | None) -> None:
            left = "" if seconds is None else f"{in_words(seconds)} left"
            bar.update(task, completed=done, total=total, description=what, left=left)

        yield report


def _silent(done: int, total: int, what: str, seconds: float | None) -> None:
    """Nobody listens."""


def in_words(seconds: float) -> str:
    """A time for people: 0.4 s, 25 s, 2 min 10 s, 1 h 5 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def extrapolate(sizes: Sequence[int], seconds: Sequence[float], n_rows: int) -> float:
    """Seconds of a fit on many rows, from two fits on few.

    A cost that is the same for all rows, and one for each row; a power of the rows where it grows
    faster than they do; at least their square root, for a first fit that had to load a library.

    Parameters
    ----------
    sizes, seconds : two numbers
        The smaller fit first.
    n_rows : int

    Returns
    -------
    seconds : float

    Examples
    --------
    >>> extrapolate((500, 2000), (0.25, 0.4), 40_000)
    4.2
    """
    (small, large), (first, second) = sizes, seconds
    growth = n_rows / large
    power = math.log(max(second, 1e-9) / max(first, 1e-9)) / math.log(large / small)
    if power > 1:
        return second * growth ** min(power, 1.5)
    line = second + (second - first) / (large - small) * (n_rows - large)
    return round(max(line, second * math.sqrt(growth)), 9)
