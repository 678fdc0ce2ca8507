"""The second reading of a table: batches become codes, targets and weights."""

from typing import Any

import numpy as np

from hedgerow._columns import place_by_category
from hedgerow._engine import code_columns
from hedgerow.batches.columns import (
    Batch,
    Words,
    is_empty_kind,
    numbers_of,
    target_values,
    words_of,
)
from hedgerow.batches.survey import Plan


class Coder:
    """Writes codes by a plan, and notes the smallest and largest value that each bin gets."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.low = [np.full(len(column.largest), np.inf) for column in plan.columns]
        self.high = [np.full(len(column.largest), -np.inf) for column in plan.columns]
        self._places = [
            None if column.categories is None else place_by_category(column.categories)
            for column in plan.columns
        ]
        labels = plan.labels
        self._classes = (
            None
            if labels is None or labels.dtype.kind in "iuf"
            else place_by_category(labels.tolist())
        )

    def code(self, batch: Batch, codes: list[np.ndarray], n_jobs: int) -> None:
        """Write the codes of a batch, column by column, into the given arrays."""
        features, numbers = [], []
        for feature, (column, places) in enumerate(zip(batch.columns, self._places, strict=True)):
            if places is None:
                features.append(feature)
                numbers.append(numbers_of(column, self.plan.columns[feature].name))
            elif is_empty_kind(column):
                codes[feature][:] = len(places)
            else:
                words = words_of(column)
                missing = len(places)
                table = np.array(
                    [places.get(value, missing) for value in words.values] + [missing],
                    dtype=codes[feature].dtype,
                )
                codes[feature][:] = table[words.codes]
        code_columns(
            numbers,
            [self.plan.columns[f].largest for f in features],
            [self.low[f] for f in features],
            [self.high[f] for f in features],
            [codes[f] for f in features],
            n_jobs,
        )

    def targets(self, y: Any) -> np.ndarray:
        """The places of targets among the labels (int32), or numbers where these are too many."""
        values = target_values(y)
        if isinstance(values, Words):
            assert self._classes is not None
            table = np.array([self._classes[value] for value in values.values], dtype=np.int32)
            return table[values.codes]
        labels = self.plan.labels
        if labels is None:
            return values.astype(np.float64)
        return np.searchsorted(labels, values).astype(np.int32)

    def merge(self, low: list[np.ndarray], high: list[np.ndarray]) -> None:
        """Take in the ranges of values that another coder of the plan has seen."""
        for mine, others in zip(self.low, low, strict=True):
            np.minimum(mine, others, out=mine)
        for mine, others in zip(self.high, high, strict=True):
            np.maximum(mine, others, out=mine)

    def bins(self, feature: int) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and largest value of each bin; the latter is empty for single values."""
        column = self.plan.columns[feature]
        if column.every_value:
            return column.largest, np.empty(0)
        return self.low[feature], self.high[feature]
