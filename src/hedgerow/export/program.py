"""A fitted model as a short program: columns, and steps that each append further columns.

The first columns are a row's features: numbers, categories as their places in the feature's list,
NaN for what is missing, was never seen, or is no number. Every step reads columns by their numbers
and appends its own. Values are the columns that the last step, or an `Exit`, names.

Arithmetic is in double precision and in the order written here, so that any language with IEEE
numbers gives the same bits: sums start with their first term (or the stated start) and go on in
order; a product is rounded before it is added; `exponential` and `square_root` are those of
:mod:`hedgerow.export.arithmetic`.

Steps
-----
`Walk`      graphs of tests; the values of a row's leaves, added up
`Recode`    a category's place in another list of categories
`Add`       vectors, added up in order
`Divide`    by a constant
`Vote`      one constant for the largest of some columns, another for the rest
`Place`     columns among zeros
`Round`     to single precision
`Link`      scores to values: "log", "logit" or "softmax"
`Median`    weighted
`Exit`      ends the program where the largest of some values reaches a gate
`Numbers`   gaps filled, categories as 0/1 columns, standardised
`Affine`    a matrix and an intercept
`Distances` squared distances to points
`Activate`  "relu", "root", "bump" or "softmax" of some columns
`Nearest`   the values that belong to the smallest of some columns
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

AXIS, CATEGORY, OBLIQUE = 1, 2, 3  # kinds of tests, numbered as in the engine


@dataclass(frozen=True)
class Feature:
    """A column of the table.

    Attributes
    ----------
    name : str or None
        None for arrays.
    categories : tuple or None
        Strings, numbers or booleans; a value's place is its code. None for numbers.
    """

    name: str | None
    categories: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Oblique:
    """The sum of an oblique test.

    ``in_lanes``: the numbers are summed as eight sums side by side, number i going to sum i % 8,
    in whole groups of eight; of a last group of four or more the first four go to the first four
    sums. With s0..s7 the result is ``((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7))``, to which the
    rest is added in order. Where that is not a number, and where it is not ``in_lanes``, the sum
    starts at 0.0 and goes on in order, leaving out numbers that are missing. Then the weight of
    each table's category is added; ``missing`` where the code is NaN or beyond the table.

    Attributes
    ----------
    columns, weights, centres : ndarray
        Numbers: ``weight * (x - centre)``.
    tables : tuple of (int, ndarray, float)
        Categories: the column, the weight of each category, that of a missing one.
    in_lanes : bool
    """

    columns: np.ndarray
    weights: np.ndarray
    centres: np.ndarray
    tables: tuple[tuple[int, np.ndarray, float], ...]
    in_lanes: bool


@dataclass(frozen=True, eq=False)
class Graph:
    """Tests and leaves; every test is reachable and stands behind its parents.

    A child that is not negative is a test, else leaf ``-1 - child``. The root is test 0, or leaf 0
    where there are no tests. Leaves and sets with the same content are one.

    Attributes
    ----------
    kind : ndarray of int8
        ``AXIS``: ``x[column] <= threshold`` goes left; ``CATEGORY``: codes in the set do;
        ``OBLIQUE``: a sum below the threshold does.
    column : ndarray of int32
        -1 for oblique tests.
    threshold : ndarray of float64
        0 for category tests. Infinity where a test only asks whether a number is missing.
    missing_left : ndarray of bool
        Where NaN goes, and a code beyond the set; not for oblique tests.
    left, right : ndarray of int32
    detail : ndarray of int32
        The place in ``sets`` or ``obliques``, -1 for axis tests.
    sets : tuple of ndarray of bool
        By code: whether a category goes left.
    obliques : tuple of Oblique
    values : ndarray of shape (n_leaves, n_values)
    """

    kind: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    detail: np.ndarray
    sets: tuple[np.ndarray, ...]
    obliques: tuple[Oblique, ...]
    values: np.ndarray

    @property
    def n_tests(self) -> int:
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        return len(self.values)

    @property
    def root(self) -> int:
        return 0 if self.n_tests else -1

    @cached_property
    def n_parents(self) -> np.ndarray:
        """Of each test; more than one where it is shared."""
        children = np.concatenate([self.left, self.right])
        return np.bincount(children[children >= 0], minlength=self.n_tests)


@dataclass(frozen=True, eq=False)
class Step:
    """Something that appends ``width`` columns."""

    @property
    def width(self) -> int:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Walk(Step):
    """Leaf values of graphs, added to ``start`` in the order of the graphs, then times ``factor``.

    ``in_turns``: graphs have one value, and graph g adds to sum ``g % len(start)``; else graphs
    have as many values as there are sums. A factor of 1.0 is no multiplication. A sum always
    begins with ``start``: 0.0 and a leaf of -0.0 are 0.0.
    """

    graphs: tuple[Graph, ...]
    start: np.ndarray
    in_turns: bool = False
    factor: float = 1.0

    @property
    def width(self) -> int:
        return len(self.start)


@dataclass(frozen=True, eq=False)
class Recode(Step):
    """The place in another list: ``table[code]``, NaN for -1 and for what is missing."""

    column: int
    table: np.ndarray

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class Add(Step):
    """Sums of vectors, from the first to the last; a row of ``parts`` has a vector's columns."""

    parts: np.ndarray

    @property
    def width(self) -> int:
        return self.parts.shape[1]


@dataclass(frozen=True, eq=False)
class Divide(Step):
    """Columns divided by a constant."""

    columns: np.ndarray
    divisor: float

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Vote(Step):
    """``chosen`` for the first of the largest columns, ``other`` for the rest."""

    columns: np.ndarray
    chosen: float = 1.0
    other: float = 0.0

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Place(Step):
    """``total`` columns: those read, at their ``places``, and 0.0 elsewhere."""

    columns: np.ndarray
    places: np.ndarray
    total: int

    @property
    def width(self) -> int:
        return self.total


@dataclass(frozen=True, eq=False)
class Round(Step):
    """Columns rounded to the nearest single-precision number, ties to even."""

    columns: np.ndarray

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Link(Step):
    """Scores through a link.

    "log": ``e^s``. "logit", of one score: ``1 / (1 + e^s)`` and ``1 / (1 + e^-s)``. "softmax":
    ``e^(s - largest)``, each divided by their sum in order, which starts at 0.0.
    """

    columns: np.ndarray
    name: str

    @property
    def width(self) -> int:
        return 2 if self.name == "logit" else len(self.columns)


@dataclass(frozen=True, eq=False)
class Median(Step):
    """The weighted median.

    Columns are sorted, equal ones in their order, and the weights summed in that order; the first
    column whose sum is at least half (``0.5 *``) of the last sum is taken.
    """

    columns: np.ndarray
    weights: np.ndarray

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class Exit(Step):
    """Where the largest of ``columns`` is at least ``gate``, they are the values: nothing follows.

    Appends nothing.
    """

    columns: np.ndarray
    gate: float

    @property
    def width(self) -> int:
        return 0


@dataclass(frozen=True, eq=False)
class Numbers(Step):
    """Numbers for linear models: one column each, and one for each category.

    Column j is ``x[sources[j]]``, or for a category (``categories[j] >= 0``) 1.0 where the code is
    that category, else 0.0. Where the source is missing it is column ``fill_columns[j]``, or
    ``fills[j]`` where these are None. Then ``(number - mean[j]) / scale[j]``, unless ``mean`` is
    None.
    """

    sources: np.ndarray
    categories: np.ndarray
    fills: np.ndarray
    fill_columns: np.ndarray | None
    mean: np.ndarray | None
    scale: np.ndarray | None

    @property
    def width(self) -> int:
        return len(self.sources)


@dataclass(frozen=True, eq=False)
class Affine(Step):
    """``sum over i of x[i] * matrix[i, j]``, from 0.0 and in order, plus ``intercept[j]``."""

    columns: np.ndarray
    matrix: np.ndarray
    intercept: np.ndarray

    @property
    def width(self) -> int:
        return self.matrix.shape[1]


@dataclass(frozen=True, eq=False)
class Distances(Step):
    """``sum over i of (x[i] - points[j, i]) ** 2``, from 0.0 and in order."""

    columns: np.ndarray
    points: np.ndarray

    @property
    def width(self) -> int:
        return len(self.points)


@dataclass(frozen=True, eq=False)
class Activate(Step):
    """A function of each column.

    "relu": the column where it is above 0.0, else 0.0. "root": its square root. "bump":
    ``e^(factor * column)``. "softmax": the same, after taking off the largest product, divided by
    the sum in order of its group; ``groups`` are where groups begin.
    """

    columns: np.ndarray
    name: str
    factor: float = 1.0
    groups: tuple[int, ...] = (0,)

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Nearest(Step):
    """The row of ``values`` that belongs to the first of the smallest columns."""

    columns: np.ndarray
    values: np.ndarray

    @property
    def width(self) -> int:
        return self.values.shape[1]


@dataclass(frozen=True)
class Output:
    """One thing that is predicted, from ``values[start:stop]``.

    Attributes
    ----------
    name : str or None
    start, stop : int
    classes : tuple or None
        The answer is the class of the first of the largest decisions; None: the value itself.
    """

    name: str | None
    start: int
    stop: int
    classes: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """A model, ready to be written in any language.

    Attributes
    ----------
    model : str
        The name of the model's class.
    features : tuple of Feature
        Columns 0 to n_features - 1.
    steps : tuple of Step
    values : ndarray of int
        The columns that are the values: probabilities, or numbers.
    decisions : ndarray of int
        As many columns; the class is that of the largest. Nearly always the values.
    outputs : tuple of Output
    is_exact : bool
        Whether values are those of the model bit by bit. Linear layers of embeddings are computed
        by matrix products there, whose order is not known: they agree to about 1e-12.
    output : int or None
        The one of the model's several outputs that is predicted; None: all that there are.
    """

    model: str
    features: tuple[Feature, ...]
    steps: tuple[Step, ...]
    values: np.ndarray
    decisions: np.ndarray
    outputs: tuple[Output, ...]
    is_exact: bool = True
    output: int | None = None

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def n_values(self) -> int:
        return len(self.values)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of each step."""
        ends = np.cumsum([self.n_features, *(step.width for step in self.steps)])
        return tuple(int(end) for end in ends[:-1])

    @property
    def n_columns(self) -> int:
        return self.n_features + sum(step.width for step in self.steps)

    @property
    def graph(self) -> Graph | None:
        """The one graph that the program consists of, if it is nothing else."""
        if len(self.steps) != 1 or not isinstance(self.steps[0], Walk):
            return None
        walk = self.steps[0]
        alone = len(walk.graphs) == 1 and not walk.start.any() and walk.factor == 1.0
        return walk.graphs[0] if alone else None

    @property
    def graphs(self) -> list[Graph]:
        """All graphs of all steps."""
        return [g for step in self.steps if isinstance(step, Walk) for g in step.graphs]
