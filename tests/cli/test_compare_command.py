import json
import sys

import numpy as np
import pytest

import hedgerow
from hedgerow.cli import main
from hedgerow.cli.compare import significant
from hedgerow.compare import MODELS, Comparison
from hedgerow.compare import evaluate as evaluate_module

INSTALLED = {name for name, model in MODELS.items() if model.is_installed}
QUICK = ("--folds", "2", "--models", "hedgerow DecisionTree,scikit-learn DecisionTree")


def test_table_lists_every_model(run):
    code, out, err = run("compare", "iris", "--folds", "2", "--no-files")
    assert (code, err) == (0, "")
    assert "iris: classification of species, 150 rows, 4 features" in out
    assert all(name in out for name in INSTALLED)
    assert "Best for its splits: " in out


def test_json_is_the_comparison(run):
    code, out, _ = run("compare", "diabetes", *QUICK, "--seed", "7", "--json", "--no-files")
    result = json.loads(out)
    assert code == 0
    assert (result["data"]["name"], result["task"]) == ("diabetes", "regression")
    assert (result["n_folds"], result["random_state"]) == (2, 7)
    assert len(Comparison.from_json(out).results) == 2


def test_results_and_the_best_model_are_written(run, tmp_path):
    code, _, err = run("compare", "wine", *QUICK, "--out", "here")
    assert code == 0
    result = Comparison.from_json((tmp_path / "here" / "results.json").read_text())
    assert result.data.name == "wine"
    model = hedgerow.load(tmp_path / "here" / "best.hedgerow")
    assert isinstance(model, hedgerow.DecisionTreeClassifier)
    assert "wrote here/results.json" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_file_with_categories_times_and_missing_values(run, frame, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    args = ("--target", "warm", "--folds", "2", "--models", "hedgerow", "--json", "--no-files")
    code, out, err = run("compare", path, *args)
    assert (code, err) == (0, "")
    for result in json.loads(out)["results"]:
        assert result["error"] is None
        assert np.mean(result["scores"]["accuracy"]) > 0.8


def test_identifiers_are_left_out_with_a_note(run, frame, tmp_path):
    frame.insert(0, "row", np.arange(80))
    frame.insert(0, "name", [f"number {i}" for i in range(80)])
    frame.to_csv(tmp_path / "d.csv", index=False)
    code, out, err = run("compare", "d.csv", "--target", "warm", *QUICK, "--json", "--no-files")
    assert code == 0
    assert json.loads(out)["feature_names"] == ["size", "colour", "open", "seen"]
    assert "left out the column 'name': it looks like an identifier" in err
    assert "left out the column 'row': it " in err


def test_warnings_are_one_line_each(run, frame, tmp_path):
    frame.loc[0, "warm"] = "perhaps"
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = run("compare", "data.csv", "--target", "warm", *QUICK, "--no-files")
    assert code == 0
    assert err.startswith("hedgerow: warning: The least populated class")
    assert err.count("\n") == 1


def test_limits_are_kept(run):
    args = ("--models", "hedgerow DecisionTree", "--folds", "2", "--json", "--no-files")
    _, out, _ = run("compare", "breast_cancer", "--max-splits", "5", *args)
    (result,) = json.loads(out)["results"]
    assert result["n_splits"] <= 5


def test_ctrl_c_shows_and_writes_what_is_finished(run, tmp_path, monkeypatch):
    real = evaluate_module.Run.try_fold

    def stop_in_the_second_fold(self, fold, limit):
        if fold == 1:
            raise KeyboardInterrupt
        real(self, fold, limit)

    monkeypatch.setattr(evaluate_module.Run, "try_fold", stop_in_the_second_fold)
    code, out, err = run("compare", "iris", *QUICK)
    assert code == 130
    assert "hedgerow DecisionTree (1 folds)" in out
    assert "hedgerow DecisionTree: interrupted" in err
    assert (tmp_path / "hedgerow-results" / "results.json").exists()


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["nowhere.csv"], 1, "there is no file 'nowhere.csv'"),
        (["iris", "--target", "petal"], 1, "'iris' has its own target"),
        (["iris", "--folds", "1"], 2, "--folds"),
        (["iris", "--no-such-option"], 2, "--no-such-option"),
        (["iris", "--budget", "soon"], 1, "'budget' must be one of small"),
        (["iris", "--models", "elm"], 2, "no model is called 'elm'"),
        (["table.csv"], 1, "'target' must name a column of"),
        (["table.csv", "--target", "cold"], 1, "has no column 'cold', only size, colour"),
        (["table.doc"], 1, "must end in .arff"),
    ],
)
def test_errors_are_one_line(run, table, tmp_path, args, code, message):
    (tmp_path / "table.doc").touch()
    got, out, err = run("compare", *args)
    assert (got, out) == (code, "")
    assert err.startswith("hedgerow: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_debug_gives_the_traceback():
    with pytest.raises(FileNotFoundError, match="there is no file"):
        main(["compare", "nowhere.csv", "--debug"])


def test_no_command_prints_help(run):
    code, out, _ = run()
    assert code == 0
    assert "compare" in out


def test_version(run):
    assert run("--version")[1].startswith("hedgerow ")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_extra_is_named(run, monkeypatch, missing):
    for name in [name for name in sys.modules if name.startswith("hedgerow.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    code, _, _ = run("compare")
    assert code == (
        f'hedgerow: the command line needs {missing}; install it with: pip install "hedgerow[cli]"'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [(198.4, "198"), (47195.8, "47,200"), (0.0123456, "0.0123"), (1e9, "1,000,000,000")],
)
def test_numbers_have_few_digits_and_no_exponent(value, shown):
    assert significant(value) == shown
