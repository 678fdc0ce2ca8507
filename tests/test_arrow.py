"""Tables of any library that speaks Arrow are read, and are the same table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from small_models import table

import hedgerow
from hedgerow import BaggingClassifier, DecisionTreeClassifier

FRAME = table().rename(columns=str)
CLASSES = (table()["age"] > 40).to_numpy()


def arrow():
    return pa.Table.from_pandas(FRAME, preserve_index=False)


def duckdb_relation():
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(arrow())


FORMS = {
    "nullable": lambda: FRAME.convert_dtypes(),
    "pyarrow dtypes": lambda: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.from_pandas(FRAME),
    "polars, lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "a table of pyarrow": arrow,
    "a batch of pyarrow": lambda: arrow().to_batches()[0],
    "a relation of DuckDB": duckdb_relation,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_the_same_in_any_form(form):
    X = FORMS[form]()
    expected = DecisionTreeClassifier().fit(FRAME, CLASSES)
    model = DecisionTreeClassifier().fit(X, CLASSES)
    np.testing.assert_equal(model.predict_proba(X), expected.predict_proba(FRAME))
    np.testing.assert_equal(model.predict_proba(FRAME), expected.predict_proba(FRAME))
    np.testing.assert_equal(expected.predict_proba(X), expected.predict_proba(FRAME))
    assert list(model.feature_names_in_) == list(FRAME.columns)
    assert set(model.schema_.categories) == {2, 3}


def test_arrow_is_read_by_pandas_where_polars_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    model = DecisionTreeClassifier().fit(arrow(), CLASSES)
    expected = DecisionTreeClassifier().fit(FRAME, CLASSES)
    np.testing.assert_equal(model.predict_proba(arrow()), expected.predict_proba(FRAME))


def test_arrow_without_a_library_to_read_it_says_what_to_install(monkeypatch):
    X = arrow()
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install polars"):
        DecisionTreeClassifier().fit(X, CLASSES)


def test_ensembles_and_comparisons_take_them_too():
    X = arrow()
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, CLASSES)
    expected = BaggingClassifier(n_estimators=3, random_state=0).fit(FRAME, CLASSES)
    np.testing.assert_equal(bag.predict(X), expected.predict(FRAME))
    models = ["hedgerow DecisionTree"]
    compared = hedgerow.compare(X, CLASSES, models=models, cv=3, progress=False)
    assert compared.best_result.name == models[0]
    small = hedgerow.fit_within(X, CLASSES, max_splits=2, models=models)
    assert small.n_splits_ <= 2


def test_xarray_is_refused_with_a_reason():
    xarray = pytest.importorskip("xarray")
    for X in (xarray.Dataset.from_dataframe(FRAME[["age"]]), xarray.DataArray(np.eye(3))):
        with pytest.raises(TypeError, match="do not say what a row is: give a table"):
            DecisionTreeClassifier().fit(X, CLASSES)


class Tensor:
    """An array of another library: it can be handed over, and looked at by NumPy."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)

    def __dlpack__(self):
        return self.values.__dlpack__()


def test_arrays_of_other_libraries_become_numpys():
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) % 2
    model = DecisionTreeClassifier().fit(Tensor(X), y)
    np.testing.assert_equal(model.predict(Tensor(X)), y)


@pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array])
def test_targets_may_be_a_column_of_any_library(series):
    X = FRAME[["age"]]
    model = DecisionTreeClassifier().fit(X, series(CLASSES.astype(int)))
    assert model.score(X, CLASSES.astype(int)) == 1
