"""Single trees."""

from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.cross_validated import CrossValidatedTreeClassifier, CrossValidatedTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

__all__ = [
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
]
