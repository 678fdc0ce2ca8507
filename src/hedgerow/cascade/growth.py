"""A cascade while it grows: which rows are still in play, how good each layer is, when to stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np


def mean_of_members(vectors: np.ndarray) -> np.ndarray:
    """Rows x members x outputs as rows x outputs, added up in the members' order."""
    members = np.moveaxis(vectors, 1, 0).astype(np.float64)
    return reduce(np.add, members) / len(members)


def certainty(values: np.ndarray) -> np.ndarray:
    """The largest class probability of each row."""
    return values.max(axis=1)


def gate_for(values: np.ndarray, wrong: np.ndarray, most_wrong: float) -> float:
    """The least certainty at which rows may leave: those above it are wrong at most so often.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_classes)
    wrong : ndarray of bool
        Rows whose most probable class is not theirs.
    most_wrong : float
        The highest error rate among the rows that leave.
    """
    order = np.argsort(-certainty(values), kind="stable")
    levels = certainty(values)[order]
    rate = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    last_of_level = np.append(levels[1:] < levels[:-1], True)  # equally certain rows leave together
    allowed = np.flatnonzero(last_of_level & (rate <= most_wrong))
    return float(levels[allowed[-1]]) if len(allowed) else np.inf


@dataclass
class Growth:
    """What the finished layers say of every row.

    Attributes
    ----------
    rows, held : ndarrays of row numbers
        Rows in play: those that layers learn from, and those that layers are only judged on.
    values : ndarray of shape (n_samples, n_outputs)
        What the cascade says of each row so far.
    vectors : ndarray or None
        Those of the last layer, which the next one reads.
    scores : list of float
        Of the layers, on the judged rows.
    """

    rows: np.ndarray
    held: np.ndarray
    values: np.ndarray
    score: Callable[[np.ndarray, np.ndarray], float]  # of rows and their values
    is_wrong: Callable[[np.ndarray, np.ndarray], np.ndarray]
    screening: float | None
    keep_all: bool
    vectors: np.ndarray | None = None
    layers: list[Any] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    kept_vectors: np.ndarray | None = None  # of the last layer to keep

    def __post_init__(self) -> None:
        self.judged = self.held if len(self.held) else self.rows
        self.kept_rows = self.rows  # those that the last layer to keep learned from

    @property
    def best(self) -> int:
        """The first of the best layers."""
        return int(np.argmax(self.scores))

    @property
    def n_kept(self) -> int:
        """How many layers to keep."""
        return len(self.scores) if self.keep_all else self.best + 1

    def goes_on(self, max_layers: int, n_tolerance: int) -> bool:
        """Whether another layer is to be grown."""
        if not self.scores:
            return True
        n = len(self.scores)
        return n < max_layers and n - 1 - self.best < n_tolerance and len(self.rows) > 1

    def judge(self, vectors: np.ndarray) -> float:
        """Take in what a new layer says of the rows in play; return its gate."""
        in_play = np.concatenate([self.rows, self.held])
        self.values[in_play] = mean_of_members(vectors[in_play])
        self.scores.append(self.score(self.judged, self.values[self.judged]))
        if self.n_kept == len(self.scores):
            self.kept_rows, self.kept_vectors = self.rows, vectors
        if self.screening is None:
            return np.inf
        wrong = self.is_wrong(self.rows, self.values[self.rows])
        return gate_for(self.values[self.rows], wrong, self.screening * wrong.mean())

    def add(self, layer: Any, gate: float, vectors: np.ndarray) -> None:
        """Add a layer that was judged; rows that are certain enough leave."""
        self.layers.append(layer)
        if np.isfinite(gate):
            self.rows = self.rows[certainty(self.values[self.rows]) < gate]
            self.held = self.held[certainty(self.values[self.held]) < gate]
            staying = np.zeros(len(vectors), dtype=bool)
            staying[self.rows] = staying[self.held] = True
            vectors = np.where(staying[:, None, None], vectors, np.float32(np.nan))
        self.vectors = vectors
