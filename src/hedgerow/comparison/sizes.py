"""How large and how fast a fitted model is, in the same words for every library.

Splits are all tests of all trees. Bytes are those of the form that predicts:

- hedgerow's models: ``nbytes_``, the packed nodes and what belongs to them;
- scikit-learn's trees and forests: the arrays of their nodes and values;
- LightGBM, XGBoost and YDF: the model as the library itself writes it;
- any other: the pickled model.

A library that does not tell its number of splits has None.
"""

import pickle
from time import perf_counter
from typing import Any

import numpy as np

from hedgerow._columns import take_rows
from hedgerow.comparison.peers import Peer

ROWS_TIMED = 1000  # at least so many, so that a call's fixed cost does not count for much
TIMINGS = 3


def bare(model: Any) -> Any:
    """The model without what a comparison wrapped around it."""
    while hasattr(model, "chosen_") or isinstance(model, Peer):
        model = model.chosen_ if hasattr(model, "chosen_") else model.estimator_
    return model


def count_splits(model: Any) -> int | None:
    """Number of tests in all trees of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    n_splits : int or None
    """
    model = bare(model)
    if hasattr(model, "n_splits_"):
        return int(model.n_splits_)
    trees = _sklearn_trees(model)
    if trees:
        return int(sum(tree.node_count - tree.n_leaves for tree in trees))
    if hasattr(model, "_predictors"):  # scikit-learn's boosting
        return int(sum(t.get_n_leaf_nodes() - 1 for step in model._predictors for t in step))
    if hasattr(model, "booster_"):  # LightGBM
        return sum(tree["num_leaves"] - 1 for tree in model.booster_.dump_model()["tree_info"])
    if hasattr(model, "get_booster"):  # XGBoost
        return sum(tree.count("yes=") for tree in model.get_booster().get_dump())
    if hasattr(model, "get_tree_leaf_counts"):  # CatBoost
        return int(np.sum(model.get_tree_leaf_counts() - 1))
    if hasattr(model, "model_"):  # YDF
        return (model.model_.num_nodes() - model.model_.num_trees()) // 2
    return None


def count_bytes(model: Any) -> int:
    """Bytes of a fitted model in the form that predicts.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    n_bytes : int
    """
    model = bare(model)
    if hasattr(model, "nbytes_"):
        return int(model.nbytes_)
    trees = _sklearn_trees(model)
    if trees:
        states = [tree.__getstate__() for tree in trees]
        return sum(state["nodes"].nbytes + state["values"].nbytes for state in states)
    if hasattr(model, "booster_"):
        return len(model.booster_.model_to_string())
    if hasattr(model, "get_booster"):
        return len(model.get_booster().save_raw())
    if hasattr(model, "model_") and hasattr(model.model_, "serialize"):
        return len(model.model_.serialize())
    return len(pickle.dumps(model))


def find_depth(model: Any) -> int | None:
    """Depth of a fitted model's deepest tree, None where it does not tell.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    depth : int or None
    """
    model = bare(model)
    if hasattr(model, "get_depth"):
        return int(model.get_depth())
    trees = _sklearn_trees(model)
    return int(max(tree.max_depth for tree in trees)) if trees else None


def time_row(model: Any, X: Any) -> float:
    """Microseconds per row of predicting a thousand rows or more at once; the best of three calls.

    Parameters
    ----------
    model : estimator
    X : array or data frame
        Rows to predict, repeated where they are too few.

    Returns
    -------
    microseconds : float
    """
    n_rows = X.shape[0]
    if n_rows < ROWS_TIMED:
        X = take_rows(X, np.resize(np.arange(n_rows), ROWS_TIMED))
    best = np.inf
    for _ in range(TIMINGS):
        began = perf_counter()
        model.predict(X)
        best = min(best, perf_counter() - began)
    return best / X.shape[0] * 1e6


def _sklearn_trees(model: Any) -> list:
    members = np.ravel(getattr(model, "estimators_", [model]))
    trees = [getattr(member, "tree_", None) for member in members]
    # hedgerow's graphs have the names of scikit-learn's trees, but not their arrays.
    is_theirs = [hasattr(tree, "node_count") and not hasattr(tree, "arrays") for tree in trees]
    return trees if all(is_theirs) else []
