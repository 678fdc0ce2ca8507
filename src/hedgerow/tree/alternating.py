"""Tree alternating optimisation (TAO): a tree whose tests are improved one after the other.

After M. Carreira-Perpiñán and P. Tavallali, "Alternating optimization of decision trees, with
application to learning sparse oblique trees" (2018), and A. Zharmagambetov and M.
Carreira-Perpiñán, "Smaller, more accurate regression forests using tree alternating optimization"
(2020), with axis-aligned and category tests. CART grows the tree; then every test, from the leaves
up, becomes the one with the least training error while the rest of the tree stands, and the leaves
take the majority or the mean of their rows. Neither step can raise the training error. Done by the
engine (``cpp/tao``), which reads any tree or decision graph.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow import _parameters as parameters
from hedgerow._directions import directions_of
from hedgerow._engine import (
    DecisionGraph,
    PackedGraphs,
    TuneParams,
    fine_tune,
    prune,
    put_in_order,
)
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import (
    GraphClassifier,
    GraphRegressor,
    has_oblique_tests,
    shared_gains,
)
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    MEAN_CRITERION,
    GrowthParameters,
    MonotonicParameter,
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
    directions: Sequence[int] = (),
    after_pass: Callable[[float], None] | None = None,
) -> DecisionGraph:
    """A graph with its tests optimised on some rows of a table.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        With those of the classes.
    max_bins : int or None
        Of the thresholds that are tried. Tests of the graph that lie between two bins move.
    directions : sequence of int
        Of the features, see :func:`in_order`. A pass may then lose more by the order of the values
        than it gains; the passes end before such a one.
    after_pass : callable, default=None
        Called with the training error at the start and after each pass.
    """
    numbers = None
    if has_oblique_tests(graph):
        numbers = table.matrix().astype(np.float64, copy=False)
    data = table.bins(max_bins, n_jobs)

    def tuned(
        graph: DecisionGraph, n_passes: int, after_pass: Callable[[float], None] | None = None
    ) -> DecisionGraph:
        limits = TuneParams(
            n_classes=table.n_classes,
            max_passes=parameters.limit(n_passes),
            min_samples_leaf=parameters.limit(min_samples_leaf),
        )
        targets = table.targets
        return fine_tune(graph, data, rows, targets, weights, limits, n_jobs, numbers, after_pass)

    if not directions:
        return tuned(graph, max_passes, after_pass)
    best, lost = graph, np.inf
    for n_passes in range(max_passes + 1):
        tried = in_order(tuned(best, 1) if n_passes else best, directions)
        loss = _training_loss(tried, table, rows, weights)
        if loss >= lost:
            break
        best, lost = tried, loss
        if after_pass is not None:
            after_pass(loss)
    return best


def in_order(graph: DecisionGraph, directions: Sequence[int]) -> DecisionGraph:
    """The graph with leaf values that move one way with the features that have a direction.

    1 is up, -1 down; none at all leaves the graph as it is.
    """
    if not directions:
        return graph
    if has_oblique_tests(graph):
        raise ValueError(
            "monotonic_cst needs tests of single features, and the graph has oblique ones."
        )
    return put_in_order(graph, directions)


def _training_loss(
    graph: DecisionGraph, table: Table, rows: np.ndarray | None, weights: np.ndarray | None
) -> float:
    """The share of wrong classes, or the mean squared error."""
    taken = slice(None) if rows is None else rows
    values, targets = PackedGraphs([graph]).predict(table.matrix()[taken]), table.targets[taken]
    wrong = values.argmax(axis=1) != targets if table.n_classes else (values[:, 0] - targets) ** 2
    return float(np.average(wrong, weights=None if weights is None else weights[taken]))


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
            directions=directions_of(settings.monotonic_cst, table),
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


class _AlternatingTree(InitParameter, MonotonicParameter, GrowthParameters):
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
        MEAN_CRITERION,
        "What a split of CART decreases; the passes that follow lower the squared error.",
    )
