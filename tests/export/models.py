"""Fitted models of every kind that can be exported, by name, on a table with everything in it."""

from functools import cache

import numpy as np
import pandas as pd
from small_models import fitted, small, table, targets

import hedgerow
from hedgerow.storage import MODELS

REFUSED = {"multi-grained-scanner"}
# Beside the plain ones: two classes, several links, members of other kinds, features drawn, leaves
# that are medians, directions, classes that are no text.
FURTHER = {
    "binary tree": lambda: _two_classes(hedgerow.DecisionTreeClassifier(max_depth=5)),
    "binary sum": lambda: _two_classes(hedgerow.TreeSumClassifier(max_splits=8)),
    "binary boosting": lambda: _two_classes(
        hedgerow.GradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    ),
    "poisson boosting": lambda: _numbers(
        hedgerow.GradientBoostingRegressor(loss="poisson", max_iter=4, min_samples_leaf=5)
    ),
    "hard votes": lambda: _classes(
        hedgerow.BaggingClassifier(
            hedgerow.MeanMarginTreeClassifier(max_depth=3), 12, voting="hard", random_state=0
        )
    ),
    "drawn features": lambda: _classes(
        hedgerow.BaggingClassifier(
            hedgerow.TreeInTreeClassifier(max_splits=4), 12, max_features=0.6, random_state=0
        )
    ),
    "bag of sums": lambda: _numbers(
        hedgerow.BaggingRegressor(hedgerow.TreeSumRegressor(max_splits=4), 11, random_state=0)
    ),
    "boosted sums": lambda: _classes(
        hedgerow.AdaBoostClassifier(hedgerow.TreeSumClassifier(max_splits=3), n_estimators=3)
    ),
    "cascade of many": lambda: _classes(
        hedgerow.CascadeForestClassifier(
            estimators=[
                hedgerow.RandomForestClassifier(3, max_depth=3),
                hedgerow.TreeInTreeClassifier(max_splits=4),
                hedgerow.MeanMarginTreeClassifier(max_depth=3),
            ],
            final_estimator=hedgerow.TreeSumClassifier(max_splits=4),
            max_layers=2,
            random_state=0,
        )
    ),
    "screened cascade": lambda: _classes(
        hedgerow.CascadeForestClassifier(
            n_trees=4, n_forests=1, max_layers=3, screening=0.2, keep="all", random_state=0
        )
    ),
    "paper embedding": lambda: _classes(
        hedgerow.TreeEmbeddingClassifier(preset="paper", random_state=0)
    ),
    "indicator": lambda: _classes(
        hedgerow.TreeEmbeddingClassifier(head="indicator", random_state=0)
    ),
    "all activations": lambda: _classes(
        hedgerow.LeafMeansEmbedding(
            activation=("raw", "linear", "relu", "distance", "rbf", "softmax", "leaf", "vote"),
            impute="leaf",
            standardize=True,
            random_state=0,
        )
    ),
    "oblique": lambda: _classes(
        hedgerow.TAOTreeClassifier(max_depth=4, init=hedgerow.MeanMarginTreeClassifier(max_depth=3))
    ),
    "several numbers": lambda: _several(hedgerow.MeanMarginTreeRegressor(max_depth=4)),
    "median tree": lambda: _numbers(
        hedgerow.DecisionTreeRegressor(criterion="absolute_error", max_depth=4)
    ),
    "quantile tree": lambda: _numbers(
        hedgerow.DecisionTreeRegressor(criterion="quantile", quantile=0.8, max_depth=4)
    ),
    "quantile forest": lambda: _numbers(
        hedgerow.RandomForestRegressor(12, criterion="quantile", quantile=0.8, keep_targets=True)
    ),
    "quantile boosting": lambda: _numbers(
        hedgerow.GradientBoostingRegressor(
            loss="quantile",
            quantile=0.7,
            max_iter=4,
            min_samples_leaf=5,
            interaction_cst=[{0, 1}, {2}],
        )
    ),
    "gamma boosting": lambda: _numbers(
        hedgerow.GradientBoostingRegressor(loss="gamma", max_iter=4, min_samples_leaf=5), least=1
    ),
    "boosted graphs": lambda: _classes(
        hedgerow.GradientBoostingClassifier(members="graph", max_iter=4, min_samples_leaf=5)
    ),
    "absolute sum": lambda: _numbers(hedgerow.TreeSumRegressor(8, loss="absolute_error")),
    "rising boosting": lambda: _two_classes(
        hedgerow.GradientBoostingClassifier(
            monotonic_cst={"age": 1}, max_iter=4, min_samples_leaf=5
        )
    ),
    "rising forest": lambda: _two_classes(
        hedgerow.RandomForestClassifier(12, monotonic_cst={"age": 1}, random_state=0)
    ),
    "rising sum": lambda: _numbers(hedgerow.TreeSumRegressor(8, monotonic_cst={"age": 1})),
    "bag of boosting": lambda: _classes(
        hedgerow.BaggingClassifier(
            hedgerow.GradientBoostingClassifier(max_iter=2, min_samples_leaf=5), 3, random_state=0
        )
    ),
    "oblique graph": lambda: _classes(
        hedgerow.TreeInTreeClassifier(max_splits=8, micro_trees="oblique")
    ),
    "classes of numbers": lambda: _fitted(
        hedgerow.DecisionTreeClassifier(max_depth=4), lambda y: np.where(y > 5, 1.0, -2.0)
    ),
    "truth": lambda: _fitted(hedgerow.DecisionTreeClassifier(max_depth=4), lambda y: y > 5),
    "several means": lambda: _several(hedgerow.RandomForestRegressor(12, random_state=0)),
    "one leaf": lambda: _numbers(hedgerow.DecisionTreeRegressor(min_samples_split=1000)),
    "empty sum": lambda: _numbers(hedgerow.CompressedRegressor(max_splits=0)),
}
# Of classes and labels.
SEVERAL = {
    "tree": lambda: _labels(hedgerow.DecisionTreeClassifier(max_depth=5)),
    "forest": lambda: _labels(hedgerow.RandomForestClassifier(12, random_state=0)),
    "hard votes": lambda: _labels(
        hedgerow.BaggingClassifier(
            hedgerow.DecisionTreeClassifier(max_depth=3), 12, voting="hard", random_state=0
        )
    ),
    "drawn features": lambda: _labels(
        hedgerow.BaggingClassifier(
            hedgerow.ExtraTreesClassifier(2, max_depth=3), 3, max_features=0.6, random_state=0
        )
    ),
}
NAMES = sorted(set(MODELS) - REFUSED) + sorted(FURTHER)


def _classes(model):
    X = table()
    return model.fit(X, targets(hedgerow.DecisionTreeClassifier(), X)), X


def _two_classes(model):
    X = table()
    return model.fit(X, targets(hedgerow.DecisionTreeClassifier(), X) == "keep"), X


def _numbers(model, least=0):
    return _fitted(model, lambda y: y + least)


def _fitted(model, targets_of):
    """A model of something that follows from the numbers."""
    X = table()
    return model.fit(X, targets_of(targets(hedgerow.DecisionTreeRegressor(), X))), X


def _labels(model):
    X = table()
    first = targets(hedgerow.DecisionTreeClassifier(), X)
    return model.fit(X, np.column_stack([first, np.where(first == "keep", "b", "a")])), X


def _several(model):
    return _fitted(model, lambda y: np.column_stack([y, -y, y**2]))


@cache
def example(name):
    """A fitted model and its training table."""
    return FURTHER[name]() if name in FURTHER else fitted(name)


WORDS = ["'; alert(1); //", '"', "`${1}`", "a\nb", "nul\0", "\u2028", "</script>", "class", "größe",
         "__proto__", "constructor", "", "0", "\\", "select"]  # fmt: skip


@cache
def hostile_model():
    """Names, categories and classes out of what ends strings and comments."""
    places = np.arange(len(WORDS) * 6) % len(WORDS)
    words = np.array(WORDS, dtype=object)
    X = pd.DataFrame({word: pd.Categorical(words[(places + 1) % len(WORDS)]) for word in WORDS[:3]})
    for word in WORDS[3:]:
        X[word] = np.arange(len(X)) * 7 % 11 + 0.5
    model = hedgerow.DecisionTreeClassifier(max_depth=8)
    return model.fit(X, words[places].astype(str))


@cache
def streets():
    """A tree on a feature of ten thousand categories."""
    rows = np.arange(20_000)
    X = pd.DataFrame({"place": pd.Categorical([f"street {i % 10_000}" for i in rows])})
    return hedgerow.DecisionTreeClassifier().fit(X, rows * 7 % 10_000 % 3)


__all__ = ["FURTHER", "NAMES", "REFUSED", "SEVERAL", "example", "hostile_model", "small", "streets"]
