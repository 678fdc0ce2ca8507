"""The deep-forest paper's figures come out of the module."""

import numpy as np
import pytest

from hedgerow.papers import deep_forest as paper


@pytest.fixture
def part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(str)
    return paper.Part(X[:200], y[:200], X[200:], y[200:])


def test_best_layers_counts_the_first_best_of_every_prefix():
    counts = paper.best_layers([[0.5, 0.7, 0.6], [0.5, 0.4, 0.6]])
    assert counts.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 1]]


def test_seven_configurations_are_scored(part):
    found = paper.configurations("letter", part, n_trees=4, seed=0)
    assert set(found) == {*paper.CONFIGURATIONS, "shape"}
    assert all(0 <= found[name] <= 1 for name in paper.CONFIGURATIONS)
    assert set(found["shape"]) == set(paper.SHAPE)


@pytest.mark.parametrize("forests", [1, 4])
def test_every_layer_has_a_score(part, forests):
    assert len(paper.sub_models("letter", part, forests, 4, 3, 0)) == 3


def test_networks_cut_the_new_feature_first(part, monkeypatch):
    monkeypatch.setattr(paper, "DEPTHS", range(1, 3))
    found = paper.networks("letter", part)
    optimal = str(found["optimal"])
    assert len(found["network"][optimal]) == 2
    assert found["first_cut"][optimal][0]
    assert 0.1 < found["first_cut"][optimal][1] < 0.9


def test_page_is_made_of_the_journal(tmp_path, data_folder, monkeypatch):
    monkeypatch.setattr(paper, "DEPTHS", range(1, 3))
    monkeypatch.setattr(paper.chessboard, "SIZES", (30,))
    settings = ["--sets", "yeast", "--data", str(data_folder), "--out", str(tmp_path)]
    paper.main([*settings, "--trees", "2", "--layers", "2", "--seeds", "1", "--repetitions", "3"])
    text = (tmp_path / "deep_forest.md").read_text()
    for heading in ("Chessboards", "Figures 2 and 3", "Figures 4 and 5", "Figures 6 and 7"):
        assert heading in text
    assert "| yeast | 1038 | 446 |  |" in text
    assert "| the second tree cuts a new feature first | always | in " in text
    assert "Proposition 4.1, tree, lower bound as printed" in text
    assert "±" not in text.split("## Figures 2 and 3")[1].split("## Figures 4")[0]  # single runs
    assert "Not run yet: Figure 2: adult, letter, higgs_18k" in text
    assert (tmp_path / "deep_forest_networks.png").stat().st_size > 1000
