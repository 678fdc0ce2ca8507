"""Cross-validated trees: a small contest between kinds of tree, won on the training data.

The CVDT of M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small
heterogeneous is better than large homogeneous" (2008): one 2-fold cross-validation of an
entropy-reducing tree (ERDT) and of a mean-margin tree (MMDT), the better one grown on all rows. A
bag of such trees mixes both kinds in proportion to their success.

The table is read once. Candidates that can grow on some rows of it (CART, mean-margin trees) share
it between folds, so CART is binned once; other candidates are fitted on copies of the rows.
"""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import PackedGraphs
from hedgerow._folds import folds_of
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

_PARAMETERS = """\
    cv : int, default=2
        Folds of the contest; the paper has 2.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
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


class _CrossValidatedTree(GraphModel):
    _kind: ClassVar[type]  # what the candidates are
    estimator_: Any

    def _default_candidates(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        """How good the values of unseen rows are; more is better."""
        raise NotImplementedError

    def _checked_candidates(self) -> dict[str, Any]:
        """The candidates by name, cloned."""
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
        parameters.check_int("cv", self.cv, low=2)
        candidates = self._checked_candidates()
        table, codes, weights = self._read_table(X, y, sample_weight)
        rows = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
        if len(rows) < 2:
            raise ValueError("Found 1 sample while cross-validation needs at least 2.")
        classes = codes[rows] if self._kind is GraphClassifier else None
        folds = folds_of(rows, self.cv, check_random_state(self.random_state), classes)
        unseen = np.concatenate(folds)
        unseen_weights = None if weights is None else weights[unseen]
        matrix = self.schema_.encode(self, table)
        entries, failures = {}, []
        self.scores_ = {}
        for name, candidate in candidates.items():
            grows_on_rows = type(candidate)._grow is not GraphModel._grow
            kind = _Sharing if grows_on_rows else _Fitting
            try:
                entry = kind(candidate, self, table, codes, weights)
                values = np.concatenate(
                    [entry.values(matrix, np.setdiff1d(rows, fold), fold) for fold in folds]
                )
                self.scores_[name] = self._score(codes[unseen], values, unseen_weights)
                entries[name] = entry
            except Exception as error:
                self.scores_[name] = np.nan
                failures.append(f"{name}: {type(error).__name__}: {error}")
        if not entries:
            raise ValueError("All candidates failed:\n" + "\n".join(failures))
        if failures:
            message = "These candidates failed and are out of the contest:\n" + "\n".join(failures)
            warnings.warn(message, FitFailedWarning, stacklevel=2)
        self.selected_ = max(entries, key=lambda name: self.scores_[name])
        self.estimator_ = entries[self.selected_].refit(X, y, sample_weight)
        self.schema_ = self.estimator_.schema_
        self._set_graph(self.estimator_.graph_)
        return self

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total impurity decrease that each feature brought."""
        check_is_fitted(self)
        return self.estimator_.feature_importances_


class _Sharing:
    """A candidate that grows on rows of one loaded table."""

    def __init__(self, candidate, model, X, y, weights):
        self.candidate, self.weights = candidate, weights
        candidate._check_parameters()
        candidate._adopt_table(model)
        # A regressor may refuse targets (Poisson); classes were checked when they were coded.
        self.y = y if hasattr(model, "classes_") else candidate._read_targets(y)
        self.table = candidate._load(X)

    def values(self, matrix, train, test):
        """Values of the test rows, from a graph grown on the training rows."""
        graph = self.candidate._grow(self.table, self.y, self.weights, train.astype(np.uint32))
        n_jobs = parameters.resolve_n_jobs(self.candidate.n_jobs)
        return PackedGraphs([graph]).predict(matrix[test], n_jobs)

    def refit(self, X, y, sample_weight):
        """The candidate, fitted on all rows."""
        self.candidate._set_graph(self.candidate._grow(self.table, self.y, self.weights))
        return self.candidate


class _Fitting:
    """A candidate that is fitted anew on a copy of the rows."""

    def __init__(self, candidate, model, X, y, weights):
        self.candidate, self.y, self.weights = candidate, y, weights
        self.n_classes = getattr(model, "n_classes_", 0)
        self.categories = list(model.schema_.categories)

    def values(self, matrix, train, test):
        """Values of the test rows, from a fit on the training rows."""
        member = clone(self.candidate).set_params(categorical_features=self.categories)
        weights = None if self.weights is None else self.weights[train]
        member.fit(matrix[train], self.y[train], sample_weight=weights)
        found = member._values(matrix[test])
        if not self.n_classes:
            return found
        values = np.zeros((len(test), self.n_classes))
        values[:, member.classes_] = found
        return values

    def refit(self, X, y, sample_weight):
        """The candidate, fitted on all rows."""
        return self.candidate.fit(X, y, sample_weight=sample_weight)


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

    def _score(self, y, values, weights):
        return float(accuracy_score(y, values.argmax(axis=1), sample_weight=weights))


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

    def _score(self, y, values, weights):
        return float(r2_score(y, values[:, 0], sample_weight=weights))
