"""The classifier and the regressor: conventions, odd data, wrong input."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow.embedding import (
    LeafMeansEmbedding,
    TreeEmbeddingClassifier,
    TreeEmbeddingRegressor,
)

HEADS = ["ridge", "lda", "shrunken_lda", "logistic", "indicator"]
ACTIVATIONS = ["auto", "linear", "softmax", ("raw", "rbf", "vote"), ("leaf", "relu", "distance")]


def expected_failures(estimator):
    """As for scikit-learn's forests."""
    if estimator.n_estimators == 1:
        return {}
    reason = "bootstrap samples draw rows, not weights"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@parametrize_with_checks(
    [
        LeafMeansEmbedding(random_state=0),
        TreeEmbeddingClassifier(random_state=0),
        TreeEmbeddingClassifier(3, activation="linear", head="lda", random_state=0),
        TreeEmbeddingClassifier(
            3, activation="softmax", head="indicator", min_samples_leaf=10, random_state=0
        ),
        TreeEmbeddingRegressor(random_state=0),
        TreeEmbeddingRegressor(3, activation="linear", random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loader", [load_breast_cancer, load_wine, load_digits])
def test_default_is_accurate(loader):
    X, y = loader(return_X_y=True)
    assert cross_val_score(TreeEmbeddingClassifier(random_state=0), X, y).mean() > 0.94


def test_regressor_bends_where_ridge_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 4))
    y = X[:, 0] ** 2 + np.sign(X[:, 1]) + 0.1 * rng.normal(size=500)
    bent = cross_val_score(TreeEmbeddingRegressor(random_state=0), X, y).mean()
    straight = cross_val_score(RidgeCV(), X, y).mean()
    assert bent > 0.9 > straight + 0.2


def test_regressor_with_a_linear_layer_is_one_matrix():
    X, y = load_diabetes(return_X_y=True)
    model = TreeEmbeddingRegressor(10, activation="linear", random_state=0).fit(X, y)
    assert model.collapsed_.shape == (10, 1)
    numbers = model.embedding_.numeric(X)
    np.testing.assert_allclose(
        model.predict(X), (numbers @ model.collapsed_ + model.collapsed_intercept_)[:, 0]
    )


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_probabilities_decisions_and_predictions_agree(head, activation):
    X, y = load_wine(return_X_y=True)
    labels = np.array(["ash", "elm", "oak"])[y]
    model = TreeEmbeddingClassifier(3, head=head, activation=activation, random_state=0)
    model.fit(X, labels)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    decided = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[decided], model.predict(X))
    assert np.mean(model.predict(X) == labels) > 0.85


@pytest.mark.parametrize("n_estimators", [3, 10, 30])
def test_accuracy_does_not_fall_with_more_trees(n_estimators):
    X, y = load_wine(return_X_y=True)
    few = cross_val_score(TreeEmbeddingClassifier(n_estimators, random_state=0), X, y).mean()
    many = cross_val_score(TreeEmbeddingClassifier(100, random_state=0), X, y).mean()
    assert many >= few - 0.012  # two rows of 178


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_blocks_of_rows_do_not_show(activation, monkeypatch):
    from hedgerow.embedding import layer, network

    X, y = load_iris(return_X_y=True)
    model = TreeEmbeddingClassifier(3, activation=activation, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(layer, "_CELLS_AT_ONCE", 100)
    monkeypatch.setattr(network, "_ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=300), "kind": rng.choice(["ash", "elm"], 300)})
    y = np.where((X["kind"] == "elm") ^ (X["size"] > 0), "cut", "keep")
    X.loc[::10, "size"] = np.nan
    X.loc[::17, "kind"] = None
    return X, y


@pytest.mark.parametrize("impute", ["mean", "leaf"])
def test_frames_with_categories_and_gaps_need_no_pipeline(mixed, impute):
    X, y = mixed
    model = TreeEmbeddingClassifier(impute=impute, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert list(model.feature_names_in_) == ["size", "kind"]
    assert len(model.get_feature_names_out()) == model.transform(X).shape[1]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
class TestOddData:
    def fit(self, X, y, head, activation):
        model = TreeEmbeddingClassifier(3, head=head, activation=activation, random_state=0)
        model.fit(X, y)
        P = model.predict_proba(X)
        assert np.isfinite(P).all()
        return model

    def test_one_leaf(self, head, activation):
        X, y = np.ones((30, 3)), np.arange(30) % 3 // 2
        model = self.fit(X, y, head, activation)
        assert set(model.predict(X)) == {0}  # the more frequent class

    def test_fewer_rows_than_columns(self, head, activation):
        rng = np.random.default_rng(0)
        y = np.arange(30) % 2
        X = rng.normal(size=(30, 100)) + 3 * y[:, None]
        assert self.fit(X, y, head, activation).score(X, y) > 0.9

    def test_constant_and_repeated_columns(self, head, activation):
        X, y = load_iris(return_X_y=True)
        X = np.hstack([X, X, np.full((150, 1), 1e9), np.zeros((150, 1))])
        least = 0.8 if head == "indicator" else 0.85
        assert self.fit(X, y, head, activation).score(X, y) > least

    def test_a_column_without_any_value(self, head, activation):
        X, y = load_iris(return_X_y=True)
        X = np.hstack([X, np.full((150, 1), np.nan)])
        least = 0.8 if head == "indicator" else 0.85
        assert self.fit(X, y, head, activation).score(X, y) > least

    def test_two_rows(self, head, activation):
        X, y = np.array([[0.0], [1.0]]), [0, 1]
        self.fit(X, y, head, activation)

    def test_one_class(self, head, activation):
        X = np.arange(20.0)[:, None]
        assert set(self.fit(X, ["oak"] * 20, head, activation).predict(X)) == {"oak"}

    def test_a_class_without_weight(self, head, activation):
        X, y = load_iris(return_X_y=True)
        model = TreeEmbeddingClassifier(3, head=head, activation=activation, random_state=0)
        model.fit(X, y, sample_weight=(y < 2).astype(float))
        assert set(model.predict(X)) == {0, 1}
        assert list(model.classes_) == [0, 1, 2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"head": "svm"}, "'head' must be one of 'ridge', 'lda', .* got 'svm'."),
        ({"shrinkage": 2}, "'shrinkage' must be a number from 0 to 1, got 2."),
        ({"shrinkage": "auto"}, "'shrinkage' must be one of 'ledoit_wolf', 'oas', got 'auto'."),
        ({"penalty": 0}, "'penalty' must be a positive number or None, got 0."),
        ({"criterion": "squared_error"}, "'criterion' must be one of 'gini'"),
        ({"n_estimators": 0}, "'n_estimators' must be a positive int, got 0."),
        (
            {"n_estimators": 1, "activation": "vote"},
            "'n_estimators' must be at least 2 for .*, got 1.",
        ),
        ({"n_components": 0}, "'n_components' must be a positive int or None, got 0."),
        ({"impute": "median"}, "'impute' must be one of 'mean', 'leaf', got 'median'."),
        ({"activation": "sigmoid"}, "'activation' must be one or several of"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        TreeEmbeddingClassifier(**parameters).fit(*load_iris(return_X_y=True))


def test_regressor_names_wrong_parameters():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="'criterion' must be one of 'squared_error', 'poisson'"):
        TreeEmbeddingRegressor(criterion="gini").fit(X, y)
    with pytest.raises(ValueError, match="Poisson regression: got a smallest target of -175"):
        TreeEmbeddingRegressor(criterion="poisson").fit(X, y - 200)


def test_refitting_with_another_activation_forgets_the_collapsed_matrix():
    X, y = load_iris(return_X_y=True)
    model = TreeEmbeddingClassifier(activation="linear", random_state=0).fit(X, y)
    assert hasattr(model, "collapsed_")
    model.set_params(activation="rbf").fit(X, y)
    assert not hasattr(model, "collapsed_")
    fresh = TreeEmbeddingClassifier(activation="rbf", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))


def test_missing_torch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    module = "hedgerow.embedding.torch_module"
    monkeypatch.setitem(sys.modules, module, None)  # what is imported below is forgotten again
    del sys.modules[module]
    model = TreeEmbeddingClassifier(activation="linear").fit(*load_iris(return_X_y=True))
    with pytest.raises(ModuleNotFoundError, match=r"to_torch\(\) needs PyTorch; install it with"):
        model.to_torch()


TORCH_ACTIVATIONS = ["auto", "linear", "softmax", ("raw", "rbf"), ("relu", "distance"), "leaf"]


@pytest.mark.parametrize("loader", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("activation", TORCH_ACTIVATIONS)
def test_torch_module_gives_the_decisions(loader, activation):
    torch = pytest.importorskip("torch")
    X, y = loader(return_X_y=True)
    model = TreeEmbeddingClassifier(activation=activation, random_state=0).fit(X, y)
    with torch.no_grad():
        found = model.to_torch()(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("impute", ["mean", "leaf"])
def test_torch_module_knows_categories_and_gaps(mixed, impute):
    torch = pytest.importorskip("torch")
    X, y = mixed
    for activation in (("raw", "rbf", "vote", "leaf"), "linear"):
        model = TreeEmbeddingClassifier(5, activation=activation, impute=impute, random_state=0)
        model.fit(X, y)
        encoded = torch.from_numpy(model.embedding_.encode(X).astype(float))
        with torch.no_grad():
            found = model.to_torch()(encoded).numpy()
        np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-7, atol=1e-7)


def test_torch_module_of_a_regressor():
    torch = pytest.importorskip("torch")
    X, y = load_diabetes(return_X_y=True)
    model = TreeEmbeddingRegressor(random_state=0).fit(X, y)
    with torch.no_grad():
        np.testing.assert_allclose(model.to_torch()(torch.from_numpy(X)), model.predict(X))


def test_one_layer_has_no_torch_module():
    pytest.importorskip("torch")
    model = TreeEmbeddingClassifier(head="indicator").fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="the head 'indicator' has only one"):
        model.to_torch()


def test_auto_drops_the_trees_where_numbers_are_enough():
    X, y = load_wine(return_X_y=True)
    straight = TreeEmbeddingClassifier(random_state=0).fit(X, y)
    assert straight.activation_ == "raw"
    assert straight.blend_.multiples["all"] == straight.blend_.multiples["vote"] == 0
    assert straight.collapsed_.shape == (13, 3)
    assert straight.transform(X).shape == (178, 13)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    bent = TreeEmbeddingClassifier(random_state=0).fit(X, y)
    assert bent.activation_ == ("raw", "rbf", "vote")
    assert bent.blend_.losses["all"] < bent.blend_.losses["raw"]
    assert not hasattr(bent, "collapsed_")


def test_few_components_keep_a_wide_layer_steady():
    X, y = load_wine(return_X_y=True)
    settings = {"activation": "softmax", "head": "lda", "max_anchors": "all", "random_state": 0}
    wide = TreeEmbeddingClassifier(100, **settings)
    narrow = TreeEmbeddingClassifier(100, **settings, n_components=20)
    assert narrow.fit(X, y).coef_.shape == wide.fit(X, y).coef_.shape
    few = cross_val_score(TreeEmbeddingClassifier(3, **settings), X, y).mean()
    assert cross_val_score(narrow, X, y).mean() >= few
