"""Heterogeneous forests: small bags that mix kinds of tree.

After M. Gashler, C. Giraud-Carrier and T. Martinez, "Decision tree ensemble: small heterogeneous is
better than large homogeneous" (2008). Every member is a cross-validated tree: on its own bag of
rows it holds a small contest between kinds of tree and keeps the winner, so the forest mixes the
kinds in proportion to their success. The table is read and binned once for all members and folds.

The paper's forest is ``preset="paper"``: two kinds of tree, and a contest by 2-fold
cross-validation on the member's rows. It is a shortcut of
``BaggingClassifier(CrossValidatedTreeClassifier(preset="paper"), 100)``. The default has other
kinds, grown on all rows of the member and judged on the rows that it did not draw. That was better
on average on data sets that are not among those of the paper's tables (``docs/mean_margin.md``).
"""

from typing import Any, ClassVar

from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._estimator import parameter
from hedgerow._table import Table
from hedgerow._table_model import ClassWeightParameter, OwnTableParameters
from hedgerow.forest.bag import Bag, BagClassifier, BagRegressor
from hedgerow.forest.draws import Draws
from hedgerow.forest.learner import n_drawn_rows
from hedgerow.tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.cross_validated import CrossValidatedTreeClassifier, CrossValidatedTreeRegressor
from hedgerow.tree.mean_margin import MeanMarginTreeClassifier, MeanMarginTreeRegressor

_CANDIDATES = parameters.anything("list of (str, estimator) pairs or None")


class _CandidatesParameter(OwnTableParameters):
    candidates: Any = parameter(None, _CANDIDATES, "The kinds of tree.", kw_only=False)


class _HeterogeneousForest(Bag, _CandidatesParameter):
    preset: str | None = parameter(
        None,
        parameters.option("paper", optional=True),
        '"paper" takes the kinds and the contest of the paper where ``candidates`` or ``cv`` is '
        "None.",
    )
    cv: int | None = parameter(
        None,
        parameters.integer(2, optional=True),
        "Folds of each member's contest on its own rows. None judges the kinds on the rows that "
        'the member did not draw, and is 2 for ``preset="paper"``.',
    )
    oob_score: Any = parameter(
        False,
        parameters.FLAG_OR_FUNCTION,
        "Judge the forest on the rows that members did not draw, by accuracy or R², or by a "
        "function of true and predicted targets. With ``cv=None`` these rows have chosen the kinds "
        "as well, so the score is somewhat high; ``cv=2`` gives a fair one.",
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        self._new_estimator().check_parameters()

    def _contest(self, candidates: Any, **settings: Any) -> Any:
        """A cross-validated tree."""
        raise NotImplementedError

    _handicaps: ClassVar[dict[str, float] | None] = None  # of the default kinds

    def _kinds(self) -> list[tuple[str, Any]]:
        """The candidates where none are given."""
        raise NotImplementedError

    def _new_estimator(self) -> Any:
        is_paper = self.preset == "paper"
        kinds = self._kinds() if self.candidates is None else self.candidates
        return self._contest(
            kinds,
            cv=2 if self.cv is None and is_paper else self.cv,
            handicaps=None if is_paper or self.candidates is not None else self._handicaps,
        )

    def _new_draws(self, seed: int, table: Table) -> Draws:
        return Draws(
            seed=seed,
            n_rows=table.n_rows,
            n_drawn_rows=n_drawn_rows(self.max_samples, table.n_rows),
            bootstrap=True,
            n_features=table.n_features,
            n_drawn_features=table.n_features,
            bootstrap_features=False,
        )

    @property
    def composition_(self) -> dict[str, int]:
        """How many members are of each kind, the kinds in the order of the candidates."""
        check_is_fitted(self)
        chosen = [member.selected_ for member in self.members_]
        return {name: chosen.count(name) for name in self.members_[0].scores_}


class HeterogeneousForestClassifier(_HeterogeneousForest, BagClassifier, ClassWeightParameter):
    """A bag of classification trees of several kinds, each kind where it does best.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from hedgerow import HeterogeneousForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = HeterogeneousForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> sum(forest.composition_.values()), forest.oob_score_ > 0.95
    (100, True)
    """

    candidates: Any = parameter(
        None,
        _CANDIDATES,
        "The kinds of tree with their names: hedgerow classifiers that hold one decision graph. "
        'None takes CART that looks at a few random features for each split ("random cart"), '
        'mean-margin trees with and without ``standardize`` ("mmdt", "raw mmdt"), and CART by '
        'entropy on all features ("erdt"), which has to be a quarter better than the others; for '
        '``preset="paper"`` CART by entropy ("erdt") and mean-margin trees without ``standardize`` '
        '("mmdt").',
        kw_only=False,
    )

    # Alone, "erdt" is nearly always the best tree, and seldom the best member; but where most
    # features say nothing it is the only one that finds those that do.
    _handicaps: ClassVar[dict[str, float] | None] = {"erdt": 0.2}

    def _contest(self, candidates: Any, **settings: Any) -> Any:
        return CrossValidatedTreeClassifier(
            candidates,
            categorical_features=self.categorical_features,
            class_weight=self.class_weight,
            **settings,
        )

    def _kinds(self) -> list[tuple[str, Any]]:
        raw = MeanMarginTreeClassifier(standardize=False)
        entropy = DecisionTreeClassifier(criterion="entropy")
        if self.preset == "paper":
            return [("erdt", entropy), ("mmdt", raw)]
        return [  # the more random first: it is kept where scores are the same
            ("random cart", DecisionTreeClassifier(max_features="sqrt")),
            ("mmdt", MeanMarginTreeClassifier()),
            ("raw mmdt", raw),
            ("erdt", entropy),
        ]


class HeterogeneousForestRegressor(_HeterogeneousForest, BagRegressor):
    """A bag of regression trees of several kinds, each kind where it does best.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import HeterogeneousForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = HeterogeneousForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.3
    True
    """

    candidates: Any = parameter(
        None,
        _CANDIDATES,
        "The kinds of tree with their names: hedgerow regressors that hold one decision graph. "
        'None takes CART that looks at a third of the features for each split ("random cart") and '
        'at all of them ("erdt"), and mean-margin trees with and without ``standardize`` ("mmdt", '
        '"raw mmdt"); for ``preset="paper"`` CART ("erdt") and mean-margin trees without '
        '``standardize`` ("mmdt").',
        kw_only=False,
    )

    @property
    def _many_outputs(self) -> bool:
        return get_tags(self._new_estimator()).target_tags.multi_output

    def _contest(self, candidates: Any, **settings: Any) -> Any:
        return CrossValidatedTreeRegressor(
            candidates, categorical_features=self.categorical_features, **settings
        )

    def _kinds(self) -> list[tuple[str, Any]]:
        cart, raw = DecisionTreeRegressor(), MeanMarginTreeRegressor(standardize=False)
        if self.preset == "paper":
            return [("erdt", cart), ("mmdt", raw)]
        return [
            ("random cart", DecisionTreeRegressor(max_features=1 / 3)),
            ("erdt", cart),
            ("mmdt", MeanMarginTreeRegressor()),
            ("raw mmdt", raw),
        ]
