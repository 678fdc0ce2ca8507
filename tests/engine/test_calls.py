"""What the engine takes and what it refuses: every call checks rows, targets and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import _engine
from hedgerow._engine import Dataset, Forest, ForestParams, GrowParams, MarginParams, TuneParams

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
CLASSES = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
NUMBERS = X[:, 0] * 2
CATEGORIES = np.zeros(3, dtype=np.uint32)


def table():
    data = Dataset(N)
    data.append_matrix(X, 255, 1)
    return data


def params(targets):
    if targets.dtype == np.int32:
        return GrowParams(n_classes=2)
    return GrowParams(criterion="squared_error")


def n_classes(targets):
    return 2 if targets.dtype == np.int32 else 0


def grow(rows, targets, weights=None):
    return _engine.grow(table(), rows, targets, weights, params(targets))


def grow_forest(rows, targets, weights=None):
    forest = Forest(3, max(n_classes(targets), 1))
    drawn = ForestParams(params(targets), seed=1, bootstrap=True, n_draws=40)
    forest.grow(table(), rows, targets, weights, drawn, 3)
    return forest.graph(0)


def fine_tune(rows, targets, weights=None):
    good = CLASSES if targets.dtype == np.int32 else NUMBERS
    tuning = TuneParams(n_classes=n_classes(targets))
    return _engine.fine_tune(grow(None, good), table(), rows, targets, weights, tuning)


def grow_tree_in_tree(rows, targets, weights=None):
    settings = _engine.TreeInTreeParams(params(targets))
    return _engine.grow_tree_in_tree(table(), rows, None, targets, weights, settings, None)["graph"]


def trim(rows, targets, weights=None):
    good = CLASSES if targets.dtype == np.int32 else NUMBERS
    settings = _engine.TreeInTreeParams(params(targets))
    return _engine.trim(grow(None, good), table(), rows, targets, weights, settings, 3)[0]


def grow_mean_margin(rows, targets, weights=None):
    return _engine.grow_mean_margin(
        X, CATEGORIES, rows, targets, weights, n_classes(targets), None, MarginParams()
    )


CALLS = [grow, grow_forest, fine_tune, grow_tree_in_tree, trim, grow_mean_margin]
calls = pytest.mark.parametrize("call", CALLS)
targets = pytest.mark.parametrize("targets", [CLASSES, NUMBERS], ids=["classes", "numbers"])


@calls
@targets
def test_no_rows_are_not_all_rows(call, targets):
    with pytest.raises(ValueError, match="no rows to grow on"):
        call(np.empty(0, dtype=np.uint32), targets)


@calls
@targets
def test_all_rows_are_the_rows_of_none(call, targets):
    every = call(np.arange(N, dtype=np.uint32), targets)
    for name, column in call(None, targets).arrays().items():
        assert_array_equal(column, every.arrays()[name])


@calls
@targets
@pytest.mark.parametrize("row", [N, 2**32 - 1])
def test_rows_out_of_range_are_refused(call, targets, row):
    with pytest.raises(ValueError, match=f"row {row} is out of range: the data has {N} rows"):
        call(np.array([0, row], dtype=np.uint32), targets)


@calls
@targets
@pytest.mark.parametrize("n", [0, N - 1, N + 1])
def test_targets_and_weights_have_one_entry_per_row(call, targets, n):
    with pytest.raises(ValueError, match=f"'targets' must have one entry .* {N}, got {n}"):
        call(None, np.resize(targets, n))
    with pytest.raises(ValueError, match=f"'weights' must have one entry .* {N}, got {n}"):
        call(None, targets, np.ones(n))


@calls
@pytest.mark.parametrize("odd", [-1, 2, 2**31 - 1, -(2**31)])
def test_classes_out_of_range_are_refused_where_they_are_read(call, odd):
    classes = CLASSES.copy()
    classes[-1] = odd
    with pytest.raises(ValueError, match="a class is out of range: there are 2"):
        call(None, classes)
    call(np.arange(N - 1, dtype=np.uint32), classes)  # a row that nobody reads


@calls
@targets
@pytest.mark.parametrize("odd", [-1.0, np.nan, np.inf])
def test_weights_must_be_finite_and_not_negative(call, targets, odd):
    weights = np.ones(N)
    weights[3] = odd
    with pytest.raises(ValueError, match="a weight is negative or not finite"):
        call(None, targets, weights)


@calls
def test_targets_of_another_type_are_refused(call):
    for odd in CLASSES.astype(np.int64), CLASSES.astype(bool), NUMBERS.astype(np.float32):
        with pytest.raises(TypeError, match="'targets' must be int32 .* or float64"):
            call(None, odd)


@calls
def test_several_outputs_are_for_some_calls_alone(call):
    two = np.column_stack([NUMBERS, -NUMBERS])
    if call is grow_mean_margin:
        assert call(None, two).n_outputs == 2
    elif call is grow:
        params = GrowParams(criterion="squared_error")
        assert _engine.grow(table(), None, two, None, params).n_outputs == 2
    elif call is not grow_forest:
        with pytest.raises(ValueError, match="'targets' must be one number per row"):
            call(None, two)
    with pytest.raises(ValueError, match="'targets' must have one dimension"):
        call(None, CLASSES[:, None])


def test_a_criterion_of_classes_needs_classes():
    with pytest.raises(ValueError, match="'n_classes' must be 0 for the criteria of numbers"):
        _engine.grow(table(), None, NUMBERS, None, GrowParams(criterion="gini"))
    with pytest.raises(ValueError, match="the targets are numbers, and classes are wanted"):
        _engine.grow(table(), None, NUMBERS, None, GrowParams(n_classes=2))
    with pytest.raises(ValueError, match="unknown criterion 'x'"):
        GrowParams(criterion="x")
    with pytest.raises(ValueError, match="unknown splitter 'x'"):
        GrowParams(splitter="x")


def test_a_forest_grows_on_its_own_kind_of_table():
    drawn = ForestParams(GrowParams(n_classes=2), seed=1, bootstrap=True, n_draws=40)
    with pytest.raises(ValueError, match="must have the features of the forest"):
        Forest(4, 2).grow(table(), None, CLASSES, None, drawn, 3)
    with pytest.raises(ValueError, match="another number of outputs"):
        Forest(3, 3).grow(table(), None, CLASSES, None, drawn, 3)
    forest = Forest(3, 2)
    forest.grow(table(), None, CLASSES, None, drawn, 3)
    assert forest.out_of_bag_importances(drawn, X, CLASSES).shape == (3, 3)
    assert_allclose(forest.importances.sum(axis=1), 1)
    with pytest.raises(ValueError, match="'targets' must have one entry"):
        forest.out_of_bag_importances(drawn, X, CLASSES[1:])


def test_taken_rows_are_a_data_set_of_their_own():
    data = table()
    data.append_categories(np.arange(N, dtype=np.int32) % 3 - 1, 2)
    data.append_numbers([np.where(np.arange(N) < 2, np.nan, X[:, 0])], 0, 1)
    rows = np.array([5, 0, 5, 59, 1], dtype=np.uint32)
    part = data.take(rows, n_jobs=2)
    assert (part.n_rows, part.n_features) == (5, 5)
    for f in range(5):
        assert_array_equal(part.codes(f), data.codes(f)[rows])
        assert part.n_bins(f) == data.n_bins(f)
        assert part.is_categorical(f) == data.is_categorical(f)
    assert part.has_missing(4)
    assert not data.take(rows[[0, 3]]).has_missing(4)
    with pytest.raises(ValueError, match="row 60 is out of range"):
        data.take(np.array([60], dtype=np.uint32))
    # A tree on rows of the data set is the tree on a data set of these rows.
    tree = _engine.grow(table(), rows, CLASSES, None, GrowParams(n_classes=2))
    same = _engine.grow(table().take(rows), None, CLASSES[rows], None, GrowParams(n_classes=2))
    for name, column in tree.arrays().items():
        assert_array_equal(column, same.arrays()[name])


def test_a_row_predictor_keeps_its_forest_alive():
    predictor = _engine.RowPredictor(_engine.PackedGraphs([grow(None, NUMBERS)]), None)
    assert predictor(X[0]) == pytest.approx(NUMBERS[0])


def test_numbers_are_float32_or_float64():
    data = Dataset(N)
    single = X.astype(np.float32)
    data.append_matrix(single[:, ::2], 255, 1)
    data.append_numbers([single[:, 0], single[:, 2]], 255, 1)
    for a, b in (0, 2), (1, 3):
        assert_array_equal(data.codes(a), data.codes(b))
    with pytest.raises(TypeError, match="columns differ in type"):
        data.append_numbers([X[:, 0], single[:, 0]], 255, 1)
    whole = X.astype(np.int64)
    graph = grow(None, CLASSES)
    predictor = _engine.RowPredictor(_engine.PackedGraphs([graph]), None)
    assert_array_equal(predictor(X[0]), predictor.values(X[0]))
    for call in (
        lambda: data.append_matrix(whole, 255, 1),
        lambda: data.append_numbers([whole[:, 0]], 255, 1),
        lambda: graph.apply(whole),
        lambda: predictor(whole[0]),
    ):
        with pytest.raises(TypeError, match="numbers must be float32 or float64"):
            call()
