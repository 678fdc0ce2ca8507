"""Budgets: a plan by name or a time by number, and keeping to the time.

`parse_budget` reads ``"small"``, ``"balanced"``, ``"thorough"``, ``"90s"``, ``"10min"``, ``"1h"``.
`time_limit` stops what runs too long.
"""

import _thread
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hedgerow.compare.models import BUDGETS, Budget

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
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError in the body after so many seconds.

    It works as Ctrl-C does: in the main thread, and within a second in hedgerow's own models;
    another library's call is stopped when it returns to Python.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        _thread.interrupt_main()

    def interrupt(*_: object) -> None:
        if expired.is_set():
            raise KeyboardInterrupt

    # A shell starts its background jobs with interrupts ignored: then only ours is heard.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, interrupt)
    timer = threading.Timer(max(seconds, 0.0), stop)
    timer.daemon = True
    try:
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # an interrupt that is on its way arrives here
    except KeyboardInterrupt:
        if expired.is_set():
            raise TimeoutError(f"stopped after {seconds:.0f} s") from None
        raise
    finally:
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
