"""A table that is read in batches grows the models of the table read whole."""

import subprocess
import sys
import textwrap
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow
from hedgerow import Dataset

N = 3000
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
CUTS = [0, 1, 1, 2, 500, 1777, N]  # a batch of one row, and an empty one


def batches(y, weights=None):
    for begin, end in pairwise(CUTS):
        part = (FRAME[begin:end], y[begin:end])
        yield part if weights is None else (*part, weights[begin:end])


def same(one, other):
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
    np.testing.assert_array_equal(one.predict(FRAME), other.predict(FRAME))


CLASSIFIERS = {
    "tree": hedgerow.DecisionTreeClassifier(),
    "forest": hedgerow.RandomForestClassifier(7, random_state=1),
    "extra trees": hedgerow.ExtraTreesClassifier(7, random_state=1),
    "graph": hedgerow.TreeInTreeClassifier(max_splits=20),
    "boosting": hedgerow.GradientBoostingClassifier(max_iter=5),
    "sum": hedgerow.TreeSumClassifier(max_splits=20),
}
REGRESSORS = {
    "tree": hedgerow.DecisionTreeRegressor(),
    "forest": hedgerow.RandomForestRegressor(40, random_state=1, oob_score=True),
    "extra trees": hedgerow.ExtraTreesRegressor(7, random_state=1),
    "graph": hedgerow.TreeInTreeRegressor(max_splits=20),
    "boosting": hedgerow.GradientBoostingRegressor(max_iter=5),
    "sum": hedgerow.TreeSumRegressor(max_splits=20),
}
MODELS = [(name, model, CLASSES) for name, model in CLASSIFIERS.items()]
MODELS += [(name, model, NUMBERS) for name, model in REGRESSORS.items()]
IDS = [f"{name} of {'classes' if y is CLASSES else 'numbers'}" for name, _, y in MODELS]


@pytest.mark.parametrize(("name", "model", "y"), MODELS, ids=IDS)
def test_a_model_of_batches_is_the_model_of_the_table(name, model, y):
    from sklearn.base import clone

    data = Dataset.from_batches(lambda: batches(y))
    assert data.rank_error == 0
    same(clone(model).fit(FRAME, y), clone(model).fit(data))


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_weights_come_with_the_batches(y):
    kind = hedgerow.DecisionTreeClassifier if y is CLASSES else hedgerow.DecisionTreeRegressor
    data = Dataset.from_batches(lambda: batches(y, WEIGHTS))
    same(kind().fit(FRAME, y, WEIGHTS), kind().fit(data))


def test_codes_and_bins_are_those_of_a_fit_in_memory():
    X = RNG.normal(size=(20_000, 3))
    X[:, 1] = np.round(X[:, 1], 1)
    X[::5, 2] = np.nan
    X[0, 1], X[1, 1] = -0.0, 0.0
    y = X[:, 0] > 0
    for kind in (np.float64, np.float32):
        table = X.astype(kind)
        parts = [(table[i : i + 999], y[i : i + 999]) for i in range(0, len(table), 999)]
        for max_bins in (255, 7, None):
            mine = Dataset.from_batches(parts, max_bins=max_bins).bins(max_bins, 1)
            whole = hedgerow._engine.Dataset(len(table))
            whole.append_matrix(table, max_bins or 0, 1)
            for f in range(3):
                np.testing.assert_array_equal(mine.codes(f), whole.codes(f))
                np.testing.assert_array_equal(mine.smallest(f), whole.smallest(f))
                np.testing.assert_array_equal(mine.largest(f), whole.largest(f))
                assert mine.has_missing(f) == whole.has_missing(f)


def test_whole_numbers_are_classes_and_numbers_alike():
    X, y = RNG.normal(size=(200, 2)), RNG.integers(0, 3, 200)
    data = Dataset.from_batches([(X[:50], y[:50]), (X[50:], y[50:])])
    tree = hedgerow.DecisionTreeClassifier().fit(data)
    assert tree.classes_.tolist() == [0, 1, 2]
    same_y = hedgerow.DecisionTreeRegressor().fit(data).predict(X)
    np.testing.assert_array_equal(same_y, hedgerow.DecisionTreeRegressor().fit(X, y).predict(X))


def table_of(y):
    return FRAME.assign(y=y, w=WEIGHTS)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb", "parquet", "folder"])
def test_every_kind_of_source_gives_the_same_tree(kind, tmp_path):
    frame = table_of(CLASSES)
    frame["kind"] = frame["kind"].astype(str)
    expected = hedgerow.DecisionTreeClassifier().fit(
        frame.drop(columns=["y", "w"]), CLASSES, WEIGHTS
    )
    names = {"target": "y", "weight": "w"}
    if kind == "pandas":
        data = Dataset.from_batches([frame[:1000], frame[1000:]], **names)
    elif kind == "polars":
        whole = pl.from_pandas(frame)
        data = Dataset.from_batches([whole[:1000], whole[1000:]], **names)
    elif kind == "arrow":
        data = Dataset.from_batches(pa.Table.from_pandas(frame), **names)
    elif kind == "duckdb":
        with duckdb.connect() as connection:
            connection.register("frame", frame)
            data = Dataset.from_batches(connection.sql("select * from frame"), **names)
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=700)
        data = Dataset.from_parquet(tmp_path / "t.parquet", batch_rows=333, **names)
    else:
        for part in range(3):
            frame[part * 1000 : part * 1000 + 1000].to_parquet(tmp_path / f"p{part}.parquet")
        data = Dataset.from_parquet(tmp_path / "p*.parquet", **names)
    tree = hedgerow.DecisionTreeClassifier().fit(data)
    frame = frame.drop(columns=["y", "w"])
    assert tree.schema_ == expected.schema_
    np.testing.assert_array_equal(tree.predict_proba(frame), expected.predict_proba(frame))


def test_csv_files_are_read_in_blocks(tmp_path):
    frame = table_of(NUMBERS).drop(columns=["kind", "single"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    seen = []
    data = Dataset.from_csv(
        tmp_path / "t.csv", target="y", weight="w", callback=lambda *done: seen.append(done)
    )
    size = (tmp_path / "t.csv").stat().st_size
    assert seen[-1] == (2 * N, 2 * size)
    X = pd.read_csv(tmp_path / "t.csv").drop(columns=["y", "w"])
    expected = hedgerow.DecisionTreeRegressor(max_depth=5).fit(X, NUMBERS, WEIGHTS)
    tree = hedgerow.DecisionTreeRegressor(max_depth=5).fit(data)
    np.testing.assert_array_equal(tree.predict(X), expected.predict(X))


def test_a_file_holds_all_there_is_and_is_mapped(tmp_path):
    path = tmp_path / "table.codes"
    made = Dataset.from_batches(lambda: batches(CLASSES, WEIGHTS), file=path)
    assert [file.name for file in tmp_path.iterdir()] == ["table.codes"]
    opened = Dataset.open(path)
    expected = hedgerow.DecisionTreeClassifier().fit(FRAME, CLASSES, WEIGHTS)
    same(expected, hedgerow.DecisionTreeClassifier().fit(made))
    same(expected, hedgerow.DecisionTreeClassifier().fit(opened))
    with pytest.raises(FileExistsError, match="open it with Dataset.open"):
        Dataset.from_batches(lambda: batches(CLASSES), file=path)


@pytest.mark.parametrize("in_file", [False, True])
def test_a_pickled_data_set_is_the_same(in_file, tmp_path):
    import pickle

    file = tmp_path / "t.codes" if in_file else None
    data = Dataset.from_batches(lambda: batches(CLASSES), file=file)
    again = pickle.loads(pickle.dumps(data))
    same(hedgerow.DecisionTreeClassifier().fit(data), hedgerow.DecisionTreeClassifier().fit(again))


def test_interrupted_binning_leaves_nothing_and_starts_clean(tmp_path):
    reads = []

    def broken():
        reads.append(1)
        for i, batch in enumerate(batches(CLASSES)):
            if len(reads) == 2 and i == 4:
                raise KeyboardInterrupt
            yield batch

    path = tmp_path / "t.codes"
    with pytest.raises(KeyboardInterrupt):
        Dataset.from_batches(broken, file=path)
    assert list(tmp_path.iterdir()) == []
    path.with_name("t.codes.partial").write_bytes(b"left by a process that was killed")
    data = Dataset.from_batches(lambda: batches(CLASSES), file=path)
    assert data.n_rows == N
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_refused(damage, tmp_path):
    path = tmp_path / "t.codes"
    Dataset.from_batches(lambda: batches(CLASSES), file=path)
    content = path.read_bytes()
    path.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "changed": content.replace(b"n_bins", b"n_bons"),
            "empty": b"",
            "other": b"x" * 500,
        }[damage]
    )
    with pytest.raises(ValueError, match="this is no complete file of codes"):
        Dataset.open(path)


def test_codes_beyond_the_bins_are_refused(tmp_path):
    path = tmp_path / "t.codes"
    X = np.zeros((100, 1))
    Dataset.from_batches([(X, np.arange(100) % 2)], file=path)
    content = bytearray(path.read_bytes())
    content[64 + 5] = 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match="has the code 200, and 1 bins"):
        Dataset.open(path)


def test_many_distinct_values_are_cut_within_the_stated_error_whatever_the_batches():
    n = 700_000
    values = RNG.lognormal(size=n)
    values[: n // 3] = 1.5  # a heavy value stays alone in its bin
    RNG.shuffle(values)
    y = (values > 1).astype(int)

    def cut(size):
        parts = range(0, n, size)
        return [(values[i : i + size, None], y[i : i + size]) for i in parts]

    one = Dataset.from_batches(cut(n))
    two = Dataset.from_batches(cut(77_777))
    assert 0 < one.rank_error <= 1e-4
    mine, others = one.bins(255, 1), two.bins(255, 1)
    np.testing.assert_array_equal(mine.codes(0), others.codes(0))
    np.testing.assert_array_equal(mine.largest(0), others.largest(0))
    exact = hedgerow._engine.Dataset(n)
    exact.append_matrix(values[:, None], 255, 1)
    ranks = np.sort(values)
    here = np.searchsorted(ranks, mine.largest(0), "right")
    there = np.searchsorted(ranks, exact.largest(0), "right")
    assert mine.n_bins(0) == exact.n_bins(0)
    assert abs(here - there).max() <= 4 * 1e-4 * n  # borders follow one another
    assert np.bincount(mine.codes(0)).max() == (values == 1.5).sum()


def test_models_read_the_smallest_value_of_a_bin_where_they_need_numbers():
    data = Dataset.from_batches(lambda: batches(CLASSES))
    tree = hedgerow.DecisionTreeClassifier().fit(data)
    np.testing.assert_array_equal(tree.predict(data), tree.predict(FRAME))


def test_another_number_of_bins_is_refused_unless_bins_are_single_values():
    data = Dataset.from_batches(lambda: batches(CLASSES))
    with pytest.raises(ValueError, match="cut with max_bins=255, and the model has max_bins=16"):
        hedgerow.DecisionTreeClassifier(max_bins=16).fit(data)
    few = Dataset.from_batches([(np.arange(40.0)[:, None] % 9, np.arange(40) % 2)])
    assert hedgerow.DecisionTreeClassifier(max_bins=16).fit(few).n_splits_ > 0


REFUSED = {
    "generator": (lambda: ((b for b in batches(CLASSES)), {}), TypeError, "is read twice"),
    "no target": (lambda: ([FRAME], {}), ValueError, "give the column of the targets"),
    "unknown target": (lambda: ([FRAME], {"target": "z"}), ValueError, "has no column 'z'"),
    "no rows": (lambda: ([], {}), ValueError, "0 rows in all"),
    "nan in y": (
        lambda: ([(np.ones((2, 1)), np.array([1.0, np.nan]))], {}),
        ValueError,
        "Input y contains NaN",
    ),
    "infinity": (
        lambda: ([(np.array([[np.inf]]), np.array([1]))], {}),
        ValueError,
        "infinity in column 0",
    ),
    "other columns": (
        lambda: ([(np.ones((2, 1)), [0, 1]), (np.ones((2, 2)), [0, 1])], {}),
        ValueError,
        "are others than those of the first",
    ),
    "words and numbers": (
        lambda: (
            [pd.DataFrame({"a": ["x"], "y": [1]}), pd.DataFrame({"a": [1.0], "y": [0]})],
            {"target": "y"},
        ),
        ValueError,
        "words in one batch and numbers in another",
    ),
    "negative weight": (
        lambda: ([(np.ones((2, 1)), [0, 1], np.array([1.0, -1.0]))], {}),
        ValueError,
        "begins at row 0: Negative values in data passed to `sample_weight`: got -1 at row 1",
    ),
    "zero weights": (
        lambda: ([(np.ones((2, 1)), [0, 1], np.zeros(2))], {}),
        ValueError,
        "zero for every row",
    ),
    "lengths": (lambda: ([(np.ones((2, 1)), [0])], {}), ValueError, "must be equally long"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_batches_are_refused_with_a_reason(case):
    make, kind, message = REFUSED[case]
    given, options = make()
    with pytest.raises(kind, match=message):
        Dataset.from_batches(given, **options)


def test_batches_that_change_between_the_readings_are_refused():
    reads = []

    def growing():
        reads.append(1)
        yield np.ones((len(reads), 2)), np.zeros(len(reads))

    with pytest.raises(ValueError, match="must be the same both times"):
        Dataset.from_batches(growing)


def test_memory_is_bounded_by_the_codes_and_a_batch(tmp_path):
    """A process that reads 160 MB of numbers to a file grows by far less than that."""
    n, parts = 400_000, 5
    for part in range(parts):
        columns = {f"x{i}": RNG.integers(0, 50_000, n) * 1.0 for i in range(10)}
        columns["y"] = RNG.integers(0, 2, n)
        pq.write_table(pa.table(columns), tmp_path / f"{part}.parquet", row_group_size=50_000)
    program = textwrap.dedent(
        f"""
        import resource, sys
        import pyarrow, pyarrow.csv, pyarrow.parquet
        from hedgerow import Dataset
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        source = dict(target="y", batch_rows=25_000, n_jobs=1)
        Dataset.from_parquet(r"{tmp_path}/0.parquet", **source)
        before = peak()
        data = Dataset.from_parquet(r"{tmp_path}/*.parquet", file=r"{tmp_path}/codes", **source)
        print(peak() - before, data.n_rows)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    grown, rows = done.stdout.splitlines()[-1].split()
    assert int(rows) == n * parts
    assert float(grown) < 80
