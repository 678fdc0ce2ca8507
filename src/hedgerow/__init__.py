"""Tree-structured models that stay small, fast and readable."""

from hedgerow.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesClassifier,
    RandomTreesRegressor,
)
from hedgerow.tree import (
    CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
)

__version__ = "0.1.0"

__all__ = [
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
]
