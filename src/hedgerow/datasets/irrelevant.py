"""Irrelevant features: how a model bears columns that say nothing of the target."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters
from hedgerow._columns import is_frame


def add_irrelevant_features(X: Any, n_features: int, *, random_state: Any = None) -> Any:
    """Append columns of standard normal noise.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    n_features : int
        Columns to append; in a frame they are called ``noise0``, ``noise1`` and so on.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray or data frame
        A new table. Fewer columns with the same int seed are the first of more.

    Examples
    --------
    >>> from hedgerow.datasets import add_irrelevant_features
    >>> add_irrelevant_features([[1.0], [2.0]], 3, random_state=0).shape
    (2, 4)
    """
    parameters.check_int("n_features", n_features, low=0)
    noise = check_random_state(random_state).normal(size=(n_features, len(X)))
    if not is_frame(X):
        return np.column_stack([np.asarray(X), *noise])
    names = [f"noise{i}" for i in range(n_features)]
    taken = sorted(set(names) & {str(name) for name in X.columns})
    if taken:
        raise ValueError(f"X already has a column {taken[0]!r}: rename it first.")
    columns = type(X)(dict(zip(names, noise, strict=True)))
    if not hasattr(X, "iloc"):
        return X.hstack(columns)
    import pandas

    return pandas.concat([X, columns.set_axis(X.index)], axis=1)
