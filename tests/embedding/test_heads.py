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


@pytest.mark.parametrize("shape", [(60, 7), (20, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_solves_its_equations(shape, weighted):
    rng = np.random.default_rng(1)
    Z, targets = rng.normal(size=shape) * 5 + 3, rng.normal(size=(shape[0], 2))
    w = rng.uniform(0.5, 2, shape[0]) if weighted else np.ones(shape[0])
    w /= w.sum()
    coef, intercept, _ = heads.ridge(Z, targets, w if weighted else None, 0.1)
    centre = w @ Z
    scale = np.sqrt(w @ (Z - centre) ** 2)
    S = (Z - centre) / scale
    expected = np.linalg.solve(
        S.T @ (S * w[:, None]) + 0.1 * np.eye(shape[1]), S.T @ (w[:, None] * targets)
    )
    np.testing.assert_allclose(coef * scale[:, None], expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(w @ (Z @ coef + intercept - targets), 0, atol=1e-10)


@pytest.mark.parametrize("shape", [(30, 4), (15, 20)])
def test_ridge_chooses_the_penalty_by_leave_one_out(shape):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=shape)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    targets = Z[:, :1] + rng.normal(size=(shape[0], 1))
    errors = []
    unit = 1.0 if shape[0] > shape[1] else shape[1] / (shape[0] - 1)  # mean variance of directions
    penalties = unit * heads.PENALTIES
    for penalty in penalties:
        S = np.vstack([Z.T, np.ones(shape[0])]).T
        inverse = np.linalg.inv(S.T @ S / shape[0] + np.diag([penalty] * shape[1] + [0]))
        hat = S @ inverse @ S.T / shape[0]
        left_out = (targets - hat @ targets) / (1 - np.diag(hat))[:, None]
        errors.append((left_out**2).sum())
    expected = heads.ridge(Z, targets, None, penalties[np.argmin(errors)])
    np.testing.assert_allclose(heads.ridge(Z, targets, None, None).coef, expected.coef)


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


def test_loss_of_ridge_is_that_of_rows_left_out():
    rng = np.random.default_rng(3)
    Z, targets = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    S = np.column_stack([Z, np.ones(40)])
    errors = []
    for row in range(40):
        rest = np.arange(40) != row
        # The penalty of the whole sum, on columns scaled as with all rows.
        beta = np.linalg.solve(
            S[rest].T @ S[rest] + 40 * np.diag([0.2, 0.2, 0.2, 0]), S[rest].T @ targets[rest]
        )
        errors.append((targets[row] - S[row] @ beta) ** 2)
    assert heads.ridge(Z, targets, None, 0.2).loss == pytest.approx(np.mean(errors))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(60, 4), (30, 40)])
def test_loss_of_penalised_lda_is_that_of_rows_left_out(shape, weighted):
    rng = np.random.default_rng(4)
    y = np.arange(shape[0]) % 3
    Z = rng.normal(size=shape) + np.eye(3, shape[1])[y]
    w = rng.uniform(0.5, 2, shape[0]) if weighted else np.ones(shape[0])
    w /= w.sum()
    freedom = 1 - 3 * (w @ w)
    penalty = 0.3

    def fit(rows):
        v, A, labels = w[rows], Z[rows], y[rows]
        priors = np.bincount(labels, v)
        means = np.array([v[labels == k] @ A[labels == k] / priors[k] for k in range(3)])
        R = A - means[labels]
        return priors / v.sum(), means, np.linalg.inv((R.T * v) @ R + penalty * np.eye(shape[1]))

    scores = []
    for row in range(shape[0]):
        priors, means, inverse = fit(np.arange(shape[0]) != row)
        away = Z[row] - means
        scores.append(np.log(priors) - freedom / 2 * np.einsum("kj,jl,kl->k", away, inverse, away))
    scores = np.array(scores)
    own = scores[np.arange(len(y)), y]
    losses = [w @ (np.log(np.exp(m * scores).sum(axis=1)) - m * own) for m in heads.MULTIPLES]
    expected = min(losses) + w @ (scores.argmax(axis=1) != y)
    found = heads.penalised_lda(Z, y, w if weighted else None, 3, penalty, scaled=False)
    assert found.loss == pytest.approx(expected)


def test_penalised_lda_without_a_penalty_is_lda(wine):
    Z, y = wine
    found = heads.penalised_lda(Z, y, None, 3, 1e-12)
    plain = heads.pseudo_linear_lda(Z, y, None, 3)
    np.testing.assert_array_equal(
        (Z @ found.coef + found.intercept).argmax(axis=1),
        (Z @ plain.coef + plain.intercept).argmax(axis=1),
    )
    ratio = (found.coef - found.coef[:, :1])[:, 1:] / (plain.coef - plain.coef[:, :1])[:, 1:]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-6)


def test_singular_values_in_doubt_are_computed_without_squaring():
    """Two columns that differ by 1e-7 still make two directions."""
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(300, 3))
    Z[:, 1] = Z[:, 0] + 1e-7 * Z[:, 1]
    y = (Z[:, 1] > Z[:, 0]).astype(int)
    coef, intercept = heads.pseudo_linear_lda(Z, y, None, 2)
    assert np.mean((Z @ coef + intercept).argmax(axis=1) == y) > 0.95


def test_components_are_the_leading_principal_directions(wine):
    Z, _ = wine
    coordinates, centre, directions = heads.components(Z, None, 3)
    S = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    expected = np.linalg.svd(S, full_matrices=False)[1][:3]
    np.testing.assert_allclose(np.linalg.norm(coordinates, axis=0)[::-1], expected)
    np.testing.assert_allclose((Z - centre) @ directions, coordinates, atol=1e-9)


def test_penalised_lda_sees_a_class_between_two_others():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    Z = (y + 0.1 * rng.normal(size=300))[:, None]
    coef, intercept, _ = heads.penalised_lda(Z, y, None, 3, None)
    assert np.mean((Z @ coef + intercept).argmax(axis=1) == y) > 0.99
    indicators = heads.ridge(Z, np.eye(3)[y], None, None)
    masked = (Z @ indicators.coef + indicators.intercept).argmax(axis=1)
    assert np.mean(masked == y) < 0.95


def test_penalised_lda_gives_probabilities(wine):
    Z, y = wine
    coef, intercept, _ = heads.penalised_lda(Z, y, None, 3, None)
    scores = Z @ coef + intercept
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]
    assert losses.mean() < 0.1
