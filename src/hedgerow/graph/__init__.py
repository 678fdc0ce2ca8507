"""Decision graphs: models whose nodes may have several parents."""

from hedgerow.graph.tree_in_tree import TreeInTreeClassifier, TreeInTreeRegressor

__all__ = ["TreeInTreeClassifier", "TreeInTreeRegressor"]
