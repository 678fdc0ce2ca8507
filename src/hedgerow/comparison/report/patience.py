"""The time that a report may take."""

import math
from time import perf_counter
from typing import Any

import numpy as np

MOST_FOR_A_PICTURE = 30.0  # seconds: an extra picture is not worth more
MOST_FOR_IMPORTANCE = 20.0
SLOWER = 1.5  # a fit on all rows takes longer than one of a fold


class Patience:
    """Seconds until a report has to be there.

    Parameters
    ----------
    seconds : float or None
        None is no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._end - perf_counter()

    def allows(self, result: Any, is_best: bool) -> bool:
        """Whether there is time to fit the model of a result on all rows."""
        expected = SLOWER * float(np.median(result.fit_seconds))
        return expected < min(self.left, math.inf if is_best else MOST_FOR_A_PICTURE)

    @property
    def for_importance(self) -> float:
        """Seconds for shuffling features."""
        return min(MOST_FOR_IMPORTANCE, 0.6 * self.left)
