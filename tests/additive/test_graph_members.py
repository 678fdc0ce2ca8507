"""Boosted decision graphs: no more splits than the tree, a lower loss, the rest as with trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import hedgerow
from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor

PLAIN = {
    "members": "graph",
    "early_stopping": False,
    "max_leaf_nodes": 8,
    "max_iter": 8,
    "learning_rate": 0.3,
}


def frame(n=900, seed=0):
    """Corners of a square, which trees say twice, with categories and missing values."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(list("abcd"), n)
    X = pd.DataFrame(
        {
            "u": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(-1, 1, n)),
            "v": rng.uniform(-1, 1, n),
            "kind": pd.Categorical(np.where(rng.random(n) < 0.1, None, kind)),
        }
    )
    corner = (X["u"].fillna(0.5) > 0) ^ (X["v"] > 0) ^ X["kind"].isin(["a", "c"])
    return X, (3 * corner + rng.normal(scale=0.3, size=n)).to_numpy()


def shared(model):
    """Nodes with more than one parent, over all members."""
    children = [np.concatenate([graph.left, graph.right]) for graph in model.graphs_]
    return sum(int((np.bincount(c[c >= 0]) > 1).sum()) for c in children)


def test_members_share_nodes_and_fit_better_with_no_more_splits():
    X, y = frame()
    graphs = GradientBoostingRegressor(**PLAIN).fit(X, y)
    trees = GradientBoostingRegressor(**{**PLAIN, "members": "tree"}).fit(X, y)
    assert shared(graphs) > 0 and shared(trees) == 0
    assert all(graph.n_splits <= 7 for graph in graphs.graphs_)
    assert graphs.score(X, y) > trees.score(X, y)


def test_one_round_lowers_the_loss_of_its_tree_to_second_order():
    X, y = frame(seed=1)
    once = PLAIN | {"max_iter": 1, "learning_rate": 1.0, "subsample": 1.0, "l2_regularization": 0.0}
    losses = []
    for members in ("tree", "graph"):
        model = GradientBoostingRegressor(**{**once, "members": members}).fit(X, y)
        leaf = model.graphs_[0].apply(model.schema_.encode(model, X, finite=False))
        for at in np.unique(leaf):  # squared error: a leaf adds the mean of what was left
            rest = y[leaf == at] - model.intercept_[0]
            assert model.graphs_[0].value[at, 0] == pytest.approx(rest.mean(), abs=1e-6)
        losses.append(((y - model.predict(X)) ** 2).mean())
    assert losses[1] < losses[0]


LOSSES = ["squared_error", "absolute_error", "poisson", "gamma", "quantile"]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_falls(loss):
    X, y = frame(seed=2)
    y = np.exp(y / 2) if loss in ("poisson", "gamma") else y
    level = {"quantile": 0.8} if loss == "quantile" else {}
    model = GradientBoostingRegressor(loss=loss, **level, **PLAIN | {"early_stopping": True})
    losses = -model.fit(X, y).train_score_
    assert losses[-1] < losses[0]
    if loss == "quantile":
        assert np.mean(y <= model.predict(X)) == pytest.approx(0.8, abs=0.08)


def test_several_classes_and_weights():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(**PLAIN, min_samples_leaf=3).fit(X, y)
    assert model.score(X, y) > 0.95 and len(model.graphs_) == 24
    weights = np.where(y == 2, 0.0, 1.0)
    assert set(model.fit(X, y, weights).predict(X)) == {0, 1}


def test_the_same_for_any_number_of_threads():
    X, y = frame(seed=3)
    one, two = (GradientBoostingRegressor(**PLAIN, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.predict(X), two.predict(X))


def test_warm_start_goes_on():
    X, y = frame(seed=4)
    model = GradientBoostingRegressor(**PLAIN, warm_start=True).fit(X, y)
    once = GradientBoostingRegressor(**PLAIN | {"max_iter": 12}).fit(X, y)
    assert np.array_equal(model.set_params(max_iter=12).fit(X, y).predict(X), once.predict(X))


def test_files_importances_and_stages(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(**PLAIN).fit(X, y)
    hedgerow.save(model, tmp_path / "model.hedgerow")
    again = hedgerow.load(tmp_path / "model.hedgerow")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1) and (importances >= 0).all()
    used = {f for graph in model.graphs_ for f in graph.feature[graph.left >= 0]}
    assert set(np.flatnonzero(importances)) <= used
    *_, last = model.staged_predict_proba(X)
    assert np.array_equal(last, model.predict_proba(X))
    one = model.row_predictor()
    assert [one(row) for row in X[:50]] == model.predict(X[:50]).tolist()


@pytest.mark.parametrize("name", ["monotonic_cst", "interaction_cst"])
def test_constraints_need_trees(name):
    X, y = load_iris(return_X_y=True)
    value = [1, 0, 0, 0] if name == "monotonic_cst" else "pairwise"
    with pytest.raises(ValueError, match=f"'{name}' holds in trees"):
        GradientBoostingRegressor(**PLAIN, **{name: value}).fit(X, y)
