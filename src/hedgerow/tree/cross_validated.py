"""Cross-validated trees: a small contest between kinds of tree, won on the training data.

The CVDT of M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small
heterogeneous is better than large homogeneous" (2008): one 2-fold cross-validation of an
entropy-reducing tree (ERDT) and of a mean-margin tree (MMDT), the better one grown on all rows. A
bag of such trees mixes both kinds in proportion to their success.

The table is read once. Candidates that can grow on some rows of it (CART, mean-margin trees) share
it between folds, so CART is binned once; other candidates are fitted on copies of the rows.
"""

import warnings
from copy import copy, deepcopy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph
from hedgerow._folds import folds_of
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

_PARAMETERS = """\
    cv : int, default=2
        Folds of the contest; the paper has 2.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of candidates without one.
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers. Counts for
        all candidates.
    n_jobs : int, default=None
        Threads for fitting and predicting, for all candidates. The result is the same for any
        number.
"""

_ATTRIBUTES = """\
    selected_ : str
        Name of the winner; the first of equally good ones.
    estimator_ : estimator
        The winner, fitted on all rows.
    graph_ : DecisionGraph
        The winner's graph; ``tree_`` is the same.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


def _with_parameters(cls):
    """Fill the shared parts of the docstring in."""
    cls.__doc__ = cls.__doc__.format(parameters=_PARAMETERS.strip(), attributes=_ATTRIBUTES.strip())
    return cls


_SHARING = (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
)


class _CrossValidatedTree(GraphModel):
    _kind: ClassVar[type]  # what the candidates are
    estimator_: Any

    def _default_candidates(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    @staticmethod
    def _outcomes(values: np.ndarray) -> np.ndarray:
        """What leaves with these values predict: the code of a class, or a number."""
        raise NotImplementedError

    def _score(
        self, y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray, found: np.ndarray
    ) -> float:
        """How good the predictions of unseen rows are; more is better."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        parameters.check_int("cv", self.cv, low=2)
        self._new_candidates()

    def _new_candidates(self) -> dict[str, Any]:
        """Copies of the candidates by name."""
        pairs = self._default_candidates() if self.candidates is None else self.candidates
        try:
            named = {str(name): candidate for name, candidate in pairs}
            valid = 0 < len(named) == len(pairs)
            valid &= all(isinstance(candidate, self._kind) for candidate in named.values())
        except (TypeError, ValueError):
            valid = False
        if not valid:
            task = "classifiers" if self._kind is GraphClassifier else "regressors"
            raise ValueError(
                "'candidates' must be None or (name, estimator) pairs of hedgerow's "
                f"{task} with one decision graph, got {self.candidates!r}."
            )
        shared = {"categorical_features": self.categorical_features, "n_jobs": self.n_jobs}
        return {name: clone(candidate).set_params(**shared) for name, candidate in named.items()}

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Hold the contest and grow the winner on all rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight zero are left out.

        Returns
        -------
        self : object
        """
        return super().fit(X, y, sample_weight)

    def _load(self, X: Any) -> "_Tables":
        if len(X) < 2:
            raise ValueError("Found 1 sample while cross-validation needs at least 2.")
        loaded: dict[Any, Any] = {}
        entrants: dict[str, tuple[Any, Any]] = {}
        for name, candidate in self._new_candidates().items():
            entrants[name] = candidate, None
            if not candidate._grows_on_rows():
                continue
            # CART with the same bins has one data set, mean-margin trees have one matrix.
            key = name, None
            if isinstance(candidate, _SHARING):
                key = type(candidate).__name__, getattr(candidate, "max_bins", None)
            try:
                candidate._check_parameters()
                candidate._adopt_table(self)
                if key not in loaded:
                    loaded[key] = candidate._load(X)
                entrants[name] = candidate, loaded[key]
            except Exception as error:
                entrants[name] = candidate, error
        return _Tables(X, self.schema_.encode(self, X), entrants)

    def _grow(
        self, tables: "_Tables", y: np.ndarray, weights: np.ndarray | None, rows: Any = None
    ) -> DecisionGraph:
        random = check_random_state(self.random_state)
        rows = np.arange(len(y), dtype=np.uint32) if rows is None else rows
        rows = rows if weights is None else rows[weights[rows] > 0]
        judge: _Folds | _OutOfBag
        if tables.unseen is None:
            classes = y[rows] if self._kind is GraphClassifier else None
            judge = _Folds(rows, folds_of(rows, self.cv, random, classes), weights)
        else:
            judge = _OutOfBag(rows, tables.unseen)
        entries, failures = {}, []
        self.scores_ = {}
        for name, (prepared, table) in tables.entrants.items():
            candidate = copy(prepared)
            seed = getattr(candidate, "random_state", 0)
            if seed is None:
                candidate.random_state = random.randint(2**31 - 1)
            elif not isinstance(seed, int):
                candidate.random_state = deepcopy(seed)  # a generator: no other fit may move it on
            try:
                kind = _Sharing if candidate._grows_on_rows() else _Fitting
                entry = kind(candidate, self, tables, table, y, weights)
                judged, found = judge.predictions(entry)
                self.scores_[name] = np.nan  # too few rows to judge by, where few are drawn
                if len(judged) > 1:
                    self.scores_[name] = self._score(y, judge.weights, judged, found)
                entries[name] = entry
            except Exception as error:
                self.scores_[name] = np.nan
                failures.append(f"{name}: {type(error).__name__}: {error}")
        if not entries:
            raise ValueError("All candidates failed:\n" + "\n".join(failures))
        if failures:
            message = "These candidates failed and are out of the contest:\n" + "\n".join(failures)
            warnings.warn(message, FitFailedWarning, stacklevel=4)
        self.selected_ = max(entries, key=lambda name: self.scores_[name])
        self.estimator_ = judge.winner(entries[self.selected_])
        return self.estimator_.graph_

    def _with_graph(self, graph: Any, removed: np.ndarray | None) -> Any:
        model = super()._with_graph(graph, removed)
        model.estimator_ = self.estimator_._with_graph(graph, removed)
        return model

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total impurity decrease that each feature brought."""
        check_is_fitted(self)
        return self.estimator_.feature_importances_


class _Tables(NamedTuple):
    """A training table as it was read, as a matrix, and as each candidate has loaded it."""

    read: Any
    matrix: np.ndarray
    entrants: dict[str, tuple[Any, Any]]  # candidate and its table; the exception, if that failed
    # The weights of the rows that a member of a bag has not drawn, zero for the others; None for a
    # contest by cross-validation.
    unseen: np.ndarray | None = None


class _Sharing:
    """A candidate that grows on rows of the loaded table."""

    def __init__(self, candidate, model, tables, table, y, weights):
        if isinstance(table, Exception):
            raise table
        self.candidate, self.table, self.weights = candidate, table, weights
        self.matrix, self.outcomes = tables.matrix, model._outcomes
        # A regressor may refuse targets (Poisson); classes were checked when they were coded.
        self.y = y if hasattr(model, "classes_") else candidate._read_targets(y)

    def predictions(self, train, test):
        """Outcomes of the test rows, from a graph grown on the training rows."""
        graph = self.candidate._grow(self.table, self.y, self.weights, train)
        return _outcomes_of(graph, self, test)

    def grow(self, rows):
        """The candidate, grown on the given rows."""
        graph = self.candidate._grow(self.table, self.y, self.weights, rows)
        self.candidate._set_graph(graph)
        return self.candidate


class _Fitting:
    """A candidate that is fitted anew on a copy of the rows."""

    def __init__(self, candidate, model, tables, table, y, weights):
        self.candidate, self.read, self.y = candidate, tables.read, y
        self.matrix, self.outcomes = tables.matrix, model._outcomes
        self.weights = np.ones(len(y)) if weights is None else weights
        self.classes = getattr(model, "classes_", None)
        self.categories = list(model.schema_.categories)

    def predictions(self, train, test):
        """Outcomes of the test rows, from a fit on the training rows."""
        member = clone(self.candidate).set_params(categorical_features=self.categories)
        member.fit(self.matrix[train], self.y[train], sample_weight=self.weights[train])
        return member.predict(self.matrix[test])

    def grow(self, rows):
        """The candidate, fitted on the whole table, where only the given rows have a weight."""
        weights = np.zeros(len(self.y))
        weights[rows] = self.weights[rows]
        y = self.y if self.classes is None else self.classes[self.y]
        return self.candidate.fit(self.read, y, sample_weight=weights)


def _outcomes_of(graph: DecisionGraph, entry: Any, rows: np.ndarray) -> np.ndarray:
    """What a graph of the candidate predicts for rows of the table."""
    n_jobs = parameters.resolve_n_jobs(entry.candidate.n_jobs)
    return entry.outcomes(graph.value)[graph.apply(entry.matrix, n_jobs, rows)]


class _Folds:
    """Candidates are judged on each fold, grown on the others; the winner is grown on all rows."""

    def __init__(self, rows, folds, weights):
        self.rows, self.weights = rows, weights
        self.judged = np.concatenate(folds) if len(folds) > 1 else rows[:0]
        self.splits = [
            (np.sort(np.concatenate(folds[:k] + folds[k + 1 :])), fold)
            for k, fold in enumerate(folds)
            if len(folds) > 1
        ]

    def predictions(self, entry):
        found = [entry.predictions(train, test) for train, test in self.splits]
        return self.judged, np.concatenate(found) if found else None

    def winner(self, entry):
        return entry.grow(self.rows)


class _OutOfBag:
    """Candidates are grown on all rows of a bag and judged on those that are not in it."""

    def __init__(self, rows, weights):
        self.rows, self.weights = rows, weights
        self.judged = np.flatnonzero(weights).astype(np.uint32)

    def predictions(self, entry):
        return self.judged, _outcomes_of(entry.grow(self.rows).graph_, entry, self.judged)

    def winner(self, entry):
        return entry.candidate


@_with_parameters
class CrossValidatedTreeClassifier(GraphClassifier, _CrossValidatedTree):
    """The better of an entropy-reducing tree and a mean-margin tree, by cross-validation.

    Parameters
    ----------
    candidates : list of (str, estimator) pairs, default=None
        The contestants with their names: hedgerow classifiers that hold one decision graph. None
        takes ``("erdt", DecisionTreeClassifier(criterion="entropy"))`` and
        ``("mmdt", MeanMarginTreeClassifier())``.
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    scores_ : dict of str to float
        Accuracy of each candidate on rows it did not see; NaN where it failed.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hedgerow import CrossValidatedTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = CrossValidatedTreeClassifier(random_state=0).fit(X, y)
    >>> tree.selected_
    'mmdt'
    """

    _kind = GraphClassifier

    def __init__(
        self,
        candidates=None,
        *,
        cv=2,
        random_state=None,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.candidates = candidates
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _default_candidates(self):
        return [
            ("erdt", DecisionTreeClassifier(criterion="entropy")),
            ("mmdt", MeanMarginTreeClassifier()),
        ]

    @staticmethod
    def _outcomes(values):
        return values.argmax(axis=1)

    def _score(self, y, weights, rows, found):
        right = found == y[rows]
        return float(np.average(right, weights=None if weights is None else weights[rows]))


@_with_parameters
class CrossValidatedTreeRegressor(GraphRegressor, _CrossValidatedTree):
    """The better of a variance-reducing tree and a mean-margin tree, by cross-validation.

    Parameters
    ----------
    candidates : list of (str, estimator) pairs, default=None
        The contestants with their names: hedgerow regressors that hold one decision graph. None
        takes ``("cart", DecisionTreeRegressor())`` and ``("mmdt", MeanMarginTreeRegressor())``.
    {parameters}

    Attributes
    ----------
    scores_ : dict of str to float
        R² of each candidate on rows it did not see; NaN where it failed.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import CrossValidatedTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sorted(CrossValidatedTreeRegressor(random_state=0).fit(X, y).scores_)
    ['cart', 'mmdt']
    """

    _kind = GraphRegressor

    def __init__(
        self,
        candidates=None,
        *,
        cv=2,
        random_state=None,
        categorical_features="auto",
        n_jobs=None,
    ):
        self.candidates = candidates
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _default_candidates(self):
        return [("cart", DecisionTreeRegressor()), ("mmdt", MeanMarginTreeRegressor())]

    @staticmethod
    def _outcomes(values):
        return values[:, 0]

    def _score(self, y, weights, rows, found):
        weights = None if weights is None else weights[rows]
        return float(r2_score(y[rows], found, sample_weight=weights))
