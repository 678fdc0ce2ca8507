"""Multi-grained scanning: what forests say of the windows of a sequence or an image.

Zhi-Hua Zhou and Ji Feng, "Deep forest" (2019). Every window of a sample is a row of its own with
the sample's target. Forests learn from these rows, and their class vectors (or numbers) at all
places, averaged over small neighbourhoods of places, describe the sample. A few sizes of windows
(grains) give features for a cascade.

Steps, one grain at a time:

1. Windows of the training samples are binned column by column; where they do not fit into
   ``max_memory``, as many as do are drawn.
2. For each fold of the samples the forests grow on the windows of the other folds.
3. Samples go through the forests block by block, as many at a time as fit into ``max_memory``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import Dataset, Forest
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._folds import folds_of
from hedgerow._parameters import MOST_MEMBERS, count, integer, real, resolve_n_jobs
from hedgerow._table import Table
from hedgerow._table_model import N_JOBS_TEXT, TableModel
from hedgerow.forest.learner import BinnedTable, ForestLearner
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor

_BYTES_PER_WINDOW = 100  # beside its codes: its number, target, weight, and its place in a tree
_SHARES = {1: (1 / 16, 1 / 8, 1 / 4), 2: (7 / 28, 10 / 28, 13 / 28)}  # of the sample's sides
_MOST_FLOAT_CLASSES = 30  # classes that are given as floats; more are numbers by mistake


@dataclass(frozen=True)
class Grain:
    """Windows of one size at all their places in a sample."""

    shape: tuple[int, ...]  # of a sample: sides, then channels
    window: tuple[int, ...]  # sides
    stride: int
    pooling: int

    def fits(self, n_features: int) -> bool:
        """Whether the windows are those of a sample with so many numbers."""
        sides = self.shape[:-1]
        return (
            1 <= len(sides) == len(self.window) <= 2
            and min(*self.shape, *self.window, self.stride, self.pooling) >= 1
            and math.prod(self.shape) == n_features
            and all(size <= side for size, side in zip(self.window, sides, strict=True))
        )

    @property
    def places(self) -> tuple[int, ...]:
        """How many places there are along each side."""
        sides = zip(self.shape[:-1], self.window, strict=True)
        return tuple((side - size) // self.stride + 1 for side, size in sides)

    @property
    def n_places(self) -> int:
        return int(np.prod(self.places))

    @property
    def n_pooled(self) -> int:
        """Places after pooling."""
        return int(np.prod([-(-n // self.pooling) for n in self.places]))

    @property
    def n_features(self) -> int:
        """Numbers in one window."""
        return int(np.prod(self.window)) * self.shape[-1]

    def cells(self) -> np.ndarray:
        """The cells of a flat sample that a window covers: places x features."""
        cells = np.arange(np.prod(self.shape)).reshape(self.shape)
        sides = tuple(range(len(self.window)))
        views = np.lib.stride_tricks.sliding_window_view(cells, self.window, axis=sides)
        views = views[tuple(slice(None, None, self.stride) for _ in sides)]
        return np.moveaxis(views, len(sides), -1).reshape(self.n_places, self.n_features)

    def pool(self, values: np.ndarray) -> np.ndarray:
        """Means over neighbouring places, fewer at the edges: samples x pooled places x outputs."""
        values = values.reshape(len(values), *self.places, -1)
        for axis, n in enumerate(self.places, start=1):
            starts = np.arange(0, n, self.pooling)
            size = np.diff(np.append(starts, n)).reshape(-1, *[1] * (values.ndim - axis - 1))
            values = np.add.reduceat(values, starts, axis=axis) / size
        return values.reshape(len(values), self.n_pooled, -1)


class MultiGrainedScanner(TransformerMixin, TableModel):
    """Features from the windows of sequences or images, for a cascade behind it.

    In a pipeline, and with ``fit_transform``, a training sample is described by forests that grew
    on other samples; ``transform`` describes a new one by the mean over all forests.

    Memory beside the samples, their features and the forests stays below ``max_memory``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from hedgerow import CascadeForestClassifier, MultiGrainedScanner
    >>> X, y = load_digits(return_X_y=True)
    >>> scanner = MultiGrainedScanner((8, 8), windows=[3], n_trees=5, random_state=0)
    >>> model = make_pipeline(scanner, CascadeForestClassifier("light", random_state=0))
    >>> model.fit(X[:300], y[:300]).predict(X[300:303]).shape
    (3,)
    """

    shape: Any = parameter(
        None,
        parameters.anything("int, tuple of ints or None"),
        "What a row of X is: the length of a sequence, (height, width) of an image, or (height, "
        "width, channels) with the channels of a pixel side by side. None is a sequence.",
        kw_only=False,
    )
    windows: Any = parameter(
        None,
        parameters.anything("list of ints or tuples, or None"),
        "Sizes of the windows; an int is a square in an image. None takes three: 1/16, 1/8 and 1/4 "
        "of a sequence, or 1/4, 5/14 and 13/28 of the sides of an image (7, 10 and 13 of 28).",
    )
    stride: int | None = parameter(
        None,
        integer(optional=True),
        "Steps between windows; None is 1 in sequences and 2 in images.",
    )
    pooling: int = parameter(
        2,
        integer(),
        "Neighbouring places along each side whose vectors are averaged; 1 keeps each place.",
    )
    n_forests: int = parameter(
        1,
        integer(high=MOST_MEMBERS),
        "Random forests for each size of windows, and as many completely random ones.",
    )
    n_trees: int = parameter(30, integer(high=MOST_MEMBERS), "Trees in a forest and fold.")
    max_depth: int | None = parameter(None, integer(optional=True), "Depth of the trees.")
    min_samples_leaf: int | float = parameter(
        10, count(1), "Fewest windows of a leaf, as a number or a share of all."
    )
    cv: int = parameter(3, integer(2), "Folds of samples.")
    passthrough: bool = parameter(
        False, parameters.FLAG, "Put the features of X beside the new ones."
    )
    max_memory: float = parameter(
        1.0,
        real(0.001),
        "Gigabytes for windows. Where all windows of the training samples would take more, the "
        "forests learn from as many as fit, drawn at random. Each thread needs up to 50 bytes a "
        "window on top.",
    )
    n_jobs: int | None = parameter(
        None, parameters.N_JOBS, N_JOBS_TEXT.replace("predicting", "transforming")
    )
    random_state: Any = parameter(
        None, parameters.SEED, "Seed of the folds, the forests and the draws of windows."
    )
    grains_: list[Grain] = fitted("list of Grain", "The windows, size by size.")
    n_windows_: list[int] = fitted(
        "list of int", "Windows that the forests of each size learned from."
    )
    forests_: list[list[list[Forest]]] = fitted(
        "list of lists of lists of Forest", "For each size of windows and each fold, its forests."
    )
    classes_: np.ndarray = fitted(
        "ndarray of shape (n_classes,)",
        "Where y has classes; numbers are regression targets.",
        optional=True,
    )
    n_classes_: int = fitted("int", "Where y has classes.", optional=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the forests.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            One sample a row, flat.
        y : array-like of shape (n_samples,)
            Numbers that are not whole are taken as numbers, all else as classes.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Grow the forests and describe the training samples out of fold.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        matrix, folds = self._fit(X, y, sample_weight)
        out = self._empty(matrix)
        for fold, rows in enumerate(folds):
            self._describe(matrix, rows, [fold], out)
        return out

    def transform(self, X: Any) -> np.ndarray:
        """Describe samples by the mean over the forests of all folds.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        matrix = self.schema_.encode(self, X)
        out = self._empty(matrix)
        self._describe(matrix, np.arange(len(matrix)), range(len(self.forests_[0])), out)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: window, forest, pooled place and output.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = [
            f"{'x'.join(map(str, grain.window))}_forest{forest}_place{place}_output{output}"
            for grain, by_fold in zip(self.grains_, self.forests_, strict=True)
            for forest in range(len(by_fold[0]))
            for place in range(grain.n_pooled)
            for output in range(self.n_values)
        ]
        if self.passthrough:
            raw = [f"x{i}" for i in range(self.n_features_in_)]
            names = [*getattr(self, "feature_names_in_", raw), *names]
        return np.array(names, dtype=object)

    def read_table(self, X: Any, y: Any, sample_weight: Any = None) -> Table:
        """The training samples, checked; a `Table` stays as it is."""
        if isinstance(X, Table):
            return X
        return Table.read(
            self, X, y, sample_weight, has_classes=y is None or _are_classes(y),
            categorical_features=None,
        )  # fmt: skip

    @property
    def n_values(self) -> int:
        return getattr(self, "n_classes_", 1)

    def check_fitted(self) -> None:
        super().check_fitted()
        if not len(self.grains_) == len(self.forests_) == len(self.n_windows_) > 0:
            raise ValueError("the scanner has other windows than forests")
        for grain, by_fold in zip(self.grains_, self.forests_, strict=True):
            if not grain.fits(self.n_features_in_):
                raise ValueError("a window of the scanner does not fit into its samples")
            shapes = {(f.n_features, f.n_outputs) for forests in by_fold for f in forests}
            if shapes != {(grain.n_features, self.n_values)} or len(set(map(len, by_fold))) != 1:
                raise ValueError("a forest of the scanner has other features or outputs than it")

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        settings = self.settings()
        table = self.read_table(X, y, sample_weight)
        grains = _grains(settings, table.n_features)
        random = check_random_state(settings.random_state)
        if table.n_rows < 2:
            raise ValueError("Found 1 sample while scanning needs at least 2.")
        classes = None if table.classes is None else table.targets
        folds = folds_of(np.arange(table.n_rows), settings.cv, random, classes)
        learners = _learners(settings, table)
        n_windows, forests = [], []
        for grain in grains:
            seed = int(random.randint(2**31 - 1))
            sample, place = _draw(settings, grain, table.n_rows, seed)
            n_windows.append(len(sample))
            forests.append(_grow(learners, grain, table, sample, place, folds, seed))
        grown = {"grains_": grains, "n_windows_": n_windows, "forests_": forests}
        self.become(table.facts() | grown)
        return table.matrix(), folds

    def _empty(self, matrix: np.ndarray) -> np.ndarray:
        """Room for the features; those of X are written where they are wanted."""
        n_raw = matrix.shape[1] if self.passthrough else 0
        n_new = sum(
            grain.n_pooled * len(by_fold[0]) * self.n_values
            for grain, by_fold in zip(self.grains_, self.forests_, strict=True)
        )
        out = np.empty((len(matrix), n_raw + n_new), dtype=np.float32)
        out[:, :n_raw] = matrix[:, :n_raw]
        return out

    def _describe(self, matrix: np.ndarray, rows: np.ndarray, folds: Any, out: np.ndarray) -> None:
        """Write the features of some rows, as the forests of the given folds say."""
        start = matrix.shape[1] if self.passthrough else 0
        for grain, by_fold in zip(self.grains_, self.forests_, strict=True):
            forests = [[by_fold[fold][place] for fold in folds] for place in range(len(by_fold[0]))]
            stop = start + len(forests) * grain.n_pooled * self.n_values
            for block in self._blocks(grain, rows, matrix.itemsize):
                out[block, start:stop] = self._features(grain, matrix[block], forests)
            start = stop

    def _features(
        self, grain: Grain, samples: np.ndarray, forests: list[list[Forest]]
    ) -> np.ndarray:
        """What some forests, each the mean over its folds, say of the windows of one size."""
        n_jobs = resolve_n_jobs(self.n_jobs)
        windows = samples.take(grain.cells(), axis=1).reshape(-1, grain.n_features)
        features = []
        for of_folds in forests:
            values = np.zeros((len(windows), self.n_values))
            for forest in of_folds:
                values += forest.predict(windows, n_jobs)
            pooled = grain.pool(values.reshape(len(samples), -1)) / len(of_folds)
            features.append(pooled.reshape(len(samples), -1).astype(np.float32))
        return np.hstack(features)

    def _blocks(self, grain: Grain, rows: np.ndarray, itemsize: int) -> Iterator[np.ndarray]:
        """Rows, as many at a time as fit with their windows and values."""
        a_window = grain.n_features * itemsize + 5 * 8 * self.n_values
        most = max(1, int(self.max_memory * 1e9) // (a_window * grain.n_places))
        for start in range(0, len(rows), most):
            yield rows[start : start + most]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _are_classes(y: Any) -> bool:
    """Whether targets are classes; numbers that are not whole are none."""
    y = np.asarray(y)
    if type_of_target(y, input_name="y").startswith("continuous"):
        return False
    if y.dtype.kind == "f" and (n_values := len(np.unique(y))) > _MOST_FLOAT_CLASSES:
        raise ValueError(
            f"y holds {n_values} different whole numbers as floats, which may be classes or "
            "numbers: give classes as ints or strings, and numbers so that not all are whole, such "
            "as y / 10."
        )
    return True


def _grains(settings: Settings, n_features: int) -> list[Grain]:
    """The windows, checked against the samples."""
    shape = n_features if settings.shape is None else settings.shape
    sides = _sizes_of("shape", shape, (1, 2, 3))
    if np.prod(sides) != n_features:
        raise ValueError(
            f"'shape' {sides} has {np.prod(sides)} numbers, X has {n_features} features."
        )
    full = sides if len(sides) == 3 else (*sides, 1)
    sides = full[:-1]
    if settings.windows is None:
        shares = _SHARES[len(sides)]
        windows = [tuple(max(1, round(share * side)) for side in sides) for share in shares]
    elif isinstance(settings.windows, list | tuple) and len(settings.windows):
        windows = [
            (window,) * len(sides)
            if parameters.is_int(window)
            else _sizes_of("windows", window, (len(sides),))
            for window in settings.windows
        ]
    else:
        raise ValueError(f"'windows' must be None or a list of sizes, got {settings.windows!r}.")
    for window in windows:
        if min(window) < 1 or any(w > s for w, s in zip(window, sides, strict=True)):
            raise ValueError(
                f"'windows' has {window}, which does not fit into a sample of {sides}."
            )
    stride = settings.stride or len(sides)
    return [Grain(full, window, stride, settings.pooling) for window in dict.fromkeys(windows)]


def _learners(settings: Settings, table: Table) -> list[ForestLearner]:
    """What grows the forests of one size of windows."""
    forests: tuple[Any, Any] = (RandomForestRegressor, RandomTreesRegressor)
    if table.classes is not None:
        forests = (RandomForestClassifier, RandomTreesClassifier)
    names = ("max_depth", "min_samples_leaf", "n_jobs")
    values = {name: getattr(settings, name) for name in names}
    return [forest(settings.n_trees, **values).learner() for forest in forests] * settings.n_forests


def _draw(
    settings: Settings, grain: Grain, n_samples: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The windows to learn from: their samples and places."""
    n = n_samples * grain.n_places
    most = max(2, int(settings.max_memory * 1e9) // (grain.n_features + _BYTES_PER_WINDOW))
    if n <= most:
        chosen = np.arange(n)
    else:
        chosen = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    return np.divmod(chosen, grain.n_places)


def _grow(
    learners: list[ForestLearner],
    grain: Grain,
    table: Table,
    sample: np.ndarray,
    place: np.ndarray,
    folds: list[np.ndarray],
    seed: int,
) -> list[list[Forest]]:
    """The forests of some windows of one size: for each fold, those that did not see it."""
    matrix, data = table.matrix(), Dataset(len(sample))
    for cells in grain.cells().T:
        data.append_numbers([matrix[sample, cells[place]]], 255, learners[0].n_jobs)
    weights = None if table.weights is None else table.weights[sample]
    windows = BinnedTable(data, table.targets[sample], table.class_counts, weights)
    fold_of = np.empty(table.n_rows, dtype=np.intp)
    for fold, rows in enumerate(folds):
        fold_of[rows] = fold
    random = check_random_state(seed)
    grown: list[list[Forest]] = []
    for fold in range(len(folds)):
        others = np.flatnonzero(fold_of[sample] != fold)
        grown.append(
            [
                learner.grow(windows, int(random.randint(2**31 - 1)), rows=others).forest
                for learner in learners
            ]
        )
    return grown


def _sizes_of(name: str, given: Any, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """An int or a tuple of positive ints as a tuple of one of the given lengths."""
    sizes = (given,) if parameters.is_int(given) else given
    valid = isinstance(sizes, list | tuple) and len(sizes) in lengths
    if not valid or not all(parameters.is_int(size) and size >= 1 for size in sizes):
        words = " or ".join(str(n) for n in lengths)
        raise ValueError(f"'{name}' must have {words} positive ints, got {given!r}.")
    return tuple(int(size) for size in sizes)
