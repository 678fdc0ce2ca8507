"""SQL: the same classes and values as the model, in DuckDB and SQLite."""

import re
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial

import hedgerow
from hedgerow.export import ExportError, read, to_sql
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.running import run_sql
from hedgerow.export.sql_dialects import DIALECTS

REFUSED = {"ada-boost-regressor", "all activations"}  # a weighted median, softmax by groups
ROUNDED = {"binary boosting", "poisson boosting"}  # by the database's own exponential
LARGE = 1e6  # numbers beyond lose what sums of them cancel


def same(program, dialect, matrix, **settings):
    """Whether a database says of all rows what a program says."""
    if dialect == "duckdb":
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    values, decisions = evaluate(program, matrix)
    text = to_sql(program, dialect=dialect, **settings)
    ran = run_sql(text, program, matrix, dialect=dialect, **settings)
    links = {type(step).__name__ for step in program.steps}
    if links & {"Link", "Affine", "Distances", "Activate"}:
        common = np.abs(np.nan_to_num(matrix)).max(axis=1) < LARGE
        np.testing.assert_allclose(ran.values[common], values[common], rtol=1e-9, atol=1e-9)
        sure = common & (np.diff(np.sort(decisions, axis=1)[:, -2:], axis=1).ravel() > 1e-9
                         if decisions.shape[1] > 1 else True)  # fmt: skip
    else:
        assert ran.values.tobytes() == values.tobytes()
        sure = np.ones(len(matrix), dtype=bool)
    if ran.chosen is not None:
        assert (ran.chosen == answers(program, values, decisions)[0])[sure].all()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", sorted(set(NAMES) - REFUSED))
def test_every_model_says_the_same(name, dialect):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS)
    if dialect == "sqlite" and any(type(step).__name__ == "Round" for step in program.steps):
        with pytest.raises(ExportError, match="take the dialect 'duckdb'"):
            to_sql(program, dialect=dialect)
        return
    same(program, dialect, matrix)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_sql_cannot_hold_is_refused_with_a_reason(name):
    with pytest.raises(ExportError, match="export to C, JavaScript"):
        to_sql(example(name)[0])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_shared_nodes_are_columns_and_no_test_is_written_twice(dialect):
    model, _ = example("centred-tree-network-regressor")
    graph = read(model).graph
    text = to_sql(model, dialect=dialect)
    assert text.count("CASE WHEN") == graph.n_tests
    assert text.count(' AS "_g0n') == (graph.n_parents > 1).sum() > 0


def test_deep_graphs_do_not_nest_beyond_what_parsers_read():
    X = np.arange(400.0)[:, None]
    model = hedgerow.DecisionTreeRegressor().fit(X, 2.0 ** (np.arange(400) / 8))
    same(read(model), "sqlite", np.append(X, [[np.nan]], axis=0))


def without_nul(program):
    """The program with another text for the one that databases lack."""
    features = tuple(
        replace(f, categories=f.categories and tuple(w.replace("\0", "\1") for w in f.categories),
                name=f.name.replace("\0", "\1"))
        for f in program.features
    )  # fmt: skip
    return replace(program, features=features)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_text_of_the_table_is_never_code(dialect):
    program = without_nul(read(hostile_model()))
    same(program, dialect, adversarial(program, 500), table="'; \"DROP\n TABLE x; --")
    text = to_sql(program, dialect=dialect, name="x\n; DROP TABLE y")
    assert all(line.startswith("--") for line in text.splitlines()[:4])


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_ten_thousand_categories_are_kept_apart(dialect):
    program = read(streets())
    same(program, dialect, np.append(np.arange(10_000.0), np.nan)[:, None])


@pytest.mark.parametrize("text", ["nul\0", "half\0way"])
def test_characters_that_databases_lack_are_refused(text):
    X = pd.DataFrame({"word": pd.Categorical([text, "b"] * 5)})
    model = hedgerow.DecisionTreeClassifier().fit(X, [0, 1] * 5)
    with pytest.raises(ExportError, match="has a character that no text of SQLite can hold"):
        to_sql(model, dialect="sqlite")


def test_infinite_and_missing_numbers_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    model = hedgerow.DecisionTreeClassifier().fit(
        [[0.0], [1.0], [np.nan], [np.nan]], ["low", "high", "none", "none"]
    )
    base = duckdb.connect()
    base.execute("CREATE TABLE rows (x0 DOUBLE, id INT)")
    base.execute("INSERT INTO rows VALUES (-'inf'::DOUBLE, 1), ('inf', 2), ('nan', 3), (NULL, 4)")
    found = base.execute(to_sql(model, keep="id").replace(";", " ORDER BY id")).fetchall()
    assert [row[:2] for row in found] == [(1, "low"), (2, "high"), (3, "none"), (4, "none")]


def test_whole_and_boolean_columns_are_read_as_they_are():
    duckdb = pytest.importorskip("duckdb")
    X = pd.DataFrame(
        {"n": [1, 2, 3, 4] * 5, "ok": [True, False] * 10, "k": pd.Categorical([5, 7] * 10)}
    )
    y = (X.n % 2 == 0) & ~X.ok
    model = hedgerow.DecisionTreeClassifier().fit(X, y)
    base = duckdb.connect()
    base.register("rows", X.assign(k=X.k.astype(int)))
    found = base.execute(to_sql(model, keep=["n", "ok"])).fetchall()
    truth = zip(X.n, X.ok, model.predict(X), strict=True)
    assert {(n, ok, said) for n, ok, said, *_ in found} == set(truth)


@pytest.mark.parametrize(
    "number", [2.45, 0.1, 1 / 3, 5e-324, 2.2e-308, 1.7976931348623157e308, 123456789.123456789]
)
def test_sqlite_reads_every_number_exactly(number):
    sql = DIALECTS["sqlite"]
    for value in (number, -number, np.nextafter(number, 0)):
        assert (
            sqlite3.connect(":memory:").execute(f"SELECT {sql.number(value)}").fetchone()[0]
            == value
        )


def test_random_numbers_are_read_exactly_by_sqlite():
    random = np.random.default_rng(0)
    numbers = random.normal(size=300) * 10.0 ** random.integers(-300, 300, 300)
    sql = DIALECTS["sqlite"]
    found = sqlite3.connect(":memory:").execute("SELECT " + ", ".join(map(sql.number, numbers)))
    assert found.fetchone() == tuple(numbers.tolist())


def test_names_that_a_database_cannot_tell_apart_are_refused():
    X = pd.DataFrame({"Age": [1.0, 2, 3, 4], "age": [4.0, 3, 2, 1]})
    model = hedgerow.DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    for dialect in ("duckdb", "sqlite"):
        with pytest.raises(ExportError, match="cannot tell the columns 'Age' and 'age' apart"):
            to_sql(model, dialect=dialect)
    assert to_sql(model, dialect="postgresql")
    long = hedgerow.DecisionTreeClassifier().fit(pd.DataFrame({"n" * 64: [1.0, 2]}), [0, 1])
    with pytest.raises(ExportError, match="cuts names after 63 bytes"):
        to_sql(long, dialect="postgresql")


def test_settings_that_are_none_are_refused():
    model, _ = example("binary tree")
    with pytest.raises(
        ValueError, match="'dialect' must be one of duckdb, postgresql, sqlite, got 'oracle'."
    ):
        to_sql(model, dialect="oracle")
    with pytest.raises(ValueError, match="'test' must be True or False"):
        to_sql(model, test="yes")


def test_a_wrong_query_fails_its_own_test():
    text = to_sql(example("binary tree")[0], dialect="sqlite", test=True)
    base = sqlite3.connect(":memory:")
    assert base.execute(text).fetchone() == (0,)
    broken = re.sub(r"<= [\d.]+ THEN", "<= 1e9 THEN", text)
    assert base.execute(broken).fetchone()[0] > 0
