"""Sums of graphs: few trees whose leaves are fitted together, and gradient boosting."""

from hedgerow.additive.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from hedgerow.additive.tree_sum import TreeSumClassifier, TreeSumRegressor

__all__ = [
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "TreeSumClassifier",
    "TreeSumRegressor",
]
