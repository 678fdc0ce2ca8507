"""Tree-structured models that stay small, fast and readable."""

from hedgerow._version import __version__ as __version__
from hedgerow.additive import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    TreeSumClassifier,
    TreeSumRegressor,
)
from hedgerow.batches import Dataset
from hedgerow.cascade import (
    CascadeForestClassifier,
    CascadeForestRegressor,
    MultiGrainedScanner,
    TreeNetworkClassifier,
    TreeNetworkRegressor,
)
from hedgerow.comparison import compare, fit_within
from hedgerow.compression import CompressedClassifier, CompressedRegressor, compress
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
from hedgerow.graph import (
    NaiveDecisionGraphClassifier,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
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

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CascadeForestClassifier",
    "CascadeForestRegressor",
    "CentredTreeNetworkRegressor",
    "CentredTreeRegressor",
    "CompressedClassifier",
    "CompressedRegressor",
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "Dataset",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HeterogeneousForestClassifier",
    "HeterogeneousForestRegressor",
    "LeafMeansEmbedding",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
    "MultiGrainedScanner",
    "NaiveDecisionGraphClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
    "TAOTreeClassifier",
    "TAOTreeRegressor",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
    "TreeInTreeClassifier",
    "TreeInTreeRegressor",
    "TreeNetworkClassifier",
    "TreeNetworkRegressor",
    "TreeSumClassifier",
    "TreeSumRegressor",
    "compare",
    "compress",
    "fit_within",
    "load",
    "save",
]
