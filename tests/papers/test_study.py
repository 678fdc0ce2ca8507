"""The parts that the papers' modules share."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow.papers import study


def test_read_separates_target_and_split(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "target": ["x", "y"], "split": ["train", "test"]})
    frame.to_parquet(tmp_path / "small.parquet")
    table = study.read("small", tmp_path)
    assert list(table.X) == ["a"]
    assert list(table.y) == ["x", "y"]
    assert list(table.split) == ["train", "test"]
    with pytest.raises(SystemExit, match="no file other.parquet"):
        study.read("other", tmp_path)


def test_one_hot_fills_gaps():
    frame = pd.DataFrame({"n": [1.0, np.nan, 3.0], "c": pd.Categorical(["u", None, "v"])})
    assert study.one_hot(frame).tolist() == [[1, 1, 0], [2, 0, 0], [3, 0, 1]]


def test_missing_folder_is_explained(monkeypatch):
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    with pytest.raises(SystemExit, match="--data, or in HEDGEROW_DATA."):
        study.folder(None)
    with pytest.raises(SystemExit, match="'nowhere' is not a folder"):
        study.folder("nowhere")


def test_markdown():
    assert study.markdown(["a", "b"], [[1, "x"]]) == "| a | b |\n| --- | --- |\n| 1 | x |"


def test_a_claim_about_sets_may_miss_one():
    assert study.counted("better", list("abcd"), [], "20 of 20").holds
    assert study.counted("better", list("abc"), ["d"], "20 of 20")[2:] == (
        "3 of 4 (not on d)",
        True,
    )
    assert study.counted("better", list("ab"), ["c", "d"], "20 of 20").holds is False
    assert study.counted("better", list("ab"), ["c", "d"], "10 of 20").holds
    assert study.counted("better", [], [], "20 of 20")[2:] == ("not run", None)
    assert study.counted("better", ["a"], ["b", "c"], "all").holds is False


def test_readme_counts_the_verdicts_of_the_pages(tmp_path):
    claims = [study.Claim("a", "", "", holds) for holds in (True, True, False, None)]
    text = f"# Paper\n\n{study.claims_table(claims)}\n\n{study.BETTER}never."
    (tmp_path / "paper.md").write_text(text)
    assert "| [Paper](docs/papers/paper.md) | 3 | 2 | 1 | never. |" in study.standing(tmp_path)
    root = Path(__file__).parents[2]
    assert study.standing(root / "docs/papers") in (root / "README.md").read_text()


def test_a_single_run_has_no_spread():
    assert study.spread([1.0]) == "1.00"
    assert study.spread([1.0, 3.0], 1) == "2.0 ± 1.4"


def test_older_figures_stay_on_a_page(tmp_path):
    page = tmp_path / "page.md"
    study.write_page(page, "old\n\n")
    assert page.read_text() == "old\n"
    page.write_text("old\n" + study.OLDER + "\nkept\n")
    study.write_page(page, "new")
    assert page.read_text() == "new\n" + study.OLDER + "\nkept\n"
