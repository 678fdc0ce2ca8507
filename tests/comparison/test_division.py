"""Folds that respect what the rows have to do with each other; and what looks too good."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error

from hedgerow.comparison import MODELS, compare, fit_within
from hedgerow.comparison.division import divide
from hedgerow.comparison.metrics import METRICS, find_metrics, rare_classes
from hedgerow.comparison.records import CONSTANT

TREE = "hedgerow DecisionTree"
N = 600


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))


def quick(X, y, **more):
    return compare(X, y, models=[TREE], **({"cv": 3} | more))


def test_groups_are_never_divided_and_their_column_is_no_feature(noise):
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(N // 10), 10)
    y = np.where(rng.normal(size=N // 10)[group] > 0, "yes", "no")
    X = noise.assign(customer_id=group)
    leaky = quick(X, y)
    assert leaky.best_result.mean("accuracy") > 0.7
    assert any("--groups customer_id " in text for text in leaky.warnings)
    fair = quick(X, y, groups="customer_id", repeats=2)
    assert fair[TREE].mean("accuracy") < 0.62
    assert "customer_id" not in fair.feature_names
    assert fair.n_folds == 6
    assert fair.division == "3 folds of whole groups, of 60, 2 times"
    for train, test in fair.splits:
        assert not set(group[train]) & set(group[test])
    given = quick(noise, y, groups=group)
    assert given.division == "3 folds of whole groups, of 60"


def test_ordered_folds_see_only_what_was_before(noise):
    day = np.random.default_rng(2).permutation(np.repeat(np.arange(N // 4), 4))
    y = 0.1 * day + noise["a"].to_numpy()
    X = noise.assign(day=day)
    assert quick(X, y)[TREE].mean("r2") > 0.9
    ordered = quick(X, y, time="day")
    assert ordered[TREE].mean("r2") < 0
    assert ordered.division == "3 folds in the order of time"
    for train, test in ordered.splits:
        assert day[train].max() < day[test].min()
    assert ordered.report().html()  # rows that were never tested are no obstacle
    with pytest.raises(ValueError, match="'time' must have more than 3 different values"):
        quick(noise, y, time=np.arange(N) % 3)


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_a_test_table_takes_the_place_of_folds(noise, kind):
    y = (noise["a"] > 0).to_numpy()
    X = noise
    if kind == "polars":
        X = pl.from_pandas(noise)
    elif kind == "numpy":
        X = noise.to_numpy()
    found = quick(X[:400], y[:400], test=(X[400:], y[400:]))
    ((train, test),) = found.splits
    assert (len(train), len(test), found.division) == (400, 200, "one test table")
    assert found[TREE].mean("accuracy") > 0.95
    assert found.best_estimator_.graph_.n_samples[0] == 400
    assert found.report().html()


def test_a_column_divides_the_rows_as_it_says(noise):
    y = (noise["a"] > 0).to_numpy()
    place = np.where(np.arange(N) < 400, "train", np.where(np.arange(N) < 500, "valid", "test"))
    official = quick(noise.assign(split=place), y, split="split")
    assert [len(part) for part in official.splits[0]] == [500, 100]
    assert official.division == "the given test rows"
    numbered = quick(noise.assign(fold=np.arange(N) % 4), y, split="fold")
    assert numbered.division == "4 given folds"
    with pytest.raises(ValueError, match="'split' must say 'train' and 'test', or number"):
        quick(noise, y, split=np.where(y, "red", "blue"))


def test_a_division_is_not_silently_a_feature(noise):
    y = (noise["a"] > 0).to_numpy()
    X = noise.assign(split=np.where(np.arange(N) < 400, "train", "test"))
    assert quick(X, y).data.dropped["split"].startswith("divides the rows")
    assert "split" in quick(X, y, keep=["split"]).feature_names
    assert quick(X, y, drop=["split", "c"]).feature_names == ["a", "b"]
    with pytest.raises(ValueError, match="'drop' names 'splt', which is no column. Did you mean"):
        quick(X, y, drop=["splt"])


def test_two_ways_to_divide_are_refused(noise):
    y = (noise["a"] > 0).to_numpy()
    with pytest.raises(ValueError, match="'groups' and 'time' are two ways to divide the rows"):
        quick(noise, y, groups=np.arange(N), time=np.arange(N))
    with pytest.raises(ValueError, match="'repeats' shuffles the rows anew"):
        quick(noise, y, time=np.arange(N), repeats=2)
    with pytest.raises(ValueError, match="'groups' has 2 different values, too few for 3 folds"):
        quick(noise, y, groups=y)


def test_repeats_divide_anew():
    y = np.arange(60) % 3
    division = divide(3, "classification", y, 0, repeats=4)
    assert len(division.splits) == 12
    assert len({tuple(test) for _, test in division.splits}) == 12


def test_a_rare_class_changes_the_default_metric_and_is_named(noise):
    rng = np.random.default_rng(3)
    y = np.where(noise["a"] + 0.3 * rng.normal(size=N) > 2, "fraud", "fine")
    found = quick(noise, y)
    assert (found.metric, found.positive) == ("average_precision", "fraud")
    assert found.best_result.name == TREE
    assert any("ranked by average precision" in text for text in found.warnings)
    asked = quick(noise, y, scoring="accuracy")
    assert asked.metric == "accuracy"
    assert any("accuracy says little" in text for text in asked.warnings)
    many = np.where(noise["a"] > 2, "x", np.where(noise["b"] > 0, "y", "z"))
    assert quick(noise, many).metric == "balanced_accuracy"
    few = y.astype(object)
    few[0] = "odd"
    assert any("the class 'odd' has 1 row, too few" in text for text in quick(noise, few).warnings)
    assert rare_classes(np.arange(2600) % 26) == {}  # many classes, none of them rare


def test_class_weights_are_chosen_inside_the_folds_where_a_class_is_rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=1500) > 2.4, "rare", "common")
    assert rare_classes(y)
    graph, boosted, theirs = (
        "hedgerow TreeInTree",
        "hedgerow AdaBoost",
        "scikit-learn DecisionTree",
    )
    found = compare(X, y, cv=3, models=[graph, boosted, theirs], scoring="balanced_accuracy")
    assert found[graph].parameters == 3 * [{"class_weight": "balanced"}]
    assert {"class_weight": "balanced"} in found[theirs].parameters
    assert found[boosted].parameters == 3 * [{}]  # has no class weights
    asked = compare(X, y, cv=3, models=[graph], scoring="average_precision,balanced_accuracy")
    assert asked[graph].parameters == 3 * [{}]
    gained = found[graph].mean("balanced_accuracy") - asked[graph].mean("balanced_accuracy")
    assert gained > 0.1
    assert found.fit(graph).class_weight == "balanced"


def test_labels_that_are_noise_gain_nothing_by_class_weights():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(900, 4)), np.where(rng.random(900) < 0.04, "rare", "common")
    found = compare(X, y, cv=3, models=[TREE], scoring="balanced_accuracy")
    assert abs(found[TREE].mean("balanced_accuracy") - 0.5) < 0.12


@pytest.mark.parametrize("name", [m for m in MODELS if not MODELS[m].is_ours])
def test_every_other_library_can_weigh_classes(name):
    if not MODELS[name].is_installed:
        pytest.skip(f"{name} is not installed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] + rng.normal(size=400) > 1.8, 1, 0)
    few, many = (
        MODELS[name]
        .make("classification", settings=settings)
        .fit(X, y)
        .predict_proba(X)[:, 1]
        .mean()
        for settings in ({}, {"class_weight": "balanced"})
    )
    assert many > few + 0.02 or name in (
        "scikit-learn DecisionTree",
        "scikit-learn RandomForest",
        "YDF RandomForest",
    )


def test_the_metric_that_ranks_chooses_the_settings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    shape = {"cv": 3, "models": [TREE], "budget": "thorough"}
    by_loss = compare(X, y, scoring="log_loss", **shape)[TREE]
    assert all(
        settings for settings in by_loss.parameters
    )  # an unpruned tree is very wrong at times
    model = fit_within(X, y, max_splits=20, models=[TREE], scoring="log_loss")
    assert model.held_out_.metric == "log_loss"
    assert "log-loss 0." in str(model.held_out_)
    assert 0.4 < model.held_out_.score < 0.75


@pytest.mark.parametrize("name", [m for m in METRICS if "classification" in METRICS[m].tasks])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_metrics_of_classes_are_scikit_learns(name, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes, :2], y[y < n_classes]
    found = compare(X, y, models=["scikit-learn DecisionTree"], cv=3, scoring=name)
    scorers = {
        "roc_auc": "roc_auc_ovr" if n_classes > 2 else "roc_auc",
        "f1": "f1_macro" if n_classes > 2 else "f1",
        "log_loss": "neg_log_loss",
        "brier": "neg_brier_score",
    }
    if name == "average_precision" and n_classes > 2:
        return  # scikit-learn's scorer is for two classes
    sign = 1 if METRICS[name].higher else -1
    for fold, (_, test) in enumerate(found.splits):
        model = found.fit_fold("scikit-learn DecisionTree", fold)
        expected = sign * get_scorer(scorers.get(name, name))(model, X[test], y[test])
        got = found["scikit-learn DecisionTree"].score_of(name, fold)
        if name == "brier" and n_classes > 2:
            continue  # releases of scikit-learn differ on many classes
        assert got == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("RMSE", "rmse"), ("mae", "mae"), ("mape", "mape"), ("pinball 0.9", "pinball_0.9")],
)
def test_losses_rank_the_smallest_first(noise, wanted, name):
    y = 5 + np.exp(noise["a"].to_numpy())
    found = quick(noise, y, scoring=wanted)
    assert found.metric == name
    assert [r.name for r in found.ranked] == [TREE, CONSTANT]
    assert found.best_result.mean(name) < found.constant.mean(name)


def test_any_scorer_of_scikit_learn_decides(noise):
    y = noise["a"].to_numpy() * 2
    by_name = quick(noise, y, scoring=["neg_median_absolute_error", "r2"])
    assert by_name.metrics == ["neg_median_absolute_error", "r2"]
    assert by_name.best_result.name == TREE

    def closeness(model, X, y):
        return -mean_absolute_error(y, model.predict(X))

    assert quick(noise, y, scoring=closeness).metric == "closeness"
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    assert quick(noise, y, scoring=scorer).best_result.name == TREE


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("acuracy", "no metric is called 'acuracy'; .* Did you mean 'accuracy'?"),
        ("r2", "'r2' does not score classification; take accuracy"),
        ([], "'scoring' must name a metric, got none"),
    ],
)
def test_wrong_metrics_are_named(scoring, message):
    with pytest.raises(ValueError, match=message):
        find_metrics(scoring, "classification", np.array([0, 1]))


def test_the_positive_class_can_be_named(noise):
    y = (noise["a"] > 0).astype(int).to_numpy()
    assert quick(noise, y, positive="0").positive == 0
    with pytest.raises(ValueError, match="'positive' must be one of \\[0, 1\\], got '2'"):
        quick(noise, y, positive="2")


def test_a_column_that_leaks_is_named(noise):
    rng = np.random.default_rng(4)
    y = np.where(noise["a"] + noise["b"] + rng.normal(size=N) > 0, "left", "stayed")
    X = noise.assign(reason=pd.Categorical(np.where(y == "left", "moved", "none")))
    leak = quick(X, y)
    assert [text[:30] for text in leak.warnings] == ["'reason' alone gives nearly th"]
    assert "alone gives nearly the best score" in leak.report().html()
    assert quick(X, y, drop=["reason"]).warnings == []
    assert compare(*load_iris(return_X_y=True), models=[TREE], cv=3).warnings == []


def test_copies_of_rows_across_folds_are_named(noise):
    y = np.random.default_rng(5).permutation(np.repeat(["a", "b"], N // 2))
    twice = pd.concat([noise, noise], ignore_index=True)
    found = quick(twice, np.concatenate([y, y]))
    assert any("exact copy among the training rows" in text for text in found.warnings)
    assert quick(noise, y).warnings == []
