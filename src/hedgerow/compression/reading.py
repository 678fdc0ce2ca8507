"""Fitted tree ensembles, read through their public interfaces, as sums of hedgerow's graphs.

`read_sum` finds the reader of a model: hedgerow's and scikit-learn's are here, the boosters' in
:mod:`hedgerow.compression.boosters`. What was read is held against the model's own predictions
before anything is made of it; what cannot be read, or reads differently, is `UnreadableError`.
"""

from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph, GraphSum
from hedgerow._graph_columns import graph_of_columns
from hedgerow._graph_model import GraphModel
from hedgerow._table import Schema
from hedgerow.additive.sum_model import SumModel
from hedgerow.compression import boosters
from hedgerow.compression.sums import ReadSum, UnreadableError, as_float32_reads, scaled
from hedgerow.compression.teacher import Teacher
from hedgerow.forest.ensemble import GraphEnsemble

EQUAL = 1e-5  # of the largest prediction: boosters add up in float32


def read_sum(teacher: Teacher, schema: Schema, matrix: np.ndarray, values: np.ndarray) -> ReadSum:
    """The teacher as a sum of graphs, proved on rows.

    Parameters
    ----------
    teacher : Teacher
    schema : Schema
        Of the rows: categories of the teacher are looked up in it.
    matrix : ndarray of shape (n_samples, n_features)
        The rows as the schema encodes them.
    values : ndarray of shape (n_samples, n_values)
        The teacher's own predictions for them.

    Raises
    ------
    UnreadableError
    """
    model = teacher.model
    if isinstance(model, SumModel | GraphModel | GraphEnsemble):
        read = _read_hedgerow(model, schema)
    elif hasattr(model, "booster_"):
        read = boosters.read_lightgbm(model, schema)
    elif hasattr(model, "get_booster"):
        read = boosters.read_xgboost(model, schema)
    elif hasattr(model, "get_tree_leaf_counts"):
        read = boosters.read_catboost(model, schema)
    elif type(model).__module__.startswith("sklearn."):
        read = _read_sklearn(model, schema, matrix, values)
    else:
        raise UnreadableError(f"there is no reader of {type(model).__name__}")
    found = read.packed(schema.n_features).predict(matrix)
    scale = max(1.0, float(np.abs(values).max(initial=0)))
    if found.shape != values.shape or not np.abs(found - values).max(initial=0) <= EQUAL * scale:
        raise UnreadableError(f"{type(model).__name__} predicts otherwise than its trees as read")
    return read


def _read_hedgerow(model: Any, schema: Schema) -> ReadSum:
    if not model.schema_.is_like(schema):
        raise UnreadableError(f"{type(model).__name__} was fitted on a table of other columns")
    if isinstance(model, SumModel):
        return ReadSum(model.graphs_, model.intercept_, model.link)
    members = [model] if isinstance(model, GraphModel) else model.estimators_
    graphs: list[Any] = [getattr(member, "graph_", None) for member in members]
    if any(graph is None or graph.n_features != schema.n_features for graph in graphs):
        raise UnreadableError(f"members of {type(model).__name__} are no graphs of the whole table")
    return _mean(graphs)


def _mean(graphs: list[DecisionGraph]) -> ReadSum:
    graphs = [scaled(graph, 1 / len(graphs)) for graph in graphs]
    return ReadSum(graphs, np.zeros(graphs[0].n_outputs), "identity")


def _read_sklearn(model: Any, schema: Schema, matrix: np.ndarray, values: np.ndarray) -> ReadSum:
    if schema.categories:
        raise UnreadableError("scikit-learn's trees have no categories")
    if hasattr(model, "tree_"):
        return _mean([_sklearn_graph(model)])
    members = getattr(model, "estimators_", None)
    name = type(model).__name__
    if not hasattr(model, "max_leaf_nodes") or members is None:  # bags, votes, pipelines, ...
        raise UnreadableError(f"there is no reader of scikit-learn's {name}")
    if not name.startswith("GradientBoosting"):
        return _mean([_sklearn_graph(member) for member in members])
    rate = model.learning_rate * (2 if getattr(model, "loss", "") == "exponential" else 1)
    graphs = [scaled(_sklearn_graph(tree), rate) for step in members for tree in step]
    # What boosting began with is public in its predictions alone: a row less its trees.
    n_scores = members.shape[1]
    link = "identity"
    if hasattr(model, "classes_"):
        link = "logit" if n_scores == 1 else "softmax"
    row = [int(np.abs(values - values.mean(axis=0)).sum(axis=1).argmin())]  # not a certain one
    said = values[row[0]] if link == "identity" else np.log(values[row[0]])
    scores = said[1:] - said[:1] if link == "logit" else said
    trees = GraphSum(schema.n_features, graphs, np.zeros(n_scores), "identity").scores(matrix[row])
    return ReadSum(graphs, scores - trees[0], link)


def _sklearn_graph(model: Any) -> DecisionGraph:
    tree = model.tree_
    value = tree.value[:, 0, :]
    if tree.n_outputs != 1:
        raise UnreadableError("trees of several outputs are not read")
    if hasattr(model, "classes_"):
        value = value / value.sum(axis=1, keepdims=True)
    return graph_of_columns(
        tree.n_features,
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=as_float32_reads(tree.threshold),
        missing_left=tree.missing_go_to_left,
        n_samples=tree.n_node_samples,
        weight=tree.weighted_n_node_samples,
        impurity=tree.impurity,
        value=value,
    )
