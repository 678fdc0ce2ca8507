"""What bags share: members on drawn rows of one table, which vote.

A bag of plain decision trees is grown as a forest in the engine: the table is binned once, threads
take whole trees. Other members that are graphs grow on the same table through their learner and are
packed together for prediction. Every other member is fitted through joblib.

A bag says what its members are copies of (``_new_estimator``) and what they are fitted on
(``_new_draws``).
"""

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from copy import copy
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._columns import count_rows, take_columns, take_rows
from hedgerow._engine import DecisionGraph, Forest, PackedGraphs
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import GraphModel, Packing, check_forest
from hedgerow._learner import Grown
from hedgerow._progress import Progress, members_progress, with_callbacks
from hedgerow._several_outputs import SeveralOutputsClassifier, by_output
from hedgerow._table import Table, chosen_features
from hedgerow._table_model import TableModel, TableRegressor
from hedgerow._targets import same_classes
from hedgerow._threads import in_threads
from hedgerow.forest.draws import Draws
from hedgerow.forest.ensemble import (
    BagParameters,
    GraphEnsemble,
    OutOfBagClassifier,
    OutOfBagRegressor,
    check_out_of_bag,
    mean_shares,
    out_of_bag_facts,
)
from hedgerow.forest.learner import (
    ForestLearner,
    GrownForest,
    Unseen,
    member_state,
    new_seed,
)
from hedgerow.forest.members import (
    MemberModel,
    check_columns,
    check_members,
    fit_member,
    grow_member,
    is_graph_model,
    learner_of,
    seeded,
    takes_weights,
)
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor

_FEW_FEATURES = 65_536  # more are not drawn again to look whether a file tells the truth
_TOGETHER = 10  # members summed by one task of a prediction: fixed, so sums keep their order


class Bag(GraphEnsemble, BagParameters, MemberModel):
    """Members on drawn rows of one table."""

    max_samples: int | float = parameter(
        1.0,
        parameters.count(1),
        "Rows drawn for each member, as a number or a share of all.",
    )
    estimator_: Any = fitted("estimator", "What the members are copies of.")
    draws_: Draws = fitted("Draws", "What the rows, features and seeds of the members follow from.")
    forest_: Forest | None = fitted(
        "Forest or None", "The members, packed, where they are plain decision trees."
    )
    members_: list = fitted("list of estimators", "The fitted members, where they are not.")
    _tree: ClassVar[type[GraphModel]]  # the plain decision tree that the engine grows forests of

    def _new_draws(self, seed: int, table: Table) -> Draws:
        raise NotImplementedError

    def check_fitted(self) -> None:
        super().check_fitted()
        draws, forest, members = self.draws_, self.forest_, self.members_
        if draws.n_features != self.n_features_in_ or not draws.are_possible:
            raise ValueError("the draws of the bag are impossible")
        if forest is not None:
            if members or type(self.estimator_) is not self._tree or draws.draws_features:
                raise ValueError("the bag has a forest that it cannot have grown")
            check_forest(self, forest)
            return
        if not members:
            raise ValueError("the bag has no members")
        check_members(self, members, draws.n_drawn_features)
        for place, member in enumerate(members if draws.n_features <= _FEW_FEATURES else ()):
            features = draws.features(place)
            names = getattr(member, "feature_names_in_", None)
            if member.n_features_in_ != len(features) or (
                names is not None and (names != self.feature_names_in_[features]).any()
            ):
                raise ValueError("a member has other features than were drawn for it")

    @property
    def _counts_votes(self) -> bool:
        return False

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit the members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Frames are passed on to the members as frames.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Bagging draws rows with probabilities in proportion; other bags multiply the number of
            times that a row was drawn.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        estimator = self._new_estimator()
        table = self.read_table(X, y, sample_weight)
        forest, members, n_kept, unseen = None, [], 0, None
        if self.warm_start and hasattr(self, "draws_"):
            draws = self._new_draws(self.draws_.seed, table)
            self._check_kept(estimator, draws, table)
            forest, members, n_kept = self.forest_, self.members_, self._n_members
        else:
            draws = self._new_draws(new_seed(self.random_state), table)
        new = range(n_kept, self.n_estimators)
        if not new:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=2,
            )
            return self
        if self.oob_score:
            check_out_of_bag(table)
        with members_progress(self, len(new)) as report:
            is_forest = type(estimator) is self._tree and not draws.draws_features
            if is_forest and draws.weights is None:
                forest, unseen = self._grow_trees(table, estimator, draws, forest, new, report)
            else:
                members = members + self._fit_members(table, estimator, draws, new, report)
        facts = table.facts() | {
            "estimator_": estimator, "draws_": draws, "forest_": forest, "members_": members,
        }  # fmt: skip
        if self.oob_score:
            whole = copy(self)
            whole.become(facts)
            unseen = whole._all_unseen(table, n_kept, unseen)
            facts |= out_of_bag_facts(table, unseen, self.oob_score, "estimators")
        self.become(facts)
        return self

    def _check_kept(self, estimator: Any, draws: Draws, table: Table) -> None:
        """Refuse to continue with other members or on another table."""
        same = draws.continues(self.draws_) and type(estimator) is type(self.estimator_)
        if not same or not same_classes(table.classes, getattr(self, "classes_", None)):
            raise ValueError(
                "warm_start needs the table, the kind of members and the draws of the first fit; "
                "set warm_start=False to start anew."
            )
        if self._n_members > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={self._n_members} when warm_start==True"
            )

    def _grow_trees(
        self,
        table: Table,
        tree: Any,
        draws: Draws,
        start: Forest | None,
        new: range,
        report: Progress | None,
    ) -> GrownForest:
        """Grow decision trees in the engine."""
        settings = tree.get_params(deep=False) | {
            "bootstrap": draws.bootstrap,
            "max_samples": draws.n_drawn_rows,
            "n_jobs": self.n_jobs,
        }
        learner = ForestLearner(Settings(settings))
        return learner.grow(
            learner.bin(table),
            draws.seed,
            n_trees=len(new),
            start=start,
            out_of_bag=bool(self.oob_score) and not self._counts_votes,
            report=report,
        )

    def _fit_members(
        self, table: Table, estimator: Any, draws: Draws, new: range, report: Progress | None
    ) -> list:
        """Fit members of any kind: on the shared table in threads, others through joblib."""
        grow = _growing(table, estimator, draws)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        if grow is not None:
            return _in_parts(
                new,
                report,
                n_jobs,
                lambda places: in_threads((partial(grow, p) for p in places), n_jobs),
            )
        task = _fitting(table, estimator, draws)
        # hedgerow's members leave the interpreter free while they grow: threads need no copies.
        prefer = "threads" if isinstance(estimator, TableModel) else None
        try:
            with Parallel(n_jobs=n_jobs, prefer=prefer) as parallel:
                return _in_parts(new, report, n_jobs, lambda places: parallel(map(task, places)))
        except BrokenProcessPool as error:
            if "un-serialize" in str(error):
                raise RuntimeError(
                    f"{type(estimator).__name__} could not be read in a worker process: "
                    "define it in a module that can be imported there, or give threads "
                    "(joblib.parallel_config('threading'))."
                ) from error
            raise RuntimeError(
                "A worker process was killed while members were fitted, most often because memory "
                "ran out: give fewer workers (n_jobs), smaller members, or threads "
                "(joblib.parallel_config('threading'))."
            ) from error

    def rebuild(self) -> None:
        self._packing = None
        if getattr(self, "members_", None) and self._has_graphs:
            self._packing = Packing([member.graph_ for member in self.members_])

    @property
    def _has_graphs(self) -> bool:
        """Whether members are graphs of the bag's own table."""
        return is_graph_model(self.estimator_) and not self.draws_.draws_features

    def _check_graphs(self, averaged: bool = False) -> bool:
        if not hasattr(self, "draws_"):
            return True  # it will be said that the bag is not fitted
        if not self._has_graphs:
            raise AttributeError(
                f"The members of this {type(self).__name__} are no graphs of one table."
            )
        if averaged and self._counts_votes:
            raise AttributeError(f"This {type(self).__name__} counts votes (voting='hard').")
        return True

    @property
    def _packed(self) -> PackedGraphs | None:
        forest, packing = self.forest_, self._packing
        return packing.graphs if forest is None and packing is not None else forest

    @property
    def _n_members(self) -> int:
        return len(self.members_) if self.forest_ is None else self.forest_.n_members

    def _member(self, place: int) -> Any:
        if self.forest_ is None:
            return self.members_[place]
        tree = clone(self.estimator_)
        tree.random_state = member_state(self.draws_.seed, place)
        max_features = parameters.features_to_try(tree.max_features, self.n_features_in_)
        facts = {"max_features_": max_features, "gains_": self.forest_.importances[place]}
        return tree.adopt(self, Grown(self._graph(place), facts))

    def _graph(self, place: int) -> DecisionGraph:
        return self.members_[place].graph_ if self.forest_ is None else self.forest_.graph(place)

    def _prepared(self, X: Any) -> Any:
        """The table as members read it: encoded for the engine's graphs."""
        return self.schema_.rows(self, X) if self._has_graphs else check_columns(self, X)

    def _values_of(self, place: int, X: Any) -> np.ndarray:
        """One member's values for a prepared table: probabilities, votes or numbers."""
        if self._has_graphs:
            graph = self._graph(place)
            return self._said(graph.value[graph.apply(X, 1)])
        if self.draws_.draws_features:
            X = take_columns(X, self.draws_.features(place))
        return self._member_values(self.members_[place], X)

    def _said(self, values: np.ndarray) -> np.ndarray:
        """What a graph with these leaf values says."""
        return values

    def _member_values(self, member: Any, X: Any) -> np.ndarray:
        """What a member that reads its table itself says."""
        raise NotImplementedError

    def _sum_of(self, places: Iterable[int], X: Any) -> np.ndarray:
        return reduce(np.add, (self._values_of(place, X) for place in places))

    def _values(self, X: Any) -> np.ndarray:
        """The mean of the members' values."""
        check_is_fitted(self)
        X, n, packed = self._prepared(X), self._n_members, self._packed
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        if packed is not None and not self._counts_votes:
            return packed.predict(X, n_jobs)
        parts = (range(start, min(start + _TOGETHER, n)) for start in range(0, n, _TOGETHER))
        sums = in_threads((partial(self._sum_of, places, X) for places in parts), n_jobs)
        return reduce(np.add, sums) / n

    def _all_unseen(self, table: Table, n_kept: int, unseen: Unseen | None) -> Unseen:
        """What all members say of the rows they did not see.

        ``unseen`` has what those after the first ``n_kept`` say, where the engine counted it.
        """
        if unseen is None:
            n_kept = self._n_members
            unseen = Unseen(np.zeros((table.n_rows, table.n_values)), np.zeros(table.n_rows))
        X = (table.matrix() if self._has_graphs else table.source) if n_kept else None
        for place in range(n_kept):
            rows = np.flatnonzero(self.draws_.bag(place) == 0)
            if len(rows):
                unseen.sums[rows] += self._values_of(place, take_rows(X, rows))
                unseen.counts[rows] += 1
        return unseen

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows drawn for each member, in ascending order; drawn anew when asked for."""
        check_is_fitted(self)
        return [self.draws_.rows(place) for place in range(self._n_members)]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The features drawn for each member, in ascending order."""
        check_is_fitted(self)
        return [self.draws_.features(place) for place in range(self._n_members)]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the members' importances, where they have some."""
        check_is_fitted(self)
        if self.forest_ is not None:
            return mean_shares(self.forest_)
        total = np.zeros(self.n_features_in_)
        for place, member in enumerate(self.members_):
            total[self.draws_.features(place)] += member.feature_importances_
        return total / len(self.members_)

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
        self._check_subset(n_estimators)
        smaller = copy(self).set_params(n_estimators=n_estimators)
        forest = None if self.forest_ is None else self.forest_.first(n_estimators)
        smaller.become({"forest_": forest, "members_": self.members_[:n_estimators]})
        return smaller


def _in_parts(
    new: range, report: Progress | None, n_jobs: int, fit: Callable[[range], list]
) -> list:
    """New members, so many at a time that somebody who listens hears of it."""
    step = len(new) if report is None else n_jobs
    members = []
    for start in range(new.start, new.stop, step):
        places = range(start, min(start + step, new.stop))
        members += fit(places)
        if report is not None:
            report(places.stop - new.start)
    return members


def _weights_of(table: Table, draws: Draws, place: int) -> np.ndarray:
    """How often each row is drawn for a member, times its weight where it was not drawn by it."""
    bag, weights = draws.bag(place), table.weights
    return bag.astype(np.float64) if weights is None or draws.weights is not None else bag * weights


def _growing(table: Table, estimator: Any, draws: Draws) -> Callable[[int], Any] | None:
    """How a member grows on the table as it was read, if it can."""
    learner = None if draws.draws_features else learner_of(estimator)
    if learner is None:
        return None
    learner.check_table(table)

    def grow(place: int) -> Any:
        seed = check_random_state(draws.seed_of(place)).randint(2**31 - 1)
        weights = _weights_of(table, draws, place)
        return grow_member(place, estimator, learner, table, weights=weights, seed=seed)

    return grow


def _fitting(table: Table, estimator: Any, draws: Draws) -> Callable[[int], Any]:
    """What joblib is given for a member that reads its table itself."""
    by_weight, X, y = takes_weights(estimator), table.as_given, table.labels

    def task(place: int) -> Any:
        return delayed(fit_member)(
            place,
            _new_member(table, estimator, draws, place),
            X,
            y,
            weights=_weights_of(table, draws, place) if by_weight else None,
            rows=None if by_weight else draws.rows(place),
            features=draws.features(place) if draws.draws_features else None,
        )

    return task


def _as_list(of_outputs: Any) -> list:
    return of_outputs if isinstance(of_outputs, list) else [of_outputs]


def _new_member(table: Table, estimator: Any, draws: Draws, place: int) -> Any:
    """A member before its fit; categorical features are those of its own columns."""
    member = seeded(estimator, draws.seed_of(place))
    named = getattr(member, "categorical_features", None)
    if draws.draws_features and named is not None and not isinstance(named, str):
        chosen = chosen_features(named, table.schema)
        of_member = [at for at, feature in enumerate(draws.features(place)) if feature in chosen]
        member.set_params(categorical_features=of_member)
    return member


class BagClassifier(SeveralOutputsClassifier, OutOfBagClassifier, Bag):
    """A bag of classifiers."""

    voting: str = parameter(
        "soft",
        parameters.option("soft", "hard"),
        "Average the members' probabilities, or count their predictions. Members without "
        "``predict_proba`` are always counted.",
    )

    @property
    def _many_outputs(self) -> bool:
        return False  # not with every kind of member

    _tree = DecisionTreeClassifier

    @property
    def _counts_votes(self) -> bool:
        return self.voting == "hard"

    def _said(self, values: np.ndarray) -> np.ndarray:
        if not self._counts_votes:
            return values
        counts = self.class_counts
        parts = zip(counts, by_output(values, counts), strict=True)
        return np.hstack([np.eye(n)[part.argmax(axis=1)] for n, part in parts])

    def _member_values(self, member: Any, X: Any) -> np.ndarray:
        counts, known = self.class_counts, _as_list(self.classes_)
        if self._counts_votes or not hasattr(member, "predict_proba"):
            said = np.asarray(member.predict(X)).reshape(count_rows(X), -1).T
            triples = zip(counts, known, said, strict=True)
            return np.hstack([np.eye(n)[np.searchsorted(all_, y)] for n, all_, y in triples])
        values = np.zeros((count_rows(X), sum(counts)))
        shares, classes = _as_list(member.predict_proba(X)), _as_list(member.classes_)
        for output, part in enumerate(by_output(values, counts)):
            part[:, np.searchsorted(known[output], classes[output])] = shares[output]
        return values

    def _check_decisions(self) -> bool:
        if hasattr(getattr(self, "estimator_", self._new_estimator()), "decision_function"):
            return True
        raise AttributeError("The members have no 'decision_function'.")

    @available_if(_check_decisions)
    def decision_function(self, X: Any) -> np.ndarray:
        """The mean of the members' decision functions, where they have some.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        X, all_features = check_columns(self, X), not self.draws_.draws_features
        decisions = (
            member.decision_function(
                X if all_features else take_columns(X, self.draws_.features(place))
            )
            for place, member in enumerate(self.members_)
        )
        return reduce(np.add, decisions) / len(self.members_)


class BagRegressor(TableRegressor, OutOfBagRegressor, Bag):
    """A bag of regressors."""

    _tree = DecisionTreeRegressor

    def _member_values(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), dtype=np.float64).reshape(count_rows(X), -1)
