"""Reading a user's table: arrays and data frames to columns of numbers and category codes.

``Schema`` is what a fitted model remembers of its training table: the feature names and, for each
categorical feature, its categories in code order. ``Schema.learn`` reads the training table,
``Schema.bin`` turns it into the engine's :class:`Dataset`, ``Schema.encode`` turns any later table
into the matrix that prediction reads: numbers as they are, categories as their codes, NaN for what
is missing or was never seen.

Arrays go to the engine as they are. Frames (pandas and polars) are read column by column, so a
frame is never copied as a whole while fitting.
"""

import numbers
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from hedgerow._engine import Dataset

_MOST_CATEGORIES = 65_535
_LARGEST = 1e100  # of targets and weights
_COLUMNS_AT_ONCE = 16  # columns of a frame held as numbers at one time


def is_frame(X: Any) -> bool:
    """Whether X is a data frame whose columns have types of their own."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


class Schema:
    """Names and categories of the features of one training table.

    Attributes
    ----------
    feature_names : list of str or None
        Column names, None for arrays.
    n_features : int
    categories : dict of int to list
        For each categorical feature its categories; the position is the code.
    missing : set of int
        The features with missing values in training.
    """

    feature_names: list[str] | None
    n_features: int
    categories: dict[int, list]
    missing: set[int]

    @classmethod
    def learn(cls, estimator: Any, X: Any, categorical_features: Any) -> tuple["Schema", Any]:
        """Read the training table; return the schema and the table, checked."""
        schema = cls()
        if is_frame(X):
            validate_data(estimator, X, skip_check_array=True)
            _check_frame(X)
            schema.feature_names = [str(name) for name in X.columns]
            schema.n_features = len(schema.feature_names)
        else:
            _refuse_times(X)
            X = validate_data(
                estimator, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
            )
            schema.feature_names = None
            schema.n_features = X.shape[1]
        chosen = _chosen_features(categorical_features, schema)
        by_type = isinstance(categorical_features, str)  # "auto"
        schema.categories = {}
        for feature, column in enumerate(_columns(X)):
            if feature in chosen or (by_type and _is_categorical(column)):
                schema.categories[feature] = _ordered(column, schema._name(feature))
        return schema, X

    def bin(self, X: Any, max_bins: int, n_jobs: int) -> Dataset:
        """The table, as returned by :meth:`learn`, as a binned data set."""
        data = Dataset(len(X))
        if not is_frame(X) and not self.categories:
            data.append_matrix(X, max_bins, n_jobs)
        else:
            self._append_columns(data, X, max_bins, n_jobs)
        self.missing = {f for f in range(self.n_features) if data.has_missing(f)}
        return data

    def bin_encoded(self, matrix: np.ndarray, n_jobs: int) -> Dataset:
        """A matrix, as returned by :meth:`encode`, as a data set with a bin for every value."""
        data = Dataset(len(matrix))
        if not self.categories:
            data.append_matrix(matrix, 0, n_jobs)
            return data
        for feature, column in enumerate(matrix.T):
            if feature in self.categories:
                codes = np.nan_to_num(column, nan=-1).astype(np.int32)
                data.append_categories(codes, len(self.categories[feature]))
            else:
                data.append_numbers([column], 0, n_jobs)
        return data

    def _append_columns(self, data: Dataset, X: Any, max_bins: int, n_jobs: int) -> None:
        waiting: list[np.ndarray] = []

        def flush() -> None:
            if waiting:
                data.append_numbers(waiting, max_bins, n_jobs)
                waiting.clear()

        for feature, column in enumerate(_columns(X)):
            if feature in self.categories:
                flush()
                data.append_categories(self._codes(feature, column), len(self.categories[feature]))
                continue
            values = self._numbers(feature, column)
            full = len(waiting) == max(_COLUMNS_AT_ONCE, n_jobs)
            if waiting and (full or waiting[0].dtype != values.dtype):
                flush()
            waiting.append(values)
        flush()

    def encode(self, estimator: Any, X: Any, *, finite: bool = True) -> np.ndarray:
        """Check a table against the training table; return its matrix for prediction.

        ``finite=False`` leaves infinite numbers in an array to the engine, which looks for them
        while it predicts: a pass over the data less.
        """
        if not is_frame(X):
            _refuse_times(X)
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
            validate_data(estimator, X, reset=False, skip_check_array=True)
            _check_frame(X)
        columns = []
        for feature, column in enumerate(_columns(X)):
            if feature in self.categories:
                codes = self._codes(feature, column)
                columns.append(np.where(codes < 0, np.nan, codes).astype(np.float32))
            else:
                columns.append(self._numbers(feature, column))
        dtype = np.result_type(*{column.dtype for column in columns})
        out = np.empty((len(X), self.n_features), dtype=dtype)
        for feature, column in enumerate(columns):
            out[:, feature] = column
        return out

    def _name(self, feature: int) -> str:
        return str(feature) if self.feature_names is None else repr(self.feature_names[feature])

    def _codes(self, feature: int, column: Any) -> np.ndarray:
        """Codes of a categorical column; -1 for missing and for categories not in training."""
        codes, values, _ = _factorize(column)
        place = {value: code for code, value in enumerate(self.categories[feature])}
        table = np.array([place.get(value, -1) for value in values] + [-1], dtype=np.int32)
        return table[codes]

    def _numbers(self, feature: int, column: Any) -> np.ndarray:
        return _as_numbers(column, self._name(feature))


def check_targets_match(X: Any, y: np.ndarray) -> None:
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y has {len(y)}: they must be equally long.")


def check_magnitude(name: str, values: np.ndarray) -> None:
    """Refuse numbers whose weighted squares would overflow when they are summed."""
    if values.size and (largest := np.abs(values).max()) > _LARGEST:
        raise ValueError(
            f"{name} holds numbers up to {largest:g}: sums of their squares overflow beyond "
            f"{_LARGEST:g}; divide {name} by a constant."
        )


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights as float64, or None; they must be finite, non-negative and not all zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_rows, sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"'sample_weight' must have one weight per row: X has {n_rows} rows, "
            f"'sample_weight' has shape {weights.shape}."
        )
    if (weights < 0).any():
        raise ValueError(
            "'sample_weight' must not be negative, "
            f"got {weights.min():g} at row {weights.argmin()}."
        )
    check_magnitude("'sample_weight'", weights)
    if not weights.any():
        raise ValueError("'sample_weight' is zero for every row: there is nothing to learn from.")
    return weights


def _refuse_times(X: Any) -> None:
    """NumPy would read times as numbers, in units of its own."""
    kind = getattr(X, "dtype", None)
    if getattr(kind, "kind", "") in ("m", "M"):
        raise TypeError(
            f"X has type {kind}: give times as numbers, such as seconds since the first."
        )


def _check_frame(X: Any) -> None:
    if len(X) == 0:
        raise ValueError("Found a data frame with 0 rows while at least one is required.")
    if len(X.columns) == 0:
        raise ValueError("Found a data frame with 0 columns while at least one is required.")


def _columns(X: Any) -> Iterator[Any]:
    if not is_frame(X):
        yield from X.T
    elif hasattr(X, "iloc"):
        for position in range(X.shape[1]):
            yield X.iloc[:, position]
    else:
        yield from X.get_columns()


def _is_polars(column: Any) -> bool:
    return hasattr(column, "to_physical")


def _is_categorical(column: Any) -> bool:
    """Whether a column's own type says that it holds categories."""
    if isinstance(column, np.ndarray):
        return False
    if _is_polars(column):
        return str(column.dtype).split("(")[0] in {"Categorical", "Enum", "String", "Boolean"}
    name = str(column.dtype)
    return name.startswith(("category", "object", "bool", "str", "dictionary"))


def _factorize(column: Any) -> tuple[np.ndarray, list, bool]:
    """Codes (-1 for missing), the values they stand for, and whether their order has a meaning."""
    if isinstance(column, np.ndarray):
        values, codes = np.unique(column, return_inverse=True)
        present = values == values
        return np.where(present[codes], codes, -1), values[present].tolist(), True
    if _is_polars(column):
        kind = column.dtype
        ordered = str(kind).startswith("Enum")
        if str(kind) != "Boolean":
            column = column.cast(str)
        known = kind.categories if ordered else column.drop_nulls().unique(maintain_order=True)
        index = known.to_frame("value").with_row_index("code")
        joined = column.to_frame("value").join(index, on="value", how="left", maintain_order="left")
        return joined["code"].cast(int).fill_null(-1).to_numpy(), known.to_list(), ordered
    if str(column.dtype) == "category":
        return column.cat.codes.to_numpy(), column.cat.categories.tolist(), True
    codes, uniques = column.factorize()
    return np.asarray(codes), list(np.asarray(uniques, dtype=object)), False


def _ordered(column: Any, name: str) -> list:
    """The categories of a training column: in the type's own order, else sorted."""
    try:
        _, values, ordered = _factorize(column)
    except TypeError as error:  # a value that cannot be hashed
        raise TypeError(
            f"Column {name} cannot be read as categories ({error}): categories must be strings, "
            "numbers or booleans."
        ) from None
    for value in values:
        if not isinstance(value, str | bool | int | float | np.generic):
            raise TypeError(
                f"Column {name} holds {value!r} of type {type(value).__name__}: categories must be "
                "strings, numbers or booleans."
            )
    if len(values) > _MOST_CATEGORIES:
        raise ValueError(
            f"Column {name} has {len(values)} categories, the most possible is {_MOST_CATEGORIES}: "
            "drop it if it is an identifier, or group its values."
        )
    if ordered:
        return values
    try:
        return sorted(values)
    except TypeError:  # of several types
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _as_numbers(column: Any, name: str) -> np.ndarray:
    """A column as float32 (where nothing is lost) or float64, NaN for missing."""
    if isinstance(column, np.ndarray):
        return column
    kind = str(column.dtype)
    small = kind.lower() in {"int8", "int16", "uint8", "uint16", "float32", "bool", "boolean"}
    dtype = np.float32 if small else np.float64
    try:
        if _is_polars(column):
            if not (column.dtype.is_numeric() or kind in {"Boolean", "Null"}):
                raise TypeError
            values = column.cast(float).to_numpy().astype(dtype)
        elif kind.startswith(("datetime", "timedelta", "period", "complex")):
            raise TypeError
        else:
            values = column.to_numpy(dtype=dtype, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {name} has type {kind} and cannot be read as numbers: convert it to numbers, "
            "or to strings or categories to have it read as categories."
        ) from None
    if np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity in column {name}: replace it by a number or by NaN."
        )
    return values


def _chosen_features(categorical_features: Any, schema: Schema) -> set[int]:
    """The features that the user named as categorical."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "auto"
    ):
        return set()
    if isinstance(categorical_features, str) or not isinstance(
        categorical_features, Sequence | np.ndarray
    ):
        raise ValueError(
            "'categorical_features' must be 'auto', None, or a list of names, indices or "
            f"booleans, got {categorical_features!r}."
        )
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


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and each row's class as int32."""
    if y.dtype != object:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int32)
    # Sorting all labels as objects, as np.unique does, took more time than growing the tree.
    labels = y.tolist()
    try:
        classes = np.array(sorted(set(labels)), dtype=object)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"The labels in y are of several types ({', '.join(kinds)}): make them all strings or "
            "all numbers, and drop the rows without a label."
        ) from None
    place = {label: code for code, label in enumerate(classes)}
    return classes, np.fromiter(map(place.__getitem__, labels), dtype=np.int32, count=len(labels))
