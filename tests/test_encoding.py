"""Any table becomes the same matrix, however it comes and however few rows it has."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from hedgerow import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor

N_ROWS = 200
KINDS = ["oak", "ash", "elm", "yew"]


def table(seed=0, kinds=KINDS):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=N_ROWS),
            "year": rng.integers(1900, 2000, N_ROWS),
            "rings": rng.integers(0, 90, N_ROWS).astype(np.uint8),
            "kind": rng.choice(kinds, N_ROWS),
            "wet": rng.random(N_ROWS) < 0.5,
            "share": rng.random(N_ROWS).astype(np.float32),
        }
    )
    frame.loc[::7, "height"] = np.nan
    frame.loc[::11, "kind"] = None
    return frame


FORMS = {
    "text": lambda frame: frame,
    "object": lambda frame: frame.astype({"kind": object}),
    "category": lambda frame: frame.astype({"kind": "category"}),
    "other order": lambda frame: frame.astype(
        {"kind": pd.CategoricalDtype(["nut", *KINDS[::-1], "fir"])}
    ),
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars category": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("kind").cast(pl.Categorical)
    ),
    "polars enum": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("kind").cast(pl.Enum([*KINDS[::-1], "fir", "hazel"]))
    ),
}


@pytest.fixture(scope="module")
def model():
    frame = table()
    return DecisionTreeClassifier().fit(frame, frame["kind"].isin(["oak", "elm"]) ^ frame["wet"])


def expected(model, frame):
    """The matrix, made value by value."""
    place = {name: code for code, name in enumerate(sorted(KINDS))}
    columns = [frame[name].astype(float) for name in ("height", "year", "rings")]
    columns.append(frame["kind"].map(lambda kind: place.get(kind, np.nan)))
    columns += [frame["wet"].astype(float), frame["share"].astype(float)]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_frame_has_the_same_matrix(model, form):
    frame = table(1, [*KINDS, "fir", "hazel"])  # two that were not there in training
    if form == "other order":
        frame["kind"] = frame["kind"].where(frame["kind"] != "hazel")
    matrix = model.schema_.encode(model, FORMS[form](frame))
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert_array_equal(matrix, expected(model, frame))


@pytest.mark.parametrize("form", FORMS)
def test_a_row_alone_has_the_matrix_that_it_has_among_others(model, form):
    frame = FORMS[form](table(2, [*KINDS, "fir"]))
    whole = model.schema_.encode(model, frame)
    for row in range(25):
        one = frame.iloc[row : row + 1] if hasattr(frame, "iloc") else frame[row : row + 1]
        alone = model.schema_.encode(model, one)
        assert alone.dtype == whole.dtype
        assert_array_equal(alone, whole[row : row + 1])


@pytest.mark.parametrize("n_rows", [1, N_ROWS])
def test_infinity_is_refused_with_the_name_of_its_column(model, n_rows):
    frame = table().iloc[:n_rows].copy()
    frame.loc[0, "height"] = -np.inf
    with pytest.raises(ValueError, match="infinity in column 'height'"):
        model.predict(frame)


@pytest.mark.parametrize("n_rows", [1, N_ROWS])
@pytest.mark.parametrize(
    ("kinds", "dtype"),
    [
        (["int8", "float32"], np.float32),
        (["uint16"], np.float32),
        (["int32", "float32"], np.float64),
        (["int64"], np.float64),
        (["uint64", "bool"], np.float64),
        (["float64"], np.float64),
    ],
)
def test_numbers_are_as_wide_as_they_must_be(kinds, dtype, n_rows):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({kind: rng.integers(0, 2, N_ROWS).astype(kind) for kind in kinds})
    model = DecisionTreeClassifier(categorical_features=None).fit(frame, rng.random(N_ROWS) < 0.5)
    matrix = model.schema_.encode(model, frame.iloc[:n_rows])
    assert matrix.dtype == dtype
    assert_array_equal(matrix, frame.iloc[:n_rows].to_numpy(dtype=float))


def test_dates_and_text_are_no_numbers_in_few_rows_either():
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)})
    model = DecisionTreeClassifier().fit(frame, frame["a"] > 10)
    for wrong in (pd.to_datetime(["2020-01-01"]), ["tall"]):
        with pytest.raises(ValueError, match="Column 'b' .* cannot be read as numbers"):
            model.predict(pd.DataFrame({"a": [1.0], "b": wrong}))


def test_columns_in_another_order_are_refused_as_scikit_learn_refuses_them(model):
    frame = table()
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]].iloc[:1])


class Labelled(np.ndarray):
    """An array that is more than one."""


@pytest.mark.parametrize("Model", [DecisionTreeClassifier, RandomForestClassifier])
def test_arrays_of_any_kind_predict_alike(Model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (300, 5)).astype(float)
    model = Model(random_state=0).fit(X, X[:, 0] + X[:, 1] > 50)
    forms = [
        X.astype(np.float32), X.astype(np.int32), np.asfortranarray(X), X[::-1][::-1],
        X.astype(">f8"), X.astype(np.float16), X.view(Labelled), X.tolist(),
    ]  # fmt: skip
    for form in forms:
        assert_array_equal(model.predict_proba(form), model.predict_proba(X))
    for n_rows in (1, 2, 17):
        assert_array_equal(model.predict(X[:n_rows]), model.predict(X)[:n_rows])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Model", [DecisionTreeClassifier, RandomForestRegressor])
def test_arrays_are_checked_however_plain_they_are(Model, dtype):
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(dtype)
    model = Model(random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(X[:, :3].copy())
    with pytest.raises(ValueError, match="2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    for n_rows in (1, 300):
        bad = X[:n_rows].copy()
        bad[-1, 2] = np.inf
        for method in (model.predict, model.apply):
            with pytest.raises(ValueError, match="infinity"):
                method(bad)
    named = Model(random_state=0).fit(pd.DataFrame(X, columns=list("abcd")), X[:, 0] > 0)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X)
