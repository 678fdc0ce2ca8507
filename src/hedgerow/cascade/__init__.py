"""Cascades: models whose later layers see what the earlier ones said."""

from hedgerow.cascade.tree_network import TreeNetworkClassifier, TreeNetworkRegressor

__all__ = ["TreeNetworkClassifier", "TreeNetworkRegressor"]
