"""Extremely randomised trees, drop-in for scikit-learn's."""

from typing import Any

from hedgerow._estimator import parameter
from hedgerow._parameters import MAX_FEATURES
from hedgerow.forest.forest_model import (
    MAX_FEATURES_TEXT,
    ForestClassifier,
    ForestRegressor,
    WholeTableForest,
)


class _ExtraTrees(WholeTableForest):
    _fixed = {"splitter": "random"}  # noqa: RUF012


class ExtraTreesClassifier(_ExtraTrees, ForestClassifier):
    """Extremely randomised trees: the best of one random threshold per drawn feature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    max_features: Any = parameter("sqrt", MAX_FEATURES, MAX_FEATURES_TEXT)


class ExtraTreesRegressor(_ExtraTrees, ForestRegressor):
    """Extremely randomised trees for regression.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    max_features: Any = parameter(1.0, MAX_FEATURES, MAX_FEATURES_TEXT)
