"""Rows in folds for a cross-validation."""

import numpy as np


def folds_of(
    rows: np.ndarray, n: int, random: np.random.RandomState, classes: np.ndarray | None = None
) -> list[np.ndarray]:
    """The rows in ``n`` parts at random, fewer when there are fewer rows.

    Classes, one for each row, are spread evenly: a class with at least ``n`` rows is in each part.
    """
    order = random.permutation(len(rows))
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    return [np.sort(rows[order[k::n]]) for k in range(min(n, len(rows)))]
