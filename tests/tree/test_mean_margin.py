"""Mean-margin trees: the paper's trees, invariances, limits, bad input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from strategies import tables
from tree.mean_margin_oracle import AmbiguousError, check_tree

from hedgerow import MeanMarginTreeClassifier, MeanMarginTreeRegressor

ESTIMATORS = {"classes": MeanMarginTreeClassifier, "reals": MeanMarginTreeRegressor}
targets = pytest.mark.parametrize("target", ESTIMATORS)
standardize = pytest.mark.parametrize("standardize", [False, True])
KINDS = ("ties", "whole", "real", "constant")


def sample(target, n_rows=300, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n_rows)
    return X, np.digitize(y, [0, 1, 2]) if target == "classes" else y


def assert_same_graph(a, b):
    left, right = a.graph_.arrays(), b.graph_.arrays()
    assert left.keys() == right.keys()
    for name in left:
        assert_array_equal(left[name], right[name], err_msg=name)


def values(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


# The paper.


@targets
@standardize
@given(data=st.data())
def test_tree_is_the_tree_of_the_paper(target, standardize, data):
    table = data.draw(tables(target, kinds=KINDS, max_rows=30))
    model = ESTIMATORS[target](
        standardize=standardize, categorical_features=list(table.categorical)
    ).fit(table.X, table.y, sample_weight=table.w)
    try:
        check_tree(model, table.X, table.y, table.w)
    except AmbiguousError:
        reject()


@targets
@given(data=st.data())
def test_limits_cut_the_tree_of_the_paper(target, data):
    table = data.draw(tables(target, kinds=KINDS, weighted=False, max_rows=30))
    limits = {"max_depth": data.draw(st.integers(1, 3)),
              "min_samples_leaf": data.draw(st.integers(1, 4))}  # fmt: skip
    model = ESTIMATORS[target](categorical_features=list(table.categorical), **limits)
    model.fit(table.X, table.y)
    try:
        check_tree(model, table.X, table.y, **limits)
    except AmbiguousError:
        reject()


@pytest.mark.parametrize("n_rows", [1025, 5000])
@targets
def test_blocks_and_tasks_grow_the_tree_of_the_paper(target, n_rows):
    X, y = sample(target, n_rows=n_rows)
    X[::7, 2] = np.nan
    X[:, 3] = np.round(3 * X[:, 3]).clip(-2, 2)
    model = ESTIMATORS[target](categorical_features=[3]).fit(X, y)
    check_tree(model, X, y)


def test_several_outputs_are_divided_by_their_first_component():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.column_stack([X[:, 0] - X[:, 1], 3 * X[:, 0], rng.normal(size=200)])
    model = MeanMarginTreeRegressor(standardize=False, min_samples_leaf=5).fit(X, y)
    check_tree(model, X, y, min_samples_leaf=5)
    assert model.n_outputs_ == 3
    assert model.predict(X).shape == (200, 3)
    assert model.score(X, y) > 0.3


def test_the_power_method_may_start_at_random_and_take_other_steps():
    X, y = load_digits(return_X_y=True)

    def trained(**parameters):
        return MeanMarginTreeClassifier(max_depth=4, **parameters).fit(X, y)

    drawn = trained(random_start=True, random_state=0)
    assert_same_graph(drawn, trained(random_start=True, random_state=0, n_jobs=3))
    scores = {trained(random_start=True, random_state=seed).score(X, y) for seed in range(5)}
    assert len(scores) > 1
    # Where one component leads, as with classes of unequal sizes, the steps come to it from any
    # start: it decides nothing but which group is which.
    kept = np.concatenate([np.flatnonzero(y == k)[: 170 - 15 * k] for k in range(10)])
    many = {
        MeanMarginTreeClassifier(max_depth=1, power_steps=5000, random_start=start)
        .fit(X[kept], y[kept])
        .score(X[kept], y[kept])
        for start in (False, True)
    }
    assert len(many) == 1
    # With two classes there is no component to find.
    pair = y < 2
    first, second = (
        MeanMarginTreeClassifier(random_start=start).fit(X[pair], y[pair])
        for start in (False, True)
    )
    assert_same_graph(first, second)


def test_row_on_the_boundary_goes_right():
    # Means 0 and 4, centre 2: the row at 2 is of class 0 and goes right all the same.
    X = np.array([[-2.0], [0.0], [2.0], [4.0]])
    tree = MeanMarginTreeClassifier(standardize=False, max_depth=1).fit(X, [0, 0, 0, 1])
    features, weights, threshold, _ = tree.graph_.oblique(0)
    assert (features.tolist(), weights.tolist(), threshold) == ([0], [4.0], 8.0)
    assert tree.apply(X).tolist() == [1, 1, 2, 2]


def test_missing_number_is_left_out_of_mean_and_product():
    X = np.array([[0.0, 0.0], [0.0, np.nan], [4.0, 2.0], [np.nan, 2.0]])
    tree = MeanMarginTreeClassifier(standardize=False, max_depth=1).fit(X, [0, 0, 1, 1])
    _, weights, threshold, _ = tree.graph_.oblique(0)
    assert weights.tolist() == [4.0, 2.0]  # means (0, 0) and (4, 2)
    assert threshold == 4 * 2 + 2 * 1
    assert tree.predict(X).tolist() == [0, 0, 1, 1]
    assert tree.predict([[np.nan, np.nan]]) == [1]  # nothing left: the sum is 0, which goes right


def test_missing_category_counts_as_equal_shares():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "red", "green", "blue", None, None])})
    y = [0, 0, 1, 1, 0, 1]
    tree = MeanMarginTreeClassifier(max_depth=1).fit(X, y)
    _, weights, _, categories = tree.graph_.oblique(0)
    assert categories.tolist() == [0, 1, 2]  # blue, green, red
    third = 1 / 3
    mean_0 = np.array([third, third, 2 + third]) / 3
    mean_1 = np.array([1 + third, 1 + third, third]) / 3
    assert_allclose(weights, mean_1 - mean_0)
    unseen = pd.DataFrame({"colour": [None, "violet"]})
    assert len(set(tree.apply(unseen))) == 1


# Invariances and reproducibility.


@targets
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_result_is_the_same_for_any_n_jobs(target, n_jobs):
    X, y = sample(target, n_rows=6000)
    X[::7, 2] = np.nan
    one, many = (ESTIMATORS[target](n_jobs=n).fit(X, y) for n in (1, n_jobs))
    assert_same_graph(one, many)
    assert_array_equal(values(one, X), values(many, X))


@targets
@standardize
def test_float32_equals_float64_where_both_hold_the_numbers(target, standardize):
    X, y = sample(target)
    X = X.astype(np.float32)
    single, double = (
        ESTIMATORS[target](standardize=standardize).fit(A, y) for A in (X, X.astype(float))
    )
    assert_same_graph(single, double)
    assert_array_equal(values(single, X), values(single, X.astype(float)))


@targets
def test_weight_two_is_the_row_twice(target):
    X, y = sample(target)
    w = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = ESTIMATORS[target]().fit(X, y, sample_weight=w)
    repeated = ESTIMATORS[target]().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(values(weighted, X), values(repeated, X), atol=1e-9)


@targets
def test_scale_of_a_feature_does_not_matter_when_standardised(target):
    X, y = sample(target)
    plain, scaled = (ESTIMATORS[target]().fit(A, y) for A in (X, X * [1, 1024, 1, 1, 2**-10]))
    assert_array_equal(values(plain, X), values(scaled, X * [1, 1024, 1, 1, 2**-10]))
    assert_allclose(plain.feature_importances_, scaled.feature_importances_)


@targets
@given(data=st.data())
def test_training_and_prediction_send_rows_to_the_same_leaves(target, data):
    table = data.draw(tables(target, kinds=KINDS))
    model = ESTIMATORS[target](categorical_features=list(table.categorical))
    model.fit(table.X, table.y, sample_weight=table.w)
    counted = slice(None) if table.w is None else table.w > 0
    leaf = model.apply(table.X)
    found = np.bincount(leaf[counted], minlength=model.graph_.n_nodes)
    is_leaf = model.graph_.left < 0
    assert_array_equal(found[is_leaf], model.graph_.n_samples[is_leaf])
    assert_array_equal(values(model, table.X).reshape(len(leaf), -1), model.graph_.value[leaf])


@targets
def test_pickle_keeps_the_tree(target):
    X, y = sample(target)
    X[:, 3] = np.round(X[:, 3]).clip(-1, 1)
    model = ESTIMATORS[target](categorical_features=[3]).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_graph(model, copy)
    assert_array_equal(values(model, X), values(copy, X))


def test_pandas_and_polars_give_the_same_tree():
    X, y = sample("classes")
    columns = {"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down"), "c": X[:, 2] > 0}
    pandas, polars = (MeanMarginTreeClassifier().fit(f(columns), y) for f in (pd.DataFrame, pl.DataFrame))  # noqa: E501 # fmt: skip
    assert_same_graph(pandas, polars)


def test_rows_choose_part_of_a_table():
    X, y = sample("classes")
    rows = np.random.default_rng(0).integers(0, len(y), 150).astype(np.uint32)
    model = MeanMarginTreeClassifier()
    part = MeanMarginTreeClassifier().fit(X[rows], y[rows])
    grown = model.learner().grow(model.read_table(X, y), rows)
    assert_allclose(grown.graph.value, part.graph_.value, atol=1e-12)


@pytest.mark.parametrize("target", ["classes", "reals"])
def test_the_paper_does_not_standardize_unless_it_is_asked_to(target):
    X, y = sample(target)
    kind = ESTIMATORS[target]
    assert kind(preset="paper").fit(X, y).scale_ is None
    assert_same_graph(kind(preset="paper").fit(X, y), kind(standardize=False).fit(X, y))
    assert_same_graph(kind(preset="paper", standardize=True).fit(X, y), kind().fit(X, y))


def test_pruning_leaves_a_smaller_tree():
    X, y = sample("classes")
    sizes = [
        MeanMarginTreeClassifier(ccp_alpha=alpha).fit(X, y).get_n_leaves() for alpha in (0, 0.01, 1)
    ]
    assert sizes[0] > sizes[1] > sizes[2] == 1


# Bad input.


@targets
def test_identical_group_means_make_a_leaf(target):
    X = np.array([[0.1, 0.1], [0.3, 0.3], [0.1, 0.3], [0.3, 0.1]])  # exclusive or
    model = ESTIMATORS[target]().fit(X, [0, 0, 1, 1])
    assert model.get_n_leaves() == 1
    assert_allclose(model.graph_.value[0], 0.5)


@targets
@standardize
def test_constant_columns_are_not_used(target, standardize):
    X, y = sample(target)
    X = np.column_stack([np.full(len(y), 0.1), X, np.full(len(y), 1e6), np.full(len(y), np.nan)])
    model = ESTIMATORS[target](standardize=standardize).fit(X, y)
    plain = ESTIMATORS[target](standardize=standardize).fit(X[:, 1:-2], y)
    assert_array_equal(values(model, X), values(plain, X[:, 1:-2]))
    assert_array_equal(model.feature_importances_[[0, -2, -1]], 0)


@targets
def test_single_label_makes_a_leaf(target):
    X, _ = sample(target)
    model = ESTIMATORS[target]().fit(X, np.ones(len(X), dtype=int))
    assert model.get_n_leaves() == 1
    assert_array_equal(model.predict(X), 1)


@targets
def test_only_constant_columns_make_a_leaf(target):
    _, y = sample(target)
    assert ESTIMATORS[target]().fit(np.full((len(y), 2), 0.1), y).get_n_leaves() == 1


@targets
def test_values_whose_products_overflow_are_refused(target):
    X, y = sample(target)
    X[3, 2] = 1e200
    with pytest.raises(ValueError, match="beyond 1e100"):
        ESTIMATORS[target]().fit(X, y)


@targets
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("standardize", "yes"),
        ("max_depth", 0),
        ("min_samples_split", 1),
        ("min_samples_leaf", 0),
        ("min_weight_fraction_leaf", 0.7),
        ("ccp_alpha", -1.0),
        ("n_jobs", 0),
    ],
)
def test_wrong_parameter_is_named_with_its_value(target, name, value):
    with pytest.raises(ValueError, match=rf"^'{name}' must be .*, got {value!r}\.$"):
        ESTIMATORS[target](**{name: value}).fit(*sample(target))


def broken(graph, **changes):
    """The arrays of a graph with some of them changed."""
    return graph.arrays() | changes


@pytest.mark.parametrize(
    ("categories", "message"),
    [([0, 2, 1], "lacks categories"), ([1, 2, 3], "lacks categories"), ([0, -1, 1], "after a")],
)
def test_oblique_tests_with_broken_categories_are_refused(categories, message):
    X = pd.DataFrame({"colour": pd.Categorical(["red", "green", "blue", "blue"])})
    graph = MeanMarginTreeClassifier(max_depth=1).fit(X, [0, 1, 1, 1]).graph_
    arrays = broken(graph, oblique_category=np.array(categories, dtype=np.int32))
    with pytest.raises(ValueError, match=message):
        type(graph).from_arrays(arrays)
