"""Cross-validated trees: a small contest between kinds of tree, won on the training data.

The CVDT of M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small
heterogeneous is better than large homogeneous" (2008): one 2-fold cross-validation of an
entropy-reducing tree (ERDT) and of a mean-margin tree (MMDT), the better one grown on all rows. A
bag of such trees mixes both kinds in proportion to their success.

Candidates are learners on one table, which is read and binned once. In a bag they can be judged on
the rows that the member has not drawn instead of by folds: then nothing is grown twice.
"""

import warnings
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph
from hedgerow._estimator import fitted, parameter
from hedgerow._folds import folds_of
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow._learner import Grown, Learner
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

CANDIDATES = parameters.anything("list of (str, estimator) pairs or None")


def _check_handicaps(name: str, value: Any) -> None:
    shares = value.values() if isinstance(value, dict) else ()
    known = value is None or (isinstance(value, dict) and all(isinstance(n, str) for n in value))
    if not known or not all(parameters.is_real(share) and 0 <= share < 1 for share in shares):
        parameters.refuse(name, "None or a dict of names to numbers from 0 to below 1", value)


class _Trials:
    """On which rows candidates are grown, and on which they are judged."""

    def __init__(
        self, splits: list[tuple[np.ndarray, np.ndarray]], weights: np.ndarray | None
    ) -> None:
        self.splits = splits  # rows to grow on, rows to judge on
        self.judged = np.concatenate([np.empty(0, np.uint32), *(test for _, test in splits)])
        self.weights = weights

    @classmethod
    def by_folds(
        cls, table: Table, rows: np.ndarray, weights: np.ndarray | None, n: int, random: Any
    ) -> "_Trials":
        classes = None if table.classes is None else table.targets[rows]
        folds = folds_of(rows, n, random, classes)
        splits = [
            (np.sort(np.concatenate(folds[:k] + folds[k + 1 :])), fold)
            for k, fold in enumerate(folds)
            if len(folds) > 1
        ]
        return cls(splits, weights)

    @classmethod
    def on_rows_left_out(
        cls, table: Table, rows: np.ndarray, weights: np.ndarray, judged_by: np.ndarray | None
    ) -> "_Trials":
        left_out = weights == 0
        if table.weights is not None:
            left_out &= table.weights > 0
        return cls([(rows, np.flatnonzero(left_out).astype(np.uint32))], judged_by)

    def constant_score(self, table: Table) -> float:
        """What a constant would score on the rows that are judged."""
        if table.classes is None or not len(self.judged):
            return 0.0
        weights = None if self.weights is None else self.weights[self.judged]
        counts = np.bincount(table.targets[self.judged], weights)
        return float(counts.max() / counts.sum())

    def score(self, table: Table, graphs: list[DecisionGraph], n_jobs: int) -> float:
        """Accuracy or R² of one graph for each trial; NaN where too few rows are judged."""
        if len(self.judged) < 2:
            return np.nan
        found = np.concatenate(
            [
                _outcomes(table, graph)[graph.apply(table.matrix(), n_jobs, test)]
                for graph, (_, test) in zip(graphs, self.splits, strict=True)
            ]
        )
        targets = table.targets[self.judged]
        weights = None if self.weights is None else self.weights[self.judged]
        if table.classes is None:
            return float(r2_score(targets, found, sample_weight=weights))
        return float(np.average(found == targets, weights=weights))


def _outcomes(table: Table, graph: DecisionGraph) -> np.ndarray:
    """What each node would predict: the place of a class, a number, or one for each output."""
    if table.classes is not None:
        return graph.value.argmax(axis=1)
    return graph.value[:, 0] if table.n_outputs == 1 else graph.value


@dataclass(frozen=True)
class ContestLearner(Learner):
    """Grows the candidate that predicts unseen rows best.

    With ``cv=None`` unseen rows are those of the table that the given ``weights`` leave out, as the
    weights of a bag do.
    """

    candidates: dict[str, GraphModel]

    def check_table(self, table: Table) -> None:
        if table.n_rows < 2:
            raise ValueError("Found 1 sample while cross-validation needs at least 2.")

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The winner's graph on some rows of a table; see :meth:`Learner.grow`."""
        random = check_random_state(seed)
        class_weight = getattr(self.settings, "class_weight", None)
        weights = table.weighed(class_weight, weights) if class_weight is not None else weights
        trials, rows = self._trials(table, rows, weights, random)
        scores, entries, failures = dict[str, float](), dict[str, Any](), list[str]()
        for name, candidate in self.candidates.items():
            candidate_seed = _seed_of(candidate, random)
            try:
                learner = candidate.learner()
                grown = [
                    learner.grow(table, train, weights, candidate_seed)
                    for train, _ in trials.splits
                ]
                scores[name] = trials.score(table, [g.graph for g in grown], self.n_jobs)
                entries[name] = learner, candidate_seed, grown[:1]
            except MemoryError:  # no fault of the candidate
                raise
            except Exception as error:
                scores[name] = np.nan
                failures.append(f"{name}: {type(error).__name__}: {error}")
        if not entries:
            raise ValueError("All candidates failed:\n" + "\n".join(failures))
        if failures:
            message = "These candidates failed and are out of the contest:\n" + "\n".join(failures)
            warnings.warn(message, FitFailedWarning, stacklevel=3)
        selected = self._selected(table, trials, {name: scores[name] for name in entries})
        learner, candidate_seed, grown = entries[selected]
        if self.settings.cv is None:
            winner = grown[0]  # grown on all rows already
        else:
            winner = learner.grow(table, rows, weights, candidate_seed)
        estimator: Any = copy(self.candidates[selected])
        if hasattr(estimator, "random_state"):
            estimator.random_state = candidate_seed
        facts = {
            "scores_": scores,
            "selected_": selected,
            "estimator_": estimator.adopt(table, winner),
        }
        return Grown(winner.graph, facts)

    def _selected(self, table: Table, trials: _Trials, scores: dict[str, float]) -> str:
        """The best candidate, the first of equally good ones."""
        handicaps = self.settings.handicaps or {}
        constant = trials.constant_score(table) if handicaps else 0.0

        def worth(name: str) -> float:
            return scores[name] - handicaps.get(name, 0) * max(scores[name] - constant, 0)

        return max(scores, key=worth)

    def _trials(
        self, table: Table, rows: np.ndarray | None, weights: np.ndarray | None, random: Any
    ) -> tuple[_Trials, np.ndarray]:
        """The trials, and the rows that the winner is grown on."""
        self.check_table(table)
        counted = table.weights if weights is None else weights
        rows = np.arange(table.n_rows, dtype=np.uint32) if rows is None else rows
        rows = rows if counted is None else rows[counted[rows] > 0]
        if self.settings.cv is not None:
            n_folds = parameters.limit(self.settings.cv)
            return _Trials.by_folds(table, rows, counted, n_folds, random), rows
        if weights is None:
            raise ValueError(
                "'cv' must be an int of at least 2, got None: only members of a bag leave rows out "
                "to be judged on."
            )
        judged_by = table.weighed(getattr(self.settings, "class_weight", None))
        return _Trials.on_rows_left_out(table, rows, weights, judged_by), rows


def _seed_of(candidate: Any, random: np.random.RandomState) -> Any:
    """A candidate's own seed, or else a drawn one, so that all its fits have the same."""
    if getattr(candidate, "random_state", 0) is None:
        return random.randint(2**31 - 1)
    return deepcopy(getattr(candidate, "random_state", None))  # a generator stays where it is


class _CrossValidatedTree(GraphModel):
    preset: str | None = parameter(
        None,
        parameters.PRESET,
        '"paper" takes the candidates of the paper where none are given: mean-margin trees do not '
        "standardize.",
    )
    cv: int | None = parameter(
        2,
        parameters.integer(2, optional=True),
        "Folds of the contest; the paper has 2. None is for members of bags: candidates are grown "
        "on all rows of the member and judged on those that it has not drawn.",
    )
    handicaps: dict[str, float] | None = parameter(
        None,
        parameters.Rule("dict of str to float or None", _check_handicaps),
        "For candidates, by name, the share of what they predict better than a constant that does "
        "not count in the contest. In a bag the best tree is not the best member: kinds that look "
        "at everything, and are all alike, need one.",
    )
    random_state: Any = parameter(
        None, parameters.SEED, "Seed of the folds, and of candidates without one."
    )
    selected_: str = fitted("str", "Name of the winner; the first of equally good ones.")
    scores_: dict[str, float] = fitted(
        "dict of str to float",
        "Accuracy or R² of each candidate on rows that it did not see; NaN where it failed.",
    )
    estimator_: Any = fitted("estimator", "The winner, fitted on all rows.")

    def _default_candidates(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    def _named_candidates(self) -> dict[str, GraphModel]:
        """The candidates by name, as they were given."""
        pairs = self._default_candidates() if self.candidates is None else self.candidates
        expected: type[GraphModel] = GraphClassifier if self._has_classes else GraphRegressor
        try:
            named = {str(name): candidate for name, candidate in pairs}
            valid = 0 < len(named) == len(pairs) and all(
                isinstance(candidate, expected)
                and type(candidate).learner is not GraphModel.learner
                for candidate in named.values()
            )
        except (TypeError, ValueError):
            valid = False
        if not valid:
            task = "classifiers" if self._has_classes else "regressors"
            parameters.refuse(
                "candidates",
                f"None or (name, estimator) pairs of hedgerow's {task} with one decision graph",
                self.candidates,
            )
        return named

    def check_parameters(self) -> None:
        super().check_parameters()
        unknown = set(self.handicaps or ()) - set(self._named_candidates())
        if unknown:
            raise ValueError(f"'handicaps' names no candidate: {sorted(unknown)}.")

    def learner(self) -> ContestLearner:
        settings = self.settings()
        shared = {"categorical_features": self.categorical_features, "n_jobs": self.n_jobs}
        named = self._named_candidates()
        return ContestLearner(
            settings, {name: clone(named[name]).set_params(**shared) for name in named}
        )

    def check_fitted(self) -> None:
        super().check_fitted()
        winner = self.estimator_
        if not isinstance(winner, GraphModel) or getattr(winner, "graph_", None) is not self.graph_:
            raise ValueError("the winner has another graph than the model")
        if self.selected_ not in self.scores_:
            raise ValueError("the winner is none of the candidates")

    def with_graph(self, grown: Grown):
        model = super().with_graph(grown)
        model.estimator_ = self.estimator_.with_graph(grown)
        return model

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total decrease of the training loss that each feature brought."""
        check_is_fitted(self)
        return self.estimator_.feature_importances_


class CrossValidatedTreeClassifier(GraphClassifier, ClassWeightParameter, _CrossValidatedTree):
    """The better of an entropy-reducing tree and a mean-margin tree, by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import CrossValidatedTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = CrossValidatedTreeClassifier(random_state=0).fit(X, y)
    >>> tree.selected_
    'mmdt'
    """

    candidates: Any = parameter(
        None,
        CANDIDATES,
        "The contestants with their names: hedgerow classifiers that hold one decision graph. None "
        'takes ``("erdt", DecisionTreeClassifier(criterion="entropy"))`` and '
        '``("mmdt", MeanMarginTreeClassifier())``. ``categorical_features`` and ``n_jobs`` count '
        "for all of them.",
        kw_only=False,
    )

    def _default_candidates(self) -> list[tuple[str, Any]]:
        return [
            ("erdt", DecisionTreeClassifier(criterion="entropy")),
            ("mmdt", MeanMarginTreeClassifier(preset=self.preset)),
        ]


class CrossValidatedTreeRegressor(GraphRegressor, _CrossValidatedTree):
    """The better of a variance-reducing tree and a mean-margin tree, by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import CrossValidatedTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sorted(CrossValidatedTreeRegressor(random_state=0).fit(X, y).scores_)
    ['cart', 'mmdt']
    """

    candidates: Any = parameter(
        None,
        CANDIDATES,
        "The contestants with their names: hedgerow regressors that hold one decision graph. None "
        'takes ``("cart", DecisionTreeRegressor())`` and ``("mmdt", MeanMarginTreeRegressor())``. '
        "``categorical_features`` and ``n_jobs`` count for all of them.",
        kw_only=False,
    )

    @property
    def _many_outputs(self) -> bool:
        candidates = self._named_candidates().values()
        return all(get_tags(candidate).target_tags.multi_output for candidate in candidates)

    def _default_candidates(self) -> list[tuple[str, Any]]:
        return [
            ("cart", DecisionTreeRegressor()),
            ("mmdt", MeanMarginTreeRegressor(preset=self.preset)),
        ]
