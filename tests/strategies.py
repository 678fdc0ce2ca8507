"""Hypothesis strategies for small tables with everything that makes a split search stumble.

Columns come with and without ties, whole-numbered, constant, huge, tiny, with neighbouring floats,
with missing values and as categories; targets as classes, reals or counts; weights as none, whole
numbers or reals, some zero.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Table:
    """One drawn problem; categorical columns hold the category as a whole number."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray | None
    categorical: tuple[int, ...]


NUMBERS = {
    "ties": st.sampled_from([-1.5, -0.0, 0.0, 0.1, 2.0]),
    "whole": st.integers(-9, 9).map(float),
    "real": st.floats(-1e3, 1e3),
    "huge": st.floats(-1.7e308, 1.7e308),
    "tiny": st.integers(-20, 20).map(lambda k: k * 5e-324),
    "neighbours": st.integers(0, 12).map(lambda k: 1.0 + k * 2.0**-52),
    "constant": st.just(3.25),
}
TARGETS = {
    "ties": st.sampled_from([-2.0, 0.0, 0.5, 1.0]),
    "whole": st.integers(-5, 5).map(float),
    "real": st.floats(-100, 100, width=32),
    "shifted": st.floats(1000, 1010, width=32),
    "large": st.integers(-1000, 1000).map(lambda k: k * 1e6),
}
COUNTS = {
    "few": st.integers(0, 3).map(float),
    "many": st.integers(0, 500).map(float),
    "rates": st.floats(0.125, 50, width=32),
}


def column_of(draw, values, n_rows):
    return np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))


def one_kind(draw, kinds):
    return kinds[draw(st.sampled_from(sorted(kinds)))]


@st.composite
def weights(draw, n_rows):
    """None, whole or real weights, sometimes zero but never all of them."""
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    if kind == "none":
        return None
    values = (
        st.integers(0, 4).map(float) if kind == "whole" else st.floats(0.01, 100) | st.just(0.0)
    )
    w = column_of(draw, values, n_rows)
    w[draw(st.integers(0, n_rows - 1))] = 1.0
    return w


@st.composite
def tables(
    draw, target, categories=True, missing=True, weighted=True, max_rows=40, kinds=tuple(NUMBERS)
):
    """Table with a ``target`` of "classes", "reals" or "counts" (not all zero)."""
    n_rows = draw(st.integers(2, max_rows))
    n_features = draw(st.integers(1, 5))
    numbers = {kind: NUMBERS[kind] for kind in kinds}
    X = np.empty((n_rows, n_features))
    categorical = []
    for j in range(n_features):
        if categories and draw(st.integers(0, 3)) == 0:
            categorical.append(j)
            n_categories = draw(st.integers(1, 6))
            X[:, j] = column_of(draw, st.integers(0, n_categories - 1), n_rows)
        else:
            X[:, j] = column_of(draw, one_kind(draw, numbers), n_rows)
        if missing and draw(st.integers(0, 3)) == 0:
            X[column_of(draw, st.booleans(), n_rows), j] = np.nan
    w = draw(weights(n_rows)) if weighted else None
    if target == "classes":
        y = column_of(draw, st.integers(0, draw(st.integers(2, 5)) - 1), n_rows)
    elif target == "reals":
        y = column_of(draw, one_kind(draw, TARGETS), n_rows)
    else:
        y = column_of(draw, one_kind(draw, COUNTS), n_rows)
        y[0 if w is None else np.argmax(w)] += 1.0
    return Table(X, y, w, tuple(categorical))


@st.composite
def limits(draw):
    """Growth limits of a tree, as keyword arguments; one of them at a time, or several."""
    choices = {
        "max_depth": st.integers(1, 4),
        "min_samples_split": st.integers(2, 12) | st.floats(0.1, 0.5),
        "min_samples_leaf": st.integers(1, 6) | st.floats(0.02, 0.3),
        "min_weight_fraction_leaf": st.floats(0.01, 0.4),
        "min_impurity_decrease": st.floats(0.001, 0.2),
    }
    names = draw(st.sets(st.sampled_from(sorted(choices)), min_size=1, max_size=3))
    return {name: draw(choices[name]) for name in sorted(names)}
