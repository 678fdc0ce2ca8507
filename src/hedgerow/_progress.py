"""Progress while members are grown: a bar for people, a callback for programs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to listen with."""

    def with_callbacks(method: Any) -> Any:
        """Nothing to tear down."""
        return method


Progress = Callable[[int], None]
_CALLBACKS = "_skl_callbacks"  # where scikit-learn keeps them


class Watched(CallbackSupportMixin):
    """An estimator whose long fit callbacks of scikit-learn may watch."""

    def watched_fit(self, n: int) -> Any:
        """The task of a fit of so many members; None when nobody watches, as it takes some time."""
        return self._init_callback_context(max_subtasks=n) if vars(self).get(_CALLBACKS) else None


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
def members_progress(estimator: Any, n: int) -> Iterator[Progress | None]:
    """The same for the members of an estimator; scikit-learn's callbacks are told as well.

    A member is a task of the fit. Members grow side by side, so a task begins and ends when its
    member is done, and a callback cannot stop the fit; its own ``callback`` may, by an exception.
    """
    with progress(estimator.verbose, estimator.callback, n, type(estimator).__name__) as report:
        fit = estimator.watched_fit(n)
        if fit is None:
            yield report
            return
        fit.call_on_fit_task_begin(estimator=estimator)
        told = 0

        def tell(done: int) -> None:
            nonlocal told
            for _ in range(told, done):
                member = fit.subcontext(task_name="member")
                member.call_on_fit_task_begin(estimator=estimator)
                member.call_on_fit_task_end(estimator=estimator)
            told = max(told, done)
            if report is not None:
                report(done)

        yield tell
        fit.call_on_fit_task_end(estimator=estimator)


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
