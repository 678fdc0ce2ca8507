"""Both fitted layers together: what predicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from hedgerow.embedding.heads import Head
from hedgerow.embedding.layer import AnchorLayer

_ROWS_AT_ONCE = 1 << 11  # predicted at one time: their embedding stays in the cache


@dataclass(frozen=True, eq=False)
class Network:
    """A layer of anchors and a linear head on it.

    Attributes
    ----------
    layer : AnchorLayer
    activation : tuple of str
    head : Head or None
        None says of a row what the region of the nearest anchor says.
    collapsed : Head or None
        Both layers as one, on the numbers.
    """

    layer: AnchorLayer
    activation: tuple[str, ...]
    head: Head | None
    collapsed: Head | None

    def scores(self, encoded: np.ndarray, n_jobs: int) -> np.ndarray:
        """One column per output, of some encoded rows."""
        layer = self.layer
        if self.collapsed is not None:
            return layer.linear(encoded, self.collapsed.coef, self.collapsed.intercept, n_jobs)
        if self.head is None:
            squared = layer.squared_distances(layer.numbers(encoded, n_jobs))
            return layer.values[squared.argmin(axis=1)]
        votes = layer.votes(encoded, self.activation, n_jobs)
        coef = self.head.coef.astype(encoded.dtype)
        out = np.empty((len(encoded), len(self.head.intercept)))
        for begin in range(0, len(encoded), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            block = encoded[rows]
            Z = layer.embed(
                block,
                layer.numbers(block, n_jobs),
                None if votes is None else votes[rows],
                self.activation,
                n_jobs,
            )
            out[rows] = Z @ coef + self.head.intercept
        return out

    def probabilities(self, encoded: np.ndarray, n_jobs: int) -> np.ndarray:
        """The scores as class probabilities."""
        scores = self.scores(encoded, n_jobs)
        if self.head is None:
            return scores
        with np.errstate(over="ignore"):  # a difference beyond all bounds is certainty
            return softmax(scores, axis=1)

    @property
    def nbytes(self) -> int:
        """Bytes of the anchors, trees and matrices that prediction needs."""
        if self.collapsed is not None:
            return self.layer.nbytes(("raw",)) + self.collapsed.nbytes
        if self.head is None:
            return self.layer.nbytes(("distance",)) + self.layer.values.nbytes
        return self.layer.nbytes(self.activation) + self.head.nbytes


class RowPredictor:
    """Predicts one row at a time without the checks of a table.

    ``predictor(row)`` is the label or the number, ``predictor.values(row)`` the probabilities.
    """

    def __init__(self, network: Network, labels: list | None, n_features: int):
        self._network, self._labels, self._n_features = network, labels, n_features

    def __call__(self, row: np.ndarray) -> Any:
        scores = self._network.scores(self._as_table(row), 1)[0]
        return float(scores[0]) if self._labels is None else self._labels[scores.argmax()]

    def values(self, row: np.ndarray) -> np.ndarray:
        """Class probabilities, or the number, of a row."""
        table = self._as_table(row)
        if self._labels is None:
            return self._network.scores(table, 1)[0]
        return self._network.probabilities(table, 1)[0]

    def _as_table(self, row: np.ndarray) -> np.ndarray:
        table = np.asarray(row)[None]
        if table.shape != (1, self._n_features):
            raise ValueError(f"the model has {self._n_features} features, the row has {len(row)}")
        return table if table.dtype == np.float32 else table.astype(np.float64, copy=False)
