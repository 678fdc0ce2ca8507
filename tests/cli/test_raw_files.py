"""From a raw export to predictions on a later one: options, notes, and the data command."""

import json

import numpy as np
import pandas as pd
import pytest

import hedgerow

N = 120


@pytest.fixture
def shop():
    """A table as a shop exports it, from which the status follows."""
    row = np.arange(N)
    spent = row * 37 % 100 * 25 + 100
    joined = pd.Timestamp("2021-03-05") + pd.to_timedelta(row * 5, unit="D")
    return pd.DataFrame(
        {
            "customer": [f"K{number:04}x" for number in row],
            "spent": [f"€{value:,.2f}" for value in spent],
            "visits": np.where(row % 10 == 3, "?", (row % 17).astype(str)),
            "age": row % 50 + 18,
            "plan": np.array(["Pro", "pro ", "Basic"])[row % 3],
            "joined": joined.strftime("%d.%m.%Y"),
            "status": np.where((spent > 1200) ^ (row % 3 == 2), "active", "lost"),
        }
    )


@pytest.fixture
def trained(run, shop):
    shop.to_csv("shop.csv", index=False)
    code, _, err = run("train", "shop.csv", "--target", "status", "--out", "m.hedgerow")
    assert code == 0
    assert "'spent' (number): '€' dropped in 120 cells" in err
    assert "'customer': left out: it looks like an identifier" in err
    return "m.hedgerow"


def test_a_later_raw_file_is_read_as_the_training_file_was(run, trained, shop, tmp_path):
    later = shop.drop(columns="status").sample(frac=1, random_state=0)
    later.loc[5, "age"] = None
    later["age"] = later["age"].astype(object).where(later.index != 7, "n/a")
    later.loc[9, "plan"] = "PRO"
    later.loc[11, "plan"] = "Gold"
    later.loc[13, "joined"] = "-"
    later[later.columns[::-1]].to_csv("later.csv", index=False, sep=";", encoding="cp1252")
    code, out, err = run("predict", trained, "later.csv", "--out", "p.csv", "--keep", "customer")
    assert code == 0
    assert "120 rows predicted" in out
    assert "'visits': '?' read as missing in 12 cells" in err
    assert "'age': 'n/a' read as missing in 1 cell\n" in err
    assert "'plan': words that training did not have read as missing in 1 cell\n" in err
    assert "'joined': '-' read as missing in 1 cell\n" in err
    found = pd.read_csv("p.csv").set_index("customer")["prediction"]
    model = hedgerow.load(tmp_path / trained)
    clean = model.reading_.apply(shop)[list(model.feature_names_in_)]
    expected = pd.Series(model.predict(clean), shop["customer"])
    odd = shop["customer"][[5, 7, 11, 13]]
    assert found.drop(odd).eq(expected.drop(odd)[found.drop(odd).index]).all()


def test_the_rules_hold_no_single_cells(run, trained):
    out = run("show", trained, "--as", "rules")[1]
    assert "€" not in out
    assert "K00" not in out


def test_words_that_no_date_or_number_is_are_refused_by_row(run, trained, shop):
    for column, word, text in [
        ("joined", "soon", "must hold dates like %d.%m.%Y as in training, row 4 has 'soon'."),
        ("spent", "$5", "must hold numbers as in training, row 4 has '$5'."),
    ]:
        shop.assign(**{column: shop[column].where(shop.index != 4, word)}).to_csv("x.csv")
        code, _, err = run("predict", trained, "x.csv", "--out", "p.csv")
        assert code == 1
        assert f"the column '{column}' does not fit the model: it {text}" in err


def test_another_decimal_mark_is_refused_until_it_is_said(run, shop):
    numbers = pd.DataFrame({"size": np.arange(N) / 8, "status": shop["status"]})
    numbers.to_csv("comma.csv", index=False, sep=";", decimal=",")
    numbers.to_csv("point.csv", index=False)
    assert run("train", "comma.csv", "--target", "status", "--out", "m")[0] == 0
    code, _, err = run("predict", "m", "point.csv")
    assert code == 1
    assert "with decimal commas as in training, row 0 has '0.0'" in err
    assert "say so with --decimal ." in err
    with_points = run("predict", "m", "point.csv", "--decimal", ".")
    assert with_points == run("predict", "m", "comma.csv")
    assert run("explain", "m", "point.csv", "--decimal", ".", "--row", "3")[0] == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--sep", "ab"], 2, "'--sep' must be one character or tab, got 'ab'"),
        (["--decimal", "x"], 2, "'--decimal' must be . or , got 'x'"),
        (["--encoding", "utf-9"], 1, "unknown encoding: utf-9"),
        (["--sep", "tab"], 1, "has no column 'status'"),
    ],
)
def test_options_that_are_wrong_are_named(run, shop, options, code, message):
    shop.to_csv("shop.csv", index=False)
    got, _, err = run("train", "shop.csv", "--target", "status", *options)
    assert got == code
    assert message in err
    assert err.count("\n") == 1


def test_data_says_what_is_in_a_file(run, shop):
    shop.assign(copy=shop["age"] * 2, same="x").to_csv("shop.csv", index=False)
    code, out, err = run("data", "shop.csv")
    assert (code, err) == (0, "")
    assert out.startswith("shop.csv: 120 rows, ")
    lines = out.splitlines()
    assert next(line for line in lines if line.startswith("joined")).split()[1:3] == ["date", "0"]
    assert "2021-03-05 … " in out
    assert "'?' read as missing in 12 cells" in out
    assert "careful: says the same as 'age' in every row" in out
    assert "careful: left out: it has only one value" in out
    record = json.loads(run("data", "shop.csv", "--target", "status", "--json")[1])
    columns = {column["name"]: column for column in record["columns"]}
    assert record["task"] == "classification"
    assert columns["status"]["kind"] == "category (target)"
    assert columns["spent"]["changes"][0] == "'€' dropped in 120 cells"
    assert sum(columns["visits"]["bars"]) == N - 12
    assert columns["customer"]["kind"] == "left out"


def test_data_writes_what_the_models_see(run, shop, tmp_path):
    shop.to_csv("shop.csv", index=False)
    assert run("data", "shop.csv", "--target", "status", "--out", "clean.parquet")[0] == 0
    written = pd.read_parquet(tmp_path / "clean.parquet")
    assert written["spent"].iloc[:2].tolist() == [100.0, 1025.0]
    assert set(written["plan"]) == {"Pro", "Basic"}


def test_a_comparison_keeps_the_reading_in_model_and_report(run, shop, tmp_path):
    shop[:80].to_csv("shop.csv", index=False)
    shop[80:].to_csv("test.csv", index=False, sep=";")
    args = ("--target", "status", "--models", "hedgerow DecisionTree", "--out", "out")
    code, _, _ = run("compare", "shop.csv", *args, "--test", "test.csv", "--drop", "joined")
    assert code == 0
    model = hedgerow.load(tmp_path / "out/best.hedgerow")
    assert model.reading_["spent"].signs == ("€",)
    assert list(model.feature_names_in_) == ["spent", "visits", "age", "plan"]
    assert run("predict", "out/best.hedgerow", "test.csv", "--out", "p.csv")[0] == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert 'data-test="data"' in page
    assert "&#39;€&#39; dropped in 80 cells" in page


def test_groups_may_be_a_column_that_is_no_feature(run, shop):
    shop.to_csv("shop.csv", index=False)
    args = ("--target", "status", "--models", "hedgerow DecisionTree", "--folds", "2")
    code, out, _ = run("compare", "shop.csv", *args, "--groups", "customer", "--no-files", "--json")
    assert code == 0
    assert "customer" not in json.loads(out)["feature_names"]
    code, out, _ = run("compare", "shop.csv", *args, "--time", "joined", "--no-files", "--json")
    assert code == 0
    assert "joined" not in json.loads(out)["feature_names"]
