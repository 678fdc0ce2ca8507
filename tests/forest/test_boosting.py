"""AdaBoost around any member; the same as scikit-learn's around the same member."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)

LOSSES = ["linear", "square", "exponential"]


def classes(n_classes, n=200, seed=0):
    """Numbers with noisy classes; equally good splits exist only where they cut off a few rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def numbers(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * random.normal(size=n)


def assert_same_classifier(ours, theirs, X):
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


# --- the same as scikit-learn ---------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (None, None),
        (
            DecisionTreeClassifier(max_depth=2, min_samples_leaf=9),
            sklearn.tree.DecisionTreeClassifier(max_depth=2, min_samples_leaf=9),
        ),
        (DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2)),
        (GaussianNB(), GaussianNB()),
        (
            sklearn.tree.DecisionTreeClassifier(max_features=1, max_depth=2),
            sklearn.tree.DecisionTreeClassifier(max_features=1, max_depth=2),
        ),
    ],
    ids=["stump", "tree", "same tree", "naive Bayes", "random tree"],
)
def test_classifier_equals_that_of_scikit_learn(ours, theirs, n_classes, learning_rate):
    X, y = classes(n_classes)
    settings = {"n_estimators": 12, "learning_rate": learning_rate, "random_state": 1}
    mine = AdaBoostClassifier(ours, **settings).fit(X, y)
    other = sklearn.ensemble.AdaBoostClassifier(theirs, **settings).fit(X, y)
    assert_same_classifier(mine, other, X)
    for stage, expected in zip(mine.staged_predict(X), other.staged_predict(X), strict=True):
        assert (stage == expected).all()


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # theirs, log(0)
def test_weighted_rows_and_classes_boost_as_in_scikit_learn():
    X, y = classes(3)
    weights = np.random.default_rng(0).random(len(y))
    weights[:10] = 0
    by_class = {0: 1.0, 1: 2.0, 2: 5.0}
    trees = (
        DecisionTreeClassifier(max_depth=2, min_samples_leaf=9, class_weight=by_class),
        sklearn.tree.DecisionTreeClassifier(max_depth=2, min_samples_leaf=9, class_weight=by_class),
    )
    ours = AdaBoostClassifier(trees[0], n_estimators=8).fit(X, y, sample_weight=weights)
    theirs = sklearn.ensemble.AdaBoostClassifier(trees[1], n_estimators=8)
    assert_same_classifier(ours, theirs.fit(X, y, sample_weight=weights), X)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "member",
    [
        DecisionTreeRegressor(max_depth=3),
        DecisionTreeRegressor(max_depth=3, splitter="random", max_features=2),
        sklearn.tree.DecisionTreeRegressor(max_depth=3),
        Ridge(),
    ],
    ids=["tree", "random tree", "their tree", "ridge"],
)
def test_regressor_equals_that_of_scikit_learn(member, loss):
    X, y = numbers()
    settings = {"n_estimators": 10, "loss": loss, "random_state": 2}
    ours = AdaBoostRegressor(member, **settings).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostRegressor(member, **settings).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    for stage, expected in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(stage, expected)


def test_default_regressor_is_as_good_as_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (
        np.mean(
            [kind(random_state=s).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for s in range(3)]
        )
        for kind in (AdaBoostRegressor, sklearn.ensemble.AdaBoostRegressor)
    )
    assert abs(ours - theirs) < 0.05


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_bundled_sets_are_learnt_as_well_as_by_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours, theirs = (
        kind(n_estimators=30, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for kind in (AdaBoostClassifier, sklearn.ensemble.AdaBoostClassifier)
    )
    assert ours > theirs - 0.03


@pytest.mark.parametrize("kind", ["AdaBoostClassifier", "AdaBoostRegressor"])
def test_parameters_and_defaults_are_those_of_scikit_learn(kind):
    ours = {"AdaBoostClassifier": AdaBoostClassifier, "AdaBoostRegressor": AdaBoostRegressor}[kind]
    theirs = getattr(sklearn.ensemble, kind)().get_params()
    shared = {key: value for key, value in ours().get_params().items() if key in theirs}
    assert shared == {key: value for key, value in theirs.items() if key != "algorithm"}


# --- what boosting does ---------------------------------------------------------------------------


def test_stages_end_in_the_prediction():
    X, y = classes(3)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    assert (list(model.staged_predict_proba(X))[-1] == model.predict_proba(X)).all()
    assert (list(model.staged_decision_function(X))[-1] == model.decision_function(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_two_classes_have_one_vote_with_a_sign():
    X, y = classes(2)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    votes = model.decision_function(X)
    assert votes.shape == (len(y),)
    assert ((votes > 0) == model.predict(X)).all()


def test_boosting_lowers_the_training_error():
    X, y = classes(2)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    scores = [np.mean(stage == y) for stage in model.staged_predict(X)]
    assert scores[-1] > scores[0] + 0.1


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_boosting_ends_at_a_member_without_error(kind):
    X, y = classes(2)
    tree = DecisionTreeClassifier() if kind is AdaBoostClassifier else KNeighborsRegressor(1)
    if kind is AdaBoostRegressor:
        X = np.repeat(X[:5], 40, axis=0)  # every row is drawn
        y = np.repeat(y[:5], 40)
    model = kind(tree, n_estimators=10, random_state=0).fit(X, y)
    assert len(model.estimators_) == 1
    assert model.estimator_weights_.tolist() == [1] + [0] * 9
    assert model.estimator_errors_.tolist() == [0] + [1] * 9
    assert (model.predict(X) == y).all()


def test_importances_find_the_informative_features():
    X, y = classes(2)
    y = X[:, :3].sum(axis=1) > 0
    importances = AdaBoostClassifier().fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-3:]) == {0, 1, 2}
    with pytest.raises(AttributeError):
        AdaBoostClassifier(GaussianNB()).fit(X, y).feature_importances_  # noqa: B018


def test_labels_may_be_strings():
    X, y = classes(3)
    names = np.array(["low", "middle", "high"])[y]
    for member in (None, GaussianNB()):
        model = AdaBoostClassifier(member, n_estimators=5).fit(X, names)
        assert model.classes_.tolist() == ["high", "low", "middle"]
        assert model.score(X, names) > 0.5


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_and_missing_values_are_read_as_they_are(library):
    random = np.random.default_rng(0)
    colour = random.choice(["blue", "green", "red"], 300)
    size = np.where(random.random(300) < 0.2, np.nan, random.normal(size=300))
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    y = (colour == "green") | (size > 1)
    X = pl.from_pandas(X) if library == "polars" else X
    for member in (None, RandomForestClassifier(n_estimators=3, max_depth=2)):
        model = AdaBoostClassifier(member, n_estimators=10, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.95
        assert model.estimators_[0].schema_.categories == {0: ["blue", "green", "red"]}
    assert AdaBoostRegressor(random_state=0).fit(X, y).score(X, y) > 0.8


def test_pickle_predicts_the_same():
    X, y = classes(3)
    for member in (None, GaussianNB()):
        model = AdaBoostClassifier(member, n_estimators=5).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_callback_and_bar_tell_members_done(capsys):
    X, y = classes(2)
    heard = []
    model = AdaBoostClassifier(n_estimators=4, callback=lambda done, of: heard.append((done, of)))
    model.fit(X, y)
    assert capsys.readouterr().out == ""
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    model.set_params(verbose=1).fit(X, y)
    assert "4/4" in capsys.readouterr().out


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AdaBoostClassifier(n_estimators=0), "'n_estimators' must be a positive int, got 0."),
        (AdaBoostClassifier(learning_rate=0), "'learning_rate' must be a number above 0, got 0."),
        (AdaBoostClassifier(learning_rate=-1), "'learning_rate' must be a number above 0, got -1."),
        (AdaBoostRegressor(loss="cubic"), "'loss' must be one of 'linear', 'square', 'expo"),
        (
            AdaBoostClassifier(KNeighborsClassifier()),
            "doesn't support sample_weight, which boosting",
        ),
        (AdaBoostClassifier(DecisionTreeRegressor()), "'estimator' must be a classifier"),
        (AdaBoostRegressor(DecisionTreeClassifier()), "'estimator' must be a regressor"),
        (AdaBoostClassifier(DecisionTreeClassifier(max_depth=0)), "'max_depth' must be a positive"),
        (AdaBoostRegressor(DecisionTreeRegressor(criterion="poisson")), "are negative"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(model, message):
    X, y = classes(2)
    with pytest.raises(ValueError) as error:
        model.fit(X, y - 0.5 if "poisson" in str(model) else y)
    assert message in str(error.value)


def test_member_no_better_than_chance_is_refused():
    X = np.zeros((40, 2))
    with pytest.raises(ValueError, match="worse than random"):
        AdaBoostClassifier().fit(X, np.arange(40) % 2)


def test_failing_member_is_named():
    X, y = classes(2)
    X[0, 0] = np.nan
    with pytest.raises(RuntimeError, match=r"Member 0 \(GaussianNB\) failed with ValueError"):
        AdaBoostClassifier(GaussianNB()).fit(X, y)
