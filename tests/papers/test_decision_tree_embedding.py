"""The paper's table and figures come out of the module, and near the published numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hedgerow.papers import decision_tree_embedding as paper
from hedgerow.papers import study


@pytest.mark.parametrize("method", ["DTE-1", "DTE-3"])
def test_linear_model_has_the_published_error_on_iris(method):
    X, y = load_iris(return_X_y=True)
    errors = [paper.evaluate(X, y, method, seed)["error"] for seed in range(3)]
    published = paper.TABLE["iris"].errors[paper.METHODS.index(method)]
    assert abs(np.mean(errors) - published) < 0.7  # one row of 150


@pytest.fixture
def journal(tmp_path):
    made = study.Journal(tmp_path / f"{paper.NAME}.jsonl")
    made.add({"set": "iris"}, rows=150, columns=4, classes=3, leaves=3)
    for method in paper.METHODS + paper.OURS:
        for seed, error in enumerate((1.0, 3.0)):
            key = {"set": "iris", "method": method, "seed": seed}
            made.add(key, error=error, seconds=2.0)
    return made


def test_table_shows_published_and_measured_errors_and_leaves(journal):
    text = paper.table(journal, ["iris"])
    assert "| iris | 150, 4, 3 | 3 / 3 | 1.9 ± 0.3 / 2.0 ± 1.4 (2) | 2.1 ± 0.2 / 2.0 " in text


def test_verdicts_come_from_the_numbers(journal):
    found = paper.compare(journal, ["iris"], "DTE-1", "Tree")
    assert found == ([], ["iris"], [], [], [])
    for seed, error in enumerate((40.0, 40.1)):
        journal.add({"set": "wine", "method": "Tree", "seed": seed}, error=error, seconds=1.0)
        journal.add({"set": "wine", "method": "DTE-1", "seed": seed}, error=30.0, seconds=1.0)
    better = (["wine"], [], [], ["wine"], [])
    assert paper.compare(journal, ["wine"], "DTE-1", "Tree") == better
    assert paper.compare(journal, ["wine"], "Tree", "DTE-1") == ([], [], ["wine"], [], ["wine"])
    assert paper.compare_published(["wine"], "DTE-1", "Tree") == (["wine"], [], [], [], [])
    by_text = {claim.text: claim for claim in paper.claims(journal, ["iris"])}
    assert by_text["DTE-1 equal to or better than the tree"][1:] == (
        "19 of 20; 1 of these 1", "1 of 1", True)  # fmt: skip


def test_tree_has_the_published_number_of_leaves(data_folder):
    for name in ("iris", "wine", "colon", "golub_leukemia"):
        found = paper.describe(*paper.prepare(name, data_folder))
        assert found["leaves"] == paper.TABLE[name].leaves


def test_a_replicate_runs_once_and_while_there_is_time(journal):
    assert not paper.wanted(journal, "iris", "DTE-1", 0, limit=100)
    assert paper.wanted(journal, "iris", "DTE-1", 2, limit=30)
    assert not paper.wanted(journal, "iris", "DTE-1", 2, limit=29)
    assert paper.wanted(journal, "wine", "DTE-1", 0, limit=0)


def test_page_comes_from_the_journal(journal, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    paper.main(["--render", "--out", str(journal.path.parent)])
    plt.close("all")
    page = (journal.path.parent / f"{paper.NAME}.md").read_text()
    assert paper.table(journal, ["iris"]) in page
    assert (journal.path.parent / f"{paper.NAME}_2.png").exists()
    assert "1.9 ± 0.3 / 2.0" in capsys.readouterr().out


def test_leaf_means_and_oracle_anchors_are_equally_good_in_the_plane(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, n_leaves, ours, oracle = paper.figure_1()
    plt.close(figure)
    assert n_leaves >= 2
    assert ours == oracle
    assert ours > 0.9


def test_every_set_of_the_table_loads(data_folder):
    for name in paper.QUICK:
        X, y = paper.prepare(name, data_folder)
        assert len(X) == len(y)
        assert np.isfinite(X).all()
    assert len(np.unique(paper.prepare("wholesale", data_folder)[1])) == 3


def test_missing_data_folder_is_explained():
    with pytest.raises(SystemExit, match="Give the folder of Parquet files with --data"):
        paper.main(["--data", "nowhere"])
