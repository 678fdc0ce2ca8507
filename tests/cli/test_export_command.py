"""``hedgerow export``: files of every format, checked in their runtimes."""

import json
import shutil

import pytest

import hedgerow
from hedgerow.export import TARGETS

RUNTIMES = {"javascript": "node", "c": "gcc"}


@pytest.fixture
def model(run, table):
    """A model of the table, in a file."""
    assert run("train", table, "--target", "warm", "--out", "m.hedgerow")[0] == 0
    return "m.hedgerow"


@pytest.mark.parametrize("to", TARGETS)
def test_a_format_is_written_and_checked_row_by_row(run, model, table, to, tmp_path):
    if to in RUNTIMES and shutil.which(RUNTIMES[to]) is None:
        pytest.skip(f"{RUNTIMES[to]} is not installed")
    where = ("--check", table) if TARGETS[to].run else ()
    code, out, err = run("export", model, "--to", to, *where, "--json")
    assert code == 0, err
    record = json.loads(out)
    assert record["file"] == f"m{TARGETS[to].suffix}"
    assert record["bytes"] == (tmp_path / record["file"]).stat().st_size
    if where:
        assert (record["rows"], record["different"]) == (80, 0) and record["nanoseconds"] > 0


def test_a_row_with_another_answer_is_counted_and_fails(run, model, table, monkeypatch):
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    write = TARGETS["javascript"].write
    wrong = TARGETS["javascript"].__class__(
        ".mjs",
        lambda fitted, *, name: write(fitted, name=name).replace(
            "return classes[", "return 0 && ["
        ),
        TARGETS["javascript"].run,
    )
    monkeypatch.setitem(TARGETS, "javascript", wrong)
    code, out, _ = run("export", model, "--to", "javascript", "--check", table)
    assert code == 1 and "80 rows compared, 80 different by up to 0, " in out


def test_one_of_several_outputs_is_chosen(run, tmp_path):
    X, y = [[0.0], [1.0], [2.0]], [["a", "x"], ["b", "x"], ["b", "y"]]
    hedgerow.save(hedgerow.DecisionTreeClassifier().fit(X, y), tmp_path / "two.hedgerow")
    code, _, err = run("export", "two.hedgerow", "--to", "python")
    assert code == 1 and "--output 0" in err
    assert run("export", "two.hedgerow", "--to", "python", "--output", "1")[0] == 0
    assert "CLASSES = ('x', 'y')" in (tmp_path / "two.py").read_text()


def test_what_cannot_be_exported_is_said_in_one_line(run, model):
    code, _, err = run("export", model, "--to", "cobol")
    assert code == 2 and "'--to' must be one of" in err
    code, _, err = run("export", model, "--to", "javascript", "--set", "speed=9")
    assert code == 2 and "it has no settings" in err
    code, _, err = run("export", model, "--to", "javascript", "--check", "nowhere.csv")
    assert code == 1 and "there is no file 'nowhere.csv'" in err
