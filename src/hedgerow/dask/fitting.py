"""Fits on a cluster: what a worker does, and what is sent to which.

`fitted_on`  the ordinary model, fitted on the partitions of a table. Models of codes have the codes
             put together on a worker, at a byte or two a cell; the trees of a forest are shared out
             among workers that have them. Models that read numbers have the partitions themselves
             put together.
"""

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
from distributed import as_completed
from sklearn.base import clone

from hedgerow._table import Table
from hedgerow.batches.columns import batch_of
from hedgerow.dask.cluster import threads_here
from hedgerow.dask.growing import (
    grow_from_counts,
    grows_from_counts,
    may_grow_from_counts,
    noted,
)
from hedgerow.dask.partitions import Part
from hedgerow.dask.reading import coded, put_together
from hedgerow.forest.forest_model import ForestModel
from hedgerow.forest.learner import new_seed

_TASKS = 2  # parts of a forest for each worker, so that a slow one is helped out


def fitted_on(
    client: Any, model: Any, parts: list[Part], sizes: list[int] | None, *, reads_numbers: bool
) -> Any:
    """The fitted copy of a model; its threads are those of the worker that fits it."""
    model = clone(model)
    told = getattr(model, "callback", None)
    quiet = {"callback": None, "verbose": 0}
    model.set_params(**{name: quiet[name] for name in quiet if hasattr(model, name)})
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=new_seed(None))  # what is made again must be the same
    if reads_numbers:
        fit = dask.delayed(_fit_on_numbers, pure=True)
        return client.compute(fit(model, parts)).result()
    table = coded(
        client,
        parts,
        sizes,
        max_bins=model.settings().max_bins,
        categorical_features=model.categorical_features,
    )
    if may_grow_from_counts(model):
        notes = noted(client, table)
        if grows_from_counts(notes.result()):
            return grow_from_counts(client, model, table, notes, told)
    data = client.compute(
        dask.delayed(put_together, pure=True)(
            dask.delayed(table.plan), [dask.delayed(piece) for piece in table.pieces]
        )
    )
    if isinstance(model, ForestModel) and not model.oob_score and not model.warm_start:
        return _grow_forest(client, model, data, told)
    return client.submit(_fit, model, data).result()


def _grow_forest(client: Any, model: Any, data: Any, told: Callable | None) -> Any:
    """A forest whose trees grow in parts; tree i depends on the seed, the rows and i alone."""
    seed, n_trees = new_seed(model.random_state), model.n_estimators
    n_parts = min(n_trees, _TASKS * max(1, len(client.scheduler_info(n_workers=-1)["workers"])))
    firsts = np.linspace(0, n_trees, n_parts + 1).astype(int).tolist()
    sizes = np.diff(firsts).tolist()
    grown = [
        client.submit(_grow_part, model, data, seed, first, n)
        for first, n in zip(firsts[:-1], sizes, strict=True)
    ]
    size_of = dict(zip(grown, sizes, strict=True))
    done = 0
    for future in as_completed(grown, loop=client.loop):
        future.result()
        done += size_of[future]
        if told is not None:
            told(done, n_trees)
    return client.submit(_join, model, data, seed, grown).result()


def _with_own_threads(model: Any) -> Any:
    if getattr(model, "n_jobs", 1) is not None:
        return model
    return clone(model).set_params(n_jobs=threads_here())


def _fit(model: Any, data: Table) -> Any:
    return _with_own_threads(clone(model)).fit(data)


def _grow_part(model: Any, data: Table, seed: int, first: int, n_trees: int) -> Any:
    model = _with_own_threads(model)
    table, learner = model.read_table(data, None), model.learner()
    return learner.grow(learner.bin(table), seed, n_trees=n_trees, first=first).forest


def _join(model: Any, data: Table, seed: int, forests: list) -> Any:
    table = model.read_table(data, None)
    return clone(model).adopt_members(table, type(forests[0]).joined(forests), seed)


def _fit_on_numbers(model: Any, parts: list[Part]) -> Any:
    """The model of all rows, as they are."""
    kept = [part for part in parts if batch_of(part.X).n_rows]
    columns = [_stacked([part[place] for part in kept]) for place in range(len(Part._fields))]
    return _with_own_threads(clone(model)).fit(*columns)


def _stacked(parts: list[Any]) -> Any:
    if not parts or parts[0] is None:
        return None
    if not hasattr(parts[0], "columns") and not hasattr(parts[0], "index"):
        return np.concatenate(parts)
    import pandas as pd

    return pd.concat(parts, ignore_index=True)
