"""Alternating optimisation (TAO) of a model that is there already, tree or graph.

See :mod:`hedgerow.tree.alternating` for the method and :class:`TAOTreeClassifier` for a tree that
is grown and tuned in one go.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgerow import _parameters as parameters
from hedgerow._directions import directions_of
from hedgerow._graph_model import GraphModel, shared_gains
from hedgerow._learner import Grown
from hedgerow._table import Table
from hedgerow._targets import check_sample_weight, check_targets_match, read_targets
from hedgerow.tree.alternating import tune


def _table_of(model: Any, X: Any, y: Any, sample_weight: Any) -> Table:
    """Rows as the model reads them; classes by their place among the model's."""
    matrix, classes = model.schema_.encode(model, X), getattr(model, "classes_", None)
    if classes is None:
        targets, _ = read_targets(column_or_1d(y), has_classes=False)
    else:
        labels = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y")).tolist()
        place = {label: code for code, label in enumerate(classes.tolist())}
        unknown = [label for label in labels if label not in place]
        if unknown:
            raise ValueError(f"y has the class {unknown[0]!r}, which the model does not know.")
        targets = np.array([place[label] for label in labels], dtype=np.int32)
    check_targets_match(matrix, targets)
    weights = check_sample_weight(sample_weight, len(targets))
    return Table.encoded(matrix, model.schema_, targets, classes, weights)


def fine_tune(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    max_passes: int = 20,
    min_samples_leaf: int = 1,
    n_jobs: int | None = None,
) -> Any:
    """Optimise the tests of a fitted tree or decision graph one after the other.

    The error on the given rows never rises, and a ``monotonic_cst`` of the model stays kept. Tests
    that send all rows one way are taken out, so the graph may become smaller; it never grows.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of hedgerow that is one decision graph; it is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
        With the features that the model was fitted on.
    y : array-like of shape (n_samples,)
        Classes must be known to the model.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of weight zero are left out. The model's ``class_weight`` counts as well.
    max_passes : int, default=20
        Most passes over the graph; it ends earlier when no test changes.
    min_samples_leaf : int, default=1
        Rows that a new test must leave on both sides.
    n_jobs : int, default=None
        Threads. The result is the same for any number.

    Returns
    -------
    tuned : estimator
        A copy of the model with the tuned graph.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.graph import fine_tune
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=5).fit(X, y)
    >>> bool(fine_tune(tree, X, y).score(X, y) > tree.score(X, y))
    True
    """
    if not isinstance(model, GraphModel):
        raise TypeError(
            "'model' must be a tree or graph of hedgerow, with one decision graph, got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    parameters.check_int("max_passes", max_passes, low=0)
    parameters.check_int("min_samples_leaf", min_samples_leaf, low=1)
    if model.n_outputs_ > 1:
        raise ValueError(f"'model' has {model.n_outputs_} outputs; only one is supported so far.")
    table = _table_of(model, X, y, sample_weight)
    winner = getattr(model, "estimator_", model)  # of a contest: it has the class weights
    weights = table.weighed(getattr(winner, "class_weight", None))
    graph = tune(
        model.graph_,
        table,
        None,
        weights,
        max_passes=max_passes,
        min_samples_leaf=min_samples_leaf,
        max_bins=None,
        n_jobs=parameters.resolve_n_jobs(n_jobs),
        directions=directions_of(getattr(winner, "monotonic_cst", None), table),
    )
    scale = getattr(winner, "scale_", None)
    return model.with_graph(Grown(graph, shared_gains(graph, table, None, weights, scale)))
