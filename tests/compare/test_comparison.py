import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import hedgerow
from hedgerow.compare import Comparison, Data, Result, compare
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


def test_what_the_test_cannot_tell_from_the_best_is_marked():
    made = comparison(result("bad", BAD), result("good", GOOD), result("alike", ALIKE))
    assert [r.name for r in made.results] == ["good", "alike", "bad"]
    assert [r.indistinguishable for r in made.results] == [True, True, False]
    assert made["bad"].p_value == corrected_t_test(BAD, GOOD, 0.25).pvalue


def test_the_test_looks_at_folds_that_both_finished():
    made = comparison(result("good", GOOD), result("half", BAD[:2], folds=[1, 3]))
    assert made["half"].p_value == corrected_t_test(BAD[:2], [GOOD[1], GOOD[3]], 0.25).pvalue
    one = comparison(result("good", GOOD), result("once", [0.5], folds=[0]))
    assert (one["once"].p_value, one["once"].indistinguishable) == (None, False)


def test_a_few_lucky_folds_do_not_make_a_best():
    assert comparison(result("good", GOOD), result("lucky", [1.0], folds=[2])).best.name == "good"


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
        result("alike", ALIKE, n_splits=10),
        result("bad", BAD, n_splits=1),
    )
    assert made.simplest.name == "alike"


def test_json_and_back_is_the_same():
    made = comparison(result("good", GOOD), Result("failed", "tree", "hedgerow", error="no"))
    record = json.loads(made.to_json())
    assert record["pareto"]["splits"] == ["good"]
    again = Comparison.from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert again.rows[0] == made.rows[0]
    with pytest.raises(ValueError, match="has no data to fit"):
        _ = again.best_
    with pytest.raises(ValueError, match="no results.json"):
        Comparison.from_json("[]")


def test_best_is_fitted_once_on_all_rows_and_takes_the_users_labels():
    X, y = load_wine(return_X_y=True)
    words = np.array(["barolo", "grignolino", "barbera"])[y]
    made = compare(X, words, cv=2, models=["hedgerow RandomForest", "hedgerow DecisionTree"])
    assert made.best_ is made.best_
    assert isinstance(made.best_, hedgerow.RandomForestClassifier)
    assert set(made.best_.predict(X)) == set(words)
    assert made.classes == sorted(set(words))


def test_no_finished_fold_means_no_best():
    with pytest.raises(ValueError, match="no model finished a fold"):
        _ = comparison(Result("failed", "tree", "hedgerow", error="no")).best
