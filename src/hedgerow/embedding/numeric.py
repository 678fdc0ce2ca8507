"""A table as numbers: what leaf means are taken of and distances are measured in.

Numbers stay, a category becomes one 0/1 column per value, and what is missing (or a category never
seen in training) becomes the training mean of its column: of all rows, so that the linear model
does not depend on a tree, or of a leaf.
"""

from itertools import pairwise

import numpy as np

from hedgerow._table import Schema

_ROWS_AT_ONCE = 1 << 11


class NumericView:
    """How the encoded rows of one training table become numbers.

    Parameters
    ----------
    schema : Schema
    encoded : ndarray of shape (n_samples, n_features)
        The training rows, as ``schema.encode`` gives them.
    weights : ndarray of shape (n_samples,) or None
    standardize : bool
        Whether columns are centred and scaled to unit variance.

    Attributes
    ----------
    mean : ndarray of shape (n_columns,)
    scale : ndarray of shape (n_columns,)
        Standard deviations, one for constant columns.
    """

    def __init__(
        self, schema: Schema, encoded: np.ndarray, weights: np.ndarray | None, standardize: bool
    ):
        self.schema = schema
        self.standardize = standardize
        X = self.expand(encoded)
        shares = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
        total, squares, known = np.zeros((3, X.shape[1]))
        for begin in range(0, len(X), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            block = X[rows].astype(np.float64)
            gaps = np.isnan(block)
            block[gaps] = 0
            total += shares[rows] @ block
            squares += shares[rows] @ np.square(block)
            known += shares[rows] @ ~gaps
        self.mean = total / np.where(known > 0, known, 1)
        # A gap is filled with the mean, so that only known values have a distance from it.
        spread = np.sqrt(np.maximum(squares - known * self.mean**2, 0))
        # The difference of two sums carries about 1e-16 of the squared mean as noise.
        constant = spread <= 1e-7 * np.abs(self.mean)
        self.scale = np.where(constant, 1.0, spread)

    def __call__(self, encoded: np.ndarray, fills: np.ndarray | None = None) -> np.ndarray:
        """The numbers of some encoded rows, in the rows' own precision.

        ``fills``, of the shape of the result and in the units of the table, are used where a value
        is missing; without them it is the mean.
        """
        X = self.expand(encoded)
        gaps = np.isnan(X)
        if gaps.any():
            X = np.where(gaps, self.mean if fills is None else fills, X).astype(X.dtype)
        if self.standardize:
            X = (X - self.mean.astype(X.dtype)) / self.scale.astype(X.dtype)
        return X

    def folded(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A linear function of the numbers as one of the table, where that has numbers only."""
        if not self.standardize:
            return coef, intercept
        inner = coef / self.scale[:, None]
        return inner, intercept - self.mean @ inner

    def names(self, feature_names: list) -> list[str]:
        """Column names: a feature's own, with its category after an underscore."""
        out = []
        for feature, name in enumerate(feature_names):
            values = self.schema.categories.get(feature)
            out += [str(name)] if values is None else [f"{name}_{value}" for value in values]
        return out

    def expand(self, encoded: np.ndarray) -> np.ndarray:
        """Categories as 0/1 columns; what is missing is still missing."""
        categories = self.schema.categories
        if not categories:
            return encoded
        widths = [len(categories.get(feature, [0])) for feature in range(encoded.shape[1])]
        starts = np.cumsum([0, *widths])
        out = np.zeros((len(encoded), starts[-1]), dtype=encoded.dtype)
        for feature, (start, end) in enumerate(pairwise(starts)):
            column = encoded[:, feature]
            if feature not in categories:
                out[:, start] = column
                continue
            known = np.flatnonzero(~np.isnan(column))
            out[known, start + column[known].astype(np.intp)] = 1
            if len(known) < len(column):
                out[np.isnan(column), start:end] = np.nan
        return out
