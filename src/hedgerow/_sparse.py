"""SciPy's sparse matrices and arrays: a table whose cells are mostly zero, of which

Training bins them column by column, and prediction writes out some rows at a time, both in the
engine. Models that compute with whole rows need the table as an ordinary matrix; that is made as
long as it is of a moderate size.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from hedgerow._engine import SparseTable

MOST_CELLS = 1 << 27  # of a matrix that is written out: a GiB of float64

__all__ = ["as_matrix", "as_table", "has_missing", "issparse", "read_sparse"]


def read_sparse(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """A sparse table, checked, as CSR with sorted indices, each at most once."""
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
    )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def as_table(X: Any) -> SparseTable:
    """The lines of CSR rows or CSC columns as the engine reads them."""
    length = X.shape[1 if X.format == "csr" else 0]
    places = X.indices.astype(np.int32, copy=False)
    return SparseTable(X.data, places, X.indptr.astype(np.int64, copy=False), length)


def as_matrix(X: Any) -> np.ndarray:
    """A sparse table with its zeros written out."""
    n_rows, n_columns = X.shape
    if n_rows * n_columns > MOST_CELLS:
        size = n_rows * n_columns * X.dtype.itemsize / 2**30
        raise ValueError(
            f"X is sparse, and this needs it with its zeros: {n_rows} x {n_columns} numbers take "
            f"{size:.1f} GiB. Give X.toarray() if that is meant, fewer columns (SelectKBest, "
            "TruncatedSVD), or a tree or forest, which reads X as it is."
        )
    matrix: np.ndarray = X.toarray(order="C")
    return matrix


def has_missing(X: Any) -> set[int]:
    """The columns of CSR rows in which a number is missing."""
    return set(np.unique(X.indices[np.isnan(X.data)]).tolist())
