"""Extremely randomised trees, drop-in for scikit-learn's."""

from hedgerow.forest.forest_model import ForestClassifier, ForestRegressor, with_parameters


@with_parameters
class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees: the best of one random threshold per drawn feature.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        What a split decreases; "log_loss" is another name of "entropy".
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
    >>> from hedgerow import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    @property
    def _splitter(self) -> str:
        return "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
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
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
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
class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for regression.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of members.
    criterion : {{"squared_error", "poisson"}}, default="squared_error"
        What a split decreases. "poisson" is for counts: targets must not be negative.
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
    >>> from hedgerow import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    @property
    def _splitter(self) -> str:
        return "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
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
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
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
