"""Tree-structured models that stay small, fast and readable."""

from hedgerow.cascade import CascadeForestClassifier, CascadeForestRegressor
from hedgerow.embedding import (
    LeafMeansEmbedding,
    TreeEmbeddingClassifier,
    TreeEmbeddingRegressor,
)
from hedgerow.forest import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
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
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CascadeForestClassifier",
    "CascadeForestRegressor",
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "LeafMeansEmbedding",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
]
