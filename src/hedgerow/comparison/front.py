"""Score against size for every model: from one split to the model without a limit, on one fold.

A comparison within a limit shows what is best at that size. What more splits would gain, and what
fewer would cost, is seen along the way of each model through the sizes. It costs several fits of
each, so it is made on the first fold alone, as far as the time goes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from sklearn.base import BaseEstimator

from hedgerow._columns import take_rows
from hedgerow._table import Table
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.models import Settings
from hedgerow.comparison.records import Point
from hedgerow.comparison.run import Run
from hedgerow.comparison.schedule import Clock
from hedgerow.comparison.within import Limits, read_table

SIZES = (1, 3, 10, 30, 100, 300, 1000)  # most splits
OFFERED = 3  # settings for each, of which held-out rows of the training rows choose


class Rung(Run):
    """A model within a number of splits, on a training fold that was read once for all of them."""

    def __init__(self, run: Run, limits: Limits, table: Table) -> None:
        problem = replace(run.problem, limits=limits, tuned=False)
        super().__init__(run.name, run.model, problem, [])
        self._table = table

    @property
    def weighs_classes(self) -> bool:
        """The sizes are compared without class weights."""
        return False

    def _fit_fold(self, number: int) -> Any:
        return self._fitted(self._table, None)

    def offered(self) -> Iterable[Settings]:
        """The first settings of the model's ladder."""
        ladder, most = self.model.ladder, self.problem.limits.max_splits
        return islice(ladder(most), OFFERED) if ladder is not None and most is not None else [{}]


def front_of(runs: Iterable[Run], clock: Clock) -> list[Point]:
    """The ways of all models through the sizes; an end of the time, or Ctrl-C, ends them.

    Parameters
    ----------
    runs : iterable of Run
        The models that were compared.
    clock : Clock

    Returns
    -------
    points : list of Point
    """
    points: list[Point] = []
    try:
        with Interrupts() as interrupts:
            table: Table | None = None
            for run in runs:
                if clock.left() <= 0:
                    break
                if table is None:
                    problem, train = run.problem, run.problem.splits[0][0]
                    X, y = take_rows(problem.X, train), problem.y[train]
                    table = read_table(BaseEstimator(), X, y, problem.task)
                points += _way(run, table, clock, interrupts)
    except KeyboardInterrupt:
        pass
    return points


def _way(run: Run, table: Table, clock: Clock, interrupts: Interrupts) -> Iterator[Point]:
    """One model at all sizes, as far as the time goes."""
    sizes = [] if run.model.ladder is None else [Limits(max_splits=size) for size in SIZES]
    is_enough = False  # where held-out rows want no more splits, larger limits are passed over
    for limits in (*sizes, Limits()):
        left = clock.left()
        if left <= 0:
            return
        if is_enough and limits:
            continue
        rung = Rung(run, limits, table)
        fold = rung.try_fold(0, None if clock.seconds is None else left, interrupts)
        if fold is not None and fold.costs[0] is not None:
            score = fold.scores[rung.problem.metrics[0].name]
            n_splits, n_bytes = fold.costs[:2]
            is_enough = limits.max_splits is not None and 2 * n_splits < limits.max_splits
            yield Point(run.name, run.model.is_ours, score, n_splits, n_bytes, fold.settings)
