"""A fitted tree embedding as a PyTorch module of two layers."""

from typing import Any

import numpy as np

from hedgerow.embedding.leaf_means import activation_names


def as_module(model: Any) -> Any:
    """The module of a fitted classifier or regressor, see ``to_torch`` there."""
    try:
        import torch
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_torch() needs PyTorch; install it with: pip install torch"
        ) from None

    embedding = model.embedding_
    parts = activation_names(embedding.activation)
    unsuited = [part for part in parts if part in ("leaf", "vote")]
    if unsuited or not hasattr(model, "coef_"):
        what = f"activation {unsuited[0]!r}" if unsuited else "head 'indicator'"
        raise ValueError(f"to_torch() makes layers of numbers: the {what} is none.")
    coef, intercept = model.coef_, model.intercept_
    if hasattr(model, "classes_") and len(intercept) == 2:
        coef, intercept = coef[:, [1]] - coef[:, [0]], intercept[[1]] - intercept[[0]]
    centre = embedding._centre(np.float64)

    class TreeEmbeddingModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            n_anchors, n_columns = embedding.anchors_.shape
            self.anchors = torch.nn.Linear(n_columns, n_anchors, dtype=torch.float64)
            self.head = torch.nn.Linear(*coef.shape, dtype=torch.float64)
            with torch.no_grad():
                self.anchors.weight.copy_(torch.from_numpy(embedding.anchors_))
                self.anchors.bias.copy_(torch.from_numpy(embedding.intercept_))
                self.head.weight.copy_(torch.from_numpy(coef.T.copy()))
                self.head.bias.copy_(torch.from_numpy(intercept))
            self.register_buffer("centre", torch.from_numpy(centre))
            self.sizes = np.bincount(embedding.anchor_tree_).tolist()
            self.width = 2 * embedding.bandwidth_**2

        def forward(self, numbers):
            layer = torch.cat([self.part(name, numbers) for name in parts], dim=1)
            scores = self.head(layer)
            return scores[:, 0] if scores.shape[1] == 1 else scores

        def part(self, name, numbers):
            if name == "raw":
                return numbers
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
