"""What ensembles share: their parameters, members that are graphs, and out-of-bag scores."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._conformal import sorted_doubts, sorted_residuals
from hedgerow._engine import DecisionGraph, Forest, PackedGraphs, RowPredictor
from hedgerow._estimator import fitted, parameter
from hedgerow._progress import Watched
from hedgerow._several_outputs import by_output
from hedgerow._shapley import ShapleyModel, Summands
from hedgerow._table import Table
from hedgerow._table_model import N_JOBS_TEXT, TableModel
from hedgerow._targets import side_by_side
from hedgerow.forest.learner import Unseen

_OOB_NAMES = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class ProgressParameters(Watched, TableModel):
    """How many members an ensemble has, and who hears how many are done."""

    n_estimators: int = parameter(
        100,
        parameters.integer(high=parameters.MOST_MEMBERS),
        "Number of members.",
        kw_only=False,
    )
    random_state: Any = parameter(None, parameters.SEED, "Seed of the bags and of the members.")
    verbose: int = parameter(
        0, parameters.VERBOSE, "1 shows a bar with members done and time left."
    )
    callback: Callable[[int, int], None] | None = parameter(
        None,
        parameters.CALLBACK,
        "Called now and then while fitting, with (members done, members to fit).",
    )


class BagParameters(ProgressParameters):
    """Parameters of ensembles whose members depend on the seed and their number alone."""

    oob_score: bool | Callable = parameter(
        False,
        parameters.FLAG_OR_FUNCTION,
        "Judge the ensemble on the rows that members did not see, by accuracy or R², or by a "
        "function of true and predicted targets.",
    )
    warm_start: bool = parameter(
        False,
        parameters.FLAG,
        "Keep the members of the last fit and fit only those that are missing to "
        "``n_estimators``. The table must be the same.",
    )
    n_jobs: int | None = parameter(None, parameters.N_JOBS, N_JOBS_TEXT)
    oob_score_: float = fitted(
        "float",
        "Accuracy, R² or the given score of out-of-bag rows, with ``oob_score``.",
        optional=True,
    )


class OutOfBagClassifier(TableModel):
    """The fitted attribute of classifiers that were judged out of bag."""

    oob_decision_function_: np.ndarray = fitted(
        "array of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)",
        "Out-of-bag class probabilities, NaN for rows that every member saw.",
        optional=True,
    )


class OutOfBagRegressor(TableModel):
    """The fitted attribute of regressors that were judged out of bag."""

    oob_prediction_: np.ndarray = fitted(
        "array of shape (n_samples,) or (n_samples, n_outputs)",
        "Out-of-bag predictions, NaN for rows that every member saw.",
        optional=True,
    )


def check_out_of_bag(table: Table) -> None:
    """Refuse targets that an ensemble is not judged on, before it grows."""
    if table.n_outputs > 1 and max(table.class_counts, default=0) > 2:
        raise ValueError(
            "The type of target cannot be used to compute OOB estimates: several outputs must be "
            f"numbers or have two classes each, y has {table.class_counts} classes."
        )


def out_of_bag_facts(
    table: Table, unseen: Unseen, score: bool | Callable, members: str
) -> dict[str, Any]:
    """The fitted attributes of an ensemble that is judged on what members say of unseen rows."""
    sums, counts = unseen
    if not counts.all():
        warnings.warn(
            f"Some inputs do not have OOB scores. This probably means too few {members} were used "
            "to compute any reliable oob estimates.",
            stacklevel=3,
        )
    with np.errstate(invalid="ignore"):
        means = sums / counts[:, None]
    judged = counts > 0
    if table.classes is None:
        metric = score if callable(score) else r2_score
        means = means[:, 0] if table.n_outputs == 1 else means
        found = {
            "oob_prediction_": means,
            "calibration_": sorted_residuals(table.targets, means),
        }
        predicted = means[judged]
    elif table.n_outputs > 1:
        # Rows are right where all their outputs are.
        metric = score if callable(score) else _share_of_equal_rows
        decisions = np.zeros((table.n_rows, max(table.class_counts), table.n_outputs))
        for output, part in enumerate(by_output(means, table.class_counts)):
            decisions[:, : part.shape[1], output] = part
        found = {"oob_decision_function_": decisions}
        best = decisions[judged].argmax(axis=1)
        predicted = side_by_side([known[best[:, o]] for o, known in enumerate(table.classes)])
    else:
        metric = score if callable(score) else accuracy_score
        found = {
            "oob_decision_function_": means,
            "calibration_": sorted_doubts(table.targets, means),
        }
        predicted = table.classes[sums[judged].argmax(axis=1)]
    return found | {"oob_score_": metric(table.labels[judged], predicted)}


def mean_shares(forest: Forest) -> np.ndarray:
    """Mean importances of the members that have tests, as shares of one."""
    total = forest.importances.sum(axis=0)
    return total / total.sum() if total.sum() > 0 else total


def _share_of_equal_rows(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float((truth == predicted).all(axis=1).mean())


class Ensemble(TableModel):
    """A model with members."""

    @property
    def _n_members(self) -> int:
        raise NotImplementedError

    def _member(self, place: int) -> Any:
        """A fitted member as an estimator."""
        raise NotImplementedError

    @property
    def estimators_(self) -> list:
        """The fitted members."""
        check_is_fitted(self)
        return [self._member(place) for place in range(self._n_members)]

    def __len__(self) -> int:
        check_is_fitted(self)
        return self._n_members

    def __getitem__(self, index: int | slice) -> Any:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self._member(place) for place in places]
        return self._member(places)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def n_splits_(self) -> int:
        """Number of tests in all members, where members have tests."""
        return sum(member.n_splits_ for member in self.estimators_)

    @property
    def nbytes_(self) -> int:
        """Bytes that the members take in the form that predicts, where that is known."""
        return sum(member.nbytes_ for member in self.estimators_)

    def get_depth(self) -> int:
        """Depth of the deepest member."""
        return max(member.get_depth() for member in self.estimators_)

    def _check_subset(self, n_estimators: int) -> None:
        check_is_fitted(self)
        parameters.check_int("n_estimators", n_estimators, low=1)
        if n_estimators > self._n_members:
            raise ValueError(
                f"'n_estimators' must be at most {self._n_members}, got {n_estimators}."
            )

    def become(self, facts: dict[str, Any]) -> None:
        for name in _OOB_NAMES:
            if name not in facts:
                self.__dict__.pop(name, None)  # of an earlier fit
        super().become(facts)
        self.rebuild()


def _has_graphs(model: "GraphEnsemble") -> bool:
    return model._check_graphs()


def _averages_graphs(model: "GraphEnsemble") -> bool:
    return model._check_graphs(averaged=True)


class GraphEnsemble(ShapleyModel, Ensemble):
    """An ensemble whose members are graphs of one table, laid out together for prediction."""

    @property
    def _packed(self) -> PackedGraphs | None:
        """The members together, None where they are no graphs of one table."""
        raise NotImplementedError

    def _check_graphs(self, averaged: bool = False) -> bool:
        """True, or an AttributeError where members are no graphs (or are not averaged)."""
        return True

    def _graph(self, place: int) -> DecisionGraph:
        raise NotImplementedError

    def _graphs(self) -> Iterator[DecisionGraph]:
        return (self._graph(place) for place in range(self._n_members))

    @available_if(_has_graphs)
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
        encoded = self.schema_.rows(self, X)
        assert self._packed is not None
        return self._packed.apply(encoded, parameters.resolve_n_jobs(self.n_jobs))

    @available_if(_has_graphs)
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
        encoded = self.schema_.rows(self, X)
        parts = []
        for graph in self._graphs():
            starts, nodes = graph.decision_path(encoded)
            ones = np.ones(len(nodes), dtype=np.int64)
            parts.append(csr_matrix((ones, nodes, starts), shape=(len(encoded), graph.n_nodes)))
        ends = np.cumsum([0] + [part.shape[1] for part in parts])
        return hstack(parts, format="csr"), ends

    @available_if(_averages_graphs)
    def row_predictor(self) -> RowPredictor:
        """A fast lane for one row at a time; see :meth:`DecisionTreeClassifier.row_predictor`."""
        check_is_fitted(self)
        assert self._packed is not None
        return RowPredictor(self._packed, self._labels)

    def summands(self) -> Summands:
        self._check_graphs(averaged=True)
        return Summands(np.zeros(self.n_values), [list(self._graphs())], 1 / self._n_members)

    @property
    def n_splits_(self) -> int:
        """Number of tests in all members, where members have tests."""
        check_is_fitted(self)
        if self._packed is None:
            return super().n_splits_
        return sum(graph.n_splits for graph in self._graphs())

    @property
    def nbytes_(self) -> int:
        """Bytes that the members take in the form that predicts, where that is known."""
        check_is_fitted(self)
        return super().nbytes_ if self._packed is None else self._packed.nbytes

    def get_depth(self) -> int:
        """Depth of the deepest member, where members have depths."""
        check_is_fitted(self)
        if self._packed is None:
            return super().get_depth()
        return max(graph.depth for graph in self._graphs())
