"""Tree-structured models that stay small, fast and readable."""

from hedgerow.cascade import TreeNetworkClassifier, TreeNetworkRegressor
from hedgerow.compare import compare, fit_within
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
from hedgerow.storage import load, save
from hedgerow.tree import (
    CentredTreeNetworkRegressor,
    CentredTreeRegressor,
    CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
)

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CentredTreeNetworkRegressor",
    "CentredTreeRegressor",
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
    "TAOTreeClassifier",
    "TAOTreeRegressor",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
    "TreeNetworkClassifier",
    "TreeNetworkRegressor",
    "compare",
    "fit_within",
    "load",
    "save",
]
