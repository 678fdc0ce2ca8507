"""What sums of graphs share: scores are an intercept and the values of the members, added up.

A model's ``fit`` finds ``graphs_`` and ``intercept_``; prediction, sizes, members and files are
here. Graphs of one output take turns among the scores (boosting grows a tree for each class), those
of several outputs add to all of them. Values are the scores through the link: the log-odds of two
classes, a score for each of several, the logarithm of counts, or the number itself.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import DecisionGraph, GraphSum, PackedGraphs, SumRowPredictor, link
from hedgerow._estimator import fitted
from hedgerow._graph_model import CATEGORY
from hedgerow._learner import Grown
from hedgerow._parameters import resolve_n_jobs
from hedgerow._shapley import Summands
from hedgerow._table_model import OwnTableParameters, TableClassifier, TableRegressor
from hedgerow.forest.ensemble import GraphEnsemble
from hedgerow.tree.cart import DecisionTreeRegressor


class _Summing:
    """A sum of graphs that is laid out for prediction when that is first asked for."""

    def __init__(
        self, n_features: int, graphs: list[DecisionGraph], intercept: np.ndarray, link: str
    ):
        self._given = (n_features, graphs, intercept, link)

    @cached_property
    def sum(self) -> GraphSum:
        return GraphSum(*self._given)


def check_targets(loss: str, targets: np.ndarray) -> None:
    """Refuse targets that the loss has no value for."""
    if loss == "gamma" and targets.min() <= 0:
        raise ValueError(
            f"loss 'gamma' needs targets above zero, got a smallest target of {targets.min():g}."
        )
    if loss == "poisson" and (targets.min() < 0 or targets.sum() <= 0):
        raise ValueError(
            "loss 'poisson' needs targets that are not negative and not all zero, "
            f"got a smallest target of {targets.min():g}."
        )


class SumModel(GraphEnsemble, OwnTableParameters):
    """A fitted model that is a sum of graphs."""

    graphs_: list[DecisionGraph] = fitted("list of DecisionGraph", "The members, in order.")
    intercept_: np.ndarray = fitted(
        "ndarray of shape (n_scores,)", "The scores of a row before any member adds to them."
    )

    @property
    def link(self) -> str:
        """How scores become values: "identity", "log", "logit" or "softmax"."""
        raise NotImplementedError

    def rebuild(self) -> None:
        if hasattr(self, "graphs_"):
            self._summing = _Summing(self.n_features_in_, self.graphs_, self.intercept_, self.link)

    def check_fitted(self) -> None:
        super().check_fitted()
        intercept = self.intercept_
        if intercept.dtype != np.float64 or len(intercept) != self._n_scores:
            raise ValueError("the model has another number of scores")
        known = set(self.schema_.categories)
        for graph in self.graphs_:
            if not set(graph.feature[graph.kind == CATEGORY].tolist()) <= known:
                raise ValueError("a graph tests categories of a feature that has none")
        GraphSum(self.n_features_in_, self.graphs_, intercept, self.link)  # refuses what is none

    @property
    def _n_scores(self) -> int:
        return 1 if self.link == "logit" else self.n_values

    @property
    def _sum(self) -> GraphSum:
        return self._summing.sum

    @property
    def _packed(self) -> PackedGraphs:
        return self._sum.graphs

    @property
    def _n_members(self) -> int:
        return len(self.graphs_)

    def _graph(self, place: int) -> DecisionGraph:
        return self.graphs_[place]

    def _member(self, place: int) -> DecisionTreeRegressor:
        """A member as a regressor of what it adds to the scores."""
        graph = self.graphs_[place]
        member = DecisionTreeRegressor()
        facts = self.facts() | {"n_outputs_": graph.n_outputs}
        member.become({name: facts[name] for name in facts if "classes" not in name})
        return member.with_graph(Grown(graph, {"max_features_": self.n_features_in_}))

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X, finite=False)
        return self._sum.predict(encoded, resolve_n_jobs(self.n_jobs))

    def _scores(self, X: Any) -> np.ndarray:
        """The sums themselves, before the link: n_samples x n_scores."""
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X, finite=False)
        return self._sum.scores(encoded, resolve_n_jobs(self.n_jobs))

    @property
    def _takes_turns(self) -> bool:
        """Whether each member adds to one score, as in boosting with a tree for each class."""
        return bool(self.graphs_) and self.graphs_[0].n_outputs == 1

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """The sums after each member, or each round of them; one array, which the next changes."""
        check_is_fitted(self)
        encoded = self.schema_.rows(self, X)
        n_jobs = resolve_n_jobs(self.n_jobs)
        scores = np.tile(self.intercept_, (len(encoded), 1))
        for place, graph in enumerate(self.graphs_):
            turn = place % scores.shape[1] if graph.n_outputs == 1 else slice(None)
            values = graph.value[graph.apply(encoded, n_jobs)]
            scores[:, turn] += values[:, 0] if graph.n_outputs == 1 else values
            if not self._takes_turns or turn == scores.shape[1] - 1:
                yield scores

    def _staged_values(self, X: Any) -> Iterator[np.ndarray]:
        """Values after each member or round, the last as `_values` has them, bit by bit."""
        for scores in self._staged_scores(X):
            yield link(scores, self.link)

    def summands(self) -> Summands:
        n_scores = len(self.intercept_)
        if not self.graphs_:
            leaf = DecisionTreeRegressor().fit(np.zeros((1, self.n_features_in_)), [0.0]).graph_
            return Summands(self.intercept_, [[leaf]] * n_scores, 1.0)
        dealt = [self.graphs_[turn::n_scores] for turn in range(n_scores)]
        return Summands(self.intercept_, dealt if self._takes_turns else [self.graphs_], 1.0)

    def row_predictor(self) -> SumRowPredictor:
        """A fast lane for one row at a time; see :meth:`DecisionTreeClassifier.row_predictor`."""
        check_is_fitted(self)
        labels = self.classes_.tolist() if hasattr(self, "classes_") else None
        return SumRowPredictor(self._sum, labels)

    @property
    def nbytes_(self) -> int:
        """Bytes that the members take in the form that predicts."""
        check_is_fitted(self)
        return self._sum.nbytes

    def get_depth(self) -> int:
        """Depth of the deepest member; 0 without members."""
        check_is_fitted(self)
        return max((graph.depth for graph in self.graphs_), default=0)


class SumClassifier(SumModel, TableClassifier):
    """A sum of graphs whose scores are log-odds."""

    @property
    def link(self) -> str:
        return "logit" if self.n_classes_ == 2 else "softmax"

    def decision_function(self, X: Any) -> np.ndarray:
        """The sums themselves: log-odds of the second class, or a score for each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The sums after each member, or each round of one member for each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield scores[:, 0].copy() if scores.shape[1] == 1 else scores.copy()

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Class probabilities after each member, or each round of one member for each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        yield from self._staged_values(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The most probable class of each row after each member or round.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._staged_values(X):
            yield self.classes_[values.argmax(axis=1)]


class SumRegressor(SumModel, TableRegressor):
    """A sum of graphs for numbers."""

    _links: ClassVar[dict[str, str]] = {"poisson": "log", "gamma": "log"}

    def check_parameters(self) -> None:
        super().check_parameters()
        if getattr(self, "loss", None) == "quantile" and getattr(self, "quantile", None) is None:
            raise ValueError("loss 'quantile' needs 'quantile', a number from 0 to 1.")

    @property
    def link(self) -> str:
        return self._links.get(getattr(self, "loss", "squared_error"), "identity")

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predicted number of each row after each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._staged_values(X):
            yield values[:, 0]
