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

from hedgerow._table_model import TableClassifier, TableRegressor
from hedgerow.cascade.cascade_model import CascadeModel, with_parameters
from hedgerow.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.forest.random_trees import RandomTreesClassifier, RandomTreesRegressor


@with_parameters
class CascadeForestClassifier(TableClassifier, CascadeModel):
    """A deep forest: layers of forests, each reading the class vectors of the one before it.

    Parameters
    ----------
    {parameters}
    screening : float, default=None
        Confidence screening: after each layer the most certain rows leave, as many as can with an
        error rate of at most this share of the layer's (0.1 is a good start). They are predicted
        by the layer they leave, and later layers learn from the others. None keeps all rows.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    {running}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CascadeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> cascade = CascadeForestClassifier("light", random_state=0).fit(X, y)
    >>> cascade.n_layers_, cascade.n_trees_
    (2, 400)
    """

    _kinds: ClassVar = {
        "random_forest": RandomForestClassifier,
        "extra_trees": ExtraTreesClassifier,
        "random_trees": RandomTreesClassifier,
    }

    def __init__(
        self,
        preset="default",
        *,
        estimators=None,
        n_forests=None,
        partner=None,
        n_trees=None,
        max_depth=None,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_layers=None,
        n_tolerance=None,
        class_vectors=None,
        cv=None,
        validation_fraction=None,
        keep=None,
        final_estimator=None,
        screening=None,
        class_weight=None,
        storage="memory",
        checkpoint=None,
        resume=True,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.preset = preset
        self.estimators = estimators
        self.n_forests = n_forests
        self.partner = partner
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_layers = max_layers
        self.n_tolerance = n_tolerance
        self.class_vectors = class_vectors
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.keep = keep
        self.final_estimator = final_estimator
        self.screening = screening
        self.class_weight = class_weight
        self.storage = storage
        self.checkpoint = checkpoint
        self.resume = resume
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _score(self, y, values, weights):
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


@with_parameters
class CascadeForestRegressor(TableRegressor, CascadeModel):
    """A deep forest for regression: layers of forests, each reading the means of the one before.

    Parameters
    ----------
    {parameters}
    {running}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import CascadeForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> cascade = CascadeForestRegressor("light", random_state=0).fit(X, y)
    >>> cascade.predict(X[:3]).shape
    (3,)
    """

    _kinds: ClassVar = {
        "random_forest": RandomForestRegressor,
        "extra_trees": ExtraTreesRegressor,
        "random_trees": RandomTreesRegressor,
    }

    def __init__(
        self,
        preset="default",
        *,
        estimators=None,
        n_forests=None,
        partner=None,
        n_trees=None,
        max_depth=None,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_layers=None,
        n_tolerance=None,
        class_vectors=None,
        cv=None,
        validation_fraction=None,
        keep=None,
        final_estimator=None,
        storage="memory",
        checkpoint=None,
        resume=True,
        max_bins=255,
        categorical_features="auto",
        n_jobs=None,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        self.preset = preset
        self.estimators = estimators
        self.n_forests = n_forests
        self.partner = partner
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_layers = max_layers
        self.n_tolerance = n_tolerance
        self.class_vectors = class_vectors
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.keep = keep
        self.final_estimator = final_estimator
        self.storage = storage
        self.checkpoint = checkpoint
        self.resume = resume
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _score(self, y, values, weights):
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
