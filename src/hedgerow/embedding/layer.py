"""The fitted first layer: trees, the means of their regions, and how a row meets them.

An `AnchorLayer` is what a transformer, a classifier and a regressor have in common once they are
fitted. It works on encoded rows, as ``schema_.encode`` gives them; which activations make up an
embedding is said anew in every call, since all of them have the same anchors.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax

from hedgerow._engine import DecisionGraph, PackedGraphs
from hedgerow._table import Schema
from hedgerow._targets import LARGEST
from hedgerow.embedding.numeric import NumericView, count_categories
from hedgerow.embedding.regions import CutTree

ACTIVATIONS = ("raw", "linear", "relu", "distance", "rbf", "softmax", "leaf", "vote")
ON_ANCHORS = frozenset(ACTIVATIONS) - {"raw", "vote"}  # those with a column for every anchor
_CELLS_AT_ONCE = 1 << 22  # of an embedding, while it is computed
_ROWS_AT_ONCE = 1 << 11  # of a linear model: they stay in the cache


def activation_names(activation: Any) -> tuple[str, ...]:
    """The parts of an activation, which is one name or several."""
    return (activation,) if isinstance(activation, str) else tuple(activation)


@dataclass(frozen=True, eq=False)
class AnchorLayer:
    """Trees and the means of their regions, the anchors.

    Attributes
    ----------
    trees : list of CutTree
        The first has seen all rows, the others bootstrap samples.
    view : NumericView
        How rows become the numbers that anchors are means of.
    fills : ndarray of shape (n_regions, n_columns) or None
        What a missing number is in each region of the first tree; None for the mean of all rows.
    anchors : ndarray of shape (n_anchors, n_columns)
        W in the paper.
    bias : ndarray of shape (n_anchors,)
        b in the paper.
    counts : ndarray of shape (n_anchors,)
        Total weight of the rows that an anchor is the mean of.
    values : ndarray of shape (n_anchors, n_values)
        Class shares, or the mean target, of those rows.
    bandwidth : float
        Width of the Gaussian bumps on the anchors.
    """

    trees: list[CutTree]
    view: NumericView
    fills: np.ndarray | None
    anchors: np.ndarray
    bias: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    bandwidth: float

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self, schema: Schema, n_values: int) -> None:
        """Refuse parts that do not fit each other or the table, after they came out of a file."""
        view, n_anchors = self.view, sum(len(tree.nodes) for tree in self.trees)
        if view.n_categories != count_categories(schema.categories):
            raise ValueError("the layer has other categories than its table")
        n_numbers = schema.n_features - len(view.n_categories)
        n_columns = n_numbers + sum(view.n_categories.values())
        shapes = [
            (view.mean, (n_columns,)),
            (view.scale, (n_columns,)),
            (self.anchors, (n_anchors, n_columns)),
            (self.bias, (n_anchors,)),
            (self.counts, (n_anchors,)),
            (self.values, (n_anchors, n_values)),
        ]
        if self.fills is not None and self.trees:
            shapes.append((self.fills, (len(self.trees[0].nodes), n_columns)))
        if any(array.shape != shape or array.dtype.kind not in "if" for array, shape in shapes):
            raise ValueError("the arrays of the layer do not fit each other")
        if not all(np.isfinite(array).all() for array, _ in shapes):
            raise ValueError("a number of the layer is not finite")
        if not self.view.can_be_used(self.fills) or abs(self.anchors).max(initial=0) > LARGEST:
            raise ValueError("numbers of the layer are too large, or a scale is too small")
        if not self.trees or not self.bandwidth**2 > 0:
            raise ValueError("the layer has no trees or no bandwidth")
        for graph, nodes in ((tree.graph, tree.nodes) for tree in self.trees):
            is_list = nodes.ndim == 1 and nodes.dtype.kind in "iu" and len(nodes) > 0
            if not is_list or nodes[0] < 0 or nodes[-1] >= graph.n_nodes:
                raise ValueError("a tree of the layer is not cut at its nodes")

    @property
    def graphs(self) -> list[DecisionGraph]:
        """The trees as they were grown."""
        return [tree.graph for tree in self.trees]

    @cached_property
    def starts(self) -> np.ndarray:
        """The first anchor of each tree."""
        return np.cumsum([0, *(len(tree.nodes) for tree in self.trees[:-1])])

    @property
    def tree_of_anchor(self) -> np.ndarray:
        """The tree that each anchor comes from."""
        return np.repeat(np.arange(len(self.trees)), [len(tree.nodes) for tree in self.trees])

    @cached_property
    def voters(self) -> PackedGraphs:
        """The bootstrap trees, laid out for prediction."""
        return PackedGraphs(self.graphs[1:])

    def leaves(self, encoded: np.ndarray, n_jobs: int) -> np.ndarray:
        """The leaf of each row in each tree, of shape (n_trees, n_samples)."""
        return np.array([graph.apply(encoded, n_jobs) for graph in self.graphs])

    def own_anchors(self, leaves: np.ndarray) -> np.ndarray:
        """The anchor of the region that each leaf belongs to, of shape (n_trees, n_samples)."""
        return own_anchors(self.trees, leaves)

    def numbers(self, encoded: np.ndarray, n_jobs: int) -> np.ndarray:
        """The numbers that anchors are means of: filled, one-hot, standardised if asked for."""
        if self.fills is None or not np.isnan(encoded).any():
            return self.view(encoded)
        first = self.trees[0]
        return self.view(encoded, self.fills[first.regions(first.graph.apply(encoded, n_jobs))])

    def votes(
        self, encoded: np.ndarray, activation: tuple[str, ...], n_jobs: int
    ) -> np.ndarray | None:
        """The mean leaf value of the bootstrap trees; None where the activation has no vote."""
        return self.voters.predict(encoded, n_jobs) if "vote" in activation else None

    def embed(
        self,
        encoded: np.ndarray,
        numbers: np.ndarray,
        votes: np.ndarray | None,
        activation: tuple[str, ...],
        n_jobs: int,
    ) -> np.ndarray:
        """The embedding of some rows, block by block, in the precision of their numbers."""
        widths = {"raw": numbers.shape[1], "vote": self.values.shape[1]}
        ends = np.cumsum([0] + [widths.get(part, len(self.anchors)) for part in activation])
        out = np.empty((len(numbers), ends[-1]), dtype=numbers.dtype)
        step = max(1, _CELLS_AT_ONCE // (ends[-1] + numbers.shape[1]))
        for begin in range(0, len(numbers), step):
            rows = slice(begin, begin + step)
            squared: Any = None
            if not {"distance", "rbf", "softmax"}.isdisjoint(activation):
                squared = self.squared_distances(numbers[rows])
            for part, start, end in zip(activation, ends, ends[1:], strict=False):
                if part == "raw":
                    block = numbers[rows]
                elif part == "vote":
                    assert votes is not None
                    block = votes[rows]
                elif part == "leaf":
                    block = self._membership(encoded[rows], n_jobs)
                elif part == "distance":
                    block = np.sqrt(squared)
                elif part == "rbf":
                    place = out[rows, start:end]
                    np.exp(np.multiply(squared, -0.5 / self.bandwidth**2, out=place), out=place)
                    continue
                elif part == "softmax":
                    block = self._softmax(squared)
                else:
                    block = self._affinities(numbers[rows])
                    if part == "relu":
                        block = np.maximum(block, 0)
                out[rows, start:end] = block
        return out

    def linear(
        self, encoded: np.ndarray, coef: np.ndarray, intercept: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """A linear function of the numbers; without categories by one product of the rows."""
        if self.view.n_categories:
            return self.numbers(encoded, n_jobs) @ coef + intercept
        folded, constant = self.view.folded(coef, intercept)
        out = np.empty((len(encoded), coef.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(encoded), _ROWS_AT_ONCE):
                rows = slice(begin, begin + _ROWS_AT_ONCE)
                np.matmul(encoded[rows].astype(np.float64), folded, out=out[rows])
        # Of a row with gaps, or with numbers beyond all bounds, which are refused there.
        odd = ~np.isfinite(out).all(axis=1)
        out += constant
        if odd.any():
            out[odd] = self.numbers(encoded[odd], n_jobs) @ coef + intercept
        return out

    def squared_distances(self, numbers: np.ndarray) -> np.ndarray:
        """Squared distances to all anchors, by one matrix product of centred numbers."""
        dtype = numbers.dtype
        x = numbers if self.view.standardize else numbers - self.view.centre.astype(dtype)
        mu = (self.anchors - self.view.centre).astype(dtype)
        out = x @ (-2 * mu.T)
        out += np.einsum("ij,ij->i", x, x)[:, None]
        out += np.square(mu).sum(axis=1)
        return np.maximum(out, 0, out=out)

    def _affinities(self, numbers: np.ndarray) -> np.ndarray:
        """The paper's Z."""
        dtype = numbers.dtype
        return numbers @ self.anchors.T.astype(dtype) + self.bias.astype(dtype)

    def _softmax(self, squared: np.ndarray) -> np.ndarray:
        blocks = np.split(squared / (-2 * self.bandwidth**2), self.starts[1:], axis=1)
        return np.hstack([softmax(block, axis=1) for block in blocks])

    def _membership(self, encoded: np.ndarray, n_jobs: int) -> np.ndarray:
        anchors = self.own_anchors(self.leaves(encoded, n_jobs))
        out = np.zeros((len(encoded), len(self.anchors)))
        out[np.arange(len(encoded)), anchors] = 1
        return out

    @property
    def n_splits(self) -> int:
        """Number of tests in all trees."""
        return sum(graph.n_splits for graph in self.graphs)

    @property
    def depth(self) -> int:
        """Length of the longest path from a root to a leaf."""
        return max(graph.depth for graph in self.graphs)

    def nbytes(self, activation: tuple[str, ...]) -> int:
        """Bytes of what an embedding is computed from: numbers, anchors and the trees it walks."""
        arrays = [self.view.mean, self.view.scale]
        if self.fills is not None:
            arrays.append(self.fills)
        if not {"linear", "relu", "distance", "rbf", "softmax"}.isdisjoint(activation):
            arrays.append(self.anchors)
        if not {"linear", "relu"}.isdisjoint(activation):
            arrays.append(self.bias)
        if "leaf" in activation:
            walked = self.graphs
        else:
            walked = self.graphs[:1] if self.fills is not None else []
            walked += self.graphs[1:] if "vote" in activation else []
        packed = PackedGraphs(walked).nbytes if walked else 0
        return packed + sum(array.nbytes for array in arrays)


def own_anchors(trees: list[CutTree], leaves: np.ndarray) -> np.ndarray:
    """The anchor of the region that each leaf belongs to; anchors are numbered tree by tree."""
    starts = np.cumsum([0, *(len(tree.nodes) for tree in trees)])
    each = zip(starts, trees, leaves, strict=False)
    return np.array([start + tree.regions(leaf) for start, tree, leaf in each])
