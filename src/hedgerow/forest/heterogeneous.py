"""Heterogeneous forests: small bags that mix kinds of tree.

After M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small heterogeneous is
better than large homogeneous" (2008). Every member is a cross-validated tree: on its own bag of
rows it holds a small contest between kinds of tree and keeps the winner, so the forest mixes the
kinds in proportion to their success. The table is read and binned once for all members and folds.

The paper's forest is ``candidates="paper"``: two kinds of tree, and a contest by 2-fold
cross-validation on the member's rows. It is a shortcut of
``BaggingClassifier(CrossValidatedTreeClassifier(...), 100)``. The default has other kinds, grown on
all rows of the member and judged on the rows that it did not draw. That was better on average on
data sets that are not among those of the paper's tables (``docs/mean_margin.md``).
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow.forest.bagging import BaggingClassifier, BaggingRegressor
from hedgerow.forest.draws import Draws
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.cross_validated import CrossValidatedTreeClassifier, CrossValidatedTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

_PARAMETERS = """\
    n_estimators : int, default=100
        Number of members.
    cv : int, default=None
        Folds of each member's contest on its own rows. None judges the kinds on the rows that the
        member did not draw, except for ``candidates="paper"``, which has 2 folds.
    max_samples : int or float, default=1.0
        Rows drawn for each member, with replacement, as a number or a share of all.
    oob_score : bool, default=False
        Judge the forest on the rows that members did not draw. With ``cv=None`` these rows have
        chosen the kinds as well, so the score is somewhat high; ``cv=2`` gives a fair one.
    warm_start : bool, default=False
        Keep the members of the last fit and fit only those that are missing to ``n_estimators``.
        The table must be the same.
    categorical_features : "auto", None or list, default="auto"
        "auto" reads categorical, boolean and string columns of a data frame as categories. A list
        of names, indices or booleans names further columns. None reads all as numbers.
    n_jobs : int, default=None
        Threads for fitting and predicting. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags, of the folds and of the members.
    verbose : int, default=0
        1 shows a bar with members done and time left.
    callback : callable, default=None
        Called now and then while fitting, with (members done, members to fit).
"""

_ATTRIBUTES = """\
    composition_ : dict of str to int
        How many members are of each kind.
    estimators_ : list of cross-validated trees
        The members, with the scores of their contests.
    oob_score_ : float
        Accuracy or R² on out-of-bag rows, with ``oob_score=True``.
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


class _Mixed:
    """What makes a bag a heterogeneous forest: its members hold contests."""

    _contest: type  # the cross-validated tree
    _axis: type  # the kinds of tree
    _oblique: type
    _paper_criterion: str
    _features: Any  # that a random tree looks at for each split
    _left_out: tuple[str, ...] = ()  # kinds that the default does without
    _members: list
    _draws: Draws
    candidates: Any
    cv: int | None
    bootstrap, bootstrap_features, max_features = True, False, 1.0
    categorical_features = "auto"

    def _member(self):
        return self._contest(
            self._kinds(),
            cv=2 if self.cv is None else self.cv,
            categorical_features=self.categorical_features,
        )

    def _kinds(self) -> Any:
        """The candidates with their names."""
        erdt, raw = self._axis(criterion=self._paper_criterion), self._oblique(standardize=False)
        if isinstance(self.candidates, str):
            parameters.check_option("candidates", self.candidates, ("paper",))
            return [("erdt", erdt), ("mmdt", raw)]
        if self.candidates is not None:
            return self.candidates
        kinds = {  # the more random first: it is kept where scores are the same
            "random cart": self._axis(max_features=self._features),
            "erdt": erdt,
            "mmdt": self._oblique(),
            "raw mmdt": raw,
        }
        return [(name, kind) for name, kind in kinds.items() if name not in self._left_out]

    def _table_of(self, place: int, table: Any, weights: np.ndarray | None) -> Any:
        if self.cv is not None or isinstance(self.candidates, str):
            return table
        unseen = self._draws.bag(place) == 0
        return table._replace(unseen=unseen * (1.0 if weights is None else weights))

    @property
    def composition_(self) -> dict[str, int]:
        """How many members are of each kind, the kinds in the order of the candidates."""
        check_is_fitted(self)
        chosen = [member.selected_ for member in self._members]
        return {name: chosen.count(name) for name in self._members[0].scores_}


@_with_parameters
class HeterogeneousForestClassifier(_Mixed, BaggingClassifier):
    """A bag of classification trees of several kinds, each kind where it does best.

    Parameters
    ----------
    candidates : list of (str, estimator) pairs or "paper", default=None
        The kinds of tree with their names: hedgerow classifiers that hold one decision graph. None
        takes CART that looks at a few random features for each split ("random cart") and
        mean-margin trees with and without ``standardize`` ("mmdt", "raw mmdt"). "paper" takes CART
        by entropy ("erdt") and mean-margin trees without ``standardize`` ("mmdt").
    {parameters}
    voting : {{"soft", "hard"}}, default="soft"
        Average the members' probabilities, or count their predictions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag class probabilities, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from hedgerow import HeterogeneousForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = HeterogeneousForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> sum(forest.composition_.values()), forest.oob_score_ > 0.95
    (100, True)
    """

    _contest = CrossValidatedTreeClassifier
    _axis, _oblique = DecisionTreeClassifier, MeanMarginTreeClassifier
    _paper_criterion, _features, _left_out = "entropy", "sqrt", ("erdt",)

    def __init__(
        self,
        candidates=None,
        n_estimators=100,
        *,
        cv=None,
        max_samples=1.0,
        oob_score=False,
        warm_start=False,
        categorical_features="auto",
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
        callback=None,
    ):
        self.candidates = candidates
        self.n_estimators = n_estimators
        self.cv = cv
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.callback = callback


@_with_parameters
class HeterogeneousForestRegressor(_Mixed, BaggingRegressor):
    """A bag of regression trees of several kinds, each kind where it does best.

    Parameters
    ----------
    candidates : list of (str, estimator) pairs or "paper", default=None
        The kinds of tree with their names: hedgerow regressors that hold one decision graph. None
        takes CART that looks at a third of the features for each split ("random cart") and at all
        of them ("erdt"), and mean-margin trees with and without ``standardize`` ("mmdt", "raw
        mmdt"). "paper" takes CART ("erdt") and mean-margin trees without ``standardize`` ("mmdt").
    {parameters}

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, NaN for rows that every member saw.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import HeterogeneousForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = HeterogeneousForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.3
    True
    """

    _contest = CrossValidatedTreeRegressor
    _axis, _oblique = DecisionTreeRegressor, MeanMarginTreeRegressor
    _paper_criterion, _features = "squared_error", 1 / 3

    def __init__(
        self,
        candidates=None,
        n_estimators=100,
        *,
        cv=None,
        max_samples=1.0,
        oob_score=False,
        warm_start=False,
        categorical_features="auto",
        n_jobs=None,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.candidates = candidates
        self.n_estimators = n_estimators
        self.cv = cv
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
