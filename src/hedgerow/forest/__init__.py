"""Forests, bags and boosting: many members on one binned data set."""

from hedgerow.forest.bagging import BaggingClassifier, BaggingRegressor
from hedgerow.forest.boosting import AdaBoostClassifier, AdaBoostRegressor
from hedgerow.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.forest.heterogeneous import (
    HeterogeneousForestClassifier,
    HeterogeneousForestRegressor,
)
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "HeterogeneousForestClassifier",
    "HeterogeneousForestRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
]
