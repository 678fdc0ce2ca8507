"""scikit-learn's texts and pictures of trees, for our trees: the same functions, the same output.

scikit-learn's own functions read the ``tree_`` of a model. What they have no words for, tests on
categories or on several features and nodes with several parents, is refused here;
:mod:`hedgerow.inspect` has texts and pictures of its own for every model.
"""

from collections.abc import Callable
from typing import Any

from sklearn import tree
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._graph_model import AXIS, LEAF, GraphModel, has_shared_nodes

_READ = (
    "tree_", "classes_", "n_classes_", "n_outputs_", "n_features_in_", "feature_names_in_",
)  # fmt: skip


def export_text(decision_tree: Any, **settings: Any) -> str:
    """A tree as text; see ``sklearn.tree.export_text`` for the parameters.

    Examples
    --------
    >>> from hedgerow.tree import DecisionTreeClassifier, export_text
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    >>> print(export_text(tree, feature_names=["size"]))
    |--- size <= 1.50
    |   |--- class: a
    |--- size >  1.50
    |   |--- class: b
    <BLANKLINE>
    """
    return _scikit_learns(tree.export_text, decision_tree, settings)


def export_graphviz(decision_tree: Any, out_file: Any = None, **settings: Any) -> str | None:
    """A tree for Graphviz; see ``sklearn.tree.export_graphviz`` for the parameters.

    Examples
    --------
    >>> from hedgerow.tree import DecisionTreeClassifier, export_graphviz
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    >>> export_graphviz(tree, class_names=True).splitlines()[0]
    'digraph Tree {'
    """
    return _scikit_learns(tree.export_graphviz, decision_tree, {"out_file": out_file} | settings)


def plot_tree(decision_tree: Any, **settings: Any) -> list:
    """A tree drawn with matplotlib; see ``sklearn.tree.plot_tree`` for the parameters.

    Returns
    -------
    annotations : list of matplotlib annotations
    """
    return _scikit_learns(tree.plot_tree, decision_tree, settings)


def _scikit_learns(function: Callable, model: Any, settings: dict[str, Any]) -> Any:
    """What a function of scikit-learn's says of a tree of ours, which stands in for one of its."""
    if not isinstance(model, GraphModel):
        return function(model, **settings)
    check_is_fitted(model)
    graph = model.graph_
    if not set(graph.kind) <= {LEAF, AXIS} or has_shared_nodes(graph):
        raise ValueError(
            f"scikit-learn's {function.__name__} knows thresholds of single features alone, and "
            f"this {type(model).__name__} has other tests or shared nodes: take "
            "hedgerow.inspect.export_text, plot or export_dot."
        )
    kind = tree.DecisionTreeClassifier if is_classifier(model) else tree.DecisionTreeRegressor
    stand_in = kind(criterion=getattr(model, "criterion", kind().criterion))
    for name in _READ:
        if hasattr(model, name):
            setattr(stand_in, name, getattr(model, name))
    return function(stand_in, **settings)
