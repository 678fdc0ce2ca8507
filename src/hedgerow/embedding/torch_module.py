"""A fitted tree embedding as a PyTorch module: its input are encoded rows, its output scores.

Import this module only where torch is asked for: importing torch takes a second. Without torch its
classes cannot be used.
"""

from importlib import import_module
from typing import Any

import numpy as np

from hedgerow._graph_model import CATEGORY
from hedgerow.embedding.heads import Head
from hedgerow.embedding.layer import AnchorLayer
from hedgerow.embedding.network import Network
from hedgerow.embedding.regions import CutTree

torch: Any
Module: Any
try:
    torch = import_module("torch")
    Module = torch.nn.Module
except ModuleNotFoundError:
    torch, Module = None, object


def as_module(network: Network) -> Any:
    """The module of a fitted classifier or regressor, see ``to_torch`` there."""
    if torch is None:
        raise ModuleNotFoundError("to_torch() needs PyTorch; install it with: pip install torch")
    if network.head is None:
        raise ValueError("to_torch() makes two layers: the head 'indicator' has only one.")
    head = network.head
    if len(head.intercept) == 2:  # of two classes the difference, as decision_function has it
        head = Head(
            head.coef[:, [1]] - head.coef[:, [0]], head.intercept[[1]] - head.intercept[[0]]
        )
    return TreeEmbeddingModule(network.layer, network.activation, head)


class TreeModule(Module):
    """The region of a tree that each row lies in, and the value of its leaf.

    Rows walk step by step, all of them at once.
    """

    def __init__(self, tree: CutTree):
        super().__init__()
        arrays = tree.graph.arrays()
        inner = arrays["left"] >= 0
        nodes = np.arange(len(inner))
        self.depth = tree.graph.depth
        _keep(self, "feature", np.where(inner, arrays["feature"], 0))
        _keep(self, "left", np.where(inner, arrays["left"], nodes))
        _keep(self, "right", np.where(inner, arrays["right"], nodes))
        _keep(self, "threshold", arrays["threshold"])
        _keep(self, "missing_left", arrays["missing_left"] > 0)
        _keep(self, "categorical", arrays["kind"] == CATEGORY)
        _keep(self, "members", _members(arrays))
        _keep(self, "region", tree.regions(nodes))
        _keep(self, "value", tree.graph.value)

    def forward(self, encoded: Any) -> Any:
        """The leaf of each row."""
        node = torch.zeros(len(encoded), dtype=torch.long, device=encoded.device)
        for _ in range(self.depth):
            x = encoded.gather(1, self.feature[node].long()[:, None])[:, 0]
            code = x.nan_to_num(0).long().clamp(0, self.members.shape[1] - 1)
            to_left = torch.where(
                self.categorical[node], self.members[node, code], x <= self.threshold[node]
            )
            to_left = torch.where(x.isnan(), self.missing_left[node], to_left)
            node = torch.where(to_left, self.left[node], self.right[node]).long()
        return node


class NumbersModule(Module):
    """Rows as numbers: categories one-hot, missing values filled, columns standardised."""

    def __init__(self, layer: AnchorLayer):
        super().__init__()
        view = layer.view
        self.n_categories = view.n_categories
        self.first_tree = None if layer.fills is None else TreeModule(layer.trees[0])
        _keep(self, "fills", view.mean[None] if layer.fills is None else layer.fills)
        _keep(self, "mean", view.mean if view.standardize else np.zeros_like(view.mean))
        _keep(self, "scale", view.scale if view.standardize else np.ones_like(view.scale))

    def forward(self, encoded: Any) -> Any:
        columns = []
        for feature in range(encoded.shape[1]):
            column = encoded[:, [feature]]
            if feature in self.n_categories:
                codes = torch.arange(self.n_categories[feature], device=encoded.device)
                hot = (column == codes).to(column.dtype)
                column = torch.where(column.isnan(), column, hot)
            columns.append(column)
        x = torch.cat(columns, dim=1)
        fills = self.fills
        if self.first_tree is not None:
            fills = fills[self.first_tree.region[self.first_tree(encoded)]]
        return (torch.where(x.isnan(), fills, x) - self.mean) / self.scale


class TreeEmbeddingModule(Module):
    """Both layers; anchors, biases and the head are parameters, trees are fixed."""

    def __init__(self, layer: AnchorLayer, activation: tuple[str, ...], head: Head):
        super().__init__()
        self.activation = activation
        self.numbers = NumbersModule(layer)
        self.anchors = _linear(layer.anchors, layer.bias)
        self.head = _linear(head.coef.T, head.intercept)
        _keep(self, "centre", layer.view.centre)
        self.sizes = [len(tree.nodes) for tree in layer.trees]
        self.width = 2 * layer.bandwidth**2
        walks = not {"leaf", "vote"}.isdisjoint(activation)
        self.trees = torch.nn.ModuleList(map(TreeModule, layer.trees) if walks else ())

    def forward(self, encoded: Any) -> Any:
        numbers = self.numbers(encoded)
        leaves = [tree(encoded) for tree in self.trees]
        layer = torch.cat([self.part(name, numbers, leaves) for name in self.activation], dim=1)
        scores = self.head(layer)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def part(self, name: str, numbers: Any, leaves: list) -> Any:
        """The columns of one activation."""
        if name == "raw":
            return numbers
        if name == "leaf":
            regions = [tree.region[leaf] for tree, leaf in zip(self.trees, leaves, strict=True)]
            hot = map(torch.nn.functional.one_hot, regions, self.sizes)
            return torch.cat(list(hot), dim=1).to(numbers.dtype)
        if name == "vote":
            votes = [tree.value[leaf] for tree, leaf in zip(self.trees, leaves, strict=True)]
            return torch.stack(votes[1:]).mean(dim=0)
        if name in ("linear", "relu"):
            affinity = self.anchors(numbers)
            return affinity.relu() if name == "relu" else affinity
        x, mu = numbers - self.centre, self.anchors.weight - self.centre
        squared = (x**2).sum(1, keepdim=True) - 2 * x @ mu.T + (mu**2).sum(1)
        squared = squared.clamp(min=0)
        if name == "distance":
            return squared.sqrt()
        if name == "rbf":
            return (-squared / self.width).exp()
        blocks = (-squared / self.width).split(self.sizes, dim=1)
        return torch.cat([block.softmax(dim=1) for block in blocks], dim=1)


def _keep(module: Any, name: str, array: np.ndarray) -> None:
    """Give a module an array that is no parameter."""
    module.register_buffer(name, torch.from_numpy(np.array(array, order="C")))


def _linear(weight: np.ndarray, bias: np.ndarray) -> Any:
    """A linear layer with the given parameters."""
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(np.array(weight, order="C")))
        linear.bias.copy_(torch.from_numpy(np.array(bias)))
    return linear


def _members(arrays: dict) -> np.ndarray:
    """Which categories go left at each node, of shape (n_nodes, most categories)."""
    starts, words = arrays["category_start"].astype(int), arrays["category_words"]
    longest = int(np.diff(starts).max(initial=1))
    out = np.zeros((len(arrays["kind"]), 64 * longest), dtype=bool)
    for node in np.flatnonzero(arrays["kind"] == CATEGORY):
        test = arrays["detail"][node]
        bits = np.unpackbits(
            words[starts[test] : starts[test + 1]].view(np.uint8), bitorder="little"
        )
        out[node, : len(bits)] = bits
    return out
