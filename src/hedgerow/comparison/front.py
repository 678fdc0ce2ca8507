"""Score against size for every model: from one split to the model without a limit, on one fold.

A comparison within a limit shows what is best at that size. What more splits would gain, and what
fewer would cost, is seen along the way of each model through the sizes. It costs several fits of
each, so it is made on the first fold alone, as far as the time goes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.models import Settings
from hedgerow.comparison.records import Point
from hedgerow.comparison.run import Run
from hedgerow.comparison.schedule import Clock
from hedgerow.comparison.within import Limits

SIZES = (1, 3, 10, 30, 100, 300, 1000)  # most splits
OFFERED = 3  # settings for each, of which held-out rows of the training rows choose


class Rung(Run):
    """A model within a number of splits."""

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
            for run in runs:
                points += _way(run, clock, interrupts)
    except KeyboardInterrupt:
        pass
    return points


def _way(run: Run, clock: Clock, interrupts: Interrupts) -> Iterator[Point]:
    """One model at all sizes, as far as the time goes."""
    sizes = [] if run.model.ladder is None else [Limits(max_splits=size) for size in SIZES]
    for limits in (*sizes, Limits()):
        left = clock.left()
        if left <= 0:
            return
        problem = replace(run.problem, limits=limits, tuned=False)
        rung = (Rung if limits else Run)(run.name, run.model, problem, [])
        fold = rung.try_fold(0, None if clock.seconds is None else left, interrupts)
        if fold is not None and fold.costs[0] is not None:
            score = fold.scores[problem.metrics[0].name]
            n_splits, n_bytes = fold.costs[:2]
            yield Point(run.name, run.model.is_ours, score, n_splits, n_bytes, fold.settings)
