"""Random forests, drop-in for scikit-learn's."""

from typing import Any

from hedgerow._estimator import parameter
from hedgerow._parameters import MAX_FEATURES
from hedgerow.forest.forest_model import MAX_FEATURES_TEXT, ForestClassifier, ForestRegressor


class RandomForestClassifier(ForestClassifier):
    """A random forest: trees on bags of rows, the best of a few random features at each split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    max_features: Any = parameter("sqrt", MAX_FEATURES, MAX_FEATURES_TEXT)


class RandomForestRegressor(ForestRegressor):
    """A random forest for regression: trees on bags of rows, averaged.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RandomForestRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    max_features: Any = parameter(1.0, MAX_FEATURES, MAX_FEATURES_TEXT)
