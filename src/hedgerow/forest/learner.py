"""What grows forests, apart from the estimators that are fitted.

`BinnedTable`    what a forest is grown on: binned rows, their targets and weights
`ForestLearner`  grows trees on a binned table; the same settings grow any number of forests
`GrownForest`    the trees, and what they say of rows that they did not see
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters
from hedgerow._directions import directions_of
from hedgerow._engine import Dataset, Forest, ForestParams, GrowParams
from hedgerow._estimator import Settings
from hedgerow._growth import check_criterion, grow_params
from hedgerow._table import Table


@dataclass(frozen=True)
class BinnedTable:
    """Binned rows with their targets; the columns may be others than those of a user's table."""

    data: Dataset
    targets: np.ndarray  # classes as int32, or numbers as float64; a column for each output
    class_counts: list[int]  # of each output; none for numbers
    weights: np.ndarray | None = None
    directions: Sequence[int] = ()  # of the features, where predictions are monotone

    @property
    def n_values(self) -> int:
        """Length of what a leaf says."""
        n_outputs = 1 if self.targets.ndim == 1 else self.targets.shape[1]
        return sum(self.class_counts) or n_outputs

    def with_data(self, data: Dataset) -> "BinnedTable":
        """The same rows with other columns, such as further ones."""
        return replace(self, data=data)


class Unseen(NamedTuple):
    """What trees say of rows that they were not grown on."""

    sums: np.ndarray  # of the trees' values, of shape (n_rows, n_values)
    counts: np.ndarray  # of the trees that were asked about a row


class GrownForest(NamedTuple):
    """A forest and, where it was asked for, what its new trees say of rows they did not see."""

    forest: Forest
    unseen: Unseen | None


@dataclass(frozen=True)
class ForestLearner:
    """Grows forests: the parameters of a forest, checked and frozen.

    ``RandomForestClassifier(...).learner()`` gives one. ``grow`` changes nothing: the same learner
    grows the forests of a cascade's layers, of its folds and of the windows of a scanner::

        learner = RandomForestClassifier(500).learner()
        binned = learner.bin(table).with_data(wider)
        first, unseen = learner.grow(binned, seed=1, rows=train, held=test)
        both, unseen = learner.grow(binned, seed=1, rows=others, held=test, start=first)
    """

    settings: Settings

    @property
    def n_jobs(self) -> int:
        return parameters.resolve_n_jobs(self.settings.n_jobs)

    def bin(self, table: Table) -> BinnedTable:
        """A table as forests are grown on it, weighed by class where that is asked for."""
        class_weight = getattr(self.settings, "class_weight", None)
        if parameters.is_word(class_weight, "balanced_subsample"):
            class_weight = None  # weighed bag by bag, in the engine
        return BinnedTable(
            table.bins(self.settings.max_bins, self.n_jobs),
            table.targets,
            table.class_counts,
            table.weighed(class_weight),
            directions_of(getattr(self.settings, "monotonic_cst", None), table),
        )

    def params(
        self,
        n_rows: int,
        n_features: int,
        class_counts: Sequence[int],
        seed: int,
        total_weight: float,
        directions: Sequence[int] = (),
        first: int = 0,
    ) -> ForestParams:
        """The engine's parameters for rows of a total weight."""
        settings = self.settings
        tree = self.tree_params(
            n_rows, n_features, class_counts, total_weight, monotonic=list(directions)
        )
        return ForestParams(
            tree,
            seed=seed,
            bootstrap=bool(settings.bootstrap),
            n_draws=n_drawn_rows(settings.max_samples, n_rows),
            by_row=getattr(settings, "keyed_draws", False),
            balanced_subsample=parameters.is_word(
                getattr(settings, "class_weight", None), "balanced_subsample"
            ),
            first=first,
        )

    def tree_params(
        self,
        n_rows: int,
        n_features: int,
        class_counts: Sequence[int],
        total_weight: float,
        **fixed: Any,
    ) -> GrowParams:
        """The same for a tree of a forest on such rows."""
        settings = self.settings
        n_draws = n_drawn_rows(settings.max_samples, n_rows)
        return grow_params(
            settings,
            n_rows=n_rows,
            n_features=n_features,
            n_classes=sum(class_counts),
            class_counts=list(class_counts),
            total_weight=total_weight * n_draws / n_rows,
            splitter=settings.splitter,
            keyed_draws=getattr(settings, "keyed_draws", False),
            **fixed,
        )

    def grow(
        self,
        binned: BinnedTable,
        seed: int,
        *,
        n_trees: int | None = None,
        start: Forest | None = None,
        first: int = 0,
        rows: np.ndarray | None = None,
        held: np.ndarray | None = None,
        out_of_bag: bool = False,
        report: Callable[[int], None] | None = None,
    ) -> GrownForest:
        """Grow trees; tree i of a forest depends on the seed, on the rows and on i alone.

        Parameters
        ----------
        binned : BinnedTable
        seed : int
        n_trees : int, default=None
            Trees to grow; None takes ``n_estimators``.
        start : Forest, default=None
            Trees that come before the new ones; it stays as it is.
        first : int, default=0
            Number of the first tree of the forest that is grown, where it is a part of a larger
            one.
        rows : ndarray of row numbers, default=None
            The rows to grow on; None takes all.
        held : ndarray of row numbers, default=None
            Rows that every new tree is asked about.
        out_of_bag : bool, default=False
            Ask every new tree about the rows that its bag has not.
        report : callable, default=None
            Called now and then with the number of trees done.

        Returns
        -------
        grown : GrownForest
            ``unseen`` is None unless ``held`` or ``out_of_bag`` asks for it, and has only what the
            new trees say.
        """
        data, weights = binned.data, binned.weights
        check_criterion(self.settings.criterion, binned.targets)
        n_rows = data.n_rows if rows is None else len(rows)
        grown_on = weights if weights is None or rows is None else weights[rows]
        total = float(n_rows) if grown_on is None else float(grown_on.sum())
        params = self.params(
            n_rows, data.n_features, binned.class_counts, seed, total, binned.directions, first
        )
        forest = Forest(data.n_features, binned.n_values)
        if start is not None:
            forest = start.first(start.n_members)  # a copy
        unseen = forest.grow(
            data=data,
            targets=binned.targets,
            weights=weights,
            params=params,
            n_trees=self.settings.n_estimators if n_trees is None else n_trees,
            out_of_bag=out_of_bag,
            n_jobs=self.n_jobs,
            progress=report,
            rows=None if rows is None else rows.astype(np.uint32),
            held=None if held is None else held.astype(np.uint32),
        )
        return GrownForest(forest, None if unseen is None else Unseen(*unseen))


def new_seed(random_state: Any) -> int:
    """What the bags and members of an ensemble follow from."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def member_state(seed: int, place: int) -> int:
    """The ``random_state`` of the tree that is a member of a forest."""
    params = ForestParams(GrowParams(), seed=seed, bootstrap=True, n_draws=1)
    return parameters.OWN_SEEDS + params.seed_of_tree(place)


def n_drawn_rows(max_samples: Any, n_rows: int) -> int:
    """How many rows are drawn for a bag: a number, or a share of all; None draws ``n_rows``."""
    if max_samples is None:
        return n_rows
    n_draws = parameters.count_or_share("max_samples", max_samples, n_rows, low=1)
    if n_draws > n_rows:
        raise ValueError(f"`max_samples` must be <= n_samples={n_rows} but got value {max_samples}")
    return n_draws if parameters.is_int(max_samples) else max(1, round(n_rows * max_samples))
