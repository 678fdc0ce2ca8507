from hedgerow._version import __version__ as __version__
from hedgerow.additive import (
    GradientBoostingClassifier as GradientBoostingClassifier,
    GradientBoostingRegressor as GradientBoostingRegressor,
    TreeSumClassifier as TreeSumClassifier,
    TreeSumRegressor as TreeSumRegressor,
)
from hedgerow.batches import (
    Dataset as Dataset,
)
from hedgerow.cascade import (
    CascadeForestClassifier as CascadeForestClassifier,
    CascadeForestRegressor as CascadeForestRegressor,
    MultiGrainedScanner as MultiGrainedScanner,
    TreeNetworkClassifier as TreeNetworkClassifier,
    TreeNetworkRegressor as TreeNetworkRegressor,
)
from hedgerow.comparison import (
    compare as compare,
    fit_within as fit_within,
)
from hedgerow.compression import (
    CompressedClassifier as CompressedClassifier,
    CompressedRegressor as CompressedRegressor,
    compress as compress,
)
from hedgerow.embedding import (
    LeafMeansEmbedding as LeafMeansEmbedding,
    TreeEmbeddingClassifier as TreeEmbeddingClassifier,
    TreeEmbeddingRegressor as TreeEmbeddingRegressor,
)
from hedgerow.forest import (
    AdaBoostClassifier as AdaBoostClassifier,
    AdaBoostRegressor as AdaBoostRegressor,
    BaggingClassifier as BaggingClassifier,
    BaggingRegressor as BaggingRegressor,
    ExtraTreesClassifier as ExtraTreesClassifier,
    ExtraTreesRegressor as ExtraTreesRegressor,
    HeterogeneousForestClassifier as HeterogeneousForestClassifier,
    HeterogeneousForestRegressor as HeterogeneousForestRegressor,
    RandomForestClassifier as RandomForestClassifier,
    RandomForestRegressor as RandomForestRegressor,
    RandomTreesClassifier as RandomTreesClassifier,
    RandomTreesRegressor as RandomTreesRegressor,
)
from hedgerow.graph import (
    NaiveDecisionGraphClassifier as NaiveDecisionGraphClassifier,
    TreeInTreeClassifier as TreeInTreeClassifier,
    TreeInTreeRegressor as TreeInTreeRegressor,
)
from hedgerow.storage import (
    load as load,
    save as save,
)
from hedgerow.tree import (
    CentredTreeNetworkRegressor as CentredTreeNetworkRegressor,
    CentredTreeRegressor as CentredTreeRegressor,
    CrossValidatedTreeClassifier as CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor as CrossValidatedTreeRegressor,
    DecisionTreeClassifier as DecisionTreeClassifier,
    DecisionTreeRegressor as DecisionTreeRegressor,
    MeanMarginTreeClassifier as MeanMarginTreeClassifier,
    MeanMarginTreeRegressor as MeanMarginTreeRegressor,
    TAOTreeClassifier as TAOTreeClassifier,
    TAOTreeRegressor as TAOTreeRegressor,
)
