"""Progress while members are grown: a bar for people, a callback for programs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int], None]


@contextmanager
def progress(
    verbose: int, callback: Callable[[int, int], None] | None, n: int, what: str
) -> Iterator[Progress | None]:
    """A function to call with the number of members done so far, or None when nobody listens.

    Parameters
    ----------
    verbose : int
        A bar with members done and time left when positive (needs rich).
    callback : callable or None
        Called with (done, n).
    n : int
        Members to grow.
    what : str
        What they are, for the bar.
    """
    if not verbose:
        yield None if callback is None else lambda done: callback(done, n)
        return
    try:
        from rich.progress import Progress as Bar
        from rich.progress import TextColumn, TimeRemainingColumn
    except ImportError:
        raise ImportError(
            "verbose=1 draws its progress bar with rich; install it with "
            "'pip install \"hedgerow[cli]\"' or leave 'verbose' at 0."
        ) from None
    columns = [
        *Bar.get_default_columns()[:2],
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    ]
    with Bar(*columns) as bar:
        task = bar.add_task(what, total=n)

        def report(done: int) -> None:
            bar.update(task, completed=done)
            if callback is not None:
                callback(done, n)

        yield report


@contextmanager
def reading_progress(
    verbose: int,
    callback: Callable[[int, int], None] | None,
    n_rows: int | None,
    n_bytes: int | None,
) -> Iterator[Callable[[int, int], None]]:
    """A function to call with the rows and bytes of a table that were read, which is read twice."""
    with progress(verbose, None, 2 * (n_rows or n_bytes or 0), "reading") as bar:

        def report(rows: int, bytes_read: int) -> None:
            if bar is not None:
                bar(rows if n_rows else bytes_read)
            if callback is not None:
                callback(rows, bytes_read)

        yield report
