"""A forest or graph that was damaged on the way is refused before anything is predicted with it."""

import warnings

import numpy as np
import pytest

from hedgerow import DecisionTreeClassifier, RandomForestClassifier
from hedgerow._engine import DecisionGraph, Forest
from hedgerow._graph_model import check_forest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 0).astype(int)
NODE = np.dtype([("number", "<f8"), ("test", "<u4"), ("left", "<u4")])
NOT_LEAF, CATEGORY, OBLIQUE = np.uint32(1 << 31), np.uint32(1 << 29), np.uint32(1 << 28)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(2, random_state=0).fit(X, Y).forest_


def with_nodes(forest, change):
    """The forest's state after its nodes were changed."""
    state = forest.__getstate__()
    nodes = state["nodes"].copy().view(NODE)
    change(nodes, state["roots"])
    return state | {"nodes": nodes.view(np.uint8)}


def read(state):
    forest = Forest.__new__(Forest)
    forest.__setstate__(state)
    return forest


def first_leaf(nodes):
    return np.flatnonzero((nodes["test"] & NOT_LEAF) == 0)[0]


def hide_all_but_the_root(kind):
    def change(nodes, roots):
        nodes[0] = 0, 0, 0
        nodes["test"][1 : roots[1]] = NOT_LEAF | kind | np.uint32(0x0FFFFFF0)

    return change


def flag_a_leaf(flag):
    def change(nodes, roots):
        nodes["test"][first_leaf(nodes)] |= flag

    return change


def flag_the_root(flag):
    def change(nodes, roots):
        nodes["test"][0] |= flag

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (flag_a_leaf(CATEGORY), "a leaf has a child or a test"),
        (flag_a_leaf(OBLIQUE), "a leaf has a child or a test"),
        (flag_the_root(CATEGORY | OBLIQUE), "a test is of two kinds"),
        (flag_the_root(CATEGORY), "a category set is out of range"),
        (flag_the_root(OBLIQUE), "an oblique test is out of range"),
        (hide_all_but_the_root(0), "a node its root cannot reach"),
        (hide_all_but_the_root(CATEGORY), "a node its root cannot reach"),
        (hide_all_but_the_root(OBLIQUE), "a node its root cannot reach"),
    ],
)
def test_damaged_nodes_are_refused(forest, change, message):
    with pytest.raises(ValueError, match=message):
        read(with_nodes(forest, change))


@pytest.mark.parametrize("value", [np.nan, np.inf, 7.0, -1.0, 0.5])
def test_values_of_a_classifier_are_shares(forest, value):
    state = forest.__getstate__()
    values = state["values"].copy()
    values[:2] = value, 1 - value if value != 0.5 else 0.6
    if not np.isfinite(value):
        with pytest.raises(ValueError, match="not finite"):
            read(state | {"values": values})
        return
    model = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="do not add up to one"):
        check_forest(model, read(state | {"values": values}))


@pytest.mark.parametrize("name", ["format", "n_features", "n_outputs"])
@pytest.mark.parametrize("value", ["1", None, -1, 2**40, 1.5])
def test_a_state_without_its_numbers_is_a_value_error(forest, name, value):
    graph = DecisionTreeClassifier().fit(X, Y).graph_
    for state, make in (forest.__getstate__(), read), (graph.arrays(), DecisionGraph.from_arrays):
        with pytest.raises(ValueError, match=f"'{name}' is no number"):
            make(state | {name: value})
        with pytest.raises(ValueError, match=f"'{name}' is no number"):
            make({key: array for key, array in state.items() if key != name})


def test_a_state_is_set_once(forest):
    whole = read(forest.__getstate__())
    before = whole.predict(X)
    with warnings.catch_warnings(), pytest.raises(TypeError):
        warnings.simplefilter("ignore")  # nanobind says it twice
        whole.__setstate__(forest.first(1).__getstate__())
    np.testing.assert_array_equal(whole.predict(X), before)
