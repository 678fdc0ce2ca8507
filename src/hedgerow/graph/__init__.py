"""Decision graphs: models whose nodes may have several parents."""

from hedgerow.graph.naive import NaiveDecisionGraphClassifier
from hedgerow.graph.tree_in_tree import TreeInTreeClassifier, TreeInTreeRegressor
from hedgerow.graph.tuning import fine_tune

__all__ = [
    "NaiveDecisionGraphClassifier",
    "TreeInTreeClassifier",
    "TreeInTreeRegressor",
    "fine_tune",
]
