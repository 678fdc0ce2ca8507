"""Forests of completely random trees, as deep forests and mean-margin bags use them."""

from hedgerow import _parameters as parameters
from hedgerow.forest.forest_model import (
    ForestClassifier,
    ForestModel,
    ForestRegressor,
    with_parameters,
)


class _RandomTrees(ForestModel):
    max_features = 1

    @property
    def _splitter(self) -> str:
        return "random" if self.threshold == "uniform" else "best"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_option("threshold", self.threshold, ("uniform", "best"))


@with_parameters
class RandomTreesClassifier(_RandomTrees, ForestClassifier):
    """Completely random trees: a uniformly drawn feature that varies, cut at random, until pure.

    With the defaults these are the completely random forests of deep forests (Zhou and Feng).
    ``bootstrap=True`` makes them the bagged random trees of Gashler, Giraud-Carrier and Martinez;
    ``threshold="best"`` draws only the feature at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        What a split decreases; "log_loss" is another name of "entropy".
    threshold : {{"uniform", "best"}}, default="uniform"
        How a member cuts the feature that it drew for a node: at a uniformly drawn threshold
        (a completely random tree), or at the best one (a random attribute per node).
    {growth}
    {forest}
    class_weight : dict, "balanced" or "balanced_subsample", default=None
        Weights of the classes; "balanced_subsample" weighs them anew in each bag.
    {engine}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag class probabilities, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomTreesClassifier(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        threshold="uniform",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="auto",
        callback=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.threshold = threshold
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.callback = callback


@with_parameters
class RandomTreesRegressor(_RandomTrees, ForestRegressor):
    """Completely random trees: a uniformly drawn feature that varies, cut at random, until pure.

    With the defaults these are the completely random forests of deep forests (Zhou and Feng).
    ``bootstrap=True`` makes them the bagged random trees of Gashler, Giraud-Carrier and Martinez;
    ``threshold="best"`` draws only the feature at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    criterion : {{"squared_error", "poisson"}}, default="squared_error"
        What a split decreases. "poisson" is for counts: targets must not be negative.
    threshold : {{"uniform", "best"}}, default="uniform"
        How a member cuts the feature that it drew for a node: at a uniformly drawn threshold
        (a completely random tree), or at the best one (a random attribute per node).
    {growth}
    {forest}
    {engine}

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import RandomTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RandomTreesRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        threshold="uniform",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="auto",
        callback=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.threshold = threshold
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.callback = callback
