"""Rows drawn by their numbers and features by nodes: forests that can grow in many places."""

import numpy as np
import pytest

from hedgerow import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_keyed_draws_are_the_same_for_any_n_jobs_and_number_of_trees(kind):
    given = {"random_state": 0, "keyed_draws": True}
    forest = kind(6, n_jobs=1, **given).fit(X, Y)
    others = kind(9, n_jobs=2, **given).fit(X, Y).subset(6)
    np.testing.assert_array_equal(forest.predict_proba(X), others.predict_proba(X))


def test_a_row_is_drawn_by_its_number_alone():
    given = {"random_state": 0, "keyed_draws": True, "max_samples": 300}
    half = RandomForestClassifier(3, **given).fit(X, Y)
    whole = RandomForestClassifier(3, **given | {"max_samples": 600}).fit(
        np.vstack([X, X]), np.concatenate([Y, Y])
    )
    for some, more in zip(half.estimators_samples_, whole.estimators_samples_, strict=True):
        np.testing.assert_array_equal(some, more[more < 600])


def test_bags_are_as_large_as_was_asked_for_on_average():
    forest = RandomForestRegressor(40, random_state=0, keyed_draws=True, oob_score=True)
    forest.fit(X, X[:, 0])
    sizes = [len(bag) for bag in forest.estimators_samples_]
    assert np.mean(sizes) == pytest.approx(600, rel=0.03)
    assert np.std(sizes) == pytest.approx(np.sqrt(600), rel=0.4)
    assert forest.oob_score_ > 0.9


def test_keyed_draws_are_as_good_as_others():
    held = RNG.normal(size=(2000, 6))
    truth = held[:, 0] * held[:, 1] > 0
    given = {"n_estimators": 100, "random_state": 1}
    scores = [
        RandomForestClassifier(**given, keyed_draws=keyed).fit(X, Y).score(held, truth)
        for keyed in (False, True)
    ]
    assert scores[1] == pytest.approx(scores[0], abs=0.03)
