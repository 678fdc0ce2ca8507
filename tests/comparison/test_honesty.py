"""The comparison is fair: same folds for all, nothing learned from test rows, limits kept."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from hedgerow.comparison import MODELS, Model, compare
from hedgerow.comparison import models as models_module

N_ROWS = 300
CHANCE = (0.5 - 0.12, 0.5 + 0.12)  # four standard deviations of 300 fair coins


@pytest.fixture(scope="module")
def noise():
    """Features and labels that have nothing to do with each other."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 6)), columns=list("abcdef"))
    frame["many"] = pd.Categorical(rng.integers(0, 60, N_ROWS).astype(str))
    return frame, rng.permutation(np.repeat(["heads", "tails"], N_ROWS // 2))


def off_chance(comparison):
    means = {result.name: result.mean("accuracy") for result in comparison.results}
    return {name: mean for name, mean in means.items() if not CHANCE[0] <= mean <= CHANCE[1]}


def test_random_labels_score_at_chance_with_every_model(noise):
    comparison = compare(*noise, cv=2)
    assert not any(result.error for result in comparison.results)
    assert off_chance(comparison) == {}


def test_random_labels_score_at_chance_where_something_is_tuned(noise):
    tuned = ["hedgerow DecisionTree", "hedgerow MeanMarginTree", "scikit-learn DecisionTree"]
    comparison = compare(*noise, cv=4, budget="thorough", models=tuned)
    assert off_chance(comparison) == {}
    assert any(result.parameters[0] for result in comparison.results)


def test_random_labels_score_at_chance_under_a_limit(noise):
    comparison = compare(*noise, cv=3, max_splits=20, models=["hedgerow DecisionTree"])
    assert off_chance(comparison) == {}


class LeakyClassifier(ClassifierMixin, BaseEstimator):
    """Looks its rows up in the whole table, as a setting chosen on test rows would."""

    answers: dict = {}  # noqa: RUF012

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_splits_ = 1
        return self

    def predict_proba(self, X):
        found = np.array([self.answers[value] for value in X["a"]])
        return (found[:, None] == self.classes_).astype(float)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_leak_is_seen_by_these_very_tests(noise, join):
    LeakyClassifier.answers = dict(zip(noise[0]["a"], noise[1], strict=True))
    join("leaky", LeakyClassifier)
    assert off_chance(compare(*noise, cv=3, models=["leaky"])) == {"leaky": 1.0}


class RecordingClassifier(LeakyClassifier):
    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append(tuple(X["a"]))
        return super().fit(X, y)


class OtherRecordingClassifier(RecordingClassifier):
    seen: list = []  # noqa: RUF012


def test_all_models_get_the_same_training_rows(noise, join):
    LeakyClassifier.answers = dict(zip(noise[0]["a"], noise[1], strict=True))
    join("one", RecordingClassifier)
    join("other", OtherRecordingClassifier)
    comparison = compare(*noise, cv=3, models=["one", "other"])
    expected = [tuple(noise[0]["a"].iloc[train]) for train, _ in comparison.splits]
    assert RecordingClassifier.seen == expected
    assert OtherRecordingClassifier.seen == expected


def test_every_row_is_predicted_once_by_a_model_that_did_not_see_it(noise):
    comparison = compare(*noise, cv=3, models=["hedgerow DecisionTree"])
    tested = np.sort(np.concatenate([test for _, test in comparison.splits]))
    assert tested.tolist() == list(range(N_ROWS))
    assert not np.isnan(comparison.best_result.probabilities).any()
    assert all(not set(train) & set(test) for train, test in comparison.splits)


@pytest.fixture
def join(monkeypatch):
    """Let a class of this file take part, as any new model does: by a line in MODELS."""

    def join(name, kind):
        monkeypatch.setattr(models_module, kind.__name__, kind, raising=False)
        stem = kind.__name__.removesuffix("Classifier")
        line = Model(f"hedgerow.comparison.models.{stem}", "tree", tasks=("classification",))
        monkeypatch.setitem(MODELS, name, line)

    return join
