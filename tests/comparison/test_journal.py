"""A comparison that was stopped goes on from the folds that it finished."""

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris

from hedgerow.comparison import compare
from hedgerow.comparison.run import Run

MODELS = ["hedgerow DecisionTree", "hedgerow MeanMarginTree"]
WORDS = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X.assign(kind=pd.Categorical(np.where(X.iloc[:, 0] > 5, "large", None))), WORDS[y]


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "results" / "folds.jsonl"


@pytest.fixture
def fits(monkeypatch):
    """The (model, fold) that are run."""
    heard = []
    real = Run.try_fold

    def try_fold(self, number, *rest):
        heard.append((self.name, number))
        return real(self, number, *rest)

    monkeypatch.setattr(Run, "try_fold", try_fold)
    return heard


def stable(comparison):
    """What does not depend on the clock."""
    return [
        (r.name, r.scores, r.folds, r.n_splits, r.n_bytes, r.p_value, r.error, r.parameters)
        for r in comparison.results
    ]


def cut(journal, n_lines):
    """Leave the first lines of a journal, and half of the next one."""
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:n_lines]) + lines[n_lines][: len(lines[n_lines]) // 2])


@pytest.mark.parametrize("data", ["pandas", "polars", "regression"])
def test_every_finished_fold_is_on_the_disk_and_is_not_run_again(iris, journal, fits, data):
    X, y = load_diabetes(return_X_y=True) if data == "regression" else iris
    X = pl.from_pandas(X) if data == "polars" else X
    whole = compare(X, y, cv=3, models=MODELS, journal=journal)
    assert len(journal.read_text().splitlines()) == 1 + 6
    cut(journal, 4)
    fits.clear()
    again = compare(X, y, cv=3, models=MODELS, journal=journal, resume=True)
    assert fits == [(MODELS[1], 1), (MODELS[0], 2), (MODELS[1], 2)]
    assert stable(again) == stable(whole)
    for one, other in zip(again.results, whole.results, strict=True):
        np.testing.assert_array_equal(one.predictions, other.predictions)
        assert one.predictions.dtype == other.predictions.dtype
        if one.probabilities is not None:
            np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert again.report().summary["importance"] is not None
    fits.clear()
    compare(X, y, cv=3, models=MODELS, journal=journal, resume=True)
    assert fits == []


def test_a_resumed_comparison_may_have_more_models(iris, journal, fits):
    compare(*iris, cv=2, models=MODELS[:1], journal=journal)
    fits.clear()
    both = compare(*iris, cv=2, models=MODELS, journal=journal, resume=True)
    assert fits == [(MODELS[1], 0), (MODELS[1], 1)]
    assert len(both.results) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"random_state": 7}, "its folds were other ones"),
        ({"cv": 3}, "its folds were other ones"),
        ({"max_splits": 5}, r"limits was \{\}, now it is \{'max_splits': 5\}"),
        ({"budget": "thorough"}, "tuned was False, now it is True"),
        ({"X": 1.0}, "its table was another one"),
        ({"y": "violet"}, "its table was another one"),
    ],
)
def test_the_journal_of_another_comparison_is_refused(iris, journal, change, message):
    X, y = iris
    settings = {"cv": 2, "models": MODELS[:1], "journal": journal}
    compare(X, y, **settings)
    before = journal.read_bytes()
    if "X" in change:
        X = X.assign(**{X.columns[1]: X.iloc[:, 1].where(X.index != 9, change.pop("X"))})
    if "y" in change:
        y = np.where(y == "setosa", change.pop("y"), y)
    with pytest.raises(ValueError, match=f"journal of another comparison: {message}"):
        compare(X, y, **settings | change, resume=True)
    assert journal.read_bytes() == before


def test_finished_folds_are_deleted_where_that_is_meant(iris, journal, fits):
    settings = {"cv": 2, "models": MODELS[:1], "journal": journal}
    compare(*iris, **settings)
    before = journal.read_bytes()
    with pytest.raises(ValueError, match="has 2 finished folds of this very comparison: go on"):
        compare(*iris, **settings)
    assert journal.read_bytes() == before
    compare(*iris, **settings, resume=False)
    compare(*iris, **settings | {"random_state": 1})  # another comparison
    assert len(fits) == 6
    assert len(journal.read_text().splitlines()) == 3


def test_resume_needs_a_journal_but_not_one_that_is_there(iris, journal):
    assert compare(*iris, cv=2, models=MODELS[:1], journal=journal, resume=True).results[0].folds
    with pytest.raises(ValueError, match="'resume' must be None where no 'journal' is given"):
        compare(*iris, resume=True)
    journal.write_text('{"some": "other file"}\n')
    with pytest.raises(ValueError, match="is no journal of a comparison"):
        compare(*iris, cv=2, models=MODELS[:1], journal=journal, resume=True)


KILLED = """
import os, signal, sys
from sklearn.datasets import load_iris
from hedgerow.comparison import compare
from hedgerow.comparison.run import Run

real = Run.try_fold
def try_fold(self, number, *rest):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, number, *rest)
Run.try_fold = try_fold
X, y = load_iris(return_X_y=True)
compare(X, y, cv=3, models=["hedgerow DecisionTree"], journal=sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_a_killed_comparison_loses_nothing_that_was_finished(journal, fits):
    subprocess.run([sys.executable, "-c", KILLED, str(journal)], check=False)
    lines = journal.read_text().splitlines()
    assert [json.loads(line).get("fold") for line in lines] == [None, 0, 1]
    X, y = load_iris(return_X_y=True)
    compare(X, y, cv=3, models=MODELS[:1], journal=journal, resume=True)
    assert fits == [(MODELS[0], 2)]
