import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import hedgerow
from hedgerow.comparison import Comparison, Data, Result, compare
from hedgerow.comparison.run import Run
from hedgerow.model_selection import corrected_t_test


def result(name, accuracy, n_splits=1, n_bytes=10, latency=1.0, folds=None, **more):
    folds = list(range(len(accuracy))) if folds is None else folds
    return Result(
        name,
        "tree",
        "hedgerow",
        scores={"accuracy": accuracy, "log_loss": [0.5] * len(accuracy)},
        folds=folds,
        fit_seconds=[0.1] * len(accuracy),
        n_splits=n_splits,
        n_bytes=n_bytes,
        microseconds_per_row=latency,
        **more,
    )


def comparison(*results):
    return Comparison("classification", ["no", "yes"], ["a"], Data(100, 1), list(results), 5, 0.25)


GOOD = [0.9, 0.92, 0.91, 0.93, 0.9]
ALIKE = [0.91, 0.9, 0.92, 0.9, 0.91]
BAD = [0.6, 0.62, 0.61, 0.6, 0.59]


def test_what_is_about_as_good_as_the_best_is_marked():
    made = comparison(result("bad", BAD), result("good", GOOD), result("alike", ALIKE))
    assert [r.name for r in made.results] == ["good", "alike", "bad"]
    assert [r.about_as_good for r in made.results] == [True, True, False]
    assert made["bad"].p_value == corrected_t_test(BAD, GOOD, 0.25).pvalue


def test_the_front_holds_what_nothing_beats_in_both():
    made = comparison(
        result("large", GOOD, n_splits=100),
        result("small", BAD, n_splits=1),
        result("worse than small", [0.5] * 5, n_splits=2),
        result("middle", [0.8] * 5, n_splits=10),
    )
    assert made.pareto("splits") == ["small", "middle", "large"]
    assert made.pareto("bytes") == ["large"]  # all cost the same
    with pytest.raises(ValueError, match="'cost' must be one of 'splits', 'bytes', 'latency'"):
        made.pareto("money")


def test_the_simplest_is_small_and_about_as_good():
    made = comparison(
        result("good", GOOD, n_splits=100),
        result("alike", ALIKE, n_bytes=9, n_splits=10),
        result("bad", BAD, n_bytes=8, n_splits=1),
    )
    assert made.simplest_result.name == "alike"


def test_json_and_back_is_the_same():
    made = comparison(result("good", GOOD), Result("failed", "tree", "hedgerow", error="no"))
    record = json.loads(made.to_json())
    assert record["pareto"]["splits"] == ["good"]
    again = Comparison.from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert again.rows[0] == made.rows[0]
    with pytest.raises(ValueError, match="has no data to fit"):
        _ = again.best_estimator_
    with pytest.raises(ValueError, match="no results.json"):
        Comparison.from_json("[]")


def test_best_is_fitted_once_on_all_rows_and_takes_the_users_labels():
    X, y = load_wine(return_X_y=True)
    words = np.array(["barolo", "grignolino", "barbera"])[y]
    made = compare(X, words, cv=2, models=["hedgerow RandomForest", "hedgerow DecisionTree"])
    assert made.best_estimator_ is made.best_estimator_
    assert isinstance(made.best_estimator_, hedgerow.RandomForestClassifier)
    assert set(made.best_estimator_.predict(X)) == set(words)
    assert made.classes == sorted(set(words))


def test_no_finished_fold_means_no_best():
    with pytest.raises(ValueError, match="no model finished a fold"):
        _ = comparison(Result("failed", "tree", "hedgerow", error="no")).best_result


def test_the_models_of_the_leaders_folds_are_kept_and_nothing_else_is_fitted(monkeypatch):
    X, y = load_wine(return_X_y=True)
    models = ["hedgerow RandomForest", "hedgerow DecisionTree", "scikit-learn RandomForest"]
    made = compare(X, y, cv=3, models=models)
    best = made.best_result.name
    kept = [made.fit_fold(best, fold, refit=False) for fold in range(3)]
    for model, (_, test) in zip(kept, made.splits, strict=True):
        np.testing.assert_array_equal(model.predict(X[test]), made.best_result.predictions[test])
    fitted = []
    monkeypatch.setattr(Run, "_fitted", lambda self, *table: fitted.append(self.name))
    summary = made.report(refit=False).summary
    assert fitted == []
    assert summary["importance"]["n_folds"] == 3
    assert summary["model"] is None
    assert made.fit("hedgerow DecisionTree", refit=False) is None


def test_what_was_not_kept_is_fitted_again_when_asked_for(monkeypatch):
    monkeypatch.setattr("hedgerow.comparison.schedule.LEADERS", 0)
    X, y = load_wine(return_X_y=True)
    made = compare(X, y, cv=2, models=["hedgerow DecisionTree"])
    assert made.fit_fold("hedgerow DecisionTree", 1, refit=False) is None
    model, (_, test) = made.fit_fold("hedgerow DecisionTree", 1), made.splits[1]
    np.testing.assert_array_equal(model.predict(X[test]), made.best_result.predictions[test])
    assert made.report().summary["importance"]["n_folds"] == 2


def test_the_report_and_the_terminal_name_the_same_smallest_model():
    made = comparison(
        result("good", GOOD, n_splits=100),
        result("alike", ALIKE, n_splits=10, n_bytes=8),
        Result("peer", "tree", "scikit-learn", {"accuracy": ALIKE, "log_loss": [0.5] * 5}),
    )
    made["peer"].folds, made["peer"].n_splits = list(range(5)), 3
    made["peer"].fit_seconds = [0.1] * 5
    made = comparison(*made.results)
    assert made.report().summary["headline"]["smallest"]["name"] == made.simplest_result.name


def test_the_names_that_the_guide_gives_exist():
    assert hedgerow.comparison.MODELS["hedgerow DecisionTree"].is_ours
    assert hedgerow.comparison.Comparison is Comparison
    assert callable(hedgerow.compare)
