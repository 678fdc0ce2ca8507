"""What cascades of both kinds share: fitting layer by layer, prediction, and cutting down."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._progress import progress
from hedgerow._table_model import TableClassifier, TableModel
from hedgerow.cascade.files import LayerFiles
from hedgerow.cascade.growth import Growth, certainty
from hedgerow.cascade.layers import TrainingTable, fit_layer, grows_on_bins, values_of
from hedgerow.forest.members import seeded, takes_weights

_ROWS_AT_ONCE = 8192  # rows that a prediction holds beside their vectors at one time


@dataclass(frozen=True)
class Settings:
    """The shape of a cascade; a preset gives what the user does not."""

    n_forests: int
    partner: str
    n_trees: int
    max_depth: int | None
    max_layers: int
    n_tolerance: int
    class_vectors: str
    cv: int
    validation_fraction: float
    keep: str


PRESETS = {
    "default": Settings(2, "extra_trees", 100, None, 10, 1, "out_of_fold", 5, 0.0, "best"),
    "light": Settings(1, "extra_trees", 100, None, 2, 2, "out_of_bag", 3, 0.0, "all"),
    "paper": Settings(4, "random_trees", 500, None, 100, 3, "out_of_fold", 3, 0.2, "best"),
    "paper_light": Settings(1, "random_trees", 50, 30, 2, 2, "out_of_fold", 3, 0.0, "all"),
}

_PARAMETERS = """\
    preset : {"default", "light", "paper", "paper_light"}, default="default"
        What the parameters that are left at None mean. "paper" is the deep forest of Zhou and Feng:
        four random and four completely random forests of 500 trees a layer, three folds, growth
        judged on a fifth of the rows and repeated on all. "light" is two layers of one random
        forest and one of extra trees, described out of bag. "paper_light" is the light cascade of
        Arnould, Boyer and Scornet: two layers of one random and one completely random forest of 50
        trees of depth 30, three folds.
    estimators : list of estimators, default=None
        The members of every layer instead of the forests: any of hedgerow's or scikit-learn's.
    n_forests : int, default=None
        Random forests in a layer, and as many of the other kind (2; light 1, paper 4).
    partner : {"extra_trees", "random_trees"}, default=None
        The other kind: extra trees, or completely random trees (paper).
    n_trees : int, default=None
        Trees in a forest (100; paper 500).
    max_depth : int, default=None
        Depth of the trees; no limit by default.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf, as a number or a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a share of the weight of all rows.
    max_layers : int, default=None
        The most layers (10; light 2, paper 100).
    n_tolerance : int, default=None
        Stop after as many layers in a row without a better score (1; light 2, paper 3).
    class_vectors : {"out_of_fold", "out_of_bag"}, default=None
        How the rows that a layer learned from are described to the next. "out_of_fold" fits each
        member once for every fold, on the other folds. "out_of_bag" (light) fits it once and takes
        the trees whose bag a row is not in, in a ``cv``-th of the time; members without bags are
        described out of fold.
    cv : int, default=None
        Folds (5; light and paper 3).
    validation_fraction : float, default=None
        Share of the rows on which layers are judged, not used for growing; when the number of
        layers is known, the cascade is grown again on all rows (paper 0.2). 0 judges layers by
        the out-of-fold or out-of-bag values of all rows, and grows once.
    keep : {"best", "all"}, default=None
        Keep the layers up to the best, or all that were grown (light).
    final_estimator : estimator, default=None
        Predicts from the raw features and the vectors of the last layer. None takes the mean of
        the last layer's members."""

_RUNNING = """\
    storage : {"memory", "disk"}, default="memory"
        "disk" keeps finished layers in files (in the folder of the checkpoint, or in a temporary
        one) and reads one at a time; the memory needed is that of one layer.
    checkpoint : path, default=None
        A folder to keep finished layers in. A fit that was killed goes on from there and ends with
        the same model. Forests are stored as plain arrays, other members as pickles.
    resume : bool, default=True
        Go on with what the folder has; False deletes it and starts anew.
    max_bins : int, default=255
        Most distinct values of a feature that are told apart; None keeps all.
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the members.
    verbose : int, default=0
        1 shows a bar for each layer.
    callback : callable, default=None
        Called with (members done, members) while a layer grows."""

_ATTRIBUTES = """\
    layers_ : list
        The layers, ``load()`` gives each with its ``members``.
    n_layers_ : int
    layer_scores_ : list of float
        {score} of each layer that was grown, dropped ones included, on rows it did not see.
    n_trees_ : int
        Trees in all layers, those of all folds.
    final_estimator_ : estimator
        With ``final_estimator``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table."""


def with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    score = "Accuracy" if issubclass(cls, TableClassifier) else "R²"
    cls.__doc__ = cls.__doc__.format(
        parameters=_PARAMETERS.strip(),
        running=_RUNNING.strip(),
        attributes=_ATTRIBUTES.format(score=score).strip(),
    )
    return cls


class CascadeModel(TableModel):
    """What classifiers and regressors share."""

    _kinds: ClassVar[dict[str, Any]]  # of forests
    screening = None  # regressors have no certainty
    class_weight = None
    layers_: list

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Grow layers until they no longer help.

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
        settings = self._settings()
        members = self._members(settings)
        X, y, weights = self._read_table(X, y, sample_weight)
        table = self._training_table(X, y, weights, members)
        rows = np.arange(len(y)) if table.weights is None else np.flatnonzero(table.weights)
        if len(rows) < 2:
            raise ValueError("Found 1 sample while a cascade needs at least 2.")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        fingerprint = "" if self.checkpoint is None else self._fingerprint(X, table)
        scores = None
        if settings.validation_fraction:
            files = self._files("trial", fingerprint, seed)
            seed = seed if files is None else files.seed
            held = self._held_out(table, rows, settings.validation_fraction, seed)
            trial = self._grow(table, members, settings, rows, held, files, seed)
            n, scores = trial.n_kept, trial.scores
            settings = replace(settings, max_layers=n, n_tolerance=n, keep="all")
            del trial  # and its layers
        files = self._files("layers", fingerprint, seed)
        seed = seed if files is None else files.seed
        growth = self._grow(table, members, settings, rows, rows[:0], files, seed)
        self.layers_ = growth.layers[: growth.n_kept]
        self.layer_scores_ = scores or growth.scores
        self._fit_final(table, growth, seed)
        return self

    def _settings(self) -> Settings:
        """The preset with what the user gave, checked."""
        parameters.check_option("preset", self.preset, PRESETS)
        preset = PRESETS[self.preset]
        given = {f.name: getattr(self, f.name) for f in fields(Settings)}
        settings = replace(preset, **{k: v for k, v in given.items() if v is not None})
        for name in ("n_forests", "n_trees", "max_layers", "n_tolerance"):
            parameters.check_int(name, getattr(settings, name), low=1)
        parameters.check_int("max_depth", settings.max_depth, low=1, optional=True)
        parameters.check_int("cv", settings.cv, low=2)
        parameters.check_option(
            "class_vectors", settings.class_vectors, ("out_of_fold", "out_of_bag")
        )
        parameters.check_option("partner", settings.partner, ("extra_trees", "random_trees"))
        parameters.check_option("keep", settings.keep, ("best", "all"))
        parameters.check_option("storage", self.storage, ("memory", "disk"))
        parameters.check_bool("resume", self.resume)
        parameters.check_real("validation_fraction", settings.validation_fraction, low=0, high=0.9)
        if self.screening is not None:
            parameters.check_real("screening", self.screening, low=0, high=1)
        return settings

    def _members(self, settings: Settings) -> list:
        """The members of a layer, unfitted."""
        if self.estimators is None:
            growth = self._forest_parameters(settings)
            bags = settings.class_vectors == "out_of_bag"
            pair = [
                self._kinds["random_forest"](settings.n_trees, **growth),
                self._kinds[settings.partner](settings.n_trees, bootstrap=bags, **growth),
            ]
            members = pair * settings.n_forests
        else:
            members = [*self.estimators] if isinstance(self.estimators, list | tuple) else []
        wrong_kind = is_regressor if is_classifier(self) else is_classifier
        for member in members or [None]:
            if isinstance(member, type) or not hasattr(member, "fit") or wrong_kind(member):
                kind = "classifiers" if is_classifier(self) else "regressors"
                raise ValueError(
                    f"'estimators' must be None or a list of {kind}, got {self.estimators!r}."
                )
            if grows_on_bins(member):
                member._check_parameters()
        return members

    def _forest_parameters(self, settings: Settings) -> dict[str, Any]:
        return {
            "max_depth": settings.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "min_weight_fraction_leaf": self.min_weight_fraction_leaf,
        }

    def _training_table(self, X: Any, y: np.ndarray, weights: Any, members: list) -> TrainingTable:
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        max_bins = parameters.max_bins_code(self.max_bins)
        as_numbers = self.final_estimator is not None or not all(map(grows_on_bins, members))
        return TrainingTable(
            reader=self,
            data=self.schema_.bin(X, max_bins, n_jobs),
            matrix=self.schema_.encode(self, X) if as_numbers else None,
            y=y,
            weights=self._with_class_weight(y, weights),
            max_bins=max_bins,
            n_jobs=n_jobs,
        )

    def _fingerprint(self, X: Any, table: TrainingTable) -> str:
        """What the layers depend on, in one word."""
        running = {"storage", "checkpoint", "resume", "n_jobs", "verbose", "callback",
                   "final_estimator", "random_state"}  # fmt: skip
        shape = {k: v for k, v in self.get_params(deep=False).items() if k not in running}
        seed = self.random_state if parameters.is_int(self.random_state) else None
        return joblib.hash((shape, seed, self.schema_.encode(self, X), table.y, table.weights))

    def _files(self, part: str, fingerprint: str, seed: int) -> LayerFiles | None:
        """Where the layers of one growth are kept; None for nowhere."""
        if self.checkpoint is not None:
            return LayerFiles(Path(self.checkpoint) / part, fingerprint, seed, self.resume)
        if self.storage == "disk":
            return LayerFiles(None, fingerprint, seed, resume=False)
        return None

    def _held_out(
        self, table: TrainingTable, rows: np.ndarray, share: float, seed: int
    ) -> np.ndarray:
        """The rows on which layers are judged: a share of each class."""
        order = np.random.default_rng((seed, 0)).permutation(rows)
        if table.classes is not None:
            order = order[np.argsort(table.classes[order], kind="stable")]
        return np.sort(order[np.diff(np.floor(share * np.arange(len(rows) + 1))) > 0])

    def _grow(
        self,
        table: TrainingTable,
        members: list,
        settings: Settings,
        rows: np.ndarray,
        held: np.ndarray,
        files: LayerFiles | None,
        seed: int,
    ) -> Growth:
        """Grow layers on the rows that are not held out, from the last one that is in a file."""
        growth = Growth(
            rows=np.setdiff1d(rows, held),
            held=held,
            values=np.zeros((len(table.y), table.n_outputs)),
            score=lambda rows, values: self._score(
                table.y[rows], values, None if table.weights is None else table.weights[rows]
            ),
            is_wrong=lambda rows, values: values.argmax(axis=1) != table.y[rows],
            screening=self.screening,
            keep_all=settings.keep == "all",
        )
        in_memory = self.storage == "memory"
        if files is not None:
            for stored, vectors in files.read_all([not grows_on_bins(m) for m in members]):
                gate = growth.judge(vectors)
                growth.add(stored.load() if in_memory else stored, gate, vectors)
        while growth.goes_on(settings.max_layers, settings.n_tolerance):
            number = len(growth.layers)
            what = f"{type(self).__name__}, layer {number + 1}"
            with progress(self.verbose, self.callback, len(members), what) as report:
                layer, vectors = fit_layer(
                    number, members, table, growth.vectors, growth.rows, growth.held,
                    cv=settings.cv, out_of_bag=settings.class_vectors == "out_of_bag",
                    seed=seed, report=report,
                )  # fmt: skip
            layer.gate = growth.judge(vectors)
            written = None if files is None else files.write(layer, vectors)
            growth.add(layer if in_memory else written, layer.gate, vectors)
        return growth

    def _fit_final(self, table: TrainingTable, growth: Growth, seed: int) -> None:
        self.__dict__.pop("final_estimator_", None)  # of an earlier fit
        if self.final_estimator is None:
            return
        rows, vectors = growth.kept_rows, growth.kept_vectors
        assert vectors is not None and table.matrix is not None
        flat = vectors[rows].reshape(len(rows), -1)
        final = seeded(self.final_estimator, seed)
        weights = {}
        if table.weights is not None and takes_weights(final):
            weights = {"sample_weight": table.weights[rows]}
        labels = table.y if table.classes is None else self.classes_[table.y]
        self.final_estimator_ = final.fit(
            np.hstack([table.matrix[rows], flat]), labels[rows], **weights
        )

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        """What the cascade says of each row, layer by layer; the last with the final estimator."""
        check_is_fitted(self)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        matrix = self.schema_.encode(self, X)
        n, n_outputs = len(matrix), getattr(self, "n_classes_", 1)
        in_play, vectors, values = np.arange(n), None, np.empty((n, n_outputs))
        for number, stored in enumerate(self.layers_, start=1):
            layer = stored.load()
            is_last = number == len(self.layers_)
            fresh = np.empty((len(in_play), len(layer.members), n_outputs), dtype=np.float32)
            for start in range(0, len(in_play), _ROWS_AT_ONCE):
                part = slice(start, start + _ROWS_AT_ONCE)
                block = _side_by_side(matrix[in_play[part]], vectors, part)
                fresh[part] = layer.vectors(block, self, n_jobs)
                values[in_play[part]] = fresh[part].mean(axis=1, dtype=np.float64)
                if is_last and hasattr(self, "final_estimator_"):
                    block = _side_by_side(block[:, : matrix.shape[1]], fresh, part)
                    values[in_play[part]] = values_of(self.final_estimator_, block, self)
            yield values.copy()
            staying = certainty(values[in_play]) < layer.gate
            in_play, vectors = in_play[staying], fresh[staying]

    def _values(self, X: Any) -> np.ndarray:
        *_, last = self._stages(X)
        return last

    def truncate(self, n_layers: int):
        """The cascade of the first layers.

        Parameters
        ----------
        n_layers : int
            How many layers to keep, at least one.

        Returns
        -------
        cascade : object of the same class
            Predicts by the mean of its last layer's members, without a final estimator.
        """
        check_is_fitted(self)
        parameters.check_int("n_layers", n_layers, low=1)
        if n_layers > self.n_layers_:
            raise ValueError(f"'n_layers' must be at most {self.n_layers_}, got {n_layers}.")
        shorter = copy.copy(self)
        shorter.layers_ = self.layers_[:n_layers]
        shorter.layer_scores_ = self.layer_scores_[:n_layers]
        shorter.__dict__.pop("final_estimator_", None)
        return shorter

    def flatten(self):
        """A random forest with as many trees as the cascade has, not fitted yet.

        Returns
        -------
        forest : RandomForestClassifier or RandomForestRegressor
            What the cascade is to be compared with: the same trees side by side.
        """
        check_is_fitted(self)
        given = {"class_weight": self.class_weight} if is_classifier(self) else {}
        return self._kinds["random_forest"](
            self.n_trees_,
            **self._forest_parameters(self._settings()),
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            **given,
        )

    @property
    def n_layers_(self) -> int:
        """Number of layers."""
        check_is_fitted(self)
        return len(self.layers_)

    @property
    def n_trees_(self) -> int:
        """Trees in all layers."""
        check_is_fitted(self)
        return sum(m.n_trees for layer in self.layers_ for m in layer.load().members)

    @property
    def n_splits_(self) -> int:
        """Tests in all layers."""
        check_is_fitted(self)
        return sum(m.n_splits for layer in self.layers_ for m in layer.load().members)

    @property
    def nbytes_(self) -> int:
        """Bytes that the layers take in memory."""
        check_is_fitted(self)
        return sum(m.nbytes for layer in self.layers_ for m in layer.load().members)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity-based importances of the raw features.

        A layer's share for a vector goes to the features that made it, by the importances of the
        member that it came from.
        """
        check_is_fitted(self)
        p, n_outputs = self.n_features_in_, getattr(self, "n_classes_", 1)
        of_members = np.empty((0, p))
        for stored in self.layers_:
            shares = np.stack([member.importances for member in stored.load().members])
            of_vectors = shares[:, p:].reshape(len(shares), len(of_members), n_outputs)
            of_members = shares[:, :p] + of_vectors.sum(axis=2) @ of_members
        return of_members.mean(axis=0)


def _side_by_side(block: np.ndarray, vectors: np.ndarray | None, part: slice) -> np.ndarray:
    if vectors is None:
        return block
    chosen = vectors[part]
    return np.hstack([block, chosen.reshape(len(chosen), -1)], dtype=block.dtype)
