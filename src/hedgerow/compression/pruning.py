"""Pruning of whole sums: the order in which splits are collapsed, down to none.

The leaf indicators of all trees are the columns of one least-squares problem, weighted by the
curvature of the loss. Collapsing a split ties the values of its two leaves. With P the inverse of
the (ridged) Gram matrix and w the values, the tie c'w = 0 raises the loss by (c'w)² / c'Pc once
*all* other leaves have been fitted again, and P and w of what is left follow by a low-rank update:
the optimal brain surgeon, with splits in place of weights. The cheapest splits go first, a few
percent at a time, level by level from the leaves up, so one pass gives a model of every size.

Ensembles of more leaves than `MOST_LEAVES` are cut down to these before, tree by tree, by what each
split does to the tree's own output.

The Gram matrix costs rows x trees², the pass leaves³ in all.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hedgerow.compression.structure import Structure, indicators

MOST_LEAVES = 2000
SHARE_AT_ONCE = 0.02  # of the leaves


def own_order(structure: Structure, leaves: np.ndarray, most_leaves: int) -> np.ndarray:
    """Marks of the splits to collapse so that so many leaves stay: weakest first, tree by tree.

    A split is worth what it adds to the variance of its tree's output over the rows.
    """
    values = np.concatenate([graph.value for graph in structure.graphs])
    counts = np.bincount(leaves.ravel(), minlength=structure.n_nodes).astype(float)
    count = structure.bottom_up(counts[:, None])
    sums = structure.bottom_up(counts[:, None] * values * (structure.left < 0)[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        fit = np.nan_to_num(sums**2 / count).sum(axis=1)
    tests = np.flatnonzero(structure.left >= 0)
    gain = np.zeros(structure.n_nodes)
    gain[tests] = fit[structure.left[tests]] + fit[structure.right[tests]] - fit[tests]
    # What stands above a strong split stays with it.
    strength = structure.upwards_largest(gain)
    surplus = len(tests) + len(structure.graphs) - most_leaves
    collapsed = np.zeros(structure.n_nodes, dtype=bool)
    if surplus > 0:
        weakest = np.lexsort((-structure.depth[tests], strength[tests]))
        collapsed[tests[weakest[:surplus]]] = True
    return collapsed


def pruning_order(
    structure: Structure,
    leaves: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    ridge: float,
) -> np.ndarray:
    """The splits in the order in which they are collapsed, children before their parents.

    Parameters
    ----------
    leaves : ndarray of shape (n_rows, n_trees)
    targets : ndarray of shape (n_rows, n_scores)
        The scores to fit.
    weights : ndarray of shape (n_rows,)
    ridge : float
        In rows of mean weight.
    """
    is_leaf = structure.left < 0
    column = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    node_of = np.flatnonzero(is_leaf)  # by column
    rows = indicators(leaves, column, len(node_of))
    weighted = rows.multiply(weights[:, None]).tocsr()
    gram = (rows.T @ weighted).toarray()
    centred = targets - np.average(targets, axis=0, weights=weights)
    gram[np.diag_indices_from(gram)] += ridge * weights.mean()
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    values = cho_solve(factor, weighted.T @ centred, check_finite=False)
    inverse = cho_solve(factor, np.eye(len(node_of)), check_finite=False)
    return _collapse_all(structure, node_of, values, inverse)


def _collapse_all(
    structure: Structure, node_of: np.ndarray, values: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    place = np.full(structure.n_nodes, -1)  # column of each leaf of the moment
    place[node_of] = np.arange(len(node_of))
    order: list[int] = []
    tests = np.flatnonzero(structure.left >= 0)
    while len(tests):
        a, b = place[structure.left[tests]], place[structure.right[tests]]
        ready = (a >= 0) & (b >= 0)
        pairs, a, b = tests[ready], a[ready], b[ready]
        spread = inverse[a, a] + inverse[b, b] - 2 * inverse[a, b]
        cost = ((values[a] - values[b]) ** 2).sum(axis=1) / np.maximum(spread, 1e-300)
        n_now = max(1, int(SHARE_AT_ONCE * len(inverse)))
        chosen = np.argsort(cost, kind="stable")[:n_now]
        a, b, pairs = a[chosen], b[chosen], pairs[chosen]
        ties = inverse[:, a] - inverse[:, b]
        inner = ties[a] - ties[b]
        solved = np.linalg.solve(inner + 1e-12 * np.trace(inner) * np.eye(len(a)), ties.T)
        values -= solved.T @ (values[a] - values[b])
        inverse -= ties @ solved
        order += pairs.tolist()
        place[structure.left[pairs]] = place[structure.right[pairs]] = -1
        place[pairs] = a
        roots = structure.parent[pairs] < 0  # alone they add the same to all rows: the intercept
        gone = np.concatenate([b, a[roots]])
        place[pairs[roots]] = -1
        stays = np.ones(len(inverse), dtype=bool)
        stays[gone] = False
        moved = np.cumsum(stays) - 1
        known = place >= 0
        place[known] = moved[place[known]]
        values, inverse = values[stays], inverse[np.ix_(stays, stays)]
        is_gone = np.zeros(structure.n_nodes, dtype=bool)
        is_gone[pairs] = True
        tests = tests[~is_gone[tests]]
    return np.array(order, dtype=np.intp)
