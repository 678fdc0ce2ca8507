"""Cascades: models whose later layers see what the earlier ones said."""

from hedgerow.cascade.cascade_forest import CascadeForestClassifier, CascadeForestRegressor
from hedgerow.cascade.scanning import MultiGrainedScanner
from hedgerow.cascade.tree_network import TreeNetworkClassifier, TreeNetworkRegressor

__all__ = [
    "CascadeForestClassifier",
    "CascadeForestRegressor",
    "MultiGrainedScanner",
    "TreeNetworkClassifier",
    "TreeNetworkRegressor",
]
