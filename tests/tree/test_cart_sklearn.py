"""Trees against scikit-learn's on data where the best split is unique.

Continuous features and continuous weights (or targets) make two different partitions of a node
differ in gain, so both libraries must find the same ones. The features are float32 numbers, as
scikit-learn rounds to those.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as sklearn_tree

import hedgerow

CLASSIFIER_CRITERIA = ("gini", "entropy")
REGRESSOR_CRITERIA = ("squared_error", "poisson", "absolute_error")
LIMITS = [
    {},
    {"max_depth": 1},
    {"max_depth": 4},
    {"min_samples_split": 30},
    {"min_samples_split": 0.2},
    {"min_samples_leaf": 7},
    {"min_samples_leaf": 0.05},
    {"min_weight_fraction_leaf": 0.06},
    {"min_impurity_decrease": 0.01},
    {"max_leaf_nodes": 2},
    {"max_leaf_nodes": 9},
    {"max_leaf_nodes": 12, "min_samples_leaf": 4, "max_depth": 5},
    {"ccp_alpha": 0.01},
    {"ccp_alpha": 0.03, "max_leaf_nodes": 20},
]
limits = pytest.mark.parametrize("limits", LIMITS, ids=str)
criteria = pytest.mark.parametrize("criterion", CLASSIFIER_CRITERIA + REGRESSOR_CRITERIA)


def sample(criterion, n_rows=240, n_features=4, seed=0):
    """Features, target and weights without ties.

    The weights are fractions of 1024, which add up exactly: where sums are rounded, scikit-learn
    finds a rest of impurity in pure nodes and splits them.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32).astype(float)
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, -1]
    if criterion in ("squared_error", "absolute_error"):
        y = signal + 0.3 * rng.normal(size=n_rows)
    elif criterion == "poisson":
        y = np.exp(0.5 * signal) * rng.uniform(0.5, 1.5, size=n_rows)
    else:
        y = np.digitize(signal + 0.3 * rng.normal(size=n_rows), [-0.7, 0.7])
    return X, y, rng.integers(512, 1536, size=n_rows) / 1024


def fit_both(criterion, X, y, w=None, **parameters):
    name = "DecisionTree" + ("Classifier" if criterion in CLASSIFIER_CRITERIA else "Regressor")
    parameters |= {"criterion": criterion, "random_state": 0}
    ours = getattr(hedgerow, name)(max_bins=None, **parameters)
    theirs = getattr(sklearn_tree, name)(**parameters)
    return ours.fit(X, y, sample_weight=w), theirs.fit(X, y, sample_weight=w)


def regions(estimator, X, impurity):
    """Impurity of every node, by the set of rows that pass through it."""
    paths = estimator.decision_path(X).tocsc()
    rows = [paths.indices[a:b] for a, b in zip(paths.indptr, paths.indptr[1:], strict=False)]
    return {frozenset(r.tolist()): impurity[k] for k, r in enumerate(rows)}


def assert_same_tree(ours, theirs, X, y):
    found = regions(ours, X, ours.graph_.impurity)
    wanted = regions(theirs, X, theirs.tree_.impurity)
    assert found.keys() == wanted.keys()
    # scikit-learn subtracts squares: its impurities are off by this much.
    noise = 1e-12 * max(1.0, np.square(y, dtype=float).max())
    assert_allclose([found[k] for k in wanted], list(wanted.values()), rtol=1e-9, atol=noise)
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.graph_.n_nodes == theirs.tree_.node_count
    if hasattr(theirs, "classes_"):
        assert_array_equal(ours.classes_, theirs.classes_)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    else:
        assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def assert_same_groups(a, b):
    """The leaves a and b cut the rows into the same groups, under any numbering."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    assert len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@criteria
@limits
def test_weighted_tree_is_the_same(criterion, limits):
    X, y, w = sample(criterion)
    ours, theirs = fit_both(criterion, X, y, w, **limits)
    assert_same_tree(ours, theirs, X, y)
    assert_same_groups(ours.apply(X), theirs.apply(X))


@pytest.mark.parametrize("criterion", REGRESSOR_CRITERIA)
@limits
def test_unweighted_regression_tree_is_the_same(criterion, limits):
    X, y, _ = sample(criterion, seed=1)
    assert_same_tree(*fit_both(criterion, X, y, **limits), X, y)


@pytest.mark.parametrize("criterion", CLASSIFIER_CRITERIA)
@pytest.mark.parametrize("seed", range(1, 4))
def test_unweighted_classification_tree_is_the_same(criterion, seed):
    X, y, _ = sample(criterion, n_rows=400, seed=seed)
    assert_same_tree(*fit_both(criterion, X, y, max_depth=4, min_samples_leaf=15), X, y)


@criteria
@pytest.mark.parametrize("seed", range(1, 4))
def test_new_rows_get_the_same_prediction(criterion, seed):
    X, y, w = sample(criterion, n_rows=600, seed=seed)
    new, X, y, w = X[300:], X[:300], y[:300], w[:300]
    ours, theirs = fit_both(criterion, X, y, w, min_samples_leaf=6)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12, atol=1e-12)
    assert_same_groups(ours.apply(new), theirs.apply(new))


@criteria
def test_feature_importances_are_the_same(criterion):
    X, y, w = sample(criterion, n_features=6)
    ours, theirs = fit_both(criterion, X, y, w, min_samples_leaf=5)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-10)
    assert_allclose(ours.feature_importances_.sum(), 1.0)


@criteria
def test_importances_of_a_tree_without_a_split_are_zero(criterion):
    X, y, w = sample(criterion)
    ours, theirs = fit_both(criterion, X, y, w, min_samples_leaf=200)
    assert_array_equal(ours.feature_importances_, np.zeros(4))
    assert ours.get_depth() == theirs.get_depth() == 0
    assert ours.get_n_leaves() == theirs.get_n_leaves() == 1


@criteria
@pytest.mark.parametrize("parameters", [{}, {"max_depth": 5}, {"max_leaf_nodes": 12}], ids=str)
def test_pruning_path_is_the_same(criterion, parameters):
    X, y, w = sample(criterion, n_rows=120)
    ours, theirs = fit_both(criterion, X, y, w, **parameters)
    found = ours.cost_complexity_pruning_path(X, y, sample_weight=w)
    wanted = theirs.cost_complexity_pruning_path(X, y, sample_weight=w)
    assert_allclose(found.ccp_alphas, wanted.ccp_alphas, rtol=1e-8, atol=1e-12)
    assert_allclose(found.impurities, wanted.impurities, rtol=1e-8, atol=1e-12)


@criteria
def test_pruned_tree_is_the_same_along_the_whole_path(criterion):
    X, y, w = sample(criterion, n_rows=100)
    alphas = fit_both(criterion, X, y, w)[1].cost_complexity_pruning_path(X, y, w).ccp_alphas
    for alpha in (alphas[:-1] + alphas[1:])[:: max(1, alphas.size // 6)] / 2:
        assert_same_tree(*fit_both(criterion, X, y, w, ccp_alpha=alpha), X, y)


@pytest.mark.parametrize("criterion", CLASSIFIER_CRITERIA)
@pytest.mark.parametrize(
    "class_weight", ["balanced", {0: 1.0, 1: 2.5, 2: 0.375}, {1: 3.0}], ids=str
)
@pytest.mark.parametrize("weighted", [True, False])
def test_class_weights_mean_the_same(criterion, class_weight, weighted):
    X, y, w = sample(criterion, seed=2)
    exact = weighted and class_weight != "balanced"
    parameters = {} if exact else {"max_depth": 3, "min_samples_leaf": 15}
    both = fit_both(
        criterion, X, y, w if weighted else None, class_weight=class_weight, **parameters
    )
    assert_same_tree(*both, X, y)


def test_class_weight_keys_are_labels():
    X, y, w = sample("gini")
    labels = np.array(["ash", "beech", "cherry"])[y]
    both = fit_both("gini", X, labels, w, class_weight={"ash": 2.0, "beech": 1.0, "cherry": 0.5})
    assert_array_equal(both[0].predict(X), both[1].predict(X))
    assert_allclose(both[0].graph_.weight[0], both[1].tree_.weighted_n_node_samples[0])


@criteria
def test_missing_values_are_handled_the_same(criterion):
    X, y, w = sample(criterion, seed=3)
    X[np.random.default_rng(3).random(X.shape) < 0.15] = np.nan
    ours, theirs = fit_both(criterion, X, y, w, min_samples_leaf=5)
    assert_same_tree(ours, theirs, X, y)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_log_probabilities_are_those_of_the_leaves(n_classes):
    X, y, w = sample("gini")
    ours, theirs = fit_both("gini", X, (y * 7 + np.arange(y.size)) % n_classes, w, max_depth=3)
    with np.errstate(divide="ignore"):
        assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-12)


@criteria
def test_single_feature_and_single_row_tables(criterion):
    X, y, w = sample(criterion)
    assert_same_tree(*fit_both(criterion, X[:, :1], y, w), X[:, :1], y)
    assert_same_tree(*fit_both(criterion, X[:1], y[:1], w[:1]), X[:1], y[:1])
