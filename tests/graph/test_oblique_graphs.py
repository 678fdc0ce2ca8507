"""Tree in Tree with oblique micro-trees: what holds in every graph, and every kind of table."""

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
from strategies import tables

import hedgerow
from hedgerow import (
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
)
from hedgerow.graph import fine_tune
from hedgerow.inspect import export_dot, export_text, rules

OBLIQUE = 3
NUMBERS = ("ties", "whole", "real", "neighbours", "constant")  # no value beyond 1e100


def models():
    return st.fixed_dictionaries(
        {
            "micro_trees": st.sampled_from(["oblique", "mixed"]),
            "C": st.sampled_from([0.0, 1e-3, 0.02, 0.1]),
            "n_merges": st.integers(1, 3),
            "n_rounds": st.integers(1, 4),
        }
    )


@given(tables("classes", kinds=NUMBERS), models(), st.sampled_from(["gini", "entropy"]))
def test_every_graph_is_whole(table, parameters, criterion):
    model = TreeInTreeClassifier(
        criterion=criterion, categorical_features=list(table.categorical), **parameters
    )
    model.fit(table.X, table.y, table.w)
    graph = model.graph_
    type(graph).from_arrays(graph.arrays())  # acyclic, every node reached, finite
    kept = np.ones(len(table.y), bool) if table.w is None else table.w > 0
    reached = np.bincount(model.apply(table.X[kept]), minlength=graph.n_nodes)
    leaves = graph.left < 0
    assert_array_equal(reached[leaves], graph.n_samples[leaves])
    assert (graph.n_samples > 0).all()
    importances = model.feature_importances_
    assert importances.shape == (table.X.shape[1],)
    assert (importances >= -1e-12).all()
    loss = model.history_["loss"][model.history_["accepted"]]
    assert (np.diff(loss) <= 1e-12).all()
    if loss.size:
        assert 1 - model.score(table.X, table.y, table.w) == pytest.approx(loss[-1])


@given(tables("reals", kinds=NUMBERS), models())
def test_every_regression_graph_is_whole(table, parameters):
    model = TreeInTreeRegressor(categorical_features=list(table.categorical), **parameters)
    model.fit(table.X, table.y, table.w)
    weights = np.ones(len(table.y)) if table.w is None else table.w
    leaves, scale = model.apply(table.X), np.abs(table.y).max() + 1
    for leaf in set(leaves[weights > 0]):
        rows = leaves == leaf
        mean = np.average(table.y[rows], weights=weights[rows])
        assert_allclose(model.graph_.value[leaf, 0], mean, atol=1e-9 * scale)
    loss = model.history_["loss"][model.history_["accepted"]]
    assert (np.diff(loss) <= 1e-12 * (1 + loss[:-1])).all()


@given(tables("classes", kinds=NUMBERS), st.integers(1, 5), st.sampled_from(["oblique", "mixed"]))
def test_max_splits_is_respected(table, max_splits, micro_trees):
    model = TreeInTreeClassifier(C=0, max_splits=max_splits, micro_trees=micro_trees)
    assert model.fit(table.X, table.y, table.w).n_splits_ <= max_splits


@given(tables("classes", kinds=("whole", "constant"), missing=False, weighted=False), models())
def test_a_weight_of_two_is_the_row_twice(table, parameters):
    model = TreeInTreeClassifier(categorical_features=list(table.categorical), **parameters)
    twice = np.arange(len(table.y)) % 2 == 0
    weighted = clone(model).fit(table.X, table.y, 1.0 + twice)
    repeated = clone(model).fit(
        np.concatenate([table.X, table.X[twice]]), np.concatenate([table.y, table.y[twice]])
    )
    assert_allclose(weighted.predict_proba(table.X), repeated.predict_proba(table.X))


@pytest.mark.parametrize("C", [1e-3, 0.02])
def test_one_merge_is_a_mean_margin_tree_with_cost_complexity_pruning(C):
    X, y = load_digits(return_X_y=True)
    graph = TreeInTreeClassifier(n_merges=1, C=C, micro_trees="oblique").fit(X, y)
    tree = MeanMarginTreeClassifier(ccp_alpha=C).fit(X, y)
    assert_allclose(graph.predict_proba(X), tree.predict_proba(X))
    assert_allclose(graph.feature_importances_, tree.feature_importances_)
    X, y = load_diabetes(return_X_y=True)
    graph = TreeInTreeRegressor(n_merges=1, C=C, micro_trees="oblique").fit(X, y)
    tree = MeanMarginTreeRegressor(ccp_alpha=C * y.var()).fit(X, y)
    assert graph.n_splits_ == tree.n_splits_
    assert_allclose(graph.predict(X), tree.predict(X))


@pytest.mark.parametrize(
    "model", [MeanMarginTreeRegressor(), TreeInTreeRegressor(micro_trees="oblique", C=0.0)]
)
def test_tiny_weights_have_importance(model):
    X, y = np.zeros((31, 2)), np.zeros(31)
    X[-1, 0], y[-1] = 1e-152, 1e6  # the square of the weight is no number
    assert_allclose(clone(model).fit(X, y).feature_importances_, [1, 0])


def test_a_slanted_border_takes_one_oblique_test():
    x1, x2 = (axis.ravel() for axis in np.meshgrid(np.arange(12.0), np.arange(12.0)))
    X, y = np.column_stack([x1, x2]), x1 + x2 > 10.5
    mixed = TreeInTreeClassifier(micro_trees="mixed").fit(X, y)
    assert mixed.score(X, y) == 1
    assert mixed.graph_.kind.tolist() == [OBLIQUE, 0, 0]
    assert TreeInTreeClassifier(C=1e-4).fit(X, y).n_splits_ > 5


def test_mixed_graphs_have_both_kinds_of_tests():
    X, y = load_digits(return_X_y=True)
    kinds = set(TreeInTreeClassifier(C=1e-3, micro_trees="mixed").fit(X, y).graph_.kind)
    assert kinds == {0, 1, OBLIQUE}


@pytest.mark.parametrize("kind", [TreeInTreeClassifier, TreeInTreeRegressor])
@pytest.mark.parametrize("micro_trees", ["oblique", "mixed"])
def test_result_is_the_same_for_any_n_jobs(kind, micro_trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    y = (2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=6000) / 2).round()
    graphs = [
        kind(C=3e-4, n_jobs=n_jobs, micro_trees=micro_trees).fit(X, y).graph_.arrays()
        for n_jobs in (1, 2, 3)
    ]
    assert len(graphs[0]["kind"]) > 20
    for name, column in graphs[0].items():
        assert_array_equal(column, graphs[1][name])
        assert_array_equal(column, graphs[2][name])


@pytest.mark.parametrize("micro_trees", ["oblique", "mixed"])
def test_frames_with_categories_and_missing_values(micro_trees):
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
    model = TreeInTreeClassifier(micro_trees=micro_trees).fit(frame, y)
    assert model.score(frame, y) > 0.97
    same = TreeInTreeClassifier(micro_trees=micro_trees).fit(pl.from_pandas(frame), y)
    assert_array_equal(same.predict(pl.from_pandas(frame)), model.predict(frame))
    assert model.feature_importances_[2] < model.feature_importances_[:2].min()


def test_graphs_are_read_drawn_and_stored(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = TreeInTreeClassifier(C=3e-3, micro_trees="oblique", n_merges=3).fit(X, y)
    assert "petal width (cm)" in export_text(model)
    assert len(rules(model)) > 1
    assert export_dot(model).startswith("digraph")
    hedgerow.inspect.plot(model)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    hedgerow.save(model, tmp_path / "graph.hedgerow")
    again = hedgerow.load(tmp_path / "graph.hedgerow")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("micro_trees", ["axis", "oblique", "mixed"])
def test_growth_goes_on_from_an_oblique_tree(micro_trees):
    X, y = load_digits(return_X_y=True)
    tree = MeanMarginTreeClassifier(max_depth=6).fit(X, y)
    model = TreeInTreeClassifier(C=1e-3, n_merges=1, micro_trees=micro_trees, init=tree)
    assert model.fit(X, y).score(X, y) > tree.score(X, y)
    reached = np.bincount(model.apply(X), minlength=model.graph_.n_nodes)
    leaves = model.graph_.left < 0
    assert_array_equal(reached[leaves], model.graph_.n_samples[leaves])


def test_fine_tuning_never_raises_the_error():
    X, y = load_digits(return_X_y=True)
    plain = TreeInTreeClassifier(C=4e-3, micro_trees="oblique").fit(X, y)
    tuned = TreeInTreeClassifier(C=4e-3, micro_trees="oblique", fine_tune=5).fit(X, y)
    assert tuned.score(X, y) >= plain.score(X, y)
    after = fine_tune(plain, X, y, max_passes=5)
    assert after.score(X, y) == tuned.score(X, y)
    assert_allclose(after.feature_importances_.sum(), 1)


def test_max_splits_and_merged_leaves():
    X, y = load_digits(return_X_y=True)
    model = TreeInTreeClassifier(micro_trees="oblique", max_splits=30, merge_leaves=True).fit(X, y)
    assert model.n_splits_ <= 30
    assert model.get_n_leaves() == 10
    assert model.score(X, y) > TreeInTreeClassifier(max_splits=30).fit(X, y).score(X, y) - 0.02


def test_huge_numbers_are_refused():
    with pytest.raises(ValueError, match="X holds a value beyond 1e100"):
        TreeInTreeClassifier(micro_trees="oblique").fit([[1.0], [1e200], [3.0]], [0, 1, 0])
