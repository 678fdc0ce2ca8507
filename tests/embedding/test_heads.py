"""The linear heads against their definitions."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from hedgerow.embedding import heads


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y.astype(np.int32)


def test_pseudo_linear_lda_agrees_with_scikit_learn(wine):
    Z, y = wine
    coef, intercept = heads.pseudo_linear_lda(Z, y, None, 3)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(Z, y)
    np.testing.assert_array_equal((Z @ coef + intercept).argmax(axis=1), lda.predict(Z))


def test_pseudo_linear_lda_leaves_out_directions_without_scatter():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 30))  # fewer rows than columns: 18 directions at most
    coef, intercept = heads.pseudo_linear_lda(Z, np.arange(20) % 2, None, 2)
    assert np.isfinite(coef).all()
    assert np.isfinite(intercept).all()


def test_weight_two_is_a_row_twice_for_the_direction_of_lda(wine):
    Z, y = wine
    weights = 1.0 + (np.arange(len(y)) % 2)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    a = heads.pseudo_linear_lda(Z, y, weights, 3).coef
    b = heads.pseudo_linear_lda(Z[twice], y[twice], None, 3).coef
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), rtol=1e-8)


@pytest.mark.parametrize("shrinkage", [0.3, "ledoit_wolf", "oas"])
def test_shrunken_lda_is_lda_with_shrunken_correlations(wine, shrinkage):
    Z, y = wine
    coef, intercept = heads.shrunken_lda(Z, y, None, 3, shrinkage)
    means = np.array([Z[y == k].mean(axis=0) for k in range(3)])
    R = Z - means[y]
    scale = np.sqrt((R**2).sum(axis=0) / (len(y) - 3))
    R = R / scale * np.sqrt(len(y) / (len(y) - 3))
    s = {
        "ledoit_wolf": lambda: ledoit_wolf_shrinkage(R, assume_centered=True),
        "oas": lambda: oas(R, assume_centered=True)[1],
    }.get(shrinkage, lambda: shrinkage)()
    C = (1 - s) * R.T @ R / len(y)
    C += s * np.trace(R.T @ R / len(y)) / len(C) * np.eye(len(C))
    A = np.linalg.solve(C * scale * scale[:, None], means.T)
    scores = Z @ A - np.einsum("kj,jk->k", means, A) / 2 + np.log(np.bincount(y) / len(y))
    found = Z @ coef + intercept
    np.testing.assert_allclose(found - found[:, :1], scores - scores[:, :1], rtol=1e-7, atol=1e-8)


def test_no_shrinkage_of_a_singular_covariance_is_explained():
    Z = np.random.default_rng(0).normal(size=(10, 30))
    with pytest.raises(ValueError, match="'shrinkage' must be larger than 0, or the head 'lda'"):
        heads.shrunken_lda(Z, np.arange(10) % 2, None, 2, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_is_that_of_scikit_learn_on_scaled_columns(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    coef, intercept = heads.logistic(X, y, None, n_classes, 0.01)
    scaled = StandardScaler().fit_transform(X)
    model = LogisticRegression(C=1 / (0.01 * len(y)), max_iter=1000).fit(scaled, y)
    scores = X @ coef + intercept
    expected = model.decision_function(scaled)
    if n_classes == 2:
        scores = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-8)


def test_singular_values_in_doubt_are_computed_without_squaring():
    """Two columns that differ by 1e-7 still make two directions."""
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(300, 3))
    Z[:, 1] = Z[:, 0] + 1e-7 * Z[:, 1]
    y = (Z[:, 1] > Z[:, 0]).astype(int)
    coef, intercept = heads.pseudo_linear_lda(Z, y, None, 2)
    assert np.mean((Z @ coef + intercept).argmax(axis=1) == y) > 0.95
