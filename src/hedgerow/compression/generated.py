"""Rows beside those of a table, for a teacher to label.

A row takes some of the columns of one of its nearest neighbours (MUNGE: Bucilă, Caruana and
Niculescu-Mizil, "Model compression", KDD 2006, with exchanged values alone). So every value is one
that its column has, categories and missing values too, and whole rows stay near those that occur.
"""

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from hedgerow._columns import is_frame, take_rows
from hedgerow._sparse import as_matrix, issparse

N_NEIGHBOURS = 5
TAKEN = 0.3  # the share of columns that a row takes over
MOST_SEARCHED = 20_000  # rows among which neighbours are looked for


def generate_rows(X: Any, matrix: np.ndarray, n_rows: int, rng: np.random.Generator) -> Any:
    """Rows like those of X, an array or a frame as it is.

    Parameters
    ----------
    X : array, data frame or sparse matrix
    matrix : ndarray of shape (n_samples, n_features)
        The same rows, encoded.
    n_rows : int
    """
    n = min(len(matrix), MOST_SEARCHED)
    spread = np.nanstd(matrix[:n], axis=0)
    middle = np.nan_to_num(np.nanmean(matrix[:n], axis=0))
    spread[~(spread > 0)] = 1
    scaled = np.nan_to_num((matrix[:n] - middle) / spread).astype(np.float32)
    base = rng.integers(n, size=n_rows)
    n_near = min(N_NEIGHBOURS + 1, n)
    near = (
        NearestNeighbors(n_neighbors=n_near).fit(scaled).kneighbors(scaled, return_distance=False)
    )
    donor = near[base, rng.integers(min(1, n_near - 1), n_near, size=n_rows)]
    takes = rng.random((n_rows, matrix.shape[1])) < TAKEN
    source = np.where(takes, donor[:, None], base[:, None])
    if not is_frame(X):
        X = as_matrix(X) if issparse(X) else X
        return np.take_along_axis(np.asarray(X), source, axis=0)
    made = take_rows(X, base)
    if hasattr(X, "iloc"):
        columns = {i: X.iloc[source[:, i], i].array for i in range(X.shape[1])}
        made = type(X)(columns, index=made.index)
        made.columns = X.columns
        return made
    return made.with_columns(
        X.get_column(name)[source[:, i]].alias(name) for i, name in enumerate(X.columns)
    )
