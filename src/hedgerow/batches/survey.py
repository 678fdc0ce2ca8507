"""The first reading of a table: what its columns hold, as far as bins and codes need it.

A `Survey` takes in batches; surveys of parts of a table are merged, in any order. What comes out, a
`Plan`, depends on the rows alone: categories are in the type's own order where all batches agree on
it, else sorted; bins are those of the whole table where a column has at most 65,535 distinct
values, else of ranks within ``rank_error`` (``cpp/data/sketch.hpp``).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from hedgerow._columns import MOST_CATEGORIES, sorted_categories
from hedgerow._engine import Sketch, sketch_columns
from hedgerow._table import Schema, chosen_features
from hedgerow._targets import check_magnitude
from hedgerow.batches.columns import (
    Batch,
    Words,
    is_empty_kind,
    is_wide,
    is_words,
    numbers_of,
    target_values,
    words_of,
)

MOST_CLASSES = 65_535  # targets with more distinct values are kept as numbers


@dataclass
class Feature:
    """What is known of a column: a sketch of its numbers, or its categories."""

    name: str  # as messages have it
    words: bool | None = None  # None: all missing so far
    wide: bool = False  # numbers that float32 does not hold
    sketch: Sketch | None = None
    values: set = field(default_factory=set)
    order: list | None = None  # the type's own
    ordered: bool = True  # whether all batches had that order

    def take_kind(self, words: bool) -> None:
        if self.words not in (None, words):
            raise ValueError(
                f"Column {self.name} holds words in one batch and numbers in another: give it one "
                "type, or name it in 'categorical_features'."
            )
        self.words = words

    def take_words(self, words: Words) -> None:
        for value in words.values:
            if not isinstance(value, str | bool | int | float | np.generic):
                raise TypeError(
                    f"Column {self.name} holds {value!r} of type {type(value).__name__}: "
                    "categories must be strings, numbers or booleans."
                )
        self._take_values(set(words.values), words.values if words.ordered else None)

    def _take_values(self, values: set, order: list | None) -> None:
        self.ordered &= order is not None and self.order in (None, order)
        self.order = order if self.order is None else self.order
        self.values |= values
        if len(self.values) > MOST_CATEGORIES:
            raise ValueError(
                f"Column {self.name} has more than {MOST_CATEGORIES} categories, the most possible:"
                " drop it if it is an identifier, or group its values."
            )

    def categories(self) -> list:
        return self.order if self.ordered and self.order else sorted_categories(self.values)

    def merge(self, other: "Feature") -> None:
        if other.words is None:
            return
        fresh = self.words is None
        self.take_kind(other.words)
        self.wide |= other.wide
        if fresh:
            self.order, self.ordered = other.order, other.ordered
        elif other.words:
            self.ordered &= other.ordered
        if other.words:
            self._take_values(other.values, other.order)


@dataclass
class Targets:
    """The distinct targets, until there are too many of them."""

    distinct: Any = None  # an array, or a set of words
    many: bool = False
    largest: float = 0.0

    def add(self, values: np.ndarray | Words) -> None:
        if isinstance(values, Words):
            if (values.codes < 0).any():
                raise ValueError("Input y contains NaN.")
            self._join(set(values.values))
            return
        if len(values) == 0:
            return
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"Input y contains {'NaN' if np.isnan(values).any() else 'infinity'}.")
        self.largest = max(self.largest, float(np.abs(values.astype(np.float64)).max()))
        check_magnitude("y", values)
        if self.many:
            return
        self._join(np.unique(values))

    def merge(self, other: "Targets") -> None:
        self.largest = max(self.largest, other.largest)
        self.many |= other.many
        if self.many:
            self.distinct = None
        elif other.distinct is not None:
            self._join(other.distinct)

    def _join(self, values: Any) -> None:
        if self.distinct is None:
            self.distinct = values.copy()  # others' stay as they are
        elif isinstance(values, set) and isinstance(self.distinct, set):
            self.distinct |= values
        elif isinstance(values, set) or isinstance(self.distinct, set):
            raise TypeError("y holds words in one batch and numbers in another: give it one type.")
        else:
            self.distinct = np.union1d(self.distinct, values)
        if len(self.distinct) > MOST_CLASSES:
            if isinstance(values, set):
                raise ValueError(f"y has more than {MOST_CLASSES} classes.")
            self.many, self.distinct = True, None

    def labels(self) -> np.ndarray | None:
        """The distinct targets, sorted; None for too many numbers."""
        if not isinstance(self.distinct, set):
            return self.distinct
        try:
            known = sorted(self.distinct)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in self.distinct})
            raise TypeError(
                f"The labels in y are of several types ({', '.join(kinds)}): make them all strings "
                "or all numbers, and drop the rows without a label."
            ) from None
        flags = all(isinstance(label, bool | np.bool_) for label in known)
        return np.array(known, dtype=bool if flags else object)


@dataclass(frozen=True)
class Column:
    """How a feature becomes codes: by its categories, or by where its bins end."""

    name: str
    categories: list | None
    largest: np.ndarray  # of the numbers of each bin
    every_value: bool  # whether a bin is one value
    slack: int  # by how many rows a rank may be off

    @property
    def n_bins(self) -> int:
        return len(self.largest) if self.categories is None else len(self.categories)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.uint8 if self.n_bins <= 255 else np.uint16)


@dataclass(frozen=True)
class Plan:
    """What the second reading needs."""

    names: list[str] | None
    columns: list[Column]
    labels: np.ndarray | None  # of the targets; None for numbers beside which there are many
    n_rows: int
    max_bins: int | None
    wide: bool
    weighted: bool
    largest_target: float
    largest_weight: float

    @property
    def schema(self) -> Schema:
        known = {f: c.categories for f, c in enumerate(self.columns) if c.categories is not None}
        return Schema(self.names, len(self.columns), known)


def check_labels(labels: np.ndarray) -> None:
    """Refuse real numbers as classes, as scikit-learn does."""
    if labels.dtype.kind == "f":
        check_classification_targets(np.repeat(labels, 3))


class Survey:
    """What is known of the rows that were read so far."""

    def __init__(self, rank_error: float, categorical_features: Any) -> None:
        self.rank_error, self.categorical_features = rank_error, categorical_features
        self.n_rows = 0
        self.names: list[str] | None = None
        self.features: list[Feature] | None = None
        self.targets = Targets()
        self.weights: tuple[float, float] | None = None  # their sum and the largest of them
        self._chosen: set[int] = set()

    def add(
        self,
        batch: Batch,
        y: Any,
        weight: np.ndarray | None,
        first_row: int,
        n_jobs: int,
    ) -> None:
        """Take in a batch, which begins at a row of the table."""
        self._take_columns(batch.names, len(batch.columns))
        assert self.features is not None
        if batch.n_rows == 0:
            return
        by_type = isinstance(self.categorical_features, str)
        sketches, numbers = [], []
        for place, (feature, column) in enumerate(zip(self.features, batch.columns, strict=True)):
            if place in self._chosen or (by_type and is_words(column)):
                feature.take_kind(True)
                feature.take_words(words_of(column))
                continue
            if is_empty_kind(column) and feature.words is not False:
                if feature.words is None:
                    sketches.append(feature.sketch)  # of rows without a value
                    numbers.append(numbers_of(column, feature.name))
                continue
            feature.take_kind(False)
            values = numbers_of(column, feature.name)
            feature.wide |= is_wide(values)
            sketches.append(feature.sketch)
            numbers.append(values)
        sketch_columns(sketches, numbers, first_row, n_jobs)
        self.targets.add(target_values(y))
        if weight is not None:
            total, largest = self.weights or (0.0, 0.0)
            self.weights = total + float(weight.sum()), max(largest, float(weight.max()))
        self.n_rows += batch.n_rows

    def merge(self, other: "Survey") -> None:
        """Take in the rows of another survey of the same table."""
        if other.features is None:
            return
        self._take_columns(other.names, len(other.features))
        assert self.features is not None
        for mine, others in zip(self.features, other.features, strict=True):
            mine.merge(others)
            if mine.sketch is not None and others.sketch is not None and not mine.words:
                mine.sketch.merge(others.sketch)
        self.targets.merge(other.targets)
        if other.weights is not None:
            total, largest = self.weights or (0.0, 0.0)
            self.weights = total + other.weights[0], max(largest, other.weights[1])
        self.n_rows += other.n_rows

    def plan(self, max_bins: int | None) -> Plan:
        """What the second reading needs, when all rows were taken in."""
        if self.n_rows == 0 or self.features is None:
            raise ValueError("Found batches with 0 rows in all while at least one is required.")
        if self.weights is not None and not self.weights[0] > 0:
            raise ValueError(
                "'sample_weight' is zero for every row: there is nothing to learn from."
            )
        columns = []
        for feature in self.features:
            if feature.words:
                columns.append(Column(feature.name, feature.categories(), np.empty(0), True, 0))
                continue
            assert feature.sketch is not None
            largest, every_value, _, slack = feature.sketch.ends(max_bins or 0)
            columns.append(Column(feature.name, None, largest, every_value, slack))
        return Plan(
            self.names,
            columns,
            self.targets.labels(),
            self.n_rows,
            max_bins,
            any(feature.wide for feature in self.features),
            self.weights is not None,
            self.targets.largest,
            1.0 if self.weights is None else self.weights[1],
        )

    def _take_columns(self, names: list[str] | None, n_columns: int) -> None:
        if self.features is None:
            if n_columns == 0:
                raise ValueError("Found batches with 0 columns while at least one is required.")
            self.names = names
            shown = range(n_columns) if names is None else map(repr, names)
            self.features = [Feature(str(name), sketch=Sketch(self.rank_error)) for name in shown]
            self._chosen = chosen_features(self.categorical_features, Schema(names, n_columns, {}))
        elif names != self.names or n_columns != len(self.features):
            raise ValueError(
                f"The columns of a batch, {names or n_columns}, are others than those of the first,"
                f" {self.names or len(self.features)}: give all batches the same columns in the "
                "same order."
            )
