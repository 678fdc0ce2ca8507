"""Decision graphs: models whose nodes may have several parents."""

from hedgerow.graph.fine_tune import fine_tune
from hedgerow.graph.naive import NaiveDecisionGraphClassifier
from hedgerow.graph.tree_in_tree import TreeInTreeClassifier, TreeInTreeRegressor

__all__ = [
    "NaiveDecisionGraphClassifier",
    "TreeInTreeClassifier",
    "TreeInTreeRegressor",
    "fine_tune",
]
