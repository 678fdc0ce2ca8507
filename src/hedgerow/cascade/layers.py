"""One layer of a cascade: members that describe every row by what others taught them.

A member's *values* of a row are class probabilities or one number; the values of all members of a
layer are the row's *vectors*, which the next layer reads beside the raw features. A training row's
vectors come only from trees that did not see it: those of the other folds, or those whose bag it
was not in. A later row's vectors are the mean over all.

Parts
-----
`TrainingTable`   the raw features, binned once for all layers, and the targets
`GrownForest`     a member that is a forest: grown on the binned table, asked by codes
`FoldedMember`    a member of any other kind: one estimator for each fold
`Layer`           fitted members
`fit_layer`       fits all members and gives the vectors of the training rows
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state

from hedgerow._engine import Dataset, Forest
from hedgerow._folds import folds_of
from hedgerow._table_model import TableModel
from hedgerow.forest.forest_model import ForestModel
from hedgerow.forest.members import fit_member, seeded, takes_weights


@dataclass
class TrainingTable:
    """What every layer is fitted on."""

    reader: TableModel  # the cascade, which has read the table: schema and classes
    data: Dataset  # the raw features
    matrix: np.ndarray | None  # the same as numbers, where a member needs them
    y: np.ndarray
    weights: np.ndarray | None
    max_bins: int
    n_jobs: int

    @property
    def n_outputs(self) -> int:
        return getattr(self.reader, "n_classes_", 1)

    @property
    def classes(self) -> np.ndarray | None:
        """The classes as codes, None for numbers."""
        return self.y if self.y.dtype == np.int32 else None

    def with_vectors(self, vectors: np.ndarray | None) -> tuple[Dataset, np.ndarray | None]:
        """Raw features and vectors side by side, binned and as numbers."""
        if vectors is None:
            return self.data, self.matrix
        flat = vectors.reshape(len(vectors), -1)
        data = self.data.share()
        data.append_matrix(flat, self.max_bins, self.n_jobs)
        return data, None if self.matrix is None else np.hstack([self.matrix, flat])

    def mean_value(self, rows: np.ndarray) -> np.ndarray:
        """What is known of a row of which nothing is known."""
        weights = None if self.weights is None else self.weights[rows]
        if self.classes is None:
            return np.average(self.y[rows], weights=weights, keepdims=True)
        counts = np.bincount(self.y[rows], weights=weights, minlength=self.n_outputs)
        return counts / counts.sum()


@dataclass
class Folds:
    """The rows that a layer learns from, in folds, and the rows that it only describes."""

    rows: np.ndarray
    parts: list[np.ndarray]
    held: np.ndarray

    def __iter__(self):
        """Pairs of the rows to learn from and the rows to describe."""
        for part in self.parts:
            yield np.setdiff1d(self.rows, part), np.concatenate([part, self.held])


class GrownForest:
    """A forest on the binned table; its folds are one forest with as many times the trees."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    @classmethod
    def fit(
        cls,
        estimator: ForestModel,
        table: TrainingTable,
        data: Dataset,
        folds: Folds,
        out_of_bag: bool,
        seed: int,
    ) -> tuple["GrownForest", np.ndarray]:
        """The grown forest and the values of all rows it was asked about."""
        model = clone(estimator)
        model._adopt_table(table.reader)
        model.n_features_in_, model._seed = data.n_features, seed
        weights = model._with_class_weight(table.y, table.weights)
        forest = Forest(data.n_features, table.n_outputs)
        sums, counts = np.zeros((data.n_rows, table.n_outputs)), np.zeros((data.n_rows, 1))
        for train, asked in [(folds.rows, folds.held)] if out_of_bag else folds:
            params = model._forest_params(len(train), None if weights is None else weights[train])
            unseen = forest.grow(
                data, train.astype(np.uint32), table.y, weights, params, model.n_estimators,
                out_of_bag, table.n_jobs, held=asked.astype(np.uint32),
            )  # fmt: skip
            sums += unseen[0]
            counts += unseen[1][:, None]
        with np.errstate(invalid="ignore"):
            values = sums / counts
        in_every_bag = folds.rows[counts[folds.rows, 0] == 0]
        values[in_every_bag] = table.mean_value(folds.rows)
        return cls(forest), values

    def values(self, matrix: np.ndarray, reader: TableModel, n_jobs: int) -> np.ndarray:
        return self.forest.predict(matrix, n_jobs)

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


class FoldedMember:
    """Estimators of any kind, one for each fold."""

    def __init__(self, estimators: list) -> None:
        self.estimators = estimators

    @classmethod
    def fit(
        cls, estimator: Any, table: TrainingTable, matrix: np.ndarray, folds: Folds, seed: int
    ) -> tuple["FoldedMember", np.ndarray]:
        """The fitted estimators and the values of all rows they were asked about."""
        reader = table.reader
        labels = table.y if table.classes is None else reader.classes_[table.y]
        if isinstance(estimator, TableModel) and "categorical_features" in estimator.get_params():
            categories = list(reader.schema_.categories)
            estimator = clone(estimator).set_params(categorical_features=categories)
        weights = table.weights if takes_weights(estimator) else None

        def task(fold: int, train: np.ndarray) -> Any:
            alone = table.classes is not None and (table.y[train] == table.y[train[0]]).all()
            return delayed(fit_member)(
                fold,
                # Many classifiers refuse rows of one class, which a small fold may leave.
                DummyClassifier() if alone else seeded(estimator, seed + fold),
                matrix[train],
                labels[train],
                weights=None if weights is None else weights[train],
            )

        prefer = "threads" if isinstance(estimator, TableModel) else None
        member = cls(
            Parallel(n_jobs=table.n_jobs, prefer=prefer)(
                task(fold, train) for fold, (train, _) in enumerate(folds)
            )
        )
        sums, counts = np.zeros((len(matrix), table.n_outputs)), np.zeros((len(matrix), 1))
        for fitted, (_, asked) in zip(member.estimators, folds, strict=True):
            if len(asked):
                sums[asked] += values_of(fitted, matrix[asked], reader)
                counts[asked] += 1
        with np.errstate(invalid="ignore"):
            return member, sums / counts

    def values(self, matrix: np.ndarray, reader: TableModel, n_jobs: int) -> np.ndarray:
        return np.mean([values_of(e, matrix, reader) for e in self.estimators], axis=0)

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


def values_of(estimator: Any, matrix: np.ndarray, reader: Any) -> np.ndarray:
    """Class probabilities in the reader's order of classes, or one number, for each row."""
    if not hasattr(reader, "classes_"):
        return np.asarray(estimator.predict(matrix), dtype=np.float64).reshape(-1, 1)
    values = np.zeros((len(matrix), reader.n_classes_))
    if hasattr(estimator, "predict_proba"):
        values[:, np.searchsorted(reader.classes_, estimator.classes_)] = estimator.predict_proba(
            matrix
        )
    else:
        chosen = np.searchsorted(reader.classes_, estimator.predict(matrix))
        values[np.arange(len(matrix)), chosen] = 1
    return values


def _n_trees(estimator: Any) -> int:
    forest = getattr(estimator, "forest_", None)
    if forest is not None:
        return forest.n_members
    return len(getattr(estimator, "estimators_", [estimator]))


@dataclass
class Layer:
    """Fitted members; rows that are at least as certain as ``gate`` go no further."""

    members: list[GrownForest | FoldedMember]
    gate: float = np.inf

    def load(self) -> "Layer":
        """Itself: a layer that is in a file is read by the same name."""
        return self

    def vectors(self, matrix: np.ndarray, reader: TableModel, n_jobs: int) -> np.ndarray:
        """Vectors of the rows of a matrix: rows x members x outputs."""
        return np.stack(
            [member.values(matrix, reader, n_jobs) for member in self.members], axis=1
        ).astype(np.float32)


def grows_on_bins(estimator: Any) -> bool:
    """Whether a member is a forest that the engine grows on the binned table."""
    return isinstance(estimator, ForestModel)


def fit_layer(
    number: int,
    estimators: Sequence[Any],
    table: TrainingTable,
    vectors: np.ndarray | None,
    rows: np.ndarray,
    held: np.ndarray,
    *,
    cv: int,
    out_of_bag: bool,
    seed: int,
    report: Callable[[int], None] | None,
) -> tuple[Layer, np.ndarray]:
    """Fit the members; return the layer and the vectors of the rows, NaN for rows not in play.

    Parameters
    ----------
    number : int
        Number of the layer, from 0; everything random follows from it and from ``seed``.
    vectors : ndarray of shape (n_samples, n_members, n_outputs) or None
        Those of the layer before.
    rows, held : ndarrays of row numbers
        The rows to learn from, and rows that are only described.
    out_of_bag : bool
        Describe rows by the trees whose bag they are not in, where members have bags.
    """
    data, matrix = table.with_vectors(vectors)
    random = np.random.default_rng((seed, number))
    classes = None if table.classes is None else table.classes[rows]
    shuffle = check_random_state(int(random.integers(2**31 - 1)))
    folds = Folds(rows, folds_of(rows, cv, shuffle, classes), held)
    members: list[GrownForest | FoldedMember] = []
    fresh = np.empty((data.n_rows, len(estimators), table.n_outputs), dtype=np.float32)
    for place, estimator in enumerate(estimators):
        member_seed = int(random.integers(2**31 - 1))
        member: GrownForest | FoldedMember
        if grows_on_bins(estimator):
            by_bags = out_of_bag and estimator.bootstrap
            member, values = GrownForest.fit(estimator, table, data, folds, by_bags, member_seed)
        else:
            assert matrix is not None
            member, values = FoldedMember.fit(estimator, table, matrix, folds, member_seed)
        members.append(member)
        fresh[:, place] = values
        if report is not None:
            report(place + 1)
    return Layer(members), fresh
