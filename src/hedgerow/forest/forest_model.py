"""What all forests share: growing members on one binned data set, sizes, cutting, importances.

The table is binned once; the engine grows every member on a bag of its rows and packs it at 16
bytes a node (``cpp/grow/forest.hpp``). Member i depends on the seed and on i alone: the result is
the same for any ``n_jobs``, and ``warm_start`` from 50 to 100 members equals 100 from scratch.

An estimator adds its signature, its docstring and how a member splits (``_splitter``).
"""

import inspect
import warnings
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, Forest, ForestParams, PackedGraphs, RowPredictor
from hedgerow._growth import (
    CLASSIFICATION_CRITERIA,
    ENGINE_PARAMETERS,
    GROWTH_PARAMETERS,
    REGRESSION_CRITERIA,
    check_growth,
    check_poisson,
    grow_params,
)
from hedgerow._progress import progress
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor

_FOREST_PARAMETERS = """\
    bootstrap : bool, default={bootstrap}
        Grow each member on rows drawn with replacement, else on all rows.
    oob_score : bool or callable, default=False
        Judge the forest on the rows that members did not see, by accuracy or R², or by a function
        of true and predicted targets.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags and of the members.
    verbose : int, default=0
        1 shows a bar with members done and time left.
    warm_start : bool, default=False
        Keep the members of the last fit and grow only those that are missing to ``n_estimators``.
    max_samples : int or float, default=None
        Rows drawn for each bag, as a number or a share of all; None draws as many as there are.
    callback : callable, default=None
        Called now and then while growing, with (members done, members to grow).
"""

_FOREST_ATTRIBUTES = """\
    forest_ : Forest
        The members, packed for prediction.
    estimators_ : list of DecisionGraph
        The members as graphs, unpacked when asked for; they keep no row counts.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the members' impurity-based importances. They favour features with many values;
        see :meth:`oob_permutation_importance`.
    oob_score_ : float
        Accuracy or R² on out-of-bag rows, with ``oob_score=True``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    defaults = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
    growth = GROWTH_PARAMETERS
    for name, stop in (("max_features", "random_state"), ("random_state", "max_leaf_nodes")):
        start, end = growth.index(f"    {name} :"), growth.index(f"    {stop} :")
        if name == "random_state" or name not in defaults:
            growth = growth[:start] + growth[end:]
    cls.__doc__ = cls.__doc__.format(
        growth=growth.replace(
            '"log2"}, default=None', f'"log2"}}, default={defaults.get("max_features")!r}'
        ).strip(),
        engine=ENGINE_PARAMETERS[: ENGINE_PARAMETERS.index("    n_jobs :")].strip(),
        forest=_FOREST_PARAMETERS.format(bootstrap=defaults["bootstrap"]).strip(),
        attributes=_FOREST_ATTRIBUTES.strip(),
    )
    return cls


class ForestModel(TableModel):
    _criteria: ClassVar[dict[str, str]]
    forest_: Forest

    @property
    def _splitter(self) -> str:
        return "best"

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
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
        self._check_parameters()
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        keep = self.warm_start and hasattr(self, "forest_")
        old_features = getattr(self, "n_features_in_", None)
        X, y, weights = self._read_table(X, y, sample_weight)
        n_outputs = getattr(self, "n_classes_", 1)
        if keep:
            self._check_kept(old_features, n_outputs)
            # A copy: the forest there is answers others until the new one is complete.
            forest = self.forest_.first(self.forest_.n_members)
        else:
            forest = Forest(self.n_features_in_, n_outputs)
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_kept = forest.n_members
        missing = self.n_estimators - n_kept
        if missing == 0:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=2,
            )
            return self
        weights = self._with_class_weight(y, weights)
        data = self.schema_.bin(X, parameters.max_bins_code(self.max_bins), n_jobs)
        params = self._forest_params(len(y), weights)
        with progress(self.verbose, self.callback, missing, type(self).__name__) as report:
            unseen = forest.grow(
                data, None, y, weights, params, missing, bool(self.oob_score), n_jobs, report
            )
        self.forest_ = forest
        if self.oob_score:
            self._add_kept(X, params, n_kept, *unseen)
            self._set_oob(y, *unseen)
        return self

    def _add_kept(
        self, X: Any, params: ForestParams, n_kept: int, sums: np.ndarray, counts: np.ndarray
    ) -> None:
        """Add what the members of earlier fits say of the rows they did not see."""
        encoded = self.schema_.encode(self, X) if n_kept else X
        for member in range(n_kept):
            unseen = params.bag(len(counts), member) == 0
            sums[unseen] += PackedGraphs([self.forest_.graph(member)]).predict(encoded[unseen])
            counts[unseen] += 1

    def _check_parameters(self) -> None:
        check_growth(self, self._criteria)
        parameters.check_int("n_estimators", self.n_estimators, low=1)
        parameters.check_int(
            "verbose", int(self.verbose) if self.verbose is True else self.verbose, low=0
        )
        for name in ("bootstrap", "warm_start"):
            parameters.check_bool(name, getattr(self, name))
        if not callable(self.oob_score):
            parameters.check_bool("oob_score", self.oob_score)
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError("'max_samples' needs bootstrap=True: without it every row is used.")

    def _check_kept(self, old_features: int | None, n_outputs: int) -> None:
        if self.n_features_in_ != old_features or n_outputs != self.forest_.n_outputs:
            raise ValueError(
                "warm_start needs the features and classes of the first fit; "
                "set warm_start=False to start anew."
            )
        if self.n_estimators < self.forest_.n_members:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={self.forest_.n_members} when warm_start==True"
            )

    def _forest_params(self, n_rows: int, weights: np.ndarray | None) -> ForestParams:
        n_draws = self._n_draws(n_rows)
        tree = grow_params(
            self,
            self._criteria[self.criterion],
            splitter=self._splitter,
            n_rows=n_rows,
            n_features=self.n_features_in_,
            total_weight=float(n_rows if weights is None else weights.sum()) * n_draws / n_rows,
            n_classes=getattr(self, "n_classes_", 0),
            seed=0,
            ccp_alpha=self.ccp_alpha,
        )
        return ForestParams(
            tree,
            seed=self._seed,
            bootstrap=bool(self.bootstrap),
            n_draws=n_draws,
            balanced_subsample=getattr(self, "class_weight", None) == "balanced_subsample",
        )

    def _n_draws(self, n_rows: int) -> int:
        if self.max_samples is None:
            return n_rows
        n_draws = parameters.count_or_share("max_samples", self.max_samples, n_rows, low=1)
        if n_draws > n_rows:
            raise ValueError(
                f"`max_samples` must be <= n_samples={n_rows} but got value {self.max_samples}"
            )
        if isinstance(self.max_samples, float):
            return max(1, round(n_rows * self.max_samples))
        return n_draws

    def _oob_means(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        if not counts.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates.",
                stacklevel=4,
            )
        with np.errstate(invalid="ignore"):
            return sums / counts[:, None]

    def _values(self, X: Any) -> np.ndarray:
        """The mean of the members' values: class probabilities or one number."""
        check_is_fitted(self)
        encoded = self.schema_.encode(self, X, finite=False)
        return self.forest_.predict(encoded, parameters.resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf that each row ends in, in each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
        """
        check_is_fitted(self)
        encoded = self.schema_.encode(self, X)
        return self.forest_.apply(encoded, parameters.resolve_n_jobs(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """The nodes that each row passes, in all members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` belong to member i.
        """
        check_is_fitted(self)
        encoded = self.schema_.encode(self, X)
        parts = []
        for graph in self.estimators_:
            starts, nodes = graph.decision_path(encoded)
            ones = np.ones(len(nodes), dtype=np.int64)
            parts.append(csr_matrix((ones, nodes, starts), shape=(len(encoded), graph.n_nodes)))
        ends = np.cumsum([0] + [part.shape[1] for part in parts])
        return hstack(parts, format="csr"), ends

    def row_predictor(self) -> RowPredictor:
        """A fast lane for one row at a time; see :meth:`DecisionTreeClassifier.row_predictor`."""
        check_is_fitted(self)
        labels = self.classes_.tolist() if hasattr(self, "classes_") else None
        return RowPredictor(self.forest_, labels)

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
        check_is_fitted(self)
        parameters.check_int("n_estimators", n_estimators, low=1)
        if n_estimators > self.forest_.n_members:
            raise ValueError(
                f"'n_estimators' must be at most {self.forest_.n_members}, got {n_estimators}."
            )
        smaller = clone(self).set_params(n_estimators=n_estimators)
        left_out = ("forest_", "n_estimators")
        for name, value in vars(self).items():
            is_fitted_part = name.endswith("_") or name.startswith("_")
            if is_fitted_part and not name.startswith(("oob_", *left_out)):
                setattr(smaller, name, value)
        smaller.forest_ = self.forest_.first(n_estimators)
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
        y = clone(self)._read_targets(np.asarray(y))
        if len(y) != len(encoded):
            raise ValueError(f"X has {len(encoded)} rows and y has {len(y)}.")
        drops = self.forest_.out_of_bag_importances(
            self._forest_params(len(y), None),
            encoded,
            y,
            parameters.resolve_n_jobs(self.n_jobs),
        )
        return Bunch(
            importances_mean=np.nanmean(drops, axis=0),
            importances_std=np.nanstd(drops, axis=0),
            importances=drops.T,
        )

    @property
    def estimators_(self) -> list[DecisionGraph]:
        """The members as graphs."""
        check_is_fitted(self)
        return [self.forest_.graph(i) for i in range(self.forest_.n_members)]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the members' impurity-based importances."""
        check_is_fitted(self)
        return self.forest_.importances.mean(axis=0)

    @property
    def n_splits_(self) -> int:
        """Number of tests in all members."""
        check_is_fitted(self)
        return (self.forest_.n_nodes - self.forest_.n_members) // 2

    @property
    def nbytes_(self) -> int:
        """Bytes that the members take in memory and, nearly, in a file."""
        check_is_fitted(self)
        return self.forest_.nbytes

    def get_depth(self) -> int:
        """Depth of the deepest member."""
        return max(graph.depth for graph in self.estimators_)


class ForestClassifier(TableClassifier, ForestModel):
    _criteria = CLASSIFICATION_CRITERIA

    def _best_classes(self, X):
        check_is_fitted(self)
        encoded = self.schema_.encode(self, X, finite=False)
        return self.forest_.predict_class(encoded, parameters.resolve_n_jobs(self.n_jobs))

    def _with_class_weight(self, y, weights):
        if isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample":
            return weights  # weighed bag by bag, in the engine
        return super()._with_class_weight(y, weights)

    def _set_oob(self, y, sums, counts):
        self.oob_decision_function_ = self._oob_means(sums, counts)
        judged = counts > 0
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        predicted = self.classes_[sums[judged].argmax(axis=1)]
        self.oob_score_ = metric(self.classes_[y[judged]], predicted)


class ForestRegressor(TableRegressor, ForestModel):
    _criteria = REGRESSION_CRITERIA

    def _read_targets(self, y):
        return check_poisson(self.criterion, super()._read_targets(y))

    def _set_oob(self, y, sums, counts):
        self.oob_prediction_ = self._oob_means(sums, counts)[:, 0]
        judged = counts > 0
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = metric(y[judged], self.oob_prediction_[judged])
