"""Monotone constraints of alternately optimised trees and of decision graphs."""

import numpy as np
import pytest
from monotone import assert_monotone
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
)
from hedgerow._engine import put_in_order
from hedgerow._learner import Grown
from hedgerow.graph import fine_tune

DIRECTIONS = [1, -1, 0, 0]
CATEGORIES = {3: [0, 1, 2, 3, 9]}


def noisy(n_rows=400, seed=0, classes=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (n_rows, 4)).astype(float)
    X[:, 3] = rng.integers(0, 4, n_rows)
    y = np.sin(1.3 * X[:, 0]) + 0.3 * X[:, 0] - np.cos(X[:, 1]) + (X[:, 3] == 2) * X[:, 2]
    y += rng.normal(scale=0.3, size=n_rows)
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, (y > np.median(y)).astype(int) if classes else y


MODELS = {
    "tao": (TAOTreeClassifier, TAOTreeRegressor, {"max_depth": 5, "ccp_alpha": 0.0}),
    "tao pruned": (TAOTreeClassifier, TAOTreeRegressor, {}),
    "tree in tree": (TreeInTreeClassifier, TreeInTreeRegressor, {"C": 0.002}),
    "best price": (TreeInTreeClassifier, TreeInTreeRegressor, {}),
    "budget": (TreeInTreeClassifier, TreeInTreeRegressor, {"max_splits": 25}),
    "fine-tuned": (TreeInTreeClassifier, TreeInTreeRegressor, {"C": 0.002, "fine_tune": 3}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_graphs_keep_to_the_directions_in_every_cell(name, classes, weighted):
    X, y = noisy(classes=classes)
    w = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    kind, settings = MODELS[name][not classes], MODELS[name][2] | {"categorical_features": [3]}
    model = kind(monotonic_cst=DIRECTIONS, **settings).fit(X, y, w)
    assert model.n_splits_ > 1
    assert_monotone(model, DIRECTIONS, categories=CATEGORIES)
    assert model.score(X, y) > (0.7 if classes else 0.4)


def test_shared_nodes_are_asked_on_every_way():
    X, y = noisy(1500)
    free = TreeInTreeRegressor(C=0.0005, categorical_features=[3]).fit(X, y)
    graph = free.graph_
    children = np.concatenate([graph.left, graph.right])
    assert np.bincount(children[children >= 0]).max() > 1, "no node is shared"
    with pytest.raises(AssertionError, match="falls by"):
        assert_monotone(free, DIRECTIONS, categories=CATEGORIES)
    kept = free.with_graph(Grown(put_in_order(graph, DIRECTIONS), {}))
    assert_monotone(kept, DIRECTIONS, categories=CATEGORIES)
    assert np.ptp(kept.predict(X)) > 1


@pytest.mark.parametrize("classes", [False, True])
def test_values_in_order_stay_and_others_are_pooled(classes):
    X, y = noisy(classes=classes)
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    kept = kind(max_depth=6, monotonic_cst=DIRECTIONS).fit(X, y)
    same = put_in_order(kept.graph_, DIRECTIONS)
    np.testing.assert_array_equal(same.value, kept.graph_.value)
    free = kind(max_depth=6).fit(X, y)
    pooled = put_in_order(free.graph_, DIRECTIONS)
    leaf = pooled.left < 0
    weight = pooled.weight[leaf]
    # The nearest values have the mean of the old ones.
    before, after = (g.value[leaf, -1] @ weight / weight.sum() for g in (free.graph_, pooled))
    assert after == pytest.approx(before, abs=1e-6)
    assert 0 < (pooled.value[leaf] != free.graph_.value[leaf]).any(axis=1).mean() < 1


def test_one_rising_feature_is_isotonic_regression():
    rng = np.random.default_rng(0)
    x = np.arange(60.0)
    y = np.repeat([0, 2, 1, 3, 5, 4], 10) + rng.normal(scale=0.1, size=60)
    free = DecisionTreeRegressor(min_samples_leaf=5).fit(x[:, None], y)
    graph = put_in_order(free.graph_, [1])
    leaves = free.apply(x[:, None])
    wanted = IsotonicRegression().fit_transform(x, free.predict(x[:, None]))
    np.testing.assert_allclose(graph.value[leaves, 0], wanted, atol=1e-6)


def test_the_training_error_never_rises():
    X, y = noisy()
    model = TAOTreeRegressor(max_depth=5, monotonic_cst=DIRECTIONS, ccp_alpha=0.0).fit(X, y)
    assert (np.diff(model.history_) <= 0).all()
    lost = np.mean((model.predict(X) - y) ** 2)
    assert lost == pytest.approx(model.history_[-1])
    assert model.n_passes_ == len(model.history_) - 1


def test_fine_tuning_keeps_the_directions_of_the_model():
    X, y = noisy(classes=True)
    tree = DecisionTreeClassifier(max_depth=5, monotonic_cst=DIRECTIONS).fit(X, y)
    tuned = fine_tune(tree, X, y)
    assert_monotone(tuned, DIRECTIONS)
    assert tuned.score(X, y) >= tree.score(X, y)


def test_any_start_is_put_in_order():
    X, y = noisy()
    free = DecisionTreeRegressor(max_depth=6).fit(X, y)
    model = TAOTreeRegressor(init=FrozenEstimator(free), monotonic_cst=DIRECTIONS).fit(X, y)
    assert_monotone(model, DIRECTIONS)


def test_oblique_tests_keep_to_no_direction():
    X, y = noisy()
    with pytest.raises(ValueError, match="monotonic_cst needs micro_trees='axis', got 'oblique'"):
        TreeInTreeRegressor(micro_trees="oblique", monotonic_cst=DIRECTIONS).fit(X, y)
    start = FrozenEstimator(MeanMarginTreeRegressor(max_depth=3).fit(X, y))
    with pytest.raises(ValueError, match="tests of single features"):
        TAOTreeRegressor(init=start, monotonic_cst=DIRECTIONS).fit(X, y)


def test_refusals_are_those_of_trees():
    X, y = noisy(classes=True)
    y[0] = 2
    for kind in (TAOTreeClassifier, TreeInTreeClassifier):
        with pytest.raises(ValueError, match="not supported with multiclass"):
            kind(monotonic_cst=DIRECTIONS).fit(X, y)
        with pytest.raises(ValueError, match="has shape 1"):
            kind(monotonic_cst=[1]).fit(X, y)
