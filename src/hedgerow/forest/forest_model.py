"""What all forests share: growing members on one binned data set, sizes, cutting, importances.

The table is binned once; the engine grows every member on a bag of its rows and packs it at 16
bytes a node (``cpp/grow/forest.hpp``). Member i depends on the seed and on i alone: the result is
the same for any ``n_jobs``, and ``warm_start`` from 50 to 100 members equals 100 from scratch.

A forest adds its defaults and what is fixed about how a member splits (``_fixed``).
"""

import warnings
from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, Forest, ForestParams, PackedGraphs
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import GraphModel, check_forest
from hedgerow._growth import (
    CLASSIFICATION_CRITERION,
    GINI_TEXT,
    REGRESSION_CRITERION,
    REGRESSION_TEXT,
    GrowthParameters,
    MonotonicParameter,
    QuantileParameter,
)
from hedgerow._learner import Grown
from hedgerow._progress import members_progress, with_callbacks
from hedgerow._several_outputs import SeveralOutputsClassifier
from hedgerow._table import Table
from hedgerow._table_model import TableRegressor
from hedgerow._targets import check_targets_match, read_targets, same_classes
from hedgerow.forest.ensemble import (
    BagParameters,
    GraphEnsemble,
    OutOfBagClassifier,
    OutOfBagRegressor,
    check_out_of_bag,
    mean_shares,
    out_of_bag_facts,
)
from hedgerow.forest.learner import ForestLearner, Unseen, member_state, new_seed
from hedgerow.forest.quantiles import LeafTargets, leaf_target_facts
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

MAX_FEATURES_TEXT = "Features looked at for each split, drawn anew for each node; None means all."
_BOOTSTRAP_TEXT = "Grow each member on rows drawn with replacement, else on all rows."
_NOT_OF_TREES = {"class_weight", "random_state"}  # the forest's weights and seeds are in the trees


class ForestModel(GraphEnsemble, BagParameters, MonotonicParameter, GrowthParameters):
    """Trees on bags of the rows of one table."""

    bootstrap: bool = parameter(True, parameters.FLAG, _BOOTSTRAP_TEXT)
    max_samples: Any = parameter(
        None,
        parameters.count(1, optional=True),
        "Rows drawn for each bag, as a number or a share of all; None draws as many as there are.",
    )
    keyed_draws: bool = parameter(
        False,
        parameters.FLAG,
        "Draw each row by its own number, with Poisson counts, and the features of a node by its "
        "place in its tree. Nothing else decides, so such forests can grow in many places at once "
        "(``hedgerow.dask``); in one place they take longer.",
    )
    forest_: Forest = fitted("Forest", "The members, packed for prediction.")
    seed_: int = fitted("int", "What the bags and the members follow from.")
    n_rows_: int = fitted("int", "Rows of the training table.", optional=True)
    _tree: ClassVar[type[GraphModel]]  # what a member is
    _fixed: ClassVar[dict[str, Any]] = {"splitter": "best"}  # settings that are no parameters

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; leave 'oob_score' at "
                "False without it."
            )
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                "`bootstrap=True` or set `max_sample=None`: 'max_samples' is the size of a bag."
            )

    def check_fitted(self) -> None:
        super().check_fitted()
        check_forest(self, self.forest_)

    def learner(self) -> ForestLearner:
        """What grows such forests: the parameters, checked and frozen."""
        self.check_parameters()
        return ForestLearner(Settings(self._fixed | self.get_params(deep=False)))

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the members.

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
        kept = self.forest_ if self.warm_start and hasattr(self, "forest_") else None
        if kept is None:
            seed, n_new = new_seed(self.random_state), self.n_estimators
        else:
            seed, n_new = self.seed_, self.n_estimators - kept.n_members
        if n_new == 0:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=2,
            )
            if not self.oob_score or hasattr(self, "oob_score_"):
                return self
        if self.oob_score:
            check_out_of_bag(table)
        if kept is not None:
            self._check_kept(kept, table)
        with members_progress(self, n_new) as report:
            forest, unseen = learner.grow(
                learner.bin(table),
                seed,
                n_trees=n_new,
                start=kept,
                out_of_bag=bool(self.oob_score),
                report=report,
            )
        oob = {}
        if unseen is not None:
            if kept is not None:
                params = self._bag_params(table.n_rows)
                _add_kept(table, kept, params, unseen)
            oob = out_of_bag_facts(table, unseen, self.oob_score, "trees")
        return self.adopt_members(table, forest, seed, oob)

    def adopt_members(
        self,
        table: Table,
        forest: Forest,
        seed: int,
        oob: dict | None = None,
        n_rows: int | None = None,
    ):
        """Become the forest of members that were grown on a table from a seed; return itself.

        ``n_rows`` is given where the table only says what the rows were like.
        """
        facts = table.facts() | {
            "forest_": forest, "seed_": seed, "n_rows_": n_rows or table.n_rows,
        }  # fmt: skip
        if getattr(self, "keep_targets", False):
            facts |= leaf_target_facts(table, forest, self.learner().n_jobs)
        self.become(facts | (oob or {}))
        return self

    def _check_kept(self, kept: Forest, table: Table) -> None:
        if kept.n_features != table.n_features or not same_classes(
            table.classes, getattr(self, "classes_", None)
        ):
            raise ValueError(
                "warm_start needs the features and classes of the first fit; "
                "set warm_start=False to start anew."
            )
        if self.n_estimators < kept.n_members:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={kept.n_members} when warm_start==True"
            )

    def _values(self, X: Any) -> np.ndarray:
        """The mean of the members' values: class probabilities or one number."""
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X, finite=False)
        return self.forest_.predict(encoded, parameters.resolve_n_jobs(self.n_jobs))

    def subset(self, n_estimators: int):
        """The forest of the first members.

        Parameters
        ----------
        n_estimators : int
            How many members to keep, at least one.

        Returns
        -------
        forest : object of the same class
            Equal to a forest fitted with that many members; without out-of-bag scores.
        """
        self._check_subset(n_estimators)
        smaller = copy(self).set_params(n_estimators=n_estimators)
        smaller.become({"forest_": self.forest_.first(n_estimators)})
        return smaller

    def oob_permutation_importance(self, X: Any, y: Any) -> Bunch:
        """How much worse members do on their out-of-bag rows when a feature is shuffled.

        Unlike ``feature_importances_`` this does not favour features with many values, and needs
        no further data.

        Parameters
        ----------
        X, y : the training table and its targets, as given to ``fit``

        Returns
        -------
        result : Bunch
            ``importances_mean`` and ``importances_std`` over the members, and ``importances`` of
            shape (n_features, n_estimators): the rise of the error rate (classifiers) or of the
            mean squared error (regressors).
        """
        check_is_fitted(self)
        if not self.bootstrap:
            raise ValueError("Out-of-bag importances need a forest fitted with bootstrap=True.")
        encoded = self.schema_.encode(self, X)
        targets, classes = read_targets(
            y, has_classes=self._has_classes, many_outputs=self.n_outputs_ > 1
        )
        check_targets_match(encoded, targets)
        if not same_classes(classes, getattr(self, "classes_", None)):
            raise ValueError("y has other classes than in the fit.")
        drops = self.forest_.out_of_bag_importances(
            self._bag_params(len(targets)),
            encoded,
            targets,
            parameters.resolve_n_jobs(self.n_jobs),
        )
        return Bunch(
            importances_mean=np.nanmean(drops, axis=0),
            importances_std=np.nanstd(drops, axis=0),
            importances=drops.T,
        )

    def _bag_params(self, n_rows: int) -> ForestParams:
        """What the bags follow from, as the engine takes it."""
        counts = list(map(int, self.class_counts)) if self._has_classes else []
        return self.learner().params(n_rows, self.n_features_in_, counts, self.seed_, 1.0)

    @property
    def _n_members(self) -> int:
        return self.forest_.n_members

    @property
    def _packed(self) -> PackedGraphs:
        return self.forest_

    def _graph(self, place: int) -> DecisionGraph:
        return self.forest_.graph(place)

    @property
    def estimator(self) -> GraphModel:
        """A tree with the forest's settings, as the members are."""
        settings = self._fixed | self.get_params(deep=False)
        names = set(self._tree().get_params(deep=False)) & set(settings) - _NOT_OF_TREES
        return self._tree(**{name: settings[name] for name in names})

    @property
    def estimator_(self) -> GraphModel:
        """The same as ``estimator``."""
        check_is_fitted(self)
        return self.estimator

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows drawn for each member, in ascending order; drawn anew when asked for."""
        check_is_fitted(self)
        n_rows = self.n_rows_
        params = self._bag_params(n_rows)
        rows = np.arange(n_rows, dtype=np.int32)
        return [np.repeat(rows, params.bag(n_rows, i)) for i in range(self._n_members)]

    def _member(self, place: int) -> GraphModel:
        """A tree with the forest's settings; it keeps no row counts."""
        tree = self.estimator
        tree.random_state = member_state(self.seed_, place)
        max_features = parameters.features_to_try(tree.max_features, self.n_features_in_)
        facts = {"max_features_": max_features, "gains_": self.forest_.importances[place]}
        return tree.adopt(self, Grown(self._graph(place), facts))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the members' impurity-based importances.

        They favour features with many values; see :meth:`oob_permutation_importance`.
        """
        check_is_fitted(self)
        return mean_shares(self.forest_)

    @property
    def n_splits_(self) -> int:
        """Number of tests in all members."""
        check_is_fitted(self)
        return (self.forest_.n_nodes - self.forest_.n_members) // 2


def _add_kept(table: Table, kept: Forest, params: ForestParams, unseen: Unseen) -> None:
    """Add what the members of earlier fits say of the rows they did not see."""
    for place in range(kept.n_members):
        rows = params.bag(table.n_rows, place) == 0
        unseen.sums[rows] += PackedGraphs([kept.graph(place)]).predict(table.matrix()[rows])
        unseen.counts[rows] += 1


class WholeTableForest(ForestModel):
    """A forest whose members are different without bags."""

    bootstrap: bool = parameter(False, parameters.FLAG, _BOOTSTRAP_TEXT)


class ForestClassifier(SeveralOutputsClassifier, OutOfBagClassifier, ForestModel):
    """A forest of classification trees."""

    criterion: str = parameter("gini", CLASSIFICATION_CRITERION, GINI_TEXT)
    class_weight: Any = parameter(
        None,
        parameters.BAG_CLASS_WEIGHT,
        "Weights of the classes, multiplied with ``sample_weight``; "
        '"balanced_subsample" weighs them anew in each bag.',
    )
    _tree = DecisionTreeClassifier

    def _best_classes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X, finite=False)
        return self.forest_.predict_class(encoded, parameters.resolve_n_jobs(self.n_jobs))


class ForestRegressor(
    TableRegressor, OutOfBagRegressor, LeafTargets, QuantileParameter, ForestModel
):
    """A forest of regression trees."""

    criterion: str = parameter("squared_error", REGRESSION_CRITERION, REGRESSION_TEXT)
    _tree = DecisionTreeRegressor
    _many_outputs = True
