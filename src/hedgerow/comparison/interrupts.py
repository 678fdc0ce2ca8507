"""Ctrl-C and limits of time: told apart, and never taken for the failure of a model."""

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Hears every Ctrl-C while it is entered.

    It passes it on as before. But a library may turn the exception into one of its own, or swallow
    it; ``heard`` tells of it all the same. Outside of the main thread, to which signals go, it does
    nothing.

    Attributes
    ----------
    heard : bool
        Whether there was a Ctrl-C.
    """

    def __init__(self) -> None:
        self.heard = False
        self._expired = False
        self._before: Any = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            if self._before is not None:  # a handler that Python did not set cannot be set again
                signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._expired:
            raise KeyboardInterrupt
        if self._before is signal.SIG_IGN:  # as in a background job of a shell
            return
        self.heard = True
        if callable(self._before):
            self._before(number, frame)
        else:
            raise KeyboardInterrupt

    @contextmanager
    def limit(self, seconds: float | None) -> Iterator[None]:
        """Raise TimeoutError in the body after so many seconds.

        It works as Ctrl-C does: within a second in hedgerow's own models; another library's call
        is stopped when it returns to Python.
        """
        if seconds is None or self._before is None:
            yield
            return

        def stop() -> None:
            self._expired = True
            _thread.interrupt_main()

        timer = threading.Timer(max(seconds, 0.0), stop)
        timer.daemon = True
        try:
            timer.start()
            try:
                yield
            finally:
                timer.cancel()
                timer.join()  # an interrupt that is on its way arrives here
        except (KeyboardInterrupt, Exception):
            if self._expired and not self.heard:
                raise TimeoutError(f"stopped after {seconds:.0f} s") from None
            raise
        finally:
            self._expired = False
