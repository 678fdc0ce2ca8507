"""What a fitted embedding is made of, can do, and refuses: layers, presets, weights, magnitudes."""

import pickle
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import hedgerow
from hedgerow._table import Table
from hedgerow.embedding import (
    AnchorLayer,
    LeafMeansEmbedding,
    TreeEmbeddingClassifier,
    TreeEmbeddingRegressor,
)

RECIPE = {
    "activation": "linear",
    "head": "lda",
    "max_anchors": "all",
    "bias": "method",
    "standardize": False,
    "min_samples_leaf": 10,
    "max_bins": 30,
    "merge_siblings": True,
}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_the_preset_is_the_recipe_of_the_paper(wine):
    X, y = wine
    preset = TreeEmbeddingClassifier(3, preset="paper", random_state=0).fit(X, y)
    recipe = TreeEmbeddingClassifier(3, **RECIPE, random_state=0).fit(X, y)
    np.testing.assert_array_equal(preset.predict_proba(X), recipe.predict_proba(X))
    np.testing.assert_array_equal(preset.embedding_.bias_, recipe.embedding_.bias_)
    layer = LeafMeansEmbedding(3, preset="paper", random_state=0).fit(X, y)
    np.testing.assert_array_equal(layer.anchors_, preset.embedding_.anchors_)
    default = LeafMeansEmbedding(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(layer.transform(X), default.transform(X))


def test_what_is_given_goes_before_the_preset(wine):
    X, y = wine
    model = TreeEmbeddingClassifier(3, preset="paper", head="ridge", max_bins=None, random_state=0)
    recipe = RECIPE | {"head": "ridge", "max_bins": None}
    expected = TreeEmbeddingClassifier(3, **recipe, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected.predict_proba(X))
    assert model.max_anchors is None
    with pytest.raises(ValueError, match="'preset' must be one of 'paper', got 'light'."):
        clone(model).set_params(preset="light").fit(X, y)


def test_the_regressor_has_the_layer_of_the_paper():
    X, y = load_diabetes(return_X_y=True)
    model = TreeEmbeddingRegressor(3, preset="paper", random_state=0).fit(X, y)
    assert model.activation_ == "linear"
    layer = LeafMeansEmbedding(3, criterion="squared_error", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.embedding_.anchors_, layer.anchors_)


@pytest.mark.parametrize("activation", ["auto", "linear", "softmax"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 4, 2: 0.5}, {0: 0, 1: 1, 2: 1}])
def test_class_weights_are_weights_of_rows(wine, activation, class_weight):
    X, y = wine
    w = np.linspace(0.5, 2, len(y))
    settings = {"activation": activation, "random_state": 0}
    if class_weight == "balanced":
        of_class = len(y) / (3 * np.bincount(y))
    else:
        of_class = np.array([class_weight[k] for k in range(3)])
    weighted = TreeEmbeddingClassifier(3, class_weight=class_weight, **settings).fit(X, y, w)
    by_rows = TreeEmbeddingClassifier(3, **settings).fit(X, y, w * of_class[y])
    np.testing.assert_array_equal(weighted.predict_proba(X), by_rows.predict_proba(X))


def test_wrong_class_weights_are_named(wine):
    with pytest.raises(ValueError, match="'class_weight' must be one of 'balanced', got 'equal'."):
        TreeEmbeddingClassifier(class_weight="equal").fit(*wine)
    with pytest.raises(ValueError, match="'class_weight' must hold finite weights"):
        TreeEmbeddingClassifier(class_weight={0: -1}).fit(*wine)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"preset": "paper"},
        {"activation": ("raw", "rbf", "vote")},
        {"activation": ("leaf", "relu"), "impute": "leaf"},
        {"head": "indicator"},
    ],
)
def test_a_row_alone_is_as_good_as_a_table(wine, settings):
    X, y = wine
    X = X.copy()
    X[::5, 3] = np.nan
    labels = np.array(["ash", "elm", "oak"])[y]
    model = TreeEmbeddingClassifier(4, random_state=0, **settings).fit(X, labels)
    predictor = model.row_predictor()
    assert [predictor(row) for row in X] == model.predict(X).tolist()
    found = np.array([predictor.values(row) for row in X])
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9, atol=1e-12)
    whole = predictor.values(np.arange(13))  # whole numbers are numbers, too
    np.testing.assert_allclose(whole, model.predict_proba(np.arange(13.0)[None])[0], rtol=1e-9)
    with pytest.raises(ValueError, match="the model has 13 features, the row has 2"):
        predictor(X[0, :2])


def test_a_row_of_a_regressor():
    X, y = load_diabetes(return_X_y=True)
    model = TreeEmbeddingRegressor(random_state=0).fit(X, y)
    predictor = model.row_predictor()
    np.testing.assert_allclose([predictor(row) for row in X[:9]], model.predict(X[:9]))
    np.testing.assert_allclose(predictor.values(X[0]), model.predict(X[:1]))


def test_trees_can_be_looked_at(wine):
    X, y = wine
    model = TreeEmbeddingClassifier(4, random_state=0).fit(X, y)
    layer = model.embedding_.layer_
    assert isinstance(layer, AnchorLayer)
    assert (model.n_classes_, model.n_outputs_) == (3, 1)
    assert model.n_splits_ == model.embedding_.n_splits_ == sum(g.n_splits for g in layer.graphs)
    assert model.get_depth() == max(graph.depth for graph in layer.graphs)
    leaves = model.apply(X)
    assert leaves.shape == (178, 4)
    for tree, graph in enumerate(layer.graphs):
        np.testing.assert_array_equal(leaves[:, tree], graph.apply(X, 1))
    np.testing.assert_array_equal(leaves, model.embedding_.apply(X))


def test_bytes_are_of_what_predicts():
    X, y = load_breast_cancer(return_X_y=True)
    straight = TreeEmbeddingClassifier(5, activation="linear", random_state=0).fit(X, y)
    head = 8 * (30 * 2 + 2)
    assert straight.nbytes_ == head + 2 * 8 * 30  # means and scales beside one matrix
    bent = TreeEmbeddingClassifier(5, activation="rbf", random_state=0).fit(X, y)
    n_anchors = len(bent.embedding_.anchors_)
    assert bent.nbytes_ == 8 * (2 * 30 + n_anchors * 30 + n_anchors * 2 + 2)
    voting = TreeEmbeddingClassifier(5, activation=("rbf", "vote"), random_state=0).fit(X, y)
    assert voting.nbytes_ > bent.nbytes_ + 8 * voting.n_splits_ / 2
    nearest = TreeEmbeddingClassifier(5, head="indicator", random_state=0).fit(X, y)
    assert nearest.nbytes_ == 8 * (2 * 30 + n_anchors * 30 + n_anchors * 2)
    assert bent.embedding_.nbytes_ < bent.nbytes_


def test_state_is_declared_and_caches_are_made_again(wine):
    X, y = wine
    model = TreeEmbeddingClassifier(4, activation=("raw", "vote"), random_state=0).fit(X, y)
    small = len(pickle.dumps(model))
    expected = model.predict_proba(X)
    assert len(pickle.dumps(model)) == small  # no packed trees
    assert not [name for name in model.__getstate__() if name.startswith("_") and "sk" not in name]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    # One row goes through other routines of BLAS than many, which round in another order.
    np.testing.assert_allclose(again.row_predictor().values(X[0]), expected[0], rtol=1e-12)


def test_a_table_is_binned_once_and_rows_of_it_are_a_table(wine, monkeypatch):
    X, y = wine
    binned = []
    unwatched = Table._binned

    def watched(self, *arguments):
        binned.append(self)
        return unwatched(self, *arguments)

    monkeypatch.setattr(Table, "_binned", watched)
    model = TreeEmbeddingClassifier(5, random_state=0)
    table = model.read_table(X, y)
    model.fit(table)
    part = clone(model).fit(table.take(np.arange(0, 178, 2)))
    assert len(binned) == 1
    assert part.predict(X).shape == y.shape
    np.testing.assert_array_equal(model.predict_proba(X), clone(model).fit(X, y).predict_proba(X))


def test_a_refused_fit_leaves_the_model_as_it_was(wine):
    X, y = wine
    model = TreeEmbeddingClassifier(3, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match="divide X by a constant"):
        model.fit(X * 1e300, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_predictions_go_on_while_another_thread_fits(wine):
    """Each of them has all its parts from one fit."""
    X, y = wine
    few = TreeEmbeddingClassifier(2, activation="rbf", random_state=0)
    many = clone(few).set_params(n_estimators=9)
    answers = {few.fit(X, y).predict_proba(X).tobytes(), many.fit(X, y).predict_proba(X).tobytes()}
    model = clone(few).fit(X, y)
    failures, is_done = [], threading.Event()

    def predict():
        while not is_done.is_set():
            try:
                if model.predict_proba(X).tobytes() not in answers:
                    failures.append("a mixture of two fits")
            except Exception as error:
                failures.append(repr(error))

    thread = threading.Thread(target=predict)
    thread.start()
    try:
        for n_estimators in [9, 2] * 20:
            model.set_params(n_estimators=n_estimators).fit(X, y)
    finally:
        is_done.set()
        thread.join()
    assert not failures


def test_a_transformer_forgets_the_classes_of_an_earlier_fit():
    X, y = load_iris(return_X_y=True)
    embedding = LeafMeansEmbedding(2, random_state=0).fit(X, y)
    assert embedding.n_classes_ == 3
    embedding.set_params(criterion="squared_error").fit(X, y)
    assert not hasattr(embedding, "classes_")
    assert not hasattr(embedding, "n_classes_")
    assert not hasattr(embedding, "anchor_class_")


MODELS = [
    LeafMeansEmbedding(2),
    LeafMeansEmbedding(2, activation="softmax", standardize=True),
    TreeEmbeddingClassifier(2),
    TreeEmbeddingClassifier(2, preset="paper"),
    TreeEmbeddingClassifier(2, activation=("relu", "distance")),
    TreeEmbeddingClassifier(2, head="indicator"),
    TreeEmbeddingRegressor(2),
    TreeEmbeddingRegressor(2, activation="linear"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_huge_features_are_refused(model):
    X, y = load_iris(return_X_y=True)
    message = r"X holds numbers up to .*: sums of their squares overflow beyond 1e\+100; divide X"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X * 1e306, y)
    fitted = clone(model).fit(X, y)
    odd = X[:3].copy()
    odd[1, 2] = -1e307
    for method in ("transform", "predict", "predict_proba"):
        if not hasattr(fitted, method):
            continue
        try:
            answer = getattr(fitted, method)(odd)
        except ValueError as error:
            assert "divide X by a constant" in str(error)
        else:  # one matrix product may well be finite
            assert np.isfinite(answer).all()


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("size", [1e-90, 1e60])
def test_large_and_small_features_are_finite(model, size):
    X, y = load_iris(return_X_y=True)
    fitted = clone(model).fit(X * size, y)
    assert np.isfinite(fitted.transform(X * size)).all()
    if hasattr(fitted, "predict"):
        assert np.isfinite(fitted.predict(X * size)).all()


def test_an_embedding_too_large_for_a_head_is_refused():
    X, y = load_iris(return_X_y=True)
    model = TreeEmbeddingClassifier(2, activation=("raw", "relu"), standardize=False)
    with pytest.raises(ValueError, match="divide X by a constant or set 'standardize' to True"):
        model.fit(X * 1e90, y)
    model.set_params(standardize=True).fit(X * 1e90, y)
    assert model.score(X * 1e90, y) > 0.9


def test_single_precision_has_a_smaller_range():
    X, y = load_iris(return_X_y=True)
    X = (X * 1e20).astype(np.float32)
    with pytest.raises(ValueError, match=r"overflow beyond 1e\+15; divide X by a constant"):
        LeafMeansEmbedding(2).fit(X, y)
    assert np.isfinite(LeafMeansEmbedding(2, standardize=True).fit(X, y).transform(X)).all()


def test_huge_targets_are_refused_and_large_ones_are_not():
    X, y = load_diabetes(return_X_y=True)
    message = r"y holds numbers up to .*e\+302: .* divide y by a constant."
    for model in (TreeEmbeddingRegressor(2), LeafMeansEmbedding(2, criterion="squared_error")):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y * 1e300)
    model = TreeEmbeddingRegressor(2, random_state=0)
    plain = model.fit(X, y).predict(X)
    scaled = model.fit(X, y * 2.0**200).predict(X) / 2.0**200
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)
    with pytest.raises(ValueError, match=r"overflow beyond 1e\+15; divide y by a constant"):
        model.fit(X.astype(np.float32), y * 2.0**200)


def test_gaps_are_no_reason_for_a_refusal():
    X, y = load_iris(return_X_y=True)
    X[::4, 1] = np.nan
    X[:, 2] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert np.isfinite(TreeEmbeddingClassifier(3).fit(frame, y).predict_proba(frame)).all()


FORGERIES = {
    "bandwidth": lambda layer: replace(layer, bandwidth=1e-200),  # its square is zero
    "anchors": lambda layer: replace(layer, anchors=layer.anchors * 1e200),
    "fills": lambda layer: replace(layer, fills=layer.fills * 1e200),
    "mean": lambda layer: replace(layer, view=replace(layer.view, mean=layer.view.mean * 1e200)),
    "scale": lambda layer: replace(layer, view=replace(layer.view, scale=layer.view.scale / 1e200)),
    "no scale": lambda layer: replace(layer, view=replace(layer.view, scale=layer.view.scale * 0)),
}


@pytest.mark.parametrize("part", FORGERIES)
def test_a_file_whose_layer_cannot_be_used_is_refused(part, tmp_path):
    X, y = load_iris(return_X_y=True)
    X[::4, 1] = np.nan
    model = TreeEmbeddingClassifier(3, impute="leaf", standardize=True, random_state=0).fit(X, y)
    hedgerow.save(model, tmp_path / "good")
    assert np.isfinite(hedgerow.load(tmp_path / "good").predict_proba(X)).all()
    model.embedding_.layer_ = FORGERIES[part](model.embedding_.layer_)
    hedgerow.save(model, tmp_path / "forged")
    with pytest.raises(ValueError, match="forged is damaged"):
        hedgerow.load(tmp_path / "forged")
