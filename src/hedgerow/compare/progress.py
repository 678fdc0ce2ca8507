"""Progress of a comparison: a bar with the time left, or a function of the caller's."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int, str, float | None], None]


@contextmanager
def progress_bar(progress: bool | Report | None) -> Iterator[Report]:
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
