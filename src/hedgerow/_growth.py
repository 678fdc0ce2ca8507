"""The parameters that say how a tree is grown, shared by trees and forests."""

from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._directions import DIRECTIONS, DIRECTIONS_TEXT
from hedgerow._engine import GrowParams
from hedgerow._estimator import parameter
from hedgerow._parameters import MAX_FEATURES, count, integer, real
from hedgerow._table_model import BinParameters, TableModel

# scikit-learn's name of a criterion -> the engine's
CLASSIFICATION_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}
MEAN_CRITERIA = {"squared_error": "squared_error", "poisson": "poisson"}
REGRESSION_CRITERIA = MEAN_CRITERIA | {
    "absolute_error": "absolute_error",
    "friedman_mse": "squared_error",
    "quantile": "quantile",
}
ENGINE_CRITERIA = CLASSIFICATION_CRITERIA | REGRESSION_CRITERIA


CLASSIFICATION_CRITERION = parameters.option(*CLASSIFICATION_CRITERIA)
MEAN_CRITERION = parameters.option(*MEAN_CRITERIA)
REGRESSION_CRITERION = parameters.option(*REGRESSION_CRITERIA)
GINI_TEXT = 'What a split decreases; "log_loss" is another name of "entropy".'
MEAN_TEXT = 'What a split decreases. "poisson" is for counts: targets must not be negative.'
REGRESSION_TEXT = (
    'What a split decreases. "absolute_error" predicts medians, "quantile" the quantile '
    '``quantile``, the others means; "poisson" is for counts: targets must not be negative; '
    '"friedman_mse" is another name of "squared_error".'
)
MERGE_TEXT = (
    "Take out splits that leave no fewer training rows wrong: two leaves of one parent become one "
    "where they do not lower its training error, from the leaves up. As many training rows are "
    "right with fewer leaves; probabilities are coarser."
)


class SplitParameters(TableModel):
    """What a node needs to be split."""

    min_samples_split: int | float = parameter(
        2, count(2), "A node with fewer rows (or a smaller share of all rows) is not split."
    )
    min_samples_leaf: int | float = parameter(
        1, count(1), "A split must leave this many rows (or this share) on both sides."
    )
    min_weight_fraction_leaf: float = parameter(
        0.0, real(0, 0.5), "A split must leave this share of the total weight on both sides."
    )


class NodeParameters(SplitParameters):
    """Limits on nodes that every kind of tree has."""

    max_depth: int | None = parameter(
        None, integer(optional=True), "Most splits on a path from the root to a leaf."
    )


class GrowthParameters(NodeParameters, BinParameters):
    """How a tree of tests on single features is grown."""

    max_leaf_nodes: int | None = parameter(
        None, integer(2, optional=True), "Grow best-first until this many leaves."
    )
    min_impurity_decrease: float = parameter(
        0.0,
        real(0),
        "A split must decrease the impurity by this much, weighted by the node's share of the "
        "rows. At 0 splits without gain are allowed, as in scikit-learn: XOR needs them.",
    )
    ccp_alpha: float = parameter(
        0.0, real(0), "Price of a leaf in minimal cost-complexity pruning."
    )


class MonotonicParameter(TableModel):
    """The parameter of trees whose predictions move one way with a feature."""

    monotonic_cst: Any = parameter(None, DIRECTIONS, DIRECTIONS_TEXT)


class QuantileParameter(TableModel):
    """The parameter of trees whose leaves predict a quantile."""

    quantile: float | None = parameter(
        None, parameters.OPTIONAL_OPEN_SHARE, 'Which quantile, for ``criterion="quantile"``.'
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.criterion == "quantile" and self.quantile is None:
            raise ValueError("criterion 'quantile' needs 'quantile', a number between 0 and 1.")


class FeatureDrawParameter(TableModel):
    """The parameter of trees that look at drawn features."""

    max_features: Any = parameter(
        None,
        MAX_FEATURES,
        "Features looked at for each split, drawn anew for each node; None means all.",
    )


def check_criterion(criterion: str, y: np.ndarray) -> None:
    """Refuse targets that do not suit the criterion."""
    if y.ndim > 1 and criterion in ("absolute_error", "quantile"):
        raise ValueError(
            f"criterion {criterion!r} is for one output, y has {y.shape[1]}: fit a model for each, "
            "or use 'squared_error'."
        )
    if criterion != "poisson":
        return
    if y.min() < 0:
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"got a smallest target of {y.min():g}."
        )
    if y.sum() <= 0:
        raise ValueError(
            "Sum of y is not strictly positive which is necessary for Poisson regression: "
            "y is not positive in any row, and logarithms of Poisson means need that."
        )


def grow_params(
    settings: Any,
    *,
    n_rows: int,
    n_features: int,
    n_classes: int,
    total_weight: float,
    **fixed: Any,
) -> GrowParams:
    """The engine's parameters for the settings of a tree and the size of its table.

    What a kind of tree has no parameter for is left at its default; ``fixed`` are parameters of the
    engine that settings have no say in.
    """

    def given(name: str, default: Any) -> Any:
        return getattr(settings, name, default)

    split = parameters.count_or_share(
        "min_samples_split", given("min_samples_split", 2), n_rows, low=2
    )
    leaf = parameters.count_or_share("min_samples_leaf", settings.min_samples_leaf, n_rows, low=1)
    values: dict[str, Any] = {
        "criterion": ENGINE_CRITERIA[given("criterion", "gini" if n_classes else "squared_error")],
        "n_classes": n_classes,
        "max_depth": parameters.limit(given("max_depth", None)),
        "max_leaf_nodes": parameters.limit(given("max_leaf_nodes", None)),
        "max_features": parameters.features_to_try(given("max_features", None), n_features),
        "min_samples_split": split,
        "min_samples_leaf": leaf,
        "min_weight_leaf": float(given("min_weight_fraction_leaf", 0.0) * total_weight),
        "min_impurity_decrease": float(given("min_impurity_decrease", 0.0)),
        "ccp_alpha": float(given("ccp_alpha", 0.0)),
        "quantile": float(given("quantile", None) or 0.5),
    }
    return GrowParams(**(values | fixed))
