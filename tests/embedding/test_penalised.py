"""Penalised heads, what they say of rows left out, and blends, against their definitions."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from hedgerow.embedding.blending import Part, blend, multiples_of_scores
from hedgerow.embedding.heads import pseudo_linear_lda
from hedgerow.embedding.penalised import MULTIPLES, PENALTIES, Layer, penalised_lda, ridge


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y.astype(np.int32)


@pytest.mark.parametrize("shape", [(60, 7), (20, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_solves_its_equations(shape, weighted):
    rng = np.random.default_rng(1)
    Z, targets = rng.normal(size=shape) * 5 + 3, rng.normal(size=(shape[0], 2))
    w = rng.uniform(0.5, 2, shape[0]) if weighted else np.ones(shape[0])
    w /= w.sum()
    coef, intercept = ridge(Layer(Z, targets, w if weighted else None), 0.1)[:2]
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
    penalties = unit * PENALTIES
    for penalty in penalties:
        S = np.vstack([Z.T, np.ones(shape[0])]).T
        inverse = np.linalg.inv(S.T @ S / shape[0] + np.diag([penalty] * shape[1] + [0]))
        hat = S @ inverse @ S.T / shape[0]
        left_out = (targets - hat @ targets) / (1 - np.diag(hat))[:, None]
        errors.append((left_out**2).sum())
    layer = Layer(Z, targets)
    expected = ridge(layer, penalties[np.argmin(errors)])
    np.testing.assert_allclose(ridge(layer, None).coef, expected.coef)


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
    assert ridge(Layer(Z, targets), 0.2).loss == pytest.approx(np.mean(errors))


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
    losses = [w @ (np.log(np.exp(m * scores).sum(axis=1)) - m * own) for m in MULTIPLES]
    expected = min(losses) + w @ (scores.argmax(axis=1) != y)
    layer = Layer(Z, np.eye(3)[y], w if weighted else None)
    found = penalised_lda(layer.part(slice(None), np.ones(shape[1])), y, penalty)
    assert found.loss == pytest.approx(expected)


def test_penalised_lda_without_a_penalty_is_lda(wine):
    Z, y = wine
    found = penalised_lda(Layer(Z, np.eye(3)[y]), y, 1e-12)
    plain = pseudo_linear_lda(Z, y, None, 3)
    np.testing.assert_array_equal(
        (Z @ found.coef + found.intercept).argmax(axis=1),
        (Z @ plain.coef + plain.intercept).argmax(axis=1),
    )
    ratio = (found.coef - found.coef[:, :1])[:, 1:] / (plain.coef - plain.coef[:, :1])[:, 1:]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-6)


def test_components_are_the_leading_principal_directions(wine):
    Z, y = wine
    rows, covariance, _, axes = Layer(Z, np.eye(3)[y], n_components=3).coordinates
    S = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    expected = np.linalg.svd(S, full_matrices=False)[1][:3]
    np.testing.assert_allclose(np.linalg.norm(rows, axis=0)[::-1], expected)
    np.testing.assert_allclose(np.diag(covariance)[::-1], expected**2 / len(Z))
    np.testing.assert_allclose((Z - Z.mean(axis=0)) @ axes, rows, atol=1e-9)


@pytest.mark.parametrize("shape", [(50, 6), (20, 30)])
def test_a_part_of_a_layer_is_the_layer_of_these_columns(shape):
    rng = np.random.default_rng(6)
    Z, targets, w = rng.normal(size=shape), rng.normal(size=(shape[0], 1)), rng.random(shape[0])
    part = ridge(Layer(Z, targets, w).part(slice(2, 5)), 0.1)
    alone = ridge(Layer(Z[:, 2:5], targets, w), 0.1)
    np.testing.assert_allclose(part.coef, alone.coef)
    np.testing.assert_allclose(part.left_out, alone.left_out)


def test_blend_is_the_sum_of_its_heads_and_not_worse_than_any():
    rng = np.random.default_rng(7)
    y = np.arange(200) % 2
    Z = rng.normal(size=(200, 4)) + y[:, None] * [1, 0, 0.5, 0]
    layer = Layer(Z, np.eye(2)[y])
    parts = {"first": Part(slice(2)), "rest": Part(slice(2, None)), "all": Part(slice(None))}
    found = blend(layer, parts, lambda part: penalised_lda(part, y, None), multiples_of_scores)
    heads = {name: penalised_lda(layer.part(*part), y, None) for name, part in parts.items()}
    expected = sum(
        found.multiples[name] * (Z[:, part.columns] @ heads[name].coef + heads[name].intercept)
        for name, part in parts.items()
    )
    np.testing.assert_allclose(Z @ found.coef + found.intercept, expected)

    def loss(left_out):
        return np.log(np.exp(left_out).sum(axis=1)).mean()

    blended = sum(found.multiples[name] * head.left_out for name, head in heads.items())
    assert loss(blended) <= min(loss(head.left_out) for head in heads.values()) + 1e-6


def test_penalised_lda_sees_a_class_between_two_others():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    Z = (y + 0.1 * rng.normal(size=300))[:, None]
    coef, intercept = penalised_lda(Layer(Z, np.eye(3)[y]), y, None)[:2]
    assert np.mean((Z @ coef + intercept).argmax(axis=1) == y) > 0.99
    indicators = ridge(Layer(Z, np.eye(3)[y]), None)
    masked = (Z @ indicators.coef + indicators.intercept).argmax(axis=1)
    assert np.mean(masked == y) < 0.95


def test_penalised_lda_gives_probabilities(wine):
    Z, y = wine
    coef, intercept = penalised_lda(Layer(Z, np.eye(3)[y]), y, None)[:2]
    scores = Z @ coef + intercept
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]
    assert losses.mean() < 0.1
