"""The models that a comparison runs: a new one joins by a line in ``MODELS``.

Each has a name and, for every task it can do, a factory that takes the seed. hedgerow's own models
read categories and missing values as they are; the others are marked ``prepared`` and get them
one-hot encoded and imputed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import sklearn.ensemble
import sklearn.tree

import hedgerow.cascade
import hedgerow.embedding
import hedgerow.forest
import hedgerow.tree

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Model:
    """A competitor: how to make it for a task, and whether its data must be prepared."""

    factories: dict[Task, Callable[[int], Any]]
    prepared: bool = False


def _seeded(classifier: type, regressor: type, *, prepared: bool = False, **parameters) -> Model:
    """A model whose classifier and regressor take the same parameters."""
    return Model(
        {
            "classification": lambda seed: classifier(random_state=seed, **parameters),
            "regression": lambda seed: regressor(random_state=seed, **parameters),
        },
        prepared,
    )


MODELS: dict[str, Model] = {
    "hedgerow DecisionTree": _seeded(
        hedgerow.tree.DecisionTreeClassifier, hedgerow.tree.DecisionTreeRegressor
    ),
    "hedgerow MeanMarginTree": Model(
        {
            "classification": lambda seed: hedgerow.tree.MeanMarginTreeClassifier(),
            "regression": lambda seed: hedgerow.tree.MeanMarginTreeRegressor(),
        }
    ),
    "hedgerow CrossValidatedTree": _seeded(
        hedgerow.tree.CrossValidatedTreeClassifier, hedgerow.tree.CrossValidatedTreeRegressor
    ),
    "hedgerow TreeEmbedding": _seeded(
        hedgerow.embedding.TreeEmbeddingClassifier, hedgerow.embedding.TreeEmbeddingRegressor
    ),
    "hedgerow RandomForest": _seeded(
        hedgerow.forest.RandomForestClassifier, hedgerow.forest.RandomForestRegressor
    ),
    "hedgerow ExtraTrees": _seeded(
        hedgerow.forest.ExtraTreesClassifier, hedgerow.forest.ExtraTreesRegressor
    ),
    "hedgerow CascadeForest light": _seeded(
        hedgerow.cascade.CascadeForestClassifier,
        hedgerow.cascade.CascadeForestRegressor,
        preset="light",
    ),
    "hedgerow CascadeForest": _seeded(
        hedgerow.cascade.CascadeForestClassifier, hedgerow.cascade.CascadeForestRegressor
    ),
    "scikit-learn DecisionTree": _seeded(
        sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor, prepared=True
    ),
    "scikit-learn RandomForest": _seeded(
        sklearn.ensemble.RandomForestClassifier,
        sklearn.ensemble.RandomForestRegressor,
        prepared=True,
    ),
}
