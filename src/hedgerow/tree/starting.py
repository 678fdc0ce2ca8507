"""The model that another one starts from: the parameter ``init``."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from hedgerow._estimator import Settings, parameter
from hedgerow._graph_model import GraphClassifier, GraphModel, GraphRegressor
from hedgerow._learner import Grown, Learner
from hedgerow._parameters import anything, refuse
from hedgerow._table import Table


@dataclass(frozen=True)
class FittedLearner(Learner):
    """Grows nothing: gives the graph of a fitted model, for the same kind of table."""

    model: GraphModel

    def grow(
        self,
        table: Table,
        rows: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        seed: Any = None,
    ) -> Grown:
        """The graph of the model; see :meth:`Learner.grow`."""
        model: Any = self.model
        if not model.schema_.is_like(table.schema):
            raise ValueError(
                "'init' was fitted on other features: names, order and categories must be the same."
            )
        classes = () if table.classes is None else table.classes
        if not np.array_equal(getattr(model, "classes_", ()), classes):
            raise ValueError("'init' was fitted on other classes.")
        if model.n_outputs_ > 1:
            raise ValueError(
                f"'init' has {model.n_outputs_} outputs; only one is supported so far."
            )
        winner = getattr(model, "estimator_", model)  # of a contest
        return Grown(model.graph_, {"scale_": getattr(winner, "scale_", None)})


def grow_start(
    learner: Learner,
    table: Table,
    rows: np.ndarray | None,
    weights: np.ndarray | None,
    seed: Any,
) -> Grown:
    """What the learner of a start grows, with its own seed where it has one."""
    own = deepcopy(getattr(learner.settings, "random_state", None))  # a generator stays where it is
    return learner.grow(table, rows, weights, seed if own is None else own)


class InitParameter(GraphModel):
    """The parameter of models that start from another one."""

    init: Any = parameter(
        None,
        anything("estimator or None"),
        "The tree or graph to start from, any of hedgerow's with one decision graph. A fitted one "
        "is taken as it is and must know the same features and classes; in scikit-learn's "
        "``FrozenEstimator`` it survives ``clone``. Another one is fitted on the training data "
        "first.",
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        expected: type = GraphClassifier if self._has_classes else GraphRegressor
        if self.init is not None and not isinstance(_unfrozen(self.init), expected):
            task = "classifier" if self._has_classes else "regressor"
            refuse("init", f"None or a {task} of hedgerow with one decision graph", self.init)

    def init_learner(self) -> Learner | None:
        """The learner of the start; None where there is no start."""
        if self.init is None:
            return None
        init = _unfrozen(self.init)
        if hasattr(init, "graph_"):
            return FittedLearner(Settings({}), init)
        if type(init).learner is GraphModel.learner:
            raise ValueError(f"'init' must be fitted first, got {self.init!r}.")
        return init.learner()


def _unfrozen(init: Any) -> Any:
    return init.estimator if isinstance(init, FrozenEstimator) else init
