"""Estimators that fit on Dask collections and predict them lazily, under their ordinary names."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow import additive, cascade, embedding, forest, graph, tree
from hedgerow.dask.cluster import client_of, connected
from hedgerow.dask.fitting import fitted_on
from hedgerow.dask.partitions import is_collection, parts_of, predicted


class OnDask:
    """What these estimators have of their own: the rest is the ordinary estimator's."""

    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None):
        """Fit on a cluster where X is a Dask collection, else here.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Read two or three times: persist it where the cluster's memory holds it.
        y : Dask array or series of shape (n_samples,)
            Cut into partitions as X is.
        sample_weight : Dask array or series of shape (n_samples,), default=None
        client : distributed.Client, default=None
            The cluster; None takes the current client.

        Returns
        -------
        self : object
        """
        if not is_collection(X):
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        plain = self._plain()
        plain.check_parameters()
        parts, sizes = parts_of(X, y, sample_weight)
        client = client_of(client)
        with connected(client):
            fitted = fitted_on(client, plain, parts, sizes, reads_numbers=self._reads_numbers)
        names = self.get_params(deep=False)
        for name in [name for name in vars(self) if name.endswith("_")]:
            del vars(self)[name]
        self.__dict__.update((k, v) for k, v in fitted.__getstate__().items() if k not in names)
        self.rebuild()
        return self

    def to_local(self: Any) -> Any:
        """The ordinary estimator, fitted where this one is."""
        plain = self._plain()
        plain.__setstate__(plain.__getstate__() | self.__getstate__())
        return plain

    def _plain(self: Any) -> Any:
        kind = next(base for base in type(self).__mro__ if not issubclass(base, OnDask))
        return kind(**self.get_params(deep=False))

    @property
    def _reads_numbers(self) -> bool:
        """Whether the model is fitted on numbers rather than codes."""
        return False

    def _lazily(self: Any, method: str, X: Any, n_columns: int | None, dtype: Any) -> Any:
        check_is_fitted(self)
        return predicted(self.to_local(), method, X, n_columns, dtype)


class ClassifierOnDask(OnDask):
    """The same for classifiers."""

    def predict(self: Any, X: Any) -> Any:
        """The most probable class of each row; lazily, in partitions, of a Dask collection."""
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return self._lazily("predict", X, None, self.classes_.dtype)

    def predict_proba(self: Any, X: Any) -> Any:
        """Class probabilities; lazily, in partitions, of a Dask collection."""
        if not is_collection(X):
            return super().predict_proba(X)  # type: ignore[misc]
        return self._lazily("predict_proba", X, len(self.classes_), np.float64)


class RegressorOnDask(OnDask):
    """The same for regressors."""

    def predict(self: Any, X: Any) -> Any:
        """The predicted number of each row; lazily, in partitions, of a Dask collection."""
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return self._lazily("predict", X, None, np.float64)


class OfNumbers(OnDask):
    """For models that read numbers, not codes."""

    @property
    def _reads_numbers(self) -> bool:
        return True


class _MicroTrees(OnDask):
    @property
    def _reads_numbers(self: Any) -> bool:
        """Tests of one feature are found in codes, oblique ones in numbers."""
        return self.micro_trees != "axis"


class DecisionTreeClassifier(ClassifierOnDask, tree.DecisionTreeClassifier):
    """A classification tree, fitted on Dask collections."""


class DecisionTreeRegressor(RegressorOnDask, tree.DecisionTreeRegressor):
    """A regression tree, fitted on Dask collections."""


class RandomForestClassifier(ClassifierOnDask, forest.RandomForestClassifier):
    """A random forest of classification trees, fitted on Dask collections."""


class RandomForestRegressor(RegressorOnDask, forest.RandomForestRegressor):
    """A random forest of regression trees, fitted on Dask collections."""


class ExtraTreesClassifier(ClassifierOnDask, forest.ExtraTreesClassifier):
    """Classification trees with random thresholds, fitted on Dask collections."""


class ExtraTreesRegressor(RegressorOnDask, forest.ExtraTreesRegressor):
    """Regression trees with random thresholds, fitted on Dask collections."""


class TreeInTreeClassifier(ClassifierOnDask, _MicroTrees, graph.TreeInTreeClassifier):
    """A decision graph of small trees, for classes, fitted on Dask collections."""


class TreeInTreeRegressor(RegressorOnDask, _MicroTrees, graph.TreeInTreeRegressor):
    """A decision graph of small trees, for numbers, fitted on Dask collections."""


class MeanMarginTreeClassifier(ClassifierOnDask, OfNumbers, tree.MeanMarginTreeClassifier):
    """A mean-margin tree for classes, fitted on Dask collections."""


class MeanMarginTreeRegressor(RegressorOnDask, OfNumbers, tree.MeanMarginTreeRegressor):
    """A mean-margin tree for numbers, fitted on Dask collections."""


class LeafMeansEmbedding(OfNumbers, embedding.LeafMeansEmbedding):
    """Rows as affinities with the leaf means of a few trees, fitted on Dask collections."""

    def transform(self, X: Any) -> Any:
        """Embed rows; lazily, in partitions, those of a Dask collection."""
        if not is_collection(X):
            return super().transform(X)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self._lazily("transform", X, len(self.get_feature_names_out()), dtype)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and embed the training rows; not for Dask collections."""
        if is_collection(X):
            raise TypeError(
                "fit_transform is for arrays and frames: with Dask collections call fit, then "
                "transform."
            )
        return super().fit_transform(X, y, sample_weight)


class TreeEmbeddingClassifier(ClassifierOnDask, OfNumbers, embedding.TreeEmbeddingClassifier):
    """A linear classifier on leaf means, fitted on Dask collections."""


class TreeEmbeddingRegressor(RegressorOnDask, OfNumbers, embedding.TreeEmbeddingRegressor):
    """A linear regression on leaf means, fitted on Dask collections."""


class HeterogeneousForestClassifier(
    ClassifierOnDask, OfNumbers, forest.HeterogeneousForestClassifier
):
    """A bag of several kinds of classification tree, fitted on Dask collections."""


class HeterogeneousForestRegressor(RegressorOnDask, OfNumbers, forest.HeterogeneousForestRegressor):
    """A bag of several kinds of regression tree, fitted on Dask collections."""


class CascadeForestClassifier(ClassifierOnDask, OfNumbers, cascade.CascadeForestClassifier):
    """A cascade of forests for classes, fitted on Dask collections."""


class CascadeForestRegressor(RegressorOnDask, OfNumbers, cascade.CascadeForestRegressor):
    """A cascade of forests for numbers, fitted on Dask collections."""


class GradientBoostingClassifier(ClassifierOnDask, additive.GradientBoostingClassifier):
    """Gradient boosting for classes, fitted on Dask collections."""


class GradientBoostingRegressor(RegressorOnDask, additive.GradientBoostingRegressor):
    """Gradient boosting for numbers, fitted on Dask collections."""


class TreeSumClassifier(ClassifierOnDask, additive.TreeSumClassifier):
    """A sum of small trees for classes, fitted on Dask collections."""


class TreeSumRegressor(RegressorOnDask, additive.TreeSumRegressor):
    """A sum of small trees for numbers, fitted on Dask collections."""
