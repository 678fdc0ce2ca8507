"""Frames, categories and missing values go into a tree as they are."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import hedgerow
from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

COLOURS = ["red", "green", "blue", "grey"]


def columns(n_rows=120, seed=0):
    """Two numeric columns, a text and a boolean one; the target hangs on size and colour."""
    rng = np.random.default_rng(seed)
    table = {
        "size": rng.normal(size=n_rows),
        "age": rng.integers(0, 90, size=n_rows),
        "colour": rng.choice(COLOURS, size=n_rows).tolist(),
        "wild": rng.random(n_rows) < 0.5,
    }
    y = np.isin(table["colour"], ["red", "blue"]) ^ (table["size"] > 0) & table["wild"]
    return table, y.astype(int)


def pandas_text(table):
    return pd.DataFrame(table)


def pandas_object(table):
    return pd.DataFrame(table).astype({"colour": object})


def pandas_category(table):
    return pd.DataFrame(table).astype({"colour": "category", "wild": "category"})


def pandas_nullable(table):
    return pd.DataFrame(table).convert_dtypes()


def pandas_arrow(table):
    return pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow")


def polars_text(table):
    return pl.DataFrame(table)


def polars_category(table):
    return pl.DataFrame(table).with_columns(pl.col("colour").cast(pl.Categorical))


def polars_enum(table):
    return pl.DataFrame(table).with_columns(pl.col("colour").cast(pl.Enum(COLOURS)))


FRAMES = [
    pandas_text,
    pandas_object,
    pandas_category,
    pandas_nullable,
    pandas_arrow,
    polars_text,
    polars_category,
    polars_enum,
]
frames = pytest.mark.parametrize("frame", FRAMES, ids=lambda f: f.__name__)


@frames
def test_text_category_and_boolean_columns_become_categories(frame):
    table, y = columns()
    tree = DecisionTreeClassifier().fit(frame(table), y)
    assert set(tree.schema_.categories) == {2, 3}
    assert set(tree.schema_.categories[2]) == set(COLOURS)
    assert {bool(v) for v in tree.schema_.categories[3]} == {False, True}
    assert tree.schema_.feature_names == list(table)
    assert_array_equal(tree.feature_names_in_, list(table))
    assert_array_equal(tree.predict(frame(table)), y)


@frames
def test_every_frame_gives_the_same_tree(frame):
    table, y = columns(seed=1)
    reference = DecisionTreeClassifier(max_depth=3).fit(pandas_text(table), y)
    tree = DecisionTreeClassifier(max_depth=3).fit(frame(table), y)
    wanted = reference.predict_proba(pandas_text(table))
    assert_allclose(tree.predict_proba(frame(table)), wanted, atol=1e-12)


@frames
def test_one_split_separates_sets_of_categories(frame):
    table, _ = columns()
    y = np.isin(table["colour"], ["red", "blue"])
    tree = DecisionTreeClassifier().fit(frame(table), y)
    graph = tree.graph_
    assert graph.n_nodes == 3 and graph.kind[0] == 2 and graph.feature[0] == 2
    left = {tree.schema_.categories[2][code] for code in graph.categories_left(0)}
    assert left in ({"red", "blue"}, {"green", "grey"})


@frames
def test_frame_can_be_sliced_after_fitting(frame):
    table, y = columns()
    tree = DecisionTreeClassifier().fit(frame(table), y)
    few = frame({name: list(column[:7]) for name, column in table.items()})
    assert_array_equal(tree.predict(few), y[:7])


def with_holes(table):
    """The same columns with None in every tenth place."""
    return {
        name: [None if k % 10 == 3 else value for k, value in enumerate(list(column))]
        for name, column in table.items()
    }


@frames
def test_missing_entries_of_any_kind_are_missing(frame):
    table, y = columns()
    holes = with_holes(table)
    y[3::10] = 2  # missingness alone tells this class
    tree = DecisionTreeClassifier().fit(frame(holes), y)
    assert_array_equal(tree.predict(frame(holes)), y)
    assert None not in tree.schema_.categories[2]
    assert len(tree.schema_.categories[2]) == 4


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_missing_marks_in_an_object_column(missing):
    colour = pd.Series(["red", missing, "blue", "red", missing, "blue"], dtype=object)
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"colour": colour}), [0, 1, 0, 0, 1, 0])
    assert set(tree.schema_.categories[0]) == {"red", "blue"}
    assert_array_equal(tree.predict(pd.DataFrame({"colour": colour})), [0, 1, 0, 0, 1, 0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("seed", range(4))
def test_unseen_category_goes_the_way_of_missing(frame, seed):
    table, y = columns(seed=seed)
    table["colour"] = [None if k % 6 == 0 else c for k, c in enumerate(table["colour"])]
    tree = DecisionTreeClassifier().fit(frame(table), y)
    unseen = frame(table | {"colour": ["mauve"] * y.size})
    missing = frame(table | {"colour": [None] * y.size})
    if frame is pl.DataFrame:
        missing = missing.with_columns(pl.col("colour").cast(pl.String))
    assert_array_equal(tree.apply(unseen), tree.apply(missing))


def test_unseen_category_does_not_depend_on_the_categories_of_the_dtype():
    x = pd.Series(pd.Categorical(["a", "b", "a", "b"], categories=["z", "b", "a"]))
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"x": x}), [0, 1, 0, 1])
    other = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["a", "b", "c"])})
    assert_array_equal(tree.predict(other), [1, 0])


def test_category_values_are_compared_not_their_codes():
    train = pd.DataFrame({"x": pd.Categorical([10, 20, 10, 20], categories=[20, 10])})
    tree = DecisionTreeClassifier().fit(train, [0, 1, 0, 1])
    new = pd.DataFrame({"x": pd.Categorical([20, 10])})
    assert_array_equal(tree.predict(new), [1, 0])


# Names of columns.


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_must_be_those_of_fit(frame):
    table, y = columns()
    tree = DecisionTreeClassifier().fit(frame(table), y)
    reordered = frame({name: table[name] for name in reversed(table)})
    renamed = frame({name.upper(): column for name, column in table.items()})
    fewer = frame({name: table[name] for name in list(table)[:3]})
    for wrong in (reordered, renamed, fewer):
        with pytest.raises(ValueError, match="feature"):
            tree.predict(wrong)


def test_number_of_columns_must_be_that_of_fit():
    tree = DecisionTreeClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="3 features"):
        tree.predict(np.zeros((1, 3)))


def test_array_after_a_frame_warns_like_scikit_learn():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]})
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1])
    with pytest.warns(UserWarning, match="valid feature names"):
        assert_array_equal(tree.predict(X.to_numpy()), [0, 1, 1])


def test_numeric_frame_equals_array():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X[:, 0] > X[:, 1]
    array = DecisionTreeClassifier().fit(X, y)
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        tree = DecisionTreeClassifier().fit(frame, y)
        assert_array_equal(tree.apply(frame), array.apply(X))
        assert_array_equal(tree.graph_.threshold, array.graph_.threshold)


def test_target_may_be_a_series():
    table, y = columns()
    names = np.array(["no", "yes"])[y]
    X = pandas_text(table)
    for target in (pd.Series(names), pd.Series(names, dtype="category"), pl.Series(names)):
        assert_array_equal(DecisionTreeClassifier().fit(X, target).predict(X), names)


@pytest.mark.parametrize("kind", ["pandas", "pandas with zone", "polars", "polars date"])
def test_dates_are_years_as_on_the_command_line(kind, tmp_path):
    days = [datetime.datetime(2020, 1, 1), datetime.datetime(2023, 7, 2), None]
    if kind.startswith("pandas"):
        frame = pd.DataFrame({"day": pd.to_datetime(days)})
        if "zone" in kind:
            frame["day"] = frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    else:
        frame = pl.DataFrame({"day": days})
        if "date" in kind:
            frame = frame.with_columns(pl.col("day").cast(pl.Date))
    model = DecisionTreeRegressor().fit(frame, [0.0, 1.0, 2.0])
    assert_array_equal(model.schema_.encode(model, frame), [[2020], [2023 + 182 / 365], [np.nan]])
    assert_array_equal(model.predict(frame), [0, 1, 2])

    hedgerow.save(model, tmp_path / "model.hedgerow")
    kept = hedgerow.load(tmp_path / "model.hedgerow")
    assert kept.schema_ == model.schema_
    assert_array_equal(kept.predict(frame), [0, 1, 2])
    assert_array_equal(kept.predict(pd.DataFrame({"day": [2020.0, 2024.0]})), [0, 1])


# Missing values.


@pytest.mark.parametrize("side", [0, 1])
def test_direction_of_missing_values_is_learned(side):
    x = np.concatenate([np.arange(20.0), np.full(10, np.nan)])[:, None]
    y = np.concatenate([np.arange(20) >= 10, np.full(10, side)]).astype(int)
    tree = DecisionTreeClassifier().fit(x, y)
    assert tree.graph_.n_nodes == 3
    assert tree.graph_.threshold[0] == 9.5
    assert bool(tree.graph_.missing_left[0]) == (side == 0)
    assert_array_equal(tree.predict([[3.0], [15.0], [np.nan]]), [0, 1, side])


def test_missing_against_the_rest_is_one_split():
    x = np.where(np.arange(30) % 3 == 0, np.nan, np.arange(30.0))[:, None]
    y = np.isnan(x[:, 0])
    for tree in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        tree.fit(x, y.astype(float))
        assert tree.graph_.n_nodes == 3
        assert_allclose(tree.predict([[np.nan], [-1e308], [4.0], [1e308]]), [1, 0, 0, 0])


@pytest.mark.parametrize("flip", [1, -1])
def test_missing_only_in_prediction_goes_to_the_heavier_child(flip):
    x = flip * np.arange(10.0)[:, None]
    y = (np.arange(10) >= 3).astype(int)
    tree = DecisionTreeClassifier().fit(x, y)
    assert tree.predict([[np.nan]])[0] == 1
    heavy = np.where(y == 0, 10.0, 1.0)
    assert DecisionTreeClassifier().fit(x, y, sample_weight=heavy).predict([[np.nan]])[0] == 0


def test_unseen_category_where_nothing_was_missing_goes_to_the_heavier_child():
    X = pd.DataFrame({"x": ["a"] * 3 + ["b"] * 7})
    tree = DecisionTreeClassifier().fit(X, [0] * 3 + [1] * 7)
    assert_array_equal(tree.predict(pd.DataFrame({"x": ["c", None, "a"]})), [1, 1, 0])


def test_column_of_missing_values_only_is_never_split():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    tree = DecisionTreeRegressor().fit(X, np.arange(6.0))
    assert set(tree.graph_.feature) == {-2, 1}
    assert DecisionTreeRegressor().fit(X[:, :1], np.arange(6.0)).get_n_leaves() == 1


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeClassifier().fit([[0.0], [np.inf]], [0, 1])


# categorical_features.


def numbered(seed=0):
    """Category numbers whose order says nothing about the target."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=90), rng.integers(0, 6, size=90)])
    return X, np.isin(X[:, 1], [0, 2, 5]).astype(int)


@pytest.mark.parametrize(
    "choice",
    [[1], np.array([1]), (1,), [False, True], np.array([False, True])],
    ids=["list", "array", "tuple", "mask", "array mask"],
)
def test_categories_of_an_array_by_index_or_mask(choice):
    X, y = numbered()
    tree = DecisionTreeClassifier(categorical_features=choice).fit(X, y)
    assert set(tree.schema_.categories) == {1}
    assert tree.graph_.n_nodes == 3 and tree.graph_.kind[0] == 2
    assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("choice", [["kind"], [1], [False, True]], ids=str)
def test_categories_of_a_frame_by_name_index_or_mask(frame, choice):
    X, y = numbered()
    X = frame({"size": X[:, 0], "kind": X[:, 1].astype(int)})
    tree = DecisionTreeClassifier(categorical_features=choice).fit(X, y)
    assert set(tree.schema_.categories) == {1}
    assert tree.graph_.n_nodes == 3
    assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("choice", ["auto", None, []], ids=str)
def test_numbers_are_numbers_unless_told_otherwise(choice):
    X, y = numbered()
    for table in (X, pd.DataFrame(X, columns=["size", "kind"])):
        tree = DecisionTreeClassifier(categorical_features=choice).fit(table, y)
        assert tree.schema_.categories == {}
        assert set(tree.graph_.kind) == {0, 1}


def test_none_takes_booleans_as_numbers_and_refuses_text():
    table, y = columns()
    X = pandas_text(table)
    tree = DecisionTreeClassifier(categorical_features=None).fit(X[["size", "wild"]], y)
    assert tree.schema_.categories == {}
    with pytest.raises(ValueError, match="colour"):
        DecisionTreeClassifier(categorical_features=None).fit(X, y)


@pytest.mark.parametrize(
    "choice", [["absent"], [7], [True], "colour", [1.5], 3], ids=lambda c: repr(c)
)
def test_wrong_categorical_features_are_refused(choice):
    table, y = columns()
    with pytest.raises((ValueError, TypeError), match="'categorical_features'"):
        DecisionTreeClassifier(categorical_features=choice).fit(pandas_text(table), y)


def test_names_need_a_frame():
    X, y = numbered()
    with pytest.raises(ValueError, match="'categorical_features'"):
        DecisionTreeClassifier(categorical_features=["kind"]).fit(X, y)


@pytest.mark.parametrize("n_categories", [40, 400, 3000])
def test_many_categories(n_categories):
    rng = np.random.default_rng(0)
    x = rng.permutation(np.repeat(np.arange(n_categories), 3))
    effect = rng.normal(size=n_categories)
    X = pd.DataFrame({"x": [f"c{k}" for k in x]})
    tree = DecisionTreeRegressor(max_depth=1).fit(X, effect[x])
    cut = np.sort(effect)
    best = max(
        k * cut[:k].mean() ** 2 + (n_categories - k) * cut[k:].mean() ** 2
        for k in range(1, n_categories)
    )
    gain = tree.score(X, effect[x]) * np.sum((cut - cut.mean()) ** 2)
    assert_allclose(gain, best - n_categories * cut.mean() ** 2, rtol=1e-9)
    assert DecisionTreeRegressor().fit(X, effect[x]).score(X, effect[x]) == pytest.approx(1.0)


def test_many_categories_and_classes_are_split_well():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, size=900)
    y = np.where(rng.random(900) < 0.9, x % 3, rng.integers(0, 3, size=900))
    X = pd.DataFrame({"x": pd.Categorical(x)})
    tree = DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)
    assert tree.score(X, y) > 0.85
