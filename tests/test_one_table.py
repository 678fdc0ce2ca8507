"""A table is read once and binned once, however many folds, settings, members or layers grow."""

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow import _columns
from hedgerow._table import Table

RNG = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N),
        "whole": RNG.integers(0, 9, N),
        "colour": pd.Categorical(RNG.choice(["red", "green", "blue"], N)),
    }
)
CLASSES = np.where(FRAME["number"] + FRAME["whole"] > 4, "yes", "no")
NUMBERS = FRAME["number"].to_numpy() + FRAME["whole"].to_numpy()

FITS = {
    "tree": lambda: hedgerow.DecisionTreeClassifier().fit(FRAME, CLASSES),
    "forest": lambda: hedgerow.RandomForestClassifier(30, oob_score=True).fit(FRAME, CLASSES),
    "bag of trees": lambda: hedgerow.BaggingClassifier(n_estimators=5).fit(FRAME, CLASSES),
    "bag of graphs": lambda: hedgerow.BaggingClassifier(
        hedgerow.TreeInTreeClassifier(), n_estimators=3
    ).fit(FRAME, CLASSES),
    "boosting": lambda: hedgerow.AdaBoostClassifier(n_estimators=5).fit(FRAME, CLASSES),
    "network": lambda: hedgerow.TreeNetworkClassifier().fit(FRAME, CLASSES),
    "network of numbers": lambda: hedgerow.TreeNetworkRegressor().fit(FRAME, NUMBERS),
    "contest": lambda: hedgerow.CrossValidatedTreeClassifier(cv=5).fit(FRAME, CLASSES),
    "mixed forest": lambda: hedgerow.HeterogeneousForestClassifier(n_estimators=5).fit(
        FRAME, CLASSES
    ),
    "mixed forest of numbers": lambda: hedgerow.HeterogeneousForestRegressor(n_estimators=5).fit(
        FRAME, NUMBERS
    ),
    "cascade": lambda: hedgerow.CascadeForestClassifier(n_trees=5).fit(FRAME, CLASSES),
    "light cascade": lambda: hedgerow.CascadeForestRegressor("light", n_trees=5).fit(
        FRAME, NUMBERS
    ),
    "graph": lambda: hedgerow.TreeInTreeClassifier(max_splits=9).fit(FRAME, CLASSES),
    "embedding": lambda: hedgerow.TreeEmbeddingClassifier().fit(FRAME, CLASSES),
    "choice of one family": lambda: hedgerow.fit_within(
        FRAME, CLASSES, max_splits=9, models=["hedgerow DecisionTree"]
    ),
    "choice of several": lambda: hedgerow.fit_within(
        FRAME,
        CLASSES,
        max_splits=20,
        models=["hedgerow DecisionTree", "hedgerow TreeInTree", "hedgerow RandomForest"],
    ),
}


@pytest.fixture
def counts(monkeypatch):
    """How often tables were binned and columns factorised."""
    counted = {"binned": 0, "factorised": 0}
    binned, factorised = Table._binned, _columns.factorize

    def count_binned(self, *arguments):
        counted["binned"] += 1
        return binned(self, *arguments)

    def count_factorised(column):
        counted["factorised"] += 1
        return factorised(column)

    monkeypatch.setattr(Table, "_binned", count_binned)
    monkeypatch.setattr(_columns, "factorize", count_factorised)
    return counted


@pytest.mark.parametrize("fit", FITS)
def test_a_fit_bins_its_table_once(fit, counts):
    FITS[fit]()
    assert counts == {"binned": 1, "factorised": 1}  # of three columns one has categories


def test_all_families_share_one_table(counts):
    hedgerow.fit_within(FRAME, CLASSES, max_splits=20)
    assert counts == {"binned": 1, "factorised": 1}


def test_a_comparison_bins_once_for_each_outer_training_set(counts):
    hedgerow.compare(FRAME, CLASSES, cv=3, max_splits=9, models=["hedgerow DecisionTree"])
    # Three training folds, the first of them once more for the ways of all models through the
    # sizes, and all rows for the model that is kept; and a small tree of each column alone.
    assert counts["binned"] <= 5 + FRAME.shape[1]


@pytest.mark.parametrize("name", ["RandomForestClassifier", "DecisionTreeClassifier"])
def test_rows_of_a_table_are_as_good_as_a_table(name):
    model = getattr(hedgerow, name)(random_state=0)
    table = model.read_table(FRAME, CLASSES)
    rows = np.sort(RNG.permutation(N)[:80])
    part = table.take(rows)
    assert part.n_rows == 80
    np.testing.assert_array_equal(part.labels, CLASSES[rows])
    np.testing.assert_array_equal(part.matrix(), table.matrix()[rows])
    model.fit(part)
    # Values are few enough to be exact, so that bins of all rows are as good as bins of some.
    other = getattr(hedgerow, name)(random_state=0).fit(FRAME.iloc[rows], CLASSES[rows])
    np.testing.assert_array_equal(model.predict(FRAME), other.predict(FRAME))
    np.testing.assert_array_equal(model.predict(part), model.predict(FRAME.iloc[rows]))


def test_a_table_never_changes():
    model = hedgerow.DecisionTreeClassifier()
    table = model.read_table(FRAME, CLASSES)
    with pytest.raises(ValueError, match="targets and weights of its own"):
        model.fit(table, CLASSES)
    with pytest.raises(ValueError, match="the targets of the table are classes"):
        hedgerow.DecisionTreeRegressor().fit(table)
    with pytest.raises(AttributeError):
        table.schema.n_features = 2
