"""Tables as people export them, through `hedgerow compare`: the ranking and the warnings.

Each file is generated, with something in it that has led people astray: what must be said of it,
what must decide, and which model must not win.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

N = 480
ROW = np.arange(N)
RNG = np.random.default_rng(5)
A, B = RNG.normal(size=N).round(3), RNG.normal(size=N).round(3)
LIKELY = A + B + 0.3 * RNG.normal(size=N) > 0
TARGET = np.where(LIKELY, "leave", "stay")
MODELS = "hedgerow DecisionTree,hedgerow RandomForest"


@dataclass
class Case:
    """A file, the options it is compared with, and what must come of it.

    told : parts of what is said; metric : what decides; features : those that are left; best :
    whether a model beats the constant, and least and most of its score.
    """

    columns: dict[str, Any]
    told: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    metric: str = "accuracy"
    features: set[str] | None = None
    best: bool = True
    score: tuple[float, float] = (0.7, 1.0)
    silent: bool = False
    sep: str = ","
    encoding: str = "utf-8"
    after: str = ""

    def write(self, path):
        text = pd.DataFrame(self.columns).to_csv(index=False, sep=self.sep) + self.after
        path.write_bytes(text.encode(self.encoding))


def plain(**more):
    return {"a": A, "b": B, **more, "status": TARGET}


PEOPLE = RNG.permutation(np.repeat(np.arange(N // 8), 8))
HABITS = RNG.random(N // 8) < 0.5
DAYS = pd.date_range("2023-01-01", periods=N, freq="D")
HOURS = pd.date_range("2023-03-01", periods=N, freq="h")
TREND = np.linspace(0, 100, N) + RNG.normal(size=N)

CASES = {
    "nothing wrong": Case(plain(), silent=True, features={"a", "b"}),
    "a leak": Case(
        plain(reason=np.where(LIKELY, "moved away", "-")),
        ["'reason' alone gives nearly the best score", "--drop reason"],
        score=(0.99, 1.0),
    ),
    "a leak of one class of three, one of them rare": Case(
        {
            "a": A,
            "b": RNG.normal(size=N),
            "close reason": np.where(LIKELY, "moved away", "-"),
            "status": np.where(RNG.random(N) < 0.03, "suspended", TARGET),
        },
        ["'close reason' alone gives nearly the best score", "--drop 'close reason'"],
        metric="balanced_accuracy",
        score=(0.55, 0.8),
    ),
    "a leak, dropped": Case(
        plain(reason=np.where(LIKELY, "moved away", "-")),
        options=["--drop", "reason"],
        features={"a", "b"},
        score=(0.75, 0.98),
    ),
    "identifiers and constants": Case(
        plain(customer_id=ROW * 7 + 1000, code=[f"X{k:05}" for k in ROW], firm="ACME", note=""),
        ["'customer_id'", "'code'", "'firm'", "'note'"],
        features={"a", "b"},
    ),
    "a division as a column": Case(
        plain(split=np.where(ROW % 5, "train", "test")),
        ["left out the column 'split': it divides the rows"],
        features={"a", "b"},
    ),
    "a division that is used": Case(
        plain(split=np.where(ROW % 5, "train", "test")), options=["--split", "split"]
    ),
    "a rare class": Case(
        {"a": A, "b": B, "status": np.where(A + B > 3.3, "fraud", "fine")},
        ["the class 'fraud' has", "ranked by average precision"],
        metric="average_precision",
        score=(0.1, 1.0),
    ),
    "a class with one row": Case(
        {"a": A, "b": B, "status": np.where(ROW == 7, "odd", TARGET)},
        ["the class 'odd' has 1 row, too few for one in each of 3 folds"],
        metric="balanced_accuracy",
        score=(0.4, 1.0),
    ),
    "a rare class, and accuracy asked for": Case(
        {"a": A, "b": B, "status": np.where(A + B > 3.3, "fraud", "fine")},
        ["accuracy says little of how well it is found"],
        options=["--metric", "accuracy"],
        score=(0.9, 1.0),
        best=None,
    ),
    "rows of the same people": Case(
        {"person_id": PEOPLE, "a": A, "habit": PEOPLE * 0.37 % 1, "status": HABITS[PEOPLE]},
        ["'person_id' looks like an identifier of 60 things with several rows each", "--groups"],
        score=(0.9, 1.0),
    ),
    "rows of the same people, kept together": Case(
        {"person_id": PEOPLE, "a": A, "habit": PEOPLE * 0.37 % 1, "status": HABITS[PEOPLE]},
        options=["--groups", "person_id"],
        features={"a", "habit"},
        best=None,
        score=(0.2, 0.75),
    ),
    "a trend, shuffled": Case(
        {"day": DAYS.strftime("%d.%m.%Y"), "a": A, "status": TREND},
        ["'day' is a date, but the folds are shuffled", "--time day"],
        metric="r2",
        score=(0.95, 1.0),
    ),
    "a trend, in order": Case(
        {"day": DAYS.strftime("%d.%m.%Y"), "a": A, "status": TREND},
        options=["--time", "day"],
        metric="r2",
        best=None,
        score=(-99.0, 0.5),
    ),
    "hours that come again, in order": Case(
        {
            "at": HOURS.strftime("%Y-%m-%d %H:%M"),
            "a": A,
            "status": 10 * (HOURS.hour >= 12) + HOURS.day_of_week + 0.3 * A,
        },
        options=["--time", "at"],
        metric="r2",
        features={"a", "at weekday", "at hour"},
        score=(0.85, 1.0),
    ),
    "copies": Case(
        {
            name: np.concatenate([values[: N // 2], values[: N // 2]])
            for name, values in plain().items()
        },
        ["of the test rows have an exact copy among the training rows"],
    ),
    "noise": Case(
        {"a": A, "b": B, "status": RNG.permutation(TARGET)}, best=None, score=(0.3, 0.62)
    ),
    "a German file of money": Case(
        {
            "Preis (€)": [
                f"{v * 1000 + 9000:,.2f}".translate(str.maketrans(",.", ".,")) for v in A
            ],
            "Anteil": [f"{v + 9:.1f} %".replace(".", ",") for v in B],
            "status": TARGET,
        },
        ["decimal commas read in 480 cells", "'%' dropped in 480 cells", "read as cp1252"],
        features={"Preis (€)", "Anteil"},
        sep=";",
        encoding="cp1252",
    ),
    "question marks": Case(
        {"a": np.where(ROW % 11 == 3, "?", A.astype(str)), "b": B, "status": TARGET},
        ["'?' read as missing in 44 cells"],
    ),
    "a target with spellings": Case(
        {"a": A, "b": B, "status": np.where(ROW % 9 == 1, np.char.upper(TARGET), TARGET)},
        ["read as"],
    ),
    "a target of money": Case(
        {"a": A, "b": B, "status": [f"${9000 + 1000 * v:,.2f}" for v in A + B]},
        ["'$' dropped in 480 cells"],
        metric="r2",
    ),
    "rows without a target": Case(
        {"a": A, "b": B, "status": np.where(ROW % 10 == 4, "", TARGET)},
        ["48 rows without a 'status' were left out"],
    ),
    "names that all differ": Case(
        plain(name=[f"Person {k * 7919 % 100_003} of town {k % 17}" for k in ROW]),
        ["'name'"],
        features={"a", "b"},
    ),
    "a total at the end": Case(
        {"name": np.array(["n", "s"])[ROW % 2], "a": A, "b": B, "status": TARGET},
        ["the last row is a total, left out"],
        after=f"Total,{A.sum():.3f},{B.sum():.3f},\n",
    ),
    "dates of contracts": Case(
        {"a": A, "signed": DAYS.strftime("%b %d, %Y"), "status": np.where(A > 0, "yes", "no")},
        ["dates made years, month, weekday"],
    ),
    "answers in many spellings": Case(
        {"paid": np.where(LIKELY, "Yes", np.where(ROW % 2, "no", "N")), "a": A, "status": TARGET},
        ["read as 'Yes' or 'no'", "'paid' alone gives nearly the best score"],
        score=(0.99, 1.0),
    ),
    "codes with zeros": Case(
        plain(zip=[f"{k % 40:05}" for k in ROW]), ["codes with leading zeros kept as words"]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_export_leads_to(name, run, tmp_path):
    case = CASES[name]
    case.write(tmp_path / "export.csv")
    code, _, told = run(
        "compare", "export.csv", "--target", "status", "--folds", "3", "--models", MODELS,
        "--out", "found", *case.options,
    )  # fmt: skip
    assert code == 0
    for part in case.told:
        assert part in told
    if case.silent:
        assert all(line.startswith("hedgerow: wrote ") for line in told.splitlines())
    found = json.loads((tmp_path / "found" / "results.json").read_text())
    assert found["metric"] == case.metric
    if case.features is not None:
        assert set(found["feature_names"]) == case.features
    ranked = [result for result in found["results"] if result["counted"]]
    if case.best is not None:
        assert (ranked[0]["name"] != "constant") == case.best
    model = next(result for result in ranked if result["name"] != "constant")
    least, most = case.score
    assert least <= np.mean(model["scores"][case.metric]) <= most
    assert (tmp_path / "found" / "report.html").stat().st_size > 10_000


def test_there_are_enough_exports():
    assert len(CASES) >= 25
