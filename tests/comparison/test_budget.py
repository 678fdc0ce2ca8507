import contextlib
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from hedgerow import RandomForestClassifier
from hedgerow.comparison import MODELS, Model, compare
from hedgerow.comparison import models as models_module
from hedgerow.comparison.budget import Plan, parse_budget
from hedgerow.comparison.interrupts import Interrupts
from hedgerow.comparison.records import CONSTANT

TREE = "hedgerow DecisionTree"


class Brief(ClassifierMixin, BaseEstimator):
    """A model that predicts the first class."""

    n_splits_ = 1

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.eye(len(self.classes_))[np.zeros(len(X), dtype=int)]

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


class BriefClassifier(Brief):
    pass


class EndlessClassifier(Brief):
    def fit(self, X, y):
        while True:
            time.sleep(0.01)


class StoppedClassifier(Brief):
    """As if the user pressed Ctrl-C in the second fold."""

    fits = 0

    def fit(self, X, y):
        StoppedClassifier.fits += 1
        if StoppedClassifier.fits == 2:
            raise KeyboardInterrupt
        return super().fit(X, y)


class HidingClassifier(Brief):
    """A library that makes an error of its own of a Ctrl-C."""

    def fit(self, X, y):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("interrupted") from None


class DeafClassifier(Brief):
    """A library that swallows a Ctrl-C."""

    def fit(self, X, y):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


class BrokenClassifier(Brief):
    def fit(self, X, y):
        raise RuntimeError("a wheel came off\nand rolled away")


@pytest.fixture
def join(monkeypatch):
    def join(kind):
        monkeypatch.setattr(models_module, kind.__name__, kind, raising=False)
        stem = kind.__name__.removesuffix("Classifier")
        line = Model(f"hedgerow.comparison.models.{stem}", "tree", tasks=("classification",))
        monkeypatch.setitem(MODELS, stem, line)
        return stem

    return join


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (None, Plan("balanced", None)),
        ("small", Plan("small", None)),
        ("thorough", Plan("thorough", None)),
        ("90s", Plan("balanced", 90)),
        ("10min", Plan("balanced", 600)),
        ("1.5 h", Plan("balanced", 5400)),
        (30, Plan("balanced", 30)),
    ],
)
def test_budgets_are_names_or_times(text, plan):
    assert parse_budget(text) == plan


@pytest.mark.parametrize("text", ["soon", "0s", "-3min", "10 parsecs", ""])
def test_other_budgets_are_refused(text):
    with pytest.raises(ValueError, match="'budget' must be one of small, balanced, thorough"):
        parse_budget(text)


def test_a_model_that_does_not_end_is_left_out_of_a_timed_comparison(iris, join):
    comparison = compare(*iris, budget="2s", cv=3, models=[join(EndlessClassifier), TREE])
    assert comparison.best_result.name == TREE
    assert len(comparison.best_result.folds) == 3
    assert comparison["Endless"].error.startswith("left out: ")
    assert comparison.interrupted


@pytest.mark.parametrize(("budget", "takes_part"), [(None, False), ("20s", True)])
def test_what_takes_very_long_waits_for_a_budget_of_time(
    iris, join, monkeypatch, budget, takes_part
):
    slow = replace(MODELS[join(BriefClassifier)], budget="thorough")
    monkeypatch.setattr(models_module, "MODELS", {TREE: MODELS[TREE], "Brief": slow})
    found = compare(*iris, cv=2, budget=budget)
    assert ("Brief" in [result.name for result in found.results]) == takes_part


def test_a_fit_of_the_engine_is_stopped_in_time():
    rng = np.random.default_rng(0)
    X, y = rng.random((4000, 30)), rng.integers(0, 9, 4000)
    with pytest.raises(TimeoutError), Interrupts() as interrupts, interrupts.limit(0.2):
        RandomForestClassifier(100_000, n_jobs=1).fit(X, y)


def test_the_time_is_kept_in_a_background_job_which_ignores_interrupts():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(TimeoutError), Interrupts() as interrupts, interrupts.limit(0.1):
            signal.raise_signal(signal.SIGINT)  # still ignored
            while True:
                time.sleep(0.01)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_of_the_user_is_not_taken_for_the_end_of_time():
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts, interrupts.limit(60):
        raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_finished(iris, join):
    StoppedClassifier.fits = 0
    comparison = compare(*iris, cv=3, models=[TREE, join(StoppedClassifier)])
    assert comparison.interrupted
    assert {r.name: (r.folds, r.error) for r in comparison.results} == {
        TREE: ([0, 1], "interrupted"),
        "Stopped": ([0], "interrupted"),
        CONSTANT: ([0, 1], None),
    }
    assert [r.counted for r in comparison.results] == [[0]] * 3


def test_ctrl_c_before_anything_is_finished_is_passed_on(iris, join):
    StoppedClassifier.fits = 1
    with pytest.raises(KeyboardInterrupt):
        compare(*iris, cv=3, models=[join(StoppedClassifier)])


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_model_is_not_taken_for_a_failed_one(iris, join):
    comparison = compare(*iris, cv=3, models=[TREE, join(HidingClassifier)])
    assert comparison.interrupted
    assert {r.name: (r.folds, r.error) for r in comparison.results} == {
        TREE: ([0], "interrupted"),
        "Hiding": ([], "interrupted"),
        CONSTANT: ([0], None),
    }


@pytest.mark.usefixtures("ctrl_c")
def test_a_swallowed_interrupt_stops_after_the_fold(iris, join):
    comparison = compare(*iris, cv=3, models=[join(DeafClassifier), TREE])
    assert comparison.interrupted
    assert {r.name: (r.folds, r.error) for r in comparison.results} == {
        "Deaf": ([0], "interrupted"),
        TREE: ([], "interrupted"),
        CONSTANT: ([0], None),
    }


def test_a_hidden_end_of_time_is_one_all_the_same():
    with pytest.raises(TimeoutError), Interrupts() as interrupts, interrupts.limit(0.1):
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            raise RuntimeError("interrupted") from None


def test_the_handler_of_ctrl_c_is_given_back(iris):
    before = signal.getsignal(signal.SIGINT)
    compare(*iris, cv=2, models=[TREE])
    assert signal.getsignal(signal.SIGINT) is before


def test_a_model_that_fails_does_not_end_the_comparison(iris, join):
    comparison = compare(*iris, cv=2, models=[join(BrokenClassifier), TREE])
    assert comparison["Broken"].error == "RuntimeError: a wheel came off"
    assert comparison.best_result.name == TREE
    with pytest.raises(ValueError, match="no model could be compared; Broken: RuntimeError"):
        compare(*iris, cv=2, models=["Broken"])


class UnimportableClassifier(ClassifierMixin, BaseEstimator):
    def __init__(self):
        raise AttributeError("module 'wheels' has no attribute 'axle'")


@pytest.mark.parametrize("budget", [None, "20s"])
def test_a_library_that_cannot_be_loaded_does_not_end_the_comparison(iris, join, budget):
    found = compare(*iris, cv=2, models=[join(UnimportableClassifier), TREE], budget=budget)
    assert found["Unimportable"].error == "AttributeError: module 'wheels' has no attribute 'axle'"
    assert found.best_result.name == TREE


def test_progress_tells_what_comes_and_how_long_it_takes(iris):
    heard = []
    compare(*iris, cv=3, models=[TREE], progress=lambda *said: heard.append(said))
    assert [said[:3] for said in heard] == [
        (0, 3, f"{TREE}, fold 1"),
        (1, 3, f"{TREE}, fold 2"),
        (2, 3, f"{TREE}, fold 3"),
        (3, 3, "done"),
    ]
    assert heard[0][3] is None
    assert min(heard[1][3], heard[2][3]) > 0


def test_thorough_tunes_inside_the_training_rows(iris):
    comparison = compare(*iris, budget="thorough", cv=3, models=[TREE])
    assert comparison.best_result.parameters != [{}, {}, {}]
