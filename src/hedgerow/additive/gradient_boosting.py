"""Gradient boosting: round after round a small tree is fitted to the slope of the loss.

Histograms of binned columns, trees grown leaf by leaf, second-order steps: the method of LightGBM
(Ke et al. 2017) and of scikit-learn's ``HistGradientBoosting*``, whose parameters and attributes
these models have. Grown by the engine (``cpp/boost``) on the bins that all of hedgerow's models
share. Derivatives are summed up as whole numbers, so that the model is the same for any number of
threads, bit by bit.

Differences from scikit-learn, all of them on purpose: by default the number of rounds is chosen on
folds and the model then fitted to all rows; rounds after the best one are dropped when fitting
stops early; ``tol`` is a share of the loss, not a number in its unit; steps of counts that would
overshoot are shortened; rows can be drawn (``subsample``); categories may be any number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._directions import DIRECTIONS, DIRECTIONS_TEXT, directions_of
from hedgerow._engine import BoostParams, Dataset, DecisionGraph, boost
from hedgerow._estimator import fitted, parameter
from hedgerow._parameters import Rule, integer, option, real, refuse
from hedgerow._progress import Progress, Watched, members_progress, progress, with_callbacks
from hedgerow._table import Table
from hedgerow._table_model import BinParameters, ClassWeightParameter
from hedgerow.additive.sum_model import SumClassifier, SumModel, SumRegressor, check_targets

_FOLDS = 5  # of which rounds are chosen on some
_JUDGED_ROWS = 20_000  # that many rows, or all five folds, are learned from to choose the rounds
_NO_ROWS = np.empty(0, dtype=np.uint32)


def _check_interactions(name: str, value: Any) -> None:
    if value is None or (isinstance(value, str) and value in ("pairwise", "no_interactions")):
        return
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or not all(isinstance(g, Sequence | set | frozenset) for g in value):
        refuse(name, "None, 'pairwise', 'no_interactions' or a list of lists of features", value)


def _check_early_stopping(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_) and not parameters.is_word(value, "auto"):
        refuse(name, "True, False or 'auto'", value)


def _check_validation(name: str, value: Any) -> None:
    if value is None or (parameters.is_int(value) and value >= 1):
        return
    if not parameters.is_real(value) or not 0 < value < 1:
        refuse(name, "a number between 0 and 1, a positive int or None", value)


class _Losses(NamedTuple):
    """Mean losses before the first round and after each."""

    train: np.ndarray
    held: np.ndarray


class _Boosted(NamedTuple):
    intercept: np.ndarray
    graphs: list[DecisionGraph]
    losses: _Losses


@dataclass(frozen=True)
class _Rounds:
    """Boosting on one table: all but the rows, the number of rounds, and where it starts."""

    data: Dataset
    targets: np.ndarray
    weights: np.ndarray | None
    rows: np.ndarray  # all that count
    params: BoostParams
    least: float
    n_jobs: int

    def boost(
        self,
        train: np.ndarray,
        held: np.ndarray,
        n_rounds: int,
        *,
        patience: int = 0,
        done: int = 0,
        scores: np.ndarray | None = None,
        report: Progress | None = None,
    ) -> _Boosted:
        intercept, graphs, *losses = boost(
            self.data,
            self.targets,
            self.weights,
            train,
            held,
            self.params,
            n_rounds,
            done,
            scores,
            patience=parameters.limit(patience),
            least=self.least,
            n_jobs=self.n_jobs,
            progress=report,
        )
        return _Boosted(intercept, graphs, _Losses(*losses))


class _GradientBoosting(Watched, SumModel, BinParameters):
    """What boosted classifiers and regressors share."""

    learning_rate: float = parameter(
        0.05, real(0, above=True), "What each tree's values are multiplied with."
    )
    max_iter: int = parameter(
        1000,
        integer(1, high=parameters.MOST_MEMBERS),
        "Most rounds; each grows one tree, or one for each of several classes.",
    )
    members: str = parameter(
        "tree",
        option("tree", "graph"),
        'What a round adds: a tree, or a decision graph, whose branches share nodes. "graph" '
        "starts Tree in Tree from the round's tree and has at most as many splits; it takes "
        "ten times as long and more, and no constraints.",
    )
    max_leaf_nodes: int | None = parameter(
        31, integer(2, optional=True), "Most leaves of a tree; None for no limit."
    )
    max_depth: int | None = parameter(
        None, integer(optional=True), "Most splits on a path from the root of a tree to a leaf."
    )
    min_samples_leaf: int = parameter(20, integer(1), "Fewest rows of a leaf.")
    l2_regularization: float = parameter(
        1.0, real(0), "Added to the second derivative of the loss in a leaf: shrinks its value."
    )
    category_smoothing: float = parameter(
        10.0,
        real(0),
        "How hard the order of categories, by what their rows gain, is drawn towards that of no "
        "gain: in units of second derivatives, of which a row has at most one (squared error) or a "
        "quarter (two classes).",
    )
    max_features: Any = parameter(
        0.8,
        parameters.MAX_FEATURES,
        "Features looked at for each split, drawn anew for each node; None means all.",
    )
    subsample: float = parameter(
        0.8, real(0, 1, above=True), "Share of the rows that a round learns from, drawn anew."
    )
    monotonic_cst: Any = parameter(None, DIRECTIONS, DIRECTIONS_TEXT)
    interaction_cst: Any = parameter(
        None,
        Rule('list of lists, {"pairwise", "no_interactions"} or None', _check_interactions),
        "Groups of features (indices or names) that may stand on one path from the root to a leaf; "
        "features in no group are a group of their own.",
    )
    warm_start: bool = parameter(
        False,
        parameters.FLAG,
        "Keep the trees of the last fit and grow only those that are missing to ``max_iter``. The "
        "table must be the same.",
    )
    early_stopping: bool | str = parameter(
        "auto",
        Rule('bool or "auto"', _check_early_stopping),
        "True holds ``validation_fraction`` of the rows out and stops when their loss no longer "
        'falls. "auto" chooses the number of rounds that way on up to five folds, the fewer the '
        "more rows there are, and then boosts so many rounds on all rows; with ``warm_start`` it "
        "is False. False boosts ``max_iter`` rounds.",
    )
    validation_fraction: Any = parameter(
        0.1,
        Rule("float, int or None", _check_validation),
        "Share or number of the rows that early stopping holds out; None judges by the training "
        "rows.",
    )
    n_iter_no_change: int = parameter(
        30, integer(1), "Stop when so many rounds in a row brought no loss below those before."
    )
    tol: float = parameter(
        1e-7,
        real(0),
        "How far a loss must fall to count as lower: a share of the loss before the first round.",
    )
    random_state: Any = parameter(
        0,
        parameters.SEED,
        "Seed of the rows that are held out or drawn, and of drawn features. The default is the "
        "same in every fit, as in other libraries for boosting; None is another one each time.",
    )
    verbose: int = parameter(0, parameters.VERBOSE, "1 shows a bar with rounds done and time left.")
    callback: Callable[[int, int], None] | None = parameter(
        None,
        parameters.CALLBACK,
        "Called now and then while fitting, with (rounds done, rounds to do).",
    )

    do_early_stopping_: bool = fitted("bool", "Whether the loss of rows decided when to stop.")
    seed_: int = fitted("int", "What was left to chance follows from it.")
    train_score_: np.ndarray = fitted(
        "ndarray of shape (n_judged,)",
        "Minus the mean loss of the training rows (of some 10,000 of them where there are more) "
        'before the first round and after each, of the last fold with ``early_stopping="auto"``; '
        "empty without early stopping.",
    )
    validation_score_: np.ndarray = fitted(
        "ndarray of shape (n_held_judged,)", "The same of the rows that were held out."
    )

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Boost trees.

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
        self.check_parameters()
        self._check_constraints()
        table = self.read_table(X, y, sample_weight)
        check_targets(self.loss, table.targets)
        goes_on = self.warm_start and hasattr(self, "graphs_")
        if goes_on:
            self._check_kept(table)
        seed = self.seed_ if goes_on else _seed_from(self.random_state)
        rounds = self._rounds(table, seed)
        done = self.n_iter_ if goes_on else 0
        n_rounds = 0 if table.n_classes == 1 else self.max_iter - done
        chooses = self.early_stopping == "auto" and not self.warm_start
        stops = self.early_stopping != "auto" and bool(self.early_stopping)
        losses = _Losses(np.empty(0), np.empty(0))
        if chooses and n_rounds:
            n_rounds, losses = self._chosen_rounds(rounds, n_rounds)
        train, held = self._divided(table, rounds.rows, seed) if stops else (rounds.rows, _NO_ROWS)
        scores = None
        if goes_on:
            scores = np.ascontiguousarray(self._sum.scores(table.matrix(), rounds.n_jobs).T)
        with members_progress(self, n_rounds) as report:
            intercept, graphs, judged = rounds.boost(
                train,
                held,
                n_rounds,
                patience=self.n_iter_no_change if stops else 0,
                done=done,
                scores=scores,
                report=report,
            )
        losses = judged if stops else losses
        if goes_on:
            intercept, graphs = self.intercept_, [*self.graphs_, *graphs]
            before = _Losses(-self.train_score_, -self.validation_score_)
            losses = _Losses(*(np.append(a, b[1:]) for a, b in zip(before, losses, strict=True)))
        self.become(
            table.facts()
            | {
                "graphs_": graphs,
                "intercept_": intercept,
                "do_early_stopping_": chooses or stops,
                "seed_": seed,
                "train_score_": -losses.train,
                "validation_score_": -losses.held,
            }
        )
        return self

    def _check_constraints(self) -> None:
        if self.members == "graph":
            for name in ("monotonic_cst", "interaction_cst"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name!r} holds in trees: with it 'members' must be 'tree', got 'graph'."
                    )

    def _rounds(self, table: Table, seed: int) -> "_Rounds":
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        weights = table.weighed(getattr(self, "class_weight", None))
        rows = np.arange(table.n_rows, dtype=np.uint32)
        return _Rounds(
            data=table.bins(self.max_bins, n_jobs),
            targets=table.targets,
            weights=weights,
            rows=rows if weights is None else rows[weights > 0],
            params=self._params(table, seed),
            least=self.tol,
            n_jobs=n_jobs,
        )

    def _chosen_rounds(self, rounds: "_Rounds", most: int) -> "tuple[int, _Losses]":
        """The mean of the best numbers of rounds of some folds, and the losses of the last one."""
        found = []
        folds = _folds(rounds.rows, rounds.targets, self._has_classes)
        what = f"{type(self).__name__}, number of rounds"
        with progress(self.verbose, None, len(folds), what) as report:
            for at, (train, held) in enumerate(folds):
                found.append(rounds.boost(train, held, most, patience=self.n_iter_no_change).losses)
                if report is not None:
                    report(at + 1)
        if not found:
            return most, _Losses(np.empty(0), np.empty(0))
        best = np.mean([len(losses.held) - 1 for losses in found])
        return max(1, round(float(best))), found[-1]

    def _check_kept(self, table: Table) -> None:
        if not self.schema_.is_like(table.schema) or len(self.intercept_) != _n_scores_of(table):
            raise ValueError(
                "warm_start needs the features and classes of the first fit; "
                "set warm_start=False to start anew."
            )
        if self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} "
                "when warm_start==True"
            )

    def _divided(self, table: Table, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows to learn from and those to judge by, both ascending."""
        if self.validation_fraction is None:
            return rows, _NO_ROWS
        labels = None
        if table.classes is not None:
            labels = table.targets[rows]
            if np.bincount(labels).min(initial=2, where=np.bincount(labels) > 0) < 2:
                labels = None  # a class of one row cannot be on both sides
        train, held = train_test_split(
            rows, test_size=self.validation_fraction, stratify=labels, random_state=seed % 2**32
        )
        return np.sort(train), np.sort(held)

    def _params(self, table: Table, seed: int) -> BoostParams:
        n_features = table.n_features
        share = parameters.features_to_try(self.max_features, n_features) / n_features
        if isinstance(self.max_features, float):
            share = self.max_features  # of the features that a node may use
        return BoostParams(
            loss=self.loss,
            n_classes=table.n_classes,
            quantile=0.5 if getattr(self, "quantile", None) is None else self.quantile,
            learning_rate=float(self.learning_rate),
            max_leaf_nodes=parameters.limit(self.max_leaf_nodes),
            max_depth=parameters.limit(self.max_depth),
            min_samples_leaf=parameters.limit(self.min_samples_leaf),
            l2=float(self.l2_regularization),
            category_smoothing=float(self.category_smoothing),
            max_features=share,
            subsample=float(self.subsample),
            monotonic=directions_of(self.monotonic_cst, table),
            groups=self._groups(table),
            members=self.members,
            seed=seed,
        )

    def _groups(self, table: Table) -> list[list[int]]:
        """Features that may interact, each of them in a group; or nothing where all may."""
        given, n_features = self.interaction_cst, table.n_features
        if given is None:
            return []
        if isinstance(given, str):
            size = 1 if given == "no_interactions" else min(2, n_features)
            return [list(group) for group in combinations(range(n_features), size)]
        names = table.schema.feature_names
        groups = [
            [_place_of("interaction_cst", feature, names, n_features) for feature in group]
            for group in given
        ]
        rest = sorted(set(range(n_features)) - {feature for group in groups for feature in group})
        return [*groups, rest] if rest else groups

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees of a round: one, or one for each of several classes."""
        check_is_fitted(self)
        return len(self.intercept_)

    @property
    def n_iter_(self) -> int:
        """Rounds that the model has."""
        check_is_fitted(self)
        return len(self.graphs_) // len(self.intercept_)

    def check_fitted(self) -> None:
        super().check_fitted()
        if len(self.graphs_) % len(self.intercept_):
            raise ValueError("a round of the model lacks trees")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total decrease of the training loss that each feature brought."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for graph in self.graphs_:
            lost = graph.weight * graph.impurity
            gain = lost - lost[graph.left] - lost[graph.right]
            is_test = graph.left >= 0
            np.add.at(total, graph.feature[is_test], gain[is_test])
        return total / total.sum() if total.sum() > 0 else total


def _seed_from(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


def _folds(
    rows: np.ndarray, targets: np.ndarray, has_classes: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows to learn from and to judge by on which the number of rounds is chosen."""
    if len(rows) < _FOLDS:
        return []
    rule = KFold
    if has_classes:
        counts = np.bincount(targets[rows])
        rule = StratifiedKFold if counts[counts > 0].min() >= _FOLDS else KFold
    parts = rule(_FOLDS, shuffle=True, random_state=0).split(rows, targets[rows])
    n_parts = min(max(1, _JUDGED_ROWS // len(rows)), _FOLDS)
    return [(rows[train], rows[held]) for train, held in islice(parts, n_parts)]


def _n_scores_of(table: Table) -> int:
    return table.n_classes if table.n_classes > 2 else 1


def _place_of(parameter_name: str, feature: Any, names: list[str] | None, n_features: int) -> int:
    """The index of a feature that a user named."""
    if isinstance(feature, str) and names is not None and feature in names:
        return names.index(feature)
    if parameters.is_int(feature) and 0 <= feature < n_features:
        return int(feature)
    raise ValueError(f"'{parameter_name}' names {feature!r}, which is no feature of X.")


class GradientBoostingClassifier(SumClassifier, ClassWeightParameter, _GradientBoosting):
    """Boosted trees for classes: one tree a round for two of them, one each for more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import GradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostingClassifier(max_iter=50).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    loss: str = parameter("log_loss", option("log_loss"), "What is made small.")


class GradientBoostingRegressor(SumRegressor, _GradientBoosting):
    """Boosted trees for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> GradientBoostingRegressor(max_iter=50).fit(X, y).score(X, y) > 0.6
    True
    """

    loss: str = parameter(
        "squared_error",
        option("squared_error", "absolute_error", "gamma", "poisson", "quantile"),
        'What is made small. "poisson" and "gamma" have a log link and need targets that are not '
        'negative, or positive; "absolute_error" and "quantile" predict the median and a quantile.',
    )
    quantile: float | None = parameter(
        None, real(0, 1, optional=True), 'Which quantile, for loss="quantile".'
    )
