"""Tree-structured models that stay small, fast and readable."""

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
    HeterogeneousForestClassifier,
    HeterogeneousForestRegressor,
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
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "HeterogeneousForestClassifier",
    "HeterogeneousForestRegressor",
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
