"""Learners: what grows a graph on some rows of a table, apart from the estimator that is fitted.

An estimator checks its parameters, reads a table, lets its learner grow and copies the facts. A
learner is made of the estimator's parameters, frozen, and changes nothing: bags, contests, sums,
alternating optimisation, Tree in Tree and searches within a budget combine learners on one table.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hedgerow._engine import DecisionGraph
from hedgerow._estimator import Settings
from hedgerow._parameters import resolve_n_jobs
from hedgerow._table import Table


class Grown(NamedTuple):
    """A graph, and the fitted attributes that its model has besides."""

    graph: DecisionGraph
    facts: dict[str, Any]


@dataclass(frozen=True)
class Learner(ABC):
    """Grows a model that is one decision graph."""

    settings: Settings

    @abstractmethod
    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The graph of some rows of a table.

        Parameters
        ----------
        rows : ndarray of uint32, default=None
            The rows to grow on; None takes all.
        weights : ndarray of shape (n_rows,), default=None
            Weights of all rows in place of the table's own; the learner adds those of classes.
        seed : int, RandomState instance or None
            Of what is left to chance.
        """

    def check_table(self, table: Table) -> None:  # noqa: B027 (most take any table)
        """Refuse a table that nothing can be grown on, whatever the rows; ``grow`` does so, too."""

    @property
    def n_jobs(self) -> int:
        return resolve_n_jobs(self.settings.n_jobs)


def n_rows_of(table: Table, rows: np.ndarray | None) -> int:
    """How many rows are grown on."""
    return table.n_rows if rows is None else len(rows)


def weight_of(table: Table, weights: np.ndarray | None, rows: np.ndarray | None) -> float:
    """The weight of the given rows (all when None)."""
    if weights is None:
        return float(n_rows_of(table, rows))
    return float(weights.sum() if rows is None else weights[rows].sum())
