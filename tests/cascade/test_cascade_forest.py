"""Cascades: what a layer tells the next, when growth stops, what the result can do."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_digits, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

from hedgerow import (
    BaggingClassifier,
    CascadeForestClassifier,
    CascadeForestRegressor,
    DecisionTreeClassifier,
    MeanMarginTreeClassifier,
    RandomForestClassifier,
    TreeEmbeddingClassifier,
)
from hedgerow._table import Table
from hedgerow.cascade.growth import gate_for

VECTORS = ["out_of_fold", "out_of_bag"]


def digits(n_train=600):
    X, y = load_digits(return_X_y=True)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def binary(n_rows=1500, flip=0.1):
    return make_classification(
        n_rows, 10, n_informative=6, flip_y=flip, class_sep=0.8, random_state=0
    )


def small(**given):
    settings = {"n_forests": 1, "n_trees": 10, "cv": 3, "random_state": 0}
    return CascadeForestClassifier(**settings | given)


def vectors_of(cascade, X, y, rows=None):
    """The vectors of the training rows that the first layer gives to the second."""
    from hedgerow.cascade import cascade_model

    seen = []
    fit_layer = cascade_model.fit_layer

    def spy(*arguments, **named):
        members, vectors = fit_layer(*arguments, **named)
        seen.append(vectors)
        return members, vectors

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cascade_model, "fit_layer", spy)
        cascade.fit(X, y)
    return seen[0]


@pytest.mark.parametrize("class_vectors", VECTORS)
def test_vectors_of_random_labels_carry_no_signal(class_vectors):
    random = np.random.default_rng(0)
    X, y = random.random((2000, 5)), random.integers(0, 2, 2000)
    cascade = small(n_trees=20, class_vectors=class_vectors, max_layers=1)
    vectors = vectors_of(cascade, X, y)
    for member in range(2):
        says_one = vectors[:, member, 1]
        right = np.mean((says_one > 0.5) == y)
        assert abs(right - 0.5) < 0.045  # four standard deviations
        gap = says_one[y == 1].mean() - says_one[y == 0].mean()
        assert abs(gap) < 4 * says_one.std() * np.sqrt(4 / len(y))
    # The same forests know the labels of the rows they were grown on by heart.
    assert cascade.score(X, y) > 0.9


@pytest.mark.parametrize("class_vectors", VECTORS)
def test_vectors_are_as_accurate_on_training_rows_as_on_new_ones(class_vectors):
    X, y = binary(6000)
    cascade = small(n_trees=30, class_vectors=class_vectors, max_layers=1)
    train = vectors_of(cascade, X[:3000], y[:3000])
    new = cascade.layers_[0].load().vectors(X[3000:], cascade.classes_, 1)
    for member in range(2):
        on_train = np.mean(train[:, member].argmax(axis=1) == y[:3000])
        on_new = np.mean(new[:, member].argmax(axis=1) == y[3000:])
        assert abs(on_train - on_new) < 0.04


def test_first_cut_of_the_second_layer_is_on_a_new_feature_near_one_half():
    X, y = binary(2000, flip=0.05)
    members = [RandomForestClassifier(20, max_features=None, max_depth=6)]
    cascade = small(estimators=members, max_layers=2, keep="all").fit(X, y)
    forest = cascade.layers_[1].load().members[0].forest
    roots = [forest.graph(i) for i in range(forest.n_members)]
    assert all(root.feature[0] >= X.shape[1] for root in roots)
    assert abs(np.median([root.threshold[0] for root in roots]) - 0.5) < 0.1


@pytest.mark.parametrize("preset", ["default", "light", "paper", "paper_light"])
def test_preset_has_its_layers_and_trees(preset):
    X, y, X_test, y_test = digits(300)
    few = {} if "light" in preset else {"n_trees": 5, "max_layers": 2}
    cascade = CascadeForestClassifier(preset, random_state=0, **few).fit(X, y)
    members = cascade.layers_[0].load().members
    assert len(members) == {"default": 4, "light": 2, "paper": 8, "paper_light": 2}[preset]
    trees = {"default": 5 * 5, "light": 100, "paper": 3 * 5, "paper_light": 3 * 50}[preset]
    assert [member.n_trees for member in members] == [trees] * len(members)
    assert cascade.n_trees_ == trees * len(members) * cascade.n_layers_
    assert cascade.score(X_test, y_test) > 0.75


def test_layers_are_added_until_they_no_longer_help_and_the_best_are_kept():
    X, y, *_ = digits()
    cascade = small(n_tolerance=2, max_layers=8).fit(X, y)
    scores = cascade.layer_scores_
    best = int(np.argmax(scores))
    assert cascade.n_layers_ == best + 1
    assert len(scores) == min(8, best + 3)
    everything = small(n_tolerance=2, max_layers=8, keep="all").fit(X, y)
    assert everything.layer_scores_ == scores
    assert everything.n_layers_ == len(scores)


def test_hold_out_judges_layers_and_the_cascade_is_grown_on_all_rows():
    X, y, X_test, _ = digits()
    cascade = small(validation_fraction=0.25, max_layers=3).fit(X, y)
    assert cascade.n_layers_ == np.argmax(cascade.layer_scores_) + 1
    same = small(max_layers=cascade.n_layers_, keep="all", n_tolerance=3).fit(X, y)
    assert_array_equal(cascade.predict_proba(X_test), same.predict_proba(X_test))


@pytest.mark.parametrize("class_vectors", VECTORS)
def test_result_is_the_same_for_any_n_jobs(class_vectors):
    X, y, X_test, _ = digits(300)
    one, two = (
        small(class_vectors=class_vectors, max_layers=2, n_jobs=n).fit(X, y).predict_proba(X_test)
        for n in (1, 2)
    )
    assert_array_equal(one, two)


def test_stages_subsets_and_the_cascade_agree():
    X, y, X_test, _ = digits()
    cascade = small(max_layers=3, keep="all", n_tolerance=3).fit(X, y)
    stages = list(cascade.staged_predict_proba(X_test))
    assert len(stages) == 3
    assert_array_equal(stages[-1], cascade.predict_proba(X_test))
    for n, stage in enumerate(stages, start=1):
        shorter = cascade.subset(n)
        assert shorter.n_layers_ == len(shorter.layer_scores_) == n
        assert_array_equal(shorter.predict_proba(X_test), stage)
    for labels, stage in zip(cascade.staged_predict(X_test), stages, strict=True):
        assert_array_equal(labels, stage.argmax(axis=1))
    assert cascade.n_layers_ == 3
    with pytest.raises(ValueError, match="'n_layers' must be at most 3, got 4."):
        cascade.subset(4)


def test_flattened_cascade_is_a_forest_of_as_many_trees():
    X, y, *_ = digits(200)
    given = {"n_trees": 4, "max_depth": 30, "class_weight": "balanced"}
    cascade = CascadeForestClassifier("light", **given).fit(X, y)
    forest = cascade.flatten()
    assert isinstance(forest, RandomForestClassifier)
    assert (forest.n_estimators, forest.max_depth) == (16, 30)
    assert forest.class_weight == "balanced"
    assert forest.fit(X, y).forest_.n_members == cascade.n_trees_


def test_members_of_any_kind():
    X, y, X_test, y_test = digits()
    labels = np.array([f"digit {k}" for k in y])
    members = [
        DecisionTreeClassifier(max_depth=8),
        BaggingClassifier(MeanMarginTreeClassifier(), 5),
        TreeEmbeddingClassifier(n_estimators=3),
        GaussianNB(),
        LinearSVC(C=1e-3),  # without probabilities
        RandomForestClassifier(10),
    ]
    cascade = small(estimators=members, max_layers=2, keep="all").fit(X, labels)
    assert np.mean(cascade.predict(X_test) == [f"digit {k}" for k in y_test]) > 0.85
    assert_allclose(cascade.predict_proba(X_test).sum(axis=1), 1, rtol=1e-6)


def test_regressors_of_any_kind_and_a_final_estimator():
    X, y = load_diabetes(return_X_y=True)
    members = [KNeighborsRegressor(), Ridge(1e-3)]
    cascade = CascadeForestRegressor(estimators=members, max_layers=1).fit(X[:300], y[:300])
    assert cascade.score(X[300:], y[300:]) > 0.3
    settled = CascadeForestRegressor("light", final_estimator=Ridge(), random_state=0)
    settled.fit(X[:300], y[:300])
    assert settled.score(X[300:], y[300:]) > 0.3
    last = list(settled.staged_predict(X[300:]))[-1]
    assert_array_equal(last, settled.predict(X[300:]))
    assert not np.allclose(settled.subset(2).predict(X[300:]), last)


def test_final_classifier_sees_raw_features_and_vectors():
    X, y, X_test, _ = digits(400)
    cascade = small(final_estimator=GaussianNB(var_smoothing=0.1), max_layers=1).fit(X, y)
    vectors = cascade.layers_[0].load().vectors(X_test, cascade.classes_, 1)
    everything = np.hstack([X_test, vectors.reshape(len(X_test), -1)])
    assert_array_equal(cascade.predict(X_test), cascade.final_estimator_.predict(everything))
    cascade.set_params(final_estimator=None).fit(X, y)
    assert_allclose(cascade.predict_proba(X_test), vectors.mean(axis=1), rtol=1e-6)


def test_certain_rows_leave_early():
    X, y, X_test, y_test = digits(1000)
    settings = {"n_trees": 30, "max_layers": 3, "keep": "all", "n_tolerance": 3}
    cascade = small(screening=0.5, **settings).fit(X, y)
    gates = [layer.load().gate for layer in cascade.layers_]
    assert np.isfinite(gates[0])
    first, second, *_ = cascade.staged_predict_proba(X_test)
    certain = first.max(axis=1) >= gates[0]
    assert 0.1 < certain.mean() < 1
    assert_array_equal(first[certain], second[certain])
    wrong = first.argmax(axis=1) != y_test
    assert wrong[certain].mean() < wrong.mean()
    assert cascade.score(X_test, y_test) > 0.9


def test_gate_lets_equally_certain_rows_leave_together():
    values = np.array([[0.9, 0.1], [0.8, 0.2], [0.8, 0.2], [0.6, 0.4]])
    assert gate_for(values, np.array([False, False, True, False]), 0.0) == 0.9
    assert gate_for(values, np.array([False, False, True, False]), 0.34) == 0.6
    assert gate_for(values, np.array([True, True, True, True]), 0.5) == np.inf


def mixed_frame(n=400):
    random = np.random.default_rng(0)
    kind = random.choice(["hazel", "holly", "hawthorn"], n)
    height = random.normal(size=n)
    y = np.where((kind == "hazel") ^ (height > 0.5), "cut", "keep")
    height[::7] = np.nan
    return pd.DataFrame({"height": height, "kind": pd.Categorical(kind)}), y


def test_frames_with_categories_and_missing_values():
    frame, y = mixed_frame()
    members = [RandomForestClassifier(10), DecisionTreeClassifier()]
    for given in ({}, {"estimators": members}):
        cascade = small(**given, max_layers=2).fit(frame, y)
        assert cascade.score(frame, y) > 0.9
        other = pl.from_pandas(frame)
        again = small(**given, max_layers=2).fit(other, y)
        assert_array_equal(again.predict_proba(other), cascade.predict_proba(frame))


def test_class_that_a_fold_does_not_have():
    X, y, *_ = digits(100)
    y = np.where(np.arange(100) == 7, 10, y % 3)  # one row of a class of its own
    members = [RandomForestClassifier(5), LogisticRegression(C=1e-3), GaussianNB()]
    cascade = small(estimators=members, max_layers=2, keep="all").fit(X, y)
    assert cascade.predict_proba(X).shape == (100, 4)
    two = small(estimators=members, max_layers=1).fit(X[:6], [0, 0, 0, 0, 0, 1])
    assert_allclose(two.predict_proba(X[:6]).sum(axis=1), 1)


def test_weightless_rows_are_left_out():
    X, y, X_test, _ = digits(300)
    weights = np.repeat([1.0, 0.0], 150)
    first, second = (
        small(max_layers=2).fit(X, np.where(weights, y, wrong), weights) for wrong in (3, 8)
    )
    assert first.layer_scores_ == second.layer_scores_
    assert_array_equal(first.predict_proba(X_test), second.predict_proba(X_test))


def test_class_weights_count():
    X, y = binary(600)
    plain, wary = (
        small(max_layers=1, min_samples_leaf=20, class_weight=weight).fit(X, y)
        for weight in (None, {0: 1, 1: 20})
    )
    assert wary.predict(X).mean() > plain.predict(X).mean()


def test_pickle_and_importances():
    X, y, X_test, _ = digits(300)
    cascade = small(max_layers=2, keep="all").fit(X, y)
    again = pickle.loads(pickle.dumps(cascade))
    assert_array_equal(again.predict_proba(X_test), cascade.predict_proba(X_test))
    importances = cascade.feature_importances_
    assert importances.shape == (64,)
    assert importances.sum() == pytest.approx(1)
    assert importances[0] == 0  # a pixel that is always white


def test_sizes_and_depth_are_those_of_the_trees():
    X, y, *_ = digits(200)
    members = [RandomForestClassifier(4, max_depth=3), DecisionTreeClassifier(max_depth=5)]
    cascade = small(estimators=members, max_layers=2, keep="all").fit(X, y)
    assert cascade.get_depth() == 2 * 5
    first, second = ([m.nbytes for m in layer.load().members] for layer in cascade.layers_)
    assert cascade.nbytes_ == sum(first + second)
    assert cascade.subset(1).nbytes_ == sum(first)


@pytest.mark.parametrize("name", ["apply", "decision_path", "row_predictor"])
def test_what_has_no_meaning_for_a_cascade_says_so(name):
    X, y, *_ = digits(100)
    cascade = small(max_layers=1).fit(X, y)
    assert not hasattr(cascade, name)
    with pytest.raises(AttributeError, match=f"has no '{name}': a row goes through every tree"):
        getattr(cascade, name)


@pytest.mark.parametrize("preset", ["default", "light"])
@pytest.mark.parametrize("offset", [1e8, 1e9])
def test_targets_far_from_zero_are_as_well_learned_as_others(preset, offset):
    random = np.random.default_rng(5)
    X = random.uniform(0, 10, (900, 3)).astype(np.float32)
    y = np.sin(X[:, 0].astype(float))
    given = {"n_trees": 10, "max_layers": 2, "keep": "all", "random_state": 0}
    errors = []
    for shift in (0, offset):
        cascade = CascadeForestRegressor(preset, **given).fit(X[:600], y[:600] + shift)
        said = cascade.predict(X[600:])
        assert len(np.unique(said)) > 250
        errors.append(np.mean((said - shift - y[600:]) ** 2))
        # The second layer, which reads what the first said, is none the worse for it.
        assert cascade.layer_scores_[1] > 0.98
    assert errors[1] < 1.1 * errors[0]


def test_gigantic_targets_are_learned():
    X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    y = np.sin(X[:, 0])
    large, plain = (
        CascadeForestRegressor("light", n_trees=10, random_state=0).fit(X, y * scale).predict(X)
        for scale in (1e98, 1)
    )
    assert_allclose(large / 1e98, plain, atol=0.01)  # rounding may settle a tie otherwise


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"validation_fraction": 0.3},
        {"estimators": [RandomForestClassifier(3), DecisionTreeClassifier()]},
        {"estimators": [BaggingClassifier(n_estimators=3)]},
        {"final_estimator": DecisionTreeClassifier()},
    ],
    ids=str,
)
def test_raw_table_is_read_and_binned_once(given, monkeypatch):
    frame, y = mixed_frame()
    counted = []
    binned = Table._binned
    monkeypatch.setattr(Table, "_binned", lambda *a: counted.append(a[0]) or binned(*a))
    small(max_layers=2, keep="all", n_tolerance=2, **given).fit(frame, y)
    assert len(counted) == 1


def test_failed_fit_leaves_the_cascade_as_it_was():
    X, y, X_test, _ = digits(200)
    cascade = small(max_layers=2).fit(X, y)
    before = cascade.predict_proba(X_test)

    def stop(done, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cascade.set_params(callback=stop).fit(X[:, :10], y % 2)
    assert_array_equal(cascade.predict_proba(X_test), before)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"final_estimator": Ridge()}, r"'final_estimator' must be None or one of classifiers"),
        ({"final_estimator": Ridge}, r"'final_estimator' must be None or one of classifiers"),
        ({"checkpoint": 3}, "'checkpoint' must be a path or None, got 3."),
        ({"estimators": [RandomForestClassifier(0)]}, "'n_estimators' must be a positive int"),
        ({"partner": "trees"}, "'partner' must be one of 'extra_trees', 'random_trees', got"),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    X, y, *_ = digits(50)
    with pytest.raises(ValueError, match=message):
        small(**given).fit(X, y)


def test_callback_hears_of_every_member_and_can_stop():
    X, y, *_ = digits(200)
    heard = []
    small(max_layers=2, keep="all", callback=lambda *now: heard.append(now)).fit(X, y)
    assert heard == [(1, 2), (2, 2)] * 2

    def stop(done, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(callback=stop).fit(X, y)


def test_bar_is_shown(capsys):
    X, y, *_ = digits(200)
    small(max_layers=1, verbose=1).fit(X, y)
    assert "layer 1" in capsys.readouterr().out
