"""A table as numbers: what leaf means are taken of and distances are measured in.

Numbers stay, a category becomes one 0/1 column per value, and what is missing (or a category never
seen in training) becomes the training mean of its column. The mean of all rows rather than of a
leaf, because a fill that depends on the leaf would make the linear model depend on the tree again.
"""

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
        X = self._expand(encoded)
        shares = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
        gaps = np.isnan(X)
        if gaps.any():
            known = shares @ ~gaps
            self.mean = shares @ np.where(gaps, 0, X) / np.where(known > 0, known, 1)
            X = np.where(gaps, self.mean, X)
        else:
            self.mean = shares @ X
        spread = np.sqrt(np.maximum(shares @ np.square(X, dtype=np.float64) - self.mean**2, 0))
        # The difference of two sums carries about 1e-16 of the squared mean as noise.
        constant = spread <= 1e-7 * np.abs(self.mean)
        self.scale = np.where(constant, 1.0, spread)

    def __call__(self, encoded: np.ndarray) -> np.ndarray:
        """The numbers of some encoded rows, in the rows' own precision."""
        X = self._expand(encoded)
        gaps = np.isnan(X)
        if gaps.any():
            X = np.where(gaps, self.mean.astype(X.dtype), X)
        if self.standardize:
            X = (X - self.mean.astype(X.dtype)) / self.scale.astype(X.dtype)
        return X

    def linear(self, encoded: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """``self(encoded) @ coef + intercept``; without categories by one product of the rows."""
        if self.schema.categories:
            return self(encoded) @ coef + intercept
        folded, constant = coef, intercept
        if self.standardize:
            folded = coef / self.scale[:, None]
            constant = intercept - self.mean @ folded
        out = np.empty((len(encoded), coef.shape[1]))
        for begin in range(0, len(encoded), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            out[rows] = encoded[rows].astype(np.float64) @ folded + constant
        gaps = np.isnan(out[:, 0])
        if gaps.any():
            out[gaps] = self(encoded[gaps]) @ coef + intercept
        return out

    def names(self, feature_names: list) -> list[str]:
        """Column names: a feature's own, with its category after an underscore."""
        out = []
        for feature, name in enumerate(feature_names):
            values = self.schema.categories.get(feature)
            out += [str(name)] if values is None else [f"{name}_{value}" for value in values]
        return out

    def _expand(self, encoded: np.ndarray) -> np.ndarray:
        categories = self.schema.categories
        if not categories:
            return encoded
        columns = []
        for feature in range(encoded.shape[1]):
            column = encoded[:, [feature]]
            if feature in categories:
                hot = (column == np.arange(len(categories[feature]))).astype(encoded.dtype)
                column = np.where(np.isnan(column), np.nan, hot)
            columns.append(column)
        return np.hstack(columns)
