"""What a layer needs of the engine: shared columns, forests that describe rows held out."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow._engine import Dataset, Forest, ForestParams, GrowParams


def test_shared_columns_are_not_copied_and_grow_apart():
    X = np.random.default_rng(0).random((50, 3))
    data = Dataset(50)
    data.append_matrix(X, 255, 1)
    other = data.share()
    other.append_matrix(X[:, :1] * 2, 255, 1)
    assert (data.n_features, other.n_features) == (3, 4)
    assert np.shares_memory(data.codes(1), other.codes(1))
    codes = other.codes(0)
    del data
    assert_array_equal(codes, other.codes(3))


def test_forest_on_some_rows_knows_nothing_of_the_others_and_describes_those_held():
    random = np.random.default_rng(0)
    X = random.random((200, 4))
    y = (X[:, 0] > 0.5).astype(np.int32)
    data = Dataset(200)
    data.append_matrix(X, 255, 1)
    rows, held = np.arange(0, 150, dtype=np.uint32), np.arange(150, 180, dtype=np.uint32)
    params = ForestParams(GrowParams(n_classes=2), seed=1, bootstrap=True, n_draws=150)
    forests = []
    for rest in (0, 1):
        targets = np.where(np.arange(200) < 150, y, rest).astype(np.int32)
        forest = Forest(4, 2)
        sums, counts = forest.grow(data, rows, targets, None, params, 5, held=held)
        assert_array_equal(np.flatnonzero(counts), held)
        assert_allclose(sums[held] / 5, forest.predict(X[held]))
        forests.append(forest)
    assert_array_equal(forests[0].predict(X), forests[1].predict(X))
