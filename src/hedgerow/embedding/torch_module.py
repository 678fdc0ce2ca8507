"""A fitted tree embedding as a PyTorch module: its input are encoded rows, its output scores."""

from importlib import import_module
from typing import Any

import numpy as np

from hedgerow.embedding.leaf_means import LeafMeansEmbedding, activation_names


def as_module(model: Any) -> Any:
    """The module of a fitted classifier or regressor, see ``to_torch`` there."""
    try:
        torch: Any = import_module("torch")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_torch() needs PyTorch; install it with: pip install torch"
        ) from None
    nn: Any = torch.nn
    Module: Any = nn.Module
    if not hasattr(model, "coef_"):
        raise ValueError("to_torch() makes two layers: the head 'indicator' has only one.")
    embedding = model.embedding_
    parts = activation_names(embedding.activation)
    coef, intercept = model.coef_, model.intercept_
    if hasattr(model, "classes_") and len(intercept) == 2:
        coef, intercept = coef[:, [1]] - coef[:, [0]], intercept[[1]] - intercept[[0]]

    class Tree(Module):
        """The node of a tree that each row ends in, step by step for all rows at once."""

        def __init__(self, graph: Any):
            super().__init__()
            arrays = graph.arrays()
            inner = arrays["left"] >= 0
            itself = np.arange(len(inner))
            self.depth = graph.depth
            for name, array in {
                "feature": np.where(inner, arrays["feature"], 0),
                "left": np.where(inner, arrays["left"], itself),
                "right": np.where(inner, arrays["right"], itself),
                "threshold": arrays["threshold"],
                "missing_left": arrays["missing_left"] > 0,
                "categorical": arrays["kind"] == 2,
                "members": _members(arrays),
            }.items():
                self.register_buffer(name, torch.from_numpy(np.ascontiguousarray(array)))

        def forward(self, encoded):
            node = torch.zeros(len(encoded), dtype=torch.long)
            for _ in range(self.depth):
                x = encoded.gather(1, self.feature[node].long()[:, None])[:, 0]
                code = x.nan_to_num(0).long().clamp(0, self.members.shape[1] - 1)
                to_left = torch.where(
                    self.categorical[node], self.members[node, code], x <= self.threshold[node]
                )
                to_left = torch.where(x.isnan(), self.missing_left[node], to_left)
                node = torch.where(to_left, self.left[node], self.right[node]).long()
            return node

    class Numbers(Module):
        """Rows as numbers: categories one-hot, missing values filled, columns standardised."""

        def __init__(self):
            super().__init__()
            view = embedding._view
            self.categories = {f: len(c) for f, c in embedding.schema_.categories.items()}
            fills = view.mean[None] if embedding._fills is None else embedding._fills
            self.register_buffer("fills", torch.from_numpy(fills))
            self.by_region = embedding._fills is not None
            if self.by_region:
                self.tree = Tree(embedding.graphs_[0])
                self.register_buffer("region", _regions(embedding, 0))
            mean, scale = (view.mean, view.scale) if view.standardize else (0 * view.mean, 1.0)
            self.register_buffer("mean", torch.from_numpy(mean))
            self.register_buffer("scale", torch.as_tensor(scale))

        def forward(self, encoded):
            columns = []
            for feature in range(encoded.shape[1]):
                column = encoded[:, [feature]]
                if feature in self.categories:
                    hot = (column == torch.arange(self.categories[feature])).to(column.dtype)
                    column = torch.where(column.isnan(), column, hot)
                columns.append(column)
            x = torch.cat(columns, dim=1)
            fills = self.fills
            if self.by_region:
                fills = fills[self.region[self.tree(encoded)]]
            return (torch.where(x.isnan(), fills, x) - self.mean) / self.scale

    def _regions(embedding: LeafMeansEmbedding, tree: int) -> Any:
        """The region of each node of a tree."""
        nodes = np.arange(len(embedding.graphs_[tree].left))
        return torch.from_numpy(embedding._trees[tree].regions(nodes))

    class TreeEmbeddingModule(Module):
        def __init__(self):
            super().__init__()
            n_anchors, n_columns = embedding.anchors_.shape
            self.numbers = Numbers()
            self.anchors = nn.Linear(n_columns, n_anchors, dtype=torch.float64)
            self.head = nn.Linear(*coef.shape, dtype=torch.float64)
            with torch.no_grad():
                self.anchors.weight.copy_(torch.from_numpy(embedding.anchors_))
                self.anchors.bias.copy_(torch.from_numpy(embedding.intercept_))
                self.head.weight.copy_(torch.from_numpy(coef.T.copy()))
                self.head.bias.copy_(torch.from_numpy(intercept))
            self.register_buffer("centre", torch.from_numpy(embedding._centre(np.float64)))
            self.sizes = np.bincount(embedding.anchor_tree_).tolist()
            self.width = 2 * embedding.bandwidth_**2
            self.trees = nn.ModuleList()
            if not {"leaf", "vote"}.isdisjoint(parts):
                self.trees.extend(Tree(graph) for graph in embedding.graphs_)
                for i, graph in enumerate(embedding.graphs_):
                    self.register_buffer(f"region_{i}", _regions(embedding, i))
                    self.register_buffer(f"value_{i}", torch.from_numpy(graph.value.copy()))

        def forward(self, encoded):
            numbers = self.numbers(encoded)
            leaves = [tree(encoded) for tree in self.trees]
            layer = torch.cat([self.part(name, numbers, leaves) for name in parts], dim=1)
            scores = self.head(layer)
            return scores[:, 0] if scores.shape[1] == 1 else scores

        def part(self, name, numbers, leaves):
            if name == "raw":
                return numbers
            if name == "leaf":
                own = [getattr(self, f"region_{i}")[leaf] for i, leaf in enumerate(leaves)]
                hot = [nn.functional.one_hot(*pair) for pair in zip(own, self.sizes, strict=True)]
                return torch.cat(hot, dim=1).to(numbers.dtype)
            if name == "vote":
                votes = [getattr(self, f"value_{i}")[leaf] for i, leaf in enumerate(leaves)]
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

    return TreeEmbeddingModule()


def _members(arrays: dict) -> np.ndarray:
    """Which categories go left at each node, of shape (n_nodes, most categories)."""
    starts, words = arrays["category_start"].astype(int), arrays["category_words"]
    longest = int(np.diff(starts).max(initial=1))
    out = np.zeros((len(arrays["kind"]), 64 * longest), dtype=bool)
    for node in np.flatnonzero(arrays["kind"] == 2):
        detail = arrays["detail"][node]
        own = words[starts[detail] : starts[detail + 1]].view(np.uint8)
        bits = np.unpackbits(own, bitorder="little")
        out[node, : len(bits)] = bits
    return out
