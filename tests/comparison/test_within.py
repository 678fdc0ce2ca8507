import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import hedgerow
from hedgerow.comparison import MODELS, compare
from hedgerow.comparison.sizes import count_bytes, count_splits, time_row
from hedgerow.comparison.within import Limits

QUICK = ["hedgerow DecisionTree", "hedgerow RandomForest", "hedgerow MeanMarginTree"]


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("limit", [{"max_splits": 1}, {"max_splits": 12}, {"max_bytes": 2000}])
@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_the_model_keeps_the_limit(load, limit):
    X, y = load(return_X_y=True)
    model = hedgerow.fit_within(X, y, models=QUICK, **limit)
    assert Limits(**limit).hold(model, X)
    assert model.predict(X).shape == y.shape


def test_all_families_of_hedgerow_take_part(cancer):
    model = hedgerow.fit_within(*cancer, max_splits=15, cv=2)
    assert model.n_splits_ <= 15
    assert model.score(*cancer) > 0.93


def test_latency_is_a_limit_too(cancer):
    model = hedgerow.fit_within(*cancer, max_latency_us=5000, models=QUICK[:1], cv=2)
    assert time_row(model, cancer[0]) < 5000
    with pytest.raises(ValueError, match="no setting keeps the limits max_latency_us=0."):
        hedgerow.fit_within(*cancer, max_latency_us=0, models=QUICK[:1])


def test_same_seed_gives_the_same_model(cancer):
    one, other = (hedgerow.fit_within(*cancer, max_splits=9, models=QUICK, cv=2) for _ in range(2))
    assert str(one) == str(other)
    np.testing.assert_array_equal(one.predict_proba(cancer[0]), other.predict_proba(cancer[0]))


def test_a_limit_is_needed(cancer):
    with pytest.raises(ValueError, match="'max_splits', 'max_bytes' or 'max_latency_us' must be"):
        hedgerow.fit_within(*cancer)


def test_every_ladder_has_valid_settings_that_keep_the_number_of_splits(cancer):
    X, y = cancer[0][::4], cancer[1][::4]
    for name, model in MODELS.items():
        if model.ladder is None or not model.is_installed:
            continue
        fitted = [model.make("classification", settings=s).fit(X, y) for s in model.ladder(6)]
        assert min(map(count_splits, fitted)) <= 6, name


def test_a_comparison_under_a_limit_has_only_models_within_it(cancer):
    models = [*QUICK, "scikit-learn DecisionTree", "hedgerow CrossValidatedTree"]
    comparison = compare(*cancer, cv=3, max_splits=10, models=models)
    done = [result for result in comparison.results if result.folds]
    assert len(done) >= 4
    assert all(result.n_splits <= 10 for result in done)
    assert count_splits(comparison.best_estimator_) <= 10
    assert comparison.limits == {"max_splits": 10}
    for result in comparison.results:
        assert result.error is None or "no setting keeps the limits" in result.error


def test_bytes_are_those_of_the_form_that_predicts(cancer):
    forest = hedgerow.RandomForestClassifier(5, random_state=0).fit(*cancer)
    assert count_bytes(forest) == forest.nbytes_
    theirs = MODELS["scikit-learn DecisionTree"].make("classification").fit(*cancer)
    tree = theirs.estimator_.tree_
    assert count_bytes(theirs) >= tree.node_count * (8 + 8)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (["hedgerow NaiveDecisionGraph"], "'hedgerow NaiveDecisionGraph', which does not do regr"),
        (
            ["hedgerow Elm"],
            r"'models' must be some of \['hedgerow DecisionTree', .*got \['hedgerow E",
        ),
        ([], "'models' must be some of"),
    ],
)
def test_what_cannot_be_chosen_from_is_named(models, message):
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        hedgerow.fit_within(X, y, max_splits=5, models=models)


def test_a_wrong_task_is_named(cancer):
    with pytest.raises(ValueError, match="'task' must be 'classification', 'regression' or None"):
        hedgerow.fit_within(*cancer, max_splits=5, task="ranking")
