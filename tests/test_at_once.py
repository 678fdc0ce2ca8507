"""Threads that fit and predict at once answer as one alone does.

Without the GIL the engine's globals would show here; with it, what is done while it is released.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from small_models import answers, numbers, small, targets

from hedgerow.storage import MODELS

THREADS = 8
NAMES = (
    "decision-tree",
    "random-forest",
    "gradient-boosting",
    "tree-in-tree",
    "tao-tree",
    "tree-sum",
)


def at_once(work):
    """`work(k)` in 8 threads that start together."""
    start = Barrier(THREADS)

    def run(k):
        start.wait()
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.parametrize(
    "name", [f"{n}-{task}" for n in NAMES for task in ("classifier", "regressor")]
)
def test_eight_threads_fit_and_predict_at_once(name):
    X = numbers(400)
    y = targets(small(MODELS[name]), X)
    alone = answers(small(MODELS[name]).fit(X, y), X)
    for found in at_once(lambda k: answers(small(MODELS[name]).fit(X, y), X)):
        np.testing.assert_equal(found, alone)
    one = small(MODELS[name]).fit(X, y)
    for found in at_once(lambda k: answers(one, X)):
        np.testing.assert_equal(found, alone)
