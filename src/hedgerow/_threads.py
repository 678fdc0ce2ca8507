"""Calls that share memory, in threads: as many as can be started, this one among them.

joblib's threads come from ``multiprocessing.pool``, which fails with an unrelated AttributeError
where a thread cannot be started. As in the engine, those that there are do the work.
"""

from collections.abc import Callable, Iterable
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def in_threads(calls: Iterable[Callable[[], Result]], n_jobs: int) -> list[Result]:
    """What calls return, in their order.

    Parameters
    ----------
    calls : iterable of callables
        They leave the interpreter free while they compute.
    n_jobs : int
        Threads at most.

    Returns
    -------
    results : list
        The first failure by place is raised instead. After an interrupt of this thread the others
        end with the call that they are in, and are not waited for.
    """
    waiting = list(enumerate(calls))[::-1]
    n_calls = len(waiting)
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}

    def work() -> None:
        while waiting and not failures:
            try:
                place, call = waiting.pop()
            except IndexError:  # another thread took the last
                return
            try:
                results[place] = call()
            except BaseException as error:
                failures[place] = error

    threads: list[Thread] = []
    for _ in range(min(n_jobs, n_calls) - 1):
        thread = Thread(target=work, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # no room for more: these must do
            break
        threads.append(thread)
    try:
        work()
        if not any(isinstance(error, KeyboardInterrupt) for error in failures.values()):
            for thread in threads:
                thread.join()
    finally:
        waiting.clear()
    if failures:
        raise failures[min(failures)]
    return [results[place] for place in range(n_calls)]
