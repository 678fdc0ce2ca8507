"""Calls in threads: in order, with as many threads as there are."""

import threading

import pytest

from hedgerow._threads import in_threads


def square(n):
    return lambda: n * n


@pytest.mark.parametrize("n_jobs", [1, 2, 9])
def test_results_come_in_the_order_of_the_calls(n_jobs):
    assert in_threads(map(square, range(20)), n_jobs) == [n * n for n in range(20)]
    assert in_threads([], n_jobs) == []


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_failure_is_raised_and_ends_the_work(n_jobs):
    called = []

    def fail():
        called.append(1)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_threads([fail] * 1000, n_jobs)
    assert len(called) <= n_jobs


def test_threads_that_cannot_be_started_are_done_without(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert in_threads(map(square, range(5)), 4) == [0, 1, 4, 9, 16]
