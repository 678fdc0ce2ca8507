"""A user's table: arrays and data frames as columns of numbers and category codes.

`Table` is a training table that was read: its columns, targets and weights. It never changes, so
folds, settings, contests, members and layers share one. Categories are factorised once, when it is
read; its two forms, the engine's bins and the matrix that prediction reads, are made when they are
first asked for and kept. `Table.take` gives some of its rows without reading anything again,
`Table.widened` further columns beside them.

`Schema` is what a fitted model remembers of its table: the names of the features and, for each
categorical feature, its categories in code order. `Schema.encode` turns any later table into the
matrix that prediction reads: numbers as they are, categories as their codes, NaN for what is
missing or was never seen.

Arrays go to the engine as they are. Frames (pandas and polars) are read column by column, so a
frame is never copied as a whole while fitting; sparse tables are binned as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from hedgerow._columns import (
    as_numbers,
    as_years,
    cells_of,
    check_frame,
    columns_of,
    is_categorical,
    is_frame,
    is_time,
    known_codes,
    known_table,
    names_of,
    number_type,
    place_by_category,
    plain_block,
    plain_numbers,
    read_categories,
    refuse_infinity,
    refuse_times,
    take_rows,
)
from hedgerow._engine import Dataset, SparseTable, interleave
from hedgerow._sparse import as_matrix, as_table, has_missing, issparse, read_sparse
from hedgerow._targets import (
    check_sample_weight,
    check_targets_match,
    read_targets,
    side_by_side,
)

_COLUMNS_AT_ONCE = 16  # columns of a frame held as numbers at one time
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_FEW_ROWS = 32  # of a pandas frame, to be read cell by cell


@dataclass(frozen=True)
class Schema:
    """Names and categories of the features of one training table.

    Attributes
    ----------
    feature_names : list of str or None
        Column names, None for arrays.
    n_features : int
    categories : dict of int to list
        For each categorical feature its categories; the position is the code.
    missing : frozenset of int
        The features with missing values in training.
    times : frozenset of int
        The features that were dates or times in training, which are read as years.
    """

    feature_names: list[str] | None
    n_features: int
    categories: dict[int, list]
    missing: frozenset[int] = frozenset()
    times: frozenset[int] = frozenset()

    def encode(self, estimator: Any, X: Any, *, finite: bool = True) -> np.ndarray:
        """Check a table against the training table; return its matrix for prediction.

        ``finite=False`` leaves infinite numbers in an array to the engine, which looks for them
        while it predicts: a pass over the data less.
        """
        if isinstance(X, Table):
            return X.matrix()
        X = known_table(X)
        if issparse(X):
            X = as_matrix(read_sparse(estimator, X, reset=False))
        if self._is_plain(estimator, X) and not (finite and np.isinf(X).any()):
            if not self.categories:
                return X
        elif not is_frame(X):
            refuse_times(X)
            X = validate_data(
                estimator,
                X,
                reset=False,
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite="allow-nan" if finite else False,
            )
            if not self.categories:
                return X
        else:
            if getattr(estimator, "feature_names_in_", None) is None or (
                names_of(X) != self.feature_names
            ):
                validate_data(estimator, X, reset=False, skip_check_array=True)
            check_frame(X)
            if len(X) <= _FEW_ROWS and hasattr(X, "iloc"):
                matrix = self._small_matrix(X)
                if matrix is not None:
                    return matrix
        return self._matrix(X, lambda feature, column: known_codes(column, self._places[feature]))

    def rows(self, estimator: Any, X: Any, *, finite: bool = True) -> np.ndarray | SparseTable:
        """The same for graphs alone, which read the rows of a sparse table as they are."""
        if isinstance(X, Table):
            return X.rows()
        if issparse(X) and not self.categories:
            return as_table(read_sparse(estimator, X, reset=False))
        return self.encode(estimator, X, finite=finite)

    def _is_plain(self, estimator: Any, X: Any) -> bool:
        """Whether X needs no check of scikit-learn's, which takes 40 µs, but for infinity."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in _FLOATS
            and X.flags.c_contiguous
            and X.shape[1] == self.n_features
            and X.shape[0] > 0
            and getattr(estimator, "feature_names_in_", None) is None
        )

    def is_like(self, other: "Schema") -> bool:
        """Whether both have the same features, in the same order, with the same categories."""
        return (self.n_features, self.feature_names, self.categories, self.times) == (
            other.n_features,
            other.feature_names,
            other.categories,
            other.times,
        )

    def widened(self, names: list[str]) -> "Schema":
        """The schema with further features, numbers, after the others."""
        known = None if self.feature_names is None else [*self.feature_names, *names]
        return replace(self, feature_names=known, n_features=self.n_features + len(names))

    @cached_property
    def _places(self) -> dict[int, dict[Any, int]]:
        """For each categorical feature the codes of its categories."""
        return {f: place_by_category(known) for f, known in self.categories.items()}

    @cached_property
    def _number_features(self) -> list[int]:
        return [f for f in range(self.n_features) if f not in self.categories]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _matrix(
        self, X: Any, codes: Callable[[int, Any], tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        """A checked table as a matrix; codes gives a categorical column's codes and places."""
        columns: list[np.ndarray] = []
        places: list[np.ndarray | None] = [None] * self.n_features
        block = plain_block(X) if is_frame(X) and not self.categories else None
        wide = False
        for feature, column in enumerate(columns_of(X) if block is None else block.T):
            if feature in self.categories:
                column, places[feature] = codes(feature, column)
            elif feature in self.times:
                column, wide = as_years(column, self._name(feature)), True
            else:
                wide = wide or number_type(column) is np.float64
                column = plain_numbers(column, self._name(feature))
            columns.append(column)
        matrix, infinite = interleave(columns, places, wide)
        if infinite < self.n_features:
            refuse_infinity(self._name(infinite))
        return matrix

    def _small_matrix(self, X: Any) -> np.ndarray | None:
        """The same for a few rows of a pandas frame, None where they are not of plain types."""
        cells = cells_of(X, self._number_features)
        if cells is None:
            return None
        values, dtype = cells
        matrix: np.ndarray = np.empty(values.shape, dtype=dtype)
        matrix[:, self._number_features] = values[:, self._number_features]
        if np.isinf(matrix).any():
            return None
        try:
            for feature, place in self._places.items():
                matrix[:, feature] = [place.get(value, np.nan) for value in values[:, feature]]
        except TypeError:  # a value that cannot be hashed
            return None
        return matrix

    def _name(self, feature: int) -> str:
        return str(feature) if self.feature_names is None else repr(self.feature_names[feature])

    def _numbers(self, feature: int, column: Any) -> np.ndarray:
        read = as_years if feature in self.times else as_numbers
        return read(column, self._name(feature))


class Table:
    """A training table: read once, shared by everything that grows on it.

    Attributes
    ----------
    targets : ndarray
        Classes as their places in ``classes`` (int32), or numbers (float64); a column for each
        output where there are several.
    classes : ndarray, list of ndarray or None
        The sorted classes, in a list where there are several outputs; None for numbers.
    weights : ndarray or None
        Weights of the rows; None where all count the same.
    n_rows, n_features, n_outputs : int
    """

    def __init__(
        self,
        X: Any,
        schema: Schema,
        codes: dict[int, np.ndarray],
        targets: np.ndarray,
        classes: Any,
        weights: np.ndarray | None,
        names_in: np.ndarray | None,
    ) -> None:
        self.targets, self.classes, self.weights = targets, classes, weights
        self.n_rows, self.n_features = len(targets), schema.n_features
        self.n_outputs = 1 if targets.ndim == 1 else targets.shape[1]
        self._X, self._schema, self._codes, self._names_in = X, schema, codes, names_in
        self._bins: dict[int, Dataset] = {}
        self._encoded: np.ndarray | None = None
        self._whole: tuple[Table, np.ndarray] | None = None  # what it is some rows of
        self._by_column = False  # a sparse table came as CSC
        self._lock = Lock()  # members that grow in threads make a form once

    @classmethod
    def read(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        has_classes: bool,
        categorical_features: Any = "auto",
        many_outputs: bool = False,
    ) -> "Table":
        """Read a training table for an estimator, which stays as it is until it is fitted."""
        reader = object.__new__(type(estimator))  # scikit-learn writes to it
        vars(reader).update(vars(estimator))
        by_column = issparse(X) and X.format == "csc"
        schema, X, codes = read_columns(reader, X, categorical_features)
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the "
                "target y is None."
            )
        targets, classes = read_targets(y, has_classes=has_classes, many_outputs=many_outputs)
        check_targets_match(X, targets)
        weights = check_sample_weight(sample_weight, len(targets))
        names_in = getattr(reader, "feature_names_in_", None)
        table = cls(X, schema, codes, targets, classes, weights, names_in)
        table._by_column = by_column
        return table

    @classmethod
    def encoded(
        cls,
        matrix: np.ndarray,
        schema: Schema,
        targets: np.ndarray,
        classes: Any,
        weights: np.ndarray | None,
    ) -> "Table":
        """A table of rows that the schema of a fitted model has encoded."""
        codes = {
            feature: np.nan_to_num(matrix[:, feature], nan=-1).astype(np.int32)
            for feature in schema.categories
        }
        table = cls(matrix, schema, codes, targets, classes, weights, None)
        table._encoded = matrix
        return table

    def with_targets(self, has_classes: bool) -> "Table":
        """The table with targets as a model wants them: classes, or numbers."""
        if (self.classes is not None) == has_classes:
            return self
        given, wanted = ("numbers", "classes") if has_classes else ("classes", "numbers")
        raise ValueError(f"the targets of the table are {given}, and the model wants {wanted}.")

    @property
    def class_counts(self) -> list[int]:
        """Number of classes of each output; none for numbers."""
        if self.classes is None:
            return []
        several = isinstance(self.classes, list)
        return [len(classes) for classes in (self.classes if several else [self.classes])]

    @property
    def n_classes(self) -> int:
        """Number of classes, of all outputs together; 0 for numbers."""
        return sum(self.class_counts)

    @property
    def n_values(self) -> int:
        """Length of what a leaf says: one probability per class, or one number per output."""
        return self.n_outputs if self.classes is None else self.n_classes

    @property
    def labels(self) -> np.ndarray:
        """The targets as the user gave them."""
        if self.classes is None:
            return self.targets
        if isinstance(self.classes, np.ndarray):
            return self.classes[self.targets]
        return side_by_side([known[self.targets[:, o]] for o, known in enumerate(self.classes)])

    @property
    def source(self) -> Any:
        """The table as the user gave it: an array or a frame."""
        if self._X is None:
            assert self._whole is not None
            self._X = take_rows(self._whole[0].source, self._whole[1])
        return self._X

    @property
    def as_given(self) -> Any:
        """The same, a sparse table column by column where it came so, for other libraries."""
        return self.source.tocsc() if self._by_column else self.source

    def bins(self, max_bins: int | None, n_jobs: int) -> Dataset:
        """The columns as codes; made once for each number of bins (None: one for every value)."""
        most = max_bins or 0
        with self._lock:
            if most not in self._bins:
                if self._whole is not None:
                    whole, rows = self._whole
                    self._bins[most] = whole.bins(max_bins, n_jobs).take(rows, n_jobs)
                else:
                    self._bins[most] = self._binned(most, n_jobs)
            return self._bins[most]

    def matrix(self) -> np.ndarray:
        """Numbers as they are, categories as their codes, NaN for what is missing."""
        with self._lock:
            if self._encoded is None:
                if self._whole is not None:
                    self._encoded = self._whole[0].matrix()[self._whole[1]]
                else:
                    self._encoded = self._matrix()
            return self._encoded

    def rows(self) -> np.ndarray | SparseTable:
        """The same for graphs alone, which read the rows of a sparse table as they are."""
        return as_table(self.source) if self.is_sparse else self.matrix()

    @property
    def is_sparse(self) -> bool:
        """Whether the user gave it as a sparse matrix."""
        return issparse(self._X) or (self._whole is not None and self._whole[0].is_sparse)

    @cached_property
    def schema(self) -> Schema:
        """What a model remembers of the table; cheapest when a form of it has been made."""
        if self._whole is not None:
            return self._whole[0].schema
        if self._bins:
            data = next(iter(self._bins.values()))
            missing = {f for f in range(self.n_features) if data.has_missing(f)}
        elif issparse(self._X):
            missing = has_missing(self._X)
        else:
            missing = set(np.flatnonzero(np.isnan(self.matrix()).any(axis=0)).tolist())
        return replace(self._schema, missing=frozenset(missing)) if missing else self._schema

    @property
    def categories(self) -> dict[int, list]:
        """For each categorical feature its categories."""
        return self._schema.categories

    @property
    def n_categories(self) -> np.ndarray:
        """The number of categories of each feature, 0 for numbers, as the engine takes them."""
        sizes = [len(self.categories.get(feature, ())) for feature in range(self.n_features)]
        return np.array(sizes, dtype=np.uint32)

    def facts(self) -> dict[str, Any]:
        """The fitted attributes that every model of this table has."""
        facts = {
            "schema_": self.schema,
            "n_features_in_": self.n_features,
            "n_outputs_": self.n_outputs,
        }
        if self._names_in is not None:
            facts["feature_names_in_"] = self._names_in
        if self.classes is not None:
            counts = self.class_counts
            n_classes = counts if isinstance(self.classes, list) else counts[0]
            facts |= {"classes_": self.classes, "n_classes_": n_classes}
        return facts

    def take(self, rows: np.ndarray) -> "Table":
        """Some rows of the table, with its classes, categories and bins."""
        if self._whole is not None:
            return self._whole[0].take(self._whole[1][rows])
        weights = None if self.weights is None else self.weights[rows]
        part = Table(
            None, self._schema, {}, self.targets[rows], self.classes, weights, self._names_in
        )
        part._whole = self, np.asarray(rows, dtype=np.uint32)
        return part

    def widened(self, names: list[str], columns: np.ndarray) -> "Table":
        """The table with further columns of numbers, whose own columns are not binned again."""
        names_in = self._names_in
        if names_in is not None:
            names_in = np.array([*names_in, *names], dtype=object)
        return _WiderTable(self, self._schema.widened(names), names_in, self.weights, columns)

    def coded(self, weights: np.ndarray | None) -> "Table":
        """The table as its matrix has it: no names, codes as categories; with other weights.

        Models of it read the matrices that :meth:`Schema.encode` gave for the table.
        """
        categories = {f: list(range(len(known))) for f, known in self.categories.items()}
        schema = replace(self._schema, feature_names=None, categories=categories)
        return _WiderTable(self, schema, None, weights, None)

    def weighed(self, class_weight: Any, weights: np.ndarray | None = None) -> np.ndarray | None:
        """Weights of the rows (the table's own when None), times those of their classes."""
        weights = self.weights if weights is None else weights
        if class_weight is None:
            return weights
        by_class = compute_sample_weight(class_weight, self.labels)
        if not (np.isfinite(by_class).all() and by_class.min() >= 0 and by_class.any()):
            raise ValueError(
                "'class_weight' must hold finite weights that are not negative and not all zero, "
                f"got {class_weight!r}."
            )
        return by_class if weights is None else weights * by_class

    def _matrix(self) -> np.ndarray:
        if self._codes or is_frame(self._X):
            return self._schema._matrix(self._X, self._own_codes)
        if issparse(self._X):
            return as_matrix(self._X)
        return np.ascontiguousarray(self._X)

    def _own_codes(self, feature: int, _column: Any) -> tuple[np.ndarray, np.ndarray]:
        places = np.arange(len(self.categories[feature]) + 1, dtype=np.int32)
        places[-1] = -1
        return self._codes[feature], places

    def _binned(self, most: int, n_jobs: int) -> Dataset:
        data = Dataset(self.n_rows)
        if issparse(self._X):
            data.append_sparse(as_table(self._X.tocsc()), most, n_jobs)
            return data
        if not is_frame(self._X) and not self._codes:
            data.append_matrix(self._X, most, n_jobs)
            return data
        waiting: list[np.ndarray] = []

        def flush() -> None:
            if waiting:
                data.append_numbers(waiting, most, n_jobs)
                waiting.clear()

        for feature, column in enumerate(columns_of(self._X)):
            if feature in self._codes:
                flush()
                data.append_categories(self._codes[feature], len(self.categories[feature]))
                continue
            values = self._schema._numbers(feature, column)
            full = len(waiting) == max(_COLUMNS_AT_ONCE, n_jobs)
            if waiting and (full or waiting[0].dtype != values.dtype):
                flush()
            waiting.append(values)
        flush()
        return data


class _WiderTable(Table):
    """A table of the forms of another one, with further columns where these are given."""

    def __init__(
        self,
        table: Table,
        schema: Schema,
        names_in: np.ndarray | None,
        weights: np.ndarray | None,
        columns: np.ndarray | None,
    ) -> None:
        super().__init__(None, schema, {}, table.targets, table.classes, weights, names_in)
        self._table, self._columns = table, columns

    @property
    def source(self) -> Any:
        return self.matrix()

    def _matrix(self) -> np.ndarray:
        matrix = self._table.matrix()
        return matrix if self._columns is None else np.hstack([matrix, self._columns])

    def _binned(self, most: int, n_jobs: int) -> Dataset:
        data = self._table.bins(most or None, n_jobs)
        if self._columns is None:
            return data
        data = data.share()
        data.append_matrix(self._columns, most, n_jobs)
        return data


def read_columns(
    estimator: Any, X: Any, categorical_features: Any
) -> tuple[Schema, Any, dict[int, np.ndarray]]:
    """The schema of a training table, the table, checked, and its categories as codes."""
    X = known_table(X)
    if is_frame(X):
        validate_data(estimator, X, skip_check_array=True)
        check_frame(X)
        names = [str(name) for name in X.columns]
    elif issparse(X):
        X = read_sparse(estimator, X)
        schema = Schema(None, X.shape[1], {})
        if chosen_features(categorical_features, schema):
            raise ValueError(
                "'categorical_features' names columns of a sparse matrix, which is read as "
                "numbers: give a frame or an array, or None."
            )
        return schema, X, {}
    else:
        refuse_times(X)
        X = validate_data(
            estimator, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        names = None
    categories: dict[int, list] = {}
    codes: dict[int, np.ndarray] = {}
    schema = Schema(names, X.shape[1], categories)
    chosen = chosen_features(categorical_features, schema)
    by_type = isinstance(categorical_features, str)  # "auto"
    times = set()
    for feature, column in enumerate(columns_of(X)):
        if feature in chosen or (by_type and is_categorical(column)):
            categories[feature], codes[feature] = read_categories(column, schema._name(feature))
        elif is_time(column):
            times.add(feature)
    return replace(schema, times=frozenset(times)) if times else schema, X, codes


def chosen_features(categorical_features: Any, schema: Schema) -> set[int]:
    """The features that the user named as categorical."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "auto"
    ):
        return set()
    chosen = list(categorical_features)
    if chosen and all(isinstance(c, bool | np.bool_) for c in chosen):
        if len(chosen) != schema.n_features:
            raise ValueError(
                f"'categorical_features' is a mask of {len(chosen)} entries, "
                f"X has {schema.n_features} features."
            )
        return {i for i, on in enumerate(chosen) if on}
    out = set()
    for c in chosen:
        if isinstance(c, str):
            if schema.feature_names is None or c not in schema.feature_names:
                raise ValueError(f"'categorical_features' names {c!r}, which X does not have.")
            out.add(schema.feature_names.index(c))
        elif isinstance(c, int | np.integer) and 0 <= c < schema.n_features:
            out.add(int(c))
        else:
            raise ValueError(
                f"'categorical_features' has {c!r}, which is no feature of X "
                f"({schema.n_features} features)."
            )
    return out
