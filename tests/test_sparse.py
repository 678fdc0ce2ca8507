"""Sparse tables: the same models and answers as with their zeros written out."""

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from small_models import small

import hedgerow
from hedgerow import _sparse
from hedgerow.storage import MODELS

N, P = 120, 12
RNG = np.random.default_rng(5)
DENSE = np.where(RNG.random((N, P)) < 0.25, RNG.normal(size=(N, P)).round(1), 0.0)
DENSE[:, 0] = RNG.random(N)  # a column without zeros
DENSE[:, 1] = 0  # and one of nothing else
DENSE[::9, 2] = np.nan
DENSE[:, 3] = -np.abs(DENSE[:, 3])
DENSE[:, 4] = RNG.integers(0, 3, N)
NUMBERS = DENSE[:, 0] + 2 * np.nan_to_num(DENSE[:, 2]) + (DENSE[:, 4] > 1) + DENSE[:, 5]
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS, [0.4, 1.2])]
FORMATS = [
    sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array,
    sparse.coo_array, sparse.lil_matrix,
]  # fmt: skip


def models():
    """Every public model of a table, small, but those that are made of fitted ones."""
    for cls in MODELS.values():
        if hasattr(cls, "fit") and "shape" not in inspect.signature(cls).parameters:
            yield pytest.param(cls, id=cls.__name__)


def told(model, X):
    """What a fitted model says of rows, by method."""
    names = ("predict", "predict_proba", "apply", "decision_function", "transform")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def targets_of(model):
    return NUMBERS if is_regressor(model) else CLASSES


@pytest.mark.parametrize("cls", list(models()))
def test_every_model_is_the_same_on_a_sparse_table(cls):
    model = small(cls)
    y = targets_of(model)
    expected = told(small(cls).fit(DENSE, y), DENSE)
    fitted = model.fit(sparse.csr_array(DENSE), y)
    for X in (sparse.csr_array(DENSE), DENSE):
        for name, values in told(fitted, X).items():
            np.testing.assert_array_equal(values, expected[name], err_msg=name)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_format_gives_the_graph_of_the_dense_table(form, dtype):
    dense = DENSE.astype(dtype)
    expected = hedgerow.DecisionTreeClassifier().fit(dense, CLASSES)
    tree = hedgerow.DecisionTreeClassifier().fit(form(dense), CLASSES)
    for name, column in expected.graph_.arrays().items():
        np.testing.assert_array_equal(tree.graph_.arrays()[name], column)
    assert tree.schema_ == expected.schema_
    paths = tree.decision_path(form(dense)), expected.decision_path(dense)
    assert (paths[0] != paths[1]).nnz == 0


def test_whole_numbers_and_booleans_are_read_as_numbers():
    counts = (np.nan_to_num(DENSE) * 3).astype(np.int64)
    for X in (counts, counts > 0):
        tree = hedgerow.DecisionTreeClassifier().fit(sparse.csr_array(X), CLASSES)
        expected = hedgerow.DecisionTreeClassifier().fit(X.astype(float), CLASSES)
        assert tree.graph_.n_nodes == expected.graph_.n_nodes
        assert (tree.predict(sparse.csc_array(X)) == expected.predict(X.astype(float))).all()


def test_bins_are_those_of_the_dense_column():
    """Also where values share bins, and bins hold zero and its neighbours."""
    rng = np.random.default_rng(0)
    columns = np.where(rng.random((3000, 4)) < 0.4, rng.normal(size=(3000, 4)), 0.0)
    columns[:, 3] = np.abs(columns[:, 3]) + 0.01
    for max_bins in (2, 7, 255, None):
        X, y = np.where(columns == 0, -0.0, columns), rng.normal(size=3000)
        trees = [
            hedgerow.DecisionTreeRegressor(max_depth=6, max_bins=max_bins).fit(table, y)
            for table in (X, sparse.csc_matrix(columns))
        ]
        for name, column in trees[0].graph_.arrays().items():
            np.testing.assert_array_equal(trees[1].graph_.arrays()[name], column)


def test_a_table_that_is_not_in_order_is_read_and_stays_as_it_is():
    """Numbers at one place add up, indices may be in any order, zeros may be stored."""
    X = sparse.csr_matrix(
        (np.array([1.0, 2.0, 5.0, 0.0, 4.0]), np.array([2, 2, 0, 1, 0]), np.array([0, 3, 4, 5])),
        shape=(3, 3),
    )
    before = X.data.copy(), X.indices.copy()
    tree = hedgerow.DecisionTreeRegressor().fit(X, [1, 2, 3])
    assert (tree.predict(X) == tree.predict(X.toarray())).all()
    assert (tree.predict(X) == [1, 2, 3]).all()
    assert (X.data == before[0]).all() and (X.indices == before[1]).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_rows_beyond_one_block_are_predicted(n_jobs):
    rng = np.random.default_rng(1)
    X = sparse.random(3000, 40, density=0.1, format="csr", random_state=1)
    y = rng.integers(0, 3, 3000)
    for model in (
        hedgerow.RandomForestClassifier(5, n_jobs=n_jobs, random_state=0),
        hedgerow.DecisionTreeClassifier(n_jobs=n_jobs),
        hedgerow.GradientBoostingClassifier(max_iter=3, n_jobs=n_jobs),
        hedgerow.MeanMarginTreeClassifier(max_depth=4, n_jobs=n_jobs),
    ):
        fitted = model.fit(X, y)
        for name, values in told(fitted, X).items():
            np.testing.assert_array_equal(values, getattr(fitted, name)(X.toarray()))


def test_bags_of_other_estimators_are_given_the_sparse_table():
    from sklearn.linear_model import LogisticRegression

    X = sparse.csr_array(np.nan_to_num(DENSE))
    for model in (
        hedgerow.BaggingClassifier(LogisticRegression(), 3, random_state=0),
        hedgerow.BaggingClassifier(LogisticRegression(), 3, max_features=0.5, random_state=0),
        hedgerow.AdaBoostClassifier(LogisticRegression(), n_estimators=3, random_state=0),
    ):
        values = model.fit(X, CLASSES).predict_proba(X)
        model.fit(X.toarray(), CLASSES)
        np.testing.assert_allclose(values, model.predict_proba(X.toarray()), atol=1e-6)


def test_boosted_trees_and_warm_starts_read_it():
    X = sparse.csr_array(DENSE)
    for model in (
        hedgerow.AdaBoostClassifier(n_estimators=40, random_state=0),
        hedgerow.RandomForestClassifier(40, oob_score=True, random_state=0),
        hedgerow.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0),
    ):
        values = model.fit(X, CLASSES).predict_proba(X)
        if "warm_start" in model.get_params():
            model.set_params(n_estimators=45, warm_start=True).fit(X, CLASSES)
            assert len(model) == 45
        assert values.shape == (N, 3)


def test_what_needs_the_zeros_refuses_a_table_that_is_too_large(monkeypatch):
    monkeypatch.setattr(_sparse, "MOST_CELLS", N * P - 1)
    X = sparse.csr_array(np.nan_to_num(DENSE))
    for name in ("DecisionTreeClassifier", "RandomForestClassifier", "GradientBoostingClassifier"):
        model = small(getattr(hedgerow, name)).fit(X, CLASSES)
        assert is_classifier(model) and len(model.predict(X)) == N
    for name in ("TreeEmbeddingClassifier", "TreeNetworkClassifier", "MeanMarginTreeClassifier"):
        with pytest.raises(ValueError, match="needs it with its zeros: 120 x 12 numbers"):
            small(getattr(hedgerow, name)).fit(X, CLASSES)


def test_a_model_of_a_frame_reads_a_sparse_table_as_numbers():
    import pandas as pd

    frame = pd.DataFrame({"size": DENSE[:, 5], "kind": pd.Categorical(DENSE[:, 4])})
    tree = hedgerow.DecisionTreeClassifier().fit(frame, CLASSES)
    with pytest.warns(UserWarning, match="valid feature names"):
        told_of = tree.predict(sparse.csr_array(DENSE[:, [5, 4]]))
    assert (told_of == tree.predict(frame)).all()
