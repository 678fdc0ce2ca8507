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
from hedgerow._folds import folds_of
from hedgerow._table_model import TableClassifier, TableModel, TableRegressor
from hedgerow.forest.forest_model import ForestModel
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor

_BYTES_PER_WINDOW = 100  # beside its codes: its number, target, weight, and its place in a tree
_SHARES = {1: (1 / 16, 1 / 8, 1 / 4), 2: (7 / 28, 10 / 28, 13 / 28)}  # of the sample's sides


@dataclass(frozen=True)
class Grain:
    """Windows of one size at all their places in a sample."""

    shape: tuple[int, ...]  # of a sample: sides, then channels
    window: tuple[int, ...]  # sides
    stride: int
    pooling: int

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

    Parameters
    ----------
    shape : int or tuple of ints, default=None
        What a row of X is: the length of a sequence, (height, width) of an image, or (height,
        width, channels) with the channels of a pixel side by side. None is a sequence.
    windows : list of ints or tuples, default=None
        Sizes of the windows; an int is a square in an image. None takes three: 1/16, 1/8 and 1/4
        of a sequence, or 1/4, 5/14 and 13/28 of the sides of an image (7, 10 and 13 of 28).
    stride : int, default=None
        Steps between windows; None is 1 in sequences and 2 in images.
    pooling : int, default=2
        Neighbouring places along each side whose vectors are averaged; 1 keeps each place.
    n_forests : int, default=1
        Random forests for each size of windows, and as many completely random ones.
    n_trees : int, default=30
        Trees in a forest and fold.
    max_depth : int, default=None
        Depth of the trees.
    min_samples_leaf : int or float, default=10
        Fewest windows of a leaf, as a number or a share of all.
    cv : int, default=3
        Folds of samples.
    passthrough : bool, default=False
        Put the features of X beside the new ones.
    max_memory : float, default=1.0
        Gigabytes for windows. Where all windows of the training samples would take more, the
        forests learn from as many as fit, drawn at random. Each thread needs up to 50 bytes a
        window on top.
    n_jobs : int, default=None
        Threads for fitting and transforming. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the forests and the draws of windows.

    Attributes
    ----------
    grains_ : list of Grain
        The windows, size by size.
    n_windows_ : list of int
        Windows that the forests of each size learned from.
    forests_ : list of lists of lists of Forest
        For each size of windows and each fold, its forests.
    classes_ : ndarray of shape (n_classes,)
        Where y has classes; numbers are regression targets.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.

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

    categorical_features = None  # samples are numbers
    n_windows_: list[int]
    forests_: list[list[list[Forest]]]

    def __init__(
        self,
        shape=None,
        *,
        windows=None,
        stride=None,
        pooling=2,
        n_forests=1,
        n_trees=30,
        max_depth=None,
        min_samples_leaf=10,
        cv=3,
        passthrough=False,
        max_memory=1.0,
        n_jobs=None,
        random_state=None,
    ):
        self.shape = shape
        self.windows = windows
        self.stride = stride
        self.pooling = pooling
        self.n_forests = n_forests
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.cv = cv
        self.passthrough = passthrough
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow the forests.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            One sample a row, flat.
        y : array-like of shape (n_samples,)
            Classes, or numbers.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
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
            for output in range(self._n_outputs)
        ]
        own = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        return np.array([*own, *names] if self.passthrough else names, dtype=object)

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        numbers = type_of_target(y, input_name="y").startswith("continuous")
        if numbers:
            self.__dict__.pop("classes_", None)
            return TableRegressor._read_targets(self, y)
        return TableClassifier._read_targets(self, y)

    @property
    def _n_outputs(self) -> int:
        return len(self.classes_) if hasattr(self, "classes_") else 1

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        self._check_parameters()
        X, y, weights = self._read_table(X, y, sample_weight)
        self.grains_ = self._grains()
        matrix = self.schema_.encode(self, X)
        random = check_random_state(self.random_state)
        classes = y if hasattr(self, "classes_") else None
        rows = np.arange(len(y))
        if len(rows) < 2:
            raise ValueError("Found 1 sample while scanning needs at least 2.")
        folds = folds_of(rows, self.cv, random, classes)
        self.n_windows_, self.forests_ = [], []
        for grain in self.grains_:
            seed = int(random.randint(2**31 - 1))
            self.forests_.append(self._grow(grain, matrix, y, weights, folds, seed))
        return matrix, folds

    def _check_parameters(self) -> None:
        parameters.check_int("stride", self.stride, low=1, optional=True)
        for name in ("pooling", "n_forests", "n_trees"):
            parameters.check_int(name, getattr(self, name), low=1)
        parameters.check_int("max_depth", self.max_depth, low=1, optional=True)
        parameters.check_int("cv", self.cv, low=2)
        parameters.check_bool("passthrough", self.passthrough)
        parameters.check_real("max_memory", self.max_memory, low=0.001)

    def _grains(self) -> list[Grain]:
        """The windows, checked against the samples."""
        shape = self.n_features_in_ if self.shape is None else self.shape
        sides = _sizes_of("shape", shape, (1, 2, 3))
        if np.prod(sides) != self.n_features_in_:
            raise ValueError(
                f"'shape' {sides} has {np.prod(sides)} numbers, "
                f"X has {self.n_features_in_} features."
            )
        full = sides if len(sides) == 3 else (*sides, 1)
        sides = full[:-1]
        if self.windows is None:
            shares = _SHARES[len(sides)]
            windows = [tuple(max(1, round(share * side)) for side in sides) for share in shares]
        elif isinstance(self.windows, list | tuple) and len(self.windows):
            windows = [
                (window,) * len(sides)
                if parameters.is_int(window)
                else _sizes_of("windows", window, (len(sides),))
                for window in self.windows
            ]
        else:
            raise ValueError(f"'windows' must be None or a list of sizes, got {self.windows!r}.")
        for window in windows:
            if min(window) < 1 or any(w > s for w, s in zip(window, sides, strict=True)):
                raise ValueError(
                    f"'windows' has {window}, which does not fit into a sample of {sides}."
                )
        stride = self.stride or len(sides)
        return [Grain(full, window, stride, self.pooling) for window in dict.fromkeys(windows)]

    def _forests(self) -> list[ForestModel]:
        """The forests of one size of windows, unfitted."""
        kinds: tuple[Any, Any] = (RandomForestRegressor, RandomTreesRegressor)
        if hasattr(self, "classes_"):
            kinds = (RandomForestClassifier, RandomTreesClassifier)
        size = {"max_depth": self.max_depth, "min_samples_leaf": self.min_samples_leaf}
        return [kind(self.n_trees, **size) for kind in kinds] * self.n_forests

    def _grow(
        self,
        grain: Grain,
        matrix: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        folds: list[np.ndarray],
        seed: int,
    ) -> list[list[Forest]]:
        """The forests of one size of windows: for each fold, those that did not see it."""
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        sample, place = self._draw(grain, len(matrix), seed)
        data = Dataset(len(sample))
        for cells in grain.cells().T:
            data.append_numbers([matrix[sample, cells[place]]], 255, n_jobs)
        targets = y[sample]
        weights = None if weights is None else weights[sample]
        fold_of = np.empty(len(matrix), dtype=np.intp)
        for fold, rows in enumerate(folds):
            fold_of[rows] = fold
        random = check_random_state(seed)
        grown: list[list[Forest]] = []
        for fold in range(len(folds)):
            rows = np.flatnonzero(fold_of[sample] != fold).astype(np.uint32)
            grown.append([])
            for model in self._forests():
                model._adopt_table(self)
                model.n_features_in_ = grain.n_features
                model._seed = int(random.randint(2**31 - 1))
                params = model._forest_params(len(rows), None if weights is None else weights[rows])
                forest = Forest(grain.n_features, self._n_outputs)
                forest.grow(data, rows, targets, weights, params, model.n_estimators, n_jobs=n_jobs)
                grown[-1].append(forest)
        self.n_windows_.append(len(sample))
        return grown

    def _draw(self, grain: Grain, n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The windows to learn from: their samples and places."""
        n = n_samples * grain.n_places
        most = max(2, int(self.max_memory * 1e9) // (grain.n_features + _BYTES_PER_WINDOW))
        if n <= most:
            chosen = np.arange(n)
        else:
            chosen = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
        return np.divmod(chosen, grain.n_places)

    def _empty(self, matrix: np.ndarray) -> np.ndarray:
        """Room for the features; those of X are written where they are wanted."""
        n_own = matrix.shape[1] if self.passthrough else 0
        n_new = sum(
            grain.n_pooled * len(by_fold[0]) * self._n_outputs
            for grain, by_fold in zip(self.grains_, self.forests_, strict=True)
        )
        out = np.empty((len(matrix), n_own + n_new), dtype=np.float32)
        out[:, :n_own] = matrix[:, :n_own]
        return out

    def _describe(self, matrix: np.ndarray, rows: np.ndarray, folds: Any, out: np.ndarray) -> None:
        """Write the features of some rows, as the forests of the given folds say."""
        start = matrix.shape[1] if self.passthrough else 0
        for grain, by_fold in zip(self.grains_, self.forests_, strict=True):
            forests = [[by_fold[fold][place] for fold in folds] for place in range(len(by_fold[0]))]
            stop = start + len(forests) * grain.n_pooled * self._n_outputs
            for block in self._blocks(grain, rows, matrix.itemsize):
                out[block, start:stop] = self._features(grain, matrix[block], forests)
            start = stop

    def _features(
        self, grain: Grain, samples: np.ndarray, forests: list[list[Forest]]
    ) -> np.ndarray:
        """What some forests, each the mean over its folds, say of the windows of one size."""
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        windows = samples.take(grain.cells(), axis=1).reshape(-1, grain.n_features)
        features = []
        for of_folds in forests:
            values = np.zeros((len(windows), self._n_outputs))
            for forest in of_folds:
                values += forest.predict(windows, n_jobs)
            pooled = grain.pool(values.reshape(len(samples), -1)) / len(of_folds)
            features.append(pooled.reshape(len(samples), -1).astype(np.float32))
        return np.hstack(features)

    def _blocks(self, grain: Grain, rows: np.ndarray, itemsize: int) -> Iterator[np.ndarray]:
        """Rows, as many at a time as fit with their windows and values."""
        a_window = grain.n_features * itemsize + 5 * 8 * self._n_outputs
        most = max(1, int(self.max_memory * 1e9) // (a_window * grain.n_places))
        for start in range(0, len(rows), most):
            yield rows[start : start + most]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _sizes_of(name: str, given: Any, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """An int or a tuple of positive ints as a tuple of one of the given lengths."""
    sizes = (given,) if parameters.is_int(given) else given
    valid = isinstance(sizes, list | tuple) and len(sizes) in lengths
    if not valid or not all(parameters.is_int(size) and size >= 1 for size in sizes):
        words = " or ".join(str(n) for n in lengths)
        raise ValueError(f"'{name}' must have {words} positive ints, got {given!r}.")
    return tuple(int(size) for size in sizes)
