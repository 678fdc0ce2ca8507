"""Where the nodes of a tree or decision graph go in a picture.

Sugiyama's layered drawing, in three steps:

1. *layers*: the layer of a node is the length of the longest path to it, so that every branch
   points down; a branch that skips layers gets a bend in each of them;
2. *order*: within the layers, nodes move to the mean place of their neighbours, layer by layer,
   while fewer branches cross; a tree is drawn without crossings from the start;
3. *places*: subtrees are drawn as close together as they fit (Reingold and Tilford); in a graph
   nodes then come, layer by layer, as close to the mean place of their neighbours as the order and
   a least distance allow, which is an isotonic regression.

The cost is linear in nodes and bends for each sweep over the layers.
"""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.isotonic import isotonic_regression

ORDER_SWEEPS = 12
PLACE_SWEEPS = 9
BEND = 0.4  # room that a bend takes, where a node takes 1


@dataclass(frozen=True)
class Layout:
    """Places of the nodes, in units of one node.

    Attributes
    ----------
    x : dict of int to float
        Horizontal place of each node, from 0 to `width`.
    layer : dict of int to int
        Vertical place of each node: 0 for the root, growing downwards.
    routes : dict of (int, int) to list of (float, int)
        Points that the branch (node, 0 for left or 1 for right) passes, both ends included.
    """

    x: dict[int, float]
    layer: dict[int, int]
    routes: dict[tuple[int, int], list[tuple[float, int]]]

    @property
    def width(self) -> float:
        """Distance between the outermost places."""
        return max(x for route in [*self.routes.values(), [(0.0, 0)]] for x, _ in route)

    @property
    def depth(self) -> int:
        """The last layer."""
        return max(self.layer.values())


def lay_out(children: Mapping[int, Sequence[int]], root: int = 0) -> Layout:
    """Place the nodes of an acyclic graph.

    Parameters
    ----------
    children : mapping of int to sequence of int
        Children of each node, left to right; none for a leaf.
    root : int, default=0

    Returns
    -------
    layout : Layout

    Examples
    --------
    >>> layout = lay_out({0: [1, 2], 1: [], 2: [1, 3], 3: []})
    >>> dict(sorted(layout.layer.items()))
    {0: 0, 1: 2, 2: 1, 3: 2}
    """
    order = _topological(children, root)
    layer = dict.fromkeys(order, 0)
    for node in order:
        for child in children[node]:
            layer[child] = max(layer[child], layer[node] + 1)

    # Vertices are nodes (int) and bends (parent, side, layer); every link joins adjacent layers.
    layers: list[list] = [[] for _ in range(max(layer.values()) + 1)]
    below: dict = {}
    chains: dict[tuple[int, int], list] = {}
    for node in _depth_first(children, root):
        layers[layer[node]].append(node)
        for side, child in enumerate(children[node]):
            bends = [(node, side, k) for k in range(layer[node] + 1, layer[child])]
            for bend in bends:
                layers[bend[2]].append(bend)
            chains[node, side] = [node, *bends, child]
            for upper, lower in pairwise(chains[node, side]):
                below.setdefault(upper, []).append(lower)
    above: dict = {}
    for upper, lowers in below.items():
        for lower in lowers:
            above.setdefault(lower, []).append(upper)

    is_tree = all(len(uppers) == 1 for uppers in above.values())
    if not is_tree:
        layers = _ordered(layers, above, below)
    x = _placed(layers, above, below, is_tree)
    routes = {
        branch: [(x[v], v[2] if isinstance(v, tuple) else layer[v]) for v in chain]
        for branch, chain in chains.items()
    }
    return Layout({node: x[node] for node in order}, layer, routes)


def _topological(children: Mapping[int, Sequence[int]], root: int) -> list[int]:
    """Return the nodes that the root reaches, parents before children."""
    parents: dict[int, int] = {root: 0}
    for node in _depth_first(children, root):
        for child in children[node]:
            parents[child] = parents.get(child, 0) + 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for child in children[node]:
            parents[child] -= 1
            if parents[child] == 0:
                ready.append(child)
    return order


def _depth_first(children: Mapping[int, Sequence[int]], root: int) -> list[int]:
    """Return the nodes that the root reaches, from left to right."""
    order, met, pending = [], set(), [root]
    while pending:
        node = pending.pop()
        if node not in met:
            met.add(node)
            order.append(node)
            pending += reversed(children[node])
    return order


def _ordered(layers: list[list], above: dict, below: dict) -> list[list]:
    """Return the layers in the order with the fewest crossings that the sweeps met."""
    best, fewest = layers, _crossings(layers, below)
    for sweep in range(ORDER_SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        place = {v: i for layer in layers for i, v in enumerate(layer)}
        layers = [list(layer) for layer in layers]
        for layer in layers if down else reversed(layers):
            layer.sort(key=lambda v: _mean([place[n] for n in neighbours.get(v, ())], place[v]))
            place.update((v, i) for i, v in enumerate(layer))
        crossings = _crossings(layers, below)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _crossings(layers: list[list], below: dict) -> int:
    """Count the links that cross between adjacent layers."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {v: i for i, v in enumerate(lower)}
        met: list[int] = []
        for v in upper:
            ends = sorted(place[w] for w in below.get(v, ()))
            total += sum(len(met) - bisect_right(met, end) for end in ends)
            for end in ends:
                insort(met, end)
    return total


def _placed(layers: list[list], above: dict, below: dict, is_tree: bool) -> dict:
    """Return the place of every vertex, the leftmost at 0."""
    x = _tidy(layers, above, below)
    # Half the room of the two neighbours lies between them.
    room = [np.array([_room(v) for v in layer]) for layer in layers]
    start = [np.cumsum(r) - r / 2 for r in room]
    for sweep in range(0 if is_tree else PLACE_SWEEPS):
        up = sweep % 2 == 0
        neighbours = below if up else above
        sequence = range(len(layers) - 1, -1, -1) if up else range(len(layers))
        for k in sequence:
            wanted = [_mean([x[n] for n in neighbours.get(v, ())], x[v]) for v in layers[k]]
            shifted = isotonic_regression(np.array(wanted) - start[k]) + start[k]
            x.update(zip(layers[k], shifted.tolist(), strict=True))
    least = min(x.values())
    return {v: place - least for v, place in x.items()}


def _tidy(layers: list[list], above: dict, below: dict) -> dict:
    """Return the places in which every subtree is drawn alike and as close to the next as it can.

    In a graph, each vertex is drawn below its middle parent.
    """
    place = {v: i for layer in layers for i, v in enumerate(layer)}
    owner = {
        v: sorted(uppers, key=place.__getitem__)[len(uppers) // 2] for v, uppers in above.items()
    }
    offset: dict = {}  # of a vertex from its owner
    contours: dict = {}  # leftmost and rightmost place in each layer below a vertex, from there
    for layer in reversed(layers):
        for v in layer:
            # Both branches of a node may end in one child.
            owned = sorted({w for w in below.get(v, ()) if owner[w] == v}, key=place.__getitem__)
            left = right = np.empty(0)
            shifts = []
            for w in owned:
                next_left, next_right = contours.pop(w)
                shared = min(len(right), len(next_left))
                shift = max(right[:shared] - next_left[:shared], default=0.0)
                shifts.append(shift)
                left = np.concatenate([left, next_left[len(left) :] + shift])
                right = np.concatenate([next_right + shift, right[len(next_right) :]])
            middle = (shifts[0] + shifts[-1]) / 2 if shifts else 0.0
            offset.update((w, shift - middle) for w, shift in zip(owned, shifts, strict=True))
            half = _room(v) / 2
            contours[v] = (
                np.concatenate([[-half], left - middle]),
                np.concatenate([[half], right - middle]),
            )
    x = {layers[0][0]: 0.0}
    for layer in layers[1:]:
        x.update((v, x[owner[v]] + offset[v]) for v in layer)
    return x


def _room(vertex: int | tuple) -> float:
    return BEND if isinstance(vertex, tuple) else 1.0


def _mean(values: list, default: float) -> float:
    return sum(values) / len(values) if values else default
