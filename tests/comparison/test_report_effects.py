"""What the answer depends on, in the report: curves, Shapley values, and how sure it is."""

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.comparison.report.effects import COVERAGES, output_of, row_contributions

N = 900


@pytest.fixture(scope="module")
def numbers():
    """A regression on one number and one category; noise beside them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.uniform(0, 10, N),
            "kind": pd.Categorical(rng.choice(["elm", "oak", "yew"], N)),
            "noise": rng.normal(size=N),
        }
    )
    y = 3 * X["size"] + 20 * (X["kind"] == "yew") + rng.normal(size=N)
    return hedgerow.compare(
        X, y, models=["hedgerow DecisionTree", "hedgerow RandomForest"], cv=3, progress=False
    )


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] + rng.normal(size=N) > 0, "up", "down")
    models = ["hedgerow TreeInTree", "hedgerow GradientBoosting"]
    return hedgerow.compare(X, y, models=models, cv=3, progress=False)


def test_curves_are_means_of_answers_with_one_value_for_all(numbers):
    found = numbers.report().summary["dependence"]
    best = numbers.best_model
    assert found["model"] == best.name
    curves = {curve["name"]: curve for curve in found["curves"]}
    assert list(curves)[:2] in (["size", "kind"], ["kind", "size"])
    assert 20 < curves["size"]["mean"][-1] - curves["size"]["mean"][0] < 30
    kinds = dict(zip(curves["kind"]["grid"], curves["kind"]["mean"], strict=True))
    assert 15 < kinds["yew"] - kinds["elm"] < 22
    model = numbers.fit_fold(best.name, best.folds[0])
    rng = np.random.default_rng(numbers.random_state)
    rows = rng.permutation(numbers.splits[best.folds[0]][1])[: found["n_rows"]]
    given = numbers.X.iloc[rows].assign(size=curves["size"]["grid"][3])
    assert curves["size"]["mean"][3] == pytest.approx(model.predict(given).mean(), rel=1e-3)
    assert curves["size"]["rows"][5][3] == pytest.approx(model.predict(given)[5], rel=1e-3)


def test_polars_and_arrays_have_the_same_curves(numbers):
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(numbers.X)
    shape = {"models": ["hedgerow DecisionTree"], "cv": 3, "progress": False}
    one, other = (
        hedgerow.compare(X, numbers.y, **shape).report().summary["dependence"]
        for X in (numbers.X, frame)
    )
    names = [curve["name"] for curve in one["curves"]]
    assert names == [curve["name"] for curve in other["curves"]]
    for ours, theirs in zip(one["curves"], other["curves"], strict=True):
        assert sorted(map(str, ours["grid"])) == sorted(map(str, theirs["grid"]))
        assert sorted(ours["mean"]) == pytest.approx(sorted(theirs["mean"]), rel=1e-3)


def test_contributions_are_of_rows_that_were_held_out(classes):
    found = classes.report().summary["contributions"]
    assert found["model"] == next(r.name for r in classes.ranked if r.is_ours)
    assert found["features"][0]["name"] == "x0"
    first = found["features"][0]
    assert len(first["values"]) == len(first["heights"]) == found["n_rows"]
    # What is higher makes "up", the class that is looked at, likelier.
    assert np.corrcoef(first["values"], first["heights"])[0, 1] > 0.8
    assert output_of(classes) == ("probability of up", 1)


def test_contributions_of_a_followed_row_and_the_base_add_up_to_its_answer(classes):
    model = classes.fit("hedgerow TreeInTree")
    rows = [0, 7, 500]
    found = row_contributions(model, classes.X, rows, classes.classes)
    shares = model.predict_proba(classes.X[rows])
    for of_row, told in zip(shares, found["rows"], strict=True):
        total = found["base"][told["output"]] + sum(value for _, value in told["added"])
        assert told["output"] == of_row.argmax()
        assert total == pytest.approx(of_row.max(), abs=2e-3)


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_intervals_and_sets_hold_what_they_promise(name, request):
    comparison = request.getfixturevalue(name)
    found = comparison.report(refit=False).summary["coverage"]
    assert [row["promised"] for row in found] == list(COVERAGES)
    for row in found:
        assert abs(row["held"] - row["promised"]) < 4 * np.sqrt(0.25 / N)
    sizes = [row["size"] for row in found]
    assert sizes == sorted(sizes)


def test_one_fold_says_nothing_of_coverage(numbers):
    rows = np.arange(N)
    one = hedgerow.compare(
        numbers.X,
        numbers.y,
        models=["hedgerow DecisionTree"],
        split=np.where(rows % 3, "train", "test"),
    )
    assert one.report(refit=False).summary["coverage"] is None
