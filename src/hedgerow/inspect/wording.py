"""Turn the tests of a decision graph into words.

The one place where conditions and numbers become text, for `export_text`, `rules` and `explain`:

- `number`, `fraction`: a number in few digits that does not mislead;
- `Interval`, `Subset`, `Halfspace`: what a branch asks of a row, one class per kind of test;
- `Words`: names, categories and thresholds of one model, and the text of each condition.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

INFINITY = math.inf


def shortest(x: float) -> str:
    """Return the shortest text that reads back as `x`, in single precision if `x` is one.

    Examples
    --------
    >>> shortest(0.1), shortest(0.10000000149011612), shortest(1e15)
    ('0.1', '0.1', '1000000000000000')
    """
    x = float(x)
    if x.is_integer():
        return str(int(x)) if abs(x) < 1e16 else repr(x)
    with np.errstate(over="ignore"):
        single = np.float32(x)
    return str(single) if float(single) == x else repr(x)


def number(
    x: float, decimals: int | None = 2, room: float = INFINITY, is_threshold: bool = False
) -> str:
    """Write `x` with `decimals` digits after the point, or more where fewer would mislead.

    At least ``max(decimals, 1)`` significant digits are kept, so that a small number is never
    shown as 0.

    Parameters
    ----------
    x : float
        The number.
    decimals : int or None, default=2
        Digits after the point; None writes the number exactly.
    room : float, default=inf
        Distance to the nearest number that must stay apart from `x`: rounding moves `x` by less
        than a quarter of it.
    is_threshold : bool, default=False
        Whether `x` cuts between values: it then keeps ``decimals + 1`` significant digits, and
        one digit more if it lies half-way between two roundings, as the midpoint of two values
        does.

    Returns
    -------
    text : str

    Examples
    --------
    >>> number(2.449999988), number(0.00123), number(1234.5), number(0.80004, room=0.0001)
    ('2.45', '0.0012', '1234.5', '0.80004')
    >>> number(3.5, decimals=0), number(3.5, decimals=0, is_threshold=True)
    ('4', '3.5')
    """
    x = float(x)
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    if decimals is not None:
        whole = math.floor(math.log10(abs(x))) + 1
        for digits in range(max(whole + decimals, decimals + is_threshold, 1), 17):
            text = f"{x:.{digits}g}"
            if is_threshold and _is_tie(x, digits):
                continue
            if abs(float(text) - x) < room / 4:
                return text
    text = shortest(x)
    return text if abs(float(text) - x) < room / 4 else repr(x)


def _is_tie(x: float, digits: int) -> bool:
    """Return whether what follows the first digits of `x` is a 5 and zeros, but for noise."""
    mantissa = f"{abs(x):.{digits + 4}e}".split("e")[0].replace(".", "")
    return mantissa[digits:] == "50000"


def threshold_texts(thresholds: Iterable[float], decimals: int | None) -> dict[float, str]:
    """Write the thresholds of one feature so that they stay distinct and in order.

    Examples
    --------
    >>> threshold_texts([3.5, 3.501, 7.25], decimals=0)
    {3.5: '3.5', 3.501: '3.501', 7.25: '7'}
    """
    ordered = sorted({float(t) for t in thresholds if math.isfinite(t)})
    gaps = [INFINITY, *(b - a for a, b in pairwise(ordered)), INFINITY]
    return {
        t: number(t, decimals, room=min(gaps[i : i + 2]), is_threshold=True)
        for i, t in enumerate(ordered)
    }


def fraction(p: float, decimals: int | None = 2, whole: float = 1.0) -> str:
    """Write a share of `whole`; only exactly nothing is 0 and only exactly all is `whole`.

    Examples
    --------
    >>> fraction(1.0), fraction(0.98), fraction(0.9996), fraction(0.0004)
    ('1', '0.98', '0.9996', '0.0004')
    """
    return number(p, decimals, INFINITY if p == whole else 4 * abs(whole - p))


def rows_text(n: int) -> str:
    """Return ``"1 row"`` or ``"n rows"``."""
    return "1 row" if n == 1 else f"{n} rows"


@dataclass(frozen=True)
class Interval:
    """``low < x <= high``; `missing` says whether a missing value belongs to it."""

    feature: int
    low: float = -INFINITY
    high: float = INFINITY
    missing: bool = True

    def __and__(self, other: "Interval") -> "Interval":
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(self.feature, low, high, self.missing and other.missing)

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Return for each row of an encoded matrix whether it satisfies the condition."""
        x = X[:, self.feature]
        inside = ((x > self.low) | (self.low == -INFINITY)) & (x <= self.high)
        return np.where(np.isnan(x), self.missing, inside)


@dataclass(frozen=True)
class Subset:
    """The category is one of `codes`; `missing` covers missing and never-seen categories."""

    feature: int
    codes: frozenset[int]
    missing: bool = True

    def __and__(self, other: "Subset") -> "Subset":
        return Subset(self.feature, self.codes & other.codes, self.missing and other.missing)

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Return for each row of an encoded matrix whether it satisfies the condition."""
        x = X[:, self.feature]
        return np.where(np.isnan(x), self.missing, np.isin(x, list(self.codes)))


@dataclass(frozen=True)
class Halfspace:
    """``dot(weights, x - centres) < threshold`` if `below`, else ``>=``; never merged.

    A term with a place, ``(code, n_codes)``, counts whether the feature is that category: 1 or 0,
    and ``1 / n_codes`` if it is missing. A missing number leaves its term out of the sum, as if it
    were at its centre. No places means that all terms are numbers.
    """

    features: tuple[int, ...]
    weights: tuple[float, ...]
    centres: tuple[float, ...]
    threshold: float
    below: bool
    places: tuple[tuple[int, int] | None, ...] = ()

    def terms(self) -> list[tuple[int, float, float, tuple[int, int] | None]]:
        """Return feature, weight, centre and place of each term."""
        places = self.places or (None,) * len(self.features)
        return list(zip(self.features, self.weights, self.centres, places, strict=True))

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Return for each row of an encoded matrix whether it satisfies the condition."""
        total = np.zeros(len(X))
        for _, weight, centre, x in self._values(X):
            total += weight * (x - centre)
        return (total < self.threshold) == self.below

    @property
    def bound(self) -> float:
        """The threshold of ``dot(weights, x)``, with the centres moved to its side."""
        return self.threshold + float(np.dot(self.weights, self.centres))

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return ``dot(weights, x)``, which compares with `bound`, for each encoded row."""
        return sum((weight * x for _, weight, _, x in self._values(X)), np.zeros(len(X)))

    def _values(self, X: np.ndarray) -> Iterator[tuple[int, float, float, np.ndarray]]:
        """Yield feature, weight, centre and what it is in each row, for each term."""
        for feature, weight, centre, place in self.terms():
            x = np.asarray(X[:, feature], dtype=float)
            missing = np.isnan(x)
            if place is None:
                yield feature, weight, centre, np.where(missing, centre, x)
            else:
                yield feature, weight, centre, np.where(missing, 1 / place[1], x == place[0])


Condition: TypeAlias = Interval | Subset | Halfspace


def merge(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Join the conditions on one feature into one, in order of first appearance.

    Examples
    --------
    >>> merge([Interval(0, high=5.0), Interval(1, low=2.0), Interval(0, low=1.0)])[0]
    Interval(feature=0, low=1.0, high=5.0, missing=True)
    """
    merged: dict[Any, Condition] = {}
    for condition in conditions:
        key = condition if isinstance(condition, Halfspace) else condition.feature
        before = merged.get(key)
        both = before is not None and not isinstance(condition, Halfspace)
        merged[key] = before & condition if both else condition  # type: ignore[operator]
    return tuple(merged.values())


class Words:
    """The vocabulary of one model, and the text of a condition in it.

    Parameters
    ----------
    names : sequence of str
        Feature names.
    categories : dict of int to sequence
        Category values of each categorical feature, in code order.
    thresholds : dict of int to iterable of float
        All thresholds of each numeric feature: they are written so that they stay distinct.
    decimals : int or None
        Digits after the point.
    mention_missing : bool
        Whether "(or missing)" is worth saying.
    max_terms : int or None
        Longest list of categories or of terms of a weighted sum written in full.

    Examples
    --------
    >>> words = Words(["size", "colour"], {1: ["red", "blue", "green"]}, {0: [2.0, 4.75]})
    >>> words.condition(Interval(0, 2.0, 4.75))
    '2 < size <= 4.75'
    >>> words.condition(Subset(1, frozenset({0, 1})))
    'colour in {red, blue}'
    """

    def __init__(
        self,
        names: Sequence[str],
        categories: Mapping[int, Sequence],
        thresholds: Mapping[int, Iterable[float]],
        decimals: int | None = 2,
        mention_missing: bool = False,
        max_terms: int | None = None,
    ):
        self.names = names
        self.decimals = decimals
        self.labels = {f: _labels(values) for f, values in categories.items()}
        self.thresholds = {f: threshold_texts(t, decimals) for f, t in thresholds.items()}
        self.mention_missing = mention_missing
        self.max_terms = max_terms

    def condition(self, condition: Condition, mention: bool = True) -> str:
        """Return the condition in words, with or without mention of missing values."""
        if isinstance(condition, Halfspace):
            return f"{self._sum(condition)} {number(condition.bound, self.decimals)}"
        name = self.names[condition.feature]
        if isinstance(condition, Interval):
            text, everything = self._interval(condition, name)
        else:
            text, everything = self._subset(condition, name)
        if not text and not everything:
            return f"{name} is missing" if condition.missing else f"no value of {name}"
        if everything:
            return f"{name} is anything" if condition.missing else f"{name} is not missing"
        if mention and self.mention_missing:
            if condition.missing:
                return f"{text} (or missing)"
            if "!=" in text or "not in" in text:
                return f"{text} (and not missing)"
        return text

    def comparison(self, condition: Interval | Halfspace, x: float) -> tuple[str, str]:
        """Return a condition and the number that met it, as texts that agree."""
        if isinstance(condition, Halfspace):
            bound = condition.bound
            low, high = (-INFINITY, bound) if condition.below else (bound, INFINITY)
            shown = {bound: number(bound, self.decimals)}
        else:
            low, high = condition.low, condition.high
            shown = {b: self.threshold(condition.feature, b) for b in (low, high)}
        shown = {bound: text for bound, text in shown.items() if math.isfinite(bound)}
        if not shown:
            return self.condition(condition, mention=False), number(x, self.decimals)
        gaps = [abs(x - bound) for bound in shown if bound != x]
        text = shown.get(x) or number(x, self.decimals, room=2 * min(gaps))
        after = float(text) > float(shown.get(low, -INFINITY)) or x == low
        before = float(text) < float(shown.get(high, INFINITY)) or x == high
        if not (after and before):
            shown, text = {bound: repr(float(bound)) for bound in shown}, repr(float(x))
        if isinstance(condition, Halfspace):
            return f"{self._sum(condition)} {shown[condition.bound]}", text
        return self._between(self.names[condition.feature], shown.get(low), shown.get(high)), text

    def threshold(self, feature: int, t: float) -> str:
        """Return a threshold of a feature as text."""
        return self.thresholds.get(feature, {}).get(float(t)) or number(t, self.decimals)

    def _interval(self, c: Interval, name: str) -> tuple[str, bool]:
        if c.low >= c.high:
            return "", False
        low, high = (
            self.threshold(c.feature, t) if math.isfinite(t) else None for t in (c.low, c.high)
        )
        return self._between(name, low, high), low is None and high is None

    @staticmethod
    def _between(name: str, low: str | None, high: str | None) -> str:
        if low is None:
            return f"{name} <= {high}"
        return f"{name} > {low}" if high is None else f"{low} < {name} <= {high}"

    def _subset(self, c: Subset, name: str) -> tuple[str, bool]:
        labels = self.labels[c.feature]
        inside = [label for code, label in enumerate(labels) if code in c.codes]
        outside = [label for code, label in enumerate(labels) if code not in c.codes]
        if not inside or not outside:
            return "", bool(inside)
        negated = len(inside) > 3 and len(outside) < len(inside)
        shown = self._shorten(outside if negated else inside)
        if len(shown) == 1:
            return f"{name} {'!=' if negated else '='} {shown[0]}", False
        return f"{name} {'not in' if negated else 'in'} {{{', '.join(shown)}}}", False

    def _shorten(self, items: list[str]) -> list[str]:
        if self.max_terms is None or len(items) <= self.max_terms:
            return items
        return [*items[: self.max_terms - 1], f"... {len(items) - self.max_terms + 1} more"]

    def _sum(self, c: Halfspace) -> str:
        """Return the left-hand side and the sign of a weighted sum."""
        terms = c.terms()
        if self.max_terms is not None and len(terms) > self.max_terms:
            terms.sort(key=lambda term: -abs(term[1]))
        # Two significant digits of every weight at the least: a sum hides its own rounding.
        digits = None if self.decimals is None else max(self.decimals, 2)
        pieces = []
        for feature, weight, _, place in terms:
            size = number(abs(weight), digits)
            name = self.names[feature]
            if place is not None:
                name = f"({name} = {self.labels[feature][place[0]]})"
            text = name if size == "1" else f"{size} * {name}"
            pieces.append(f"{'-' if weight < 0 else '+'} {text}")
        text = " ".join(self._shorten(pieces)).replace("...", "+ ...") or "+ 0"
        text = text[2:] if text[0] == "+" else f"-{text[2:]}"
        return f"{text} {'<' if c.below else '>='}"


def _labels(values: Sequence) -> list[str]:
    """Return a text per category, quoted where the bare text would be ambiguous."""
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    count = Counter(map(str, values))

    def is_plain(text: str) -> bool:
        return count[text] == 1 and text == text.strip() != "" and not set(text) & set(",{}\n")

    return [str(v) if is_plain(str(v)) else repr(v) for v in values]
