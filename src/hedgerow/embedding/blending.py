"""The blend of several heads, each on some columns of one layer: a head on that layer again.

Which part of a layer serves best differs from table to table. Instead of picking one, the heads are
added up, with multiples that have the smallest loss on rows left out. None is negative, and many
are zero. For classes none is above one either, which would make scores surer than any single head.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls

from hedgerow.embedding.penalised import Judged, Layer


class Part(NamedTuple):
    """Some columns of a layer, perhaps in other units than those of their spread."""

    columns: slice
    scale: np.ndarray | None = None


@dataclass(frozen=True)
class Blend:
    """A head on the whole layer, with the multiple and the loss of each part."""

    coef: np.ndarray
    intercept: np.ndarray
    multiples: dict[str, float]
    losses: dict[str, float]


def blend(
    layer: Layer,
    parts: dict[str, Part],
    fit: Callable[[Layer], Judged],
    find_multiples: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Blend:
    """Fit a head on each part and add them up.

    ``find_multiples`` gets what all heads say of the rows left out, the targets of these rows and
    their shares.
    """
    heads = [fit(layer.part(*part)) for part in parts.values()]
    rows = layer.left_out
    multiples = find_multiples(
        np.stack([head.left_out for head in heads]), layer.targets[rows], layer.shares[rows]
    )
    coef = np.zeros((layer.Z.shape[1], layer.targets.shape[1]))
    intercept = np.zeros(layer.targets.shape[1])
    for part, head, multiple in zip(parts.values(), heads, multiples, strict=True):
        coef[part.columns] += multiple * head.coef
        intercept += multiple * head.intercept
    return Blend(
        coef,
        intercept,
        dict(zip(parts, map(float, multiples), strict=True)),
        {name: float(head.loss) for name, head in zip(parts, heads, strict=True)},
    )


def multiples_of_scores(stack: np.ndarray, targets: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Those with the smallest log loss; scores are relative to that of a row's own class.

    Every head but the first costs one row's unit of loss, so that one of no use gets nothing.
    """
    shares = shares / shares.sum()
    costs = np.full(len(stack), 1 / len(shares))
    costs[0] = 0
    by_class = np.ascontiguousarray(stack.transpose(0, 2, 1))  # sums over classes add whole rows

    def loss(multiples):
        scores = np.tensordot(multiples, by_class, 1)
        top = scores.max(axis=0)
        odds = np.exp(scores - top)
        total = odds.sum(axis=0)
        slopes = np.tensordot(by_class, odds * (shares / total))
        return shares @ (np.log(total) + top) + costs @ multiples, slopes + costs

    start = np.full(len(stack), 1 / len(stack))
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(stack)).x


def multiples_of_numbers(stack: np.ndarray, targets: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Those with the smallest squared error; numbers are relative to the mean target."""
    root = np.sqrt(shares)
    level = shares @ targets[:, 0] / shares.sum()
    return nnls(stack[:, :, 0].T * root[:, None], (targets[:, 0] - level) * root)[0]
