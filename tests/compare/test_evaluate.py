import builtins

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from hedgerow.compare import MODELS, compare
from hedgerow.compare.evaluate import count_splits, prepare

TREE = "scikit-learn DecisionTree"


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def mixed_frame():
    """Numbers and categories, both with missing values; the category decides the class."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 90)
    y = np.where(colour == "red", "warm", "cold")
    size = rng.normal(size=90)
    size[::7] = np.nan
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    frame.loc[::11, "colour"] = None
    return frame, y


def test_every_model_appears_once_best_first(iris):
    result = compare(*iris, folds=3)
    assert sorted(row["model"] for row in result.rows) == sorted(MODELS)
    scores = [row["score"] for row in result.rows]
    assert scores == sorted(scores, reverse=True)
    assert (result.n_samples, result.n_features, result.folds) == (150, 4, 3)


def test_every_model_does_both_tasks():
    assert all(
        set(model.factories) == {"classification", "regression"} for model in MODELS.values()
    )


def test_scores_are_those_of_scikit_learns_cross_validation(iris):
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    expected = cross_val_score(DecisionTreeClassifier(random_state=3), *iris, cv=folds)
    (row,) = compare(*iris, folds=4, seed=3, models=[TREE]).rows
    assert row["score"] == pytest.approx(expected.mean())
    assert row["score_std"] == pytest.approx(expected.std())


def test_same_seed_gives_the_same_scores_and_sizes(iris):
    def stable(result):
        return [(row["model"], row["score"], row["n_splits"]) for row in result.rows]

    assert stable(compare(*iris, folds=2, seed=5)) == stable(compare(*iris, folds=2, seed=5))


def test_times_are_positive(iris):
    for row in compare(*iris, folds=2).rows:
        assert row["fit_ms"] > 0
        assert row["predict_us"] > 0


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_all_models_read_categories_and_missing_values(mixed_frame, convert):
    frame, y = mixed_frame
    result = compare(convert(frame), y, folds=3)
    assert len(result.rows) == len(MODELS)
    assert all(row["score"] > 0.8 for row in result.rows)


def test_an_array_with_missing_values_needs_no_preparation(iris):
    X, y = iris
    X = X.copy()
    X[::5, 2] = np.nan
    assert all(row["score"] > 0.8 for row in compare(X, y, folds=3).rows)


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
    assert compare(X, y, folds=2, models=[TREE]).task == task


def test_task_can_be_given():
    X, y = load_diabetes(return_X_y=True)
    result = compare(X, y, models=[TREE], folds=2)
    assert (result.task, result.metric) == ("regression", "r2")
    halves = (y > 100).astype(int)
    assert compare(X, halves, task="regression", models=[TREE], folds=2).metric == "r2"


def test_table_is_a_data_frame_with_pandas_and_rows_without(iris, monkeypatch):
    result = compare(*iris, folds=2, models=[TREE])
    assert result.table.to_dict("records") == result.rows

    real_import = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    assert result.table is result.rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, "'folds' must be an int of at least 2, got 1."),
        ({"folds": 2.5}, "'folds' must be an int of at least 2, got 2.5."),
        ({"task": "ranking"}, "'task' must be 'classification', 'regression' or None"),
        ({"models": ["no such tree"]}, "got \\['no such tree'\\]"),
        ({"models": []}, "'models' must be some of"),
    ],
)
def test_wrong_arguments_are_named(iris, arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(*iris, **arguments)


def test_splits_are_the_inner_nodes_of_all_trees():
    X, y = load_diabetes(return_X_y=True)
    forest = prepare(X, RandomForestRegressor(n_estimators=3, max_depth=2, random_state=0)).fit(
        X, y
    )
    inner = [np.sum(tree.tree_.feature >= 0) for tree in forest[-1].estimators_]
    assert count_splits(forest) == sum(inner)
