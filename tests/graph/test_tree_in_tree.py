"""Tree in Tree graphs: the paper's example, what holds in every graph, and every kind of table."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from strategies import tables

from hedgerow import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
)
from hedgerow.inspect import export_text, rules


def corners():
    """Two features, one class in the four corners (Figure 2 of the paper)."""
    x1, x2 = (axis.ravel() for axis in np.meshgrid(np.arange(12.0), np.arange(12.0)))
    y = ((x1 < 3) | (x1 > 8)) & ((x2 < 3) | (x2 > 8))
    return np.column_stack([x1, x2]), y.astype(int)


def same_graph(a, b):
    one, two = a.graph_.arrays(), b.graph_.arrays()
    return all(np.array_equal(one[name], two[name]) for name in one)


def parents_of(graph):
    children = np.concatenate([graph.left, graph.right])
    return np.bincount(children[children >= 0], minlength=graph.n_nodes)


def models():
    return st.fixed_dictionaries(
        {
            "C": st.sampled_from([0.0, 1e-3, 0.02, 0.1]),
            "n_merges": st.integers(1, 3),
            "n_rounds": st.integers(1, 4),
        }
    )


def test_corners_need_four_splits_where_cart_needs_six():
    X, y = corners()
    graph = TreeInTreeClassifier(max_splits=4).fit(X, y)
    assert graph.score(X, y) == 1
    assert graph.n_splits_ == 4
    assert DecisionTreeClassifier(max_leaf_nodes=6).fit(X, y).score(X, y) < 1
    tree = DecisionTreeClassifier(max_leaf_nodes=7).fit(X, y)
    assert tree.score(X, y) == 1
    assert tree.n_splits_ == 6


def test_a_shared_node_of_the_corners_is_named_once():
    X, y = corners()
    graph = TreeInTreeClassifier(max_splits=4).fit(X, y)
    shared = [node for node in np.flatnonzero(parents_of(graph.graph_) > 1)
              if graph.graph_.left[node] >= 0]  # fmt: skip
    assert len(shared) == 1
    text = export_text(graph)
    assert text.count(f"[node {shared[0]}]") == 1
    assert text.count(f"go to node {shared[0]}") == 1
    assert str(rules(graph)).count(f"at node {shared[0]}:") == 1


@given(tables("classes"), models())
def test_every_graph_is_whole(table, parameters):
    model = TreeInTreeClassifier(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    graph = model.graph_
    type(graph).from_arrays(graph.arrays())  # acyclic, every node reached, finite
    kept = np.ones(len(table.y), bool) if table.w is None else table.w > 0
    assert set(model.apply(table.X[kept])) == set(np.flatnonzero(graph.left < 0))
    assert (graph.n_samples > 0).all()
    assert graph.n_samples[0] == kept.sum()
    assert_allclose(model.predict_proba(table.X).sum(axis=1), 1)


@given(tables("classes"), models())
def test_codes_and_numbers_take_the_same_way(table, parameters):
    model = TreeInTreeClassifier(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    kept = np.ones(len(table.y), bool) if table.w is None else table.w > 0
    reached = np.bincount(model.apply(table.X[kept]), minlength=model.graph_.n_nodes)
    leaves = model.graph_.left < 0
    assert_array_equal(reached[leaves], model.graph_.n_samples[leaves])


@given(tables("reals"), models())
def test_regression_graphs_predict_the_means_of_their_leaves(table, parameters):
    model = TreeInTreeRegressor(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    weights = np.ones(len(table.y)) if table.w is None else table.w
    leaves, scale = model.apply(table.X), np.abs(table.y).max() + 1
    for leaf in set(leaves[weights > 0]):
        rows = leaves == leaf
        mean = np.average(table.y[rows], weights=weights[rows])
        assert_allclose(model.graph_.value[leaf, 0], mean, atol=1e-9 * scale)


@given(tables("classes"), models())
def test_the_loss_never_rises_from_one_accepted_round_to_the_next(table, parameters):
    model = TreeInTreeClassifier(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    loss = model.history_["loss"][model.history_["accepted"]]
    assert (np.diff(loss) <= 1e-12).all()
    if loss.size:  # dead splits have gone since, but no row was moved
        assert 1 - model.score(table.X, table.y, table.w) == pytest.approx(loss[-1])


@given(tables("reals"), models())
def test_the_squared_error_never_rises_either(table, parameters):
    model = TreeInTreeRegressor(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    loss = model.history_["loss"][model.history_["accepted"]]
    assert (np.diff(loss) <= 1e-12 * (1 + loss[:-1])).all()


@given(tables("classes"), st.sampled_from([1e-3, 0.02, 0.1]))
def test_one_merge_is_cart_with_cost_complexity_pruning(table, C):
    categories = list(table.categorical)
    graph = TreeInTreeClassifier(n_merges=1, C=C, categorical_features=categories)
    tree = DecisionTreeClassifier(ccp_alpha=C, categorical_features=categories)
    graph.fit(table.X, table.y, table.w)
    tree.fit(table.X, table.y, table.w)
    assert graph.n_splits_ == tree.n_splits_
    assert_allclose(graph.predict_proba(table.X), tree.predict_proba(table.X))


@given(tables("classes"), st.integers(1, 5))
def test_max_splits_is_respected(table, max_splits):
    model = TreeInTreeClassifier(C=0, max_splits=max_splits)
    assert model.fit(table.X, table.y, table.w).n_splits_ <= max_splits


def test_max_splits_is_used():
    X, y = load_digits(return_X_y=True)
    for max_splits in (20, 40, 90):
        model = TreeInTreeClassifier(max_splits=max_splits).fit(X, y)
        assert 0.9 * max_splits <= model.n_splits_ <= max_splits
        tree = DecisionTreeClassifier(max_leaf_nodes=max_splits + 1).fit(X, y)
        assert model.score(X, y) > tree.score(X, y)


def test_a_limit_of_splits_is_met_in_one_growth():
    X, y = load_digits(return_X_y=True)
    model = TreeInTreeClassifier(C=0, max_splits=60, n_rounds=4).fit(X, y)
    rounds = model.history_
    assert list(np.unique(rounds["merge"], return_counts=True)[1] <= 2 * 4) == [True, True]
    assert rounds["n_splits"][0] <= 60 < TreeInTreeClassifier(C=0).fit(X, y).n_splits_
    kept = rounds["n_splits"][rounds["accepted"]][-1]
    assert kept <= 1.05 * 60
    assert 0 < model.C_ < 1


def test_a_limit_of_splits_that_is_not_reached_changes_nothing():
    X, y = load_digits(return_X_y=True)
    free = TreeInTreeClassifier(C=0.01).fit(X, y)
    within = TreeInTreeClassifier(C=0.01, max_splits=10 * free.n_splits_).fit(X, y)
    assert within.C_ == 0.01
    assert_array_equal(within.predict_proba(X), free.predict_proba(X))


def test_max_splits_is_used_where_prices_leap():
    X, y = corners()  # at any price a tree has six splits or none
    scores = [TreeInTreeClassifier(max_splits=n).fit(X, y).score(X, y) for n in (1, 2, 3, 4)]
    assert scores[0] < scores[2] < scores[3] == 1
    assert scores == sorted(scores)


def test_fine_tuning_lowers_the_error():
    X, y = load_digits(return_X_y=True)
    plain = TreeInTreeClassifier(max_splits=30).fit(X, y)
    tuned = TreeInTreeClassifier(C=plain.C_, fine_tune=10).fit(X, y)
    untuned = TreeInTreeClassifier(C=plain.C_).fit(X, y)
    assert tuned.score(X, y) > untuned.score(X, y)
    assert tuned.n_splits_ <= untuned.n_splits_
    reached = np.bincount(tuned.apply(X), minlength=tuned.graph_.n_nodes)
    leaves = tuned.graph_.left < 0
    assert_array_equal(reached[leaves], tuned.graph_.n_samples[leaves])


@pytest.mark.parametrize("C", [5e-3, 0.02])
def test_fine_tuning_a_regression_graph_never_raises_the_error(C):
    X, y = load_diabetes(return_X_y=True)
    tuned = TreeInTreeRegressor(C=C, fine_tune=10).fit(X, y)
    untuned = TreeInTreeRegressor(C=C).fit(X, y)
    assert tuned.score(X, y) >= untuned.score(X, y) - 1e-12


def test_max_splits_of_a_regression_graph():
    X, y = load_diabetes(return_X_y=True)
    model = TreeInTreeRegressor(C=1e-4, max_splits=20).fit(X, y)
    assert 15 <= model.n_splits_ <= 20
    tree = DecisionTreeRegressor(max_leaf_nodes=21).fit(X, y)
    assert model.score(X, y) > tree.score(X, y) - 0.02


@pytest.mark.parametrize("kind", [TreeInTreeClassifier, TreeInTreeRegressor])
def test_result_is_the_same_for_any_n_jobs(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, size=(9000, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] / 30 + rng.normal(size=9000)) // 8
    graphs = [kind(C=3e-4, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
    assert graphs[0].n_splits_ > 20
    assert same_graph(graphs[0], graphs[1])
    assert same_graph(graphs[0], graphs[2])


def test_a_wide_table_gives_the_same_graph_for_any_n_jobs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(4200, 260)).astype(np.uint8)  # also kept by row
    y = (X[:, 0] // 3 + X[:, 1] // 5 * (X[:, 2] > 4)) % 3
    graphs = [TreeInTreeClassifier(C=5e-3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3)]
    assert graphs[0].score(X, y) == 1
    assert same_graph(*graphs)


@given(tables("classes"), models())
def test_a_weight_of_two_is_the_row_twice(table, parameters):
    model = TreeInTreeClassifier(categorical_features=list(table.categorical), **parameters)
    twice = np.arange(len(table.y)) % 2 == 0
    weighted = clone(model).fit(table.X, table.y, 1.0 + twice)
    repeated = clone(model).fit(
        np.concatenate([table.X, table.X[twice]]), np.concatenate([table.y, table.y[twice]])
    )
    assert_allclose(weighted.predict_proba(table.X), repeated.predict_proba(table.X))


def test_a_price_that_is_given_counts():
    X, y = load_iris(return_X_y=True)
    assert TreeInTreeClassifier(C=0.01).fit(X, y).C_ == 0.01
    assert TreeInTreeClassifier(C=0.01, max_splits=2).fit(X, y).C_ >= 0.01


def test_leaves_of_one_class_can_be_merged():
    X, y = load_digits(return_X_y=True)
    apart = TreeInTreeClassifier(C=5e-4).fit(X, y)
    merged = TreeInTreeClassifier(C=5e-4, merge_leaves=True).fit(X, y)
    assert merged.get_n_leaves() == 10
    assert merged.n_splits_ <= apart.n_splits_
    assert_array_equal(apart.predict(X), merged.predict(X))


def test_more_merges_lower_the_loss():
    X, y = load_digits(return_X_y=True)
    last = [
        TreeInTreeClassifier(C=3e-3, n_merges=n).fit(X, y).history_["loss"].min() for n in (1, 2, 3)
    ]
    assert last[0] > last[1] >= last[2]


def test_the_preset_of_the_paper_keeps_the_last_round():
    X, y = load_digits(return_X_y=True)
    paper = TreeInTreeClassifier(C=3e-3, preset="paper").fit(X, y)
    settings = {"C": 3e-3, "router_gain": 0.0, "keep_round": "last"}
    spelt = TreeInTreeClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(paper.predict(X), spelt.predict(X))
    assert paper.history_["accepted"].all()
    assert not TreeInTreeClassifier(C=3e-3).fit(X, y).history_["accepted"].all()
    best = TreeInTreeClassifier(**settings | {"keep_round": "best"}).fit(X, y)
    assert best.score(X, y) >= paper.score(X, y)


def test_early_stopping_keeps_the_round_that_predicts_unseen_rows_best():
    X, y = load_digits(return_X_y=True)
    model = TreeInTreeClassifier(
        C=1e-4, early_stopping=True, validation_fraction=0.3, random_state=0
    )
    model.fit(X, y)
    losses = model.history_["validation_loss"]
    assert (np.diff(losses[model.history_["accepted"]]) < 0).all()
    assert model.graph_.n_samples[0] == int(0.7 * len(y))
    unseen = 1 - model.score(X, y)
    assert_allclose(unseen * len(y), losses.min() * (len(y) - model.graph_.n_samples[0]), rtol=0.5)


def mixed_frame():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=600),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue", "black"], 600)),
            "old": rng.random(600) < 0.5,
        }
    )
    frame.loc[::7, "size"] = np.nan
    y = np.where(frame["colour"].isin(["red", "blue"]) ^ (frame["size"] > 0), "yes", "no")
    return frame, y


def test_frames_with_categories_and_missing_values():
    frame, y = mixed_frame()
    model = TreeInTreeClassifier().fit(frame, y)
    assert model.score(frame, y) == 1
    assert model.n_splits_ <= 4
    same = TreeInTreeClassifier().fit(pl.from_pandas(frame), y)
    assert_array_equal(same.predict(pl.from_pandas(frame)), model.predict(frame))
    importances = model.feature_importances_
    assert_allclose(importances.sum(), 1)
    assert importances[2] < min(importances[:2])


def test_regression_on_a_frame():
    frame, answers = mixed_frame()
    y = np.where(answers == "yes", 10.0, -3.0)
    model = TreeInTreeRegressor().fit(frame, y)
    assert_allclose(model.predict(frame), y)


def test_path_length_counts_the_tests_of_a_row():
    X, y = corners()
    model = TreeInTreeClassifier(max_splits=4).fit(X, y)
    tests = model.decision_path(X).sum(axis=1) - 1
    assert model.mean_path_length(X) == pytest.approx(tests.mean())
    assert 2 <= model.mean_path_length(X) <= 4


def test_growth_goes_on_from_a_tree():
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=60)
    unfitted = TreeInTreeClassifier(C=1e-3, n_merges=1, init=tree).fit(X, y)
    assert not hasattr(tree, "graph_")
    tree.fit(X, y)
    model = TreeInTreeClassifier(C=1e-3, n_merges=1, init=tree).fit(X, y)
    assert parents_of(model.graph_).max() > 1
    assert model.score(X, y) > tree.score(X, y)
    assert same_graph(unfitted, model)
    frozen = clone(TreeInTreeClassifier(C=1e-3, n_merges=1, init=FrozenEstimator(tree)))
    assert same_graph(frozen.fit(X, y), model)


def test_growth_goes_on_from_a_graph():
    X, y = load_digits(return_X_y=True)
    model = TreeInTreeClassifier(C=1e-3, n_merges=1).fit(X, y)
    assert model.graph_.n_leaves == model.n_splits_ + 1  # a tree
    at_once = TreeInTreeClassifier(C=1e-3, n_merges=2).fit(X, y)
    assert same_graph(clone(model).set_params(init=model).fit(X, y), at_once)


def test_a_start_that_is_not_fitted_does_not_see_the_rows_for_validation():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    y = rng.permutation(y)
    model = TreeInTreeClassifier(C=0, early_stopping=True, validation_fraction=0.4, random_state=0)
    model.set_params(init=DecisionTreeClassifier()).fit(X, y)
    assert model.graph_.n_samples[0] == 90
    assert model.score(X, y) < 0.85  # what is learnt by heart are 60 % of the rows


def test_start_from_a_tree_of_other_bins():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    tree = DecisionTreeClassifier(max_bins=None, max_depth=6).fit(X, y)
    model = TreeInTreeClassifier(init=tree, max_bins=16, C=1e-3).fit(X, y)
    reached = np.bincount(model.apply(X), minlength=model.graph_.n_nodes)
    leaves = model.graph_.left < 0
    assert_array_equal(reached[leaves], model.graph_.n_samples[leaves])


def test_a_start_of_another_table_is_refused():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X[:, :3], y)
    with pytest.raises(ValueError, match="'init' was fitted on other features"):
        TreeInTreeClassifier(init=tree).fit(X, y)
    named = DecisionTreeClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.raises(ValueError, match="names, order and categories must be the same"):
        TreeInTreeClassifier(init=named).fit(X, y)
    with pytest.raises(ValueError, match="'init' was fitted on other classes"):
        TreeInTreeClassifier(init=DecisionTreeClassifier().fit(X, y + 1)).fit(X, y)


@pytest.mark.parametrize("init", ["tree", DecisionTreeRegressor(), DecisionTreeClassifier])
def test_a_start_from_something_else_is_refused(init):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'init' must be None or a classifier of hedgerow"):
        TreeInTreeClassifier(init=init).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_splits": 0}, "'max_splits' must be a positive int or None, got 0."),
        ({"fine_tune": -1}, "'fine_tune' must be a non-negative int, got -1."),
        (
            {"micro_trees": "random"},
            "'micro_trees' must be one of 'axis', 'oblique', 'mixed', got 'random'.",
        ),
        ({"n_merges": 0}, "'n_merges' must be a positive int, got 0."),
        ({"n_rounds": 1.5}, "'n_rounds' must be a positive int, got 1.5."),
        ({"C": -1}, "'C' must be a number of at least 0 or 'auto', got -1."),
        ({"merge_leaves": 1}, "'merge_leaves' must be True or False, got 1."),
        ({"early_stopping": "no"}, "'early_stopping' must be True or False, got 'no'."),
        (
            {"validation_fraction": 1.0},
            "'validation_fraction' must be a number between 0 and 1, both excluded, got 1.0.",
        ),
        ({"criterion": "error"}, "'criterion' must be one of 'gini', 'entropy', 'log_loss'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError) as refused:
        TreeInTreeClassifier(**parameters).fit(X, y)
    assert message in str(refused.value)


def test_early_stopping_needs_two_rows():
    with pytest.raises(ValueError, match="'early_stopping' needs at least 2 rows"):
        TreeInTreeRegressor(early_stopping=True).fit([[1.0]], [2.0])


def test_class_weight_moves_the_border():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = (X[:, 0] + rng.normal(size=800) > 1.5).astype(int)
    plain = TreeInTreeClassifier(C=5e-3).fit(X, y)
    balanced = TreeInTreeClassifier(C=5e-3, class_weight="balanced").fit(X, y)
    assert balanced.predict(X).sum() > plain.predict(X).sum()


def test_graphs_are_pickled_and_bagged():
    X, y = load_iris(return_X_y=True)
    model = TreeInTreeClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    bag = BaggingClassifier(TreeInTreeClassifier(), 5, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.95


def test_leaves_are_merged_in_bags_too():
    X, y = load_digits(return_X_y=True)
    bag = BaggingClassifier(TreeInTreeClassifier(C=5e-4, merge_leaves=True), 2, random_state=0)
    assert [member.get_n_leaves() for member in bag.fit(X, y).estimators_] == [10, 10]
