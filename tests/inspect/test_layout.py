"""Where nodes go: every branch points down, nothing overlaps, trees have no crossings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.inspect.layout import lay_out


@st.composite
def graphs(draw):
    """Children of each node of an acyclic graph in which the root reaches every node."""
    n = draw(st.integers(1, 25))
    children = {node: [] for node in range(n)}
    for node in range(1, n):
        parents = [p for p in range(node) if len(children[p]) < 2]
        children[draw(st.sampled_from(parents))].append(node)
    for node in range(n - 1):
        if len(children[node]) == 1:
            children[node].append(draw(st.integers(node + 1, n - 1)))
    return children


def layers_of(layout):
    layers = {}
    for node, layer in layout.layer.items():
        layers.setdefault(layer, []).append(layout.x[node])
    return [sorted(layers[k]) for k in sorted(layers)]


@given(graphs())
def test_branches_point_down_and_nodes_keep_their_distance(children):
    layout = lay_out(children)
    assert set(layout.x) == set(children)
    for node in children:
        for side, child in enumerate(children[node]):
            assert layout.layer[child] > layout.layer[node]
            route = layout.routes[node, side]
            assert route[0] == (layout.x[node], layout.layer[node])
            assert route[-1] == (layout.x[child], layout.layer[child])
            assert all(b[1] == a[1] + 1 for a, b in pairwise(route))
    for layer in layers_of(layout):
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(layer))
    assert min(layout.x.values()) >= 0
    assert max(layout.x.values()) <= layout.width


def test_a_tree_is_drawn_with_parents_in_the_middle_and_left_children_left():
    children = {0: (1, 2), 1: (3, 4), 2: (), 3: (5, 6), 4: (), 5: (), 6: ()}
    layout = lay_out(children)
    for node, pair in children.items():
        if pair:
            left, right = (layout.x[child] for child in pair)
            assert left < right
            assert layout.x[node] == pytest.approx((left + right) / 2)


def test_a_node_with_two_parents_has_one_place_below_both():
    layout = lay_out({0: (1, 2), 1: (3, 4), 2: (4, 5), 3: (), 4: (), 5: ()})
    assert layout.x[3] < layout.x[4] < layout.x[5]
    assert layout.x[4] == pytest.approx(layout.x[0])


def test_crossings_that_can_be_avoided_are():
    layout = lay_out({0: (1, 2), 1: (5, 3), 2: (3, 4), 3: (), 4: (), 5: ()})
    assert layout.x[5] < layout.x[3] < layout.x[4]


def test_depth_is_no_problem(ladder):
    graph = ladder(1000).graph_
    children = {
        n: (left, right) if left >= 0 else ()
        for n, (left, right) in enumerate(
            zip(graph.left.tolist(), graph.right.tolist(), strict=True)
        )
    }
    assert lay_out(children).depth == 2000
