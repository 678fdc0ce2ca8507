"""One layer of a cascade: members that describe every row by what others taught them.

A member's *values* of a row are class probabilities or one number; the values of all members of a
layer are the row's *vectors*, which the next layer reads beside the raw features. A training row's
vectors come only from trees that did not see it: those of the other folds, or those whose bag it
was not in. A later row's vectors are the mean over all.

Parts
-----
`GrownForest`     a member that is a forest: grown on the binned table, asked by codes
`FoldedMember`    a member of any other kind: one estimator for each fold
`Layer`           fitted members
`fit_layer`       fits all members and gives the vectors of the training rows

A layer's table is the cascade's, coded (`Table.coded`) and widened by the vectors of the layer
before: its raw columns are binned once for all layers, members and folds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state

from hedgerow._engine import Forest
from hedgerow._folds import folds_of
from hedgerow._records.models import part_codec
from hedgerow._table import Table
from hedgerow._table_model import TableModel
from hedgerow.forest.forest_model import ForestModel
from hedgerow.forest.members import (
    fit_member,
    grow_member,
    learner_of,
    seeded,
    takes_weights,
)


@dataclass(frozen=True)
class Folds:
    """The rows that a layer learns from, in folds, and the rows that it only describes."""

    rows: np.ndarray
    parts: list[np.ndarray]
    held: np.ndarray

    def __iter__(self):
        """Pairs of the rows to learn from and the rows to describe."""
        for part in self.parts:
            yield np.setdiff1d(self.rows, part), np.concatenate([part, self.held])


@dataclass(frozen=True)
class GrownForest:
    """A forest on the binned table; its folds are one forest with as many times the trees."""

    forest: Forest

    @classmethod
    def fit(
        cls,
        estimator: ForestModel,
        table: Table,
        folds: Folds,
        *,
        max_bins: int | None,
        n_jobs: int,
        out_of_bag: bool,
        seed: int,
    ) -> tuple["GrownForest", np.ndarray]:
        """The grown forest and the values of all rows it was asked about."""
        learner = clone(estimator).set_params(max_bins=max_bins, n_jobs=n_jobs).learner()
        binned, forest = learner.bin(table), None
        sums, counts = np.zeros((table.n_rows, table.n_values)), np.zeros((table.n_rows, 1))
        for train, asked in [(folds.rows, folds.held)] if out_of_bag else folds:
            forest, unseen = learner.grow(
                binned, seed, start=forest, rows=train, held=asked, out_of_bag=out_of_bag
            )
            sums += unseen.sums
            counts += unseen.counts[:, None]
        with np.errstate(invalid="ignore"):
            values = sums / counts
        in_every_bag = folds.rows[counts[folds.rows, 0] == 0]
        values[in_every_bag] = _mean_value(table, folds.rows)
        assert forest is not None  # there is at least one fold
        return cls(forest), values

    def values(self, matrix: np.ndarray, classes: np.ndarray | None, n_jobs: int) -> np.ndarray:
        """What the forest says of the rows of a matrix."""
        return self.forest.predict(matrix, n_jobs)

    @property
    def shapes(self) -> set[tuple[int, int]]:
        """How many features it reads and how many values it gives."""
        return {(self.forest.n_features, self.forest.n_outputs)}

    @property
    def importances(self) -> np.ndarray:
        return self.forest.importances.mean(axis=0)

    @property
    def n_trees(self) -> int:
        return self.forest.n_members

    @property
    def n_splits(self) -> int:
        return (self.forest.n_nodes - self.forest.n_members) // 2

    @property
    def nbytes(self) -> int:
        return self.forest.nbytes

    @property
    def depth(self) -> int:
        return max(self.forest.graph(tree).depth for tree in range(self.forest.n_members))


def _mean_value(table: Table, rows: np.ndarray) -> np.ndarray:
    """What is known of a row of which nothing is known."""
    weights = None if table.weights is None else table.weights[rows]
    if table.classes is None:
        return np.average(table.targets[rows], weights=weights, keepdims=True)
    counts = np.bincount(table.targets[rows], weights=weights, minlength=table.n_values)
    return counts / counts.sum()


@dataclass(frozen=True)
class FoldedMember:
    """Estimators of any kind, one for each fold."""

    estimators: list

    @classmethod
    def fit(
        cls, estimator: Any, table: Table, folds: Folds, *, n_jobs: int, seed: int
    ) -> tuple["FoldedMember", np.ndarray]:
        """The fitted estimators and the values of all rows they were asked about."""

        def task(fold: int, train: np.ndarray) -> Any:
            targets = table.targets[train]
            is_alone = table.classes is not None and (targets == targets[0]).all()
            # Many classifiers refuse rows of one class, which a small fold may leave.
            member = DummyClassifier() if is_alone else seeded(estimator, seed + fold)
            learner = learner_of(member)
            if learner is not None:
                return delayed(grow_member)(
                    fold, member, learner, table, weights=table.weights,
                    seed=getattr(member, "random_state", None), rows=train.astype(np.uint32),
                )  # fmt: skip
            X, y, weights = training_rows(member, table, train)
            return delayed(fit_member)(fold, member, X, y, weights=weights)

        prefer = "threads" if isinstance(estimator, TableModel) else None
        estimators = Parallel(n_jobs=n_jobs, prefer=prefer)(
            task(fold, train) for fold, (train, _) in enumerate(folds)
        )
        matrix = table.matrix()
        sums, counts = np.zeros((table.n_rows, table.n_values)), np.zeros((table.n_rows, 1))
        for fitted, (_, asked) in zip(estimators, folds, strict=True):
            if len(asked):
                sums[asked] += values_of(fitted, matrix[asked], table.classes)
                counts[asked] += 1
        with np.errstate(invalid="ignore"):
            return cls(estimators), sums / counts

    def values(self, matrix: np.ndarray, classes: np.ndarray | None, n_jobs: int) -> np.ndarray:
        """What the estimators say of the rows of a matrix, in the mean."""
        said = (values_of(e, matrix, classes) for e in self.estimators)
        return reduce(np.add, said) / len(self.estimators)

    @property
    def shapes(self) -> set[tuple[int, int]]:
        """How many features and values the estimators have."""
        return {(e.n_features_in_, len(getattr(e, "classes_", [0]))) for e in self.estimators}

    @property
    def importances(self) -> np.ndarray:
        return np.mean([e.feature_importances_ for e in self.estimators], axis=0)

    @property
    def n_trees(self) -> int:
        return sum(_n_trees(estimator) for estimator in self.estimators)

    @property
    def n_splits(self) -> int:
        return sum(estimator.n_splits_ for estimator in self.estimators)

    @property
    def nbytes(self) -> int:
        return sum(estimator.nbytes_ for estimator in self.estimators)

    @property
    def depth(self) -> int:
        return max(estimator.get_depth() for estimator in self.estimators)


def training_rows(
    estimator: Any, table: Table, rows: np.ndarray
) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
    """What an estimator is fitted on: features, targets and weights of some rows.

    Ours take rows of the table and share its bins.
    """
    if isinstance(estimator, TableModel):
        return table.take(rows), None, None
    weights = table.weights if takes_weights(estimator) else None
    return table.matrix()[rows], table.labels[rows], None if weights is None else weights[rows]


def values_of(estimator: Any, matrix: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Class probabilities in the given order of classes, or one number, for each row."""
    if classes is None:
        return np.asarray(estimator.predict(matrix), dtype=np.float64).reshape(-1, 1)
    values = np.zeros((len(matrix), len(classes)))
    if hasattr(estimator, "predict_proba"):
        values[:, np.searchsorted(classes, estimator.classes_)] = estimator.predict_proba(matrix)
    else:
        chosen = np.searchsorted(classes, estimator.predict(matrix))
        values[np.arange(len(matrix)), chosen] = 1
    return values


def _n_trees(estimator: Any) -> int:
    forest = getattr(estimator, "forest_", None)
    if forest is not None:
        return forest.n_members
    return len(getattr(estimator, "estimators_", [estimator]))


@dataclass(frozen=True)
class Layer:
    """Fitted members; rows that are at least as certain as ``gate`` go no further."""

    members: list[GrownForest | FoldedMember]
    gate: float = np.inf

    def load(self) -> "Layer":
        """Itself: a layer that is in a file is read by the same name."""
        return self

    def vectors(self, matrix: np.ndarray, classes: np.ndarray | None, n_jobs: int) -> np.ndarray:
        """Vectors of the rows of a matrix: rows x members x outputs."""
        return np.stack(
            [member.values(matrix, classes, n_jobs) for member in self.members], axis=1
        ).astype(vector_dtype(classes))


# A layer of forests in files of models and checkpoints.
CODECS = [part_codec("layer", Layer), part_codec("layer-forest", GrownForest)]


def vector_dtype(classes: np.ndarray | None) -> type:
    """Of vectors: probabilities are rounded, numbers are not, as they may be large and alike."""
    return np.float64 if classes is None else np.float32


def grows_on_bins(estimator: Any) -> bool:
    """Whether a member is a forest that the engine grows on the binned table."""
    return isinstance(estimator, ForestModel)


def with_vectors(table: Table, vectors: np.ndarray | None) -> Table:
    """The table with the vectors of its rows behind the raw features."""
    if vectors is None:
        return table
    flat = vectors.reshape(len(vectors), -1)
    return table.widened([f"vector {place}" for place in range(flat.shape[1])], flat)


def fit_layer(
    number: int,
    estimators: Sequence[Any],
    table: Table,
    vectors: np.ndarray | None,
    rows: np.ndarray,
    held: np.ndarray,
    *,
    max_bins: int | None,
    n_jobs: int,
    cv: int,
    out_of_bag: bool,
    seed: int,
    report: Callable[[int], None] | None,
) -> tuple[list[GrownForest | FoldedMember], np.ndarray]:
    """Fit the members; return them and the vectors of the rows, NaN for rows not in play.

    Parameters
    ----------
    number : int
        Number of the layer, from 0; everything random follows from it and from ``seed``.
    table : Table
        The cascade's, coded, with the weights that count.
    vectors : ndarray of shape (n_samples, n_members, n_outputs) or None
        Those of the layer before.
    rows, held : ndarrays of row numbers
        The rows to learn from, and rows that are only described.
    out_of_bag : bool
        Describe rows by the trees whose bag they are not in, where members have bags.
    """
    wider = with_vectors(table, vectors)
    random = np.random.default_rng((seed, number))
    classes = None if table.classes is None else table.targets[rows]
    shuffle = check_random_state(int(random.integers(2**31 - 1)))
    folds = Folds(rows, folds_of(rows, cv, shuffle, classes), held)
    members: list[GrownForest | FoldedMember] = []
    shape = (table.n_rows, len(estimators), table.n_values)
    fresh: np.ndarray = np.empty(shape, dtype=vector_dtype(table.classes))
    for place, estimator in enumerate(estimators):
        member_seed = int(random.integers(2**31 - 1))
        member: GrownForest | FoldedMember
        if grows_on_bins(estimator):
            member, values = GrownForest.fit(
                estimator, wider, folds, max_bins=max_bins, n_jobs=n_jobs,
                out_of_bag=out_of_bag and estimator.bootstrap, seed=member_seed,
            )  # fmt: skip
        else:
            member, values = FoldedMember.fit(
                estimator, wider, folds, n_jobs=n_jobs, seed=member_seed
            )
        members.append(member)
        fresh[:, place] = values
        if report is not None:
            report(place + 1)
    return members, fresh
