"""Quantiles of what a forest predicts: the targets of the training rows in its leaves.

A forest's prediction is a weighted mean of training targets; the weight of a training row is the
mean over the members of 1 / (training rows in the leaf) where both rows share a leaf. The same
weights give every quantile (Meinshausen, Quantile Regression Forests, 2006). All training rows
have weights, drawn or not: a grown-out leaf has drawn rows of one target only.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import Forest
from hedgerow._estimator import fitted, parameter
from hedgerow._parameters import FLAG, is_real, refuse
from hedgerow._table import Table
from hedgerow._table_model import TableModel

_PAIRS_AT_ONCE = 2**24  # of a row and a training row that shares a leaf with it


def leaf_target_facts(table: Table, forest: Forest, n_jobs: int) -> dict[str, Any]:
    """The targets of the training rows, ascending, and the leaves that hold them."""
    if table.targets.ndim > 1:
        raise ValueError("'keep_targets' needs one target; fit a forest for each of them.")
    kept = np.arange(table.n_rows) if table.weights is None else np.flatnonzero(table.weights)
    order = kept[np.argsort(table.targets[kept], kind="stable")]
    leaves = forest.apply(table.matrix()[order], n_jobs)
    return {"leaf_targets_": table.targets[order], "leaf_rows_": leaves.astype(np.uint32)}


class LeafTargets(TableModel):
    """A forest that may keep the training targets of its leaves."""

    keep_targets: bool = parameter(
        False,
        FLAG,
        "Keep the target and the leaves of every training row, four bytes for each row and member, "
        "for ``predict_quantiles``. Sample weights count as rows only.",
    )
    leaf_targets_: np.ndarray = fitted(
        "ndarray of shape (n_kept,)", "Training targets, ascending.", optional=True
    )
    leaf_rows_: np.ndarray = fitted(
        "ndarray of shape (n_kept, n_members)",
        "The leaf of each of these training rows in each member.",
        optional=True,
    )

    def check_fitted(self) -> None:
        super().check_fitted()
        targets, leaves = getattr(self, "leaf_targets_", None), getattr(self, "leaf_rows_", None)
        if targets is None and leaves is None:
            return
        if targets is None or leaves is None or not np.isfinite(targets).all():
            raise ValueError("the targets of its leaves are none")
        if leaves.dtype != np.uint32 or leaves.shape[1] != len(self):
            raise ValueError("the leaves of its training rows are none")

    def become(self, facts: dict[str, Any]) -> None:
        for name in ("leaf_targets_", "leaf_rows_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        super().become(facts)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target given the row.

        The forest must be fitted with ``keep_targets=True``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        quantiles : list of float, default=(0.05, 0.5, 0.95)
            Shares from 0 to 1.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
            Each is the target of a training row.
        """
        check_is_fitted(self)
        wanted = np.atleast_1d(np.asarray(quantiles))
        for share in wanted.ravel().tolist():
            if wanted.ndim > 1 or not (is_real(share) and 0 <= share <= 1):
                refuse("quantiles", "shares from 0 to 1", quantiles)
        if not hasattr(self, "leaf_targets_"):
            raise ValueError(
                f"This {type(self).__name__} did not keep the targets of its leaves: fit it with "
                "keep_targets=True."
            )
        leaves = self.apply(X)
        kept, targets = self.leaf_rows_, self.leaf_targets_
        # Leaves of all members stand side by side as the columns of one sparse matrix.
        offsets = np.concatenate([[0], np.cumsum(kept.max(axis=0).astype(np.int64) + 1)])
        n_leaves = int(offsets[-1])
        rows_of_leaf = _indicators(kept, offsets, n_leaves).T.tocsr()
        sizes = np.diff(rows_of_leaf.indptr)
        share_of_leaf = 1 / np.maximum(sizes, 1) / kept.shape[1]
        found = np.empty((len(leaves), len(wanted)))
        step = max(1, int(_PAIRS_AT_ONCE / max(1.0, sizes[sizes > 0].mean() * kept.shape[1])))
        for first in range(0, len(leaves), step):
            block = _indicators(leaves[first : first + step], offsets, n_leaves)
            block.data = share_of_leaf[block.indices]
            weights = (block @ rows_of_leaf).sorted_indices()  # columns are targets, ascending
            found[first : first + step] = _weighted_quantiles(weights, targets, wanted)
        return found


def _indicators(leaves: np.ndarray, offsets: np.ndarray, n_leaves: int) -> csr_array:
    """One where a row is in a leaf; a leaf that no kept row reached is left out."""
    columns = leaves.astype(np.int64) + offsets[:-1]
    known = columns < offsets[1:]
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return csr_array(
        (np.ones(int(starts[-1])), columns[known], starts), shape=(len(leaves), n_leaves)
    )


def _weighted_quantiles(weights: csr_array, targets: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each row of weights the first target up to which the weights reach each share."""
    starts = weights.indptr
    found = np.empty((len(starts) - 1, len(wanted)))
    for row, (first, last) in enumerate(pairwise(starts)):
        total = np.cumsum(weights.data[first:last])
        # Sums of weights end a little beside one: a share within that of a step is the step.
        places = np.searchsorted(total, wanted * total[-1] * (1 - 1e-12))
        found[row] = targets[weights.indices[first:last][places]]
    return found
