"""What looks too good to be true, or will not hold on new rows: named, never decided.

Nothing here changes a score. Each finding is a sentence that says what was seen and what to do.
"""

from collections.abc import Iterator
from shlex import quote
from time import perf_counter
from typing import Any

import numpy as np

from hedgerow._columns import is_frame, take_rows
from hedgerow.comparison.division import Division
from hedgerow.comparison.metrics import RARE, Metric, Outcome, gain, rare_classes
from hedgerow.comparison.tables import NAME_OF_AN_ID, feature_names
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor

SECONDS = 5.0  # for looking at columns one by one
MOST_ROWS = 5000
NEARLY = 0.95  # of what the best model gains on a constant: then one column is nearly all of it
STANDS_OUT = 0.8  # the next column gains at most so much of it,
PERFECT = 0.99  # unless it predicts about everything
MUCH = 0.4  # of what can be gained at all: a weak best score is no sign of a leak
COPIES = 0.05  # of the test rows
FEWEST_GROUPS = 20


def rare_class_notes(y: np.ndarray, n_folds: int, metric: str, asked: bool) -> Iterator[str]:
    """Sentences on classes with few rows."""
    rare = rare_classes(y)
    for label, count in rare.items():
        rows = f"{count} row{'' if count == 1 else 's'}"
        if count < n_folds:
            yield f"the class '{label}' has {rows}, too few for one in each of {n_folds} folds"
    if rare and not asked:
        label = min(rare, key=rare.__getitem__)
        yield (
            f"the class '{label}' has {rare[label] / len(y):.2%} of the rows, under {RARE:.0%}: "
            f"models are ranked by {metric}, not by accuracy, which a constant would win; "
            "'--metric' (scoring=) decides otherwise"
        )
    elif rare and metric == "accuracy":
        label = min(rare, key=rare.__getitem__)
        yield (
            f"the class '{label}' has {rare[label] / len(y):.2%} of the rows: accuracy says little "
            "of how well it is found"
        )


def copies(X: Any, y: np.ndarray, division: Division) -> Iterator[str]:
    """A sentence where many test rows have an exact copy among the training rows."""
    if len(division.splits) == 0:
        return
    hashes = _row_hashes(X, y)
    found = tested = 0
    for train, test in division.splits:
        found += int(np.isin(hashes[test], hashes[train]).sum())
        tested += len(test)
    if found > COPIES * tested:
        yield (
            f"{found / tested:.0%} of the test rows have an exact copy among the training rows: "
            "the scores are too good where new rows are no copies; drop the copies, or keep them "
            "together with '--groups' (groups=)"
        )


def _row_hashes(X: Any, y: np.ndarray) -> np.ndarray:
    import pandas as pd

    if hasattr(X, "hash_rows"):  # polars
        rows = X.hash_rows(seed=0).to_numpy()
    else:
        frame = X if is_frame(X) else pd.DataFrame(X)
        rows = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return rows ^ pd.util.hash_array(np.asarray(y))


def repeated_identifiers(X: Any, division: Division) -> Iterator[str]:
    """A sentence for each column that names things with several rows each."""
    if not is_frame(X) or not division.is_shuffled:
        return
    for name in X.columns:
        if not NAME_OF_AN_ID.fullmatch(str(name)):
            continue
        n_values = X[name].nunique() if hasattr(X, "iloc") else X[name].n_unique()
        if FEWEST_GROUPS <= n_values <= len(X) / 1.5:
            option = quote(str(name))
            yield (
                f"'{name}' looks like an identifier of {n_values:,} things with several rows each, "
                f"which are in training and test rows alike: --groups {option} (groups=) keeps "
                f"them together, --drop {option} leaves it out"
            )


def dates(reading: Any, division: Division) -> Iterator[str]:
    """A sentence where the table has dates and its rows are shuffled."""
    names = [c.name for c in reading.columns if c.kind == "date"] if reading is not None else []
    if names and division.is_shuffled:
        yield (
            f"'{names[0]}' is a date, but the folds are shuffled, so models are tested on days of "
            f"which they saw others: --time {quote(names[0])} tests them on what comes later"
        )


def telling_columns(
    X: Any,
    y: np.ndarray,
    division: Division,
    metric: Metric,
    classes: np.ndarray | None,
    positive: Any,
    constant: float,
    best: float,
    seconds: float = SECONDS,
) -> Iterator[str]:
    """A sentence on a column that gives nearly the best score alone.

    It is tried with a small tree of that column only, on the first fold. Several columns that do
    so are no surprise, unless they predict about everything.

    Parameters
    ----------
    X, y, division, metric, classes, positive : of the comparison
    constant, best : float
        Scores of the constant and of the best model.
    seconds : float, default=5.0
        Columns that are not reached in this time are not looked at.
    """
    reached = gain(metric.name, best) - gain(metric.name, constant)
    if X.shape[1] < 2 or not np.isfinite(reached) or reached <= 0:
        return
    rng = np.random.default_rng(0)
    train, test = (rng.permutation(part)[:MOST_ROWS] for part in division.splits[0])
    began = perf_counter()
    shares: dict[str, float] = {}
    for name, column in zip(feature_names(X), _columns_alone(X), strict=True):
        if perf_counter() - began > seconds:
            break
        try:
            score = _score_alone(column, y, train, test, metric, classes, positive)
        except (ValueError, TypeError):  # a column that no model reads, or a fold of one class
            continue
        shares[name] = (gain(metric.name, score) - gain(metric.name, constant)) / reached
    ranked = sorted(shares, key=shares.__getitem__, reverse=True)
    possible = (1.0 - constant) if metric.higher else constant  # of scores from 0 to 1, and losses
    second = max((shares[name] for name in ranked[1:]), default=0.0)
    for name in ranked[:3]:
        alone = shares[name] * reached
        is_perfect = alone >= PERFECT * possible > 0
        stands_out = name == ranked[0] and second <= STANDS_OUT * shares[name]
        is_much = alone >= MUCH * possible and shares[name] >= NEARLY
        if is_much and (is_perfect or stands_out):
            yield (
                f"'{name}' alone gives nearly the best score: if it is not known before the target "
                f"is, it leaks; --drop {quote(str(name))} (drop=) leaves it out"
            )


def _columns_alone(X: Any) -> Iterator[Any]:
    for place in range(X.shape[1]):
        if hasattr(X, "iloc"):
            yield X.iloc[:, [place]]
        else:
            yield X[:, [place]]


def _score_alone(
    column: Any,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    metric: Metric,
    classes: np.ndarray | None,
    positive: Any,
) -> float:
    tree_class: Any = DecisionTreeRegressor if classes is None else DecisionTreeClassifier
    tree = tree_class(max_leaf_nodes=32, min_samples_leaf=5, random_state=0)
    tree.fit(take_rows(column, train), y[train])
    rows = take_rows(column, test)
    shares = None
    if classes is not None:
        shares = np.zeros((len(test), len(classes)))
        shares[:, np.searchsorted(classes, tree.classes_)] = tree.predict_proba(rows)
    outcome = Outcome(y[test], tree.predict(rows), shares, classes, positive, tree, rows)
    return float(metric.score(outcome))
