"""A tree whose rows stay on their workers is the tree of the table, whatever is gathered."""

import os
import signal
from threading import Timer

import numpy as np
import pytest

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402

import hedgerow  # noqa: E402
from hedgerow import dask as on_dask  # noqa: E402
from hedgerow._engine import DecisionGraph, GrowParams, decide, join_nodes  # noqa: E402

RNG = np.random.default_rng(0)
N = 1500
X = np.round(RNG.normal(size=(N, 5)), 1)
X[::7, 0] = np.nan
X[:, 3] = RNG.integers(0, 12, N)
X[::9, 3] = np.nan
X[:, 4] = RNG.integers(0, 4, N)
SCORE = np.nan_to_num(X[:, 0]) * X[:, 1] + (X[:, 3] % 5 == 0) + RNG.normal(size=N) / 2
TWO = (SCORE > 0.5).astype(int)
THREE = np.digitize(SCORE, [0, 1])
WEIGHTS = RNG.integers(0, 4, N) * 1.0
CATEGORIES = [3, 4]

SETTINGS = [
    ({}, TWO, None),
    ({}, THREE, WEIGHTS),
    ({"criterion": "entropy"}, THREE, None),
    ({"criterion": "entropy", "min_samples_leaf": 0.02}, TWO, WEIGHTS),
    ({"max_depth": 3}, THREE, None),
    ({"min_impurity_decrease": 0.004}, TWO, None),
    ({"ccp_alpha": 0.003}, THREE, WEIGHTS),
    ({"merge_siblings": True, "min_samples_split": 40}, TWO, None),
    ({"min_weight_fraction_leaf": 0.05}, THREE, WEIGHTS),
]


def lazy(array, n_parts=4):
    size = -(-len(array) // n_parts)
    return None if array is None else da.from_array(array, chunks=(size, -1)[: array.ndim])


def fitted(client, model, y, weights, limit, n_parts=4):
    parts = None if weights is None else lazy(weights, n_parts)
    with dask.config.set({"hedgerow.rows-at-once": limit}):
        return model.fit(lazy(X, n_parts), lazy(y, n_parts), parts, client=client)


FORESTS = [
    ("RandomForest", {}, TWO, None),
    ("RandomForest", {"criterion": "entropy", "max_depth": 6}, THREE, WEIGHTS),
    ("RandomForest", {"max_features": None, "max_samples": 0.5, "ccp_alpha": 0.002}, THREE, None),
    ("ExtraTrees", {}, THREE, WEIGHTS),
    ("ExtraTrees", {"bootstrap": True, "min_samples_leaf": 3}, TWO, None),
]


@pytest.mark.parametrize(("kind", "given", "y", "weights"), FORESTS, ids=lambda one: str(one)[:30])
def test_a_forest_by_counts_is_the_forest_of_the_table(kind, given, y, weights, clients):
    given = {"n_estimators": 5, "random_state": 3, "keyed_draws": True} | given
    given["categorical_features"] = CATEGORIES
    local = getattr(hedgerow, f"{kind}Classifier")(**given).fit(X, y, weights)
    model = getattr(on_dask, f"{kind}Classifier")(**given)
    fitted(clients(2), model, y, weights, limit=100)
    mine, theirs = model.forest_.__getstate__(), local.forest_.__getstate__()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert (model.n_rows_, model.seed_) == (local.n_rows_, local.seed_)
    assert model.schema_ == local.schema_
    np.testing.assert_array_equal(model.predict_proba(X), local.predict_proba(X))
    bags, others = model.estimators_samples_, local.estimators_samples_
    assert all(map(np.array_equal, bags, others))


def check(model, local):
    mine, theirs = model.graph_.__getstate__(), local.graph_.__getstate__()
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert model.schema_ == local.schema_
    np.testing.assert_array_equal(model.classes_, local.classes_)
    np.testing.assert_array_equal(model.predict_proba(X), local.predict_proba(X))


@pytest.mark.parametrize(("given", "y", "weights"), SETTINGS, ids=lambda given: str(given)[:40])
def test_a_tree_by_counts_is_the_tree_of_the_table(given, y, weights, clients):
    given = given | {"categorical_features": CATEGORIES}
    local = hedgerow.DecisionTreeClassifier(**given).fit(X, y, weights)
    model = fitted(clients(2), on_dask.DecisionTreeClassifier(**given), y, weights, limit=100)
    check(model, local)


@pytest.mark.parametrize(("n_workers", "n_parts", "limit"), [(1, 1, 400), (2, 7, 60), (4, 3, 1)])
def test_workers_partitions_and_what_is_gathered_do_not_matter(n_workers, n_parts, limit, clients):
    given = {"categorical_features": CATEGORIES, "max_depth": 5}
    local = hedgerow.DecisionTreeClassifier(**given).fit(X, THREE)
    model = on_dask.DecisionTreeClassifier(**given)
    check(fitted(clients(n_workers), model, THREE, None, limit, n_parts), local)


def test_weights_that_are_no_whole_numbers_are_put_together(clients):
    weights = RNG.random(N)
    local = hedgerow.DecisionTreeClassifier().fit(X, TWO, weights)
    check(fitted(clients(2), on_dask.DecisionTreeClassifier(), TWO, weights, limit=100), local)


def test_a_worker_that_is_killed_between_levels_changes_nothing(clients):
    client = clients(2)
    pid = next(iter(client.run(os.getpid).values()))
    kill = Timer(0.3, os.kill, (pid, signal.SIGKILL))
    kill.start()
    model = fitted(client, on_dask.DecisionTreeClassifier(), THREE, None, limit=2)
    kill.join()
    check(model, hedgerow.DecisionTreeClassifier().fit(X, THREE))


def test_the_engine_refuses_counts_of_another_node():
    data = hedgerow._engine.Dataset(1)
    data.append_matrix(np.zeros((1, 2)), 255, 1)
    params = GrowParams(n_classes=2, stem=(0, 1, 10.0))
    with pytest.raises(ValueError, match="not those of a counted node"):
        decide(data, params, np.zeros(3, np.int64), False)
    with pytest.raises(ValueError, match="not those of a counted node"):
        decide(data, GrowParams(n_classes=2), np.zeros(8, np.int64), False)
    with pytest.raises(ValueError, match="every node needs"):
        join_nodes([], [], [], [])
    graph = hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).graph_
    assert isinstance(graph, DecisionGraph)
    with pytest.raises(ValueError, match="no later node and no part"):
        join_nodes([graph], [0], [-2], [])
