"""The quantities of the theory, where they are known."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hedgerow.embedding import LeafMeansEmbedding, TreeEmbeddingClassifier, diagnose


def clusters(n=300):
    """Three far clusters, two of one class: every leaf is pure and every row near its mean."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 3, n)
    X = np.array([[0, 0], [0, 30], [10, 20]])[cluster] + rng.normal(size=(n, 2)) * 0.3
    return X, (cluster == 2).astype(int)


def test_pure_and_clustered_leaves_meet_the_assumptions_of_theorem_2():
    X, y = clusters()
    model = TreeEmbeddingClassifier(1, activation="linear", head="indicator").fit(X, y)
    found = diagnose(model.embedding_, X, np.eye(2)[y])
    assert (found.impurity == 0).all()
    np.testing.assert_array_equal(found.error_bound, [0])
    np.testing.assert_array_equal(found.own_nearest, [1])
    np.testing.assert_array_equal(found.epsilon, [0])
    assert (model.predict(X) == y).all()


def test_theorem_1_is_false_where_the_anchors_do_not_span_the_rows():
    """Pure leaves, and an embedding that has lost the classes."""
    rng = np.random.default_rng(0)
    half = np.column_stack([rng.uniform(0.1, 1, 200), rng.normal(size=200)])
    half[:, 1] += half[:, 0]
    X = np.vstack([half, -half])  # symmetric: both means lie on one line through 0
    y = (X[:, 0] > 0).astype(int)
    model = TreeEmbeddingClassifier(1, preset="paper", max_depth=1, max_bins=None).fit(X, y)
    found = diagnose(model.embedding_, X, np.eye(2)[y])
    assert found.epsilon == [0]
    assert found.error_bound == [0]
    assert found.rank == [1]
    assert not found.keeps_rows
    assert model.score(X, y) < 0.95
    # Where the anchors span the plane, the embedding determines the row, and nothing is lost.
    moved = X + np.array([0, 5])
    shifted = TreeEmbeddingClassifier(1, preset="paper", max_depth=1, max_bins=None).fit(moved, y)
    assert diagnose(shifted.embedding_, moved).keeps_rows


def test_error_bound_is_the_training_error_of_the_tree():
    X, y = load_iris(return_X_y=True)
    embedding = LeafMeansEmbedding(3, activation="leaf", random_state=0).fit(X, y)
    found = diagnose(embedding, X)
    first = embedding.anchor_tree_ == 0
    leaf = embedding.transform(X)[:, first].argmax(axis=1)
    error = np.mean(embedding.anchor_class_[first][leaf] != y)
    assert found.error_bound[0] == pytest.approx(error)
    assert found.error_bound.shape == found.own_nearest.shape == (3,)
    assert found.epsilon is None


def test_epsilon_is_the_widest_difference_within_a_region():
    X, y = load_iris(return_X_y=True)
    P = np.random.default_rng(0).dirichlet(np.ones(3), len(y))
    embedding = LeafMeansEmbedding(1, activation="leaf").fit(X, y)
    leaf = embedding.transform(X).argmax(axis=1)
    widest = max(
        np.abs(P[i] - P[j]).sum() for i in range(150) for j in range(i) if leaf[i] == leaf[j]
    )
    assert diagnose(embedding, X, P).epsilon[0] == pytest.approx(widest)


def test_wrong_input_is_explained():
    X, y = load_iris(return_X_y=True)
    embedding = LeafMeansEmbedding(1).fit(X, y)
    with pytest.raises(ValueError, match=r"'probabilities' must have shape \(150, 3\), got"):
        diagnose(embedding, X, np.ones((150, 2)))
    numbers = LeafMeansEmbedding(1, criterion="squared_error").fit(X, y)
    with pytest.raises(ValueError, match="'embedding' has a numeric target"):
        diagnose(numbers, X)
