"""What a comparison reads from the table itself: the task, columns that only name rows, counts."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from hedgerow._columns import columns_of, is_categorical, is_frame
from hedgerow.comparison.division import MOST_FOLDS, NAME_OF_A_DIVISION
from hedgerow.comparison.records import TASKS, Data, Task
from hedgerow.datasets.columns import did_you_mean

# A numeric target with more distinct values than this is taken for a quantity, not for classes.
MAX_NUMERIC_CLASSES = 20
NAME_OF_AN_ID = re.compile(
    r"unnamed: \d+|index|row(_?(id|nr|no|num|number))?|uuid|guid|(.*[ _.-])?id", re.IGNORECASE
)
_FEWEST_ROWS = 20  # in a shorter table a column of different values may well be a feature


def read_target(y: Any, task: Task | None) -> tuple[np.ndarray, Task]:
    """The target as an array without missing values, and the task: as given, or guessed from it."""
    if task not in (None, *TASKS):
        raise ValueError(f"'task' must be 'classification', 'regression' or None, got {task!r}.")
    y = column_or_1d(np.asarray(y), warn=True)
    n_missing = int(np.sum([value is None or value != value for value in y.tolist()]))
    if n_missing:
        raise ValueError(f"y is missing in {n_missing} of {len(y)} rows: leave them out.")
    return y, task or guess_task(y)


def guess_task(y: np.ndarray) -> Task:
    """Regression for numbers that are many or not whole, classification for all else."""
    if y.dtype.kind not in "iuf":
        return "classification"
    values = np.unique(y)
    whole = np.all(values == np.floor(values))
    return "classification" if whole and len(values) <= MAX_NUMERIC_CLASSES else "regression"


def useless_columns(X: Any, keep: Iterable[str] = ()) -> dict[str, str]:
    """Columns of a frame that cannot help on new rows, with the reason.

    These are identifiers (all values differ, and they are words, count the rows, or the name says
    so), columns with one value, and divisions into training and test rows. Arrays have no names and
    are left as they are; so are the columns that are to be kept.
    """
    if not is_frame(X) or len(X) < _FEWEST_ROWS:
        return {}
    reasons = {}
    kept = set(keep)
    for name in X.columns:
        if name in kept:
            continue
        column = X[name]
        present = column.dropna() if hasattr(X, "iloc") else column.drop_nulls()
        n_values = present.nunique() if hasattr(X, "iloc") else present.n_unique()
        if n_values == 0:
            reasons[name] = "is empty"
        elif n_values == 1 and len(present) == len(X):
            reasons[name] = "has only one value"
        elif n_values <= MOST_FOLDS and NAME_OF_A_DIVISION.fullmatch(str(name)):
            reasons[name] = (
                "divides the rows, by its name ('--split' uses it, '--keep' makes it a feature)"
            )
        elif n_values == len(present) and len(present) > 0.9 * len(X):
            values = present.to_numpy()
            if values.dtype.kind not in "biufmM":
                reasons[name] = "looks like an identifier: every value is different"
            elif NAME_OF_AN_ID.fullmatch(str(name)) and _whole(values):
                reasons[name] = "looks like an identifier, by its name"
            elif len(values) == len(X) and _whole(values) and _counts(values):
                reasons[name] = "numbers the rows"
    return reasons if len(reasons) < len(X.columns) else {}


def _whole(values: np.ndarray) -> bool:
    return values.dtype.kind in "iuf" and bool(np.all(values == np.floor(values)))


def _counts(values: np.ndarray) -> bool:
    return len(values) > 1 and bool(np.all(np.diff(values.astype(float)) == 1))


def drop_columns(X: Any, names: Any) -> Any:
    """The frame without some columns."""
    if not names:
        return X
    return X.drop(columns=list(names)) if hasattr(X, "iloc") else X.drop(list(names))


def feature_names(X: Any) -> list[str]:
    """Column names; x0, x1 and so on for an array."""
    return [str(n) for n in X.columns] if is_frame(X) else [f"x{i}" for i in range(X.shape[1])]


def describe(X: Any, dropped: dict[str, str], name: str | None, target: str | None) -> Data:
    """Counts of a table."""
    return Data(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_categorical=sum(map(is_categorical, columns_of(X))),
        n_missing=_count_missing(X),
        dropped={str(column): reason for column, reason in dropped.items()},
        name=name,
        target=target,
    )


def count_categories(X: Any) -> int:
    """Different categories of all columns together."""
    if not is_frame(X):
        return 0
    columns = [X[name] for name in X.columns if is_categorical(X[name])]
    return int(sum(c.nunique() if hasattr(X, "iloc") else c.n_unique() for c in columns))


def _count_missing(X: Any) -> int:
    if not is_frame(X):
        return int(np.isnan(X).sum()) if X.dtype.kind == "f" else 0
    if hasattr(X, "iloc"):
        return int(X.isna().to_numpy().sum())
    nan = sum(int(column.is_nan().sum()) for column in X if column.dtype.is_float())
    return nan + sum(column.null_count() for column in X)


def take_out(X: Any, column: Any, what: str) -> tuple[Any, np.ndarray | None]:
    """A column that is no feature: the table without it, and its values.

    Parameters
    ----------
    X : array or data frame
    column : str, array-like or None
        A name, which is then no feature any more, or the values.
    what : str
        The parameter's name, for errors.
    """
    if column is None:
        return X, None
    if isinstance(column, str):
        if not is_frame(X) or column not in X.columns:
            names = feature_names(X) if is_frame(X) else []
            raise ValueError(
                f"'{what}' must name a column of X or be its values, got {column!r}."
                + did_you_mean(column, names)
            )
        return drop_columns(X, [column]), np.asarray(X[column])
    values = column_or_1d(np.asarray(column), warn=False)
    if len(values) != X.shape[0]:
        raise ValueError(f"'{what}' must have {X.shape[0]} values, got {len(values)}.")
    return X, values


def join_rows(X: Any, more: Any) -> Any:
    """Two tables with the same columns, one after the other."""
    if not is_frame(X):
        return np.concatenate([X, np.asarray(more)])
    lacking = [str(name) for name in X.columns if name not in more.columns]
    if lacking:
        raise ValueError(f"the test table lacks the column '{lacking[0]}'.")
    if not hasattr(X, "iloc"):
        import polars as pl

        return pl.concat([X, more.select(X.columns)], how="vertical_relaxed")
    import pandas as pd

    more = more[list(X.columns)]
    joined = pd.concat([X, more], ignore_index=True)
    for name in X.columns:  # categories that differ would become words
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            joined[name] = joined[name].astype("category")
    return joined


def check_names(X: Any, names: Iterable[str], what: str) -> list[str]:
    """Names of columns, all of which the table has."""
    wanted = [names] if isinstance(names, str) else list(names)
    known = feature_names(X) if is_frame(X) else []
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"'{what}' names {name!r}, which is no column." + did_you_mean(name, known)
            )
    return wanted
