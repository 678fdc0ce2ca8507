from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hedgerow.inspect.wording import (
    Halfspace,
    Interval,
    Subset,
    Words,
    fraction,
    merge,
    number,
    threshold_texts,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
DECIMALS = st.none() | st.integers(0, 6)


def words(**options):
    names = ["size", "colour", "mass"]
    categories = {1: ["red", "blue", "green", "grey", "white", "black"]}
    return Words(names, categories, {0: [2.0, 4.75]}, **options)


@given(FINITE, DECIMALS)
def test_number_keeps_its_sign_and_is_zero_only_at_zero(x, decimals):
    shown = float(number(x, decimals))
    assert np.sign(shown) == np.sign(x)


@given(FINITE, st.integers(0, 6))
def test_number_is_as_near_as_its_decimals(x, decimals):
    assert abs(float(number(x, decimals)) - x) <= max(0.51 * 10.0**-decimals, abs(x) * 1e-15)


@given(st.lists(FINITE, min_size=1, max_size=8, unique=True), DECIMALS)
def test_thresholds_of_a_feature_stay_distinct_and_in_order(thresholds, decimals):
    texts = threshold_texts(thresholds, decimals)
    shown = [float(texts[t]) for t in sorted(texts)]
    assert all(a < b for a, b in pairwise(shown))


@given(st.integers(-1000, 1000), st.integers(1, 9), st.integers(0, 3))
def test_midpoint_of_data_with_few_decimals_still_separates_it(start, step, decimals):
    scale = 10.0**decimals
    a, b = start / scale, (start + step) / scale
    shown = float(number(a / 2 + b / 2, decimals, is_threshold=True))
    assert a <= shown < b


@given(st.floats(0, 1), DECIMALS)
def test_only_a_sure_thing_is_shown_as_one(p, decimals):
    shown = fraction(p, decimals)
    assert (shown == "1") == (p == 1)
    assert (shown == "0") == (p == 0)


@given(FINITE, FINITE, DECIMALS)
def test_comparison_shows_numbers_that_agree_with_it(t, x, decimals):
    condition = Interval(0, high=t) if x <= t else Interval(0, low=t)
    text, value = Words(["x"], {}, {0: [t]}, decimals).comparison(condition, x)
    _, sign, bound = text.split()
    assert sign == ("<=" if x <= t else ">")
    assert (float(value) <= float(bound)) == (x <= t)


@given(FINITE, FINITE, FINITE, DECIMALS)
def test_a_comparison_with_two_bounds_agrees_with_both(a, b, c, decimals):
    low, x, high = sorted([a, b, c])
    assume(low < x)
    words = Words(["x"], {}, {0: [low, high]}, decimals)
    text, value = words.comparison(Interval(0, low, high), x)
    shown_low, _, _, _, shown_high = text.split()
    assert float(shown_low) < float(value) <= float(shown_high)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval(0, high=4.75), "size <= 4.75"),
        (Interval(0, low=2.0, missing=False), "size > 2"),
        (Interval(0, low=2.0, high=4.75), "2 < size <= 4.75"),
        (Interval(0, low=4.75, high=2.0), "size is missing"),
        (Interval(0, low=4.75, high=2.0, missing=False), "no value of size"),
        (Interval(0, missing=False), "size is not missing"),
        (Subset(1, frozenset({0})), "colour = red"),
        (Subset(1, frozenset({0, 1})), "colour in {red, blue}"),
        (Subset(1, frozenset({0, 1, 2, 3})), "colour not in {white, black}"),
        (Subset(1, frozenset({0, 1, 2, 3, 4})), "colour != black"),
        (Subset(1, frozenset()), "colour is missing"),
        (Subset(1, frozenset(range(6)), missing=False), "colour is not missing"),
        (Halfspace((0, 2), (-1.0, 0.25), (1.0, 2.0), 1.75, True), "-size + 0.25 * mass < 1.25"),
        (Halfspace((0, 2), (0.5, -1.0), (0.0, 0.0), -3.0, False), "0.5 * size - mass >= -3"),
    ],
)
def test_condition_in_words(condition, text):
    assert words().condition(condition) == text


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval(0, high=4.75), "size <= 4.75 (or missing)"),
        (Interval(0, high=4.75, missing=False), "size <= 4.75"),
        (Subset(1, frozenset({0})), "colour = red (or missing)"),
        (
            Subset(1, frozenset({0, 1, 2, 3}), False),
            "colour not in {white, black} (and not missing)",
        ),
    ],
)
def test_missing_values_are_mentioned_where_they_matter(condition, text):
    assert words(mention_missing=True).condition(condition) == text
    assert "missing" not in words().condition(condition)


def test_long_lists_are_cut_only_on_request():
    subset = Subset(1, frozenset({0, 1, 2}))
    assert words().condition(subset) == "colour in {red, blue, green}"
    assert words(max_terms=2).condition(subset) == "colour in {red, ... 2 more}"
    oblique = Halfspace((0, 1, 2), (0.5, 3.0, -2.0), (0.0, 0.0, 0.0), 1.0, True)
    assert words(max_terms=2).condition(oblique) == "3 * colour + ... 2 more < 1"


def test_ambiguous_categories_are_quoted():
    labels = Words(["a"], {0: ["red", "a, b", "", " x", "1", 1, np.float64(2.5)]}, {}).labels[0]
    assert labels == ["red", "'a, b'", "''", "' x'", "'1'", "1", "2.5"]


def test_merge_joins_each_feature_and_keeps_the_order():
    half = Halfspace((0, 2), (1.0, 1.0), (0.0, 0.0), 1.0, True)
    path = [
        Interval(2, high=9.0),
        half,
        Subset(1, frozenset({0, 1})),
        Interval(2, low=3.0, missing=False),
        Subset(1, frozenset({1, 2})),
    ]
    assert merge(path) == (Interval(2, 3.0, 9.0, False), half, Subset(1, frozenset({1})))


def test_conditions_hold_for_the_rows_they_describe():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, np.nan], [np.inf, 2.0], [-np.inf, 0.0]])
    assert Interval(0, high=1.5).holds(X).tolist() == [True, False, True, False, True]
    assert Interval(0, low=1.5, missing=False).holds(X).tolist() == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert Subset(1, frozenset({0}), missing=False).holds(X).tolist() == [
        True,
        False,
        False,
        False,
        True,
    ]
    oblique = Halfspace((0, 1), (1.0, 1.0), (0.0, 5.0), 0.0, False)
    assert oblique.holds(X[:3]).tolist() == [False, False, True]
