"""Heterogeneous forests: bags of cross-validated trees under a name of their own."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import FitFailedWarning

from hedgerow import (
    BaggingClassifier,
    BaggingRegressor,
    CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HeterogeneousForestClassifier,
    HeterogeneousForestRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    RandomForestClassifier,
)

WINE, DIABETES = load_wine(return_X_y=True), load_diabetes(return_X_y=True)
KINDS = {
    "classes": (HeterogeneousForestClassifier, BaggingClassifier, CrossValidatedTreeClassifier),
    "reals": (HeterogeneousForestRegressor, BaggingRegressor, CrossValidatedTreeRegressor),
}
targets = pytest.mark.parametrize("target", KINDS)


def sample(target):
    return WINE if target == "classes" else DIABETES


def forest(target, n_estimators=8, **parameters):
    return KINDS[target][0](n_estimators=n_estimators, random_state=0, **parameters)


def values(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@targets
def test_forest_is_a_bag_of_cross_validated_trees(target):
    X, y = sample(target)
    _, bag, tree = KINDS[target]
    ours = forest(target, cv=2).fit(X, y)
    theirs = bag(tree(ours.estimator_.candidates), 8, random_state=0).fit(X, y)
    assert_array_equal(values(ours, X), values(theirs, X))
    for a, b in zip(ours.estimators_, theirs.estimators_, strict=True):
        assert a.scores_ == b.scores_


@targets
def test_member_is_the_tree_fitted_on_its_bag(target):
    X, y = sample(target)
    model = forest(target, cv=2).fit(X, y)
    for place in (0, 7):
        member = model.estimators_[place]
        weights = np.bincount(model.estimators_samples_[place], minlength=len(y))
        alone = KINDS[target][2](**member.get_params()).fit(X, y, sample_weight=weights)
        assert alone.scores_ == member.scores_
        assert_array_equal(values(alone, X), values(member, X))


@targets
@pytest.mark.parametrize("weighted", [False, True])
def test_kinds_are_judged_on_the_rows_that_a_member_did_not_draw(target, weighted):
    X, y = sample(target)
    weights = np.arange(len(y)) % 3 if weighted else None
    model = forest(target).fit(X, y, sample_weight=weights)
    for place in (0, 7):
        member, drawn = model.estimators_[place], model.estimators_samples_[place]
        unseen = np.setdiff1d(np.arange(len(y)), drawn)
        score = member.score(X[unseen], y[unseen], None if weights is None else weights[unseen])
        assert_allclose(member.scores_[member.selected_], score)
        assert member.scores_[member.selected_] == max(member.scores_.values())
        own = np.bincount(drawn, weights=None if weights is None else weights[drawn])
        own.resize(len(y))
        alone = clone(member.estimator_).fit(X, y, sample_weight=own)
        assert_array_equal(values(alone, X), values(member, X))


@targets
def test_members_are_averaged(target):
    X, y = sample(target)
    model = forest(target).fit(X, y)
    assert_allclose(values(model, X), np.mean([values(m, X) for m in model.estimators_], axis=0))


@targets
def test_paper_has_two_kinds(target):
    X, y = sample(target)
    model = forest(target, preset="paper").fit(X, y)
    assert list(model.composition_) == ["erdt", "mmdt"]
    for member in model.estimators_:
        chosen = member.estimator_.get_params()
        assert chosen.get("standardize", False) is False
        assert chosen.get("max_features") is None


def test_votes_are_counted():
    X, y = WINE
    model = forest(
        "classes", voting="hard", candidates=[("tree", DecisionTreeClassifier(max_depth=2))]
    )
    votes = [member.predict(X) for member in model.fit(X, y).estimators_]
    counts = np.mean([np.eye(3)[vote] for vote in votes], axis=0)
    assert_allclose(model.predict_proba(X), counts)


@targets
def test_composition_counts_the_members_of_each_kind(target):
    model = forest(target, n_estimators=20).fit(*sample(target))
    chosen = [member.selected_ for member in model.estimators_]
    assert model.composition_ == {name: chosen.count(name) for name in model.composition_}
    assert list(model.composition_) == list(model.estimators_[0].scores_)
    assert sum(model.composition_.values()) == 20


def test_composition_follows_the_data():
    X = np.random.default_rng(0).normal(size=(400, 6))
    kinds = [("axis", DecisionTreeClassifier()), ("oblique", MeanMarginTreeClassifier())]
    for y, winner in ((X.sum(axis=1) > 0, "oblique"), (X[:, 0] > 0, "axis")):
        composition = forest("classes", candidates=kinds).fit(X, y).composition_
        assert composition[winner] >= 7


@targets
def test_result_is_the_same_for_any_n_jobs(target):
    X, y = sample(target)
    one, two = (forest(target, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(values(one, X), values(two, X))


@targets
def test_random_candidates_follow_the_seed(target):
    X, y = sample(target)
    tree = (DecisionTreeClassifier if target == "classes" else DecisionTreeRegressor)(
        max_features=2
    )
    models = [forest(target, candidates=[("random", tree)]).fit(X, y) for _ in range(2)]
    assert_array_equal(values(models[0], X), values(models[1], X))
    seeds = {member.estimator_.random_state for member in models[0].estimators_}
    assert len(seeds) == 8


@targets
def test_warm_start_and_subset_keep_the_members(target):
    X, y = sample(target)
    grown = forest(target, n_estimators=3, warm_start=True).fit(X, y)
    values(grown, X)
    grown.set_params(n_estimators=8).fit(X, y)
    whole = forest(target).fit(X, y)
    assert_array_equal(values(grown, X), values(whole, X))
    few = forest(target, n_estimators=3).fit(X, y)
    assert_array_equal(values(whole.subset(3), X), values(few, X))
    assert sum(whole.subset(3).composition_.values()) == 3


@targets
def test_out_of_bag_score_is_close_to_that_on_unseen_rows(target):
    X, y = sample(target)
    model = forest(target, n_estimators=60, oob_score=True, cv=2).fit(X[::2], y[::2])
    assert abs(model.oob_score_ - model.score(X[1::2], y[1::2])) < 0.15


@targets
def test_frames_categories_and_missing_values_work(target):
    X, y = sample(target)
    columns = {"a": X[:, 0], "b": np.where(X[:, 1] > np.median(X[:, 1]), "up", "down")}
    pandas = pd.DataFrame({**columns, "c": X[:, 2]})
    pandas.loc[::5, ["a", "b"]] = None
    polars = pl.from_pandas(pandas)
    models = [forest(target).fit(frame, y) for frame in (pandas, polars)]
    assert_array_equal(values(models[0], pandas), values(models[1], polars))
    assert models[0].schema_.missing == {0, 1}


@targets
def test_pickle_keeps_the_forest(target):
    X, y = sample(target)
    model = forest(target).fit(X, y)
    before = values(model, X)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(values(copy, X), before)
    assert copy.composition_ == model.composition_


def test_weights_count():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 1.0)
    model = forest("classes").fit(X, y, sample_weight=weights)
    assert model.predict_proba(X)[:, 2].max() == 0


def test_failing_candidate_is_named():
    X, y = DIABETES
    poisson = ("counts", DecisionTreeRegressor(criterion="poisson"))
    with pytest.warns(FitFailedWarning, match="counts: ValueError: Some value.* Poisson"):
        model = forest("reals", candidates=[poisson, ("mmdt", MeanMarginTreeRegressor())])
        model.fit(X, y - y.mean())
    assert model.composition_ == {"counts": 0, "mmdt": 8}
    with pytest.raises(RuntimeError, match="Member 0 .*All candidates failed:\ncounts: ValueError"):
        forest("reals", candidates=[poisson]).fit(X, y - y.mean())


@targets
def test_data_without_anything_to_learn_gives_leaves(target):
    X, y = np.ones((20, 3)), np.arange(20) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = forest(target).fit(X, y)
        single = forest(target).fit(np.random.default_rng(0).random((20, 3)), np.ones(20, int))
    assert {member.get_n_leaves() for member in same.estimators_ + single.estimators_} == {1}
    assert_array_equal(single.predict(X), 1)


@pytest.mark.parametrize(
    ("name", "value"), [("cv", 1), ("n_estimators", 0), ("voting", "loud"), ("candidates", "best")]
)
def test_wrong_parameter_is_named_with_its_value(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' must be .*, got {value!r}\.$"):
        HeterogeneousForestClassifier(**{name: value}).fit(*WINE)


@targets
def test_bag_of_one_row_takes_the_first_kind(target):
    model = forest(target, n_estimators=20).fit([[0.0], [1.0]], [0, 1])
    scores = [member.scores_["mmdt"] for member in model.estimators_]
    assert np.isnan(scores).any()
    assert model.predict([[0.0], [1.0]])[1] > 0.5


@targets
def test_one_row_cannot_be_divided(target):
    with pytest.raises(ValueError, match="1 sample"):
        forest(target).fit([[1.0]], [1])


def test_wrong_candidates_are_refused():
    with pytest.raises(ValueError, match="'candidates' must be None or"):
        forest("classes", candidates=[("forest", RandomForestClassifier())]).fit(*WINE)


def test_the_default_has_the_kinds_of_the_guide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    classifier = HeterogeneousForestClassifier(n_estimators=5, random_state=0)
    assert list(classifier.fit(X, X[:, 0] > 0).composition_) == [
        "random cart", "mmdt", "raw mmdt", "erdt",
    ]  # fmt: skip
    regressor = HeterogeneousForestRegressor(n_estimators=5, random_state=0)
    assert list(regressor.fit(X, X[:, 0]).composition_) == [
        "random cart", "erdt", "mmdt", "raw mmdt",
    ]  # fmt: skip


@pytest.mark.parametrize("n_noise", [500, 1000])
def test_features_that_say_nothing_are_borne(n_noise):
    rng = np.random.default_rng(5)
    told = rng.normal(size=(900, 3))
    y = (told[:, 0] > -0.5) * (told[:, 1] > -0.5) + 0 + (told[:, 0] > 0) * (told[:, 2] > 0)
    X = np.hstack([told, rng.normal(size=(900, n_noise))])
    scores = {
        preset: HeterogeneousForestClassifier(n_estimators=20, preset=preset, random_state=0)
        .fit(X[:600], y[:600])
        .score(X[600:], y[600:])
        for preset in (None, "paper")
    }
    assert scores[None] > scores["paper"] - 0.02 > 0.9


def test_the_best_tree_wins_by_its_handicap_alone():
    X, y = load_digits(return_X_y=True)
    forest = HeterogeneousForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert forest.composition_["erdt"] == 0
    with pytest.raises(ValueError, match="'handicaps' names no candidate"):
        CrossValidatedTreeClassifier(handicaps={"none": 0.5}).fit(X, y)
    plain = CrossValidatedTreeClassifier(random_state=0).fit(X, y)
    held = CrossValidatedTreeClassifier(handicaps={"mmdt": 0.5}, random_state=0).fit(X, y)
    assert (plain.selected_, held.selected_) == ("mmdt", "erdt")
    assert plain.scores_ == held.scores_
