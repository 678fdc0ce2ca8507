"""What linear decision tree embedding is: discriminant analysis on X, seen through the anchors."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from hedgerow.embedding import TreeEmbeddingClassifier, heads

PAPER = {
    "activation": "linear",
    "head": "lda",
    "max_anchors": "all",
    "standardize": False,
    "min_samples_leaf": 10,
    "max_bins": 30,
    "random_state": 0,
}
LOADERS = [load_iris, load_wine, load_breast_cancer]


def solve(S, B):
    """Some solution A of S A = B in extended precision, for a semidefinite S of any rank."""
    S, B = S.copy(), B.copy()
    scale = 1 / np.sqrt(np.diag(S))
    S, B = S * scale * scale[:, None], B * scale[:, None]
    pivots, rest = [], list(range(len(S)))
    while rest:
        best = max(rest, key=lambda i: S[i, i])
        if S[best, best] < 1e-15:
            break
        rest.remove(best)
        pivots.append(best)
        row, value = S[best] / S[best, best], B[best] / S[best, best]
        for other in range(len(S)):
            if other != best:
                B[other] = B[other] - S[other, best] * value
                S[other] = S[other] - S[other, best] * row
        S[best], B[best] = row, value
    out = np.zeros_like(B)
    out[pivots] = B[pivots]
    return out * scale[:, None]


def reference_scores(Z, y, Z_new):
    """Discriminant scores on the embedding, as written in a textbook, in extended precision."""
    Z, Z_new = Z.astype(np.longdouble), Z_new.astype(np.longdouble)
    classes = np.unique(y)
    means = np.array([Z[y == c].mean(axis=0) for c in classes])
    residuals = Z - means[y]
    S = residuals.T @ residuals / (len(y) - len(classes))
    offsets = means - Z.mean(axis=0)
    A = solve(S, offsets.T)
    priors = np.bincount(y).astype(np.longdouble) / len(y)
    constants = np.log(priors) - np.einsum("kj,jk->k", offsets, A) / 2
    return (Z_new - Z.mean(axis=0)) @ A + constants


def precision_of_reference(Z, y):
    """Relative precision of `reference_scores`, which squares the condition of what it solves."""
    means = np.array([Z[y == c].mean(axis=0) for c in np.unique(y)])
    residuals = np.asarray(Z - means[y], dtype=float)
    singular = np.linalg.svd(residuals / np.linalg.norm(residuals, axis=0), compute_uv=False)
    singular = singular[singular > 1e-12 * singular[0]]
    return float(np.finfo(np.longdouble).eps) * (singular[0] / singular[-1]) ** 2


def differences(scores):
    """Scores up to what does not matter, a constant per row."""
    scores = np.asarray(scores, dtype=float)
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("n_estimators", [1, 3, 10])
def test_scores_are_those_of_the_two_steps_in_extended_precision(loader, n_estimators):
    X, y = loader(return_X_y=True)
    # The reference squares the units, and with raw ones even extended precision is too little.
    X = X / X.std(axis=0)
    model = TreeEmbeddingClassifier(n_estimators, **PAPER).fit(X, y)
    X_long = X.astype(np.longdouble)
    W, b = model.embedding_.anchors_.astype(np.longdouble), model.embedding_.bias_
    Z = X_long @ W.T + b
    expected = differences(reference_scores(Z, y, Z))
    found = differences(model._scores(X))
    precision = max(1e-9, precision_of_reference(Z, y))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=precision * np.abs(expected).max())


@pytest.mark.parametrize("loader", LOADERS)
def test_with_anchors_of_full_rank_it_is_plain_lda(loader):
    X, y = loader(return_X_y=True)
    model = TreeEmbeddingClassifier(20, **PAPER | {"min_samples_leaf": 3}).fit(X, y)
    assert np.linalg.matrix_rank(model.embedding_.anchors_ / X.std(axis=0)) == X.shape[1]
    lda = LinearDiscriminantAnalysis(solver="svd", tol=1e-12).fit(X, y)
    # scikit-learn divides by n, the paper's head by n - K.
    n, k = len(y), len(model.classes_)
    scores, priors = model._scores(X), np.log(lda.priors_)
    plain = X @ lda.coef_.T + lda.intercept_ if k > 2 else None
    np.testing.assert_array_equal(model.predict(X), lda.predict(X))
    if plain is not None:
        np.testing.assert_allclose(
            differences(scores - priors), differences(plain - priors) * (n - k) / n, atol=1e-6
        )


def test_with_fewer_anchors_it_is_lda_on_their_span():
    X, y = load_wine(return_X_y=True)
    model = TreeEmbeddingClassifier(1, **PAPER).fit(X, y)
    W = model.embedding_.anchors_
    assert len(W) < X.shape[1]
    lda = LinearDiscriminantAnalysis(solver="svd", tol=1e-12).fit(X @ W.T, y)
    np.testing.assert_array_equal(model.predict(X), lda.predict(X @ W.T))


@pytest.mark.parametrize("head", ["lda", "shrunken_lda", "ridge", "logistic"])
def test_the_bias_of_the_embedding_changes_nothing(head):
    X, y = load_wine(return_X_y=True)
    scores = [
        TreeEmbeddingClassifier(3, **PAPER | {"bias": b, "head": head}).fit(X, y)._scores(X)
        for b in ("method", "theory", "half")
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-10)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-10)


@pytest.mark.parametrize("head", ["lda", "shrunken_lda", "ridge", "logistic"])
@pytest.mark.parametrize("n_estimators", [1, 5])
def test_collapsed_matrix_is_the_two_layers(head, n_estimators):
    X, y = load_wine(return_X_y=True)
    model = TreeEmbeddingClassifier(n_estimators, **PAPER | {"head": head}).fit(X, y)
    assert model.collapsed_.shape == (13, 3)
    two_steps = model.transform(X) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(
        differences(two_steps), differences(model._scores(X)), atol=1e-5, rtol=1e-5
    )
    W = model.embedding_.anchors_
    np.testing.assert_allclose(W.T @ model.coef_, model.collapsed_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_estimators", [20, 40])
def test_with_more_directions_than_rows_the_embedding_itself_decides(n_estimators):
    """Where a pseudo-inverse depends on the coordinates, they are those of the embedding."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), np.arange(60) % 2
    X[:, :5] += y[:, None]
    new = rng.normal(size=(500, 300))
    settings = PAPER | {"min_samples_leaf": 5}
    model = TreeEmbeddingClassifier(n_estimators, **settings).fit(X, y)
    Z, Z_new = model.transform(X), model.transform(new)
    assert np.linalg.matrix_rank(Z) > len(y) - 2
    means = np.array([Z[y == c].mean(axis=0) for c in range(2)])
    residuals = Z - means[y]
    scale = residuals.std(axis=0)
    _, values, directions = np.linalg.svd(residuals / scale, full_matrices=False)
    kept = values > 1e-12 * values[0]
    whitening = directions[kept] / values[kept, None] / scale
    centred = whitening @ (means - means.mean(axis=0)).T
    scores = (Z_new - means.mean(axis=0)) @ whitening.T @ (centred[:, 1] - centred[:, 0])
    assert np.mean(model.predict(new) == (scores > 0)) > 0.99
    collapsed = new @ model.collapsed_ + model.collapsed_intercept_
    np.testing.assert_array_equal(collapsed.argmax(axis=1), model.predict(new))


def test_dependent_columns_need_no_embedding():
    """Shares that sum to one: nothing varies along the ones, not even between the classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.dirichlet(np.ones(4), 300) + 0.2 * y[:, None] * [1, -1, 0, 0]
    weights = np.ones(300)
    assert heads.regular_lda(X, y, weights, 2) is not None
    X[:, 3] = y  # the classes differ where neither varies
    assert heads.regular_lda(X, y, weights, 2) is None


def test_the_printed_rule_of_theorem_2_adds_up_the_anchors_of_a_class():
    X, y = load_iris(return_X_y=True)
    settings = PAPER | {"head": "class_sum", "bias": "theory"}
    model = TreeEmbeddingClassifier(3, **settings).fit(X, y)
    Z, classes = model.transform(X), model.embedding_.anchor_class_
    sums = np.column_stack([Z[:, classes == c].sum(axis=1) for c in range(3)])
    np.testing.assert_array_equal(model.predict(X), sums.argmax(axis=1))
    nearest = TreeEmbeddingClassifier(3, **settings | {"head": "indicator"}).fit(X, y)
    assert model.score(X, y) < nearest.score(X, y)
    bumps = TreeEmbeddingClassifier(3, activation=("rbf", "leaf"), head="class_sum").fit(X, y)
    assert bumps.score(X, y) > 0.9
    with pytest.raises(ValueError, match="'activation' must be one or several of distance, leaf"):
        TreeEmbeddingClassifier(3, head="class_sum").fit(X, y)


def test_units_of_measurement_do_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    units = 10.0 ** np.random.default_rng(0).integers(-6, 7, X.shape[1])
    plain = TreeEmbeddingClassifier(10, **PAPER).fit(X, y)
    scaled = TreeEmbeddingClassifier(10, **PAPER).fit(X * units, y)
    np.testing.assert_array_equal(scaled.predict(X * units), plain.predict(X))


def test_collinear_and_constant_columns_change_nothing():
    X, y = load_iris(return_X_y=True)
    wide = np.hstack([X, X[:, :1] + X[:, 1:2], np.full((len(X), 2), 7.0)])
    settings = PAPER | {"min_samples_leaf": 3}
    plain = TreeEmbeddingClassifier(5, **settings).fit(X, y)
    padded = TreeEmbeddingClassifier(5, **settings).fit(wide, y)
    assert np.isfinite(padded.collapsed_).all()
    assert np.mean(plain.predict(X) == padded.predict(wide)) > 0.99


def test_largest_half_coordinate_is_the_nearest_anchor():
    X, y = load_wine(return_X_y=True)
    model = TreeEmbeddingClassifier(
        3, **PAPER | {"head": "indicator", "bias": "half", "standardize": True}
    ).fit(X, y)
    Z = model.transform(X)
    anchors = model.embedding_.anchors_
    distances = ((model.embedding_.numeric(X)[:, None] - anchors) ** 2).sum(axis=2)
    np.testing.assert_array_equal(Z.argmax(axis=1), distances.argmin(axis=1))
    np.testing.assert_array_equal(
        model.predict(X), model.embedding_.anchor_class_[distances.argmin(axis=1)]
    )


def test_more_trees_change_nothing_once_the_rank_is_full():
    X, y = load_iris(return_X_y=True)
    settings = PAPER | {"min_samples_leaf": 3}
    few = TreeEmbeddingClassifier(5, **settings).fit(X, y)
    many = TreeEmbeddingClassifier(100, **settings).fit(X, y)
    np.testing.assert_allclose(many._scores(X), few._scores(X), rtol=1e-8)
