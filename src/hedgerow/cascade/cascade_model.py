"""What cascades of both kinds share: fitting layer by layer, prediction, and cutting down."""

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._estimator import Settings, fitted, parameter
from hedgerow._graph_model import check_forest
from hedgerow._parameters import MOST_MEMBERS, Rule, count, integer, option, real
from hedgerow._progress import progress
from hedgerow._table import Table
from hedgerow._table_model import BinParameters
from hedgerow.cascade.files import LayerFiles
from hedgerow.cascade.growth import Growth, certainty, mean_of_members
from hedgerow.cascade.layers import (
    GrownForest,
    Layer,
    fit_layer,
    grows_on_bins,
    training_rows,
    values_of,
    vector_dtype,
    with_vectors,
)
from hedgerow.forest.members import seeded

_ROWS_AT_ONCE = 8192  # rows that a prediction holds beside their vectors at one time

# What the parameters that are left at None mean.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "n_forests": 2, "partner": "extra_trees", "n_trees": 100, "max_layers": 10,
        "n_tolerance": 1, "class_vectors": "out_of_fold", "cv": 5, "validation_fraction": 0.0,
        "keep": "best",
    },
    "light": {
        "n_forests": 1, "partner": "extra_trees", "n_trees": 100, "max_layers": 2,
        "n_tolerance": 2, "class_vectors": "out_of_bag", "cv": 3, "validation_fraction": 0.0,
        "keep": "all",
    },
    "paper": {
        "n_forests": 4, "partner": "random_trees", "n_trees": 500, "max_layers": 100,
        "n_tolerance": 3, "class_vectors": "out_of_fold", "cv": 3, "validation_fraction": 0.2,
        "keep": "best",
    },
    "paper_light": {
        "n_forests": 1, "partner": "random_trees", "n_trees": 50, "max_depth": 30,
        "max_layers": 2, "n_tolerance": 2, "class_vectors": "out_of_fold", "cv": 3,
        "validation_fraction": 0.0, "keep": "all",
    },
}  # fmt: skip


def _check_path(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str | os.PathLike):
        parameters.refuse(name, "a path or None", value)


def _without(method: str) -> property:
    """A method of other models that has no meaning for a cascade."""

    def refuse(self: Any) -> Any:
        raise AttributeError(
            f"{type(self).__name__} has no {method!r}: a row goes through every tree of every "
            "layer. The forests are in 'layers_'; 'predict' takes any number of rows."
        )

    return property(refuse)


class CascadeModel(BinParameters):
    """What classifiers and regressors share."""

    preset: str = parameter(
        "default",
        option(*PRESETS),
        'What the parameters that are left at None mean. "paper" is the deep forest of Zhou and '
        "Feng: four random and four completely random forests of 500 trees a layer, three folds, "
        'growth judged on a fifth of the rows and repeated on all. "light" is two layers of one '
        'random forest and one of extra trees, described out of bag. "paper_light" is the light '
        "cascade of Arnould, Boyer and Scornet: two layers of one random and one completely random "
        "forest of 50 trees of depth 30, three folds.",
        kw_only=False,
    )
    estimators: Any = parameter(
        None,
        parameters.anything("list of estimators or None"),
        "The members of every layer instead of the forests: any of hedgerow's or scikit-learn's.",
    )
    n_forests: int | None = parameter(
        None,
        integer(high=MOST_MEMBERS, optional=True),
        "Random forests in a layer, and as many of the other kind (2; light 1, paper 4).",
    )
    partner: str | None = parameter(
        None,
        option("extra_trees", "random_trees", optional=True),
        "The other kind: extra trees, or completely random trees (paper).",
    )
    n_trees: int | None = parameter(
        None,
        integer(high=MOST_MEMBERS, optional=True),
        "Trees in a forest (100; paper 500, paper_light 50).",
    )
    max_depth: int | None = parameter(
        None, integer(optional=True), "Depth of the trees; no limit (paper_light 30)."
    )
    min_samples_leaf: int | float = parameter(
        1, count(1), "Fewest rows of a leaf, as a number or a share of all rows."
    )
    min_weight_fraction_leaf: float = parameter(
        0.0, real(0, 0.5), "Least weight of a leaf, as a share of the weight of all rows."
    )
    max_layers: int | None = parameter(
        None, integer(optional=True), "The most layers (10; light 2, paper 100)."
    )
    n_tolerance: int | None = parameter(
        None,
        integer(optional=True),
        "Stop after as many layers in a row without a better score (1; light 2, paper 3).",
    )
    class_vectors: str | None = parameter(
        None,
        option("out_of_fold", "out_of_bag", optional=True),
        'How the rows that a layer learned from are described to the next. "out_of_fold" fits each '
        'member once for every fold, on the other folds. "out_of_bag" (light) fits it once and '
        "takes the trees whose bag a row is not in, in a ``cv``-th of the time; members without "
        "bags are described out of fold.",
    )
    cv: int | None = parameter(None, integer(2, optional=True), "Folds (5; light and paper 3).")
    validation_fraction: float | None = parameter(
        None,
        real(0, 0.9, optional=True),
        "Share of the rows on which layers are judged, not used for growing; when the number of "
        "layers is known, the cascade is grown again on all rows (paper 0.2). 0 judges layers by "
        "the out-of-fold or out-of-bag values of all rows, and grows once.",
    )
    keep: str | None = parameter(
        None,
        option("best", "all", optional=True),
        "Keep the layers up to the best, or all that were grown (light).",
    )
    final_estimator: Any = parameter(
        None,
        parameters.anything("estimator or None"),
        "Predicts from the raw features and the vectors of the last layer. None takes the mean of "
        "the last layer's members.",
    )
    storage: str = parameter(
        "memory",
        option("memory", "disk"),
        '"disk" keeps finished layers in files (in the folder of the checkpoint, or in a temporary '
        "one) and reads one at a time; the memory needed is that of one layer.",
    )
    checkpoint: Any = parameter(
        None,
        Rule("path or None", _check_path),
        "A folder to keep finished layers in. A fit that was killed goes on from there and ends "
        "with the same model. Forests are stored as plain arrays, other members as pickles.",
    )
    resume: bool = parameter(
        True,
        parameters.FLAG,
        "Go on with what the folder has; False deletes it and starts anew.",
    )
    random_state: Any = parameter(None, parameters.SEED, "Seed of the folds and of the members.")
    verbose: int = parameter(0, parameters.VERBOSE, "1 shows a bar for each layer.")
    callback: Any = parameter(
        None, parameters.CALLBACK, "Called with (members done, members) while a layer grows."
    )
    layers_: list[Layer] = fitted(
        "list of Layer", "The layers; ``load()`` gives each with its ``members``."
    )
    layer_scores_: list[float] = fitted(
        "list of float",
        "Accuracy (R² of a regressor) of each layer that was grown, dropped ones included, on rows "
        "it did not see.",
    )
    final_estimator_: Any = fitted("estimator", "With ``final_estimator``.", optional=True)
    _forests: ClassVar[dict[str, Any]]  # by the words of `partner`, and "random_forest"

    def check_parameters(self) -> None:
        super().check_parameters()
        words = "classifiers" if is_classifier(self) else "regressors"
        members = self.estimators
        if members is not None:
            is_list = isinstance(members, list | tuple) and len(members) > 0
            if not is_list or not all(map(self._can_be_member, members)):
                parameters.refuse("estimators", f"None or a list of {words}", members)
        if self.final_estimator is not None and not self._can_be_member(self.final_estimator):
            parameters.refuse("final_estimator", f"None or one of {words}", self.final_estimator)

    def check_fitted(self) -> None:
        super().check_fitted()
        n_features = self.n_features_in_
        for layer in self.layers_:
            shapes = set().union(*(member.shapes for member in layer.members))
            if shapes != {(n_features, self.n_values)}:
                raise ValueError("a layer of the cascade has other features or outputs than it")
            for member in layer.members:
                if isinstance(member, GrownForest):
                    check_forest(self, member.forest, n_features)
            n_features = self.n_features_in_ + len(layer.members) * self.n_values
        final = getattr(self, "final_estimator_", None)
        if final is not None and final.n_features_in_ != n_features:
            raise ValueError("the final estimator has other features than the cascade")
        if not self.layers_ or len(self.layer_scores_) < len(self.layers_):
            raise ValueError("the cascade has no layers, or layers without scores")

    def _can_be_member(self, member: Any) -> bool:
        wrong_kind = is_regressor if is_classifier(self) else is_classifier
        return not isinstance(member, type) and hasattr(member, "fit") and not wrong_kind(member)

    def settings(self) -> Settings:
        """The parameters, checked and frozen; those left at None have the preset's values."""
        values = vars(super().settings())
        preset = {k: v for k, v in PRESETS[self.preset].items() if values[k] is None}
        return Settings(values | preset)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
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
        settings = self.settings()
        members = self._members(settings)
        table = self.read_table(X, y, sample_weight)
        coded = table.coded(table.weighed(getattr(settings, "class_weight", None)))
        rows = np.arange(table.n_rows) if coded.weights is None else np.flatnonzero(coded.weights)
        if len(rows) < 2:
            raise ValueError("Found 1 sample while a cascade needs at least 2.")
        seed = int(check_random_state(settings.random_state).randint(2**31 - 1))
        fingerprint = "" if settings.checkpoint is None else self._fingerprint(settings, coded)
        scores = None
        if settings.validation_fraction:
            files = self._files(settings, "trial", fingerprint, seed)
            seed = seed if files is None else files.seed
            held = self._held_out(coded, rows, settings.validation_fraction, seed)
            trial = self._grow(coded, members, settings, rows, held, files, seed)
            n_layers, scores = trial.n_kept, trial.scores
            del trial  # and its layers
            settings = Settings(
                vars(settings) | {"max_layers": n_layers, "n_tolerance": n_layers, "keep": "all"}
            )
        files = self._files(settings, "layers", fingerprint, seed)
        seed = seed if files is None else files.seed
        growth = self._grow(coded, members, settings, rows, rows[:0], files, seed)
        final = self._fit_final(settings.final_estimator, coded, growth, seed)
        self.__dict__.pop("final_estimator_", None)  # of an earlier fit
        layers = growth.layers[: growth.n_kept]
        grown = {"layers_": layers, "layer_scores_": scores or growth.scores}
        self.become(table.facts() | grown | final)
        return self

    def _members(self, settings: Settings) -> list:
        """The members of a layer, unfitted."""
        if settings.estimators is not None:
            for member in settings.estimators:
                if grows_on_bins(member):
                    member.check_parameters()
            return [*settings.estimators]
        limits = self._limits(settings)
        bags = settings.class_vectors == "out_of_bag"
        pair = [
            self._forests["random_forest"](settings.n_trees, **limits),
            self._forests[settings.partner](settings.n_trees, bootstrap=bags, **limits),
        ]
        return pair * settings.n_forests

    def _limits(self, settings: Settings) -> dict[str, Any]:
        """The parameters of a cascade that are those of its forests."""
        names = ("max_depth", "min_samples_leaf", "min_weight_fraction_leaf")
        return {name: getattr(settings, name) for name in names}

    def _fingerprint(self, settings: Settings, table: Table) -> str:
        """What the layers depend on, in one word."""
        running = {"storage", "checkpoint", "resume", "n_jobs", "verbose", "callback",
                   "final_estimator", "random_state"}  # fmt: skip
        shape = {k: v for k, v in vars(settings).items() if k not in running}
        seed = settings.random_state if parameters.is_int(settings.random_state) else None
        return joblib.hash((shape, seed, table.matrix(), table.targets, table.weights))

    def _files(
        self, settings: Settings, part: str, fingerprint: str, seed: int
    ) -> LayerFiles | None:
        """Where the layers of one growth are kept; None for nowhere."""
        if settings.checkpoint is not None:
            return LayerFiles(Path(settings.checkpoint) / part, fingerprint, seed, settings.resume)
        if settings.storage == "disk":
            return LayerFiles(None, fingerprint, seed, resume=False)
        return None

    def _held_out(self, table: Table, rows: np.ndarray, share: float, seed: int) -> np.ndarray:
        """The rows on which layers are judged: a share of each class."""
        order = np.random.default_rng((seed, 0)).permutation(rows)
        if table.classes is not None:
            order = order[np.argsort(table.targets[order], kind="stable")]
        return np.sort(order[np.diff(np.floor(share * np.arange(len(rows) + 1))) > 0])

    def _grow(
        self,
        table: Table,
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
            values=np.zeros((table.n_rows, table.n_values)),
            score=lambda rows, values: self._score(
                table.targets[rows], values, None if table.weights is None else table.weights[rows]
            ),
            is_wrong=lambda rows, values: values.argmax(axis=1) != table.targets[rows],
            screening=getattr(settings, "screening", None),
            keep_all=settings.keep == "all",
        )
        in_memory = settings.storage == "memory"
        if files is not None:
            for stored, vectors in files.read_all(pickles=not all(map(grows_on_bins, members))):
                gate = growth.judge(vectors)
                growth.add(stored.load() if in_memory else stored, gate, vectors)
        while growth.goes_on(settings.max_layers, settings.n_tolerance):
            number = len(growth.layers)
            what = f"{type(self).__name__}, layer {number + 1}"
            with progress(settings.verbose, settings.callback, len(members), what) as report:
                fitted_members, vectors = fit_layer(
                    number, members, table, growth.vectors, growth.rows, growth.held,
                    max_bins=settings.max_bins, n_jobs=parameters.resolve_n_jobs(settings.n_jobs),
                    cv=settings.cv, out_of_bag=settings.class_vectors == "out_of_bag",
                    seed=seed, report=report,
                )  # fmt: skip
            layer = Layer(fitted_members, growth.judge(vectors))
            written = None if files is None else files.write(layer, vectors)
            growth.add(layer if in_memory else written, layer.gate, vectors)
        return growth

    def _fit_final(self, estimator: Any, table: Table, growth: Growth, seed: int) -> dict[str, Any]:
        """The fitted final estimator, by the name of its attribute, where there is one."""
        if estimator is None:
            return {}
        final = seeded(estimator, seed)
        wider = with_vectors(table, growth.kept_vectors)
        X, y, weights = training_rows(final, wider, growth.kept_rows)
        named = {} if weights is None else {"sample_weight": weights}
        return {"final_estimator_": final.fit(X, y, **named)}

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        """What the cascade says of each row, layer by layer; the last with the final estimator."""
        check_is_fitted(self)
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        matrix = self.schema_.encode(self, X)
        classes = getattr(self, "classes_", None)
        n, n_outputs = len(matrix), 1 if classes is None else len(classes)
        in_play, vectors, values = np.arange(n), None, np.empty((n, n_outputs))
        for number, stored in enumerate(self.layers_, start=1):
            layer = stored.load()
            is_last = number == len(self.layers_)
            shape = (len(in_play), len(layer.members), n_outputs)
            fresh: np.ndarray = np.empty(shape, dtype=vector_dtype(classes))
            for start in range(0, len(in_play), _ROWS_AT_ONCE):
                part = slice(start, start + _ROWS_AT_ONCE)
                block = _side_by_side(matrix[in_play[part]], vectors, part)
                fresh[part] = layer.vectors(block, classes, n_jobs)
                values[in_play[part]] = mean_of_members(fresh[part])
                if is_last and hasattr(self, "final_estimator_"):
                    block = _side_by_side(block[:, : matrix.shape[1]], fresh, part)
                    values[in_play[part]] = values_of(self.final_estimator_, block, classes)
            yield values.copy()
            staying = certainty(values[in_play]) < layer.gate
            in_play, vectors = in_play[staying], fresh[staying]

    def _values(self, X: Any) -> np.ndarray:
        *_, last = self._stages(X)
        return last

    def subset(self, n_layers: int):
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
        shorter = clone(self)
        kept = {f.name for f in fields(self) if not f.init} - {"final_estimator_"}
        shorter.__dict__.update({k: v for k, v in vars(self).items() if k in kept})
        shorter.layers_ = self.layers_[:n_layers]
        shorter.layer_scores_ = self.layer_scores_[:n_layers]
        return shorter

    def flatten(self):
        """A random forest with as many trees as the cascade has, not fitted yet.

        Returns
        -------
        forest : RandomForestClassifier or RandomForestRegressor
            What the cascade is to be compared with: the same trees side by side.
        """
        check_is_fitted(self)
        settings = self.settings()
        names = ["max_bins", "categorical_features", "n_jobs", "random_state"]
        names += ["class_weight"] if is_classifier(self) else []
        return self._forests["random_forest"](
            self.n_trees_,
            **self._limits(settings),
            **{name: getattr(settings, name) for name in names},
        )

    def __getstate__(self) -> dict:
        """A pickled or stored model is whole: layers that are in files are read."""
        state = super().__getstate__()
        if "layers_" in state:
            state["layers_"] = [layer.load() for layer in self.layers_]
        return state

    @property
    def n_layers_(self) -> int:
        """Number of layers."""
        check_is_fitted(self)
        return len(self.layers_)

    @property
    def n_trees_(self) -> int:
        """Trees in all layers, those of all folds."""
        return sum(member.n_trees for members in self._layers() for member in members)

    @property
    def n_splits_(self) -> int:
        """Tests in all layers."""
        return sum(member.n_splits for members in self._layers() for member in members)

    @property
    def nbytes_(self) -> int:
        """Bytes that the layers take in memory."""
        return sum(member.nbytes for members in self._layers() for member in members)

    def get_depth(self) -> int:
        """Length of the longest path through all layers, a tree of each."""
        return sum(max(member.depth for member in members) for members in self._layers())

    def _layers(self) -> Iterator[list]:
        """The members of each layer in turn, read where they are in a file."""
        check_is_fitted(self)
        for layer in self.layers_:
            yield layer.load().members

    apply = _without("apply")
    decision_path = _without("decision_path")
    row_predictor = _without("row_predictor")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity-based importances of the raw features.

        A layer's share for a vector goes to the features that made it, by the importances of the
        member that it came from.
        """
        check_is_fitted(self)
        p, n_outputs = self.n_features_in_, getattr(self, "n_classes_", 1)
        of_members = np.empty((0, p))
        for members in self._layers():
            shares = np.stack([member.importances for member in members])
            of_vectors = shares[:, p:].reshape(len(shares), len(of_members), n_outputs)
            of_members = shares[:, :p] + of_vectors.sum(axis=2) @ of_members
        return of_members.mean(axis=0)


def _side_by_side(block: np.ndarray, vectors: np.ndarray | None, part: slice) -> np.ndarray:
    if vectors is None:
        return block
    chosen = vectors[part]
    flat = chosen.reshape(len(chosen), -1)
    return np.hstack([block, flat], dtype=np.result_type(block, flat))
