"""Functions that every target computes in the same way, bit by bit."""

import numpy as np

from hedgerow._engine import link

# e^x = 2^k e^r: the two parts of ln 2, and the divisors of r^13, r^12, ... r^2.
LN2_UPPER, LN2_LOWER, LOG2_E = 0.6931471805592082, 7.371002565167799e-13, 1.4426950408889634
DIVISORS = (
    6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0,
    24.0, 6.0, 2.0,
)  # fmt: skip


def exponential(x: np.ndarray) -> np.ndarray:
    """The engine's exponential, which ``cpp/base/exponential.hpp`` spells out."""
    x = np.asarray(x, dtype=np.float64)
    return link(np.ascontiguousarray(x.reshape(-1, 1)), "log").reshape(x.shape)


def square_root(x: np.ndarray) -> np.ndarray:
    """The square root to within a unit in the last place; 0.0 of what is not positive.

    x is divided or multiplied by 4 until it is in [1, 4); Newton's ``y = 0.5 * (y + x / y)`` is
    taken from 1.5 on, six times; y is doubled or halved as often.
    """
    x = np.asarray(x, dtype=np.float64)
    fraction, exponent = np.frexp(np.where(x > 0, x, 1.0))
    odd = exponent % 2  # fraction in [0.5, 1): times 2 or 4 it is in [1, 4)
    scaled = fraction * np.where(odd == 1, 2.0, 4.0)
    y = np.full_like(x, 1.5)
    for _ in range(6):
        y = 0.5 * (y + scaled / y)
    return np.where(x > 0, np.ldexp(y, (exponent - np.where(odd == 1, 1, 2)) // 2), 0.0)
