"""Deep forests: a cascade of layers of forests.

Zhi-Hua Zhou and Ji Feng, "Deep forest" (2019); two small layers after Ludovic Arnould, Claire
Boyer and Erwan Scornet, "Analyzing the tree-layer structure of Deep Forests" (2021). Each
layer reads the raw features and what the layer before it said; layers are added while that helps.

The raw features are binned once for the whole cascade; a layer appends its few columns to them
without copying. Forests grow on row views of that table and describe the rows they did not see by
their codes (``layers.py``); ``cascade_model.py`` adds layer to layer, ``growth.py`` decides when to
stop, ``files.py`` keeps checkpoints.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from hedgerow._estimator import parameter
from hedgerow._parameters import real
from hedgerow._table_model import ClassWeightParameter, TableClassifier, TableRegressor
from hedgerow.cascade.cascade_model import CascadeModel
from hedgerow.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor


class CascadeForestClassifier(TableClassifier, ClassWeightParameter, CascadeModel):
    """A deep forest: layers of forests, each reading the class vectors of the one before it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CascadeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> cascade = CascadeForestClassifier("light", random_state=0).fit(X, y)
    >>> cascade.n_layers_, cascade.n_trees_
    (2, 400)
    """

    screening: float | None = parameter(
        None,
        real(0, 1, optional=True),
        "Confidence screening: after each layer the most certain rows leave, as many as can with "
        "an error rate of at most this share of the layer's (0.1 is a good start). They are "
        "predicted by the layer they leave, and later layers learn from the others. None keeps all "
        "rows.",
    )
    _forests: ClassVar = {
        "random_forest": RandomForestClassifier,
        "extra_trees": ExtraTreesClassifier,
        "random_trees": RandomTreesClassifier,
    }

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        return float(accuracy_score(y, values.argmax(axis=1), sample_weight=weights))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Class probabilities after each layer.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        yield from self._stages(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The most probable classes after each layer.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._stages(X):
            yield self.classes_[values.argmax(axis=1)]


class CascadeForestRegressor(TableRegressor, CascadeModel):
    """A deep forest for regression: layers of forests, each reading the means of the one before.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import CascadeForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> cascade = CascadeForestRegressor("light", random_state=0).fit(X, y)
    >>> cascade.predict(X[:3]).shape
    (3,)
    """

    _forests: ClassVar = {
        "random_forest": RandomForestRegressor,
        "extra_trees": ExtraTreesRegressor,
        "random_trees": RandomTreesRegressor,
    }

    def _score(self, y: np.ndarray, values: np.ndarray, weights: np.ndarray | None) -> float:
        if len(y) < 2:
            return -np.inf  # R² is not defined
        return float(r2_score(y, values[:, 0], sample_weight=weights))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predicted numbers after each layer.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for values in self._stages(X):
            yield values[:, 0]
