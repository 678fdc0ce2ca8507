"""The mean-margin paper's module: counting, drawing, and a page from a journal."""

import numpy as np
import pandas as pd
import pytest

from hedgerow.papers import mean_margins, study


@pytest.fixture
def folder(tmp_path):
    """A data folder with two of the sets in small."""
    random = np.random.default_rng(0)
    for name in ("labor", "zoo"):
        frame = pd.DataFrame(random.normal(size=(24, 3)), columns=list("abc"))
        frame["kind"] = pd.Categorical(np.where(frame["a"] > 0, "u", "v"))
        frame["target"] = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
        frame.to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_the_sets_are_43():
    assert len(set(mean_margins.SETS)) == 43
    assert set(mean_margins.QUICK) <= set(mean_margins.SETS)


def test_wins_are_outright_and_losses_named():
    scores = {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 2.0}, "c": {"x": 3.0, "y": 1.0}}
    assert mean_margins.wins(scores, ("x", "y")) == {"x": 1, "y": 1}
    claim = mean_margins.better("x wins", scores, "x", ["y"], "26 of 43")
    assert claim == ("x wins", "26 of 43", "1 of 3 (not on a, b)", True)


def test_an_earlier_mean_counts_until_there_are_as_many_runs(tmp_path):
    journal = study.Journal(tmp_path / "journal.jsonl")
    for model in "ERDT", "MMDT":
        journal.add({"set": "zoo", "model": model, "mean of": 2}, accuracy=0.5)
    for split in range(2):
        journal.add({"set": "zoo", "model": "ERDT", "split": split}, accuracy=0.7)
    journal.add({"set": "zoo", "model": "MMDT", "split": 0}, accuracy=0.9)
    assert mean_margins.accuracies(journal, "zoo") == {"ERDT": 70.0, "MMDT": 50.0}


def test_picture_keeps_its_shapes_at_any_size():
    small, large = mean_margins.picture(20), mean_margins.picture(160)
    means = large.reshape(20, 8, 20, 8).mean(axis=(1, 3))
    assert np.abs(means - small).mean() < 0.05


def test_study_goes_on_where_it_ended_and_the_page_tells_all(folder, tmp_path, monkeypatch):
    few = {
        "1000×RDT": lambda seed: mean_margins.BaggingClassifier(mean_margins.RDT, 100),
        "1000×ERDT": lambda seed: mean_margins.BaggingClassifier(mean_margins.ERDT, 100),
        mean_margins.SKLEARN: lambda seed: mean_margins.RandomForestClassifier(
            5, random_state=seed
        ),
    }
    monkeypatch.setattr(mean_margins, "MODELS", {**mean_margins.MODELS, **few})
    out = tmp_path / "out"
    command = ["--data", str(folder), "--out", str(out), "--seeds", "1", "--sets", "labor", "zoo"]
    mean_margins.main([*command, "--table"])
    page = (out / "mean_margins.md").read_text()
    assert "| labor |" in page
    assert "| a single ERDT is better than a single MMDT | 26 of 43 |" in page
    assert (out / "mean_margins_figure_4.png").stat().st_size > 1000
    lines = (out / "mean_margins.jsonl").read_text()
    mean_margins.main([*command, "--table"])
    assert (out / "mean_margins.jsonl").read_text() == lines


def test_noise_and_sizes_are_shown_as_far_as_they_are_there(tmp_path):
    journal = study.Journal(tmp_path / "journal.jsonl")
    for model in mean_margins.FIGURE_5:
        for split in range(2):
            journal.add({"noise": 1, "split": split, "model": model}, accuracy=0.5 + split / 4)
    journal.add({"noise": 3, "model": "100×RDT", "mean of": 2}, accuracy=0.5)
    found = mean_margins.noise_accuracies(journal)
    assert found == {1: dict.fromkeys(mean_margins.FIGURE_5, 62.5), 3: {"100×RDT": 50.0}}
    mean_margins.draw_figure_5(found, tmp_path)
    assert (tmp_path / "mean_margins_figure_5.svg").exists()
    for member in mean_margins.GROWN:
        assert mean_margins.sizes(journal) == {}
        accuracy = dict.fromkeys(map(str, mean_margins.SIZES), 0.5)
        journal.add({"grown": member, "set": "zoo", "split": 0}, **accuracy)
    assert mean_margins.sizes(journal)["CVDT"]["1000"] == 50.0


def test_bags_are_followed_as_they_grow(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(mean_margins, "SIZES", (2, 5))
    journal = study.Journal(tmp_path / "journal.jsonl")
    mean_margins.grow(journal, "zoo", folder, 1)
    assert set(mean_margins.sizes(journal)) == {"RDT", "ERDT", "CVDT"}
