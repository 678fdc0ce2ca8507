"""Forests, bags and boosting: many members on one binned data set."""

from hedgerow.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
]
