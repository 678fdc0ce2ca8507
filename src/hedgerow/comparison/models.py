"""The models that a comparison runs: a new one joins by a line in ``MODELS``.

A line names the class without its ending, ``Classifier`` or ``Regressor``, and is imported when it
is used, so that a peer takes part where it is installed. Peers run at the defaults that their
authors recommend; those that do not read frames get their table from ``hedgerow.comparison.peers``.
"""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from hedgerow.comparison.peers import Peer
from hedgerow.comparison.records import Task

Budget = Literal["small", "balanced", "thorough"]
BUDGETS: tuple[Budget, ...] = ("small", "balanced", "thorough")
LIBRARIES = {
    "hedgerow": "hedgerow",
    "sklearn": "scikit-learn",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "ydf": "YDF",
    "imodels": "imodels",
    "interpret": "InterpretML",
}

Settings = dict[str, Any]
Ladder = Callable[[int], Iterable[Settings]]


@dataclass(frozen=True)
class Model:
    """A competitor.

    Attributes
    ----------
    path : str
        Where the class is, without its ending: ``"hedgerow.DecisionTree"``.
    family : str
    parameters : dict
        What differs from the class's defaults.
    tasks : tuple of str
    budget : {"small", "balanced", "thorough"}
        The smallest budget it takes part in.
    grid : tuple of dict
        Settings beside the default that are tried in the thorough budget, inside each training
        fold.
    ladder : callable or None
        From a number of splits to settings with about that many or fewer, the largest first; tried
        where a limit of splits, bytes or latency is given.
    depth : str or None
        The parameter that limits the longest path, where there is one.
    module : str or None
        The library, where the path is not inside it.
    one_hot : bool
        Whether a peer needs categories one-hot encoded.
    trusted : bool
        Whether, under a limit, its largest setting is taken unless another is clearly better: it
        seldom overfits.
    """

    path: str
    family: str
    parameters: Settings = field(default_factory=dict)
    tasks: tuple[Task, ...] = ("classification", "regression")
    budget: Budget = "small"
    grid: tuple[Settings, ...] = ()
    ladder: Ladder | None = None
    depth: str | None = None
    module: str | None = None
    one_hot: bool = False
    trusted: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is one of hedgerow's models."""
        return self.library == "hedgerow"

    @property
    def package(self) -> str:
        """What the library is imported as."""
        return self.module or self.path.partition(".")[0]

    @property
    def library(self) -> str:
        """Name of the library."""
        return LIBRARIES[self.package]

    @property
    def weighs_classes(self) -> bool:
        """Whether ``class_weight="balanced"`` is a setting of its classifier, or can be given."""
        if "classification" not in self.tasks:
            return False
        return (
            not self.is_ours
            or "class_weight" in inspect.signature(self._class_of("Classifier")).parameters
        )

    def _class_of(self, ending: str) -> Any:
        module, _, stem = self.path.rpartition(".")
        return getattr(importlib.import_module(module), stem + ending)

    @property
    def is_installed(self) -> bool:
        """Whether the library can be imported."""
        return importlib.util.find_spec(self.package) is not None

    def make(
        self, task: Task, *, seed: int = 0, n_jobs: int | None = None, settings: Any = None
    ) -> Any:
        """A new estimator.

        Parameters
        ----------
        task : {"classification", "regression"}
        seed : int, default=0
        n_jobs : int, default=None
            Threads, where the estimator takes them.
        settings : dict, default=None
            Parameters from the grid or the ladder.

        Returns
        -------
        estimator : object
        """
        estimator_class = self._class_of("Classifier" if task == "classification" else "Regressor")
        known = {*inspect.signature(estimator_class).parameters, *estimator_class().get_params()}
        common = {"random_state": seed, "n_jobs": n_jobs, "thread_count": n_jobs}
        accepted = {name: value for name, value in common.items() if name in known}
        given = dict(settings or {})
        # Not all libraries have class weights, but all have weights of rows.
        is_balanced = not self.is_ours and given.pop("class_weight", None) == "balanced"
        estimator = estimator_class(**accepted | self.parameters | given)
        return estimator if self.is_ours else Peer(estimator, self.one_hot, is_balanced)


def _sizes(most: int) -> list[int]:
    """Most, and ever smaller by a third, down to one."""
    sizes = [most]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] * 2 // 3)
    return sizes


def leaves(most: int) -> list[Settings]:
    """One tree, by its number of leaves."""
    return [{"max_leaf_nodes": size + 1} for size in _sizes(most)]


def splits(most: int) -> list[Settings]:
    """One decision graph, by its number of splits."""
    return [{"max_splits": size} for size in _sizes(most)]


def sums(most: int) -> list[Settings]:
    """A sum of few trees: all its leaves are fitted together, which takes long beyond hundreds."""
    return splits(min(most, MOST_SUMMED))


def depths(most: int) -> list[Settings]:
    """One tree that is limited by its depth alone."""
    return [{"max_depth": depth} for depth in range(max(1, most.bit_length() + 4), 0, -1)]


def members(count: str, most_members: int = 144) -> Ladder:
    """Few large trees or many small ones."""

    def ladder(most: int) -> Iterable[Settings]:
        for share in (1, 2, 4, 8, 16):
            for n in (2, 3, 5, 8, 13, 21, 34, 55, 89, 144):
                size = most // share // n
                if n <= most_members and size >= 1:
                    yield {count: n, "max_leaf_nodes": size + 1}

    return ladder


def boosted(rounds: str, leaves: str, **fixed: Any) -> Ladder:
    """Few rounds of large trees or many of small ones, at steps that suit the rounds.

    Few rounds must take large steps, or the sum stays far from the target. With several classes a
    round is a tree for each, so ever smaller shares of the splits are offered.
    """

    def ladder(most: int) -> Iterable[Settings]:
        offered = set()
        for share in (1, 2, 3, 4, 6, 8, 12, 16, 24):
            for factor, shapes in ((1, (2, 3, 4, 6, 8, 16, 32)), (2, (2, 4, 8, 16, 32))):
                for n_leaves in shapes:
                    n_rounds = most // share // (n_leaves - 1)
                    step = factor * n_rounds**-0.5 if n_rounds else 2.0
                    if step <= 1 and (n_leaves, n_rounds, step) not in offered:
                        offered.add((n_leaves, n_rounds, step))
                        yield {rounds: n_rounds, leaves: n_leaves, "learning_rate": step, **fixed}

    return ladder


def oblivious(most: int) -> Iterable[Settings]:
    """Rounds of oblivious trees, which have all the splits of their depth."""
    for setting in boosted("iterations", "leaves")(most):
        n_leaves = setting.pop("leaves")
        if n_leaves.bit_count() == 1:
            yield {**setting, "depth": n_leaves.bit_length() - 1}


def rules(most: int) -> list[Settings]:
    """Greedy sums of trees, by the splits of all of them."""
    return [{"max_rules": size} for size in _sizes(most)]


def bins(most: int) -> list[Settings]:
    """Additive models, by the bins of a feature."""
    return [{"max_bins": size, "interactions": 0} for size in (256, 64, 32, 16, 8, 4, 3)]


TREE_GRID = ({"min_samples_leaf": 5}, {"min_samples_leaf": 20}, {"max_leaf_nodes": 32})
FOREST_GRID = ({"max_features": 0.5}, {"min_samples_leaf": 3})
DEPTH = "max_depth"
MOST_SUMMED = 160  # splits of a sum of few trees
BOOSTING_GRID = ({"learning_rate": 0.05}, {"learning_rate": 0.2})

MODELS: dict[str, Model] = {
    "hedgerow DecisionTree": Model(
        "hedgerow.DecisionTree", "tree", grid=TREE_GRID, ladder=leaves, depth=DEPTH
    ),
    "hedgerow MeanMarginTree": Model(
        "hedgerow.MeanMarginTree", "tree", grid=TREE_GRID[:2], ladder=depths, depth=DEPTH
    ),
    "hedgerow CrossValidatedTree": Model("hedgerow.CrossValidatedTree", "tree"),
    # A tree without limits has no training error left to remove.
    "hedgerow TAOTree": Model(
        "hedgerow.TAOTree", "tree", {"max_depth": 8}, grid=TREE_GRID, ladder=leaves, depth=DEPTH
    ),
    "hedgerow NaiveDecisionGraph": Model(
        "hedgerow.NaiveDecisionGraph",
        "graph",
        tasks=("classification",),
        grid=({"C": 1e-3}, {"C": 3e-3}),
        ladder=splits,
    ),
    "hedgerow TreeInTree": Model(
        "hedgerow.TreeInTree", "graph", grid=({"C": 1e-3}, {"C": 5e-3}), ladder=splits
    ),
    "hedgerow TreeSum": Model(
        "hedgerow.TreeSum",
        "additive",
        grid=({"max_splits": 20}, {"max_splits": 160}),
        ladder=sums,
        depth=DEPTH,
        trusted=True,
    ),
    "hedgerow GradientBoosting": Model(
        "hedgerow.GradientBoosting",
        "boosting",
        grid=BOOSTING_GRID,
        ladder=boosted("max_iter", "max_leaf_nodes", early_stopping=False),
        depth=DEPTH,
    ),
    "hedgerow TreeEmbedding": Model(
        "hedgerow.TreeEmbedding",
        "embedding",
        grid=({"n_estimators": 3}, {"max_anchors": 64}),
        ladder=members("n_estimators", 21),
        depth=DEPTH,
    ),
    "hedgerow TreeNetwork": Model("hedgerow.TreeNetwork", "cascade"),
    "hedgerow CascadeForest": Model(
        "hedgerow.CascadeForest",
        "cascade",
        {"preset": "light"},
        grid=({"preset": "default"},),
    ),
    "hedgerow RandomForest": Model(
        "hedgerow.RandomForest",
        "forest",
        grid=FOREST_GRID,
        ladder=members("n_estimators"),
        depth=DEPTH,
    ),
    "hedgerow ExtraTrees": Model(
        "hedgerow.ExtraTrees",
        "forest",
        grid=FOREST_GRID,
        ladder=members("n_estimators"),
        depth=DEPTH,
    ),
    "hedgerow HeterogeneousForest": Model(
        "hedgerow.HeterogeneousForest", "forest", budget="balanced", grid=({"preset": "paper"},)
    ),
    "hedgerow Bagging": Model("hedgerow.Bagging", "forest", budget="balanced"),
    "hedgerow AdaBoost": Model("hedgerow.AdaBoost", "boosting", budget="balanced"),
    "scikit-learn DecisionTree": Model(
        "sklearn.tree.DecisionTree",
        "tree",
        grid=TREE_GRID,
        ladder=leaves,
        depth=DEPTH,
        one_hot=True,
    ),
    "scikit-learn RandomForest": Model(
        "sklearn.ensemble.RandomForest",
        "forest",
        grid=FOREST_GRID,
        ladder=members("n_estimators"),
        depth=DEPTH,
        one_hot=True,
    ),
    "scikit-learn HistGradientBoosting": Model(
        "sklearn.ensemble.HistGradientBoosting",
        "boosting",
        grid=BOOSTING_GRID,
        ladder=boosted("max_iter", "max_leaf_nodes", early_stopping=False),
        depth=DEPTH,
    ),
    "LightGBM": Model(
        "lightgbm.LGBM",
        "boosting",
        {"verbose": -1},
        grid=BOOSTING_GRID,
        ladder=boosted("n_estimators", "num_leaves"),
        depth=DEPTH,
    ),
    "XGBoost": Model(
        "xgboost.XGB",
        "boosting",
        grid=BOOSTING_GRID,
        ladder=boosted("n_estimators", "max_leaves", max_depth=0, grow_policy="lossguide"),
        depth=DEPTH,
    ),
    "CatBoost": Model(
        "catboost.CatBoost",
        "boosting",
        {"verbose": 0, "allow_writing_files": False},
        budget="balanced",
        grid=BOOSTING_GRID,
        ladder=oblivious,
        depth="depth",
    ),
    "FIGS": Model(
        "imodels.FIGS", "additive", budget="balanced", ladder=rules, depth=DEPTH, one_hot=True
    ),
    # A fold of 455 rows and 30 columns takes it a minute, and all the others together ten seconds.
    "EBM": Model(
        "interpret.glassbox.ExplainableBoosting", "additive", budget="thorough", ladder=bins
    ),
    "YDF RandomForest": Model("hedgerow.comparison.peers.YdfForest", "forest", module="ydf"),
    "YDF GradientBoosting": Model(
        "hedgerow.comparison.peers.YdfBoosting", "boosting", module="ydf"
    ),
}


def choose_models(
    names: Iterable[str] | None,
    task: Task,
    budget: Budget = "thorough",
    *,
    ours: bool = False,
) -> dict[str, Model]:
    """The models that take part.

    Parameters
    ----------
    names : iterable of str or None
        Those to take. None stands for all that are installed, within the budget, and do the task.
    task : {"classification", "regression"}
    budget : {"small", "balanced", "thorough"}, default="thorough"
    ours : bool, default=False
        Whether None stands for hedgerow's only.

    Returns
    -------
    models : dict of str to Model
        At least one.
    """
    if names is None:
        allowed = BUDGETS[: BUDGETS.index(budget) + 1]
        return {
            name: model
            for name, model in MODELS.items()
            if task in model.tasks
            and model.budget in allowed
            and model.is_installed
            and (model.is_ours or not ours)
        }
    names = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in names if name not in MODELS]
    if unknown or not names:
        raise ValueError(f"'models' must be some of {list(MODELS)}, got {unknown or names}.")
    unable = [name for name in names if task not in MODELS[name].tasks]
    if unable:
        raise ValueError(f"'models' names {unable[0]!r}, which does not do {task}.")
    return {name: MODELS[name] for name in names}
