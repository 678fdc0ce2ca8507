"""The parameters that say how a tree is grown, shared by trees and forests."""

from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import GrowParams

# scikit-learn's name of a criterion -> the engine's
CLASSIFICATION_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}
REGRESSION_CRITERIA = {"squared_error": "squared_error", "poisson": "poisson"}
_FUTURE_CRITERIA = ("absolute_error", "friedman_mse")

GROWTH_PARAMETERS = """\
    max_depth : int, default=None
        Most splits on a path from the root to a leaf.
    min_samples_split : int or float, default=2
        A node with fewer rows (or a smaller share of all rows) is not split.
    min_samples_leaf : int or float, default=1
        A split must leave this many rows (or this share) on both sides.
    min_weight_fraction_leaf : float, default=0.0
        A split must leave this share of the total weight on both sides.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Features looked at for each split, drawn anew for each node; None means all.
    random_state : int, RandomState instance or None, default=None
        For ``splitter="random"`` and ``max_features``. The default tree needs no chance.
    max_leaf_nodes : int, default=None
        Grow best-first until this many leaves.
    min_impurity_decrease : float, default=0.0
        A split must decrease the impurity by this much, weighted by the node's share of the
        rows. At 0 splits without gain are allowed, as in scikit-learn: XOR needs them.
"""

ENGINE_PARAMETERS = """\
    ccp_alpha : non-negative float, default=0.0
        Price of a leaf in minimal cost-complexity pruning.
    monotonic_cst : None
        Not supported yet.
    max_bins : int, default=255
        Features with more distinct values are cut into this many quantile bins; up to 255 bins a
        cell takes one byte. None keeps every distinct value (up to 65,535; beyond, bins).
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
"""

MOST = int(np.iinfo(np.int32).max)  # no tree has more rows, levels or leaves than this


def check_growth(model: Any, criteria: dict[str, str]) -> None:
    """Check the growth parameters of an estimator that do not depend on the data."""
    if criteria is REGRESSION_CRITERIA and model.criterion in _FUTURE_CRITERIA:
        raise NotImplementedError(
            f"'criterion' {model.criterion!r} is not supported yet; use one of "
            + ", ".join(repr(name) for name in criteria)
            + "."
        )
    parameters.check_option("criterion", model.criterion, criteria)
    parameters.check_int("max_depth", model.max_depth, low=1, optional=True)
    parameters.check_int("max_leaf_nodes", model.max_leaf_nodes, low=2, optional=True)
    parameters.check_real(
        "min_weight_fraction_leaf", model.min_weight_fraction_leaf, low=0, high=0.5
    )
    parameters.check_real("min_impurity_decrease", model.min_impurity_decrease, low=0)
    parameters.check_real("ccp_alpha", model.ccp_alpha, low=0)
    if model.monotonic_cst is not None:
        raise NotImplementedError("'monotonic_cst' is not supported yet; leave it at None.")


def check_poisson(criterion: str, y: np.ndarray) -> np.ndarray:
    """The targets, if they suit the criterion."""
    if criterion == "poisson" and (y.min() < 0 or y.sum() <= 0):
        raise ValueError(
            "criterion 'poisson' needs targets that are not negative and not all zero, "
            f"got a smallest target of {y.min():g}."
        )
    return y


def total_weight(y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None) -> float:
    """The weight of the given rows (all when None)."""
    if weights is None:
        return float(len(y) if rows is None else len(rows))
    return float(weights.sum() if rows is None else weights[rows].sum())


def grow_params(
    model: Any,
    criterion: str,
    *,
    splitter: str,
    n_rows: int,
    n_features: int,
    total_weight: float,
    n_classes: int,
    seed: int,
    ccp_alpha: float,
) -> GrowParams:
    """The engine's parameters for an estimator and the size of its table."""
    split = parameters.count_or_share("min_samples_split", model.min_samples_split, n_rows, low=2)
    leaf = parameters.count_or_share("min_samples_leaf", model.min_samples_leaf, n_rows, low=1)
    return GrowParams(
        criterion=criterion,
        splitter=splitter,
        n_classes=n_classes,
        max_depth=-1 if model.max_depth is None else min(int(model.max_depth), MOST),
        max_leaf_nodes=-1 if model.max_leaf_nodes is None else min(int(model.max_leaf_nodes), MOST),
        max_features=parameters.features_to_try(model.max_features, n_features),
        min_samples_split=min(split, MOST),
        min_samples_leaf=min(leaf, MOST),
        min_weight_leaf=float(model.min_weight_fraction_leaf * total_weight),
        min_impurity_decrease=float(model.min_impurity_decrease),
        ccp_alpha=float(ccp_alpha),
        seed=seed,
    )
