"""Forests of completely random trees, as deep forests and mean-margin bags use them."""

from hedgerow._estimator import parameter
from hedgerow._parameters import option
from hedgerow.forest.forest_model import ForestClassifier, ForestRegressor, WholeTableForest


class _RandomTrees(WholeTableForest):
    splitter: str = parameter(
        "random",
        option("random", "best"),
        "How a member cuts the feature that it drew for a node: at a uniformly drawn threshold "
        "(a completely random tree), or at the best one (a random attribute per node).",
    )
    _fixed = {"max_features": 1}  # noqa: RUF012


class RandomTreesClassifier(_RandomTrees, ForestClassifier):
    """Completely random trees: a uniformly drawn feature that varies, cut at random, until pure.

    With the defaults these are the completely random forests of deep forests (Zhou and Feng).
    ``bootstrap=True`` makes them the bagged random trees of Gashler, Giraud-Carrier and Martinez;
    ``splitter="best"`` draws only the feature at random.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomTreesClassifier(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """


class RandomTreesRegressor(_RandomTrees, ForestRegressor):
    """Completely random trees: a uniformly drawn feature that varies, cut at random, until pure.

    With the defaults these are the completely random forests of deep forests (Zhou and Feng).
    ``bootstrap=True`` makes them the bagged random trees of Gashler, Giraud-Carrier and Martinez;
    ``splitter="best"`` draws only the feature at random.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import RandomTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RandomTreesRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """
