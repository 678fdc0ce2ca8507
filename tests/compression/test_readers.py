"""Ensembles of other libraries read as sums of graphs, equal to the models themselves."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator

import hedgerow
from hedgerow._table import Table
from hedgerow.compression.reading import read_sum
from hedgerow.compression.sums import UnreadableError, as_float32_reads
from hedgerow.compression.teacher import Teacher

N = 300
RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame(
    {
        "a": np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(size=N)),
        "b": RNG.integers(0, 5, N).astype(float),
        "c": RNG.normal(size=N) ** 3,
    }
)
MIXED = NUMBERS.assign(
    d=pd.Categorical(RNG.choice(list("xyzuvw"), N)), e=pd.Categorical(RNG.choice([3, 1, 7], N))
)
SCORE = NUMBERS.a.fillna(1) + MIXED.d.isin(["x", "u"]) * 2 - NUMBERS.b / 2
TARGETS = {
    "numbers": SCORE.to_numpy(),
    "counts": np.round(np.exp(SCORE.to_numpy() / 2)),
    "two": (SCORE > 0).to_numpy().astype(int),
    "three": np.digitize(SCORE, [-1, 1]),
}


def read(model, X, y):
    """What was read of a fitted model, and how it predicts."""
    teacher = Teacher(model.fit(X, TARGETS[y]))
    table = Table.read(BaseEstimator(), X, np.zeros(N), has_classes=False)
    said = teacher.values(X)
    found = read_sum(teacher, table.schema, table.matrix(), said)
    predicted = found.packed(table.n_features).predict(table.matrix())
    assert_allclose(predicted, said, atol=1e-5 * max(1, np.abs(said).max()))
    return found


def is_number(y):
    return y in ("numbers", "counts")


@pytest.mark.parametrize("y", ["numbers", "two", "three"])
@pytest.mark.parametrize("name", ["DecisionTree", "RandomForest", "ExtraTrees", "GradientBoosting"])
def test_scikit_learn(name, y):
    room = sklearn.tree if name == "DecisionTree" else sklearn.ensemble
    model = getattr(room, name + ("Regressor" if is_number(y) else "Classifier"))(random_state=0)
    if hasattr(model, "n_estimators"):
        model.set_params(n_estimators=5)
    X = NUMBERS.fillna(0) if name == "GradientBoosting" else NUMBERS
    found = read(model, X, y)
    trees = [t for t in np.ravel(getattr(model, "estimators_", [model]))]
    assert found.n_splits == sum(t.tree_.node_count - t.tree_.n_leaves for t in trees)


def test_exponential_loss():
    model = sklearn.ensemble.GradientBoostingClassifier(loss="exponential", n_estimators=5)
    read(model, NUMBERS.fillna(0), "two")


@pytest.mark.parametrize("y", ["numbers", "three"])
@pytest.mark.parametrize(
    "name",
    [
        "DecisionTree",
        "TreeInTree",
        "RandomForest",
        "Bagging",
        "MeanMarginTree",
        "TreeSum",
        "GradientBoosting",
    ],
)
def test_hedgerow(name, y):
    model = getattr(hedgerow, name + ("Regressor" if is_number(y) else "Classifier"))()
    if hasattr(model, "n_estimators"):
        model.set_params(n_estimators=5)
    assert read(model, MIXED, y).n_splits == model.n_splits_


@pytest.mark.parametrize("y", ["numbers", "counts", "two", "three"])
@pytest.mark.parametrize("X", [NUMBERS, MIXED, NUMBERS.to_numpy(np.float32)])
def test_lightgbm(X, y):
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"n_estimators": 5, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}
    if y == "counts":
        settings["objective"] = "poisson"
    model = lightgbm.LGBMRegressor if is_number(y) else lightgbm.LGBMClassifier
    read(model(**settings), X, y)


@pytest.mark.parametrize("y", ["numbers", "counts", "two", "three"])
@pytest.mark.parametrize("X", [NUMBERS, MIXED, NUMBERS.to_numpy(np.float32)])
def test_xgboost(X, y):
    xgboost = pytest.importorskip("xgboost")
    settings = {"n_estimators": 5, "n_jobs": 1, "enable_categorical": True}
    if y == "counts":
        settings["objective"] = "count:poisson"
    model = xgboost.XGBRegressor if is_number(y) else xgboost.XGBClassifier
    read(model(**settings), X, y)


@pytest.mark.parametrize("y", ["numbers", "two", "three"])
def test_catboost(y):
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor if is_number(y) else catboost.CatBoostClassifier
    read(model(**settings), NUMBERS, y)


def test_what_has_no_trees_to_read_says_so():
    model = sklearn.ensemble.HistGradientBoostingRegressor(max_iter=2)
    with pytest.raises(UnreadableError, match="no reader of scikit-learn's HistGradientBoosting"):
        read(model, NUMBERS, "numbers")


def test_a_reader_that_is_wrong_is_found_out():
    class Liar(hedgerow.DecisionTreeRegressor):
        def predict(self, X):
            return super().predict(X) + 0.01

    with pytest.raises(UnreadableError, match="predicts otherwise than its trees as read"):
        read(Liar(max_depth=3), NUMBERS, "numbers")


def test_thresholds_of_float32_send_every_double_to_its_side():
    threshold = np.concatenate([RNG.normal(size=50), RNG.normal(size=50).astype(np.float32)])
    moved = as_float32_reads(threshold)
    nearest = threshold.astype(np.float32)
    for step in (-2, -1, 0, 1, 2):
        x = nearest
        for _ in range(abs(step)):
            x = np.nextafter(x, np.float32(np.sign(step) * np.inf))
        above = np.nextafter(x, np.float32(np.inf))
        for share in (0, 0.25, 0.5, 0.75):
            number = x.astype(float) * (1 - share) + above.astype(float) * share
            number = np.concatenate(
                [number, np.nextafter(number, -np.inf), np.nextafter(number, np.inf)]
            )
            t, m = np.tile(threshold, 3), np.tile(moved, 3)
            assert ((number <= m) == (number.astype(np.float32).astype(float) <= t)).all()
