"""Tree in Tree: decision graphs grown by putting small trees in place of their nodes.

After B. Zhu and M. Shoaran, "Tree in Tree: from decision trees to decision graphs" (NeurIPS 2021).
Each node of the graph is replaced by a micro-tree, again and again: a leaf by one that tells its
classes apart, an internal node by one that tells apart the rows that its left child and its right
child predict better. Then the splits of all micro-trees become nodes of the graph, whose children
have several parents now. Grown by the engine (``cpp/tnt``); this module checks parameters, meets
the split budget and speaks scikit-learn.

Beyond the paper: regression, oblique micro-trees, an exact limit on the splits, weights,
categories, missing values, threads, early stopping, a start from any tree, and the best of all
rounds instead of the last one.
"""

from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import (
    Dataset,
    DecisionGraph,
    GrowParams,
    TreeInTreeParams,
    TuneParams,
    fine_tune,
    grow,
    grow_tree_in_tree,
    standard_scale,
    trim,
)
from hedgerow._graph_model import (
    OBLIQUE,
    GraphClassifier,
    GraphModel,
    GraphRegressor,
    sum_by_feature,
)
from hedgerow._growth import CLASSIFICATION_CRITERIA

MICRO_TREES = ("axis", "oblique", "mixed")

_PARAMETERS = """\
    micro_trees : {{"axis", "oblique", "mixed"}}, default="axis"
        What is put in place of a node: a CART tree, whose tests look at one feature; a mean-margin
        tree, whose tests weigh all features (see :class:`MeanMargin{task}`); or whichever of
        the two takes more off the loss than its splits cost.
    n_merges : int, default=2
        How often the micro-trees become part of the graph. With 1 the graph is a pruned CART tree.
    n_rounds : int, default=5
        Most rounds before each merge; in a round every node gets a new micro-tree.
    C : float or "auto", default="auto"
        Price of a split: how much of the mean impurity of the training rows it has to remove, the
        ``ccp_alpha`` of CART. {scale}The larger, the smaller the graph. "auto" is {rows} / number
        of training rows; 1e-4 with ``max_splits``, which then decides.
    max_splits : int, default=None
        Most splits of the graph. The best graph within them is searched among prices from ``C``
        upwards, larger graphs without their least useful splits, and, where these leave many
        splits unused, starts from best-first trees.
    fine_tune : int, default=0
        Most passes of alternating optimisation over the finished graph (see
        :func:`hedgerow.graph.fine_tune`).
    max_depth : int, default=None
        Most splits on a path through one micro-tree.
    min_samples_leaf : int or float, default=1
        A split of a micro-tree must leave this many of its rows (or this share of all rows) on both
        sides.
    early_stopping : bool, default=False
        Keep some rows for validation and merge the round that predicts them best, instead of the
        one that predicts the training rows best.
    validation_fraction : float, default=0.1
        Share of the rows that are kept.
    warm_start : bool or estimator, default=False
        What to start from instead of one leaf: with True the graph of the last ``fit``, or else a
        fitted hedgerow tree or decision graph for the same features. In scikit-learn's
        ``FrozenEstimator`` it survives ``clone`` as well.
    random_state : int, RandomState instance or None, default=None
        Seed of the validation rows. Nothing else is left to chance.
"""

_TABLE_PARAMETERS = """\
    max_bins : int, default=255
        Features with more distinct values are cut into this many quantile bins. None keeps every
        distinct value (up to 65,535; beyond, bins).
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
"""

_ATTRIBUTES = """\
    graph_ : DecisionGraph
        The fitted graph as columns; node 0 is the root.
    history_ : dict of ndarray
        One entry a round: "merge", "round", "loss" (share of wrong training rows, or mean squared
        error), "n_splits", "objective" (mean impurity of the leaves + ``C_`` * splits),
        "validation_loss", and "accepted": whether it had the lowest loss of its merge so far.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations that oblique tests measure the numbers in; None if there are none.
    C_ : float
        The price of a split that the graph was grown with.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the total loss that the splits of each feature removed.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


class _Loaded(NamedTuple):
    bins: Dataset
    X: Any


def _with_parameters(scale: str, task: str, rows: int):
    """Fill the shared parts of the docstring in."""

    def fill(cls):
        cls.__doc__ = cls.__doc__.format(
            parameters=_PARAMETERS.strip().format(scale=scale, task=task, rows=rows),
            table=_TABLE_PARAMETERS.strip(),
            attributes=_ATTRIBUTES.strip(),
        )
        return cls

    return fill


class _TreeInTree(GraphModel):
    _criteria: ClassVar[dict[str, str]]
    _rows_per_split: ClassVar[int]  # what "auto" asks of a split, in rows of impurity 1
    _merge_leaves = False

    def _check_parameters(self) -> None:
        parameters.check_option("criterion", self.criterion, self._criteria)
        parameters.check_option("micro_trees", self.micro_trees, MICRO_TREES)
        parameters.check_int("n_merges", self.n_merges, low=1)
        parameters.check_int("n_rounds", self.n_rounds, low=1)
        parameters.check_real("C", self.C, low=0, auto=True)
        parameters.check_int("max_splits", self.max_splits, low=1, optional=True)
        parameters.check_int("fine_tune", self.fine_tune, low=0)
        parameters.check_int("max_depth", self.max_depth, low=1, optional=True)
        parameters.check_bool("early_stopping", self.early_stopping)
        parameters.check_open_share("validation_fraction", self.validation_fraction)

    def _load(self, X: Any) -> _Loaded:
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        return _Loaded(self.schema_.bin(X, parameters.max_bins_code(self.max_bins), n_jobs), X)

    def _grow(
        self, table: _Loaded, y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        weights = self._with_class_weight(y, weights)
        start = self._starting_graph()
        train, validation = self._validation_split(y, weights, rows)
        n_rows = len(y) if train is None else len(train)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        bins, numbers, self.scale_ = table.bins, None, None
        if self.micro_trees != "axis" or (start is not None and (start.kind == OBLIQUE).any()):
            numbers = self.schema_.encode(self, table.X).astype(np.float64)
            categories = self.schema_.categories
            sizes = [len(categories.get(feature, ())) for feature in range(numbers.shape[1])]
            n_categories = np.array(sizes, dtype=np.uint32)
            self.scale_ = standard_scale(numbers, n_categories, train, weights, n_jobs)
        micro: dict[str, Any] = {
            "criterion": self._criteria[self.criterion],
            "n_classes": getattr(self, "n_classes_", 0),
            "min_samples_leaf": parameters.count_or_share(
                "min_samples_leaf", self.min_samples_leaf, n_rows, low=1
            ),
        }

        def params(C: float) -> TreeInTreeParams:
            return TreeInTreeParams(
                GrowParams(**micro, max_depth=-1 if self.max_depth is None else self.max_depth),
                n_merges=self.n_merges,
                n_rounds=self.n_rounds,
                C=C,
                merge_leaves=self._merge_leaves,
                tests=self.micro_trees,
                scale=self.scale_,
            )

        def grow_graph(C: float, tree: DecisionGraph | None = None) -> dict:
            grown = grow_tree_in_tree(
                bins, train, validation, y, weights, params(C), tree or start, n_jobs, numbers
            )
            graph = grown["graph"]
            if self.fine_tune > 0:
                tuning = TuneParams(
                    n_classes=micro["n_classes"],
                    max_passes=self.fine_tune,
                    min_samples_leaf=micro["min_samples_leaf"],
                )
                graph = fine_tune(graph, bins, train, y, weights, tuning, n_jobs, numbers)
            return {**grown, **trimmed(graph, graph.n_splits)}

        def trimmed(graph: DecisionGraph, max_splits: int) -> dict:
            graph, removed = trim(
                graph, bins, train, y, weights, params(0.0), max_splits, n_jobs, numbers
            )
            return {"graph": graph, "removed": removed}

        def best_first(n_splits: int) -> DecisionGraph:
            return grow(
                bins, train, y, weights, GrowParams(**micro, max_leaf_nodes=n_splits + 1), n_jobs
            )

        self.C_ = self._price(y, weights, train)
        if self.max_splits is None:
            grown = grow_graph(self.C_)
        else:
            budget = _Budget(self.max_splits, grow_graph, trimmed, best_first)
            self.C_, grown = budget.search(self.C_)
        self.history_ = {**grown["rounds"], "accepted": grown["rounds"]["accepted"].astype(bool)}
        self._removed = sum_by_feature(grown["graph"], grown["removed"], self.scale_)
        return grown["graph"]

    def _price(self, y: np.ndarray, weights: np.ndarray | None, rows: Any) -> float:
        """The price of a split at the given rows (all when None)."""
        if self.C != "auto":
            return float(self.C)
        if self.max_splits is not None:
            return 1e-4
        n_rows = len(y) if rows is None else len(rows)
        if weights is not None:
            some = weights if rows is None else weights[rows]
            # Whole weights are rows that repeat; other weights say what a row counts.
            n_rows = int(some.sum() if (some % 1 == 0).all() else np.count_nonzero(some))
        return self._rows_per_split / n_rows

    def _validation_split(self, y: np.ndarray, weights: np.ndarray | None, rows: Any) -> tuple:
        """Rows to grow on and rows to validate on; None means all and none."""
        if not self.early_stopping:
            return rows, None
        rows = np.arange(len(y), dtype=np.uint32) if rows is None else np.unique(rows)
        if weights is not None:
            rows = rows[weights[rows] > 0]
        if len(rows) < 2:
            raise ValueError("'early_stopping' needs at least 2 rows of positive weight.")
        train, validation = train_test_split(
            rows,
            test_size=self.validation_fraction,
            random_state=check_random_state(self.random_state),
        )
        return np.sort(train), np.sort(validation)

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        if self.warm_start is True and hasattr(self, "graph_"):
            self._last = copy(self)  # with the schema that the new table is about to replace
        return super()._read_table(X, y, sample_weight)

    def _starting_graph(self) -> DecisionGraph | None:
        last = self.__dict__.pop("_last", None)
        model = last if self.warm_start is True else self.warm_start
        if model is None or model is False:
            return None
        model = getattr(model, "estimator", model)  # in a FrozenEstimator
        if not isinstance(model, GraphModel):
            raise TypeError(
                "'warm_start' must be True, False or a fitted hedgerow tree or decision graph, got "
                f"{self.warm_start!r}."
            )
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise NotFittedError(
                f"'warm_start' must be fitted, got {model!r}: fit it first, and wrap it in "
                "scikit-learn's FrozenEstimator where this estimator is cloned."
            ) from None
        known, given = model.schema_, self.schema_
        if known.n_features != given.n_features:
            raise ValueError(
                "'warm_start' must have been fitted on the same features as X: it knows "
                f"{known.n_features}, X has {given.n_features}."
            )
        if (known.feature_names, known.categories) != (given.feature_names, given.categories):
            raise ValueError(
                "'warm_start' must have been fitted on features of the same names and categories "
                "as X."
            )
        return model.graph_


class _Budget:
    """The search for the best graph within a number of splits.

    Prices are tried first, from the given one upwards; a graph that is somewhat too large is cut
    down. Where no price uses the budget, because a small change of it takes many splits away at
    once, best-first trees are tried as a start.

    Parameters
    ----------
    max_splits : int
    grow : callable
        What is grown at a price from a starting graph (None: the usual start).
    trimmed : callable
        A graph cut down to a number of splits.
    best_first : callable
        The best-first tree of a number of splits.
    """

    _TRIES = 8
    _ENOUGH = 0.95  # of the splits in use
    _TOO_MANY = 1.5  # splits per split allowed: beyond, a graph is not worth cutting down

    def __init__(self, max_splits: int, grow: Any, trimmed: Any, best_first: Any):
        self.max_splits = max_splits
        self.grow = grow
        self.trimmed = trimmed
        self.best_first = best_first
        self.best: tuple[float, float, dict] = (np.inf, np.inf, {})  # loss, price, what was grown

    def search(self, C: float) -> tuple[float, dict]:
        """The price, and what was grown with it."""
        low, high = max(C, 1e-9), 1.0  # no split removes more than all impurity
        guess = C
        for _ in range(self._TRIES):
            n_splits = self._try(guess)
            if n_splits > self.max_splits:
                low = max(guess, low)
            else:
                high = guess
                if guess == C or n_splits >= self._ENOUGH * self.max_splits:
                    return self.best[1:]
            # The number of splits falls about like 1 / C.
            wanted = max(guess, low) * max(n_splits, 1) / self.max_splits
            guess = wanted if low < wanted < high else np.sqrt(low * high)
        if self._used() < self._ENOUGH * self.max_splits:
            for share in (1, 0.75, 0.5):
                start = self.best_first(max(1, int(share * self.max_splits)))
                for price in (C, high):
                    self._try(price, start)
        if not self.best[2]:
            self._try(1.0)
        return self.best[1:]

    def _used(self) -> int:
        """Splits of the best graph so far."""
        return self.best[2]["graph"].n_splits if self.best[2] else 0

    def _try(self, C: float, start: DecisionGraph | None = None) -> int:
        """Grow a graph, cut it down if that is worth it, and return how many splits it had."""
        grown = self.grow(C, start)
        n_splits = grown["graph"].n_splits
        if n_splits > self._TOO_MANY * self.max_splits:
            return n_splits
        if n_splits > self.max_splits:
            grown |= self.trimmed(grown["graph"], self.max_splits)
        graph = grown["graph"]
        loss = float((graph.weight * graph.impurity)[graph.left < 0].sum())
        self.best = min(self.best, (loss, C, grown), key=lambda entry: entry[0])
        return n_splits


@_with_parameters("", "TreeClassifier", rows=4)
class TreeInTreeClassifier(GraphClassifier, _TreeInTree):
    """A decision graph for classification, grown by Tree in Tree.

    Parameters
    ----------
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        Impurity that a split of a micro-tree decreases; "log_loss" is another name of "entropy".
    {parameters}
    merge_leaves : bool, default=False
        Join the leaves of each class, and drop the splits that this makes idle: the same classes
        predicted with fewer splits and as few leaves as classes, but coarser probabilities.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with ``sample_weight``.
    {table}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import TreeInTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> TreeInTreeClassifier(max_splits=4).fit(X, y).n_splits_ <= 4
    True
    """

    _criteria = CLASSIFICATION_CRITERIA
    _rows_per_split = 4

    def __init__(
        self,
        *,
        criterion="gini",
        micro_trees="axis",
        n_merges=2,
        n_rounds=5,
        C="auto",
        max_splits=None,
        fine_tune=0,
        max_depth=None,
        min_samples_leaf=1,
        early_stopping=False,
        validation_fraction=0.1,
        merge_leaves=False,
        warm_start=False,
        class_weight=None,
        random_state=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.criterion = criterion
        self.micro_trees = micro_trees
        self.n_merges = n_merges
        self.n_rounds = n_rounds
        self.C = C
        self.max_splits = max_splits
        self.fine_tune = fine_tune
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.merge_leaves = merge_leaves
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_bool("merge_leaves", self.merge_leaves)
        self._merge_leaves = bool(self.merge_leaves)


@_with_parameters("In units of the targets' variance. ", "TreeRegressor", rows=7)
class TreeInTreeRegressor(GraphRegressor, _TreeInTree):
    """A decision graph for regression, grown by Tree in Tree.

    The rows that a child predicts better count with the difference of the two squared errors.

    Parameters
    ----------
    criterion : {{"squared_error"}}, default="squared_error"
        What a split of a micro-tree decreases.
    {parameters}
    {table}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeInTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> TreeInTreeRegressor(max_splits=8).fit(X, y).n_splits_ <= 8
    True
    """

    _criteria: ClassVar[dict[str, str]] = {"squared_error": "squared_error"}
    _rows_per_split = 7

    def __init__(
        self,
        *,
        criterion="squared_error",
        micro_trees="axis",
        n_merges=2,
        n_rounds=5,
        C="auto",
        max_splits=None,
        fine_tune=0,
        max_depth=None,
        min_samples_leaf=1,
        early_stopping=False,
        validation_fraction=0.1,
        warm_start=False,
        random_state=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.criterion = criterion
        self.micro_trees = micro_trees
        self.n_merges = n_merges
        self.n_rounds = n_rounds
        self.C = C
        self.max_splits = max_splits
        self.fine_tune = fine_tune
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
