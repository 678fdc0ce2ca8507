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


def test_wins_are_outright():
    scores = {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 2.0}, "c": {"x": 3.0, "y": 1.0}}
    assert mean_margins.wins(scores, ("x", "y")) == {"x": 1, "y": 1}
    assert mean_margins.better(scores, "x", "y") == 1


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
    assert "So far 2 of them" in page
    assert "| labor |" in page
    assert (out / "mean_margins_figure_4.png").stat().st_size > 1000
    lines = (out / "mean_margins.jsonl").read_text()
    mean_margins.main([*command, "--table"])
    assert (out / "mean_margins.jsonl").read_text() == lines


def test_noise_is_drawn_when_complete(tmp_path):
    journal = study.Journal(tmp_path / "journal.jsonl")
    for model in mean_margins.FIGURE_5:
        for split in range(2):
            journal.add({"noise": 1, "split": split, "model": model}, accuracy=0.5 + split / 4)
    journal.add({"noise": 3, "split": 0, "model": "100×RDT"}, accuracy=0.5)
    found = mean_margins.noise_accuracies(journal)
    assert found == {1: dict.fromkeys(mean_margins.FIGURE_5, 62.5)}
    mean_margins.draw_figure_5(found, tmp_path)
    assert (tmp_path / "mean_margins_figure_5.svg").exists()
