"""What every model that is one decision graph can do, trees and graphs alike."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier

from hedgerow import graph, tree
from hedgerow._graph_model import GraphModel, has_shared_nodes, removed_loss
from hedgerow.graph import fine_tune

MODELS = {
    name: getattr(package, name)
    for package in (tree, graph)
    for name in package.__all__
    if isinstance(getattr(package, name), type)
}
RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(200, 2)), RNG.integers(0, 3, 200)])
NUMBERS = X[:, 0] + 2 * (X[:, 1] > 0) + (X[:, 2] == 1) + RNG.normal(size=200) / 5
CLASSES = np.where(NUMBERS > 1, "yes", "no")
HUGE = [10**18, 10**400, np.uint64(2**64 - 1)]
LIMITS = {
    "max_depth", "max_leaf_nodes", "min_samples_leaf", "min_samples_split", "max_splits",
    "n_merges", "n_rounds", "fine_tune", "max_passes", "max_features", "cv", "n_jobs",
}  # fmt: skip

every_model = pytest.mark.parametrize("name", MODELS)


def model_of(name, **parameters):
    known = MODELS[name]().get_params()
    seed = {"random_state": 0} if "random_state" in known else {}
    return MODELS[name](**seed, **parameters)


def targets_of(model):
    return CLASSES if is_classifier(model) else NUMBERS


def fitted(name, **parameters):
    model = model_of(name, **parameters)
    return model.fit(X, targets_of(model))


def values(model, rows=X):
    return model.predict_proba(rows) if is_classifier(model) else model.predict(rows)


@every_model
def test_rows_are_routed_the_same_way_by_all_methods(name):
    model = fitted(name)
    graph_ = model.graph_
    leaves = model.apply(X)
    assert (graph_.left[leaves] < 0).all()
    expected = values(model)
    assert_allclose(graph_.value[leaves].reshape(expected.shape), expected, rtol=1e-6)
    path = model.decision_path(X)
    assert (path[np.arange(len(X)), leaves] == 1).all()
    lengths = np.asarray(path.sum(axis=1)).ravel() - 1
    assert lengths.max() <= model.get_depth()
    assert model.mean_path_length(X) == pytest.approx(lengths.mean())
    predict_row = model.row_predictor()
    assert [predict_row(row) for row in X[:20]] == pytest.approx(model.predict(X[:20]).tolist())
    assert model.n_splits_ == np.count_nonzero(graph_.left >= 0)
    assert model.get_n_leaves() == np.count_nonzero(graph_.left < 0)
    assert model.nbytes_ > 0
    assert model.tree_.graph is graph_


@every_model
def test_importances_are_shares(name):
    importances = fitted(name).feature_importances_
    assert importances.shape == (3,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)


@pytest.mark.parametrize("output_depth", [1, 2, 3])
def test_importances_of_centred_networks_count_the_rows_of_each_test(output_depth):
    model = fitted("CentredTreeNetworkRegressor", output_depth=output_depth, threshold=1.0)
    assert has_shared_nodes(model.graph_)
    expected = removed_loss(model.graph_, X, NUMBERS, None)
    assert_allclose(model.feature_importances_, expected / expected.sum())
    moved = model_of("CentredTreeNetworkRegressor", output_depth=output_depth, threshold=1.0 + 1e8)
    moved.fit(X, NUMBERS + 1e8)  # a constant takes nothing off the loss
    assert_allclose(moved.feature_importances_, model.feature_importances_, atol=1e-4)


def test_scales_of_oblique_tests_count_for_importances_after_tuning():
    units = X * [1, 1000, 1]
    margins = tree.MeanMarginTreeClassifier(max_depth=1).fit(units, CLASSES)
    for tuned in (
        fine_tune(margins, units, CLASSES, max_passes=0),
        tree.TAOTreeClassifier(init=margins, max_passes=0).fit(units, CLASSES),
    ):
        assert_allclose(tuned.feature_importances_, margins.feature_importances_)


@every_model
def test_predicting_changes_nothing_and_pickles_are_as_good(name):
    model = fitted(name)
    before = dict(vars(model))
    expected = values(model)
    assert vars(model) == before
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(values(again), expected)
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert_array_equal(values(again.fit(X, targets_of(model))), expected)


@every_model
def test_a_fit_that_fails_leaves_the_model_as_it_was(name):
    model = fitted(name)
    expected = values(model)
    bad = model.set_params(n_jobs=0)
    with pytest.raises(ValueError, match="'n_jobs'"):
        bad.fit(X[:, :2], targets_of(model))
    model.set_params(n_jobs=None)
    assert_array_equal(values(model), expected)
    wrong = np.where(np.arange(200) < 100, np.inf, 1.0)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X[:, :2], wrong)
    assert_array_equal(values(model), expected)


@every_model
def test_learners_are_pure(name):
    model = model_of(name)
    table = model.read_table(X, targets_of(model))
    before = dict(vars(model))
    learner = model.learner()
    rows = np.arange(0, 200, 2, dtype=np.uint32)
    first, second = (learner.grow(table, rows, seed=1) for _ in range(2))
    assert vars(model) == before
    assert_array_equal(first.graph.value, second.graph.value)
    assert first.facts.keys() == second.facts.keys()
    adopted = clone(model).adopt(table, first)
    alone = clone(model).fit(X[rows], targets_of(model)[rows])
    if not hasattr(model, "cv"):  # folds have another order of rows
        assert_allclose(values(adopted), values(alone))


@every_model
def test_rows_of_a_table_with_categories_can_be_grown_on(name):
    frame = pd.DataFrame(X, columns=list("abc")).astype({"c": int}).astype({"c": "category"})
    frame.loc[::9, "a"] = np.nan
    model = model_of(name)
    table = model.read_table(frame, targets_of(model))
    drawn = RNG.integers(0, 3, 200).astype(float)
    grown = model.learner().grow(table, weights=drawn, seed=0)
    adopted = clone(model).adopt(table, grown)
    assert adopted.schema_.missing == {0}
    assert_array_equal(
        values(adopted, frame), values(clone(model).fit(frame, targets_of(model), drawn), frame)
    )


@every_model
def test_limits_beyond_all_counts_are_no_limits(name):
    known = LIMITS & MODELS[name]().get_params().keys()
    for parameter in known:
        results = [values(fitted(name, **{parameter: huge})) for huge in HUGE]
        assert_array_equal(results[0], results[1])
        assert_array_equal(results[0], results[2])
    for parameter in {"depth", "output_depth"} & MODELS[name]().get_params().keys():
        for huge in HUGE:
            with pytest.raises(ValueError, match=f"'{parameter}' must be an int from 0 to 20, got"):
                fitted(name, **{parameter: huge})


def test_a_model_without_a_learner_says_so():
    class Bare(GraphModel):
        """A model that nothing grows."""

    with pytest.raises(NotImplementedError, match="Bare has no learner"):
        Bare().learner()
