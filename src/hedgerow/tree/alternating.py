"""Tree alternating optimisation (TAO): a tree whose tests are improved one after the other.

After M. Carreira-Perpiñán and P. Tavallali, "Alternating optimization of decision trees, with
application to learning sparse oblique trees" (2018), and A. Zharmagambetov and M.
Carreira-Perpiñán, "Smaller, more accurate regression forests using tree alternating optimization"
(2020), with axis-aligned and category tests. CART grows the tree; then every test, from the leaves
up, becomes the one with the least training error while the rest of the tree stands, and the leaves
take the majority or the mean of their rows. Neither step can raise the training error. Done by the
engine (``cpp/tao``), which reads any tree or decision graph.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, TuneParams, fine_tune, prune
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import (
    GraphClassifier,
    GraphRegressor,
    has_oblique_tests,
    shared_gains,
)
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    REGRESSION_CRITERION,
    GrowthParameters,
)
from hedgerow._learner import Grown, Learner, n_rows_of
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter
from hedgerow.tree.cart import CartLearner
from hedgerow.tree.price import HeldOut, price_unit
from hedgerow.tree.starting import InitParameter, grow_start


def tune(
    graph: DecisionGraph,
    table: Table,
    rows: np.ndarray | None,
    weights: np.ndarray | None,
    *,
    max_passes: int,
    min_samples_leaf: int,
    max_bins: int | None,
    n_jobs: int,
    after_pass: Callable[[float], None] | None = None,
) -> DecisionGraph:
    """A graph with its tests optimised on some rows of a table.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        With those of the classes.
    max_bins : int or None
        Of the thresholds that are tried. Tests of the graph that lie between two bins move.
    after_pass : callable, default=None
        Called with the training error at the start and after each pass.
    """
    numbers = None
    if has_oblique_tests(graph):
        numbers = table.matrix().astype(np.float64, copy=False)
    limits = TuneParams(
        n_classes=table.n_classes,
        max_passes=parameters.limit(max_passes),
        min_samples_leaf=parameters.limit(min_samples_leaf),
    )
    data = table.bins(max_bins, n_jobs)
    return fine_tune(graph, data, rows, table.targets, weights, limits, n_jobs, numbers, after_pass)


@dataclass(frozen=True)
class AlternatingLearner(Learner):
    """Grows a tree, CART or that of ``init``, and optimises its tests."""

    init: Learner | None

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The optimised tree of some rows of a table; see :meth:`Learner.grow`."""
        settings, history = self.settings, list[float]()
        start = self._start(table, rows, weights, seed)
        weights = table.weighed(getattr(settings, "class_weight", None), weights)
        graph = tune(
            start.graph,
            table,
            rows,
            weights,
            max_passes=settings.max_passes,
            min_samples_leaf=parameters.count_or_share(
                "min_samples_leaf", settings.min_samples_leaf, n_rows_of(table, rows), low=1
            ),
            # The tests of another model can lie anywhere.
            max_bins=settings.max_bins if self.init is None else None,
            n_jobs=self.n_jobs,
            after_pass=history.append,
        )
        scale = start.facts.get("scale_")
        facts = {"history_": np.array(history), "n_passes_": len(history) - 1, "scale_": scale}
        if "ccp_alpha_" in start.facts:
            facts["ccp_alpha_"] = start.facts["ccp_alpha_"]
        return Grown(graph, facts | shared_gains(graph, table, rows, weights, scale))

    def _start(
        self, table: Table, rows: np.ndarray | None, weights: np.ndarray | None, seed: Any
    ) -> Grown:
        """The tree whose tests are optimised."""
        if self.init is not None:
            return grow_start(self.init, table, rows, weights, seed)
        alpha, class_weight = self.settings.ccp_alpha, getattr(self.settings, "class_weight", None)
        unpruned = {"ccp_alpha": 0.0, "class_weight": None}
        cart = CartLearner(Settings(vars(self.settings) | unpruned))
        price = None
        if parameters.is_word(alpha, "auto"):  # before the tree: of many classes each takes much
            data = table.bins(self.settings.max_bins, self.n_jobs)
            held_out = HeldOut(table, data, rows, weights, class_weight, self.n_jobs)
            price = held_out.price(
                lambda part: cart.grow(table, part.rows, part.weights, seed).graph
            )
        tree = cart.grow(table, rows, table.weighed(class_weight, weights), seed).graph
        alpha = alpha if price is None else price * price_unit(table, tree)
        return Grown(prune(tree, alpha) if alpha > 0 else tree, {"ccp_alpha_": float(alpha)})


class _AlternatingTree(InitParameter, GrowthParameters):
    max_passes: int = parameter(
        20,
        parameters.integer(0),
        "Most passes over the tree; it ends earlier when no test changes.",
    )
    min_samples_leaf: int | float = parameter(
        1,
        parameters.count(1),
        "A split must leave this many rows (or this share) on both sides, in CART and whenever a "
        "test is replaced. Rows that an ancestor sends elsewhere later may leave fewer.",
    )
    ccp_alpha: Any = parameter(
        "auto",
        parameters.real(0, word="auto"),
        'Price of a leaf in minimal cost-complexity pruning of CART, before the passes. "auto" '
        "chooses the one that predicts rows left out best, a single leaf among them.",
    )
    ccp_alpha_: float = fitted(
        "float", "The price of a leaf that CART was pruned at; not with ``init``.", optional=True
    )
    history_: np.ndarray = fitted(
        "ndarray of shape (passes + 1,)",
        "Training error at the start and after each pass: the share of wrong classes, or the mean "
        "squared error. It never rises.",
    )
    n_passes_: int = fitted("int", "Passes that changed a test.")
    scale_: np.ndarray | None = fitted(
        "ndarray of shape (n_features,) or None",
        "Standard deviations that oblique tests of the start measure the numbers in.",
    )

    def learner(self) -> AlternatingLearner:
        return AlternatingLearner(self.settings(), self.init_learner())


class TAOTreeClassifier(GraphClassifier, ClassWeightParameter, _AlternatingTree):
    """A classification tree with alternately optimised tests.

    It starts from CART with the parameters that both have, or from ``init``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import TAOTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=5).fit(X, y)
    >>> bool(tree.history_[-1] < tree.history_[0])
    True
    """

    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, "What a split of CART decreases.")


class TAOTreeRegressor(GraphRegressor, _AlternatingTree):
    """A regression tree with alternately optimised tests.

    It starts from CART with the parameters that both have, or from ``init``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TAOTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = TAOTreeRegressor(max_depth=4).fit(X, y)
    >>> bool(tree.history_[-1] < tree.history_[0])
    True
    """

    criterion: str = parameter(
        "squared_error",
        REGRESSION_CRITERION,
        "What a split of CART decreases; the passes that follow lower the squared error.",
    )
