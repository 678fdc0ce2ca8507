"""A decision graph out of columns: for models that are put together outside the engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import AXIS, CATEGORY, LEAF


def graph_of_columns(
    n_features: int,
    *,
    left: np.ndarray,
    right: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    missing_left: Any,
    n_samples: np.ndarray,
    weight: np.ndarray,
    impurity: np.ndarray,
    value: np.ndarray,
    category_sets: Mapping[int, np.ndarray] | None = None,
) -> DecisionGraph:
    """A graph of tests on single features, one entry a node, checked by the engine.

    Parameters
    ----------
    left, right : ndarray of int
        The children of a node, -1 for leaves, whose tests are not looked at.
    value : ndarray of shape (n_nodes, n_outputs)
    category_sets : mapping of int to ndarray, default=None
        By node: the categories that go left, as the words of a bit set. Other tests are thresholds.
    """
    sets: Mapping[int, np.ndarray] = category_sets or {}
    is_test = left >= 0
    kind = np.where(is_test, AXIS, LEAF)
    detail = np.full(len(kind), -1)
    words: Sequence[np.ndarray] = [sets[node] for node in sorted(sets)]
    kind[sorted(sets)], detail[sorted(sets)] = CATEGORY, range(len(sets))
    return DecisionGraph.from_arrays(
        {
            "format": 1,
            "n_features": n_features,
            "n_outputs": value.shape[1],
            "kind": kind.astype(np.uint8),
            "missing_left": (is_test & np.asarray(missing_left, dtype=bool)).astype(np.uint8),
            "feature": np.where(is_test, feature, -1).astype(np.int32),
            "left": left.astype(np.int32),
            "right": right.astype(np.int32),
            "detail": detail.astype(np.int32),
            "threshold": np.where(is_test, threshold, 0.0),
            "n_samples": n_samples.astype(np.int32),
            "weight": weight.astype(np.float64),
            "impurity": impurity.astype(np.float64),
            "value": value.astype(np.float64).ravel(),
            "category_words": np.concatenate([np.empty(0, np.uint64), *words]),
            "category_start": np.cumsum([0, *map(len, words)]).astype(np.uint32),
            "oblique_feature": np.empty(0, np.int32),
            "oblique_category": np.empty(0, np.int32),
            "oblique_weight": np.empty(0),
            "oblique_centre": np.empty(0),
            "oblique_start": np.zeros(1, np.uint32),
        }
    )
