"""One ranking, on the folds that all ranked models finished; and one rule for "about as good"."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from hedgerow.cli.leaderboard import leaderboard, summary, unranked
from hedgerow.comparison import Comparison, Data, Result, compare
from hedgerow.comparison.records import INTERRUPTED
from hedgerow.comparison.run import Run
from hedgerow.model_selection import corrected_t_test

TIME_IS_UP = "the time was up in fold 5"


def result(name, scores, *, metric="accuracy", folds=None, library="hedgerow", **more):
    folds = list(range(len(scores))) if folds is None else folds
    costs = {"n_splits": 10, "n_bytes": 100, "microseconds_per_row": 1.0} | more
    other = {"log_loss": [0.5] * len(scores)} if metric == "accuracy" else {}
    return Result(
        name,
        costs.pop("family", "tree"),
        library,
        scores={metric: scores} | other,
        folds=folds,
        fit_seconds=[0.1] * len(scores),
        **costs,
    )


def constant(score, n_folds=5, metric="accuracy"):
    costs = {"family": "constant", "library": "none", "n_splits": 0, "n_bytes": 8}
    return result("constant", [score] * n_folds, metric=metric, **costs)


def comparison(*results, metrics=("accuracy", "log_loss"), n_folds=5, test_ratio=0.25):
    task = "regression" if metrics[0] in ("r2", "rmse") else "classification"
    classes = None if task == "regression" else ["no", "yes"]
    table = Data(100, 1, name="table", target="y")
    return Comparison(
        task, classes, ["a"], table, list(results), n_folds, test_ratio, metrics=list(metrics)
    )


def one_answer(made):
    """The best by every word that a comparison has on it."""
    report = made.report().summary
    shown = [row["model"] for row in made.rows if row["rank"] == 1]
    fronts = [made.pareto(cost)[-1] for cost in ("splits", "bytes", "latency")]
    assert leaderboard(made).columns[0]._cells[0] == made.results[0].name
    return {made.best_result.name, report["headline"]["best"], *shown, *fronts}


@pytest.mark.parametrize("scores", [[0.9] * 4, [0.9, 0.9]])
def test_a_model_that_was_cut_by_the_time_is_named_and_not_ranked(scores):
    made = comparison(
        result("whole", [0.8] * 5), constant(0.5), result("cut", scores, error=TIME_IS_UP)
    )
    assert one_answer(made) == {"whole"}
    assert [r.name for r in made.ranked] == ["whole", "constant"]
    assert unranked(made) == [f"not ranked: cut ({TIME_IS_UP}, after {len(scores)} folds)"]
    assert f"cut ({TIME_IS_UP}, after {len(scores)} folds)." in made.report().html()


def test_models_that_were_left_out_are_named_in_one_line():
    made = comparison(
        result("whole", [0.8] * 5),
        constant(0.5),
        result("slow", [], error="left out: it would take about 52 s"),
        result("slow too", [], error="left out: it would take about 52 s"),
        result("slower", [0.9], error="left out: its folds would take 2 min more"),
        result("broken", [], error="a wheel came off"),
    )
    assert unranked(made) == [
        "not ranked: slower (its folds would take 2 min more, after 1 fold); broken (a wheel came "
        "off); slow, slow too (it would take about 52 s)"
    ]
    assert "slow, slow too (it would take about 52 s)." in made.report().html()


def test_a_worse_model_with_more_folds_is_not_best_after_ctrl_c():
    made = comparison(
        result("worse", [-0.6, -0.5, -0.6], metric="r2", error=INTERRUPTED),
        result("better", [0.2, 0.1], metric="r2", error=INTERRUPTED),
        constant(0.0, 3, "r2"),
        metrics=["r2", "rmse"],
    )
    assert one_answer(made) == {"better"}
    assert [r.counted for r in made.results] == [[0, 1]] * 3
    assert made["worse"].mean("r2") == pytest.approx(-0.55)
    assert unranked(made) == ["interrupted: the ranking is on 2 folds of 5"]


def test_a_model_that_ctrl_c_left_far_behind_does_not_take_folds_from_the_others():
    made = comparison(
        result("whole", [0.8] * 5),
        result("begun", [0.9, 0.9], error=INTERRUPTED),
        result("not begun", [], error=INTERRUPTED),
    )
    assert [r.name for r in made.ranked] == ["whole"]
    assert len(made["whole"].counted) == 5
    assert unranked(made)[1] == "not ranked, for want of folds: begun, not begun"


def test_where_no_model_finished_they_are_ranked_on_what_all_have():
    made = comparison(
        result("one", [0.7, 0.8, 0.9], error=TIME_IS_UP), result("two", [0.8, 0.8], error="late")
    )
    assert [(r.name, r.counted) for r in made.ranked] == [("two", [0, 1]), ("one", [0, 1])]


def test_nothing_worse_than_a_constant_is_best():
    made = comparison(
        result("tree", [-0.5] * 5, metric="r2"), constant(0.0, 5, "r2"), metrics=["r2", "rmse"]
    )
    assert made.best_result.name == "constant"
    assert made.best_of_ours is None
    assert made.pareto("splits") == []
    assert summary(made)[-1] == "No model is better than a constant."
    assert "No model predicts better than a constant" in made.report().html()


def test_less_is_better_where_the_metric_says_so():
    made = comparison(
        result("far", [3.0] * 5, metric="rmse"),
        result("near", [1.0] * 5, metric="rmse"),
        constant(5.0, 5, "rmse"),
        metrics=["rmse", "r2"],
    )
    assert one_answer(made) == {"near"}
    assert [r.name for r in made.ranked] == ["near", "far", "constant"]


# Per-fold accuracies with the spread that small tables have.
NOISE = np.array([0.02, -0.02, 0.01, -0.03, 0.02])
NEAR = [0.966, 0.974, 0.965, 0.973, 0.968]


def test_five_folds_do_not_make_0_935_about_as_good_as_0_972():
    best = [0.972] * 5
    behind = (0.935 + NOISE).tolist()
    assert corrected_t_test(behind, best, 0.25).pvalue > 0.05  # no power, so no evidence
    made = comparison(result("best", best, n_bytes=1000), result("behind", behind), constant(0.627))
    assert not made["behind"].about_as_good
    assert made.simplest_result.name == "best"


@pytest.mark.parametrize(("n_folds", "ratio"), [(5, 0.25), (10, 1 / 9)])
def test_about_as_good_is_within_one_corrected_standard_error_and_a_twentieth(n_folds, ratio):
    rng = np.random.default_rng(0)
    best = 0.9 + 0.01 * rng.normal(size=n_folds)
    noise = 0.01 * rng.normal(size=n_folds)
    noise -= noise.mean()
    error = np.sqrt((1 / n_folds + ratio) * noise.var(ddof=1))

    def is_level(gap, floor):
        other = result("other", (best - gap + noise).tolist())
        made = comparison(
            result("best", best.tolist()), other, constant(floor, n_folds), n_folds=n_folds,
            test_ratio=ratio,
        )  # fmt: skip
        assert made["other"].standard_error == pytest.approx(error)
        return made["other"].about_as_good

    assert is_level(0.99 * error, 0.5)
    assert not is_level(1.01 * error, 0.5)
    gained = 0.1 * error  # so that a twentieth of it is less than the standard error
    assert is_level(0.0049 * error, best.mean() - gained)
    assert not is_level(0.0051 * error, best.mean() - gained)


def test_terminal_report_and_estimator_name_the_same_smallest():
    made = comparison(
        result("large", [0.97, 0.98, 0.96, 0.97, 0.97], n_bytes=5000),
        result("small", NEAR, n_bytes=50),
        result("smaller", [0.93] * 5, n_bytes=20),
        result("peer", NEAR, n_bytes=10, library="scikit-learn"),
        constant(0.6),
    )
    assert made.simplest_result.name == "small"
    assert made.report().summary["headline"]["smallest"]["name"] == "small"
    assert summary(made)[-1].endswith("about as good as the best: small (50 bytes)")


def test_where_none_of_hedgerows_is_as_good_that_is_said():
    made = comparison(result("ours", [0.8] * 5), result("peer", [0.9] * 5, library="LightGBM"))
    assert summary(made)[-1] == (
        "None of hedgerow's is about as good as peer; the nearest is ours (100 bytes)"
    )
    assert made.report().summary["headline"]["smallest"] is None


NAN = float("nan")
DEGENERATE = {
    "one model": [result("only", [0.9] * 5)],
    "zero splits": [result("stump", [0.9] * 5, n_splits=0, n_bytes=40), constant(0.9)],
    "zero splits, one better": [
        result("stump", [0.9] * 5, n_splits=0), result("tree", [0.95] * 5), constant(0.9),
    ],
    "equal scores": [result("a", [0.9] * 5), result("b", [0.9] * 5), constant(0.9)],
    "one fold": [result("a", [0.9]), result("b", [0.8]), constant(0.5, 1)],
    "NaN scores": [result("a", [NAN] * 5), constant(NAN)],
    "one NaN": [result("a", [0.9, 0.9, NAN, 0.9, 0.9]), result("b", [0.8] * 5), constant(0.5)],
    "a fold without a score": [result("a", [0.9, NAN]), result("b", [0.8, NAN])],
    "no cost known": [
        result("a", [0.9] * 5, n_splits=None, n_bytes=None, microseconds_per_row=None),
    ],
    "nothing finished": [Result("a", "tree", "hedgerow", error="broken")],
    "a perfect score": [result("a", [1.0] * 5), constant(1.0)],
    "worse than a constant": [result("a", [0.1] * 5), constant(0.5)],
    "huge": [result("a", [0.9] * 5, n_splits=10**9, n_bytes=10**12), constant(0.5)],
}  # fmt: skip


@pytest.mark.parametrize("case", DEGENERATE)
def test_every_degenerate_result_has_a_report_and_a_table(case):
    made = comparison(*DEGENERATE[case])
    assert Comparison.from_json(made.to_json()).to_json() == made.to_json()
    report = made.report()
    assert report.html().startswith("<!doctype html>")
    json.loads(report.json())
    if made.ranked:
        leaderboard(made)
        summary(made)
    unranked(made)


def test_a_score_that_is_none_is_not_ranked_and_a_fold_without_any_is_not_counted():
    made = comparison(*DEGENERATE["one NaN"])
    assert [r.name for r in made.ranked] == ["b", "constant"]
    made = comparison(*DEGENERATE["a fold without a score"])
    assert [(r.name, r.counted) for r in made.ranked] == [("a", [0]), ("b", [0])]
    with pytest.raises(ValueError, match="no model finished a fold"):
        _ = comparison(*DEGENERATE["NaN scores"]).best_result


def test_what_runs_is_what_is_shown():
    X, y = load_iris(return_X_y=True)
    models = ["hedgerow TAOTree", "hedgerow DecisionTree", "scikit-learn DecisionTree"]
    made = compare(X, y, models=models, cv=2)
    assert made["hedgerow TAOTree"].changed == {"max_depth": 8}
    assert made["hedgerow TAOTree"].settings["max_depth"] == 8
    assert made["scikit-learn DecisionTree"].settings["criterion"] == "gini"
    again = Comparison.from_json(made.to_json())
    assert again["hedgerow TAOTree"].settings == made["hedgerow TAOTree"].settings
    assert "hedgerow TAOTree: max_depth=8." in made.report(refit=False).html()


def test_an_embedding_is_left_out_where_it_would_take_minutes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=3000), "word": rng.permutation(3000)})
    X["word"] = (X["word"] // 1.2).astype(str).astype("category")
    y = X["a"] > 0
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "try_fold", lambda self, *rest: runs.append(self.name))
        with pytest.raises(ValueError, match="no model could be compared"):
            compare(X, y, cv=2)
    assert "hedgerow DecisionTree" in runs
    assert "hedgerow TreeEmbedding" not in runs
