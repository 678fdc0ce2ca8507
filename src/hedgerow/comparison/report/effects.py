"""What the answer depends on: partial dependence, single rows, Shapley values, and how sure it is.

- `dependence`: a feature is set to one value after another in held-out rows, and the answers are
  drawn, of some rows one by one (ICE) and of all on average (partial dependence);
- `contributions`: Shapley values of held-out rows by the best of hedgerow's models that has them;
- `row_contributions`: those of the rows that can be followed through the drawn model;
- `coverage`: how many held-out rows the intervals, or sets of classes, of other folds hold.

All but the third are of models that did not see the rows.
"""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow._columns import is_categorical, take_rows
from hedgerow._conformal import radius, sorted_doubts, sorted_residuals
from hedgerow.comparison.records import Result
from hedgerow.comparison.sizes import bare

if TYPE_CHECKING:
    from hedgerow.comparison.comparison import Comparison

MOST_FEATURES, MOST_SHAPLEY, MOST_ADDED = 4, 8, 6
GRID, MOST_CATEGORIES = 16, 10
ROWS_AVERAGED, ROWS_DRAWN, ROWS_EXPLAINED, ROWS_BACKGROUND = 200, 20, 80, 200
MOST_SECONDS = 4.0
COVERAGES = (0.5, 0.8, 0.9, 0.95)


def output_of(comparison: "Comparison") -> tuple[str, int]:
    """Return the name of the answer that is drawn, and the place of its class."""
    classes = comparison.classes
    if classes is None:
        return comparison.data.target or "prediction", 0
    if len(classes) == 2:
        place = classes.index(comparison.positive) if comparison.positive in classes else 1
    else:
        place = int(np.argmax([np.sum(np.asarray(comparison.y) == label) for label in classes]))
    return f"probability of {classes[place]}", place


def dependence(
    comparison: "Comparison", name: str, features: list[int], fold: int, refit: bool
) -> dict[str, Any] | None:
    """Return curves of the features that matter most, by a model of a fold on its held-out rows.

    Parameters
    ----------
    comparison : Comparison
    name : str
        The model.
    features : list of int
        The most important first.
    fold : int
    refit : bool
        Whether the model may be fitted again.
    """
    model = comparison.fit_fold(name, fold, refit=refit)
    if model is None or comparison.splits is None or not features:
        return None
    what, place = output_of(comparison)
    rng = np.random.default_rng(comparison.random_state)
    test = comparison.splits[fold][1]
    rows = rng.permutation(test)[:ROWS_AVERAGED]
    began = perf_counter()
    answer = _answers(model, comparison.classes, place)
    answer(take_rows(comparison.X, rows[:1]))
    curves = []
    for feature in features[:MOST_FEATURES]:
        grid = _grid(comparison.X, feature)
        if len(grid) < 2:
            continue
        asked = perf_counter()
        lines = np.array([answer(_with(take_rows(comparison.X, rows), feature, v)) for v in grid]).T
        is_number = isinstance(grid[0], float)
        curves.append(
            {
                "name": str(comparison.feature_names[feature]),
                "grid": [float(f"{v:.6g}") for v in grid] if is_number else [str(v) for v in grid],
                "is_number": is_number,
                "mean": _short(lines.mean(axis=0)),
                "rows": [_short(line) for line in lines[:ROWS_DRAWN]],
            }
        )
        now = perf_counter()
        if now - began + (now - asked) > MOST_SECONDS:
            break
    return {"model": name, "what": what, "n_rows": len(rows), "curves": curves} if curves else None


def _answers(model: Any, classes: list | None, place: int) -> Callable[[Any], np.ndarray]:
    """Return the function that is drawn: the number, or the probability of a class."""
    if classes is None:
        return lambda X: np.asarray(model.predict(X), dtype=float)
    known = model.classes_.tolist()
    if classes[place] not in known:  # a class that the training rows of the fold did not have
        return lambda X: np.zeros(X.shape[0])
    return lambda X: np.asarray(model.predict_proba(X))[:, known.index(classes[place])]


def _grid(X: Any, feature: int) -> list:
    """Return values to try: quantiles of numbers, the most common categories."""
    column = X.iloc[:, feature] if hasattr(X, "iloc") else X[:, feature]
    if hasattr(X, "columns") and is_categorical(column):
        values = np.asarray(
            column.drop_nulls() if hasattr(column, "drop_nulls") else column.dropna()
        )
        words, counts = np.unique(values.astype(str), return_counts=True)
        common = set(words[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
        return [value for value in dict.fromkeys(values.tolist()) if str(value) in common]
    numbers = np.asarray(column, dtype=float)
    found = np.quantile(numbers[np.isfinite(numbers)], np.linspace(0.02, 0.98, GRID))
    return [float(value) for value in np.unique(found)]


def _with(X: Any, feature: int, value: Any) -> Any:
    """Return the rows with one value in a column."""
    if hasattr(X, "with_columns"):  # polars
        import polars as pl

        column = X[:, feature]
        return X.with_columns(pl.Series(column.name, [value] * len(X)).cast(column.dtype))
    X = X.copy()
    if hasattr(X, "iloc"):
        dtype = X.dtypes.iloc[feature]
        is_word = not isinstance(value, float)
        X.isetitem(feature, np.full(len(X), value, dtype=object if is_word else float))
        if is_word:
            X[X.columns[feature]] = X.iloc[:, feature].astype(dtype)
    else:
        X[:, feature] = value
    return X


def contributions(
    comparison: "Comparison", results: list[Result], refit: bool
) -> dict[str, Any] | None:
    """Return Shapley values of held-out rows, by the first of the models that has them."""
    for result in results:
        fold = result.folds[0]
        model = bare(comparison.fit_fold(result.name, fold, refit=refit))
        if hasattr(model, "shap_values") and comparison.splits is not None:
            break
    else:
        return None
    rng = np.random.default_rng(comparison.random_state)
    rows = rng.permutation(comparison.splits[fold][1])[:ROWS_EXPLAINED]
    sample = take_rows(comparison.X, rows)
    what, place = output_of(comparison)
    train = comparison.splits[fold][0]
    others = take_rows(comparison.X, rng.permutation(train)[:ROWS_BACKGROUND])
    values = _shapley(model, sample, others)
    if values is None:
        return None
    values, what = _of_output(values, model, comparison, place, what)
    worth = np.abs(values).mean(axis=0)
    codes = np.asarray(model.schema_.encode(model, sample), dtype=float)
    features = []
    for feature in np.argsort(-worth, kind="stable")[:MOST_SHAPLEY].tolist():
        if worth[feature] <= 0:
            break
        is_number = feature not in model.schema_.categories
        features.append(
            {
                "name": str(comparison.feature_names[feature]),
                "worth": float(worth[feature]),
                "values": _short(values[:, feature]),
                "heights": _ranks(codes[:, feature]) if is_number else None,
            }
        )
    if not features:
        return None
    return {"model": result.name, "what": what, "n_rows": len(rows), "features": features}


def row_contributions(model: Any, X: Any, rows: list[int], classes: list | None) -> dict | None:
    """Return what moves the answer of single rows the most, by the model that is drawn.

    Parameters
    ----------
    model : estimator
    X : array or data frame
    rows : list of int
    classes : list or None

    Returns
    -------
    found : dict or None
        ``base`` by output, and for each row its output and [feature, value] pairs.
    """
    if not hasattr(model, "shap_values") or not rows:
        return None
    sample = take_rows(X, np.asarray(rows))
    some = np.random.default_rng(0).permutation(X.shape[0])[:ROWS_BACKGROUND]
    others = take_rows(X, some)  # a graph with shared nodes asks for rows
    values = _shapley(model, sample, others)
    if values is None:
        return None
    base = np.atleast_1d(model.shap_expected(others, by="paths"))
    if values.ndim == 2:
        values = values[..., None]
    likeliest = np.zeros(len(rows), dtype=int)
    if classes is not None:
        likeliest = np.asarray(model.predict_proba(sample)).argmax(axis=1)
    told = []
    for of_row, k in zip(values, likeliest, strict=True):
        order = np.argsort(-np.abs(of_row[:, k]), kind="stable")[:MOST_ADDED]
        pairs = [[int(f), float(f"{of_row[f, k]:.4g}")] for f in order if of_row[f, k] != 0]
        told.append({"output": int(k), "added": pairs})
    return {"base": [float(f"{b:.6g}") for b in base], "rows": told}


def _shapley(model: Any, X: Any, others: Any) -> np.ndarray | None:
    """Return path-dependent values; None where tests are oblique, which have none."""
    try:
        return np.asarray(model.shap_values(X, others, by="paths"))
    except ValueError:
        return None


def coverage(
    comparison: "Comparison", result: Result, y: np.ndarray
) -> list[dict[str, float]] | None:
    """Return how many held-out rows intervals, or sets of classes, hold, for several promises.

    Those of a fold are as wide as the other folds ask, so no row had a part in its own.
    """
    folds = [] if comparison.splits is None else [comparison.splits[f][1] for f in result.counted]
    if len(folds) < 2 or result.predictions is None:
        return None
    rows: list[dict[str, float]] = []
    for promised in COVERAGES:
        held = size = n_rows = 0.0
        for place, test in enumerate(folds):
            others = np.concatenate([fold for k, fold in enumerate(folds) if k != place])
            try:
                hits, sizes = _held(comparison, result, y, others, test, promised)
            except ValueError:  # too few rows to promise so much
                return rows or None
            held, size, n_rows = held + hits.sum(), size + sizes.sum(), n_rows + len(test)
        rows.append(
            {"promised": promised, "held": float(held / n_rows), "size": float(size / n_rows)}
        )
    return rows


def _held(
    comparison: "Comparison",
    result: Result,
    y: np.ndarray,
    others: np.ndarray,
    test: np.ndarray,
    promised: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are held, and the half width of intervals, or the sizes of sets."""
    if comparison.classes is None:
        truth, predicted = y.astype(float), np.asarray(result.predictions, dtype=float)
        most = radius(sorted_residuals(truth[others], predicted[others]), promised)[0]
        return np.abs(truth[test] - predicted[test]) <= most, np.full(len(test), most)
    shares = np.asarray(result.probabilities, dtype=float)
    places = np.searchsorted(np.asarray(comparison.classes), y)
    most = radius(sorted_doubts(places[others], shares[others]), promised)[0]
    inside = 1 - shares[test] <= most
    return inside[np.arange(len(test)), places[test]], inside.sum(axis=1)


def _of_output(
    values: np.ndarray, model: Any, comparison: "Comparison", place: int, what: str
) -> tuple[np.ndarray, str]:
    """Return the values of the output that is drawn, and its name."""
    values = np.asarray(values)
    if comparison.classes is None:
        return (values if values.ndim == 2 else values[..., 0]), what
    label = comparison.classes[place]
    known = model.classes_.tolist()
    if values.ndim == 2:  # of two classes, the score of the second
        return (values if known.index(label) == 1 else -values), f"log-odds of {label}"
    is_share = hasattr(model, "graph_") or hasattr(model, "estimators_")
    name = what if is_share else f"score of {label}"
    return values[..., known.index(label)], name


def _ranks(numbers: np.ndarray) -> list[float | None]:
    """Return where each number stands among the others, from 0 to 1; None if missing."""
    known = np.sort(numbers[~np.isnan(numbers)])
    most = max(len(known) - 1, 1)
    low, high = (np.searchsorted(known, numbers, side=side) for side in ("left", "right"))
    places = (low + high - 1) / 2 / most
    return [
        None if np.isnan(x) else round(float(p), 2) for x, p in zip(numbers, places, strict=True)
    ]


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
