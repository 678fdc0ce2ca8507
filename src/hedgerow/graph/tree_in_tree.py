"""Tree in Tree: decision graphs grown by putting small trees in place of their nodes.

After B. Zhu and M. Shoaran, "Tree in Tree: from decision trees to decision graphs" (NeurIPS 2021).
Each node of the graph is replaced by a micro-tree, again and again: a leaf by one that tells its
classes apart, an internal node by one that tells apart the rows that its left child and its right
child predict better. Then the splits of all micro-trees become nodes of the graph, whose children
have several parents now. Grown by the engine (``cpp/tnt``); this module checks parameters, meets
the split budget and speaks scikit-learn.

Beyond the paper: regression, oblique micro-trees, an exact limit on the splits, weights,
categories, missing values, threads, early stopping, a start from any tree, and the best of all
rounds instead of the last one (``preset="paper"`` keeps the last).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters
from hedgerow._directions import directions_of
from hedgerow._engine import (
    DecisionGraph,
    GrowParams,
    PackedGraphs,
    TreeInTreeParams,
    grow,
    grow_tree_in_tree,
    prune,
    standard_scale,
    trim,
)
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import (
    GraphClassifier,
    GraphRegressor,
    has_oblique_tests,
    sum_by_feature,
)
from hedgerow._growth import CLASSIFICATION_CRITERION, GINI_TEXT, MonotonicParameter, grow_params
from hedgerow._learner import Grown, Learner, n_rows_of, weight_of
from hedgerow._table import Table
from hedgerow._table_model import BinParameters, ClassWeightParameter
from hedgerow.tree.alternating import in_order, tune
from hedgerow.tree.price import HeldOut, Part, price_unit
from hedgerow.tree.starting import InitParameter, grow_start

# C="auto": prices of graphs, as multiples of CART's, and the rows that judge them.
_MULTIPLES = (1, 2, 4)
_ENOUGH_ROWS = 1_000
# Of a limit of splits: fewer in use are not enough; the splits of a best-first start, the rest of
# them being left to the rounds. Where a class is in the corners of a square no price gives four
# splits, but such a start does (docs/graph.md).
_ENOUGH = 0.8
_SHARES = (1, 0.75, 0.5)


class _Candidate(NamedTuple):
    """A graph, the loss that each of its nodes removes, the rounds that led to it, its price."""

    graph: DecisionGraph
    removed: np.ndarray
    rounds: dict[str, np.ndarray]
    C: float

    @property
    def loss(self) -> float:
        """What is left of the impurity."""
        graph = self.graph
        return float((graph.weight * graph.impurity)[graph.left < 0].sum())


@dataclass
class _Growth:
    """Grows graphs on the same rows of a table, at any price and from any start."""

    settings: Settings
    table: Table
    train: np.ndarray | None  # rows to grow on; None takes all
    validation: np.ndarray | None  # rows that choose the round
    weights: np.ndarray | None
    start: DecisionGraph | None
    directions: list[int]  # of the features, where predictions are monotone
    n_jobs: int

    def on(self, part: Part) -> "_Growth":
        """The same on other rows, with none that choose the round."""
        return replace(self, train=part.rows, weights=part.weights, validation=None)

    @cached_property
    def data(self) -> Any:
        return self.table.bins(self.settings.max_bins, self.n_jobs)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """What oblique tests read; None where there are none."""
        has_none = self.start is None or not has_oblique_tests(self.start)
        if self.settings.micro_trees == "axis" and has_none:
            return None
        return self.table.matrix().astype(np.float64, copy=False)

    @cached_property
    def scale(self) -> np.ndarray | None:
        if self.numbers is None:
            return None
        sizes = self.table.n_categories
        return standard_scale(self.numbers, sizes, self.train, self.weights, self.n_jobs)

    def at_price(
        self, C: float, start: DecisionGraph | None = None, max_splits: int | None = None
    ) -> _Candidate:
        """The graph whose splits are worth their price, from the usual start when None.

        With a limit of splits the price rises until they are within it.
        """
        params = self._params(C, max_splits=max_splits or 0)
        grown = self._grown(params, start or self.start)
        graph = grown["graph"]
        if self.settings.fine_tune > 0:
            graph = tune(
                graph,
                self.table,
                self.train,
                self.weights,
                max_passes=self.settings.fine_tune,
                min_samples_leaf=self._min_samples_leaf,
                max_bins=self.settings.max_bins,
                n_jobs=self.n_jobs,
                directions=self.directions,
            )
        found = self._finished(graph, grown["rounds"], grown["C"], max_splits)
        if not self.directions:
            return found
        # Values that are put in order afterwards can cost a graph more than its shape gains.
        other = self._finished(self._kept_tree(found.C), found.rounds, found.C, max_splits)
        return min(found, other, key=self._cost)

    def _finished(
        self,
        graph: DecisionGraph,
        rounds: dict[str, np.ndarray],
        C: float,
        max_splits: int | None,
    ) -> _Candidate:
        """A graph within a number of splits, its values in the order of the directions."""
        graph, removed = trim(
            graph, self.data, self.train, self.table.targets, self.weights,
            self._params(C), max_splits or graph.n_splits, self.n_jobs, self.numbers,
        )  # fmt: skip
        return _Candidate(in_order(graph, self.directions), removed, rounds, C)

    def _kept_tree(self, C: float) -> DecisionGraph:
        """The tree that kept to the directions while it grew, pruned at a price."""
        params = self._micro(monotonic=self.directions)
        targets = self.table.targets
        tree = grow(self.data, self.train, targets, self.weights, params, self.n_jobs)
        return prune(tree, C * price_unit(self.table, tree))

    def _cost(self, found: _Candidate) -> float:
        """What a graph leaves of the squared error, and the price of its splits."""
        graph, taken = found.graph, slice(None) if self.train is None else self.train
        targets = self.table.targets[taken]
        truth = np.eye(graph.n_outputs)[targets] if self.table.n_classes else targets[:, None]
        said = PackedGraphs([graph]).predict(self.table.matrix()[taken])
        weights = None if self.weights is None else self.weights[taken]
        lost = np.average(((said - truth) ** 2).sum(axis=1), weights=weights)
        return float(lost) / (price_unit(self.table, graph) or 1.0) + found.C * graph.n_splits

    def unpruned_tree(self) -> DecisionGraph:
        """The first micro-tree at no price: what all pruned ones are part of."""
        if self.settings.micro_trees == "axis":
            targets = self.table.targets
            return grow(self.data, self.train, targets, self.weights, self._micro(), self.n_jobs)
        return self._grown(self._params(0.0, n_merges=1, n_rounds=1, merge_leaves=False), None)[
            "graph"
        ]

    def best_first(self, n_splits: int) -> DecisionGraph:
        """The best-first tree of a number of splits; ``max_depth`` is of micro-trees."""
        params = self._micro(max_leaf_nodes=n_splits + 1, max_depth=-1)
        targets = self.table.targets
        return grow(self.data, self.train, targets, self.weights, params, self.n_jobs)

    @property
    def _min_samples_leaf(self) -> int:
        n_rows, share = n_rows_of(self.table, self.train), self.settings.min_samples_leaf
        return parameters.count_or_share("min_samples_leaf", share, n_rows, low=1)

    def _micro(self, **fixed: Any) -> GrowParams:
        return grow_params(
            self.settings,
            n_rows=n_rows_of(self.table, self.train),
            n_features=self.table.n_features,
            n_classes=self.table.n_classes,
            total_weight=weight_of(self.table, self.weights, self.train),
            **fixed,
        )

    def _params(self, C: float, **fixed: Any) -> TreeInTreeParams:
        values: dict[str, Any] = {
            "n_merges": parameters.limit(self.settings.n_merges),
            "n_rounds": parameters.limit(self.settings.n_rounds),
            "merge_leaves": bool(getattr(self.settings, "merge_leaves", False)),
            "router_gain": float(self.settings.router_gain),
            "keep_last": self.settings.keep_round == "last",
        }
        tests, scale = self.settings.micro_trees, self.scale
        return TreeInTreeParams(self._micro(), C=C, tests=tests, scale=scale, **(values | fixed))

    def _grown(self, params: TreeInTreeParams, start: DecisionGraph | None) -> dict[str, Any]:
        return grow_tree_in_tree(
            self.data, self.train, self.validation, self.table.targets, self.weights,
            params, start, self.n_jobs, self.numbers,
        )  # fmt: skip


def _within(growth: _Growth, C: float, max_splits: int) -> _Candidate:
    """The price from ``C`` upwards and the best graph with it within a number of splits.

    One growth whose price follows the number of splits from round to round. Where no price uses
    the splits, because a small change of it takes many of them away at once, it starts from
    best-first trees, too.
    """
    candidate = growth.at_price(C, max_splits=max_splits)
    candidates = [candidate]
    if candidate.C > C and candidate.graph.n_splits < _ENOUGH * max_splits:
        for share in _SHARES:
            start = growth.best_first(max(1, int(share * max_splits)))
            candidates.append(growth.at_price(C, start, max_splits))
    return min(candidates, key=lambda found: found.loss)


@dataclass(frozen=True)
class TreeInTreeLearner(Learner):
    """Grows a decision graph by putting small trees in place of its nodes."""

    init: Learner | None

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The graph of some rows of a table; see :meth:`Learner.grow`."""
        settings = self.settings
        weighed = table.weighed(getattr(settings, "class_weight", None), weights)
        train, validation = self._validation_split(table, rows, weighed, seed)
        start = None
        if self.init is not None:
            start = grow_start(self.init, table, train, weights, seed).graph
        directions = directions_of(settings.monotonic_cst, table)
        if directions and settings.micro_trees != "axis":
            raise ValueError(
                f"monotonic_cst needs micro_trees='axis', got {settings.micro_trees!r}: oblique "
                "tests weigh several features."
            )
        growth = _Growth(
            settings, table, train, validation, weighed, start, directions, self.n_jobs
        )
        C = settings.C
        if parameters.is_word(C, "auto"):
            C, growth = self._at_best_price(growth, weights)
        if settings.max_splits is None:
            found = growth.at_price(C)
        else:
            found = _within(growth, C, parameters.limit(settings.max_splits))
        graph, removed, rounds, C = found
        facts = {
            "C_": float(C),
            "history_": {**rounds, "accepted": rounds["accepted"].astype(bool)},
            "scale_": growth.scale,
            "gains_": sum_by_feature(graph, removed, growth.scale),
        }
        return Grown(graph, facts)

    def _at_best_price(self, growth: _Growth, weights: np.ndarray | None) -> tuple[float, _Growth]:
        """The price that predicts rows left out best, and the growth to use it with.

        CART's price is found first. Graphs fit more closely at the same price, so higher prices
        are tried, too, and CART is taken where no graph is better. A start may know all rows and a
        limit on the splits says more than they could: there CART's price is enough.
        """
        settings = growth.settings
        class_weight = getattr(settings, "class_weight", None)
        held_out = HeldOut(
            growth.table, growth.data, growth.train, weights, class_weight, self.n_jobs
        )
        price = held_out.price(lambda part: growth.on(part).unpruned_tree())
        is_settled = price == 1 or growth.start is not None or settings.max_splits is not None
        if is_settled or settings.n_merges == 1:
            return price, growth
        tree = replace(growth, settings=Settings(vars(settings) | {"n_merges": 1}))
        choices = [(price, tree)]
        choices += [(price * k, growth) for k in _MULTIPLES if price * k < 1]

        def loss(choice: tuple[float, _Growth]) -> float:
            C, way = choice
            return held_out.loss(lambda part: way.on(part).at_price(C).graph, _ENOUGH_ROWS)

        return min(choices, key=loss)

    def _validation_split(
        self, table: Table, rows: np.ndarray | None, weights: np.ndarray | None, seed: Any
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Rows to grow on and rows to validate on; None means all and none."""
        if not self.settings.early_stopping:
            return rows, None
        rows = np.arange(table.n_rows, dtype=np.uint32) if rows is None else np.unique(rows)
        if weights is not None:
            rows = rows[weights[rows] > 0]
        if len(rows) < 2:
            raise ValueError("'early_stopping' needs at least 2 rows of positive weight.")
        train, validation = train_test_split(
            rows,
            test_size=self.settings.validation_fraction,
            random_state=check_random_state(seed),
        )
        return np.sort(train), np.sort(validation)


# What parameters that are left open mean.
_OPEN = {"router_gain": 0.5, "keep_round": "best"}
_PAPER = {"router_gain": 0.0, "keep_round": "last"}


class _TreeInTree(InitParameter, MonotonicParameter, BinParameters):
    micro_trees: str = parameter(
        "axis",
        parameters.option("axis", "oblique", "mixed"),
        "What is put in place of a node: a CART tree, whose tests look at one feature; a "
        "mean-margin tree, whose tests weigh all features (see :class:`MeanMarginTreeClassifier`); "
        "or whichever of the two takes more off the loss than its splits cost.",
    )
    n_merges: int = parameter(
        2,
        parameters.integer(),
        "How often the micro-trees become part of the graph, the paper's N1. With 1 the graph is a "
        "pruned CART tree.",
    )
    n_rounds: int = parameter(
        5,
        parameters.integer(),
        "Most rounds before each merge, the paper's N2; in a round every node gets a new "
        "micro-tree.",
    )
    preset: str | None = parameter(
        None,
        parameters.PRESET,
        '"paper" takes the settings of the paper where none are given: ``router_gain=0`` and '
        '``keep_round="last"``.',
    )
    router_gain: float | None = parameter(
        None,
        parameters.real(0, optional=True),
        "The least that a split inside an internal node's micro-tree takes off the loss, in "
        "prices, to be tried at all. Pruning asks for a whole price in the end; splits far below "
        "it cost time and hardly ever lead to better ones. None means 0.5 (paper 0).",
    )
    keep_round: str | None = parameter(
        None,
        parameters.option("best", "last", optional=True),
        "The round that is merged: the best one, by the training error or that of rows kept for "
        'validation, or the last one. None means "best" (paper "last").',
    )
    max_splits: int | None = parameter(
        None,
        parameters.integer(optional=True),
        "Most splits of the graph. The price rises from ``C`` between rounds until the graph is "
        "within them; a graph somewhat too large loses its least useful splits, and where many "
        "splits are left unused, best-first trees are starts.",
    )
    fine_tune: int = parameter(
        0,
        parameters.integer(0),
        "Most passes of alternating optimisation over the finished graph (see "
        ":func:`hedgerow.graph.fine_tune`).",
    )
    max_depth: int | None = parameter(
        None, parameters.integer(optional=True), "Most splits on a path through one micro-tree."
    )
    min_samples_leaf: int | float = parameter(
        1,
        parameters.count(1),
        "A split of a micro-tree must leave this many of its rows (or this share of all rows) on "
        "both sides.",
    )
    early_stopping: bool = parameter(
        False,
        parameters.FLAG,
        "Keep some rows for validation and merge the round that predicts them best, instead of the "
        "one that predicts the training rows best.",
    )
    validation_fraction: float = parameter(
        0.1, parameters.OPEN_SHARE, "Share of the rows that are kept."
    )
    random_state: Any = parameter(
        None,
        parameters.SEED,
        "Seed of the validation rows, and of an ``init`` without one. Nothing else is left to "
        "chance.",
    )
    C_: float = fitted("float", "The price of a split that the graph was grown with.")
    history_: dict[str, np.ndarray] = fitted(
        "dict of ndarray",
        'One entry a round: "merge", "round", "loss" (share of wrong training rows, or mean '
        'squared error), "n_splits", "objective" (mean impurity of the leaves + ``C_`` * splits), '
        '"validation_loss", and "accepted": whether it had the lowest loss of its merge so far.',
    )
    scale_: np.ndarray | None = fitted(
        "ndarray of shape (n_features,) or None",
        "Standard deviations that oblique tests measure the numbers in; None if there are none.",
    )

    def settings(self) -> Settings:
        """The parameters, checked and frozen; those left open are the preset's."""
        values = vars(super().settings())
        preset = _PAPER if self.preset == "paper" else _OPEN
        return Settings(values | {n: v for n, v in preset.items() if values[n] is None})

    def learner(self) -> TreeInTreeLearner:
        return TreeInTreeLearner(self.settings(), self.init_learner())


_PRICE = parameters.real(0, word="auto")


class TreeInTreeClassifier(GraphClassifier, ClassWeightParameter, _TreeInTree):
    """A decision graph for classification, grown by Tree in Tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import TreeInTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> TreeInTreeClassifier(max_splits=4).fit(X, y).n_splits_ <= 4
    True
    """

    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, GINI_TEXT)
    C: Any = parameter(
        "auto",
        _PRICE,
        "Price of a split: how much of the mean impurity of the training rows it has to remove, "
        'the ``ccp_alpha`` of CART. The larger, the smaller the graph. "auto" chooses the price '
        "that predicts rows left out best, a single leaf and a CART tree among the choices; with "
        "``max_splits`` or ``init`` CART's best price.",
    )
    merge_leaves: bool = parameter(
        False,
        parameters.FLAG,
        "Join the leaves of each class, and drop the splits that this makes idle: the same classes "
        "predicted with fewer splits and as few leaves as classes, but coarser probabilities.",
    )


class TreeInTreeRegressor(GraphRegressor, _TreeInTree):
    """A decision graph for regression, grown by Tree in Tree.

    The rows that a child predicts better count with the difference of the two squared errors.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeInTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeInTreeRegressor(max_splits=8).fit(X, y).n_splits_ <= 8
    True
    """

    criterion: str = parameter(
        "squared_error",
        parameters.option("squared_error"),
        "What a split of a micro-tree decreases.",
    )
    C: Any = parameter(
        "auto",
        _PRICE,
        "Price of a split: how much of the mean impurity of the training rows it has to remove, "
        "the ``ccp_alpha`` of CART in units of the targets' variance. The larger, the smaller the "
        'graph. "auto" chooses the price that predicts rows left out best, a single leaf and a '
        "CART tree among the choices; with ``max_splits`` or ``init`` CART's best price.",
    )
