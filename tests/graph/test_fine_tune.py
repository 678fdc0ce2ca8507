"""Any fitted tree or graph can be fine-tuned; the model itself stays as it was."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from strategies import tables

from hedgerow import (
    CrossValidatedTreeClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    NaiveDecisionGraphClassifier,
    TAOTreeClassifier,
)
from hedgerow._graph_model import removed_loss
from hedgerow.graph import fine_tune

DIGITS = load_digits(return_X_y=True)


def assert_same_graph(one, other):
    a, b = one.graph_.arrays(), other.graph_.arrays()
    for name in a:
        assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=5),
        MeanMarginTreeClassifier(max_depth=5),
        CrossValidatedTreeClassifier(random_state=0),
        NaiveDecisionGraphClassifier(max_splits=60),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_model_with_a_graph_is_tuned_in_a_copy(model):
    X, y = DIGITS
    model = clone(model).fit(X[::2], y[::2])
    before = model.predict(X)
    tuned = fine_tune(model, X, y)
    assert type(tuned) is type(model)
    assert_array_equal(model.predict(X), before)
    assert tuned.score(X, y) > model.score(X, y)
    assert tuned.n_splits_ <= model.n_splits_
    assert tuned.feature_importances_.shape == (64,)


def test_a_regressor_is_tuned():
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(max_depth=4).fit(X, y)
    assert fine_tune(tree, X, y).score(X, y) > tree.score(X, y)


def test_tuning_is_the_same_as_growing_and_tuning_in_one_go():
    X, y = DIGITS
    tuned = fine_tune(DecisionTreeClassifier(max_depth=5).fit(X, y), X, y)
    assert_same_graph(tuned, TAOTreeClassifier(max_depth=5, ccp_alpha=0).fit(X, y))


@given(table=tables("classes"), max_splits=st.integers(1, 10))
def test_a_shared_graph_stays_whole_and_its_error_never_rises(table, max_splits):
    model = NaiveDecisionGraphClassifier(
        C=0.05, max_splits=max_splits, categorical_features=list(table.categorical), max_bins=None
    ).fit(table.X, table.y, table.w)
    tuned = fine_tune(model, table.X, table.y, table.w)
    same = fine_tune(model, table.X, table.y, table.w, n_jobs=3)
    assert_same_graph(tuned, same)
    type(tuned.graph_).from_arrays(tuned.graph_.arrays())  # acyclic, every node reachable
    score = tuned.score(table.X, table.y, table.w)
    assert score >= model.score(table.X, table.y, table.w) - 1e-12


def test_labels_weights_and_categories_are_those_of_the_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(["oak", "ash", "elm"], 200), "girth": rng.random(200)})
    y = np.where((frame["kind"] == "oak") & (frame["girth"] > 0.5), "keep", "cut")
    tree = DecisionTreeClassifier(max_depth=1, class_weight={"keep": 1, "cut": 3}).fit(frame, y)
    part = frame[frame["kind"] != "elm"]
    tuned = fine_tune(tree, part, y[part.index], np.ones(len(part)))
    assert set(tuned.predict(frame)) <= {"keep", "cut"}
    assert tuned.score(part, y[part.index]) >= tree.score(part, y[part.index])


def test_importances_count_the_rows_of_each_test_also_where_nodes_are_shared():
    X, y = DIGITS
    graph = NaiveDecisionGraphClassifier(C=3e-3, max_splits=60).fit(X, y)
    assert_allclose(removed_loss(graph.graph_, X, y, None), graph.gains_)
    for tuned in fine_tune(graph, X, y), TAOTreeClassifier(init=graph).fit(X, y):
        expected = removed_loss(tuned.graph_, X, y, None)
        assert_allclose(tuned.feature_importances_, expected / expected.sum())
    tree = DecisionTreeRegressor(max_depth=4).fit(X, y * 1.5)
    removed = removed_loss(tree.graph_, X, y * 1.5, None)
    assert_allclose(removed / removed.sum(), tree.feature_importances_, atol=1e-12)
