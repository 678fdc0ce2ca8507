import builtins

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from hedgerow.comparison import MODELS, compare
from hedgerow.comparison.records import CONSTANT

TREE = "scikit-learn DecisionTree"
OURS = "hedgerow DecisionTree"
INSTALLED = [name for name, model in MODELS.items() if model.is_installed]
USUAL = [name for name in INSTALLED if MODELS[name].budget != "thorough"]
NO_GAPS = {"FIGS"}  # takes no missing values


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def of_iris(iris):
    return compare(*iris, cv=2)


@pytest.fixture(scope="module")
def mixed_frame():
    """Numbers and categories, both with missing values; the category decides the class."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 240)
    y = np.where(colour == "red", "warm", "cold")
    size = rng.normal(size=240)
    size[::7] = np.nan
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    frame.loc[::11, "colour"] = None
    return frame, y


def scores(comparison, metric="accuracy"):
    models = [result for result in comparison.results if result.name != CONSTANT]
    return {result.name: result.mean(metric) for result in models}


def test_every_installed_model_appears_once_best_first(of_iris):
    assert sorted(result.name for result in of_iris.results) == sorted([*USUAL, CONSTANT])
    assert not [result.error for result in of_iris.results if result.error]
    means = [result.mean("accuracy") for result in of_iris.results]
    assert means == sorted(means, reverse=True)
    assert (of_iris.data.n_rows, of_iris.data.n_features, of_iris.n_folds) == (150, 4, 2)


def test_every_result_has_costs_times_and_held_out_predictions(iris, of_iris):
    for result in of_iris.results:
        assert result.n_splits > 0 or result.name == CONSTANT
        assert result.n_bytes > 0
        assert min(result.fit_seconds) > 0
        assert result.microseconds_per_row > 0
        assert result.probabilities.shape == (150, 3)
        assert np.mean(result.predictions == iris[1]) == pytest.approx(result.mean("accuracy"))


def test_regression_has_its_own_metrics():
    X, y = load_diabetes(return_X_y=True)
    y = y.astype(int)  # whole numbers, but the predictions are not
    comparison = compare(X, y, cv=2)
    assert comparison.metrics == ["r2", "rmse"]
    for result in comparison.results:
        assert result.error is None
        assert result.probabilities is None
        spread = np.mean((result.predictions - y) ** 2)
        assert spread == pytest.approx(np.mean(np.square(result.scores["rmse"])))


def test_scores_are_those_of_scikit_learns_cross_validation(iris):
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    expected = cross_val_score(DecisionTreeClassifier(random_state=3), *iris, cv=folds)
    result = compare(*iris, cv=4, random_state=3, models=[TREE])[TREE]
    assert result.scores["accuracy"] == pytest.approx(list(expected))


def test_any_splitter_of_scikit_learn_makes_the_folds(iris):
    cv = ShuffleSplit(4, test_size=0.5, random_state=0)
    comparison = compare(*iris, cv=cv, models=[TREE, OURS])
    assert (comparison.n_folds, comparison.test_ratio) == (4, 1.0)


def test_same_seed_gives_the_same_scores_and_sizes(iris, of_iris):
    def stable(comparison):
        return {r.name: (r.scores, r.n_splits, r.n_bytes, r.p_value) for r in comparison.results}

    again = stable(compare(*iris, cv=2, models=INSTALLED[:6]))
    assert again.keys() <= stable(of_iris).keys()
    assert {name: again[name][:3] for name in again} == {
        name: stable(of_iris)[name][:3] for name in again
    }


def test_all_models_read_categories_and_missing_values(mixed_frame):
    frame, y = mixed_frame
    comparison = compare(frame, y, cv=2)
    assert comparison.data.n_categorical == 1
    assert comparison.data.n_missing == frame.isna().to_numpy().sum()
    assert len(scores(comparison)) == len(USUAL)
    assert {name for name, score in scores(comparison).items() if not score > 0.8} <= NO_GAPS


def test_polars_frames_give_the_same_as_pandas(mixed_frame):
    frame, y = mixed_frame
    some = {"cv": 2, "models": [OURS, TREE, "scikit-learn HistGradientBoosting"]}
    one, other = compare(frame, y, **some), compare(pl.from_pandas(frame), y, **some)
    assert scores(one) == scores(other)
    assert one.data == other.data


def test_a_category_or_class_that_a_fold_lacks_is_no_obstacle(mixed_frame):
    frame, y = mixed_frame
    frame = frame.assign(colour=frame["colour"].cat.add_categories(["grey"]))
    frame.loc[5, "colour"] = "grey"
    y = y.astype(object)
    y[5] = "odd"
    comparison = compare(frame, y, cv=2)
    assert any("the class 'odd' has 1 row" in text for text in comparison.warnings)
    assert {result.name for result in comparison.results if result.error} <= NO_GAPS


def test_an_array_with_missing_values_needs_no_preparation(iris):
    X, y = iris
    X = X.copy()
    X[::5, 2] = np.nan
    comparison = compare(X, y, cv=3, models=[OURS, TREE, "scikit-learn RandomForest"])
    assert all(score > 0.8 for score in scores(comparison).values())


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([0.0, 1.0] * 30, "classification"),
        ([0.5, 1.0] * 30, "regression"),
        (list(range(60)), "regression"),
    ],
)
def test_task_follows_from_the_target(y, task):
    X = np.arange(60.0).reshape(-1, 1)
    assert compare(X, y, cv=2, models=[TREE]).task == task


def test_task_can_be_given():
    X, y = load_diabetes(return_X_y=True)
    assert compare(X, y, models=[TREE], cv=2).metric == "r2"
    halves = (y > 100).astype(int)
    assert compare(X, halves, task="regression", models=[TREE], cv=2).metric == "r2"


def test_table_is_a_data_frame_with_pandas_and_rows_without(of_iris, monkeypatch):
    assert list(of_iris.table["model"]) == [row["model"] for row in of_iris.rows]
    assert "<table" in of_iris._repr_html_()

    real_import = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    assert of_iris.table == of_iris.rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": 1}, "'cv' must be an int of at least 2, got 1."),
        ({"cv": 2.5}, "'cv' must be an int of at least 2, got 2.5."),
        ({"task": "ranking"}, "'task' must be 'classification', 'regression' or None"),
        ({"models": ["no such tree"]}, "got \\['no such tree'\\]"),
        ({"models": []}, "'models' must be some of"),
        ({"budget": "soon"}, "'budget' must be one of small, balanced, thorough or a time"),
        ({"max_splits": 0}, "'max_splits' must be a positive int or None, got 0."),
    ],
)
def test_wrong_arguments_are_named(iris, arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(*iris, **arguments)
