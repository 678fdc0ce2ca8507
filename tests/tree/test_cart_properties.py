"""What a tree promises whatever the data: invariances, reproducibility, round trips, errors."""

import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import check_tree
from sklearn.base import clone
from strategies import tables

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

ESTIMATORS = {"classes": DecisionTreeClassifier, "reals": DecisionTreeRegressor}
targets = pytest.mark.parametrize("target", ESTIMATORS)


def fit(table, target, X=None, y=None, w=None, **parameters):
    """Exact tree of a drawn table, with any part of it replaced."""
    parameters = {"max_bins": None, "categorical_features": list(table.categorical)} | parameters
    X = table.X if X is None else X
    y = table.y if y is None else y
    return ESTIMATORS[target](random_state=0, **parameters).fit(X, y, sample_weight=w)


def sample(target, n_rows=200, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n_rows)
    return X, np.digitize(y, [0, 1]) if target == "classes" else y


def assert_same_graph(a, b):
    left, right = a.graph_.arrays(), b.graph_.arrays()
    assert left.keys() == right.keys()
    for name in left:
        assert_array_equal(left[name], right[name], err_msg=name)


def groups(estimator, X):
    """Leaf of every row, numbered by first appearance."""
    _, first, group = np.unique(estimator.apply(X), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def values(estimator, X):
    return estimator.predict_proba(X) if hasattr(estimator, "classes_") else estimator.predict(X)


# Invariances. Whole-numbered targets and weights keep every sum exact, so that the order of rows
# cannot tip a tie.


@targets
@given(data=st.data())
def test_row_order_does_not_matter(target, data):
    table = data.draw(tables("classes", weighted=False))
    order = np.array(data.draw(st.permutations(range(table.y.size))))
    there = fit(table, target)
    back = fit(table, target, table.X[order], table.y[order])
    assert_allclose(values(there, table.X), values(back, table.X), atol=1e-12)
    assert there.get_n_leaves() == back.get_n_leaves()


@targets
@given(data=st.data())
def test_strictly_monotone_transform_does_not_change_the_groups(target, data):
    kinds = ("ties", "whole", "constant")
    table = data.draw(tables(target, categories=False, kinds=kinds))
    bent = np.sign(table.X) * np.abs(table.X) ** 3 + table.X
    seen = slice(None) if table.w is None else table.w > 0
    assert_array_equal(
        groups(fit(table, target, w=table.w), table.X[seen]),
        groups(fit(table, target, X=bent, w=table.w), bent[seen]),
    )


@targets
@given(data=st.data())
def test_weight_two_is_the_row_twice(target, data):
    table = data.draw(tables("classes", weighted=False))
    n_rows = table.y.size
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)))
    weight[0] = 1
    repeat = np.repeat(np.arange(n_rows), weight)
    if len(set(table.y[repeat])) < len(set(table.y)):
        repeat, weight = np.arange(n_rows), np.ones(n_rows)
    weighted = fit(table, target, w=weight.astype(float))
    repeated = fit(table, target, table.X[repeat], table.y[repeat])
    assert_allclose(
        values(weighted, table.X[repeat]), values(repeated, table.X[repeat]), atol=1e-12
    )


@targets
@given(data=st.data())
def test_rows_without_weight_do_not_matter(target, data):
    table = data.draw(tables(target, weighted=False))
    y = table.y.copy()
    ghosts = table.X[::-1] if table.categorical else table.X * 0.5
    weight = np.repeat([1.0, 0.0], y.size)
    plain = fit(table, target)
    haunted = fit(table, target, np.vstack([table.X, ghosts]), np.concatenate([y, y[::-1]]), weight)
    assert_array_equal(groups(plain, table.X), groups(haunted, table.X))
    assert_allclose(values(plain, table.X), values(haunted, table.X), atol=1e-12)
    assert_array_equal(plain.graph_.n_samples, haunted.graph_.n_samples)


@given(table=tables("classes"), names=st.permutations(["ash", "beech", "cherry", "dogwood", "elm"]))
def test_renamed_classes_rename_the_predictions(table, names):
    table.y[: len(names)] = np.arange(len(names))[: table.y.size]
    renamed = np.array(names)[table.y]
    plain = fit(table, "classes")
    other = fit(table, "classes", y=renamed)
    order = np.searchsorted(other.classes_, np.array(names)[plain.classes_])
    check_tree(other, table.X, renamed)
    assert plain.graph_.impurity[0] == pytest.approx(other.graph_.impurity[0], abs=1e-12)
    assert_allclose(plain.graph_.value[0], other.graph_.value[0][order], atol=1e-12)


def test_order_preserving_renaming_changes_nothing_else():
    X, y = sample("classes")
    plain = DecisionTreeClassifier().fit(X, y)
    named = DecisionTreeClassifier().fit(X, np.array(["a", "b", "c"], dtype=object)[y])
    assert_same_graph(plain, named)
    assert_array_equal(np.array(["a", "b", "c"])[plain.predict(X)], named.predict(X))


def test_shift_of_the_target_changes_only_the_values():
    X, y = sample("reals")
    plain = DecisionTreeRegressor(max_bins=None).fit(X, y)
    shifted = DecisionTreeRegressor(max_bins=None).fit(X, y + 1e6)
    assert_array_equal(groups(plain, X), groups(shifted, X))
    assert_allclose(plain.graph_.impurity, shifted.graph_.impurity, rtol=1e-6, atol=1e-9)


@targets
def test_scaled_weights_change_nothing_but_the_weight(target):
    X, y = sample(target)
    w = np.random.default_rng(1).integers(1, 5, size=y.size).astype(float)
    plain = ESTIMATORS[target]().fit(X, y, sample_weight=w)
    scaled = ESTIMATORS[target]().fit(X, y, sample_weight=1024 * w)
    assert_array_equal(plain.graph_.threshold, scaled.graph_.threshold)
    assert_array_equal(1024 * plain.graph_.weight, scaled.graph_.weight)


# Reproducibility.


@targets
@pytest.mark.parametrize("max_bins", [None, 255, 8])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_result_is_the_same_for_any_n_jobs(target, max_bins, n_jobs):
    X, y = sample(target, n_rows=3000, n_features=7)
    X[:, 3] = np.round(X[:, 3])
    X[::7, 2] = np.nan
    one, many = (
        ESTIMATORS[target](max_bins=max_bins, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, n_jobs)
    )
    assert_same_graph(one, many)
    assert_array_equal(values(one, X), values(many, X))


@targets
@pytest.mark.parametrize("parameters", [{}, {"max_features": 2}, {"splitter": "random"}], ids=str)
def test_result_is_the_same_in_every_run(target, parameters):
    X, y = sample(target)
    a, b = (ESTIMATORS[target](random_state=7, **parameters).fit(X, y) for _ in range(2))
    assert_same_graph(a, b)


@targets
def test_default_tree_does_not_depend_on_the_seed(target):
    X, y = sample(target)
    X = np.round(X, 1)
    trees = [ESTIMATORS[target](random_state=seed).fit(X, y) for seed in (None, 0, 1)]
    assert_same_graph(trees[0], trees[1])
    assert_same_graph(trees[0], trees[2])


@targets
@pytest.mark.parametrize("parameters", [{"max_features": 1}, {"splitter": "random"}], ids=str)
def test_random_trees_depend_on_the_seed(target, parameters):
    X, y = sample(target)
    trees = [ESTIMATORS[target](random_state=seed, **parameters).fit(X, y) for seed in range(4)]
    assert len({tuple(tree.graph_.threshold) for tree in trees}) == 4
    for tree in trees:  # full trees fit tie-free data whatever the splits are
        assert tree.score(X, y) == pytest.approx(1.0)


def test_ties_are_always_settled_the_same_way_and_favour_no_feature():
    x = np.arange(6.0)
    y = [0, 1, 0, 0, 1, 0]
    chosen = []
    for n_copies in range(2, 40):
        X = np.column_stack([x] * n_copies)
        trees = [DecisionTreeClassifier(max_depth=1, random_state=s).fit(X, y) for s in range(3)]
        assert len({int(tree.graph_.feature[0]) for tree in trees}) == 1
        assert all(tree.graph_.threshold[0] == 0.5 for tree in trees)  # the lowest of the two
        chosen.append(trees[0].graph_.feature[0] / n_copies)
    assert 0.2 < np.mean(chosen) < 0.8


# Kinds of input.


@targets
def test_float32_equals_float64_where_both_hold_the_numbers(target):
    X, y = sample(target)
    X = X.astype(np.float32)
    single, double = (ESTIMATORS[target](max_bins=None).fit(A, y) for A in (X, X.astype(float)))
    assert_same_graph(single, double)
    assert_array_equal(values(single, X), values(single, X.astype(float)))


@targets
def test_large_whole_numbers_are_told_apart(target):
    X = 2**24 + np.arange(8)[:, None]  # float32 holds every second one
    y = np.arange(8) % 2
    for table in (X, X.tolist(), X.astype(object)):
        tree = ESTIMATORS[target]().fit(table, y)
        assert_array_equal(tree.predict(table), y)


def layouts(X):
    frozen = X.copy()
    frozen.setflags(write=False)
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return {
        "fortran": np.asfortranarray(X),
        "read-only": frozen,
        "strided": wide[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "big-endian": X.astype(">f8"),
        "list": X.tolist(),
    }


@targets
@pytest.mark.parametrize("layout", layouts(np.zeros((1, 1))))
def test_memory_layout_does_not_matter(target, layout):
    X, y = sample(target)
    other = layouts(X)[layout]
    plain, tree = ESTIMATORS[target]().fit(X, y), ESTIMATORS[target]().fit(other, y)
    assert_same_graph(plain, tree)
    assert_array_equal(values(plain, X), values(plain, other))
    assert_array_equal(plain.apply(X), plain.apply(other))


@targets
def test_read_only_target_and_weights_are_left_alone(target):
    X, y = sample(target)
    w = np.ones(y.size)
    for array in (X, y, w):
        array.setflags(write=False)
    tree = ESTIMATORS[target]().fit(X, y, sample_weight=w)
    assert_same_graph(tree, ESTIMATORS[target]().fit(X, y))


@targets
@given(data=st.data())
def test_few_distinct_values_are_exact_with_bins(target, data):
    table = data.draw(tables(target))
    assert_same_graph(fit(table, target, w=table.w), fit(table, target, w=table.w, max_bins=255))


@targets
def test_bins_hold_equal_shares_of_the_rows(target):
    X, y = sample(target, n_rows=5000)
    binned = ESTIMATORS[target](max_bins=32, max_depth=5).fit(X, y)
    shares = X.argsort(axis=0).argsort(axis=0) * 32 // len(X)
    by_share = ESTIMATORS[target](max_bins=None, max_depth=5).fit(shares, y)
    assert binned.score(X, y) == pytest.approx(by_share.score(shares, y), abs=0.01)
    for j in range(X.shape[1]):
        assert len(set(binned.graph_.threshold[binned.graph_.feature == j])) < 32


# The fitted tree.


def test_exclusive_or_is_learned_through_a_split_without_gain():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), [0, 1, 1, 0]
    tree = DecisionTreeClassifier().fit(X, y)
    assert_array_equal(tree.predict(X), y)
    assert (tree.get_depth(), tree.get_n_leaves()) == (2, 4)
    assert DecisionTreeClassifier(min_impurity_decrease=1e-9).fit(X, y).get_n_leaves() == 1


@targets
@given(data=st.data())
def test_paths_leaves_and_predictions_agree(target, data):
    table = data.draw(tables(target))
    tree = fit(table, target, w=table.w)
    graph, leaf, paths = tree.graph_, tree.apply(table.X), tree.decision_path(table.X)
    assert paths.shape == (table.y.size, graph.n_nodes)
    assert_array_equal(graph.left[leaf], -1)
    assert_array_equal(values(tree, table.X).reshape(len(leaf), -1), graph.value[leaf])
    for row, last in zip(paths.tolil().rows, leaf, strict=True):
        assert row[0] == 0 and row[-1] == last  # preorder: a path only ever goes up in number
        for parent, child in pairwise(row):
            assert child in (graph.left[parent], graph.right[parent])


@targets
@pytest.mark.parametrize("max_leaf_nodes", [None, 11])
def test_nodes_are_numbered_in_preorder(target, max_leaf_nodes):
    X, y = sample(target)
    tree = ESTIMATORS[target](max_leaf_nodes=max_leaf_nodes).fit(X, y)
    graph, order, todo = tree.graph_, [], [0]
    while todo:
        node = todo.pop()
        order.append(node)
        if graph.left[node] >= 0:
            todo += [graph.right[node], graph.left[node]]
    assert order == list(range(graph.n_nodes))
    assert graph.n_splits == tree.n_splits_ == tree.get_n_leaves() - 1 == graph.n_leaves - 1
    assert graph.depth == tree.get_depth()
    assert tree.n_outputs_ == 1 and tree.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_targets_far_from_zero_are_as_well_learned_as_others(offset):
    x = np.random.default_rng(0).uniform(0, 10, 1000)
    y = np.sin(x) + offset  # rounded to 1e-4 at 1e12
    tree = DecisionTreeRegressor(max_leaf_nodes=30).fit(x[:, None], y)
    assert np.mean((tree.predict(x[:, None]) - y) ** 2) < 0.01
    assert tree.get_n_leaves() == 30


@targets
def test_a_limit_of_leaves_that_is_not_reached_changes_nothing(target):
    X, y = sample(target)
    full = ESTIMATORS[target](min_samples_leaf=2).fit(X, y)
    n_leaves = full.get_n_leaves()
    for most in (n_leaves, n_leaves + 1, len(X) // 2, len(X)):
        limited = ESTIMATORS[target](min_samples_leaf=2, max_leaf_nodes=most).fit(X, y)
        for name, column in full.graph_.arrays().items():
            assert_array_equal(limited.graph_.arrays()[name], column, err_msg=name)
    below = ESTIMATORS[target](min_samples_leaf=2, max_leaf_nodes=n_leaves - 1).fit(X, y)
    assert below.get_n_leaves() == n_leaves - 1


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighty", [False, True])
def test_siblings_that_leave_no_fewer_rows_wrong_are_merged(criterion, weighty):
    """By the definition, from the leaves up: no pair of leaves is left that does not help."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(300, 4))
    y = np.where(rng.uniform(size=300) < 0.3, rng.integers(0, 3, 300), X[:, 0] // 2)
    weight = rng.integers(1, 4, 300) if weighty else None
    settings = {"criterion": criterion, "min_samples_leaf": 5}
    whole = DecisionTreeClassifier(**settings).fit(X, y, weight)
    merged = DecisionTreeClassifier(**settings, merge_siblings=True).fit(X, y, weight)
    tree = whole.graph_
    wrong = tree.weight * (1 - tree.value.max(axis=1))
    gone, changed = set(), True
    while changed:
        changed = False
        for node in range(tree.n_nodes):
            children = int(tree.left[node]), int(tree.right[node])
            if children[0] < 0 or node in gone:
                continue
            if any(tree.left[child] >= 0 and child not in gone for child in children):
                continue
            if sum(wrong[child] for child in children) >= wrong[node] - 1e-9:
                gone.add(node)
                changed = True
    assert gone
    assert merged.n_splits_ == whole.n_splits_ - len(gone)
    assert merged.score(X, y, weight) == pytest.approx(whole.score(X, y, weight))


@targets
def test_views_of_the_graph_are_read_only(target):
    tree = ESTIMATORS[target]().fit(*sample(target))
    for name in ("feature", "threshold", "left", "right", "kind", "missing_left", "n_samples",
                 "weight", "impurity", "value"):  # fmt: skip
        assert not getattr(tree.graph_, name).flags.writeable, name


@targets
def test_views_outlive_the_tree(target):
    X, y = sample(target)
    kept = ESTIMATORS[target]().fit(X, y).graph_.threshold
    assert_array_equal(kept, ESTIMATORS[target]().fit(X, y).graph_.threshold)


# Round trips.


@targets
def test_pickle_and_joblib_keep_the_tree(target, tmp_path):
    X, y = sample(target)
    tree = ESTIMATORS[target](max_depth=6).fit(X, y)
    joblib.dump(tree, tmp_path / "tree.joblib")
    for copy in (pickle.loads(pickle.dumps(tree)), joblib.load(tmp_path / "tree.joblib")):
        assert_same_graph(tree, copy)
        assert_array_equal(values(tree, X), values(copy, X))


@targets
def test_another_process_reads_a_pickled_tree(target, tmp_path):
    X, y = sample(target)
    tree = ESTIMATORS[target]().fit(X, y)
    (tmp_path / "tree.pickle").write_bytes(pickle.dumps((tree, X)))
    program = (
        "import pickle, sys, numpy; tree, X = pickle.load(open(sys.argv[1], 'rb'));"
        "numpy.save(sys.argv[2], tree.predict(X))"
    )
    answer = tmp_path / "answer.npy"
    subprocess.run([sys.executable, "-c", program, tmp_path / "tree.pickle", answer], check=True)
    assert_array_equal(np.load(answer), tree.predict(X))


@targets
def test_joblib_workers_grow_and_use_the_same_tree(target):
    X, y = sample(target)
    tree = ESTIMATORS[target](n_jobs=2).fit(X, y)
    jobs = (joblib.delayed(clone(tree).fit)(X, y) for _ in range(2))
    for grown in joblib.Parallel(n_jobs=2)(jobs):
        assert_same_graph(tree, grown)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_child_works_after_a_parallel_fit():
    X, y = sample("classes", n_rows=3000)
    tree = DecisionTreeClassifier(n_jobs=2).fit(X, y)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        grown = pool.submit(tree.fit, X, y).result(timeout=30)
    assert_same_graph(tree, grown)


@targets
def test_clone_is_unfitted_and_refits_alike(target):
    X, y = sample(target)
    tree = ESTIMATORS[target](max_depth=3, max_bins=16, n_jobs=2).fit(X, y)
    copy = clone(tree)
    assert not hasattr(copy, "graph_") and copy.get_params() == tree.get_params()
    assert_same_graph(tree, copy.fit(X, y))


# Errors.


@targets
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_depth", -3),
        ("max_depth", 1.5),
        ("min_samples_split", 1),
        ("min_samples_leaf", 0),
        ("min_weight_fraction_leaf", 0.7),
        ("min_impurity_decrease", -0.1),
        ("max_leaf_nodes", 1),
        ("max_features", 0),
        ("max_features", "all"),
        ("max_bins", 1),
        ("ccp_alpha", -1.0),
        ("criterion", "giny"),
        ("splitter", "worst"),
        ("n_jobs", 1.5),
    ],
)
def test_wrong_parameter_is_named_with_its_value(target, name, value):
    tree = ESTIMATORS[target](**{name: value})
    with pytest.raises((ValueError, TypeError), match=rf"^'{name}' must be .*, got {value!r}\.$"):
        tree.fit(*sample(target))


def test_poisson_needs_counts():
    X, y = sample("reals")
    for bad in (y - 10, np.zeros_like(y)):
        with pytest.raises(ValueError, match="Poisson"):
            DecisionTreeRegressor(criterion="poisson").fit(X, bad)


@targets
def test_wrong_weights_are_refused(target):
    X, y = sample(target)
    for w in (np.ones(3), np.full(y.size, np.nan), np.zeros(y.size)):
        with pytest.raises(ValueError):
            ESTIMATORS[target]().fit(X, y, sample_weight=w)
