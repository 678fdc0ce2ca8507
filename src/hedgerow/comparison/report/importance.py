"""What each feature is worth: how much worse held-out rows are predicted when it is shuffled.

The models are those of the folds, and each feature of the rows held out from them is shuffled
several times. The interval is that of the middle nine tenths of all shuffles, so it covers the
difference between folds as well.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from hedgerow._columns import take_rows
from hedgerow.comparison.sizes import bare
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor

MOST_ROWS = 2000  # held out, of a fold
MOST_FEATURES = 40
SHUFFLES = 10


def permutation_importance(
    model_of: Callable[[int], Any],
    X: Any,
    y: np.ndarray,
    tests: Mapping[int, np.ndarray],
    seed: int,
    is_classifier: bool,
    seconds: float = 20.0,
) -> dict[str, Any]:
    """Shuffle the features of held-out rows.

    Parameters
    ----------
    model_of : callable
        From a fold to the model fitted on its training rows; None where there is none.
    X : array or data frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    tests : dict of int to ndarray
        The rows that each fold holds out.
    seed : int
    is_classifier : bool
    seconds : float, default=20.0
        For all of it, about.

    Returns
    -------
    importance : dict
        ``features`` (indices), ``drops`` of shape (n_features, n_shuffles), ``folds`` (a count).
    """
    rng = np.random.default_rng(seed)
    metric = accuracy_score if is_classifier else r2_score
    features: list[int] = []
    drops: list[list[float]] = []
    began = perf_counter()
    repeats = max(SHUFFLES // max(len(tests), 1), 2)
    folds = 0
    for fold, test in tests.items():
        if folds and (perf_counter() - began) * (folds + 1) / folds > seconds:
            break
        model = model_of(fold)
        if model is None:
            continue
        if not folds:
            features = _likely(bare(model), X, y, is_classifier)
            drops = [[] for _ in features]
        test = test if len(test) <= MOST_ROWS else rng.choice(test, MOST_ROWS, replace=False)
        held_out, actual = take_rows(X, test), y[test]
        base = metric(actual, model.predict(held_out))
        for repeat in range(repeats):
            for place, feature in enumerate(features):
                shuffled = _shuffled(held_out, feature, rng.permutation(len(test)))
                drops[place].append(base - metric(actual, model.predict(shuffled)))
            if perf_counter() - began > seconds and (folds or repeat):
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
