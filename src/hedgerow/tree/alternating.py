"""Tree alternating optimisation (TAO): a tree whose tests are improved one after the other.

After M. Carreira-Perpiñán and P. Tavallali, "Alternating optimization of decision trees, with
application to learning sparse oblique trees" (2018), and A. Zharmagambetov and M.
Carreira-Perpiñán, "Smaller, more accurate regression forests using tree alternating optimization"
(2020), with axis-aligned and category tests. CART grows the tree; then every test, from the leaves
up, becomes the one with the least training error while the rest of the tree stands, and the leaves
take the majority or the mean of their rows. Neither step can raise the training error. Done by the
engine (``cpp/tao``), which reads any tree or decision graph.
"""

from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, DecisionGraph, TuneParams, fine_tune
from hedgerow._graph_model import (
    OBLIQUE,
    GraphClassifier,
    GraphModel,
    GraphRegressor,
    removed_loss,
)
from hedgerow._growth import MOST, check_poisson
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_PARAMETERS = """\
    max_passes : int, default=20
        Most passes over the tree; it ends earlier when no test changes.
    init : estimator, default=None
        The tree or graph to start from, any of hedgerow's with one decision graph. A fitted one is
        taken as it is and must know the same features and classes; another one is fitted on the
        training data first. None grows CART with the parameters below.
"""

_CART_PARAMETERS = """\
    max_depth : int, default=None
        Most splits on a path from the root to a leaf.
    min_samples_split : int or float, default=2
        A node with fewer rows (or a smaller share of all rows) is not split.
    min_samples_leaf : int or float, default=1
        A split must leave this many rows (or this share) on both sides, in CART and whenever a
        test is replaced. Rows that an ancestor sends elsewhere later may leave fewer.
    min_weight_fraction_leaf : float, default=0.0
        A split of CART must leave this share of the total weight on both sides.
    max_leaf_nodes : int, default=None
        Grow best-first until this many leaves.
    min_impurity_decrease : float, default=0.0
        A split of CART must decrease the impurity by this much.
    ccp_alpha : non-negative float, default=0.0
        Price of a leaf in minimal cost-complexity pruning, before the first pass.
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
        The fitted tree as columns; ``tree_`` is the same.
    history_ : ndarray of shape (n_passes_ + 1,)
        Training error at the start and after each pass: the share of wrong classes, or the mean
        squared error. It never rises.
    n_passes_ : int
        Passes that changed a test.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip(),
        cart=_CART_PARAMETERS.strip(),
        table=_TABLE_PARAMETERS.strip(),
        attributes=_ATTRIBUTES.strip(),
    )
    return cls


def _check_same_table(init: GraphModel, model: GraphModel) -> None:
    """Refuse a start that was fitted on another kind of table."""
    names = "schema_.feature_names", "schema_.n_features", "schema_.categories"
    if any(attrgetter(name)(init) != attrgetter(name)(model) for name in names):
        raise ValueError(
            "'init' was fitted on other features: names, order and categories must be the same."
        )
    if not np.array_equal(getattr(init, "classes_", ()), getattr(model, "classes_", ())):
        raise ValueError("'init' was fitted on other classes.")
    if init.n_outputs_ != model.n_outputs_:
        raise ValueError(f"'init' has {init.n_outputs_} outputs; only one is supported so far.")


class _Loaded(NamedTuple):
    """A table read for growing: binned, as it was given, and as ``init`` wants it."""

    bins: Dataset
    X: Any
    init: Any = None
    init_table: Any = None


class _AlternatingTree(GraphModel):
    _cart: ClassVar[type]
    _kind: ClassVar[type]  # what `init` must be

    history_: np.ndarray
    n_passes_: int

    def _check_parameters(self) -> None:
        parameters.check_int("max_passes", self.max_passes, low=0)
        if self.init is not None and not isinstance(self.init, self._kind):
            task = "classifier" if self._kind is GraphClassifier else "regressor"
            raise ValueError(
                f"'init' must be None or a {task} of hedgerow with one decision graph, "
                f"got {self.init!r}."
            )
        self._first_tree()._check_parameters()

    def _first_tree(self) -> Any:
        """CART with the parameters that both models have."""
        own = self.get_params(deep=False)
        return self._cart(**{name: own[name] for name in self._cart().get_params() if name in own})

    def _load(self, X: Any) -> _Loaded:
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        max_bins = parameters.max_bins_code(self.max_bins)
        if self.init is None:
            return _Loaded(self.schema_.bin(X, max_bins, n_jobs), X)
        bins = self.schema_.bin(X, 0, n_jobs)  # a given test can lie anywhere
        if hasattr(self.init, "graph_"):
            _check_same_table(self.init, self)
            return _Loaded(bins, X, self.init)
        init = clone(self.init)
        if not init._grows_on_rows():
            raise ValueError(f"'init' must be fitted first, got {self.init!r}.")
        init._check_parameters()
        init._adopt_table(self)
        return _Loaded(bins, X, init, init._load(X))

    def _grow(
        self, table: _Loaded, y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        if table.init is None:
            init = self._first_tree()
            init._adopt_table(self)
            graph = init._grow(table.bins, y, weights, rows)
        elif table.init_table is None:
            graph = table.init.graph_
        else:
            graph = table.init._grow(table.init_table, y, weights, rows)
        is_shared = table.init is not None and table.init._removed is not None
        is_oblique = (graph.kind == OBLIQUE).any()
        matrix: Any = self.schema_.encode(self, table.X) if is_shared or is_oblique else None
        weights = self._with_class_weight(y, weights)
        n_rows = len(y) if rows is None else len(rows)
        leaf = parameters.count_or_share("min_samples_leaf", self.min_samples_leaf, n_rows, low=1)
        history: list[float] = []
        graph = fine_tune(
            graph,
            table.bins,
            rows,
            y,
            weights,
            TuneParams(
                n_classes=getattr(self, "n_classes_", 0),
                max_passes=min(self.max_passes, MOST),
                min_samples_leaf=min(leaf, MOST),
            ),
            parameters.resolve_n_jobs(self.n_jobs),
            matrix.astype(np.float64) if is_oblique else None,
            history.append,
        )
        self.history_ = np.array(history)
        self.n_passes_ = len(history) - 1
        self._removed = None
        if is_shared:
            some = slice(None) if rows is None else rows
            w = None if weights is None else weights[some]
            self._removed = removed_loss(graph, matrix[some], y[some], w)
        return graph


@_with_parameters
class TAOTreeClassifier(GraphClassifier, _AlternatingTree):
    """A classification tree with alternately optimised tests.

    Parameters
    ----------
    {parameters}
    criterion : {{"gini", "entropy", "log_loss"}}, default="gini"
        What a split of CART decreases.
    {cart}
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
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import TAOTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=5).fit(X, y)
    >>> bool(tree.history_[-1] < tree.history_[0])
    True
    """

    _cart = DecisionTreeClassifier
    _kind = GraphClassifier

    def __init__(
        self,
        *,
        max_passes=20,
        init=None,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.max_passes = max_passes
        self.init = init
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs


@_with_parameters
class TAOTreeRegressor(GraphRegressor, _AlternatingTree):
    """A regression tree with alternately optimised tests.

    Parameters
    ----------
    {parameters}
    criterion : {{"squared_error", "poisson"}}, default="squared_error"
        What a split of CART decreases; the passes that follow lower the squared error.
    {cart}
    {table}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TAOTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = TAOTreeRegressor(max_depth=4).fit(X, y)
    >>> bool(tree.history_[-1] < tree.history_[0])
    True
    """

    _cart = DecisionTreeRegressor
    _kind = GraphRegressor

    def __init__(
        self,
        *,
        max_passes=20,
        init=None,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.max_passes = max_passes
        self.init = init
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _read_targets(self, y):
        return check_poisson(self.criterion, super()._read_targets(y))
