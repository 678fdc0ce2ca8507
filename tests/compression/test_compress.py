"""Compression keeps its limits, its word on fidelity and the form of its table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import hedgerow
from hedgerow import compress
from hedgerow.compression.generated import generate_rows
from hedgerow.compression.pruning import pruning_order
from hedgerow.compression.refit import fit_values
from hedgerow.compression.structure import Structure, indicators, unfolded

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return hedgerow.RandomForestClassifier(20, random_state=0).fit(*IRIS)


@pytest.fixture(scope="module")
def numbers():
    return hedgerow.RandomForestRegressor(10, max_leaf_nodes=40, random_state=0).fit(*DIABETES)


@pytest.mark.parametrize("max_splits", [0, 1, 2, 7, 30])
def test_splits_are_kept(forest, max_splits):
    small = compress(forest, *IRIS, max_splits=max_splits)
    assert small.n_splits_ <= max_splits
    assert small.predict_proba(IRIS[0]).shape == (150, 3)
    if max_splits == 0:
        assert len(np.unique(small.predict(IRIS[0]))) == 1
    if max_splits == 30:
        assert small.score(*IRIS) > 0.93


@pytest.mark.parametrize("max_bytes", [100, 500, 2000])
def test_bytes_are_kept(forest, numbers, max_bytes):
    for teacher, data in ((forest, IRIS), (numbers, DIABETES)):
        small = compress(teacher, *data, max_bytes=max_bytes)
        assert small.nbytes_ <= max_bytes
        assert max_bytes == 100 or small.n_splits_ > 0


def test_latency_is_kept(numbers):
    small = compress(numbers, *DIABETES, max_splits=200, max_latency_us=50)
    assert small.latency_us_ <= 50


def test_a_teacher_that_keeps_the_limits_is_copied(forest, numbers):
    for teacher, (X, y) in ((forest, IRIS), (numbers, DIABETES)):
        small = compress(teacher, X, y, max_splits=teacher.n_splits_)
        assert small.origin_ == "copy"
        assert small.n_splits_ == small.teacher_n_splits_ == teacher.n_splits_
        assert_allclose(small.predict(X) == y, teacher.predict(X) == y)
        assert small.fidelity_ == pytest.approx(1)


def test_the_smallest_within_a_tolerance_lacks_no_more(forest, numbers):
    X, y = IRIS
    sizes = []
    for tolerance in (0.5, 0.02):
        small = compress(forest, X, y, tolerance=tolerance)
        assert small.teacher_score_ - small.score_ <= tolerance
        assert small.max_splits == small.n_splits_
        sizes.append(small.n_splits_)
    assert sizes == sorted(sizes)
    assert compress(forest, X, tolerance=0.1).agreement_ >= 0.9
    assert compress(numbers, DIABETES[0], tolerance=0.5).fidelity_ >= 0.5


def test_a_tolerance_that_no_model_within_the_limits_keeps_is_named(numbers):
    with pytest.raises(ValueError, match="max_splits=2 is within tolerance=0.01 of the teacher"):
        compress(numbers, DIABETES[0], tolerance=0.01, max_splits=2)
    with pytest.raises(ValueError, match="'tolerance' must be a number of at least 0"):
        compress(numbers, DIABETES[0], tolerance=-1)


def test_more_splits_are_nearer_to_the_teacher(numbers):
    X, _ = DIABETES
    near = [compress(numbers, X, max_splits=n).fidelity_ for n in (2, 20, 200)]
    assert near == sorted(near)
    assert near[-1] > 0.9


def test_truth_is_scored_beside_the_teacher(forest):
    small = compress(forest, *IRIS, max_splits=10)
    assert 0.8 < small.score_ <= 1
    assert 0.8 < small.teacher_score_ <= 1
    assert 0.8 < small.agreement_ <= 1
    untold = compress(forest, IRIS[0], max_splits=10)
    assert not hasattr(untold, "score_")
    assert not hasattr(untold, "teacher_score_")


@pytest.mark.parametrize(
    "model", [HistGradientBoostingRegressor(max_iter=30), KNeighborsRegressor()]
)
def test_what_cannot_be_read_is_distilled(model):
    X, y = DIABETES
    small = compress(model.fit(X, y), X, y, max_splits=40)
    assert small.origin_ == "distilled"
    assert small.fidelity_ > 0.5
    assert not hasattr(small, "teacher_n_splits_")


def test_any_classifier_with_probabilities():
    X, y = IRIS
    words = np.array(["oak", "ash", "elm"])[y]
    small = compress(LogisticRegression(max_iter=500).fit(X, words), X, max_splits=15)
    assert set(small.classes_) == {"oak", "ash", "elm"}
    assert (small.predict(X) == words).mean() > 0.9


class Bare:
    """A classifier of no library, without probabilities."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_a_model_of_no_library():
    X = np.random.default_rng(0).normal(size=(400, 2))
    small = compress(Bare(), X, max_splits=3)
    assert (small.predict(X) == Bare().predict(X)).mean() > 0.97


class LikeYdf:
    """The interface of YDF's models: labels are words, one column for two classes."""

    def __init__(self, task):
        self._task = task

    def task(self):
        return f"Task.{self._task}"

    def label_classes(self):
        return ["1", "0"]

    def predict(self, X):
        second = np.clip(0.5 - np.asarray(X)[:, 0], 0, 1)
        return second if self._task == "CLASSIFICATION" else 10 * second


def test_models_of_ydf():
    X = np.random.default_rng(0).normal(size=(400, 2))
    small = compress(LikeYdf("CLASSIFICATION"), X, (X[:, 0] > 0).astype(int), max_splits=5)
    assert small.classes_.tolist() == ["1", "0"]
    assert ((small.predict(X) == "1") == (X[:, 0] > 0)).mean() > 0.95
    assert compress(LikeYdf("REGRESSION"), X, max_splits=10).fidelity_ > 0.9


def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
            "kind": pd.Categorical(rng.choice(["hazel", "holly", "haw"], 300)),
            "cut": rng.random(300) < 0.5,
        }
    )
    y = np.where((X["kind"] == "holly") ^ (X["size"] > 0), "keep", "cut")
    return X, y


def test_frames_keep_their_names_and_categories():
    X, y = frame()
    forest = hedgerow.RandomForestClassifier(10, random_state=0).fit(X, y)
    small = compress(forest, X, y, max_splits=20)
    assert small.feature_names_in_.tolist() == ["size", "kind", "cut"]
    assert small.schema_.categories[1] == ["haw", "hazel", "holly"]
    assert small.score(X, y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        small.predict(X[["kind", "size", "cut"]])


def test_generated_rows_keep_types_categories_and_missing_values():
    X, _ = frame()
    table = hedgerow.DecisionTreeRegressor().read_table(X, np.zeros(300))
    made = generate_rows(X, table.matrix(), 500, np.random.default_rng(0))
    assert made.dtypes.equals(X.dtypes)
    assert made["size"].isna().any()
    assert set(made["size"].dropna()) <= set(X["size"].dropna())
    assert len(pd.concat([X, made]).drop_duplicates()) > len(X.drop_duplicates())


def test_the_same_seed_gives_the_same_model(numbers):
    X, y = DIABETES
    first, second = (compress(numbers, X, y, max_splits=15, random_state=3) for _ in range(2))
    assert_array_equal(first.predict(X), second.predict(X))


def test_models_are_saved(tmp_path, forest):
    small = compress(forest, *IRIS, max_splits=8)
    hedgerow.save(small, tmp_path / "small.hedgerow")
    again = hedgerow.load(tmp_path / "small.hedgerow")
    assert_array_equal(again.predict_proba(IRIS[0]), small.predict_proba(IRIS[0]))
    assert again.fidelity_ == small.fidelity_


def test_a_graph_with_shared_nodes_is_pruned_as_a_tree():
    X, y = IRIS
    graph = hedgerow.TreeInTreeClassifier(max_splits=8, random_state=0).fit(X, y)
    assert compress(graph, X, y, max_splits=3).n_splits_ <= 3
    tree = unfolded(graph.graph_)
    assert_array_equal(tree.value[tree.apply(X)], graph.graph_.value[graph.apply(X)])


def test_an_oblique_tree_is_pruned():
    X, y = IRIS
    tree = hedgerow.MeanMarginTreeClassifier().fit(X, y)
    small = compress(tree, X, y, max_splits=2)
    assert small.n_splits_ <= 2


def structure_of(numbers):
    graphs = [member.graph_ for member in numbers.estimators_[:3]]
    structure = Structure(graphs)
    leaves = structure.leaves(DIABETES[0])
    return structure, leaves


def test_order_takes_children_before_parents_and_every_split_once(numbers):
    structure, leaves = structure_of(numbers)
    order = pruning_order(structure, leaves, DIABETES[1][:, None], np.ones(442), 1.0)
    assert sorted(order) == np.flatnonzero(structure.left >= 0).tolist()
    place = np.empty(structure.n_nodes)
    place[order] = np.arange(len(order))
    for node in order:
        for child in (structure.left[node], structure.right[node]):
            assert structure.left[child] < 0 or place[child] < place[node]


def test_the_first_collapse_is_the_cheapest_by_brute_force():
    """That split goes whose loss, with all leaves fitted again, is least."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.3 * np.sign(X[:, 1]) + 0.05 * np.sign(X[:, 2])
    graphs = [
        hedgerow.DecisionTreeRegressor(max_leaf_nodes=n).fit(X, t).graph_
        for n, t in ((5, y), (3, X[:, 1]), (3, X[:, 2]))
    ]
    structure = Structure(graphs)
    leaves = structure.leaves(X)
    order = pruning_order(structure, leaves, y[:, None], np.ones(200), 1.0)
    ridge = 1.0

    def loss(collapsed_node):
        """Ridge with the penalty of the leaves that were tied, as the order has it."""
        column = np.cumsum(structure.left < 0) - 1
        tied = np.arange(int((structure.left < 0).sum()))
        a, b = column[structure.left[collapsed_node]], column[structure.right[collapsed_node]]
        tied[b] = tied[a]
        kept, place = np.unique(tied, return_inverse=True)
        A = np.zeros((200, len(kept)))
        for tree in leaves.T:
            A[np.arange(200), place[column[tree]]] += 1
        penalty = ridge * np.bincount(place)
        target = y - y.mean()
        w = np.linalg.solve(A.T @ A + np.diag(penalty), A.T @ target)
        return ((A @ w - target) ** 2).sum() + (penalty * w**2).sum()

    is_leaf = structure.left < 0
    tests = np.flatnonzero(~is_leaf)
    ready = tests[is_leaf[structure.left[tests]] & is_leaf[structure.right[tests]]]
    assert order[0] == min(ready, key=loss)


def test_values_solve_the_ridge(numbers):
    structure, _ = structure_of(numbers)
    collapsed = structure.depth >= 3
    small, _ = structure.without(collapsed & (structure.left >= 0))
    is_leaf = small.left < 0
    column = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    rows = indicators(small.leaves(DIABETES[0]), column, int(is_leaf.sum()))
    y = DIABETES[1][:, None]
    intercept, values = fit_values(rows, y, np.ones(442), 5.0, has_classes=False)
    A = np.hstack([np.ones((442, 1)), rows.toarray()])
    penalty = np.diag([0.0] + [5.0] * rows.shape[1])
    exact = np.linalg.solve(A.T @ A + penalty, A.T @ y)
    # Shifts between the trees' leaves and the intercept change nothing that is said.
    assert_allclose(intercept + rows @ values, A @ exact, rtol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_loss_values_are_stationary(n_classes):
    rng = np.random.default_rng(0)
    leaf = rng.integers(4, size=300)
    shares = np.eye(n_classes)[(leaf + rng.integers(2, size=300)) % n_classes]
    rows = indicators(leaf[:, None], np.arange(4), 4)
    intercept, values = fit_values(rows, shares, np.ones(300), 1e-6, has_classes=True)
    scores = intercept + values
    if n_classes == 2:
        scores = np.hstack([np.zeros((4, 1)), scores])
    found = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    counts = rows.T @ shares
    assert_allclose(found, counts / counts.sum(axis=1, keepdims=True), atol=2e-3)


def test_bad_input_is_refused(forest):
    X, y = IRIS
    for settings, message in (
        ({}, "'max_splits', 'max_bytes' or 'max_latency_us' must be given"),
        ({"max_splits": -1}, "'max_splits' must be"),
        ({"max_splits": 2.5}, "'max_splits' must be"),
        ({"max_bytes": 0}, "'max_bytes' must be"),
        ({"max_bytes": 3}, "a constant alone takes"),
        ({"max_splits": 3, "random_state": "x"}, "'random_state' must be"),
    ):
        with pytest.raises(ValueError, match=message):
            compress(forest, X, y, **settings)
    with pytest.raises(ValueError, match="X has 150 rows and y has 149"):
        compress(forest, X, y[:-1], max_splits=3)
    with pytest.raises(ValueError, match="y holds 7, which is no class of the model"):
        compress(forest, X, np.where(y == 2, 7, y), max_splits=3)
    with pytest.raises(TypeError, match="with a 'predict' method, got int"):
        compress(3, X, y, max_splits=3)
    with pytest.raises(TypeError, match="got the class RandomForestClassifier"):
        compress(RandomForestClassifier, X, y, max_splits=3)


def test_the_estimator_fits_its_teacher():
    X, y = IRIS
    small = hedgerow.CompressedClassifier(
        RandomForestClassifier(10, random_state=0), max_splits=5, random_state=0
    ).fit(X, y)
    assert small.n_splits_ <= 5
    assert small.teacher_n_splits_ > 5
