import json
import sys

import numpy as np
import pandas as pd
import pytest

from hedgerow.cli import main
from hedgerow.compare import MODELS


@pytest.fixture
def run(capsys):
    """Run the command line; return exit code, stdout and stderr."""

    def run(*args):
        with pytest.raises(SystemExit) as stop:
            main(args)
        out, err = capsys.readouterr()
        code = stop.value.code
        return (0 if code is None else code), out, err

    return run


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=80),
            "colour": rng.choice(["red", "green", "blue"], 80),
            "open": rng.random(80) < 0.5,
            "seen": pd.date_range("2020-01-01", periods=80),
        }
    )
    frame["warm"] = np.where(frame["colour"] == "red", "yes", "no")
    frame.loc[::9, ["size", "colour"]] = None
    return frame


def test_table_lists_every_model(run):
    code, out, err = run("compare", "iris", "--folds", "2")
    assert (code, err) == (0, "")
    assert "iris: classification, 150 rows, 4 features" in out
    assert all(name in out for name, model in MODELS.items() if model.is_installed)


def test_json_is_the_comparison(run):
    code, out, _ = run("compare", "diabetes", "--folds", "2", "--seed", "7", "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["data"]["name"], result["task"]) == ("diabetes", "regression")
    assert (result["n_folds"], result["random_state"]) == (2, 7)
    installed = {name for name, model in MODELS.items() if model.is_installed}
    assert {row["name"] for row in result["results"]} == installed


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_file_with_categories_times_and_missing_values(run, frame, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    code, out, err = run("compare", str(path), "--target", "warm", "--folds", "2", "--json")
    assert (code, err) == (0, "")
    for result in json.loads(out)["results"]:
        assert result["error"] is None
        if result["library"] == "hedgerow":  # LightGBM splits no category of so few rows
            assert np.mean(result["scores"]["accuracy"]) > 0.8


def test_warnings_are_one_line_each(run, frame, tmp_path):
    frame.loc[0, "warm"] = "perhaps"
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    code, _, err = run("compare", str(path), "--target", "warm", "--folds", "2")
    assert code == 0
    assert err.startswith("hedgerow: warning: The least populated class")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["nowhere.csv"], 1, "'nowhere.csv' is neither a file nor one of breast_cancer,"),
        (["iris", "--target", "petal"], 1, "'iris' has its own target"),
        (["iris", "--folds", "1"], 2, "--folds"),
        (["iris", "--no-such-option"], 2, "--no-such-option"),
        (["FILE"], 1, "'--target' must name a column of"),
        (["FILE", "--target", "cold"], 1, "has no column 'cold', only size, colour"),
        (["FILE", "--target", "colour"], 1, "'colour' is missing in 9 rows"),
    ],
)
def test_errors_are_one_line(run, frame, tmp_path, args, code, message):
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    got, out, err = run("compare", *[str(path) if arg == "FILE" else arg for arg in args])
    assert (got, out) == (code, "")
    assert err.startswith("hedgerow: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_an_unreadable_kind_of_file_is_named(run, tmp_path):
    path = tmp_path / "data.xlsx"
    path.touch()
    assert "must be a .csv or a .parquet file" in run("compare", str(path))[2]


def test_debug_gives_the_traceback():
    with pytest.raises(ValueError, match="neither a file"):
        main(["compare", "nowhere.csv", "--debug"])


def test_help_has_an_example(run):
    code, out, _ = run("compare", "--help")
    assert code == 0
    assert "hedgerow compare houses.csv --target price" in " ".join(out.split())


def test_no_command_prints_help(run):
    code, out, _ = run()
    assert code == 0
    assert "compare" in out


def test_version(run):
    assert run("--version")[1].startswith("hedgerow ")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_extra_is_named(run, monkeypatch, missing):
    monkeypatch.delitem(sys.modules, "hedgerow.cli.app", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    code, _, _ = run("compare")
    assert code == (
        f'hedgerow: the command line needs {missing}; install it with: pip install "hedgerow[cli]"'
    )
