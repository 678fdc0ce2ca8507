"""Decision tree embedding: the leaves of a few trees as anchor points of a two-layer model.

- ``leaf_means``: the transformer, from a table to its affinities with the leaf means;
- ``tree_embedding``: the embedding with a linear head, as a classifier and a regressor;
- ``layer``: the fitted first layer, which embeds encoded rows;
- ``growth``: from a table to that layer, with ``regions`` (growing the trees and cutting them) and
  ``numeric`` (a table as the numbers that leaf means are taken of);
- ``second_layer``: from the first layer to the head on it, with ``heads`` (the linear heads),
  ``penalised`` (those with a penalty, chosen by rows left out) and ``blending`` (their sum);
- ``network``: both fitted layers, which predict;
- ``diagnostics``: the quantities of the paper's theory, from data;
- ``torch_module``: a fitted model as a PyTorch module.
"""

from hedgerow.embedding.diagnostics import Diagnostics, diagnose
from hedgerow.embedding.layer import AnchorLayer
from hedgerow.embedding.leaf_means import LeafMeansEmbedding
from hedgerow.embedding.tree_embedding import TreeEmbeddingClassifier, TreeEmbeddingRegressor

__all__ = [
    "AnchorLayer",
    "Diagnostics",
    "LeafMeansEmbedding",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
    "diagnose",
]
