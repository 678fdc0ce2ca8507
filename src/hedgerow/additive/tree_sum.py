"""Sums of few trees that grow together, the values of all leaves fitted together.

Of all leaves of all members, and of the root of a new one, the split is taken that lowers the loss
most; after each split all leaf values are fitted together, shrunk by a ridge whose strength the
evidence of the data chooses. So one limit, ``max_splits``, holds for the whole sum, and the data
say whether it becomes one deep tree or many stumps. FIGS (Tan et al. 2022) has the same rule
without the common fit. Grown by the engine (``cpp/additive``); this module checks parameters and
speaks scikit-learn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._directions import DIRECTIONS, DIRECTIONS_TEXT, directions_of
from hedgerow._engine import TreeSumParams, grow_tree_sum
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import sum_by_feature
from hedgerow._learner import n_rows_of
from hedgerow._table import Table
from hedgerow._table_model import BinParameters, ClassWeightParameter
from hedgerow.additive.sum_model import SumClassifier, SumModel, SumRegressor, check_targets
from hedgerow.additive.terms import Shape, Term, shape_of, terms_of

LARGEST_EXACT = 500_000  # rows x features x scores up to which "auto" searches every leaf each time
MOST_SPLITS = 10_000  # the fit of all leaves needs a matrix of their pairs


@dataclass(frozen=True)
class TreeSumLearner:
    """Grows the members of a sum on rows of a table."""

    settings: Settings

    def grow(
        self, table: Table, rows: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> dict[str, Any]:
        """The fitted attributes of a sum that learns from some rows (all when None) of a table."""
        given = self.settings
        loss = getattr(given, "loss", "log_loss")
        check_targets(loss, table.targets)
        weights = table.weighed(getattr(given, "class_weight", None), weights)
        n_jobs = parameters.resolve_n_jobs(given.n_jobs)
        data = table.bins(given.max_bins, n_jobs)
        if table.n_classes == 1:
            return {"graphs_": [], "intercept_": np.zeros(1), "ridge_": 0.0, "freedom_": 0.0}
        grown = grow_tree_sum(
            data,
            rows,
            table.targets,
            weights,
            self._params(loss, table, n_rows_of(table, rows)),
            n_jobs,
        )
        return {
            "graphs_": list(grown["members"]),
            "intercept_": grown["intercept"],
            "ridge_": grown["ridge"],
            "freedom_": grown["freedom"],
        }

    def _params(self, loss: str, table: Table, n_rows: int) -> TreeSumParams:
        given = self.settings
        return TreeSumParams(
            loss=loss,
            n_classes=table.n_classes,
            max_splits=given.max_splits,
            max_members=parameters.limit(given.max_members),
            max_depth=parameters.limit(given.max_depth),
            min_samples_leaf=_fewest_rows(given.min_samples_leaf, n_rows),
            ridge=-1.0 if parameters.is_word(given.ridge, "evidence") else float(given.ridge),
            level=float(getattr(given, "quantile", None) or 0.5),
            category_smoothing=float(given.category_smoothing),
            min_gain=float(given.min_gain),
            feature_price=float(given.feature_price),
            threshold_price=float(given.threshold_price),
            max_swaps=given.max_swaps,
            tuning_passes=given.tuning_passes,
            exact_search=_is_exact(given.search, table, n_rows),
            tolerance=float(given.tol),
            monotone=directions_of(given.monotonic_cst, table),
        )


def _fewest_rows(given: Any, n_rows: int) -> int:
    """Rows that a leaf must have."""
    if given is None:
        return max(1, min(20, n_rows // 40))
    return parameters.count_or_share("min_samples_leaf", given, n_rows, low=1)


def _is_exact(search: str, table: Table, n_rows: int) -> bool:
    """Whether every leaf is searched after each split."""
    if search != "auto":
        return search == "exact"
    n_scores = table.n_classes if table.n_classes > 2 else 1
    return n_rows * table.n_features * n_scores <= LARGEST_EXACT


class TreeSum(SumModel, BinParameters):
    """A sum of few trees."""

    max_splits: int = parameter(
        40,
        parameters.integer(high=MOST_SPLITS),
        "Most splits in all members together.",
        kw_only=False,
    )
    max_members: int | None = parameter(
        None, parameters.integer(optional=True), "Most members; None sets no limit."
    )
    max_depth: int | None = parameter(
        None,
        parameters.integer(optional=True),
        "Most splits on a path from the root of a member to a leaf. Members of depth 1 use one "
        "feature each, those of depth 2 at most two: their sum can be read term by term.",
    )
    min_samples_leaf: int | float | None = parameter(
        None,
        parameters.count(1, optional=True),
        "A split must leave this many rows (or this share) on both sides; None takes 20, and a "
        "fortieth of the rows where that is less.",
    )
    ridge: float | str = parameter(
        "evidence",
        parameters.real(0, word="evidence"),
        "Price of the squares of the leaf values, in the units of the second derivative of the "
        'loss of a row: a leaf of this many rows is shrunk by half. "evidence" finds it '
        "from the training rows: a multiple of the most probable one, since splits are the best of "
        "many and promise too much.",
    )
    category_smoothing: float = parameter(
        10.0,
        parameters.real(0),
        "Categories are put in order once, by the targets of their rows and this many further rows "
        "that say nothing: rare ones stay in the middle.",
    )
    min_gain: float = parameter(
        0.0,
        parameters.real(0),
        "A split must lower twice the loss by this many times the noise of a row, else growth "
        "ends: 10 is about what the best split of pure noise gains. 0 uses up ``max_splits``, as "
        "features that matter only together need, and leaves noise to the ridge.",
    )
    feature_price: float = parameter(
        0.0,
        parameters.real(0),
        "What the first split of a feature must gain more than others, as a share of the loss of "
        "a constant: the sum uses fewer features.",
    )
    threshold_price: float = parameter(
        0.0,
        parameters.real(0),
        "The same for a threshold (or a set of categories) that no split has yet: the sum has "
        "fewer thresholds, and smaller tables when it is exported.",
    )
    monotonic_cst: Any = parameter(None, DIRECTIONS, DIRECTIONS_TEXT)
    max_swaps: int = parameter(
        0,
        parameters.integer(0, high=MOST_SPLITS),
        "Most moves after growing that take the weakest split out and the best in. A move is kept "
        "if the loss falls; the first that is not ends them.",
    )
    tuning_passes: int = parameter(
        0,
        parameters.integer(0, high=MOST_SPLITS),
        "Most passes after growing in which each test is chosen anew while all others stand.",
    )
    search: str = parameter(
        "auto",
        parameters.option("auto", "exact", "lazy"),
        '"exact" searches every leaf after each split. "lazy" searches those whose last known gain '
        "is the largest, and every leaf when the sum has grown by a quarter: faster, and seldom "
        'another sum. "auto" is exact up to half a million rows times features.',
    )
    tol: float = parameter(
        0.01,
        parameters.real(0, above=True),
        "While growing, leaf values are fitted until a further step would gain less than this "
        "share of the last split. The last fit goes to the end.",
    )
    ridge_: float = fitted("float", "The ridge that the leaf values were fitted with.")
    freedom_: float = fitted(
        "float", "The effective number of leaf values: those that are not shrunk away."
    )

    def learner(self) -> TreeSumLearner:
        """What grows such sums on rows of a table: the parameters, checked and frozen."""
        return TreeSumLearner(self.settings())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the sum.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, or a pandas or polars frame whose categorical, boolean and string columns are
            read as categories. NaN, None and NA are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        learner = self.learner()
        table = self.read_table(X, y, sample_weight)
        self.become(learner.grow(table) | table.facts())
        return self

    def terms(self) -> list[Term]:
        """Which features the members test, alone or together.

        Returns
        -------
        terms : list of Term
            Members of the same features belong to one term; the largest share comes first. A term
            of one feature has a :meth:`feature_shape`; those of several are interactions.
        """
        check_is_fitted(self)
        return terms_of(self.graphs_, self._names())

    def feature_shape(self, feature: str | int) -> Shape:
        """What a feature adds to the scores by itself, as steps.

        Parameters
        ----------
        feature : str or int
            Its name, or its number.

        Returns
        -------
        shape : Shape
            The sum of all members that test no other feature; zero where there is none.
        """
        check_is_fitted(self)
        names = self._names()
        if feature in names:
            place = names.index(feature)
        elif parameters.is_int(feature) and int(feature) in range(len(names)):
            place = int(feature)
        else:
            raise ValueError(f"'feature' must be a feature of the model, got {feature!r}.")
        known = self.schema_.categories.get(place)
        return shape_of(self.graphs_, len(self.intercept_), place, names[place], known)

    def _names(self) -> list:
        names = self.schema_.feature_names
        return list(range(self.n_features_in_)) if names is None else names

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the variance of the members' scores that the splits of each feature make."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for graph in self.graphs_:
            lost = graph.weight * graph.impurity
            made = np.where(graph.left < 0, 0.0, lost - lost[graph.left] - lost[graph.right])
            total += sum_by_feature(graph, made)
        return total / total.sum() if total.sum() > 0 else total


class TreeSumClassifier(SumClassifier, TreeSum, ClassWeightParameter):
    """A sum of few trees that adds up to the log-odds of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import TreeSumClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TreeSumClassifier(max_splits=8).fit(X, y)
    >>> model.n_splits_
    8
    """


class TreeSumRegressor(SumRegressor, TreeSum):
    """A sum of few trees for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import TreeSumRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeSumRegressor(max_splits=4).fit(X, y)
    >>> model.n_splits_
    4
    """

    loss: str = parameter(
        "squared_error",
        parameters.option("squared_error", "absolute_error", "quantile", "poisson", "gamma"),
        'What is made small. "poisson" is for counts and "gamma" for positive numbers: members '
        "add up to the logarithm.",
    )
    quantile: float | None = parameter(
        None,
        parameters.real(0, 1, optional=True),
        'Which quantile is predicted, for ``loss="quantile"``.',
    )
