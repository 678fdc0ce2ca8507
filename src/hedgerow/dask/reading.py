"""A training table on a cluster: its survey, merged in a tree, and its codes, made where rows are.

Every step is a pure task, so that Dask makes again what a lost worker had. The codes are those of
`hedgerow.Dataset.from_batches` of the same partitions.
"""

from typing import Any, NamedTuple

import dask
import numpy as np

from hedgerow.batches.coding import Coder
from hedgerow.batches.columns import batch_of
from hedgerow.batches.dataset import RANK_ERROR, Dataset, facts_of
from hedgerow.batches.reader import Reader
from hedgerow.batches.sources import source_of
from hedgerow.batches.survey import Plan, Survey
from hedgerow.dask.partitions import Part

MERGED_AT_ONCE = 8  # of surveys, and of whatever else is merged in a tree


class Piece(NamedTuple):
    """A partition as codes, with the smallest and largest value that it has in each bin."""

    codes: list[np.ndarray]  # by feature
    targets: np.ndarray
    weights: np.ndarray | None
    low: list[np.ndarray]
    high: list[np.ndarray]


class Coded(NamedTuple):
    """A table on a cluster: what its codes mean and the codes, as futures."""

    plan: Any
    pieces: list[Any]
    firsts: list[int]  # the number of the first row of each piece


def coded(client: Any, parts: list[Part], sizes: list[int] | None, **how: Any) -> Coded:
    """The codes of a table; ``how`` are ``max_bins`` and ``categorical_features``."""
    if sizes is None:
        count = dask.delayed(_n_rows, pure=True)
        sizes = client.gather(client.compute([count(part.X) for part in parts]))
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    survey = dask.delayed(_survey, pure=True)
    surveys = [
        survey(part, first, how["categorical_features"])
        for part, first in zip(parts, firsts, strict=True)
    ]
    merged = in_tree(dask.delayed(_merged, pure=True), surveys)
    plan = client.compute(dask.delayed(_plan, pure=True)(merged, how["max_bins"]))
    code = dask.delayed(_code, pure=True)
    pieces = client.compute([code(part, dask.delayed(plan)) for part in parts])
    return Coded(plan, pieces, firsts)


def in_tree(merge: Any, values: list[Any]) -> Any:
    """One delayed value of many, merged a few at a time."""
    while len(values) > 1:
        starts = range(0, len(values), MERGED_AT_ONCE)
        values = [merge(values[start : start + MERGED_AT_ONCE]) for start in starts]
    return values[0]


def put_together(plan: Plan, pieces: list[Piece]) -> Dataset:
    """The whole table, where this runs."""
    coder = Coder(plan)
    for piece in pieces:
        coder.merge(piece.low, piece.high)
    arrays = {
        str(feature): np.concatenate([piece.codes[feature] for piece in pieces])
        for feature in range(len(plan.columns))
    }
    arrays["targets"] = np.concatenate([piece.targets for piece in pieces])
    if plan.weighted:
        weights = [piece.weights for piece in pieces if piece.weights is not None]
        arrays["weights"] = np.concatenate(weights)
    return Dataset(arrays, facts_of(coder))


def _n_rows(X: Any) -> int:
    return len(X)


def _survey(part: Part, first_row: int, categorical_features: Any) -> Survey:
    survey = Survey(RANK_ERROR, categorical_features)
    for batch, y, weights in _read(part, first_row):
        survey.add(batch, y, weights, first_row, 1)
    return survey


def _read(part: Part, first_row: int = 0) -> Any:
    """The batch of a partition, none where it has no rows."""
    given = (part.X, part.y) if part.weights is None else tuple(part)
    read = Reader(None, None, None, 1).read(source_of([given]), first_row)
    return ((batch, y, weights) for batch, y, weights, _ in read)


def _merged(surveys: list[Survey]) -> Survey:
    out = Survey(surveys[0].rank_error, surveys[0].categorical_features)
    for survey in surveys:
        out.merge(survey)
    return out


def _plan(survey: Survey, max_bins: int | None) -> Plan:
    return survey.plan(max_bins)


def _code(part: Part, plan: Plan) -> Piece:
    coder = Coder(plan)
    n_rows = batch_of(part.X).n_rows
    codes = [np.empty(n_rows, column.dtype) for column in plan.columns]
    targets = np.empty(0, np.float64 if plan.labels is None else np.int32)
    weights = np.ones(n_rows) if plan.weighted else None
    for batch, y, given in _read(part):
        coder.code(batch, codes, 1)
        targets = coder.targets(y)
        weights = given if plan.weighted and given is not None else weights
    return Piece(codes, targets, weights, coder.low, coder.high)
