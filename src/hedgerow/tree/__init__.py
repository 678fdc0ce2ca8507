"""Single trees."""

from hedgerow.tree.alternating import TAOTreeClassifier, TAOTreeRegressor
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.centred import CentredTreeNetworkRegressor, CentredTreeRegressor
from hedgerow.tree.cross_validated import CrossValidatedTreeClassifier, CrossValidatedTreeRegressor
from hedgerow.tree.export import export_graphviz, export_text, plot_tree
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
    "export_graphviz",
    "export_text",
    "plot_tree",
]
