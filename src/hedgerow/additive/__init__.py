"""Sums of graphs: few trees whose leaves are fitted together, and gradient boosting."""

from hedgerow.additive.tree_sum import TreeSumClassifier, TreeSumRegressor

__all__ = ["TreeSumClassifier", "TreeSumRegressor"]
