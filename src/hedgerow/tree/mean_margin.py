"""Mean-margin trees: oblique splits half-way between the means of two groups of rows.

After M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small heterogeneous is
better than large homogeneous" (2008). A node divides its rows into two groups by their labels, and
tests on which side of the plane between the two group means a row lies: no search, no parameter,
one pass for the means and one product with the rows of the node. Grown by the engine
(``cpp/margin``); this module checks parameters and speaks scikit-learn.

Beyond the paper, whose own trees are ``preset="paper"``: ``standardize``, limits of growth,
pruning, weights, and a fixed start of the power method in place of a random one, so that a tree is
the same in every run; ``random_start`` draws it.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters
from hedgerow._engine import MarginParams, grow_mean_margin, standard_scale
from hedgerow._estimator import fitted, parameter
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow._growth import NodeParameters
from hedgerow._learner import Grown, Learner, n_rows_of, weight_of
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter


class MeanMarginLearner(Learner):
    """Grows a tree whose tests lie half-way between two group means."""

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The tree of some rows of a table; see :meth:`Learner.grow`."""
        given, n_rows = self.settings, n_rows_of(table, rows)
        weights = table.weighed(getattr(given, "class_weight", None), weights)
        limits = MarginParams(
            max_depth=parameters.limit(given.max_depth),
            min_samples_split=parameters.count_or_share(
                "min_samples_split", given.min_samples_split, n_rows, low=2
            ),
            min_samples_leaf=parameters.count_or_share(
                "min_samples_leaf", given.min_samples_leaf, n_rows, low=1
            ),
            min_weight_leaf=float(given.min_weight_fraction_leaf * weight_of(table, weights, rows)),
            ccp_alpha=float(given.ccp_alpha),
            power_steps=int(given.power_steps),
            start_seed=int(check_random_state(seed).randint(2**31 - 1))
            if given.random_start
            else None,
        )
        matrix, n_categories = table.matrix(), table.n_categories
        standardize = given.standardize
        if standardize is None:
            standardize = given.preset != "paper"
        scale = None
        if standardize:
            scale = standard_scale(matrix, n_categories, rows, weights, self.n_jobs)
        targets = table.targets
        if table.classes is None:
            targets = targets.reshape(len(targets), -1)
        graph = grow_mean_margin(
            matrix, n_categories, rows, targets, weights, table.n_classes, scale, limits,
            self.n_jobs,
        )  # fmt: skip
        return Grown(graph, {"scale_": scale})


class _MeanMarginTree(GraphModel, NodeParameters):
    preset: str | None = parameter(
        None, parameters.PRESET, '"paper" takes the settings of the paper where none are given.'
    )
    standardize: bool | None = parameter(
        None,
        parameters.OPTIONAL_FLAG,
        "Measure every number in its standard deviations, so that no feature counts for more "
        'because of its unit. None means True, and False for ``preset="paper"``.',
    )
    ccp_alpha: float = parameter(
        0.0, parameters.real(0), "Price of a leaf in minimal cost-complexity pruning."
    )
    power_steps: int = parameter(
        10,
        parameters.integer(high=10_000),
        "Steps of the power method that finds the principal component of more than two classes or "
        "outputs. The paper has 10, and says that rare cases need more.",
    )
    random_start: bool = parameter(
        False,
        parameters.FLAG,
        "Start the power method at random in every node, as the paper does. The fixed start makes "
        "the tree depend on the order of the class labels instead of on ``random_state``; in bags "
        "neither is better.",
    )
    random_state: Any = parameter(
        None, parameters.SEED, "Of ``random_start``. The default tree needs no chance."
    )
    scale_: np.ndarray | None = fitted(
        "ndarray of shape (n_features,) or None",
        "Standard deviations that the numbers are measured in; None without ``standardize``.",
    )

    def learner(self) -> MeanMarginLearner:
        return MeanMarginLearner(self.settings())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers below 1e100 in size, or a pandas or polars frame whose categorical, boolean and
            string columns are read as categories. NaN, None and NA are missing values: a missing
            number is left out, a missing category counts as equal shares of all categories.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regressor
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        return super().fit(X, y, sample_weight)


class MeanMarginTreeClassifier(GraphClassifier, ClassWeightParameter, _MeanMarginTree):
    """A classification tree whose tests lie half-way between the means of two groups of classes.

    With two classes a node compares them; with more, the first principal component of the class
    labels divides the classes into two groups, anew in every node. A split counts for the
    importance of a feature by its part in the squared distance of the two means.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import MeanMarginTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> MeanMarginTreeClassifier(max_depth=2).fit(X, y).get_n_leaves()
    3
    """


class MeanMarginTreeRegressor(GraphRegressor, _MeanMarginTree):
    """A regression tree whose tests lie half-way between the means of low and high targets.

    With one output a node compares the rows below its mean target with the others; with several,
    the first principal component of the targets divides the rows. A split counts for the
    importance of a feature by its part in the squared distance of the two means.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import MeanMarginTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MeanMarginTreeRegressor(min_samples_leaf=30).fit(X, y).predict(X[:1]).round()
    array([213.])
    """

    _many_outputs = True
