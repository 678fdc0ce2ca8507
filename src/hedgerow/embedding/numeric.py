"""A table as numbers: what leaf means are taken of and distances are measured in.

Numbers stay, a category becomes one 0/1 column per value, and what is missing (or a category never
seen in training) becomes the training mean of its column: of all rows, so that the linear model
does not depend on a tree, or of a leaf.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix

from hedgerow._targets import LARGEST, check_magnitude

_ROWS_AT_ONCE = 1 << 11
_LARGEST_SINGLE = 1e15  # in single precision, which ends at 3e38
_SMALLEST_SCALE = 1e-95  # what varies less is constant: in its units 1 is too large


def check_numbers(
    name: str, numbers: np.ndarray, dtype: np.dtype, remedy: str | None = None
) -> None:
    """Refuse numbers whose squares cannot be summed in a precision."""
    most = _LARGEST_SINGLE if dtype == np.float32 else LARGEST
    check_magnitude(name, numbers, most, remedy)


def count_categories(categories: dict[int, list]) -> dict[int, int]:
    """The number of categories of each categorical feature."""
    return {feature: len(known) for feature, known in categories.items()}


def expand(encoded: np.ndarray, n_categories: dict[int, int]) -> np.ndarray:
    """Categories as 0/1 columns; what is missing is still missing."""
    if not n_categories:
        return encoded
    widths = [n_categories.get(feature, 1) for feature in range(encoded.shape[1])]
    starts = np.cumsum([0, *widths])
    out = np.zeros((len(encoded), starts[-1]), dtype=encoded.dtype)
    for feature, (start, end) in enumerate(pairwise(starts)):
        column = encoded[:, feature]
        if feature not in n_categories:
            out[:, start] = column
            continue
        known = np.flatnonzero(~np.isnan(column))
        out[known, start + column[known].astype(np.intp)] = 1
        if len(known) < len(column):
            out[np.isnan(column), start:end] = np.nan
    return out


@dataclass(frozen=True, eq=False)
class NumericView:
    """How the encoded rows of one training table become numbers.

    Attributes
    ----------
    n_categories : dict of int to int
        The number of categories of each categorical feature.
    mean : ndarray of shape (n_columns,)
    scale : ndarray of shape (n_columns,)
        Standard deviations, one for constant columns.
    standardize : bool
        Whether columns are centred and scaled to unit variance.
    """

    n_categories: dict[int, int]
    mean: np.ndarray
    scale: np.ndarray
    standardize: bool

    @classmethod
    def learn(
        cls,
        encoded: np.ndarray,
        n_categories: dict[int, int],
        weights: np.ndarray | None,
        standardize: bool,
    ) -> "NumericView":
        """The view of some training rows, as ``schema.encode`` gives them."""
        check_magnitude("X", encoded)
        X = expand(encoded, n_categories)
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
        mean = total / np.where(known > 0, known, 1)
        # A gap is filled with the mean, so that only known values have a distance from it.
        spread = np.sqrt(np.maximum(squares - known * mean**2, 0))
        # The difference of two sums carries about 1e-16 of the squared mean as noise.
        constant = spread <= np.maximum(1e-7 * np.abs(mean), _SMALLEST_SCALE)
        return cls(n_categories, mean, np.where(constant, 1.0, spread), standardize)

    def can_be_used(self, fills: np.ndarray | None) -> bool:
        """Whether rows of common size become numbers whose squares can be summed."""
        if not (self.scale >= _SMALLEST_SCALE).all():
            return False
        known = [self.mean] if fills is None else [self.mean, fills]
        return all((abs(numbers) / self.scale <= LARGEST).all() for numbers in known)

    @property
    def centre(self) -> np.ndarray:
        """The mean of the numbers that the view gives."""
        return (0.0 if self.standardize else 1.0) * self.mean

    def __call__(self, encoded: np.ndarray, fills: np.ndarray | None = None) -> np.ndarray:
        """The numbers of some encoded rows, in the rows' own precision.

        ``fills``, of the shape of the result and in the units of the table, are used where a value
        is missing; without them it is the mean.
        """
        X = expand(encoded, self.n_categories)
        gaps = np.isnan(X)
        if gaps.any():
            X = np.where(gaps, self.mean if fills is None else fills, X).astype(X.dtype)
        if self.standardize:
            X = (X - self.mean.astype(X.dtype)) / self.scale.astype(X.dtype)
        check_numbers("X", X, X.dtype)
        return X

    def region_means(
        self, encoded: np.ndarray, regions: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Means of what is known in each region, in units of the table; of all if nothing is."""
        X = expand(encoded, self.n_categories)
        gaps = np.isnan(X)
        shares = np.ones(len(X)) if weights is None else weights
        member = csr_matrix((shares, (regions, np.arange(len(X)))))
        known = member @ ~gaps
        sums = member @ np.where(gaps, 0, X)
        return np.where(known > 0, sums / np.maximum(known, np.finfo(float).tiny), self.mean)

    def folded(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A linear function of the numbers as one of the table, where that has numbers only."""
        if not self.standardize:
            return coef, intercept
        inner = coef / self.scale[:, None]
        return inner, intercept - self.mean @ inner
