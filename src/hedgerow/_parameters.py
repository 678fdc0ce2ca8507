"""Checks of constructor parameters, with one wording for all estimators.

Every message says which parameter, what it must be and what was given:
``'max_depth' must be a positive int or None, got -3.``
"""

import numbers
from collections.abc import Collection

import joblib
import numpy as np

_MOST_THREADS = 256  # more only cost memory


def _fail(name: str, expected: str, value: object) -> None:
    raise ValueError(f"'{name}' must be {expected}, got {value!r}.")


def is_int(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_int(name: str, value: object, *, low: int, optional: bool = False) -> None:
    """An int of at least ``low``, or None where ``optional``."""
    if optional and value is None:
        return
    if not is_int(value) or value < low:  # type: ignore[operator]
        words = {0: "a non-negative int", 1: "a positive int"}.get(low, f"an int of at least {low}")
        _fail(name, words + " or None" * optional, value)


def check_real(
    name: str, value: object, *, low: float, high: float = np.inf, auto: bool = False
) -> None:
    """A finite number in [low, high], or the word "auto" where that is allowed."""
    if auto and isinstance(value, str) and value == "auto":
        return
    try:
        finite = is_real(value) and np.isfinite(float(value))  # type: ignore[arg-type]
    except OverflowError:  # an int beyond every float
        finite = False
    if not finite or not low <= value <= high:  # type: ignore[operator]
        span = f"of at least {low:g}" if high == np.inf else f"from {low:g} to {high:g}"
        _fail(name, f"a number {span}" + " or 'auto'" * auto, value)


def check_open_share(name: str, value: object) -> None:
    """A share of all that is neither none nor all of it."""
    if not is_real(value) or not 0 < value < 1:  # type: ignore[operator]
        _fail(name, "a number between 0 and 1, both excluded", value)


def check_option(name: str, value: object, options: Collection[str]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        _fail(name, "one of " + ", ".join(repr(option) for option in options), value)


def check_bool(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        _fail(name, "True or False", value)


def count_or_share(name: str, value: object, n: int, *, low: int) -> int:
    """An int of at least ``low`` as it is, or a float in (0, 1] as that share of ``n``."""
    if is_int(value) and value >= low:  # type: ignore[operator]
        return int(value)  # type: ignore[call-overload]
    if isinstance(value, float | np.floating) and 0 < value <= 1:
        return max(low, int(np.ceil(value * n)))
    _fail(name, f"an int of at least {low} or a float in (0, 1]", value)
    raise AssertionError


def features_to_try(max_features: object, n_features: int) -> int:
    """The number of features looked at per split, by scikit-learn's rules."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if isinstance(max_features, str) and max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if is_int(max_features) and max_features >= 1:  # type: ignore[operator]
        return min(int(max_features), n_features)  # type: ignore[call-overload]
    if isinstance(max_features, float | np.floating) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    _fail("max_features", "a positive int, a float in (0, 1], 'sqrt', 'log2' or None", max_features)
    raise AssertionError


def max_bins_code(max_bins: object) -> int:
    """The engine's word for ``max_bins``: 0 stands for None."""
    if max_bins is None:
        return 0
    if not is_int(max_bins) or not 2 <= max_bins <= 65535:  # type: ignore[operator]
        _fail("max_bins", "an int from 2 to 65535 or None", max_bins)
    return int(max_bins)  # type: ignore[call-overload]


def resolve_n_jobs(n_jobs: object) -> int:
    """The number of threads, by joblib's rules."""
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        _fail("n_jobs", "a non-zero int or None", n_jobs)
    return min(int(joblib.effective_n_jobs(n_jobs)), _MOST_THREADS)
