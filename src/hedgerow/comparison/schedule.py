"""In which order models go through the folds, and which of them where time is short.

Without a limit of time they go fold by fold, so that whatever stops the run leaves all of them on
the same first folds. Within one they go model by model, in the order of what they are expected to
be worth: whatever the time suffices for has all its folds. A model enters where all of its folds
are expected to fit into the time that is left; at first where they fit into a part of it, so that
one slow model does not stand for all. What its first fold really took decides whether it goes on,
and the time that is left goes to the next in line.
"""

import math
from collections import deque
from dataclasses import dataclass, field
from time import perf_counter, process_time

from hedgerow.comparison.budget import Listener, in_words
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.journal import FoldJournal
from hedgerow.comparison.models import BUDGETS
from hedgerow.comparison.records import INTERRUPTED
from hedgerow.comparison.run import Run

LEADERS = 3  # whose fitted models are kept: one of them will most likely be the best
# Families take turns, boosters first and often: they are the likeliest to be best.
TURNS = ("boosting", "forest", "graph", "boosting", "additive", "tree", "cascade", "embedding")
FIRST_BOOSTER_SHARE = 0.8
FIRST_SHARE = 0.5  # of the time that is left, for a model in the first round
REPORT_SHARE, REPORT_MOST = 0.08, 20.0  # of the time, for the report; and at most so many seconds
REPORT_SECONDS = 1.5  # of a processor, at least; of a shared one that takes longer,
REPORT_AT_MOST = 0.3  # but never more than this share of the time
BYTES_PER_SECOND = 15e6  # of a model that is written to a file
TRIALS_SHARE = 0.2  # of the time, for trials; models that had none are tried by their first fold
SLACK = 1.25  # a fold may take so much longer than its share of the time before it is stopped
SURPRISE = 6  # and another library's first one than was foreseen, because nothing stops its calls


@dataclass(frozen=True)
class Clock:
    """The time that a comparison has, from its begin on; None is no limit."""

    began: float
    seconds: float | None
    processor: float = field(default_factory=process_time)

    def left(self) -> float:
        """Seconds until the time is up."""
        if self.seconds is None:
            return math.inf
        return self.began + self.seconds - perf_counter()

    def slowness(self) -> float:
        """Seconds for each second of a processor: more than one where others use it, too."""
        passed, used = perf_counter() - self.began, process_time() - self.processor
        return max(1.0, passed / used) if used > 0.5 else 1.0


@dataclass
class Schedule:
    """Models, and what is told about them on the way.

    Attributes
    ----------
    runs : list of Run
    n_folds : int
    clock : Clock
    listener : callable
        Told of folds done, folds to do, what comes next and the seconds left.
    journal : FoldJournal or None
    """

    runs: list[Run]
    n_folds: int
    clock: Clock
    listener: Listener
    journal: FoldJournal | None = None

    def go(self) -> bool:
        """Run all models; whether something was left undone for want of time, or by Ctrl-C."""
        stopped = False
        try:
            with Interrupts() as interrupts:
                if self.clock.seconds is None:
                    self._fold_by_fold(interrupts)
                else:
                    self._model_by_model(interrupts)
        except KeyboardInterrupt:
            if not any(run.folds for run in self.runs):
                raise
            stopped = True
            for run in self.runs:
                whole = len(run.folds) == self.n_folds
                run.error = run.error or (None if whole else INTERRUPTED)
        total = len(self.runs) * self.n_folds
        self.listener(total, total, "done", 0.0)
        if not any(run.folds for run in self.runs):
            first = next(run for run in self.runs if run.error)
            raise ValueError(f"no model could be compared; {first.name}: {first.error}")
        return stopped or any(run.lacked_time for run in self.runs)

    def _fold_by_fold(self, interrupts: Interrupts) -> None:
        for number in range(self.n_folds):
            for run in self.runs:
                if run.error is None and number in run.missing:
                    self._fold(run, number, None, interrupts)
            keep_leaders(self.runs)

    def _model_by_model(self, interrupts: Interrupts) -> None:
        waiting = by_worth(self.runs)
        for_trials = TRIALS_SHARE * (self.clock.seconds or 0.0)
        for share in (FIRST_SHARE, 1.0):
            late = []
            for run in waiting:
                if not run.missing:
                    continue
                if run.seconds_per_fold is None and for_trials > 0:
                    self._say(f"{run.name}, trial")
                    before = self.clock.left()
                    run.estimate(min(self._left(run) / self.n_folds, for_trials) / 2, interrupts)
                    for_trials -= before - self.clock.left()
                most = max(share, self._share_of_family(run)) * self._left(run)
                if run.error is None and self._expected(run) <= most and self._is_safe(run):
                    self._all_folds(run, interrupts)
                    keep_leaders(self.runs)
                elif run.error is None:
                    late.append(run)
            waiting = late
        if waiting and not any(run.folds for run in self.runs):
            self._at_least_one(min(waiting, key=self._expected), interrupts)
        for run in waiting:
            if run.folds:
                continue
            foreseen = run.seconds_per_fold
            run.end_for_time(
                "left out: there was no time to try it"
                if foreseen is None
                else f"left out: it would take about {in_words(self._expected(run))}"
            )

    def _at_least_one(self, run: Run, interrupts: Interrupts) -> None:
        """A model on as many folds as the time allows, where it suffices for all folds of none."""
        for number in run.missing:
            left = self._left(run)
            if run.error is None and (run.seconds_per_fold or 0.0) < left:
                self._fold(run, number, left, interrupts)

    def _share_of_family(self, run: Run) -> float:
        """The share of the time for a booster while there is none: it will most likely be best."""
        boosters = [each for each in self.runs if each.model.family == "boosting"]
        is_first = not any(len(each.folds) == self.n_folds for each in boosters)
        return FIRST_BOOSTER_SHARE if run in boosters and is_first else 0.0

    def _is_safe(self, run: Run) -> bool:
        """Whether the time is kept even where a trial misled about a fit that cannot be stopped."""
        if run.model.is_ours or run.folds:
            return True
        return SURPRISE * (run.seconds_per_fold or 0.0) <= self._left(run)

    def _all_folds(self, run: Run, interrupts: Interrupts) -> None:
        for number in run.missing:
            left = self._left(run)
            if run.folds and self._expected(run) > left:
                run.end_for_time(
                    f"left out: its folds would take {in_words(self._expected(run))} more"
                )
                return
            self._fold(run, number, SLACK * left / len(run.missing), interrupts)
            if run.error is not None:
                return

    def _expected(self, run: Run) -> float:
        return len(run.missing) * (run.seconds_per_fold or 0.0)

    def _left(self, run: Run) -> float:
        """Seconds until the time is up, without those for the best on all rows and the report."""
        ours = [each for each in self.runs if each.model.is_ours and each.folds]
        best = max(ours, key=lambda each: each.score, default=run)
        entering = [run] if run.model.is_ours else []
        last = max(
            (each.seconds_per_fold or 0.0) * self.n_folds / max(self.n_folds - 1, 1)
            + self.clock.slowness() * each.n_bytes / BYTES_PER_SECOND
            for each in (best, *entering)
        )
        total = self.clock.seconds or 0.0
        report = max(
            min(REPORT_SHARE * total, REPORT_MOST),
            min(REPORT_SECONDS * self.clock.slowness(), REPORT_AT_MOST * total),
        )
        return self.clock.left() - last - report

    def _fold(self, run: Run, number: int, limit: float | None, interrupts: Interrupts) -> None:
        self._say(f"{run.name}, fold {number + 1}")
        fold = run.try_fold(number, limit, interrupts)
        if fold is not None and self.journal is not None:
            self.journal.write(run.name, fold)
        if interrupts.heard:  # a library swallowed it
            raise KeyboardInterrupt

    def _say(self, what: str) -> None:
        done = sum(len(run.folds) if run.error is None else self.n_folds for run in self.runs)
        self.listener(done, len(self.runs) * self.n_folds, what, self._seconds_left())

    def _seconds_left(self) -> float | None:
        """Seconds to go, once every model has been through a fold."""
        if self.clock.seconds is not None:
            return max(self.clock.left(), 0.0)
        running = [run for run in self.runs if run.error is None]
        if not all(run.folds for run in running):
            return None
        return sum(map(self._expected, running))


def by_worth(runs: list[Run]) -> list[Run]:
    """The runs in the order in which they enter: families take turns, slow models come last."""
    queues: dict[str, deque[Run]] = {}
    for run in sorted(runs, key=lambda run: BUDGETS.index(run.model.budget)):
        queues.setdefault(run.model.family, deque()).append(run)
    turns = [*TURNS, *(family for family in queues if family not in TURNS)]
    order: list[Run] = []
    while len(order) < len(runs):
        order += [queues[family].popleft() for family in turns if queues.get(family)]
    return order


def keep_leaders(runs: list[Run]) -> None:
    """Forget the fitted models of all runs but the best: together they would fill the memory."""
    ranked = sorted(
        (run for run in runs if run.folds), key=lambda run: (-len(run.folds), -run.score)
    )
    for run in ranked[LEADERS:]:
        run.models.clear()
