"""How long a fitted model takes for a row."""

from time import perf_counter
from typing import Any

import numpy as np

from hedgerow._columns import take_rows

ROWS_TIMED = 1000  # at least so many, so that a call's fixed cost does not count for much
TIMINGS = 3


def time_row(model: Any, X: Any) -> float:
    """Microseconds per row of predicting a thousand rows or more at once; the best of three calls.

    Parameters
    ----------
    model : estimator
    X : array or data frame
        Rows to predict, repeated where they are too few.

    Returns
    -------
    microseconds : float
    """
    n_rows = X.shape[0]
    if n_rows < ROWS_TIMED:
        X = take_rows(X, np.resize(np.arange(n_rows), ROWS_TIMED))
    best = np.inf
    for _ in range(TIMINGS):
        began = perf_counter()
        model.predict(X)
        best = min(best, perf_counter() - began)
    return best / X.shape[0] * 1e6
