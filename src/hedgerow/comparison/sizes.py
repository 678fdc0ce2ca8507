"""How large and how fast a fitted model is, by one ruler for every library.

Splits are the tests of all trees. Bytes are those of the form that predicts. hedgerow's models tell
them (``nbytes_``): 16 for each packed node, leaves among them, and 8 for each value of leaves that
hold several. Other libraries' trees are counted as the same nodes, so that what differs is the
model and not the way it is written to a file; an oblivious tree of depth d is a tree with 2^d - 1
splits, a term of an additive model the tree that reads it. A model that has no trees, or does not
show them, is as large as its pickle and has None splits.
"""

import pickle
import re
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from hedgerow._tree_structure import TreeStructure
from hedgerow.comparison.peers import Peer
from hedgerow.export import ExportError, read, size
from hedgerow.storage import save

NODE_BYTES = 16
VALUE_BYTES = 8
MOST_WRITTEN = 4_000_000  # bytes of a model that is written only to see how large its file is


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
    trees = _count_nodes(model)
    return None if trees is None else trees.n_splits


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
    trees = _count_nodes(model)
    if trees is None:
        return len(pickle.dumps(model))
    values = VALUE_BYTES * trees.n_values if trees.n_values > 1 else 0
    return NODE_BYTES * (trees.n_splits + trees.n_leaves) + values * trees.n_leaves


def count_file_bytes(model: Any) -> int | None:
    """Bytes of a fitted model's file: hedgerow's own format, or another library's pickle.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    n_bytes : int or None
        None where the model takes more than `MOST_WRITTEN`, or cannot be written.
    """
    if count_bytes(model) > MOST_WRITTEN:
        return None
    model = bare(model)
    if not hasattr(model, "nbytes_"):
        trained = getattr(model, "model_", None)  # YDF's, which has a form of its own
        serialize = getattr(trained, "serialize", lambda: pickle.dumps(model))
        return len(serialize())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.hedgerow"
        try:
            save(model, path)
        except TypeError:  # a bag of another library's models
            return None
        return path.stat().st_size


def count_flash_bytes(model: Any, X: Any) -> int | None:
    """Bytes of a fitted model of hedgerow in the flash of a Cortex-M0, with 8-bit leaves.

    Parameters
    ----------
    model : estimator
    X : table
        Its rows tell whether all numbers are whole.

    Returns
    -------
    n_bytes : int or None
        None where C cannot hold the model.
    """
    model = bare(model)
    try:
        program = read(model)
    except ExportError:
        return None
    matrix = model.schema_.encode(model, X)
    numbers = matrix[:, [feature.categories is None for feature in program.features]]
    known = numbers[~np.isnan(numbers)]
    is_whole = bool((known == np.rint(known)).all() and np.abs(known).max(initial=0) < 2**31)
    for leaves in ("uint8", "float", "double"):
        for kind in ("int32", "float") if is_whole else ("float",):
            with suppress(ExportError):
                return size(program, "c", target="cortex-m0", numbers=kind, leaves=leaves)
    return None


class _Nodes(NamedTuple):
    """Of all trees of a model, and the values that a leaf holds."""

    n_splits: int
    n_leaves: int
    n_values: int = 1


def _count_nodes(model: Any) -> _Nodes | None:
    """The nodes of another library's model, None where it does not show them."""
    if isinstance(model, DummyClassifier | DummyRegressor):  # a constant is a leaf
        return _Nodes(0, 1, np.size(getattr(model, "classes_", 0)))
    trees = _sklearn_trees(model)
    if trees:
        n_leaves = sum(int(tree.n_leaves) for tree in trees)
        n_nodes = sum(int(tree.node_count) for tree in trees)
        return _Nodes(n_nodes - n_leaves, n_leaves, trees[0].value[0].size)
    if hasattr(model, "_predictors"):  # scikit-learn's boosting
        return _nodes([tree.get_n_leaf_nodes() for step in model._predictors for tree in step])
    if hasattr(model, "booster_"):  # LightGBM
        return _nodes(
            map(int, re.findall(r"^num_leaves=(\d+)", model.booster_.model_to_string(), re.M))
        )
    if hasattr(model, "get_booster"):  # XGBoost
        return _nodes(tree.count("leaf=") for tree in model.get_booster().get_dump())
    if hasattr(model, "get_tree_leaf_counts"):  # CatBoost
        counts = model.get_tree_leaf_counts()
        return _nodes(map(int, counts), len(model.get_leaf_values()) // max(1, int(counts.sum())))
    if hasattr(model, "term_scores_"):  # EBM
        return _count_terms(model)
    if hasattr(model, "complexity_") and hasattr(model, "trees_"):  # FIGS
        n_splits = int(model.complexity_)
        n_values = 1 if model.n_outputs is None else int(model.n_outputs)
        return _Nodes(n_splits, n_splits + len(model.trees_), n_values)
    if hasattr(model, "model_") and hasattr(model.model_, "num_trees"):  # YDF
        n_splits = (model.model_.num_nodes() - model.model_.num_trees()) // 2
        return _Nodes(n_splits, n_splits + model.model_.num_trees())
    return None


def _nodes(leaves: Iterable[int], n_values: int = 1) -> _Nodes:
    """Nodes of binary trees by the leaves of each."""
    counts = list(leaves)
    return _Nodes(sum(counts) - len(counts), sum(counts), n_values)


def _count_terms(model: Any) -> _Nodes:
    """Trees that read the terms of an additive model."""
    leaves = []
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        # The first and the last bin of each feature are for missing and for unknown values.
        known = np.asarray(scores)[(slice(1, -1),) * len(features)]
        if len(features) > 1:  # a cell for each pair of bins
            leaves.append(int(np.prod(known.shape[: len(features)])))
        else:
            steps = np.diff(known.reshape(len(known), -1), axis=0)
            leaves.append(1 + int(np.count_nonzero(np.any(steps != 0, axis=1))))
    return _nodes(leaves, np.size(model.intercept_))


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
    return max(_depths(model), default=None)


def _depths(model: Any) -> Iterable[int]:
    """Depths of another library's trees; none where it does not show them."""
    if isinstance(model, DummyClassifier | DummyRegressor):
        return [0]
    trees = _sklearn_trees(model)
    if trees:
        return [int(tree.max_depth) for tree in trees]
    if hasattr(model, "_predictors"):  # scikit-learn's boosting
        return [tree.get_max_depth() for step in model._predictors for tree in step]
    if hasattr(model, "booster_"):  # LightGBM
        text = model.booster_.model_to_string()
        pairs = re.findall(r"^left_child=(.*)\nright_child=(.*)$", text, re.M)
        return [0, *(_depth_below(*([*map(int, side.split())] for side in pair)) for pair in pairs)]
    if hasattr(model, "get_booster"):  # XGBoost: a tab for each level
        dumps = model.get_booster().get_dump()
        return [max(line.count("\t") for line in tree.splitlines()) for tree in dumps]
    if hasattr(model, "get_tree_leaf_counts"):  # CatBoost's are oblivious by default
        return [int(count).bit_length() - 1 for count in model.get_tree_leaf_counts()]
    return []


def _depth_below(left: list[int], right: list[int]) -> int:
    """Depth of a tree by the children of its splits, which come after them; leaves are negative."""
    depths = [1] * len(left)
    for node, children in enumerate(zip(left, right, strict=True)):
        for child in children:
            if child > node:
                depths[child] = depths[node] + 1
    return max(depths, default=0)


def _sklearn_trees(model: Any) -> list:
    members = np.ravel(getattr(model, "estimators_", [model]))
    trees = [getattr(member, "tree_", None) for member in members]
    is_theirs = [  # hedgerow's trees have the same names
        hasattr(tree, "node_count") and not isinstance(tree, TreeStructure) for tree in trees
    ]
    return trees if all(is_theirs) else []
