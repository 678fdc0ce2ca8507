"""Members of any kind, as bags and boosting use them.

A member is a copy of one estimator, hedgerow's or scikit-learn's. ``Ensemble`` reads the table and
knows the estimator; ``seeded`` makes a member, ``fit_member`` fits it and names it when it fails.

Members that can grow on a table read before share it: ``grow_member``. Plain decision trees take a
still shorter way: the engine grows them all with ``tree_params``, and ``tree_of`` makes an
estimator of what was grown.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, GrowParams
from hedgerow._growth import check_growth, check_poisson, grow_params
from hedgerow._table import is_frame
from hedgerow._table_model import TableModel

ATTRIBUTES = """\
    estimator_ : estimator
        What the members are copies of.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for data frames with string names.
    schema_ : Schema
        Names and categories of the training table.
"""


class Ensemble(TableModel):
    """A model whose members are copies of ``estimator``."""

    _tree: ClassVar[Any]  # the decision tree that is grown on shared bins
    _tree_depth: ClassVar[int | None] = None  # of the default member

    def _member(self) -> Any:
        """An unfitted member."""
        if self.estimator is None:
            return self._tree(max_depth=self._tree_depth)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise TypeError(
                f"'estimator' must be an estimator with a fit method, got {self.estimator!r}."
            )
        return clone(self.estimator)

    def _check_member(self, member: Any) -> None:
        if is_regressor(member) if is_classifier(self) else is_classifier(member):
            kind = "classifier" if is_classifier(self) else "regressor"
            raise ValueError(f"'estimator' must be a {kind}, got {member!r}.")
        if type(member) is self._tree:
            check_growth(member, member._criteria)
            parameters.check_option("splitter", member.splitter, ("best", "random"))

    @property
    def categorical_features(self) -> Any:
        """The member's; scikit-learn's estimators read their table themselves."""
        return getattr(self._member(), "categorical_features", None)

    def _check_table(self, X: Any) -> Any:
        """A table to predict, checked against the training table."""
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, reset=False, dtype=dtypes, ensure_all_finite="allow-nan")

    def _labels(self, y: np.ndarray) -> np.ndarray:
        """Targets as the user gave them."""
        return self.classes_[y] if is_classifier(self) else y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._member()).input_tags.allow_nan
        return tags


def takes_weights(member: Any) -> bool:
    return has_fit_parameter(member, "sample_weight")


def seeded(member: Any, seed: int | np.random.RandomState) -> Any:
    """A copy of the member with its random states, those of its parts included, set."""
    member, random = clone(member), check_random_state(seed)
    names = sorted(n for n in member.get_params() if n.split("__")[-1] == "random_state")
    return member.set_params(**{name: random.randint(2**31 - 1) for name in names})


def fit_member(
    place: int,
    member: Any,
    X: Any,
    y: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
) -> Any:
    """Fit member number ``place``, on some rows and features where these are given."""
    with _named(place, member):
        X = X if features is None else take_columns(X, features)
        if rows is not None:
            X, y = take_rows(X, rows), y[rows]
        return member.fit(X, y) if weights is None else member.fit(X, y, sample_weight=weights)


def grow_member(
    place: int, member: Any, reader: TableModel, table: Any, y: np.ndarray, weights: np.ndarray
) -> Any:
    """Grow member number ``place`` on a table that ``reader`` has read and a member has loaded."""
    with _named(place, member):
        member._adopt_table(reader)
        member._set_graph(member._grow(table, y, weights))
        return member


@contextmanager
def _named(place: int, member: Any) -> Iterator[None]:
    """Say which member it was that failed."""
    try:
        yield
    except Exception as error:
        raise RuntimeError(
            f"Member {place} ({type(member).__name__}) failed with {type(error).__name__}: {error}"
        ) from error


def take_rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def take_columns(X: Any, features: np.ndarray) -> Any:
    return X.iloc[:, features] if hasattr(X, "iloc") else X[:, features]


def tree_params(
    ensemble: Any, tree: Any, n_rows: int, total_weight: float, seed: int = 0
) -> GrowParams:
    """The engine's parameters for a member that is a plain decision tree."""
    return grow_params(
        tree,
        tree._criteria[tree.criterion],
        splitter=tree.splitter,
        n_rows=n_rows,
        n_features=ensemble.n_features_in_,
        total_weight=total_weight,
        n_classes=getattr(ensemble, "n_classes_", 0),
        seed=seed,
        ccp_alpha=tree.ccp_alpha,
    )


def tree_weights(
    ensemble: Any, tree: Any, y: np.ndarray, weights: np.ndarray | None
) -> np.ndarray | None:
    """The weights of the rows with those of the tree's classes."""
    tree = clone(tree)
    if is_classifier(ensemble):
        tree.classes_ = ensemble.classes_
    else:
        check_poisson(tree.criterion, y)
    return tree._with_class_weight(y, weights)


def tree_of(ensemble: Any, graph: DecisionGraph) -> Any:
    """An estimator of a graph that was grown for the ensemble."""
    tree = clone(ensemble.estimator_)
    for name in ("schema_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_"):
        if hasattr(ensemble, name):
            setattr(tree, name, getattr(ensemble, name))
    tree.n_outputs_ = 1
    tree.max_features_ = parameters.features_to_try(tree.max_features, tree.n_features_in_)
    tree._set_graph(graph)
    return tree
