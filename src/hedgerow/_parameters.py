"""Rules that constructor parameters must keep, with one wording for all estimators.

A `Rule` says in words what a parameter may be, for the documentation, and checks a value. Every
refusal says which parameter, what it must be and what was given:
``'max_depth' must be a positive int or None, got -3.``

The functions below the rules turn checked values into the engine's terms.
"""

import numbers
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.utils import check_random_state

MOST = int(np.iinfo(np.int32).max)  # no tree has more rows, levels or leaves than this
MOST_MEMBERS = 10**6  # of an ensemble: more are a slip, and would fill the memory
OWN_SEEDS = 2**64  # from here on: what a tree draws from as a member of a forest, see tree_seed
_MOST_THREADS = 256  # more only cost memory


@dataclass(frozen=True)
class Rule:
    """What a parameter may be: in words, and as a check of (name, value) that raises."""

    words: str
    check: Callable[[str, Any], None]


def refuse(name: str, expected: str, value: object) -> None:
    raise ValueError(f"'{name}' must be {expected}, got {value!r}.")


def is_int(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: object) -> bool:
    """A finite number that is no bool."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # an int beyond every float
        return False


def is_word(value: object, word: str) -> bool:
    """Whether a value is the given string; arrays, for one, are no strings."""
    return isinstance(value, str) and value == word


def check_int(
    name: str, value: Any, *, low: int, high: int | None = None, optional: bool = False
) -> None:
    """An int of at least ``low`` and at most ``high``, or None where ``optional``."""
    if (optional and value is None) or (is_int(value) and value >= low):
        if high is None or value is None or value <= high:
            return
        refuse(name, f"at most {high}", value)
    expected = {0: "a non-negative int", 1: "a positive int"}.get(low, f"an int of at least {low}")
    refuse(name, expected + " or None" * optional, value)


def check_option(name: str, value: object, options: Collection[str]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        refuse(name, "one of " + ", ".join(repr(option) for option in options), value)


def integer(
    low: int = 1, *, high: int | None = None, optional: bool = False, word: str | None = None
) -> Rule:
    """An int from ``low`` to ``high``, or None where ``optional``, or the given word."""

    def check(name: str, value: Any) -> None:
        if word is None:
            check_int(name, value, low=low, high=high, optional=optional)
        elif not ((is_int(value) and value >= low) or is_word(value, word)):
            if optional and value is None:
                return
            refuse(name, f"a positive int, {word!r}" + " or None" * optional, value)

    return Rule("int" + f', "{word}"' * (word is not None) + " or None" * optional, check)


def real(
    low: float,
    high: float = np.inf,
    *,
    optional: bool = False,
    word: str | None = None,
    above: bool = False,
) -> Rule:
    """A finite number from ``low`` (excluded where ``above``) to ``high``, None, or a word."""

    def check(name: str, value: Any) -> None:
        if (optional and value is None) or (word is not None and is_word(value, word)):
            return
        if is_real(value) and low <= value <= high and not (above and value == low):
            return
        span = f" of at least {low:g}" if high == np.inf else f" from {low:g} to {high:g}"
        span = f" above {low:g}" if above else span
        span = "" if low == -np.inf else span
        others = f" or {word!r}" * (word is not None) + " or None" * optional
        refuse(name, f"a number{span}{others}", value)

    return Rule("float" + f' or "{word}"' * (word is not None) + " or None" * optional, check)


def option(*options: str, optional: bool = False) -> Rule:
    """One of a few words, or None where ``optional``."""

    def check(name: str, value: Any) -> None:
        if not (optional and value is None):
            check_option(name, value, options)

    return Rule("{" + ", ".join(f'"{o}"' for o in options) + "}" + " or None" * optional, check)


def count(low: int, *, optional: bool = False) -> Rule:
    """An int of at least ``low``, or a float in (0, 1]: a share of all."""

    def check(name: str, value: Any) -> None:
        if not (optional and value is None):
            count_or_share(name, value, MOST, low=low)

    return Rule("int or float" + " or None" * optional, check)


def anything(words: str) -> Rule:
    """A parameter that is looked at where it is used."""
    return Rule(words, lambda name, value: None)


def _check_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        refuse(name, "True or False", value)


def _check_optional_bool(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool | np.bool_):
        refuse(name, "True, False or None", value)


def _check_optional_share(name: str, value: Any) -> None:
    if value is not None and (not is_real(value) or not 0 < value < 1):
        refuse(name, "a number between 0 and 1, both excluded, or None", value)


def _check_share(name: str, value: Any) -> None:
    if not is_real(value) or not 0 < value < 1:
        refuse(name, "a number between 0 and 1, both excluded", value)


def _check_seed(name: str, value: Any) -> None:
    if is_int(value) and (0 <= value < 2**32 or OWN_SEEDS <= value < 2 * OWN_SEEDS):
        return  # making a generator would take 0.1 ms
    try:
        check_random_state(value)
    except ValueError:
        refuse(name, "an int from 0 to 2**32 - 1, a RandomState instance or None", value)


def _check_class_weight(*words: str) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if value is None or isinstance(value, dict):
            return
        if isinstance(value, list) and all(isinstance(part, dict) for part in value):
            return  # one for each output
        check_option(name, value, words)

    return check


def _check_categorical(name: str, value: Any) -> None:
    is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    if value is not None and not is_list and not is_word(value, "auto"):
        refuse(name, "'auto', None, or a list of names, indices or booleans", value)


def _check_verbose(name: str, value: Any) -> None:
    check_int(name, int(value) if isinstance(value, bool | np.bool_) else value, low=0)


def _check_callback(name: str, value: Any) -> None:
    if value is not None and (not callable(value) or isinstance(value, type)):
        refuse(name, "a function or None", value)


def _check_bool_or_callable(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_) and (not callable(value) or isinstance(value, type)):
        refuse(name, "True, False or a function", value)


FLAG = Rule("bool", _check_bool)
OPTIONAL_FLAG = Rule("bool or None", _check_optional_bool)
FLAG_OR_FUNCTION = Rule("bool or callable", _check_bool_or_callable)
OPEN_SHARE = Rule("float", _check_share)
OPTIONAL_OPEN_SHARE = Rule("float or None", _check_optional_share)
SEED = Rule("int, RandomState instance or None", _check_seed)
PRESET = option("paper", optional=True)
CLASS_WEIGHT = Rule('dict, list of dict, "balanced" or None', _check_class_weight("balanced"))
BAG_CLASS_WEIGHT = Rule(
    'dict, list of dict, "balanced", "balanced_subsample" or None',
    _check_class_weight("balanced", "balanced_subsample"),
)
CATEGORICAL = Rule('"auto", None or list', _check_categorical)
VERBOSE = Rule("int", _check_verbose)
CALLBACK = Rule("callable or None", _check_callback)
N_JOBS = Rule("int or None", lambda name, value: _check_n_jobs(value))
MAX_BINS = Rule("int or None", lambda name, value: _check_max_bins(value))
MAX_FEATURES = Rule(
    'int, float, {"sqrt", "log2"} or None', lambda name, value: _check_max_features(value)
)


def _check_n_jobs(n_jobs: Any) -> None:
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        refuse("n_jobs", "a non-zero int or None", n_jobs)


def _check_max_bins(max_bins: Any) -> None:
    if max_bins is not None and (not is_int(max_bins) or not 2 <= max_bins <= 65535):
        refuse("max_bins", "an int from 2 to 65535 or None", max_bins)


def _check_max_features(max_features: Any) -> None:
    features_to_try(max_features, 1)


def count_or_share(name: str, value: Any, n: int, *, low: int) -> int:
    """An int of at least ``low`` as it is, or a float in (0, 1] as that share of ``n``."""
    if is_int(value) and value >= low:
        return limit(value)
    if isinstance(value, float | np.floating) and 0 < value <= 1:
        return max(low, int(np.ceil(value * n)))
    refuse(name, f"an int of at least {low} or a float in (0, 1]", value)
    raise AssertionError


def features_to_try(max_features: Any, n_features: int) -> int:
    """The number of features looked at per split, by scikit-learn's rules."""
    if max_features is None:
        return n_features
    if is_word(max_features, "sqrt"):
        return max(1, int(np.sqrt(n_features)))
    if is_word(max_features, "log2"):
        return max(1, int(np.log2(n_features)))
    if is_int(max_features) and max_features >= 1:
        return min(int(max_features), n_features)
    if isinstance(max_features, float | np.floating) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    refuse(
        "max_features", "a positive int, a float in (0, 1], 'sqrt', 'log2' or None", max_features
    )
    raise AssertionError


def tree_seed(random_state: Any) -> int:
    """What a tree draws from.

    A member of a forest has a seed that the forest gave it, beyond those of generators, so that a
    copy of it is the same tree on the same rows.
    """
    if is_int(random_state) and random_state >= OWN_SEEDS:
        return int(random_state) - OWN_SEEDS
    return int(check_random_state(random_state).randint(2**31 - 1))


def limit(value: Any) -> int:
    """The engine's word for a limit: -1 stands for None, and what is beyond all counts is cut."""
    return -1 if value is None else min(int(value), MOST)


def resolve_n_jobs(n_jobs: Any) -> int:
    """The number of threads, by joblib's rules."""
    _check_n_jobs(n_jobs)
    if n_jobs is not None:
        n_jobs = max(-MOST, min(int(n_jobs), MOST))
    return min(int(joblib.effective_n_jobs(n_jobs)), _MOST_THREADS)
