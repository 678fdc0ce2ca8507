"""A model fitted on a cluster is the model of the concatenated table, on any number of workers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
import dask.array as da  # noqa: E402
from sklearn.base import clone  # noqa: E402

import hedgerow  # noqa: E402
from hedgerow import Dataset  # noqa: E402
from hedgerow import dask as on_dask  # noqa: E402

N = 1500
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N),
        "single": RNG.normal(size=N).astype(np.float32),
        "whole": RNG.integers(-5, 400, N),
        "colour": RNG.choice(["red", "green", "blue", "grey"], N),
        "kind": pd.Categorical(RNG.choice(list("xyz"), N), categories=list("zyxw")),
        "flag": RNG.random(N) < 0.3,
    }
)
FRAME.loc[::7, "number"] = np.nan
FRAME.loc[::11, "colour"] = None
SIGNAL = (
    FRAME["number"].fillna(1).to_numpy() + FRAME["whole"] / 100 + (FRAME["colour"] == "red")
).to_numpy()
CLASSES = np.where(SIGNAL > 2.5, "high", np.where(SIGNAL > 1, "middle", "low")).astype(object)
NUMBERS = SIGNAL + RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 3, N) * 1.0
CUTS = [0, 1, 1, 2, 500, 777, N]  # partitions of one row, and an empty one


def cut(column, cuts=CUTS):
    """A Dask series or frame of the given rows, some of them in partitions of their own."""
    if isinstance(column, np.ndarray):
        column = pd.Series(column)
    taken = dask.delayed(lambda begin, end: column.iloc[begin:end])
    parts = [taken(begin, end) for begin, end in pairwise(cuts)]
    return dd.from_delayed(parts, meta=column.iloc[:0], verify_meta=False)


def same(one, other, X=FRAME):
    """Whether two fitted models are the same in every fitted attribute that a file keeps."""
    for name, value in vars(one).items():
        if name.startswith("_") or name in ("n_jobs", "callback"):
            continue
        theirs = getattr(other, name)
        if hasattr(value, "__getstate__") and type(value).__module__.startswith("hedgerow._engine"):
            mine, theirs = value.__getstate__(), theirs.__getstate__()
            assert mine.keys() == theirs.keys()
            for key in mine:
                np.testing.assert_array_equal(mine[key], theirs[key], err_msg=f"{name}.{key}")
    method = "predict" if hasattr(one, "predict") else "transform"
    np.testing.assert_array_equal(getattr(one, method)(X), getattr(other, method)(X))


def named(kind, **parameters):
    """Estimators of a kind: for classes and for numbers."""
    return [
        (f"{kind}Classifier", parameters, CLASSES),
        (f"{kind}Regressor", parameters, NUMBERS),
    ]


MODELS = [
    *named("DecisionTree"),
    *named("RandomForest", n_estimators=5, random_state=1),
    *named("ExtraTrees", n_estimators=5, random_state=1),
    *named("TreeInTree", max_splits=15),
    *named("MeanMarginTree"),
    *named("TreeEmbedding", random_state=1),
    *named("HeterogeneousForest", n_estimators=4, random_state=1),
    *named("CascadeForest", n_forests=2, n_trees=4, max_layers=2, random_state=1),
    *named("GradientBoosting", max_iter=4),
    *named("TreeSum", max_splits=15),
    ("LeafMeansEmbedding", {"random_state": 1}, CLASSES),
]


@pytest.mark.parametrize(("name", "parameters", "y"), MODELS, ids=[m[0] for m in MODELS])
def test_a_model_of_partitions_is_the_model_of_the_table(name, parameters, y, clients):
    model = getattr(on_dask, name)(**parameters)
    model.fit(cut(FRAME), cut(y), cut(WEIGHTS), client=clients(2))
    local = getattr(hedgerow, name)(**parameters).fit(FRAME, y, WEIGHTS)
    same(local, model)
    same(local, model.to_local())


@pytest.mark.parametrize("n_workers", [1, 2, 4])
@pytest.mark.parametrize("kind", ["DecisionTree", "RandomForest"])
@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_any_number_of_workers_and_partitions_gives_the_same_model(n_workers, kind, y, clients):
    kind += "Classifier" if y is CLASSES else "Regressor"
    parameters = {"random_state": 3} | ({"n_estimators": 6} if "Forest" in kind else {})
    cuts = np.linspace(0, N, 3 + 2 * n_workers).astype(int).tolist()
    model = getattr(on_dask, kind)(**parameters)
    model.fit(cut(FRAME, cuts), cut(y, cuts), client=clients(n_workers))
    same(getattr(hedgerow, kind)(**parameters).fit(FRAME, y), model)


def test_bins_of_many_values_are_those_of_batches(clients):
    X, y = RNG.normal(size=(150_000, 2)), RNG.integers(0, 3, 150_000)
    parts = [(X[i : i + 40_000], y[i : i + 40_000]) for i in range(0, len(X), 40_000)]
    local = hedgerow.DecisionTreeClassifier(max_depth=6).fit(Dataset.from_batches(parts))
    model = on_dask.DecisionTreeClassifier(max_depth=6)
    model.fit(
        da.from_array(X, chunks=(30_000, 1)), da.from_array(y, chunks=20_000), client=clients(2)
    )
    same(local, model, X[:100])


def test_categories_and_classes_may_occur_in_one_partition_only(clients):
    first = pd.DataFrame({"town": pd.Categorical(["Bonn", "Kiel"] * 20), "size": range(40)})
    second = pd.DataFrame({"town": pd.Categorical(["Trier", "Ulm"] * 20), "size": range(40)})
    whole = pd.concat([first, second], ignore_index=True)
    y = np.array(["no"] * 40 + ["yes", "perhaps"] * 20, dtype=object)
    X = dd.from_delayed(
        [dask.delayed(first), dask.delayed(second)], meta=first.iloc[:0], verify_meta=False
    )
    model = on_dask.DecisionTreeClassifier().fit(X, cut(y, [0, 40, 80]), client=clients(2))
    same(hedgerow.DecisionTreeClassifier().fit(whole, y), model, whole)
    assert model.schema_.categories == {0: ["Bonn", "Kiel", "Trier", "Ulm"]}


def test_predictions_are_lazy_and_those_of_the_table(clients):
    model = on_dask.RandomForestClassifier(3, random_state=0)
    model.fit(cut(FRAME), cut(CLASSES), client=clients(2))
    for method in ("predict", "predict_proba"):
        lazy = getattr(model, method)(cut(FRAME))
        assert dask.is_dask_collection(lazy)
        here = getattr(model, method)(FRAME)
        np.testing.assert_array_equal(lazy.compute(scheduler="sync"), here)
    X = RNG.normal(size=(300, 3))
    embedding = on_dask.LeafMeansEmbedding(random_state=0)
    lazy_X = da.from_array(X, chunks=100)
    embedding.fit(lazy_X, da.from_array(np.arange(300) // 100, chunks=100), client=clients(2))
    lazy = embedding.transform(lazy_X)
    assert lazy.shape == (300, len(embedding.get_feature_names_out()))
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), embedding.transform(X))


def test_ordinary_tables_are_fitted_here():
    model = clone(on_dask.DecisionTreeClassifier(max_depth=3)).fit(FRAME, CLASSES)
    same(hedgerow.DecisionTreeClassifier(max_depth=3).fit(FRAME, CLASSES), model)


def test_a_file_of_the_model_is_the_ordinary_ones(clients, tmp_path):
    model = on_dask.DecisionTreeClassifier(max_depth=3)
    model.fit(cut(FRAME), cut(CLASSES), client=clients(2))
    hedgerow.save(model.to_local(), tmp_path / "tree.hedgerow")
    loaded = hedgerow.load(tmp_path / "tree.hedgerow")
    assert type(loaded) is hedgerow.DecisionTreeClassifier
    same(loaded, model)


def test_the_callback_hears_of_trees(clients):
    heard = []
    model = on_dask.RandomForestRegressor(
        8, random_state=0, callback=lambda *done: heard.append(done)
    )
    model.fit(cut(FRAME), cut(NUMBERS), client=clients(2))
    assert heard[-1] == (8, 8)
    assert len(heard) > 1
