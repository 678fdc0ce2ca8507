import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import StratifiedKFold

import hedgerow
from hedgerow._timing import time_row
from hedgerow.comparison import MODELS, compare
from hedgerow.comparison.metrics import find_metrics
from hedgerow.comparison.models import boosted, oblivious
from hedgerow.comparison.sizes import count_bytes, count_file_bytes, count_splits, find_depth
from hedgerow.comparison.within import Limits, is_clearly_better, settings_of

QUICK = ["hedgerow DecisionTree", "hedgerow RandomForest", "hedgerow MeanMarginTree"]


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    "limit", [{"max_splits": 1}, {"max_splits": 12}, {"max_bytes": 2000}, {"max_path": 3}]
)
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


def test_a_time_is_kept_and_the_model_can_be_saved(cancer, tmp_path):
    heard = []
    model = hedgerow.fit_within(
        *cancer,
        max_splits=5,
        models=QUICK[:1],
        cv=2,
        budget="60s",
        progress=lambda *said: heard.append(said[:3]),
    )
    assert heard == [(0, 1, QUICK[0])]
    hedgerow.save(model, tmp_path / "model.hedgerow")
    assert hedgerow.load(tmp_path / "model.hedgerow").n_splits_ == model.n_splits_
    with pytest.raises(TimeoutError, match="no model was done within 0.001"):
        hedgerow.fit_within(*cancer, max_splits=500, models=["hedgerow TreeInTree"], budget=0.001)


def test_latency_is_a_limit_too(cancer):
    model = hedgerow.fit_within(*cancer, max_latency_us=5000, models=QUICK[:1], cv=2)
    assert time_row(model, cancer[0]) < 5000
    with pytest.raises(ValueError, match="no setting keeps the limits max_latency_us=0."):
        hedgerow.fit_within(*cancer, max_latency_us=0, models=QUICK[:1])


def test_the_longest_path_can_be_limited(cancer):
    model = hedgerow.fit_within(*cancer, max_path=2, cv=2, models=[*QUICK, "hedgerow TreeInTree"])
    assert find_depth(model) <= 2
    assert model.held_out_.longest_path == find_depth(model)
    assert f"longest path {find_depth(model)}, " in str(model.held_out_)
    assert model.score(*cancer) > 0.9
    found = compare(*cancer, cv=2, max_path=3, models=["hedgerow DecisionTree", "LightGBM"][:1])
    assert found.best_model.depth <= 3
    assert found.rows[0]["longest_path"] == found.best_model.depth


def test_a_limited_path_is_a_limited_depth_and_no_smaller_ensemble():
    limits = Limits(max_path=3)
    assert list(settings_of(MODELS["hedgerow RandomForest"], limits, False, False)) == [
        {},
        {"max_depth": 3},
    ]
    tao = list(settings_of(MODELS["hedgerow TAOTree"], limits, False, False))
    assert tao[1] == {"max_depth": 3}
    assert tao[2] == {"max_depth": 3, "max_leaf_nodes": 8}
    oblivious = settings_of(MODELS["CatBoost"], Limits(max_splits=60, max_path=2), False, False)
    assert {rung.get("depth") for rung in oblivious} == {None, 1, 2}


@pytest.mark.parametrize(
    "name", ["scikit-learn HistGradientBoosting", "LightGBM", "XGBoost", "CatBoost"]
)
def test_depths_of_other_libraries_are_the_longest_paths(cancer, name):
    if not MODELS[name].is_installed:
        pytest.skip(f"{name} is not installed")
    model = MODELS[name]
    for depth in (1, 3):
        fitted = model.make("classification", settings={model.depth: depth}).fit(*cancer)
        assert find_depth(fitted) == depth


def test_the_size_of_the_file_is_that_of_the_file(cancer, tmp_path):
    tree = hedgerow.DecisionTreeClassifier(max_leaf_nodes=9).fit(*cancer)
    hedgerow.save(tree, tmp_path / "tree.hedgerow")
    assert count_file_bytes(tree) == (tmp_path / "tree.hedgerow").stat().st_size
    theirs = MODELS["scikit-learn DecisionTree"].make("classification").fit(*cancer)
    assert count_file_bytes(theirs) == len(pickle.dumps(theirs.estimator_))
    found = compare(*cancer, cv=2, models=["hedgerow DecisionTree"])
    assert found["hedgerow DecisionTree"].n_file_bytes > found["hedgerow DecisionTree"].n_bytes / 20


def test_same_seed_gives_the_same_model(cancer):
    one, other = (hedgerow.fit_within(*cancer, max_splits=9, models=QUICK, cv=2) for _ in range(2))
    assert str(one) == str(other)
    np.testing.assert_array_equal(one.predict_proba(cancer[0]), other.predict_proba(cancer[0]))


def test_the_choice_states_the_held_out_score_of_what_it_chose(cancer):
    model = hedgerow.fit_within(*cancer, max_splits=9, models=QUICK, cv=3)
    held_out = model.held_out_
    entry = MODELS[held_out.model]
    rows = StratifiedKFold(3, shuffle=True, random_state=0).split(*cancer)
    again = [
        entry.make("classification", settings=held_out.settings)
        .fit(cancer[0][train], cancer[1][train])
        .score(cancer[0][test], cancer[1][test])
        for train, test in rows
    ]
    np.testing.assert_allclose(held_out.scores, again, atol=0.02)  # bins of all rows, or of a fold
    assert held_out.metric == "accuracy"
    assert (held_out.n_splits, held_out.n_bytes) == (model.n_splits_, model.nbytes_)
    assert held_out.n_compared > len(QUICK)
    assert str(held_out).startswith(f"{held_out.model}(")
    assert f"accuracy {held_out.score:.4f}" in str(held_out)
    assert pickle.loads(pickle.dumps(model)).held_out_ == held_out


def test_a_better_score_is_clear_beyond_its_standard_error():
    error, accuracy = (find_metrics(name, task, None)[0] for name, task in
                       (("rmse", "regression"), ("accuracy", "classification")))  # fmt: skip
    assert is_clearly_better(accuracy, [0.9, 0.8, 0.9], [0.8, 0.7, 0.85])
    assert not is_clearly_better(accuracy, [0.9, 0.6, 0.9], [0.8, 0.7, 0.85])
    assert not is_clearly_better(error, [0.9, 0.8, 0.9], [0.8, 0.7, 0.85])
    assert is_clearly_better(error, [0.8, 0.7, 0.85], [0.9, 0.8, 0.9])
    assert is_clearly_better(accuracy, [0.9, 0.8], [np.nan, np.nan])
    assert not is_clearly_better(accuracy, [0.9, np.nan], [0.8, 0.7])


def test_a_sum_that_fills_the_limit_is_taken_where_nothing_is_clearly_better():
    X, y = load_diabetes(return_X_y=True)
    models = ["hedgerow TreeSum", "hedgerow DecisionTree"]
    model = hedgerow.fit_within(X, y, max_splits=12, models=models)
    assert model.held_out_.settings == {"max_splits": 12}
    assert next(iter(settings_of(MODELS["hedgerow TreeSum"], Limits(9), False, False))) == {
        "max_splits": 9
    }


def test_a_limit_is_needed(cancer):
    with pytest.raises(ValueError, match="'max_path' or 'max_flash_bytes' must be given"):
        hedgerow.fit_within(*cancer)


def test_every_ladder_has_valid_settings_that_keep_the_number_of_splits(cancer):
    X, y = cancer[0][::4], cancer[1][::4]
    for name, model in MODELS.items():
        if model.ladder is None or not model.is_installed:
            continue
        fitted = [model.make("classification", settings=s).fit(X, y) for s in model.ladder(6)]
        assert min(map(count_splits, fitted)) <= 6, name


@pytest.mark.parametrize("most", [1, 7, 50])
def test_rungs_of_boosters_differ_and_take_larger_steps_in_fewer_rounds(most):
    rungs = list(boosted("n", "leaves")(most))
    assert len({tuple(rung.values()) for rung in rungs}) == len(rungs)
    assert all(rung["n"] * (rung["leaves"] - 1) <= most for rung in rungs)
    assert all(rung["n"] ** -0.5 <= rung["learning_rate"] <= 1 for rung in rungs)
    for rung in oblivious(most):
        assert rung["iterations"] * (2 ** rung["depth"] - 1) <= most


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


def bytes_by_hand(n_splits, n_leaves, n_values=1):
    return 16 * (n_splits + n_leaves) + (8 * n_values * n_leaves if n_values > 1 else 0)


def test_trees_of_scikit_learn_are_measured_as_nodes_of_16_bytes(cancer):
    theirs = MODELS["scikit-learn DecisionTree"].make("classification").fit(*cancer)
    tree = theirs.estimator_.tree_
    n_splits = tree.node_count - tree.n_leaves
    assert count_splits(theirs) == n_splits
    assert count_bytes(theirs) == bytes_by_hand(n_splits, tree.n_leaves, 2)
    boosting = MODELS["scikit-learn HistGradientBoosting"].make(
        "classification", settings={"max_iter": 4, "max_leaf_nodes": 3}
    )
    assert count_bytes(boosting.fit(*cancer)) == bytes_by_hand(4 * 2, 4 * 3)


@pytest.mark.parametrize("name", ["LightGBM", "XGBoost", "CatBoost", "FIGS"])
def test_trees_of_other_libraries_are_measured_as_nodes_of_16_bytes(cancer, name):
    if not MODELS[name].is_installed:
        pytest.skip(f"{name} is not installed")
    model = MODELS[name]
    setting = next(iter(model.ladder(7)))
    fitted = model.make("classification", settings=setting).fit(*cancer)
    n_splits = count_splits(fitted)
    assert 1 <= n_splits <= 7
    if name == "FIGS":
        n_trees, n_values = len(fitted.estimator_.trees_), 2
    else:
        n_trees, n_values = n_splits, 1  # stumps
    assert count_bytes(fitted) == bytes_by_hand(n_splits, n_splits + n_trees, n_values)


def test_terms_of_an_additive_model_are_measured_as_trees():
    model = SimpleNamespace(
        term_features_=[(0,), (1,), (0, 1)],
        # Of three bins, of two, and their pairs; each with one for missing and one for unknown.
        term_scores_=[np.array([9, 1, 1, 2, 9]), np.array([9, 1, 2, 9]), np.zeros((5, 4))],
        intercept_=np.zeros(1),
    )
    assert count_splits(model) == 1 + 1 + 5
    assert count_bytes(model) == bytes_by_hand(7, 10)


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
