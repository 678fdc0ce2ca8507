"""Members of any kind, as bags and boosting use them.

A member is a copy of one estimator, hedgerow's or scikit-learn's. `EstimatorParameter` knows the
estimator; ``grow_member`` grows a member on a table that was read before, ``fit_member`` fits one
that reads its table itself, and both name the member when it fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from hedgerow import _parameters as parameters
from hedgerow._columns import is_frame, take_columns, take_rows
from hedgerow._estimator import parameter
from hedgerow._graph_model import GraphModel
from hedgerow._learner import Learner
from hedgerow._sparse import issparse, read_sparse
from hedgerow._table import Table
from hedgerow._table_model import TableModel


class MemberModel(TableModel):
    """A model whose members are copies of one estimator."""

    def _new_estimator(self) -> Any:
        """What the members are copies of, unfitted."""
        raise NotImplementedError


class EstimatorParameter(MemberModel):
    """A model whose members are copies of ``estimator``."""

    estimator: Any = parameter(
        None,
        parameters.anything("estimator or None"),
        "What the members are copies of, hedgerow's or scikit-learn's; None is a decision tree.",
        kw_only=False,
    )
    _tree: ClassVar[type[GraphModel]]  # what members are by default
    _tree_depth: ClassVar[int | None] = None

    def _new_estimator(self) -> Any:
        if self.estimator is None:
            return self._tree(max_depth=self._tree_depth)
        if not self._has_estimator:
            raise TypeError(
                f"'estimator' must be an estimator with a fit method, got {self.estimator!r}."
            )
        return clone(self.estimator)

    @property
    def _has_estimator(self) -> bool:
        return hasattr(self.estimator, "fit") and not isinstance(self.estimator, type)

    def check_parameters(self) -> None:
        super().check_parameters()
        estimator = self._new_estimator()
        if is_regressor(estimator) if self._has_classes else is_classifier(estimator):
            task = "classifier" if self._has_classes else "regressor"
            raise ValueError(f"'estimator' must be a {task}, got {estimator!r}.")
        if isinstance(estimator, GraphModel):
            estimator.check_parameters()

    @property
    def categorical_features(self) -> Any:
        """The member's; scikit-learn's estimators read their table themselves."""
        return getattr(self._new_estimator(), "categorical_features", None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._has_estimator:
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def check_members(model: MemberModel, members: list, n_features: int) -> None:
    """Refuse members that are none of a fitted model's, after all came out of a file.

    They are as ``estimator_``, fitted on up to ``n_features`` features.
    """
    classes = getattr(model, "classes_", None)
    for member in members:
        if type(member) is not type(model.estimator_) or not hasattr(member, "schema_"):
            raise ValueError("a member is none, or is not fitted")
        is_graph = is_graph_model(member)
        if member.n_features_in_ > n_features or (is_graph and member.n_values != model.n_values):
            raise ValueError("a member has other features or outputs than its ensemble")
        if not _are_among(getattr(member, "classes_", None), classes):
            raise ValueError("a member has other classes than its ensemble")


def _are_among(some: Any, classes: Any) -> bool:
    """Whether classes, of one output or several, are among others."""
    if some is None or isinstance(some, list) != isinstance(classes, list):
        return some is classes
    if isinstance(some, list):
        return len(some) == len(classes) and all(map(_are_among, some, classes))
    return bool(np.isin(some, classes).all())


def is_graph_model(estimator: Any) -> bool:
    """Whether an estimator becomes a graph; a class derived to fit in another way need not."""
    return isinstance(estimator, GraphModel) and estimator.fit.__module__.startswith("hedgerow.")


def learner_of(estimator: Any) -> Learner | None:
    """What grows copies of an estimator on a table that was read before, where it has that."""
    if is_graph_model(estimator) and type(estimator).learner is not GraphModel.learner:
        return estimator.learner()
    return None


def takes_weights(estimator: Any) -> bool:
    return has_fit_parameter(estimator, "sample_weight")


def check_columns(model: TableModel, X: Any) -> Any:
    """A table for members that read it themselves, checked against the training table."""
    if isinstance(X, Table):
        return X.source
    if is_frame(X):
        validate_data(model, X, reset=False, skip_check_array=True)
        return X
    if issparse(X):
        return read_sparse(model, X, reset=False)
    dtypes = [np.float64, np.float32]
    return validate_data(model, X, reset=False, dtype=dtypes, ensure_all_finite="allow-nan")


def seeded(estimator: Any, seed: int | np.random.RandomState) -> Any:
    """A copy of an estimator with its random states, those of its parts included, set."""
    estimator, random = clone(estimator), check_random_state(seed)
    names = sorted(n for n in estimator.get_params() if n.split("__")[-1] == "random_state")
    return estimator.set_params(**{name: random.randint(2**31 - 1) for name in names})


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
        if weights is None:
            member.fit(X, y)
        else:
            member.fit(X, y, sample_weight=weights)
        return member


def grow_member(
    place: int,
    estimator: GraphModel,
    learner: Learner,
    table: Table,
    *,
    weights: np.ndarray,
    seed: Any,
    rows: np.ndarray | None = None,
) -> GraphModel:
    """Grow member number ``place``, a copy of an estimator, on a table that was read before."""
    with _named(place, estimator):
        member = copy(estimator)  # a clone of its own takes long beside a small tree
        if hasattr(member, "random_state"):
            member.random_state = seed
        return member.adopt(table, learner.grow(table, rows, weights, seed))


@contextmanager
def _named(place: int, member: Any) -> Iterator[None]:
    """Say which member it was that failed."""
    try:
        yield
    except MemoryError:  # it needs no other name
        raise
    except Exception as error:
        raise RuntimeError(
            f"Member {place} ({type(member).__name__}) failed with {type(error).__name__}: {error}"
        ) from error
