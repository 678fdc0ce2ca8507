"""Single trees."""

from hedgerow.tree.alternating import TAOTreeClassifier, TAOTreeRegressor
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.centred import CentredTreeNetworkRegressor, CentredTreeRegressor
from hedgerow.tree.cross_validated import CrossValidatedTreeClassifier, CrossValidatedTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

__all__ = [
    "CentredTreeNetworkRegressor",
    "CentredTreeRegressor",
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
    "TAOTreeClassifier",
    "TAOTreeRegressor",
]
