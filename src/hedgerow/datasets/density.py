"""Sample density: how closely the rows of a table fill the space of possible rows."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hedgerow import _parameters as parameters
from hedgerow._table import read_columns


def sample_density(
    X: Any, *, categorical_features: Any = "auto", continuous_arity: float = 5
) -> float:
    """Decimal logarithm of the number of possible rows for each row there is.

    M. Gashler, C. Giraud-Carrier and T. Martinez (2008) call the product of the arities of all
    features, divided by the number of rows, the sample density; the smaller it is, the denser are
    the rows. It is given as a logarithm because the product soon exceeds every number.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    categorical_features : "auto", None or list, default="auto"
        As in the estimators. The arity of a categorical feature is its number of categories.
    continuous_arity : float, default=5
        What a numeric feature counts for.

    Returns
    -------
    density : float

    Examples
    --------
    Two numbers and ten rows: 5 * 5 / 10 = 2.5 possible rows for each.

    >>> import numpy as np
    >>> from hedgerow.datasets import sample_density
    >>> round(10 ** sample_density(np.zeros((10, 2))), 6)
    2.5
    """
    parameters.real(1).check("continuous_arity", continuous_arity)
    schema, X, _ = read_columns(BaseEstimator(), X, categorical_features)
    categories = schema.categories
    arities = [
        max(1, len(categories[feature])) if feature in categories else continuous_arity
        for feature in range(schema.n_features)
    ]
    return float(np.log10(arities).sum() - np.log10(len(X)))
