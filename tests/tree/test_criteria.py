"""Trees and forests whose leaves are medians or other quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import quantile_of, smallest_pinball
from sklearn import ensemble, tree

from hedgerow import (
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
    RandomTreesRegressor,
    TAOTreeRegressor,
)
from hedgerow._engine import PackedGraphs


def table(n_rows=400, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(float)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.standard_cauchy(n_rows)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.integers(1, 2000, n_rows) / 1024


LEVELS = {"absolute_error": (0.5, 2, {}), "quantile": (0.8, 1, {"quantile": 0.8})}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"splitter": "random"}, {"max_leaf_nodes": 30}], ids=str)
@pytest.mark.parametrize("criterion", LEVELS)
def test_nodes_say_the_quantile_of_their_rows_and_what_is_lost_to_it(criterion, settings, weighted):
    level, scale, more = LEVELS[criterion]
    X, y, w = table(missing=True)
    w = w if weighted else None
    settings = settings | more | {"min_samples_leaf": 3, "random_state": 0}
    model = DecisionTreeRegressor(criterion=criterion, **settings).fit(X, y, w)
    path, graph = model.decision_path(X).toarray().astype(bool), model.graph_
    w = np.ones(len(y)) if w is None else w
    for node in range(graph.n_nodes):
        rows = path[:, node]
        assert graph.value[node, 0] == pytest.approx(quantile_of(y[rows], w[rows], level))
        lost = scale * smallest_pinball(y[rows], w[rows], level)
        assert graph.impurity[node] == pytest.approx(lost, rel=1e-9)
    assert graph.n_leaves > 20
    gain = graph.weight * graph.impurity
    shares = np.zeros(4)
    for node in np.flatnonzero(graph.left >= 0):
        below = gain[graph.left[node]] + gain[graph.right[node]]
        shares[graph.feature[node]] += gain[node] - below
    assert_allclose(model.feature_importances_, shares / shares.sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_leaves_of_forests_are_medians_of_their_bags(kind, weighted):
    X, y, w = table(300, missing=True)
    w = w if weighted else np.ones(300)
    settings = {"max_features": 2, "min_samples_leaf": 4, "bootstrap": True, "random_state": 0}
    forest = kind(3, criterion="absolute_error", **settings).fit(X, y, w if weighted else None)
    params = forest.learner().params(300, 4, [], forest.seed_, 300.0)
    leaves = forest.apply(X)
    for member in range(3):
        bag = params.bag(300, member) * w
        said = PackedGraphs([forest.forest_.graph(member)]).predict(X)[:, 0]
        for leaf in np.unique(leaves[bag > 0, member]):
            rows = (leaves[:, member] == leaf) & (bag > 0)
            assert_allclose(said[rows], quantile_of(y[rows], bag[rows], 0.5))


@pytest.mark.parametrize("max_features", [1.0, 2])
def test_forests_are_as_good_as_scikit_learns(max_features):
    X, y, _ = table(300)
    peer = ensemble.RandomForestRegressor(
        60, criterion="absolute_error", max_features=max_features, random_state=0
    ).fit(X[:200], y[:200])
    ours = RandomForestRegressor(
        60, criterion="absolute_error", max_features=max_features, random_state=0
    ).fit(X[:200], y[:200])
    lost = [np.abs(model.predict(X[200:]) - y[200:]).mean() for model in (ours, peer)]
    assert lost[0] < 1.1 * lost[1]


@pytest.mark.parametrize("criterion", LEVELS)
def test_one_whole_tree_of_a_forest_is_the_tree(criterion):
    X, y, w = table(missing=True)
    settings = {"criterion": criterion, "min_samples_leaf": 4, **LEVELS[criterion][2]}
    forest = RandomForestRegressor(2, bootstrap=False, **settings).fit(X, y, w)
    alone = DecisionTreeRegressor(**settings).fit(X, y, w)
    assert_allclose(forest.predict(X), alone.predict(X), rtol=1e-12)
    assert_allclose(forest.feature_importances_, alone.feature_importances_, rtol=1e-9)
    alone = DecisionTreeRegressor(**settings).fit(X, y)
    bag = BaggingRegressor(DecisionTreeRegressor(**settings), 2, bootstrap=False).fit(X, y)
    assert_allclose(bag.predict(X), alone.predict(X), rtol=1e-12)


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomTreesRegressor])
def test_random_thresholds_lose_less_than_a_constant(kind):
    X, y, _ = table(missing=True)
    model = kind(30, criterion="absolute_error", min_samples_leaf=5, random_state=0).fit(X, y)
    lost = np.median(np.abs(model.predict(X) - y))
    assert lost < 0.9 * np.median(np.abs(np.median(y) - y))


def test_the_pruning_path_is_that_of_scikit_learn():
    X, y, w = table(150)  # with weights no two splits are equally good
    settings = {"criterion": "absolute_error", "random_state": 0}
    ours = DecisionTreeRegressor(max_bins=None, **settings).cost_complexity_pruning_path(X, y, w)
    theirs = tree.DecisionTreeRegressor(**settings).cost_complexity_pruning_path(X, y, w)
    assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-12)
    assert_allclose(ours.impurities, theirs.impurities, atol=1e-12)
    alpha = float(np.median(ours.ccp_alphas))
    pruned = DecisionTreeRegressor(ccp_alpha=alpha, **settings).fit(X, y)
    assert 1 < pruned.get_n_leaves() < DecisionTreeRegressor(**settings).fit(X, y).get_n_leaves()


def test_medians_stand_outliers_that_means_do_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 1))
    y = np.where(X[:, 0] < 0.4, 0.0, 1.0)
    y[rng.random(500) < 0.1] = 1000
    stump = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    assert_array_equal(stump.predict([[0.2], [0.8]]), [0, 1])


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_share_of_rows_below_a_leaf_is_its_level(level):
    X, y, _ = table(4000)
    settings = {"quantile": level, "min_samples_leaf": 200}
    model = DecisionTreeRegressor(criterion="quantile", **settings).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(level, abs=0.01)
    forest = RandomForestRegressor(20, criterion="quantile", random_state=0, **settings).fit(X, y)
    assert np.mean(y <= forest.predict(X)) == pytest.approx(level, abs=0.06)


def test_quantiles_at_a_half_are_medians():
    X, y, w = table(missing=True)
    settings = {"min_samples_leaf": 5, "max_bins": None}
    median = DecisionTreeRegressor(criterion="absolute_error", **settings).fit(X, y, w)
    half = DecisionTreeRegressor(criterion="quantile", quantile=0.5, **settings).fit(X, y, w)
    assert_array_equal(median.predict(X), half.predict(X))
    assert_allclose(median.graph_.impurity, 2 * half.graph_.impurity, rtol=1e-12)


def test_more_categories_than_are_enumerated_are_cut_by_their_quantiles():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (2000, 1)).astype(float)
    y = (X[:, 0] % 3 == 1) * 5.0 + rng.normal(size=2000)
    stump = DecisionTreeRegressor(
        criterion="absolute_error", max_depth=1, categorical_features=[0]
    ).fit(X, y)
    low, high = np.unique(stump.predict(X))
    assert high - low == pytest.approx(5, abs=0.3)
    assert_array_equal(stump.predict(X) == high, X[:, 0] % 3 == 1)


@pytest.mark.parametrize("criterion", LEVELS)
def test_weight_two_is_a_row_twice_and_zero_is_none(criterion):
    X, y, _ = table()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    settings = {"criterion": criterion, "min_weight_fraction_leaf": 0.02, **LEVELS[criterion][2]}
    weighted = DecisionTreeRegressor(**settings, max_bins=None).fit(X, y, w)
    repeated = DecisionTreeRegressor(**settings, max_bins=None).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)


def test_targets_far_from_zero_lose_no_digits():
    X, y, _ = table()
    y = np.round(256 * y) / 256
    model = DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=20)
    near = model.fit(X, y).predict(X)
    assert_array_equal(model.fit(X, y + 2**40).predict(X) - 2**40, near)


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 50}], ids=str)
def test_results_do_not_depend_on_n_jobs(settings):
    X, y, _ = table(12_000)
    settings = {"criterion": "absolute_error", "min_samples_leaf": 10, **settings}
    first, second = (
        DecisionTreeRegressor(n_jobs=n_jobs, **settings).fit(X, y).predict(X) for n_jobs in (1, 3)
    )
    assert_array_equal(first, second)


def test_friedman_mse_is_another_name_of_squared_error():
    X, y, w = table()
    for kind in (DecisionTreeRegressor, RandomForestRegressor):
        settings = {"random_state": 0, "min_impurity_decrease": 0.01}
        one = kind(criterion="friedman_mse", **settings).fit(X, y, w).predict(X)
        assert_array_equal(one, kind(**settings).fit(X, y, w).predict(X))


def test_several_outputs_have_no_median():
    X, y, _ = table(30)
    for kind in (DecisionTreeRegressor, RandomForestRegressor):
        with pytest.raises(ValueError, match="'absolute_error' is for one output, y has 2"):
            kind(criterion="absolute_error").fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DecisionTreeRegressor(criterion="quantile"), "needs 'quantile', a number between 0 and 1"),
        (RandomForestRegressor(criterion="quantile"), "needs 'quantile', a number between 0 and 1"),
        (DecisionTreeRegressor(quantile=1.5), "'quantile' must be a number between 0 and 1"),
        (TAOTreeRegressor(criterion="absolute_error"), "'criterion' must be one of"),
    ],
    ids=repr,
)
def test_refusals_say_what_was_wrong(model, message):
    X, y, _ = table(30)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
