"""Cross-validate models on the same folds and set score, size and speed side by side.

``compare`` makes the folds once, runs every model of ``hedgerow.compare.models`` over them and
returns a ``Comparison``. A model that cannot read categories or missing values runs inside a
scikit-learn pipeline that encodes and imputes; the time this takes is part of its fit and predict.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_consistent_length

from hedgerow.compare.models import MODELS, Model, Task

# A numeric target with more distinct values than this is taken for a quantity, not for classes.
MAX_NUMERIC_CLASSES = 20


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    task : {"classification", "regression"}
    metric : {"accuracy", "r2"}
    n_samples, n_features, folds, seed : int
    rows : list of dict
        One per model, best score first: ``model``, ``score`` and ``score_std`` over the folds, and
        the medians over the folds of ``n_splits``, ``fit_ms`` and ``predict_us`` (microseconds per
        row, predicting a whole fold at once).
    """

    task: Task
    metric: str
    n_samples: int
    n_features: int
    folds: int
    seed: int
    rows: list[dict[str, Any]]

    @property
    def table(self) -> Any:
        """The rows as a pandas data frame, or the rows themselves where pandas is missing."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            return self.rows
        return pd.DataFrame(self.rows)


def compare(
    X: Any,
    y: Any,
    *,
    task: Task | None = None,
    models: Iterable[str] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Comparison:
    """Cross-validate models on the same folds.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        pandas and polars frames may hold categories and missing values.
    y : array-like of shape (n_samples,)
        The target.
    task : {"classification", "regression"}, optional
        By default regression for a numeric target with more than 20 distinct values, or with a
        value that is not whole, and classification for any other.
    models : iterable of str, optional
        Names out of ``hedgerow.compare.MODELS``; all by default.
    folds : int, default=5
        Number of folds, shuffled, and stratified for classification.
    seed : int, default=0
        Seeds the folds and every model.

    Returns
    -------
    Comparison
        One row per model, best score first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow.compare import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, folds=3)
    >>> result.metric
    'accuracy'
    >>> min(row["score"] for row in result.rows) > 0.9
    True
    """
    chosen = _choose(models)
    if task not in (None, "classification", "regression"):
        raise ValueError(f"'task' must be 'classification', 'regression' or None, got {task!r}.")
    if not isinstance(folds, int | np.integer) or folds < 2:
        raise ValueError(f"'folds' must be an int of at least 2, got {folds!r}.")
    X = X if hasattr(X, "columns") else np.asarray(X)
    y = np.asarray(y)
    check_consistent_length(X, y)
    task = task or _guess_task(y)

    splitter = StratifiedKFold if task == "classification" else KFold
    splits = list(splitter(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    rows = [
        {"model": name, **_cross_validate(model, task, X, y, splits, seed)}
        for name, model in chosen.items()
        if task in model.factories
    ]
    return Comparison(
        task=task,
        metric="accuracy" if task == "classification" else "r2",
        n_samples=X.shape[0],
        n_features=X.shape[1],
        folds=folds,
        seed=seed,
        rows=sorted(rows, key=lambda row: -row["score"]),
    )


def _choose(names: Iterable[str] | None) -> dict[str, Model]:
    if names is None:
        return MODELS
    names = list(names)
    unknown = sorted(set(names) - set(MODELS))
    if unknown or not names:
        raise ValueError(f"'models' must be some of {list(MODELS)}, got {unknown or names}.")
    return {name: MODELS[name] for name in names}


def _guess_task(y: np.ndarray) -> Task:
    if y.dtype.kind not in "iuf":
        return "classification"
    values = np.unique(y)
    whole = np.all(values == np.floor(values))
    return "classification" if whole and len(values) <= MAX_NUMERIC_CLASSES else "regression"


def _cross_validate(
    model: Model, task: Task, X: Any, y: np.ndarray, splits: list, seed: int
) -> dict[str, Any]:
    metric = accuracy_score if task == "classification" else r2_score
    scores, n_splits, fit_s, predict_s = [], [], [], []
    for train, test in splits:
        X_train, X_test = _take(X, train), _take(X, test)
        estimator = model.factories[task](seed)
        if model.prepared:
            estimator = prepare(X, estimator)
        began = perf_counter()
        estimator.fit(X_train, y[train])
        fitted = perf_counter()
        predicted = estimator.predict(X_test)
        done = perf_counter()
        scores.append(metric(y[test], predicted))
        n_splits.append(count_splits(estimator))
        fit_s.append(fitted - began)
        predict_s.append((done - fitted) / len(test))
    return {
        "score": float(np.mean(scores)),
        "score_std": float(np.std(scores)),
        "n_splits": int(np.median(n_splits)),
        "fit_ms": float(np.median(fit_s)) * 1e3,
        "predict_us": float(np.median(predict_s)) * 1e6,
    }


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def prepare(X: Any, estimator: Any) -> Pipeline:
    """Put one-hot encoding of categories and median imputation of numbers before an estimator."""
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    if not hasattr(X, "columns"):
        return make_pipeline(impute, estimator)
    numeric = [name for name in X.columns if _is_numeric(X[name].dtype)]
    categorical = [name for name in X.columns if name not in numeric]
    encode = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer((impute, numeric), (encode, categorical)), estimator
    )


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric()
    from pandas.api.types import is_numeric_dtype

    return is_numeric_dtype(dtype)


def count_splits(estimator: Any) -> int:
    """Number of tests in a fitted tree, forest, or pipeline that ends in one."""
    if isinstance(estimator, Pipeline):
        return count_splits(estimator[-1])
    if hasattr(estimator, "n_splits_"):
        return int(estimator.n_splits_)
    if hasattr(estimator, "estimators_"):
        return sum(count_splits(member) for member in estimator.estimators_)
    return int(estimator.tree_.node_count - estimator.tree_.n_leaves)
