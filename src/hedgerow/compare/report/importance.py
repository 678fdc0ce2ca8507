"""What each feature is worth: how much worse held-out rows are predicted when it is shuffled.

The model is fitted on the training part of some folds, and each feature of the held-out rows is
shuffled several times. The interval is that of the middle nine tenths of all shuffles, so it covers
the difference between folds as well.
"""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score

from hedgerow.forest.members import take_rows
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor

SECONDS = 20.0  # for all of it, about
MOST_ROWS = 2000  # held out, of a fold
MOST_FEATURES = 40
SHUFFLES = 10


def permutation_importance(
    model: Any, X: Any, y: np.ndarray, splits: list, seed: int, is_classifier: bool
) -> dict[str, Any]:
    """Shuffle the features of held-out rows.

    Parameters
    ----------
    model : estimator
        Copies of it are fitted on the training parts.
    X : array or data frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    splits : list of (train, test)
    seed : int
    is_classifier : bool

    Returns
    -------
    importance : dict
        ``features`` (indices), ``drops`` of shape (n_features, n_shuffles), ``folds``.
    """
    rng = np.random.default_rng(seed)
    metric = accuracy_score if is_classifier else r2_score
    features = _likely(model, X, y, is_classifier)
    drops: list[list[float]] = [[] for _ in features]
    began = perf_counter()
    repeats = max(SHUFFLES // len(splits), 2)
    folds = 0
    for train, test in splits:
        if folds and (perf_counter() - began) * (folds + 1) / folds > SECONDS:
            break
        fitted = clone(model).fit(take_rows(X, train), y[train])
        test = test if len(test) <= MOST_ROWS else rng.choice(test, MOST_ROWS, replace=False)
        held_out, actual = take_rows(X, test), y[test]
        base = metric(actual, fitted.predict(held_out))
        for repeat in range(repeats):
            for place, feature in enumerate(features):
                shuffled = _shuffled(held_out, feature, rng.permutation(len(test)))
                drops[place].append(base - metric(actual, fitted.predict(shuffled)))
            if perf_counter() - began > SECONDS and (folds or repeat):
                break
        folds += 1
    return {"features": features, "drops": np.array(drops), "folds": folds}


def _likely(model: Any, X: Any, y: np.ndarray, is_classifier: bool) -> list[int]:
    """Return the features to look at: all, or those the model, or else a tree, uses most."""
    if X.shape[1] <= MOST_FEATURES:
        return list(range(X.shape[1]))
    known = getattr(model, "feature_importances_", ())
    if len(known) != X.shape[1]:
        tree = DecisionTreeClassifier() if is_classifier else DecisionTreeRegressor()
        known = tree.fit(X, y).feature_importances_
    return np.argsort(-np.asarray(known), kind="stable")[:MOST_FEATURES].tolist()


def _shuffled(X: Any, feature: int, order: np.ndarray) -> Any:
    """Return the rows with the values of one feature in another order."""
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X[:, feature].gather(order))
    X = X.copy()
    if hasattr(X, "iloc"):
        X.isetitem(feature, X.iloc[order, feature].array)
    else:
        X[:, feature] = X[order, feature]
    return X
