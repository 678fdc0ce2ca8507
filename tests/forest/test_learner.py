"""The learner of forests: cascades and scanners grow with it on data of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine

from hedgerow import RandomForestClassifier, RandomForestRegressor, RandomTreesClassifier

WINE, DIABETES = load_wine(return_X_y=True), load_diabetes(return_X_y=True)


def learner_and_table(model, data):
    return model.learner(), model.read_table(*data)


@pytest.mark.parametrize(
    ("model", "data"),
    [(RandomForestClassifier(5), WINE), (RandomForestRegressor(5), DIABETES)],
)
def test_learner_grows_what_the_forest_grows(model, data):
    learner, table = learner_and_table(model, data)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    forest, unseen = learner.grow(learner.bin(table), seed)
    assert unseen is None
    alone = model.set_params(random_state=0).fit(*data)
    assert_array_equal(forest.predict(data[0]), alone.forest_.predict(data[0]))
    assert alone.seed_ == seed


def test_start_stays_as_it_is():
    learner, table = learner_and_table(RandomForestClassifier(4), WINE)
    binned = learner.bin(table)
    start, _ = learner.grow(binned, 7)
    before = start.predict(WINE[0])
    both, _ = learner.grow(binned, 7, n_trees=3, start=start)
    assert (start.n_members, both.n_members) == (4, 7)
    assert_array_equal(start.predict(WINE[0]), before)
    whole, _ = learner.grow(binned, 7, n_trees=7)
    assert_array_equal(both.predict(WINE[0]), whole.predict(WINE[0]))


def test_further_columns_are_grown_on():
    X, y = WINE
    learner, table = learner_and_table(RandomTreesClassifier(5), WINE)
    further = np.random.default_rng(0).random((len(y), 2))
    wider = learner.bin(table).data.share()
    wider.append_matrix(further, 255, 1)
    forest, _ = learner.grow(learner.bin(table).with_data(wider), 3)
    assert forest.n_features == X.shape[1] + 2
    side_by_side = np.hstack([X, further])
    alone = RandomTreesClassifier(5)
    other, _ = learner.grow(learner.bin(alone.read_table(side_by_side, y)), 3)
    assert_array_equal(forest.predict(side_by_side), other.predict(side_by_side))


def test_held_rows_are_asked_of_trees_on_other_rows():
    X, y = WINE
    learner, table = learner_and_table(RandomForestClassifier(5, bootstrap=False), WINE)
    train, held = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    forest, unseen = learner.grow(learner.bin(table), 3, rows=train, held=held)
    assert_array_equal(unseen.counts[held], 5)
    assert_array_equal(unseen.counts[train], 0)
    assert_allclose(unseen.sums[held] / 5, forest.predict(X[held]))


def test_rows_out_of_bags_are_asked():
    X, y = WINE
    model = RandomForestClassifier(5, max_samples=0.5)
    learner, table = learner_and_table(model, WINE)
    _, unseen = learner.grow(learner.bin(table), 3, out_of_bag=True)
    params = learner.params(len(y), X.shape[1], [3], 3, float(len(y)))
    unseen_by = np.array([params.bag(len(y), place) == 0 for place in range(5)])
    assert_array_equal(unseen.counts, unseen_by.sum(axis=0))


def test_settings_of_a_learner_are_frozen():
    model = RandomForestClassifier(5)
    learner = model.learner()
    model.n_estimators = 9
    assert learner.settings.n_estimators == 5
    with pytest.raises(AttributeError, match="settings are frozen"):
        learner.settings.n_estimators = 3


def test_targets_that_do_not_suit_are_refused():
    X, y = DIABETES
    learner, table = learner_and_table(RandomForestRegressor(2, criterion="poisson"), (X, -y))
    with pytest.raises(ValueError, match="negative which is not allowed for Poisson"):
        learner.grow(learner.bin(table), 0)
