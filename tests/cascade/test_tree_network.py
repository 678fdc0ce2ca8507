"""Networks of two CART trees: what the second tree is fitted on, and the paper's remarks."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, KFold

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeNetworkClassifier,
    TreeNetworkRegressor,
)
from hedgerow._table import Table
from hedgerow.datasets import make_chessboard
from hedgerow.inspect import export_text


def test_second_tree_sees_the_probabilities_of_the_first():
    X, y = load_iris(return_X_y=True)
    network = TreeNetworkClassifier(2, 4).fit(X, y)
    first = DecisionTreeClassifier(max_depth=2).fit(X, y)
    wide = np.hstack([X, first.predict_proba(X)])
    second = DecisionTreeClassifier(max_depth=4).fit(wide, y)
    assert_array_equal(network.predict_proba(X), second.predict_proba(wide))
    assert network.n_splits_ == first.n_splits_ + second.n_splits_
    assert network.output_.n_features_in_ == 7


def test_second_tree_sees_the_prediction_of_the_first():
    X, y = load_diabetes(return_X_y=True)
    network = TreeNetworkRegressor(3, 3, max_bins=None).fit(X, y)
    first = DecisionTreeRegressor(max_depth=3, max_bins=None).fit(X, y)
    wide = np.column_stack([X, first.predict(X)])
    second = DecisionTreeRegressor(max_depth=3, max_bins=None).fit(wide, y)
    assert_allclose(network.predict(X), second.predict(wide))


@pytest.mark.parametrize("depth", [3, 6, None])
def test_first_cut_of_binary_data_falls_on_a_new_feature_near_a_half(depth):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:400]
    graph = TreeNetworkClassifier(depth, 1).fit(X[rows], y[rows]).output_.graph_
    assert graph.feature[0] >= X.shape[1]
    assert 0.2 < graph.threshold[0] < 0.8


def test_one_more_cut_reduces_the_variance_of_a_deep_tree():
    truth = make_chessboard(20_000, k=4, p=0.8, random_state=99, return_probability=True)
    tree, network = [], []
    for seed in range(5):
        X, y = make_chessboard(3000, k=4, p=0.8, random_state=seed)
        model = TreeNetworkClassifier(10, 1, min_samples_leaf=20).fit(X, y)
        for found, values in ((tree, model.encoder_), (network, model)):
            found.append(np.mean((values.predict_proba(truth[0])[:, 1] - truth[2]) ** 2))
    assert np.mean(network) < np.mean(tree)


def test_depths_are_chosen_by_cross_validation():
    X, y = load_breast_cancer(return_X_y=True)
    network = TreeNetworkClassifier().fit(X, y)
    assert 2 <= network.encoding_depth_ <= 12
    assert network.output_depth_ >= 1
    again = TreeNetworkClassifier(network.encoding_depth_, network.output_depth_).fit(X, y)
    assert_array_equal(network.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_random_state_is_the_seed_of_the_folds(seed):
    X, y = load_diabetes(return_X_y=True)
    network = TreeNetworkRegressor(output_depth=1, random_state=seed, max_bins=None).fit(X, y)
    search = GridSearchCV(
        DecisionTreeRegressor(max_bins=None),
        {"max_depth": range(1, 9)},
        cv=KFold(3, shuffle=True, random_state=seed),
        scoring="neg_mean_squared_error",
    )
    assert network.encoding_depth_ == search.fit(X, y).best_params_["max_depth"]


def test_folds_differ_with_the_seed_and_are_the_same_for_one():
    X, y = load_diabetes(return_X_y=True)
    depths = {
        seed: [
            (network.encoding_depth_, network.output_depth_)
            for network in (TreeNetworkRegressor(random_state=seed).fit(X, y) for _ in range(2))
        ]
        for seed in range(6)
    }
    assert all(first == second for first, second in depths.values())
    assert len({first for first, _ in depths.values()}) > 1


def test_table_is_binned_once(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    counted = []
    binned = Table._binned
    monkeypatch.setattr(Table, "_binned", lambda *a: counted.append(a[0]) or binned(*a))
    TreeNetworkClassifier(random_state=0).fit(X, y)
    assert len(counted) == 1


def test_network_has_the_abilities_of_a_tree():
    X, y = load_iris(return_X_y=True)
    network = TreeNetworkClassifier(3, 2).fit(X, y)
    encoder, output = network.encoder_, network.output_
    wide = np.hstack([X, encoder.predict_proba(X)])
    assert network.nbytes_ == encoder.nbytes_ + output.nbytes_
    assert network.get_depth() == encoder.get_depth() + output.get_depth()
    assert_array_equal(network.apply(X), output.apply(wide))
    path, ends = network.decision_path(X)
    assert_array_equal(path[:, : ends[1]].toarray(), encoder.decision_path(X).toarray())
    assert_array_equal(path[:, ends[1] :].toarray(), output.decision_path(wide).toarray())
    predictor = network.row_predictor()
    assert [predictor(row) for row in X] == network.predict(X).tolist()
    assert_array_equal([predictor.values(row) for row in X], network.predict_proba(X))


def test_what_a_new_feature_brings_goes_to_the_features_that_made_it():
    X, y = load_breast_cancer(return_X_y=True)
    network = TreeNetworkClassifier(4, 1).fit(X, y)  # its one test is on a new feature
    assert_allclose(network.feature_importances_, network.encoder_.feature_importances_)
    deeper = TreeNetworkClassifier(2, 5).fit(X, y)
    assert deeper.feature_importances_.shape == (30,)
    assert deeper.feature_importances_.sum() == pytest.approx(1)
    assert deeper.output_.feature_importances_[:30].sum() > 0


def test_failed_fit_leaves_the_network_as_it_was():
    X, y = load_iris(return_X_y=True)
    network = TreeNetworkClassifier(2, 2).fit(X, y)
    before = network.predict_proba(X)
    with pytest.raises(ValueError, match="needs at least 3"):
        network.set_params(output_depth="cv").fit(X[:2, :2], y[:2])
    assert_array_equal(network.predict_proba(X), before)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_categories_gaps_and_weights(library):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=300),
            "b": rng.choice(["u", "v", "w"], 300),
            "c": rng.normal(size=300),
        }
    )
    frame.loc[::5, "a"] = np.nan
    y = np.where(frame["b"] == "u", frame["c"] > 0, frame["c"] < 0.5)
    X = frame if library == "pandas" else pytest.importorskip("polars").from_pandas(frame)
    network = TreeNetworkClassifier(4, 2).fit(X, y, sample_weight=rng.uniform(0.1, 1, 300))
    assert network.score(X, y) > 0.9
    assert "probability of True" in export_text(network.output_)
    again = pickle.loads(pickle.dumps(network))
    assert_array_equal(again.predict_proba(X), network.predict_proba(X))


def test_result_is_the_same_for_any_number_of_threads():
    X, y = load_breast_cancer(return_X_y=True)
    one, two = (TreeNetworkClassifier(5, 3, n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TreeNetworkClassifier(0), "'encoding_depth' must be a positive int, 'cv' or None, got 0."),
        (TreeNetworkRegressor(2, "x"), "'output_depth' must be a positive int, 'cv' or None, got"),
        (TreeNetworkRegressor(), "Found 2 sample.* while a depth of 'cv' needs at least 3."),
        (TreeNetworkClassifier(1, 1, criterion="x"), "'criterion' must be one of"),
    ],
)
def test_bad_input_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])
