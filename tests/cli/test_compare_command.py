import io
import json
import signal
import sys

import numpy as np
import pytest
from rich.console import Console

import hedgerow
from hedgerow.cli import main
from hedgerow.cli.leaderboard import leaderboard, significant
from hedgerow.comparison import MODELS, Comparison, Data, Result
from hedgerow.comparison.run import Run

INSTALLED = {
    name
    for name, model in MODELS.items()
    if model.is_installed and model.budget in ("small", "balanced")
}
QUICK = ("--folds", "2", "--models", "hedgerow DecisionTree,scikit-learn DecisionTree")


def test_table_lists_every_model(run):
    code, out, err = run("compare", "iris", "--folds", "2", "--no-files")
    assert code == 0
    assert all(" done" in line for line in err.splitlines())  # said after 20 s of silence
    assert "iris: classification of species, 150 rows, 4 features" in out
    assert all(name in out for name in INSTALLED)
    assert "Best for its splits: " in out


def test_json_is_the_comparison(run):
    code, out, _ = run("compare", "diabetes", *QUICK, "--seed", "7", "--json", "--no-files")
    result = json.loads(out)
    assert code == 0
    assert (result["data"]["name"], result["task"]) == ("diabetes", "regression")
    assert (result["n_folds"], result["random_state"]) == (2, 7)
    assert len(Comparison.from_json(out).results) == 3


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
    assert code == 0
    read, *careful = err.splitlines()
    assert read.startswith("hedgerow: 'seen' (date): dates made years, month, weekday")
    assert sorted(careful)[0].startswith(
        "hedgerow: careful: 'colour' alone gives nearly the best score"
    )
    assert sorted(careful)[1].startswith("hedgerow: careful: 'seen' is a date, but the folds are")
    assert len(careful) == 2
    for result in json.loads(out)["results"]:
        assert result["error"] is None
        if result["family"] not in ("constant", "boosting"):  # 40 rows are two leaves of a booster
            assert np.mean(result["scores"]["accuracy"]) > 0.8


def test_identifiers_are_left_out_with_a_note(run, frame, tmp_path):
    frame.insert(0, "row", np.arange(80))
    frame.insert(0, "name", [f"number {i}" for i in range(80)])
    frame.to_csv(tmp_path / "d.csv", index=False)
    code, out, err = run("compare", "d.csv", "--target", "warm", *QUICK, "--json", "--no-files")
    assert code == 0
    dates = ["seen", "seen month", "seen weekday"]
    assert json.loads(out)["feature_names"] == ["size", "colour", "open", *dates]
    assert err.count("'name'") == 1
    assert "left out the column 'name': it looks like an identifier" in err
    assert "left out the column 'row': it " in err


def test_warnings_are_one_line_each(run, frame, tmp_path):
    frame.loc[0, "warm"] = "perhaps"
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = run("compare", "data.csv", "--target", "warm", *QUICK, "--no-files")
    assert code == 0
    assert "hedgerow: careful: the class 'perhaps' has 1 row, too few for one in each of 2" in err
    assert "ranked by balanced accuracy, not by accuracy" in err


def test_limits_are_kept(run):
    args = ("--models", "hedgerow DecisionTree", "--folds", "2", "--json", "--no-files")
    _, out, _ = run("compare", "breast_cancer", "--max-splits", "5", *args)
    assert all(result["n_splits"] <= 5 for result in json.loads(out)["results"])


@pytest.fixture
def stop_in_the_second_fold(monkeypatch, ctrl_c):
    """A signal in the second fold; the function that sends it."""

    def prepare(number):
        real = Run.try_fold

        def try_fold(self, fold, *rest):
            if fold == 1:
                signal.raise_signal(number)
            return real(self, fold, *rest)

        monkeypatch.setattr(Run, "try_fold", try_fold)

    return prepare


def test_ctrl_c_shows_and_writes_what_is_finished(run, tmp_path, stop_in_the_second_fold):
    stop_in_the_second_fold(signal.SIGINT)
    code, out, err = run("compare", "iris", *QUICK)
    assert code == 130
    assert "hedgerow DecisionTree" in out
    assert "interrupted: the ranking is on 1 fold of 2" in err
    folder = tmp_path / "hedgerow-results"
    assert sorted(path.name for path in folder.iterdir()) == [
        "best.hedgerow", "folds.jsonl", "report.html", "results.json",
    ]  # fmt: skip
    assert "fitting hedgerow DecisionTree on all rows, about " in err
    assert "and making the report; Ctrl-C leaves out what is not done" in err


def test_after_ctrl_c_only_the_fit_that_is_announced_is_made(
    run, monkeypatch, stop_in_the_second_fold
):
    stop_in_the_second_fold(signal.SIGINT)
    fitted = []
    real = Run._fitted
    monkeypatch.setattr(
        Run, "_fitted", lambda self, X, y: fitted.append((self.name, len(y))) or real(self, X, y)
    )
    _, _, err = run("compare", "iris", *QUICK)
    # Both models and the constant in the first fold, and the best of ours on all rows.
    assert [rows for _, rows in fitted] == [75, 75, 75, 150]
    assert f"fitting {fitted[-1][0]} on all rows" in err


def test_a_second_ctrl_c_leaves_the_results_and_ends(
    run, monkeypatch, tmp_path, stop_in_the_second_fold
):
    stop_in_the_second_fold(signal.SIGINT)
    monkeypatch.setattr(Run, "fit", lambda self: signal.raise_signal(signal.SIGINT))
    code, _, _ = run("compare", "iris", *QUICK)
    assert code == 130
    written = sorted(path.name for path in (tmp_path / "hedgerow-results").iterdir())
    assert written == ["folds.jsonl", "results.json"]


def test_sigterm_writes_the_results_and_fits_nothing(run, tmp_path, stop_in_the_second_fold):
    before = signal.getsignal(signal.SIGTERM)
    stop_in_the_second_fold(signal.SIGTERM)
    code, out, _ = run("compare", "iris", *QUICK)
    assert code == 143
    assert "hedgerow DecisionTree" in out
    written = sorted(path.name for path in (tmp_path / "hedgerow-results").iterdir())
    assert written == ["folds.jsonl", "results.json"]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_anything_is_finished_ends_it(run, monkeypatch, number, expected):
    monkeypatch.setattr(Run, "try_fold", lambda *_: signal.raise_signal(number))
    assert run("compare", "iris", *QUICK)[0] == expected


def test_resume_goes_on_from_the_finished_folds(
    run, tmp_path, monkeypatch, stop_in_the_second_fold
):
    with monkeypatch.context():
        stop_in_the_second_fold(signal.SIGINT)
        _, _, err = run("compare", "iris", *QUICK)
    assert "'--resume' goes on from them" in err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, _, err = run("compare", "iris", *QUICK)
    assert code == 1
    assert "has 2 finished folds of this very comparison" in err
    ran = []
    real = Run.try_fold
    monkeypatch.setattr(
        Run, "try_fold", lambda self, n, *rest: ran.append(n) or real(self, n, *rest)
    )
    code, _, err = run("compare", "iris", *QUICK, "--resume")
    assert (code, ran) == (0, [1, 1])
    assert "interrupted" not in err
    folder = tmp_path / "hedgerow-results"
    assert not (folder / "folds.jsonl").exists()
    assert len(Comparison.from_json((folder / "results.json").read_text()).best_result.folds) == 2


def test_resume_refuses_the_folds_of_another_table(run, stop_in_the_second_fold):
    stop_in_the_second_fold(signal.SIGINT)
    run("compare", "iris", *QUICK)
    code, _, err = run("compare", "wine", *QUICK, "--resume")
    assert code == 1
    assert "is the journal of another comparison: its table was another one." in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["nowhere.csv"], 1, "there is no file 'nowhere.csv'"),
        (["iris", "--target", "petal"], 1, "'iris' has its own target"),
        (["iris", "--folds", "1"], 2, "--folds"),
        (["iris", "--resume", "--no-files"], 2, "'--resume' reads from the folder of results"),
        (["iris", "--no-such-option"], 2, "--no-such-option"),
        (["iris", "--budget", "soon"], 1, "'budget' must be one of small"),
        (["iris", "--metric", "r2"], 1, "'r2' does not score classification"),
        (["iris", "--task", "ranking"], 2, "'--task' must be classification or regression"),
        (["iris", "--groups", "petal"], 2, "'--groups' must name a column, got 'petal'"),
        (["iris", "--drop", "petal lenght (cm)"], 1, "Did you mean 'petal length (cm)'?"),
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
        monkeypatch.delattr(name)
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


@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_number_is_cut_in_a_narrow_terminal(width):
    metrics = ["accuracy", "log_loss", "roc_auc", "brier"]
    names = ["hedgerow HeterogeneousForest", "scikit-learn HistGradientBoosting", "CatBoost"]
    results = [
        Result(
            name,
            "forest",
            name.partition(" ")[0],
            scores={metric: [0.123 + 0.1 * place] * 3 for metric in metrics},
            folds=[0, 1, 2],
            fit_seconds=[1234.5] * 3,
            n_splits=1_234_567,
            n_bytes=323_152_000,
            microseconds_per_row=12345.6,
        )
        for place, name in enumerate(names)
    ]
    data = Data(48_842, 14, name="adult", target="income")
    made = Comparison("classification", [0, 1], ["a"], data, results, 3, 0.5, metrics=metrics)
    console = Console(width=width, file=io.StringIO())
    console.print(leaderboard(made, width))
    text = console.file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "0.323 ± 0.000 ≈" in text
    assert ("1.2M" in text and "323M" in text) or ("1,234,567" in text and "323,152,000" in text)
    shown = names if width > 150 else ["HeterogeneousForest", "sklearn HistGradientBoosting"]
    assert all(name in text for name in shown)


def test_a_score_that_rounds_to_nothing_has_no_sign(run, tmp_path):
    code, out, _ = run("compare", "diabetes", *QUICK)
    assert code == 0
    assert "-0.000" not in out
    assert "-0.0000" not in (tmp_path / "hedgerow-results" / "report.html").read_text()
