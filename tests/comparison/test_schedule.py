"""Which models run within a time, by a clock that the test turns."""

from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.comparison import MODELS
from hedgerow.comparison import run as run_module
from hedgerow.comparison.budget import extrapolate
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.metrics import METRICS
from hedgerow.comparison.run import Problem, Run
from hedgerow.comparison.schedule import Clock, Schedule, by_worth
from hedgerow.comparison.within import Limits

N_FOLDS = 5


class Watch(Clock):
    """A clock that moves when a stand-in for a model works."""

    now = 0.0
    slow = 1.0

    def left(self):
        return self.seconds - Watch.now

    def slowness(self):
        return Watch.slow


class Standin:
    """A model of which only the time is known: what is foreseen of a fold, and what it takes."""

    def __init__(
        self, name, family, foreseen, takes=None, ours=False, score=0.5, trial=0.05, n_bytes=0
    ):
        self.name, self.score = name, score
        self.model = SimpleNamespace(family=family, is_ours=ours, budget="small")
        self._foreseen, self._takes = foreseen, foreseen if takes is None else takes
        self.folds, self.models, self.error, self.lacked_time = [], {}, None, False
        self.seconds_per_fold = None
        self._trial, self.n_bytes = trial, n_bytes

    @property
    def missing(self):
        return list(range(len(self.folds), N_FOLDS))

    def estimate(self, most, interrupts):
        Watch.now += self._trial
        self.seconds_per_fold = self._foreseen

    def try_fold(self, number, limit, interrupts):
        Watch.now += min(self._takes, limit)
        if self._takes > limit:
            self.end_for_time("the time was up")
            return None
        self.folds.append(number)
        self.seconds_per_fold = self._takes
        return number

    def end_for_time(self, reason):
        self.error, self.lacked_time = reason, True


def run_for(seconds, *runs):
    """Run the stand-ins within a time; return the finished ones in order, and the time used."""
    Watch.now = 0.0
    order = []

    def listen(done, total, what, left):
        order.append(what.partition(",")[0])

    Schedule(list(runs), N_FOLDS, Watch(0.0, seconds), listen).go()
    whole = [run.name for run in runs if len(run.folds) == N_FOLDS]
    return sorted(whole, key=order.index), Watch.now


@pytest.fixture
def usual():
    return [
        Standin("tree", "tree", 0.1, ours=True),
        Standin("graph", "graph", 0.5, ours=True),
        Standin("forest", "forest", 2.0, ours=True, score=0.8),
        Standin("cascade", "cascade", 9.0, ours=True),
        Standin("other forest", "forest", 1.5),
        Standin("booster", "boosting", 1.6, score=0.9),
        Standin("other booster", "boosting", 3.0),
    ]


def test_boosters_are_among_the_first_and_families_take_turns(usual):
    names = [run.name for run in by_worth(usual)]
    assert names[:4] == ["booster", "forest", "graph", "other booster"]
    assert sorted(names) == sorted(run.name for run in usual)


@pytest.mark.parametrize("seconds", [30, 60, 120, 600])
def test_the_time_is_kept_and_used_while_there_are_models(usual, seconds):
    finished, used = run_for(seconds, *usual)
    reserved = 2.5 * 2 + 0.08 * seconds  # the best on all rows, and the report
    assert used <= seconds
    assert "booster" in finished
    left_out = [run for run in usual if run.error]
    cheapest = min((N_FOLDS * run.seconds_per_fold for run in left_out), default=0.0)
    assert not left_out or seconds - used - reserved <= 1.3 * cheapest
    assert all(len(run.folds) == N_FOLDS or run.error for run in usual)


def test_time_that_a_model_did_not_need_goes_to_the_next_in_line():
    quick = Standin("foreseen as slow", "boosting", 3.0, takes=0.1)
    late = Standin("next", "boosting", 3.2)
    assert run_for(30, quick, late)[0] == ["foreseen as slow", "next"]


def test_a_model_that_takes_longer_than_foreseen_is_named_and_does_not_spoil_the_rest():
    slow = Standin("slow", "boosting", 0.5, takes=8.0)
    quick = Standin("quick", "tree", 0.2, ours=True)
    finished, used = run_for(30, slow, quick)
    assert finished == ["quick"]
    assert slow.error.startswith("left out: its folds would take ") or "time was up" in slow.error
    assert slow.lacked_time
    assert used <= 30


@pytest.mark.parametrize("ours", [False, True])
def test_what_cannot_be_stopped_begins_only_where_a_surprise_would_be_in_time(ours):
    early = Standin("first", "tree", 2.0, ours=True)
    late = Standin("last", "embedding", 2.6, ours=ours)
    finished, used = run_for(30, early, late)
    assert finished == (["first", "last"] if ours else ["first"])
    assert used <= 30


def test_one_slow_model_waits_until_the_others_had_their_turn():
    slow = Standin("slow", "boosting", 4.0)
    others = [Standin(f"tree {i}", "tree", 0.5, ours=True) for i in range(3)]
    finished, _ = run_for(40, slow, *others)
    assert finished[0] == "slow"  # it was the first to be tried
    assert set(finished) == {"slow", *(run.name for run in others)}


def test_a_fixed_cost_is_not_taken_for_one_of_every_row():
    # A booster: 0.31 s for 1,000 rows, and 1.55 s for 40,000.
    fixed, each = 0.278, 3.18e-5
    seconds = tuple(fixed + each * n for n in (500, 2000))
    assert extrapolate((500, 2000), seconds, 40_000) == pytest.approx(1.55, rel=0.05)
    assert extrapolate((500, 2000), (0.1, 0.4), 40_000) == pytest.approx(8.0)
    assert extrapolate((500, 2000), (0.1, 0.8), 40_000) == pytest.approx(0.8 * 20**1.5)
    assert extrapolate((500, 2000), (1.0, 0.2), 20_000) == pytest.approx(0.2 * 10**0.5)


def test_a_trial_too_short_to_tell_is_followed_by_one_of_more_rows(monkeypatch):
    X, y = np.zeros((50_000, 1)), np.zeros(50_000)
    splits = [(np.arange(40_000), np.arange(40_000, 50_000))]
    problem = Problem("regression", X, y, splits, Limits(), False, 0, 1, [METRICS["r2"]])
    run = Run("quick", MODELS["hedgerow DecisionTree"], problem, [])
    tried, clock = [], [0.0]

    def fit(self, X, y):
        tried.append(len(X))
        clock[0] += {500: 0.005, 2000: 0.08, 8000: 0.09}[len(X)]  # the second one was disturbed

    monkeypatch.setattr(Run, "_fitted", fit)
    monkeypatch.setattr(run_module, "perf_counter", lambda: clock[0])
    with Interrupts() as interrupts:
        run.estimate(10.0, interrupts)
        assert tried == [500, 2000]  # there is time enough for the worst
        assert run.seconds_per_fold == pytest.approx(0.08 * 20**1.5)
        run.estimate(1.0, interrupts)
    assert tried == [500, 2000, 500, 2000, 8000]
    assert run.seconds_per_fold == pytest.approx(0.09 * 5**0.5)


def test_time_is_kept_for_a_large_file_and_for_a_report_on_a_shared_machine(monkeypatch):
    def shape():
        return [Standin(f"tree {k}", "tree", 1.0, ours=True, n_bytes=150_000_000) for k in range(9)]

    _, used = run_for(60, *shape())
    assert used <= 60 - 150e6 / 15e6 - 1.25 - 60 * 0.08
    monkeypatch.setattr(Watch, "slow", 6.0)
    small = [Standin(f"tree {k}", "tree", 1.0) for k in range(20)]
    _, used = run_for(60, *small)
    assert 60 * 0.7 <= used <= 60 - 6 * 1.5
    monkeypatch.setattr(Watch, "slow", 100.0)  # not all of the time is for the report
    assert len(run_for(60, *[Standin(f"tree {k}", "tree", 1.0) for k in range(20)])[0]) >= 6


def test_trials_do_not_use_up_the_time():
    slow_to_load = [Standin(f"tree {k}", "tree", 0.3, trial=3.0) for k in range(12)]
    done, used = run_for(30, *slow_to_load)
    assert len(done) >= 8
    assert used <= 30


def test_where_no_model_has_the_time_for_all_folds_one_has_some():
    slow, quick = Standin("slow", "boosting", 30.0), Standin("quick", "tree", 9.0)
    run_for(30, slow, quick)
    assert 1 <= len(quick.folds) < N_FOLDS
    assert quick.error is None
    assert not slow.folds and slow.lacked_time
