"""Bags of any estimator, drop-in for scikit-learn's.

Bagging (Breiman, 1996) fits each member on rows drawn with replacement and lets the members vote.
A bag of plain decision trees is grown as a forest in the engine: the table is binned once, threads
take whole trees. hedgerow's other trees share one loaded table too, and are packed together for
prediction. Every other member, hedgerow's or scikit-learn's, is fitted through joblib, so its
process and cluster back ends (Dask, Ray) work.

Member i depends on the seed and on i alone: the result is the same for any ``n_jobs``, and
``warm_start`` from 50 to 100 members equals 100 from scratch.
"""

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from copy import copy
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, Forest, PackedGraphs
from hedgerow._graph_model import GraphModel
from hedgerow._progress import Progress, progress
from hedgerow._table import _chosen_features as chosen_features
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor
from hedgerow.forest.draws import Draws
from hedgerow.forest.forest_model import ForestClassifier, ForestModel, ForestRegressor
from hedgerow.forest.members import (
    ATTRIBUTES,
    Ensemble,
    fit_member,
    grow_member,
    seeded,
    take_columns,
    take_rows,
    takes_weights,
    tree_of,
    tree_params,
    tree_weights,
)
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_TOGETHER = 10  # members summed by one task of a prediction: fixed, so sums keep their order

_PARAMETERS = """\
    estimator : estimator, default=None
        What the members are copies of, hedgerow's or scikit-learn's; None is a decision tree.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=1.0
        Rows drawn for each member, as a number or a share of all.
    max_features : int or float, default=1.0
        Features drawn for each member, as a number or a share of all.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw features with replacement; a member gets a feature once, however often it was drawn.
    oob_score : bool, default=False
        Judge the bag on the rows that members did not see.
    warm_start : bool, default=False
        Keep the members of the last fit and fit only those that are missing to ``n_estimators``.
        The table must be the same.
    n_jobs : int, default=None
        Threads for decision trees, joblib's workers for other members.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags and of the members.
    verbose : int, default=0
        1 shows a bar with members done and time left.
"""

_CALLBACK = """\
    callback : callable, default=None
        Called now and then while fitting, with (members done, members to fit).
"""

_BAG_ATTRIBUTES = """\
    estimators_ : list of estimators
        The fitted members. Decision trees are unpacked when asked for; they keep no row counts.
    estimators_features_ : list of ndarray
        The features of each member.
    oob_score_ : float
        Accuracy or R² on out-of-bag rows, with ``oob_score=True``.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip(),
        callback=_CALLBACK.strip(),
        attributes=(_BAG_ATTRIBUTES + ATTRIBUTES).strip(),
    )
    return cls


class _Bag(Ensemble):
    voting = "soft"  # regressors average
    forest_: Forest | None  # decision trees, grown by the engine
    _members: list  # all others
    _packed: Forest | PackedGraphs | None  # the graphs of all members, laid out for prediction
    _draws: Draws

    _n_draws = ForestModel._n_draws
    _oob_means = ForestModel._oob_means

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Fit the members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Frames are passed on to the members as frames.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplied with the number of times a row was drawn.

        Returns
        -------
        self : object
        """
        member = self._member()
        self._check_parameters(member)
        kept = self._state(self._draws) if self.warm_start and hasattr(self, "_draws") else None
        X, y, weights = self._read_table(X, y, sample_weight)
        if weights is not None and not takes_weights(member):
            raise ValueError(
                f"{type(member).__name__} takes no 'sample_weight': leave it out or take another "
                "estimator."
            )
        self.estimator_ = member
        self._start(len(y), kept)
        first = self._n_members
        if first == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=2,
            )
            return self
        new, unseen = range(first, self.n_estimators), None
        with progress(self.verbose, self.callback, len(new), type(self).__name__) as report:
            if self.forest_ is None:
                self._fit_members(self._new_fit(X, y, weights), new, report)
            else:
                unseen = self._grow_trees(X, y, weights, new, report)
        self._pack()
        if self.oob_score:
            self._set_oob(y, *self._all_unseen(X, first, unseen))
        return self

    def _check_parameters(self, member: Any) -> None:
        self._check_member(member)
        parameters.check_int("n_estimators", self.n_estimators, low=1)
        parameters.check_option("voting", self.voting, ("soft", "hard"))
        for name in ("bootstrap", "bootstrap_features", "oob_score", "warm_start"):
            parameters.check_bool(name, getattr(self, name))
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")

    def _state(self, draws: Draws) -> tuple:
        """What must not change under ``warm_start``."""
        return draws, type(self.estimator_), tuple(getattr(self, "classes_", ()))

    def _start(self, n_rows: int, kept: tuple | None) -> None:
        """Set the draws; drop the members of the last fit, or check that they may stay."""
        draws = Draws(
            seed=int(check_random_state(self.random_state).randint(2**31 - 1))
            if kept is None
            else kept[0].seed,
            n_rows=n_rows,
            n_drawn_rows=self._n_draws(n_rows),
            bootstrap=bool(self.bootstrap),
            n_features=self.n_features_in_,
            n_drawn_features=self._n_drawn_features(),
            bootstrap_features=bool(self.bootstrap_features),
        )
        if kept is None:
            self._members, self.forest_ = [], None
            if type(self.estimator_) is self._tree and not draws.draws_features:
                self.forest_ = Forest(self.n_features_in_, getattr(self, "n_classes_", 1))
        elif kept != self._state(draws):
            raise ValueError(
                "warm_start needs the table, the kind of members and the draws of the first fit; "
                "set warm_start=False to start anew."
            )
        elif self._n_members > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={self._n_members} when warm_start==True"
            )
        self._draws = draws

    def _n_drawn_features(self) -> int:
        given, n_features = self.max_features, self.n_features_in_
        n = parameters.count_or_share("max_features", given, n_features, low=1)
        if n > n_features:
            raise ValueError(
                f"'max_features' must be at most {n_features}, the number of features, got {n}."
            )
        return n if parameters.is_int(given) else max(1, int(given * n_features))

    @property
    def _n_members(self) -> int:
        return len(self._members) if self.forest_ is None else self.forest_.n_members

    def _grow_trees(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, new: range, report: Progress | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Grow decision trees in the engine; return their out-of-bag sums and counts."""
        assert self.forest_ is not None
        tree, n_jobs = self.estimator_, parameters.resolve_n_jobs(self.n_jobs)
        weights = tree_weights(self, tree, y, weights)
        data = self.schema_.bin(X, parameters.max_bins_code(tree.max_bins), n_jobs)
        share = self._draws.n_drawn_rows / len(y)
        total = share * float(len(y) if weights is None else weights.sum())
        params = self._draws.forest_params(tree_params(self, tree, len(y), total))
        # On a copy: the forest there is answers others until the new one is complete.
        forest = self.forest_.first(self.forest_.n_members)
        unseen = forest.grow(
            data, None, y, weights, params, len(new), self.oob_score, n_jobs, report
        )
        self.forest_ = forest
        return unseen

    def _new_fit(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Callable[[int], Any]:
        """What joblib is given for a member: a delayed call that fits it on its draws."""
        draws, by_weight = self._draws, takes_weights(self.estimator_)

        def weights_of(place: int) -> np.ndarray:
            bag = draws.bag(place)
            return bag.astype(np.float64) if weights is None else bag * weights

        def fit(place: int) -> Any:
            return delayed(fit_member)(
                place,
                self._new_member(place),
                X,
                labels,
                weights=weights_of(place) if by_weight else None,
                rows=None if by_weight else draws.rows(place),
                features=draws.features(place) if draws.draws_features else None,
            )

        def grow(place: int) -> Any:
            member = copy(self.estimator_)  # a clone of its own takes long beside a small tree
            if hasattr(member, "random_state"):
                random = check_random_state(self._draws.seed_of(place))
                member.random_state = random.randint(2**31 - 1)
            shared = self._table_of(place, table, weights)
            return delayed(grow_member)(place, member, self, shared, targets, weights_of(place))

        if not (self._has_graphs and self.estimator_._grows_on_rows()):
            labels = self._labels(y)
            return fit
        reader = clone(self.estimator_)
        reader._check_parameters()
        reader._adopt_table(self)
        targets = y if is_classifier(self) else reader._read_targets(y)
        table = reader._load(X)
        return grow

    def _table_of(self, place: int, table: Any, weights: np.ndarray | None) -> Any:
        """The loaded table as member number ``place`` gets it."""
        return table

    def _fit_members(self, task: Callable[[int], Any], new: range, report: Progress | None) -> None:
        """Fit members of any kind through joblib."""
        # hedgerow's members leave the interpreter free while they grow: threads need no copies.
        prefer = "threads" if isinstance(self.estimator_, TableModel) else None
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        step = len(new) if report is None else n_jobs
        try:
            with Parallel(n_jobs=n_jobs, prefer=prefer) as parallel:
                for start in range(new.start, new.stop, step):
                    places = range(start, min(start + step, new.stop))
                    self._members += parallel(task(place) for place in places)
                    if report is not None:
                        report(places.stop - new.start)
        except BrokenProcessPool as error:
            if "un-serialize" in str(error):
                raise RuntimeError(
                    f"{type(self.estimator_).__name__} could not be read in a worker process: "
                    "define it in a module that can be imported there, or give threads "
                    "(joblib.parallel_config('threading'))."
                ) from error
            raise RuntimeError(
                "A worker process was killed while members were fitted, most often because memory "
                "ran out: give fewer workers (n_jobs), smaller members, or threads "
                "(joblib.parallel_config('threading'))."
            ) from error

    def _new_member(self, place: int) -> Any:
        """A member before its fit; categorical features are those of its own columns."""
        member = seeded(self.estimator_, self._draws.seed_of(place))
        named = getattr(member, "categorical_features", None)
        if self._draws.draws_features and named is not None and not isinstance(named, str):
            chosen = chosen_features(named, self.schema_)
            own = [at for at, f in enumerate(self._draws.features(place)) if f in chosen]
            member.set_params(categorical_features=own)
        return member

    @property
    def _has_graphs(self) -> bool:
        """Whether members are graphs of the engine that read the bag's own table."""
        is_graph = isinstance(self.estimator_, GraphModel) and not self._draws.draws_features
        return self.forest_ is not None or is_graph

    def _pack(self) -> None:
        """Make the members ready to predict together, where they are graphs."""
        self._packed = self.forest_
        if self._has_graphs and self.forest_ is None:
            self._packed = PackedGraphs([member.graph_ for member in self._members])

    def __getstate__(self) -> dict:
        state = dict(super().__getstate__())
        state.pop("_packed", None)  # made from the members again
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if "_members" in state:
            self._pack()

    def _prepared(self, X: Any) -> Any:
        """The table as members read it: encoded for the engine's graphs."""
        return self.schema_.encode(self, X) if self._has_graphs else self._check_table(X)

    def _graph_of(self, place: int) -> DecisionGraph:
        return self._members[place].graph_ if self.forest_ is None else self.forest_.graph(place)

    def _values_of(self, place: int, X: Any) -> np.ndarray:
        """One member's values for a prepared table: probabilities, votes or numbers."""
        if self._has_graphs:
            graph = self._graph_of(place)
            values = graph.value[graph.apply(X, 1)]
            return self._votes(values.argmax(axis=1)) if self.voting == "hard" else values
        if self._draws.draws_features:
            X = take_columns(X, self._draws.features(place))
        return self._member_values(self._members[place], X)

    def _sum_of(self, places: Iterable[int], X: Any) -> np.ndarray:
        return np.sum([self._values_of(place, X) for place in places], axis=0)

    def _values(self, X: Any) -> np.ndarray:
        """The mean of the members' values."""
        check_is_fitted(self)
        X = self._prepared(X)
        n, n_jobs = self._n_members, parameters.resolve_n_jobs(self.n_jobs)
        if self._packed is not None and self.voting == "soft":
            return self._packed.predict(X, n_jobs)
        sums = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._sum_of)(range(start, min(start + _TOGETHER, n)), X)
            for start in range(0, n, _TOGETHER)
        )
        return np.sum(sums, axis=0) / n

    def _all_unseen(
        self, X: Any, first: int, unseen: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the values of the members that did not see a row, and how many these are.

        ``unseen`` has those of the members from ``first`` on, where the engine counted them.
        """
        if unseen is None or self.voting == "hard":
            n, first = self._draws.n_rows, self._n_members
            unseen = np.zeros((n, getattr(self, "n_classes_", 1))), np.zeros(n)
        sums, counts = unseen
        X = self._prepared(X) if first else X
        for place in range(first):
            rows = np.flatnonzero(self._draws.bag(place) == 0)
            if len(rows):
                sums[rows] += self._values_of(place, take_rows(X, rows))
                counts[rows] += 1
        return sums, counts

    @property
    def estimators_(self) -> list:
        """The fitted members."""
        check_is_fitted(self)
        if self.forest_ is None:
            return self._members
        return [tree_of(self, self.forest_.graph(i)) for i in range(self._n_members)]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows drawn for each member, in ascending order; drawn anew when asked for."""
        check_is_fitted(self)
        return [self._draws.rows(i) for i in range(self._n_members)]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The features drawn for each member, in ascending order."""
        check_is_fitted(self)
        return [self._draws.features(i) for i in range(self._n_members)]

    @property
    def n_splits_(self) -> int:
        """Number of tests in all members, where members have tests."""
        return sum(member.n_splits_ for member in self.estimators_)

    def subset(self, n_estimators: int):
        """The bag of the first members.

        Parameters
        ----------
        n_estimators : int
            How many members to keep, at least one.

        Returns
        -------
        bag : object of the same class
            Equal to a bag fitted with that many members; without out-of-bag scores.
        """
        check_is_fitted(self)
        parameters.check_int("n_estimators", n_estimators, low=1)
        if n_estimators > self._n_members:
            raise ValueError(
                f"'n_estimators' must be at most {self._n_members}, got {n_estimators}."
            )
        smaller = copy(self).set_params(n_estimators=n_estimators)
        for name in [name for name in vars(smaller) if name.startswith("oob_") and name[-1] == "_"]:
            delattr(smaller, name)
        smaller._members = self._members[:n_estimators]
        smaller.forest_ = None if self.forest_ is None else self.forest_.first(n_estimators)
        smaller._pack()
        return smaller


@_with_parameters
class BaggingClassifier(TableClassifier, _Bag):
    """A bag of classifiers: members on drawn rows, which vote.

    Parameters
    ----------
    {parameters}
    voting : {{"soft", "hard"}}, default="soft"
        Average the members' probabilities, or count their predictions. Members without
        ``predict_proba`` are always counted.
    {callback}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag class probabilities, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from hedgerow import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> BaggingClassifier(n_estimators=20, random_state=0).fit(X, y).predict(X[:3])
    array([0, 0, 0])
    >>> bayes = BaggingClassifier(GaussianNB(), max_features=2, random_state=0)
    >>> bayes.fit(X, y).score(X, y) > 0.9
    True
    """

    _tree = DecisionTreeClassifier
    _set_oob = ForestClassifier._set_oob

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=1.0,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
        callback=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.callback = callback

    def _votes(self, codes):
        return np.eye(self.n_classes_)[codes]

    def _member_values(self, member, X):
        if self.voting == "hard" or not hasattr(member, "predict_proba"):
            return self._votes(np.searchsorted(self.classes_, member.predict(X)))
        values = np.zeros((len(X), self.n_classes_))
        values[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(X)
        return values


@_with_parameters
class BaggingRegressor(TableRegressor, _Bag):
    """A bag of regressors: members on drawn rows, averaged.

    Parameters
    ----------
    {parameters}
    {callback}

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bag = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bag.oob_score_ > 0.3
    True
    """

    _tree = DecisionTreeRegressor
    _set_oob = ForestRegressor._set_oob

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=1.0,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _member_values(self, member, X):
        return np.asarray(member.predict(X), dtype=np.float64)[:, None]
