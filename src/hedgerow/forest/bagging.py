"""Bags of any estimator, drop-in for scikit-learn's.

Bagging (Breiman, 1996) fits each member on rows drawn with replacement and lets the members vote.
hedgerow's trees and graphs grow on one table, which is binned once. Every other member, hedgerow's
or scikit-learn's, is fitted through joblib, so its process and cluster back ends (Dask, Ray) work.

Member i depends on the seed and on i alone: the result is the same for any ``n_jobs``, and
``warm_start`` from 50 to 100 members equals 100 from scratch.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from hedgerow import _parameters as parameters
from hedgerow._estimator import parameter
from hedgerow._table import Table
from hedgerow._table_model import TableModel
from hedgerow.forest.bag import Bag, BagClassifier, BagRegressor
from hedgerow.forest.draws import Draws
from hedgerow.forest.learner import n_drawn_rows
from hedgerow.forest.members import EstimatorParameter


class _Bagging(Bag, EstimatorParameter):
    n_estimators: int = parameter(
        10,
        parameters.integer(high=parameters.MOST_MEMBERS),
        "Number of members.",
        kw_only=False,
    )
    max_samples: Any = parameter(
        None,
        parameters.count(1, optional=True),
        "Rows drawn for each member, as a number or a share of all (with ``sample_weight``, of the "
        "sum of the weights); None draws as many as there are.",
    )
    max_features: int | float = parameter(
        1.0,
        parameters.count(1),
        "Features drawn for each member, as a number or a share of all.",
    )
    bootstrap: bool = parameter(True, parameters.FLAG, "Draw rows with replacement.")
    bootstrap_features: bool = parameter(
        False,
        parameters.FLAG,
        "Draw features with replacement; a member gets a feature once, however often it was drawn.",
    )
    n_jobs: int | None = parameter(
        None,
        parameters.N_JOBS,
        "Threads for hedgerow's members, joblib's workers for others. The result is the same for "
        "any number.",
    )

    @property
    def _many_outputs(self) -> bool:
        """Where its members take them; of scikit-learn's, only regressors."""
        estimator = self._new_estimator()
        is_ours = isinstance(estimator, TableModel)
        return get_tags(estimator).target_tags.multi_output and (is_ours or not self._has_classes)

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; leave 'oob_score' at "
                "False without it."
            )

    def _new_draws(self, seed: int, table: Table) -> Draws:
        share, n_features = self.max_features, table.n_features
        n_drawn = parameters.count_or_share("max_features", share, n_features, low=1)
        if n_drawn > n_features:
            raise ValueError(
                f"'max_features' must be at most {n_features}, the number of features, "
                f"got {n_drawn}."
            )
        if not parameters.is_int(share):
            n_drawn = max(1, int(share * n_features))
        return Draws(
            seed=seed,
            n_rows=table.n_rows,
            n_drawn_rows=self._n_drawn_rows(table),
            bootstrap=bool(self.bootstrap),
            n_features=n_features,
            n_drawn_features=n_drawn,
            bootstrap_features=bool(self.bootstrap_features),
            weights=table.weights,
        )

    def _n_drawn_rows(self, table: Table) -> int:
        weights, share = table.weights, self.max_samples
        if weights is None or share is None or parameters.is_int(share):
            n_drawn = n_drawn_rows(share, table.n_rows)
        else:  # weight 2 is the row twice
            n_drawn = max(1, int(share * weights.sum()))
            if n_drawn < max(10, table.n_rows ** (1 / 3)):
                warnings.warn(
                    f"Using the fractional value max_samples={share} when the total sum of sample "
                    f"weights is {weights.sum()} results in a low number ({n_drawn}) of bootstrap "
                    "samples. We recommend passing `max_samples` as an integer.",
                    stacklevel=4,
                )
        if weights is None or self.bootstrap:
            return n_drawn
        warnings.warn(
            f"When fitting {type(self).__name__} with sample_weight it is recommended to use "
            "bootstrap=True: without it, rows of large weight are drawn once, too.",
            stacklevel=4,
        )
        if n_drawn > table.n_rows:
            raise ValueError(
                f"max_samples={n_drawn} must be <= n_samples={table.n_rows} to be able to sample "
                "without replacement."
            )
        n_drawable = np.count_nonzero(weights)
        if n_drawn > n_drawable:
            raise ValueError(
                f"max_samples={n_drawn} rows cannot be drawn without replacement: only "
                f"{n_drawable} have a weight."
            )
        return n_drawn


class BaggingClassifier(_Bagging, BagClassifier):
    """A bag of classifiers: members on drawn rows, which vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from hedgerow import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> BaggingClassifier(n_estimators=20, random_state=0).fit(X, y).predict(X[:3])
    array([0, 0, 0])
    >>> bayes = BaggingClassifier(GaussianNB(), max_features=2, random_state=0)
    >>> bayes.fit(X, y).score(X, y) > 0.9
    True
    """


class BaggingRegressor(_Bagging, BagRegressor):
    """A bag of regressors: members on drawn rows, averaged.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bag = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bag.oob_score_ > 0.3
    True
    """
