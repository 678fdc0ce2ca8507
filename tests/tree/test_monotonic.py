"""Monotone constraints of trees and forests, in every cell that their thresholds make."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monotone import assert_monotone
from oracle import check_tree
from sklearn.tree import DecisionTreeClassifier as PeerClassifier
from sklearn.tree import DecisionTreeRegressor as PeerRegressor
from strategies import limits, tables

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesClassifier,
    RandomTreesRegressor,
)

DIRECTIONS = [1, -1, 0, 0]
CATEGORIES = {3: [0, 1, 2, 3, 9]}  # one of them in no row


def noisy(n_rows=240, seed=0, classes=False):
    """Two constrained features against which the target bends, a free one and a category."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (n_rows, 4)).astype(float)
    X[:, 3] = rng.integers(0, 4, n_rows)
    y = np.sin(1.3 * X[:, 0]) + 0.2 * X[:, 0] - np.cos(X[:, 1]) + (X[:, 3] == 2) * X[:, 2]
    y += rng.normal(scale=0.4, size=n_rows)
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, (y > np.median(y)).astype(int) if classes else y - y.min()


GROWTH = {
    "full": {},
    "best-first": {"max_leaf_nodes": 20},
    "pruned": {"ccp_alpha": 0.003},
    "large leaves": {"min_samples_leaf": 9},
    "drawn features": {"max_features": 2, "random_state": 1},
    "random thresholds": {"splitter": "random", "random_state": 1},
}


@pytest.mark.parametrize("growth", GROWTH)
@pytest.mark.parametrize(
    "criterion", ["squared_error", "poisson", "absolute_error", "quantile", "gini", "entropy"]
)
def test_trees_keep_to_the_directions_in_every_cell(criterion, growth):
    classes = criterion in ("gini", "entropy")
    X, y = noisy(classes=classes)
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    settings = {"criterion": criterion, "categorical_features": [3], **GROWTH[growth]}
    if criterion == "quantile":
        settings["quantile"] = 0.8
    tree = kind(monotonic_cst=DIRECTIONS, **settings).fit(X, y)
    assert tree.n_splits_ > 5
    assert_monotone(tree, DIRECTIONS, categories=CATEGORIES)
    with pytest.raises(AssertionError, match="falls by"):  # the check can fail
        assert_monotone(kind(**settings).fit(X, y), DIRECTIONS, categories=CATEGORIES)


FORESTS = {
    "random forest": (RandomForestClassifier, RandomForestRegressor, {}),
    "extra trees": (ExtraTreesClassifier, ExtraTreesRegressor, {}),
    "random trees": (RandomTreesClassifier, RandomTreesRegressor, {}),
    "best-first": (RandomForestClassifier, RandomForestRegressor, {"max_leaf_nodes": 15}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_keep_to_the_directions(name, classes, weighted):
    X, y = noisy(classes=classes)
    kind, settings = FORESTS[name][not classes], FORESTS[name][2]
    settings = {"n_estimators": 12, "random_state": 0, "categorical_features": [3]} | settings
    w = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    forest = kind(monotonic_cst=DIRECTIONS, **settings).fit(X, y, w)
    assert_monotone(forest, DIRECTIONS, categories=CATEGORIES)
    values = forest.predict_proba(X)[:, 1] if classes else forest.predict(X)
    assert np.corrcoef(values, y)[0, 1] > 0.4
    with pytest.raises(AssertionError, match="falls by"):
        assert_monotone(kind(**settings).fit(X, y, w), DIRECTIONS, categories=CATEGORIES)


CRITERIA = {
    "gini": (DecisionTreeClassifier, "classes"),
    "entropy": (DecisionTreeClassifier, "classes"),
    "squared_error": (DecisionTreeRegressor, "reals"),
    "poisson": (DecisionTreeRegressor, "counts"),
    "absolute_error": (DecisionTreeRegressor, "reals"),
}


@pytest.mark.parametrize("criterion", CRITERIA)
@given(data=st.data())
def test_every_split_is_the_best_that_keeps_to_the_directions(criterion, data):
    kind, target = CRITERIA[criterion]
    table = data.draw(tables(target, max_rows=25, kinds=("ties", "whole", "real", "constant")))
    y = (table.y > 0).astype(int) if target == "classes" else table.y
    directions = [
        0 if j in table.categorical else data.draw(st.sampled_from([-1, 0, 1]))
        for j in range(table.X.shape[1])
    ]
    tree = kind(
        criterion=criterion,
        max_bins=None,
        categorical_features=list(table.categorical),
        monotonic_cst=directions,
        **data.draw(limits()),
    ).fit(table.X, y, sample_weight=table.w)
    check_tree(tree, table.X, y, table.w)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 5}])
def test_trees_are_those_of_scikit_learn(classes, settings):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(scale=0.3, size=300)
    if classes:
        y = (y > 0.5).astype(int)
    ours, theirs = (
        (DecisionTreeClassifier, PeerClassifier)
        if classes
        else (DecisionTreeRegressor, PeerRegressor)
    )
    settings = {"max_depth": 5, "monotonic_cst": [1, -1, 0]} | settings
    tree = ours(max_bins=None, **settings).fit(X, y)
    peer = theirs(random_state=0, **settings).fit(X, y)
    values = "predict_proba" if classes else "predict"
    rows = rng.normal(size=(2000, 3))
    same = np.isclose(getattr(tree, values)(rows), getattr(peer, values)(rows), rtol=1e-6)
    assert same.mean() > (0.9 if classes else 0.99)  # ties between features are broken anew


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_leaf_nodes=30),
        DecisionTreeClassifier(max_features=2, random_state=0),
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(splitter="random", random_state=0),
        RandomForestRegressor(5, random_state=0),
    ],
    ids=repr,
)
def test_a_constraint_that_never_binds_changes_nothing(model):
    X, y = noisy(400, classes=hasattr(model, "predict_proba"))
    X = np.column_stack([X, np.ones(len(X))])
    free = model.fit(X, y)
    before = free.predict_proba(X) if hasattr(free, "predict_proba") else free.predict(X)
    same = free.set_params(monotonic_cst=[0, 0, 0, 0, 1]).fit(X, y)
    after = same.predict_proba(X) if hasattr(same, "predict_proba") else same.predict(X)
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "bag",
    [
        BaggingRegressor(DecisionTreeRegressor(monotonic_cst=[1, -1, 0]), 6, random_state=0),
        AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=3, monotonic_cst=[1, -1, 0]), n_estimators=6
        ),
        BaggingClassifier(DecisionTreeClassifier(monotonic_cst=[1, -1, 0]), 6, random_state=0),
    ],
    ids=lambda bag: type(bag).__name__,
)
def test_members_of_bags_keep_to_their_own_directions(bag):
    X, y = noisy(classes=hasattr(bag, "predict_proba"))
    model = bag.fit(X[:, :3], y)
    grid = np.array([[a, b, c] for a in range(-1, 8) for b in range(-1, 8) for c in range(-1, 8)])
    values = (
        model.predict_proba(grid)[:, 1] if hasattr(bag, "predict_proba") else model.predict(grid)
    )
    values = values.reshape(9, 9, 9)
    assert np.diff(values, axis=0).min() >= -1e-12
    assert np.diff(values, axis=1).max() <= 1e-12
    assert np.ptp(values) > 0.1


def test_a_weighted_median_of_monotone_members_is_monotone():
    X, y = noisy()
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=4, monotonic_cst=[1, 0, 0]), n_estimators=8, random_state=0
    ).fit(X[:, :3], y)
    line = np.column_stack([np.arange(-1, 8), np.full(9, 3.0), np.full(9, np.nan)])
    assert np.diff(model.predict(line)).min() >= 0


def test_directions_by_name():
    X, y = noisy()
    frame = pd.DataFrame(X, columns=["size", "age", "rooms", "kind"])
    by_name = DecisionTreeRegressor(monotonic_cst={"age": -1, "size": 1}).fit(frame, y)
    by_place = DecisionTreeRegressor(monotonic_cst=np.array([1.0, -1, 0, 0])).fit(frame, y)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(frame))
    assert by_name.n_splits_ < DecisionTreeRegressor().fit(frame, y).n_splits_


def test_results_do_not_depend_on_n_jobs():
    X, y = noisy(20_000)
    first, second = (
        DecisionTreeRegressor(monotonic_cst=DIRECTIONS, min_samples_leaf=20, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert_monotone(first, DIRECTIONS, n_lines=500)


REFUSED = {
    "two outputs": ({}, "not supported with multiple outputs"),
    "three classes": ({}, "not supported with multiclass classification: y has 3 classes"),
    "too few": ({"monotonic_cst": [1]}, "monotonic_cst has shape 1 but the input data X has 4"),
    "no direction": ({"monotonic_cst": [1, 2, 0, 0]}, "monotonic_cst must be None or an array"),
    "a word": ({"monotonic_cst": "rising"}, "monotonic_cst must be None or an array"),
    "a wrong name": ({"monotonic_cst": {"w": 1}}, "monotonic_cst names 'w', which X does not"),
    "no name": ({"monotonic_cst": {0: 1}}, "monotonic_cst must have names of features"),
    "a category": (
        {"monotonic_cst": [0, 0, 0, 1], "categorical_features": [3]},
        "feature 3 a direction, which is categorical",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_refusals_say_what_was_wrong(kind, case):
    settings, message = REFUSED[case]
    X, y = noisy(60, classes=True)
    if case == "three classes":
        y[0] = 2
    if case == "two outputs":
        y = np.column_stack([y, 1 - y])
    with pytest.raises(ValueError, match=message):
        kind(**({"monotonic_cst": DIRECTIONS} | settings)).fit(X, y)


def test_one_class_and_free_features_are_no_constraint():
    X, y = noisy(60, classes=True)
    one = DecisionTreeClassifier(monotonic_cst=DIRECTIONS).fit(X, np.zeros(60, dtype=int))
    assert one.n_splits_ == 0
    y[:3] = 2
    free = DecisionTreeClassifier(monotonic_cst=[0, 0, 0, 0]).fit(X, y)
    assert (free.predict(X) == DecisionTreeClassifier().fit(X, y).predict(X)).all()
