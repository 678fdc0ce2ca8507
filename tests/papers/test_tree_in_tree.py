"""The paper's tables and figures come out of the module, and a second run finds all of it done."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from hedgerow.papers import study
from hedgerow.papers import tree_in_tree as paper


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A data folder with scikit-learn's digits under the name of a set of the paper."""
    folder = tmp_path_factory.mktemp("data")
    frame, target = load_digits(return_X_y=True, as_frame=True)
    part = np.where(np.arange(len(frame)) % 3, "train", "test")
    frame.assign(target=target.astype(str), split=part).to_parquet(folder / "optdigits.parquet")
    return folder


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


def test_quick_run_writes_the_page_and_is_not_repeated(digits, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    given = ["--data", str(digits), "--out", str(tmp_path), "--quick", "--sets", "optdigits"]
    paper.main(given)
    page = (tmp_path / "tree_in_tree.md").read_text()
    assert "| optdigits | 1198, 599, 64, 10 | 85.56 (193) |" in page
    assert "| Table 1: TnT above CART | 8 of 8 |" in page
    assert (tmp_path / "tree_in_tree_figure_4.png").stat().st_size < 100_000
    n_units = len((tmp_path / "tree_in_tree.jsonl").read_text().splitlines())
    assert n_units == 1 + len(paper.QUICK.prices)
    capsys.readouterr()
    paper.main(given)
    assert capsys.readouterr().err == ""  # no unit ran again
    assert (tmp_path / "tree_in_tree.md").read_text() == page


def test_nothing_but_the_training_part_chooses_each_method_s_price(digits):
    data = paper.prepare("optdigits", digits, seed=1)
    found = paper.run_table_1(data, 0, paper.QUICK)
    assert found["rows"] == [1198, 599]
    assert found["CART"]["splits"] <= 1 / found["CART"]["C"]
    blind = data._replace(y_test=np.roll(data.y_test, 1))
    same = paper.run_table_1(blind, 0, paper.QUICK)
    for method in paper.COMPARED:
        assert same[method]["C"] == found[method]["C"]
        assert same[method]["splits"] == found[method]["splits"]


def test_claims_name_the_sets_on_which_they_fail(tmp_path):
    journal = study.Journal(tmp_path / "journal.jsonl")
    for name, gain in (("usps", 1.0), ("letter", -1.0), ("mnist", -1.0)):
        scores = {"CART": 80.0, "TAO": 80.0, "TnT": 80.0 + gain, "TnT fine-tuned": 82.0}
        entry = {method: {"test": test, "splits": 10} for method, test in scores.items()}
        journal.add({"study": "table 1", "set": name, "seed": 0}, **entry)
    found = paper.claims(journal)[0]
    assert found[1:] == ("8 of 8", "1 of 3 (not on letter, mnist)", False)


def test_ensembles_have_equal_numbers_of_splits(digits):
    data = paper.prepare("optdigits", digits, seed=0)
    for kind in "bag", "AdaBoost":
        found = paper.run_ensemble(data, kind, 30, [2, 4], seed=0)
        for n in "2", "4":
            ours, trees = found["TnT"][n]["splits"], found["CART"][n]["splits"]
            assert trees <= ours * 1.1
            assert found["TnT"][n]["test"] > 50


def test_table_2_shows_published_and_measured_accuracy(tmp_path):
    journal = study.Journal(tmp_path / "journal.jsonl")
    entry = {"5": {"splits": 4800, "test": 93.0}}
    key = {"study": "table 2", "set": "mnist", "seed": 0, "kind": "bag"}
    journal.add(key, TnT=entry, CART=entry)
    row = "| mnist | bag | 5 | 93.65 | 93.00 (4800) | 92.31 | 93.00 (4800) | — | 1 |"
    assert row in paper.table_2(journal)


def test_missing_data_folder_is_explained():
    with pytest.raises(SystemExit, match="Give the folder of Parquet files with --data"):
        paper.main(["--data", "nowhere"])
