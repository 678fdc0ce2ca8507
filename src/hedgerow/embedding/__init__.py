"""Decision tree embedding: the leaves of a few trees as anchor points of a two-layer model.

- ``leaf_means``: the transformer, from a table to its affinities with the leaf means;
- ``tree_embedding``: the embedding with a linear head, as a classifier and a regressor;
- ``heads``: the linear heads;
- ``penalised``: those with a penalty, chosen by rows left out;
- ``blending``: the sum of several heads;
- ``numeric``: a table as the numbers that leaf means are taken of;
- ``regions``: growing the trees and cutting them into regions;
- ``diagnostics``: the quantities of the paper's theory, from data;
- ``torch_module``: a fitted model as a PyTorch module.
"""

from hedgerow.embedding.diagnostics import Diagnostics, diagnose
from hedgerow.embedding.leaf_means import LeafMeansEmbedding
from hedgerow.embedding.tree_embedding import TreeEmbeddingClassifier, TreeEmbeddingRegressor

__all__ = [
    "Diagnostics",
    "LeafMeansEmbedding",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
    "diagnose",
]
