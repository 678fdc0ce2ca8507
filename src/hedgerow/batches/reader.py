"""A batch as features, targets and weights."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hedgerow._targets import check_sample_weight, check_targets_match
from hedgerow.batches.columns import Batch, batch_of, numbers_of
from hedgerow.batches.sources import Source


class Reader:
    """Splits batches into features, targets and weights."""

    def __init__(
        self, target: str | None, weight: str | None, columns: list[str] | None, n_jobs: int
    ) -> None:
        self._target, self._weight, self._columns = target, weight, columns
        self.n_jobs = n_jobs

    def read(
        self, source: Source, first_row: int = 0
    ) -> Iterable[tuple[Batch, Any, np.ndarray | None, int]]:
        """The batches that have rows; what is wrong with one is told with the row it begins at."""
        row = first_row
        for given in source.read():
            batch, y, weights = self.split(given.batch)
            if batch.n_rows:
                weights = _checked_weights(weights, batch.n_rows, row)
                check_targets_match(range(batch.n_rows), y)
                yield batch, y, weights, given.n_bytes
                row += batch.n_rows

    def split(self, given: Any) -> tuple[Batch, Any, Any]:
        """The features, targets and weights of a batch."""
        if isinstance(given, tuple):
            if self._target is not None or len(given) not in (2, 3):
                raise ValueError(
                    "a batch that is a tuple must be (X, y) or (X, y, weight), and then there is "
                    "no 'target'."
                )
            batch = batch_of(given[0])
            y = given[1] if hasattr(given[1], "dtype") else np.asarray(given[1])
            weights = given[2] if len(given) == 3 else None
            return self._chosen(batch), y, weights
        batch = batch_of(given)
        if batch.names is None or self._target is None:
            raise ValueError(
                "give the column of the targets as target=, or batches as (X, y): a batch of type "
                f"{type(given).__name__} alone has no targets."
            )
        y = batch.column(self._target)
        weights = None
        if self._weight is not None:
            weights = numbers_of(batch.column(self._weight), repr(self._weight))
        return self._chosen(batch), y, weights

    def _chosen(self, batch: Batch) -> Batch:
        names = self._columns
        if names is None:
            if batch.names is None:
                return batch
            names = [name for name in batch.names if name not in (self._target, self._weight)]
        if batch.names is None:
            raise ValueError("'columns' names columns, and batches are arrays: leave it out.")
        return Batch(batch.n_rows, names, [batch.column(name) for name in names])


def _checked_weights(weights: Any, n_rows: int, first: int) -> np.ndarray | None:
    """Weights of a batch, of which all may be zero."""
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape == (n_rows,) and not weights.any():
        return weights
    try:
        return check_sample_weight(weights, n_rows)
    except ValueError as error:
        raise ValueError(f"in the batch that begins at row {first}: {error}") from None
