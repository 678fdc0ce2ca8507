"""train, predict, show, explain, reproduce and data."""

import gzip
import importlib
import inspect
import json
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest

import hedgerow
import hedgerow.papers
from hedgerow.cli.app import COMMANDS
from hedgerow.datasets import load_data


@pytest.fixture
def model(run, table):
    """A model of the table, in a file."""
    assert run("train", table, "--target", "warm", "--out", "m.hedgerow")[0] == 0
    return "m.hedgerow"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: hedgerow {command} " in " ".join(out.split())
    assert "--json" in out
    assert "--debug" in out


def test_help_lists_all_commands_and_imports_none_of_them():
    program = (
        "import sys; from hedgerow.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: assert not {'numpy', 'pandas', 'sklearn'} & set(sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    for name, place in COMMANDS.items():
        assert name in told.stdout.decode()
        function = getattr(importlib.import_module(f"hedgerow.cli.{place.module}"), name)
        assert " ".join(inspect.getdoc(function).split("\n\n")[0].split()) == place.help


def test_train_writes_a_model_that_python_can_load(run, table, tmp_path):
    args = ("--model", "RandomForest", "--set", "n_estimators=7", "--set", "max_features=log2")
    code, out, err = run("train", table, "--target", "warm", *args, "--json")
    assert code == 0
    assert err.startswith("hedgerow: 'seen' (date): dates made years, month, weekday")
    assert err.count("\n") == 1
    record = json.loads(out)
    assert (record["model"], record["rows"]) == ("RandomForestClassifier", 80)
    model = hedgerow.load(tmp_path / record["file"])
    assert (model.n_estimators, model.max_features) == (7, "log2")


def test_train_finds_the_best_model_within_a_limit(run, tmp_path):
    code, out, _ = run("train", "iris", "--max-splits", "3", "--out", "i.hedgerow")
    assert code == 0
    assert "on held-out rows" in out
    assert hedgerow.load(tmp_path / "i.hedgerow").n_splits_ <= 3


def test_compress_writes_a_smaller_model(run, table, tmp_path):
    args = ("--model", "RandomForest", "--set", "n_estimators=10", "--out", "f.hedgerow")
    assert run("train", table, "--target", "warm", *args)[0] == 0
    limits = ("--max-splits", "3", "--out", "s.hedgerow")
    code, out, _ = run("compress", "f.hedgerow", table, "--target", "warm", *limits, "--json")
    assert code == 0
    record = json.loads(out)
    assert record["splits"] <= 3 < record["teacher_splits"]
    assert hedgerow.load(tmp_path / "s.hedgerow").n_splits_ == record["splits"]
    code, out, _ = run("compress", "f.hedgerow", table, "--target", "warm", *limits)
    assert code == 0
    assert "beside the teacher's" in out


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_predict_gives_what_the_model_says(run, model, table, frame, tmp_path, ending):
    out = f"p.{ending}"
    code, text, _ = run("predict", model, table, "--out", out, "--keep", "size", "--proba")
    assert code == 0
    assert "80 rows predicted" in text
    loaded = hedgerow.load(tmp_path / model)
    X = load_data(str(table), "warm").X
    read = {"csv": pd.read_csv, "tsv": pd.read_table}.get(ending)
    found = read(out) if read else getattr(pd, f"read_{ending}")(out)
    assert found["prediction"].tolist() == loaded.predict(X).tolist()
    np.testing.assert_allclose(found[["p(no)", "p(yes)"]], loaded.predict_proba(X))
    np.testing.assert_allclose(found["size"], frame["size"])


def test_predict_prints_without_a_file(run, model, table):
    code, out, _ = run("predict", model, table)
    assert code == 0
    assert out.splitlines()[0] == "prediction"
    assert len(out.splitlines()) == 81


def test_predict_streams(run, model, frame, tmp_path, monkeypatch):
    """Chunks give the same as the whole, also where one has no word, number or value in it."""
    monkeypatch.setattr("hedgerow.datasets.files.CELLS_AT_ONCE", 0)
    many = pd.concat([frame] * 40, ignore_index=True)
    many.loc[:999, ["size", "colour"]] = None
    many.loc[1000:1999, "colour"] = "12"  # a category that the model does not know
    many.to_csv("many.csv", index=False)
    assert run("predict", model, "many.csv", "--out", "p.csv")[0] == 0
    loaded = hedgerow.load(tmp_path / model)
    X = load_data("many.csv", "warm").X
    assert pd.read_csv("p.csv")["prediction"].tolist() == loaded.predict(X).tolist()


def test_columns_may_come_in_any_order_and_type_of_file(run, model, frame):
    frame.iloc[:, ::-1].to_parquet("turned.parquet")
    run("predict", model, "turned.parquet", "--out", "a.csv")
    frame["open"] = frame["open"].map({True: "true", False: "false"})
    frame.to_csv("lower.csv", index=False)
    run("predict", model, "lower.csv", "--out", "b.csv")
    assert pd.read_csv("a.csv").equals(pd.read_csv("b.csv"))
    assert set(pd.read_csv("a.csv")["prediction"]) == {"yes", "no"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="size"), "does not fit the model: it lacks the column 'size'"),
        (lambda f: f[["warm"]], "it lacks the columns 'size', 'colour', 'open', 'seen'"),
        (
            lambda f: f.assign(size=f["size"].astype(object).where(f.index != 7, "large")),
            "the column 'size' does not fit the model: it must hold numbers as in training, row 7 "
            "has 'large'.",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(run, model, frame, tmp_path, change, message):
    change(frame).to_csv("other.csv", index=False)
    code, out, err = run("predict", model, "other.csv", "--out", "p.csv")
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "p.csv").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("options", [[], ["--proba", "--keep", "size"]])
def test_a_file_without_rows_has_no_predictions(run, model, frame, ending, options):
    empty = frame[:0]
    path = f"empty.{ending}"
    empty.to_csv(path, index=False) if ending == "csv" else getattr(empty, f"to_{ending}")(path)
    code, out, err = run("predict", model, path, "--out", "p.csv", *options)
    assert (code, err) == (0, "")
    assert "0 rows predicted" in out
    columns = ["size", "prediction", "p(no)", "p(yes)"] if options else ["prediction"]
    found = pd.read_csv("p.csv")
    assert (list(found.columns), len(found)) == (columns, 0)


@pytest.mark.parametrize("form", ["text", "rules", "dot"])
def test_show_writes_or_prints_the_model(run, model, tmp_path, form):
    code, out, _ = run("show", model, "--as", form)
    assert code == 0
    assert "colour" in out
    run("show", model, "--as", form, "--out", "shown.txt")
    assert (tmp_path / "shown.txt").read_text() == out


def test_show_draws_a_picture(run, model, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    assert run("show", model, "--as", "picture", "--out", "tree.svg")[0] == 0
    assert "<svg" in (tmp_path / "tree.svg").read_text()


def test_show_has_a_form_for_programs(run, model):
    record = json.loads(run("show", model, "--json")[1])
    dates = ["seen", "seen month", "seen weekday"]
    assert record["features"] == ["size", "colour", "open", *dates]
    assert record["categories"]["colour"] == ["blue", "green", "red"]
    assert record["classes"] == ["no", "yes"]


def test_a_tree_of_a_forest_can_be_shown_and_followed(run, table):
    run("train", table, "--target", "warm", "--model", "RandomForest", "--out", "f")
    assert run("show", "f", "--member", "3")[0] == 0
    assert "row 2" in run("explain", "f", table, "--row", "2", "--member", "3")[1]


def test_explain_follows_rows(run, model, table, frame):
    red = int(np.flatnonzero(frame["colour"] == "red")[0])
    code, out, _ = run("explain", model, table, "--row", red, "--row", 2)
    assert code == 0
    assert f"row {red}\n1. " in out
    assert "(it is red)" in out
    (record,) = json.loads(run("explain", model, table, "--row", red, "--json")[1])
    assert record["prediction"] == "yes"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["predict", "table.csv", "table.csv"], 1, "table.csv is damaged or no model file"),
        (["predict", "none.hedgerow", "table.csv"], 1, "there is no model file 'none.hedgerow'"),
        (["predict", "m.hedgerow", "none.csv"], 1, "there is no file 'none.csv'"),
        (["predict", "m.hedgerow", "table.csv", "--out", "p.xlsx"], 1, "to be written"),
        (["predict", "m.hedgerow", "table.csv", "--keep", "x"], 1, "'--keep' names 'x'"),
        (["explain", "m.hedgerow", "table.csv", "--row", "80"], 1, "must be less than 80"),
        (["train", "iris", "--model", "Elm"], 2, "no model is called 'Elm'"),
        (["train", "iris", "--model", "RandomForst"], 2, "Did you mean 'RandomForest'?"),
        (["train", "table.csv", "--target", "Warm"], 1, "Did you mean 'warm'?"),
        (["predict", "m.hedgerow", "table.csv", "--keep", "seeen"], 1, "Did you mean 'seen'?"),
        (["train", "iris", "--set", "max_depth"], 2, "'--set' must be like max_depth=5"),
        (["train", "iris", "--set", "depth=3"], 1, "Invalid parameter 'depth'"),
        (["train", "iris", "--set", "callback=5"], 2, "cannot give 'callback', a function"),
        (["train", "adult@x"], 1, "'adult@x' must name a version on OpenML by its number"),
        (["train", "cut.csv.gz", "--target", "y"], 1, "is damaged or was cut off"),
        (["predict", "m.hedgerow", "more.csv"], 1, "Expected 5 fields in line 3, saw 6"),
        (["train", "iris", "--out", "no/such/folder"], 1, "No such file or directory"),
        (["reproduce", "war-and-peace"], 2, "no paper is called 'war-and-peace'"),
        (["data", "no_such.csv"], 1, "there is no file 'no_such.csv'"),
    ],
)
def test_errors_are_one_line(run, model, args, code, message, frame, tmp_path):
    whole = gzip.compress(b"x,y\n" + b"1,2\n" * 20_000)
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "more.csv").write_text(
        ",".join(frame) + "\n1,red,True,2020-01-01,yes\n1,red,True,2020-01-01,yes,more\n"
    )
    got, out, err = run(*args)
    assert (got, out) == (code, "")
    assert err.startswith("hedgerow: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_reproduce_lists_papers_and_passes_the_rest_on(run, monkeypatch):
    code, out, _ = run("reproduce")
    assert code == 0
    assert "decision-tree-embedding" in out
    assert "study" not in out
    assert "chessboard" not in out  # a part of a paper
    assert "no paper is called 'chessboard'" in run("reproduce", "chessboard")[2]
    assert "decision-tree-embedding" in json.loads(run("reproduce", "--json")[1])

    heard = []
    paper = types.ModuleType("hedgerow.papers.decision_tree_embedding")
    paper.main = heard.append
    paper.__spec__ = hedgerow.papers.__spec__
    monkeypatch.setitem(sys.modules, paper.__name__, paper)
    code, _, _ = run("reproduce", "decision-tree-embedding", "--table", "1", "--quick")
    assert (code, heard) == (0, [["--table", "1", "--quick"]])


def test_data_lists_describes_and_writes(run, tmp_path):
    code, out, _ = run("data")
    assert code == 0
    assert "breast_cancer" in out
    code, out, _ = run("data", "iris", "--out", "iris.parquet", "--json")
    assert json.loads(out)["rows"] == 150
    assert load_data(str(tmp_path / "iris.parquet"), "species").X.shape == (150, 4)
