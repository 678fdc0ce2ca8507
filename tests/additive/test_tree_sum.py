"""Sums of trees: exact budgets, losses that fall, weights, threads, members and what is read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import r2_score
from tree_sum_tables import engine, mixed

from hedgerow import TreeSumClassifier, TreeSumRegressor

LOSSES = ["squared_error", "log_loss", "classes", "poisson"]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_splits=st.integers(1, 12),
    loss=st.sampled_from(LOSSES),
    ridge=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_budgets_are_exact_and_losses_never_rise(seed, n_splits, loss, ridge):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).round(1)
    y = X[:, 0] + rng.normal(size=80)
    if loss == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    elif loss != "squared_error":
        y = np.digitize(y, [0] if loss == "log_loss" else [-1, 1]).astype(np.int32)
    name = "log_loss" if loss == "classes" else loss
    out = engine(X, y, name, max_splits=n_splits, ridge=ridge, min_samples_leaf=3)
    assert sum(graph.n_splits for graph in out["members"]) <= n_splits
    losses = out["losses"]
    assert (np.diff(losses) <= 1e-12 * np.abs(losses[:-1])).all()
    assert min(leaf for graph in out["members"] for leaf in graph.n_samples) >= 3


def test_budget_is_used_up():
    X, y = load_diabetes(return_X_y=True)
    for n_splits in (1, 2, 5, 17):
        assert TreeSumRegressor(n_splits, min_gain=0).fit(X, y).n_splits_ == n_splits


def test_limits_of_members_and_depth():
    X, y = load_diabetes(return_X_y=True)
    assert len(TreeSumRegressor(12, max_members=1, min_gain=0).fit(X, y)) == 1
    stumps = TreeSumRegressor(12, max_depth=1, min_gain=0).fit(X, y)
    assert stumps.get_depth() == 1
    assert len(stumps) == stumps.n_splits_ == 12


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repeated_rows(loss):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    repeats = rng.integers(0, 4, 120)
    y = X[:, 0] + rng.normal(size=120)
    if loss == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    elif loss != "squared_error":
        y = np.digitize(y, [0] if loss == "log_loss" else [-1, 1])
    many, targets = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    if loss in ("log_loss", "classes"):
        model = TreeSumClassifier(8, min_samples_leaf=1, max_bins=None)
    else:
        model = TreeSumRegressor(
            8,
            loss={"squared_error": "squared_error"}.get(loss, loss),
            min_samples_leaf=1,
            max_bins=None,
        )
    repeated = model.fit(many, targets)._scores(X)
    weighted = model.fit(X, y, sample_weight=repeats.astype(float))._scores(X)
    assert_allclose(weighted, repeated, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_nothing(loss):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 20)).round(2)
    y = X[:, 0] * X[:, 1] + rng.normal(size=5000)
    if loss == "poisson":
        y = rng.poisson(np.exp(np.clip(y, -2, 2))).astype(float)
    elif loss != "squared_error":
        y = np.digitize(y, [0] if loss == "log_loss" else [-1, 1]).astype(np.int32)
    name = "log_loss" if loss == "classes" else loss
    one, two = (engine(X, y, name, max_splits=10, n_jobs=n) for n in (1, 3))
    assert_array_equal(one["intercept"], two["intercept"])
    assert len(one["members"]) == len(two["members"])
    for a, b in zip(one["members"], two["members"], strict=True):
        assert_array_equal(a.value, b.value)
        assert_array_equal(a.threshold, b.threshold)


def test_categories_and_missing_values():
    frame, y = mixed()
    model = TreeSumRegressor(30).fit(frame, y)
    assert r2_score(y, model.predict(frame)) > 0.9
    # An unknown category and a missing one are the same.
    row = frame.iloc[:1].copy()
    other = row.assign(kind=pd.Categorical(["zzz"]))
    assert model.predict(other) == model.predict(row.assign(kind=pd.Categorical([None])))


def test_members_are_centred_and_add_up():
    frame, y = mixed()
    model = TreeSumRegressor(20).fit(frame, y)
    total = np.full(len(y), model.intercept_[0])
    for member in model:
        scores = member.predict(frame)
        assert abs(scores.mean()) < 1e-9
        total += scores
    assert_allclose(model.predict(frame), total)
    stages = list(model.staged_predict(frame))
    assert len(stages) == len(model)
    assert_array_equal(stages[-1], model.predict(frame))


def test_classes():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = TreeSumClassifier(12).fit(X, labels)
    assert model.score(X, labels) > 0.95
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.decision_function(X).shape == (150, 3)
    stages = list(model.staged_predict_proba(X))
    assert_array_equal(stages[-1], model.predict_proba(X))
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    one = model.row_predictor()
    assert [one(row) for row in X] == model.predict(X).tolist()


def test_class_weights_move_the_border():
    X, y = load_breast_cancer(return_X_y=True)
    plain = TreeSumClassifier(6).fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = TreeSumClassifier(6, class_weight={0: 1, 1: 10}).fit(X, y).predict_proba(X)[:, 1].mean()
    assert heavy > plain + 0.02


def test_a_single_class_and_a_constant():
    X = np.random.default_rng(0).random((30, 2))
    model = TreeSumClassifier().fit(X, np.zeros(30))
    assert model.predict_proba(X).tolist() == [[1.0]] * 30
    constant = TreeSumRegressor().fit(X, np.full(30, 3.0))
    assert_allclose(constant.predict(X), 3.0)
    assert constant.n_splits_ == 0


def test_importances_name_what_matters():
    frame, y = mixed()
    importances = TreeSumRegressor(20).fit(frame, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances.min() > 0.02


def test_noise_is_not_learnt():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(400, 10)), rng.normal(size=400)
    model = TreeSumRegressor(40).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > -0.1
    eager = TreeSumRegressor(40, min_gain=0).fit(X[:200], y[:200])
    assert eager.n_splits_ == 40
    assert eager.freedom_ < 40


def test_poisson_needs_counts():
    X = np.random.default_rng(0).random((30, 2))
    with pytest.raises(ValueError, match="'poisson' needs targets that are not negative"):
        TreeSumRegressor(loss="poisson").fit(X, X[:, 0] - 1)


def test_rows_that_are_noisier_than_others_are_split_less_by_chance():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(4000, 12))
        truth = np.where(X[:, 0] > 1, 0, np.sign(X[:, 1]) * (X[:, 2] > 0))
        y = truth + np.where(X[:, 0] > 1, 20, 1) * rng.normal(size=4000)
        model = TreeSumRegressor(max_splits=8).fit(X, y)
        errors.append(np.mean((model.predict(X) - truth) ** 2))
    assert np.mean(errors) < 2.5  # 3.1 where every leaf is as easily split
