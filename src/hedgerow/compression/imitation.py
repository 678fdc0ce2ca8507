"""An ensemble that imitates a teacher's scores: boosted trees, to be pruned as those of a booster.

For teachers whose structure cannot be read, and as a rival of those whose can: trees that were
grown on what the teacher says of given and generated rows.
"""

import numpy as np

from hedgerow._engine import DecisionGraph, grow
from hedgerow._growth import grow_params
from hedgerow._table import Schema, Table
from hedgerow.compression.sums import scaled
from hedgerow.tree.cart import DecisionTreeRegressor

N_LEAVES = 24
N_ROUNDS = 60
RATE = 0.2
MIN_ROWS = 10  # of a leaf


def imitate(
    matrix: np.ndarray, scores: np.ndarray, weights: np.ndarray, *, schema: Schema, n_jobs: int
) -> list[DecisionGraph]:
    """Boosted regression trees of the scores, which take turns among them.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
        As the schema encodes rows.
    scores : ndarray of shape (n_rows, n_scores)
    weights : ndarray of shape (n_rows,)
    """
    table = Table.encoded(matrix, schema, scores[:, 0], None, None)
    data = table.bins(255, n_jobs)
    learner = DecisionTreeRegressor(max_leaf_nodes=N_LEAVES, min_samples_leaf=MIN_ROWS).learner()
    params = grow_params(
        learner.settings,
        n_rows=len(matrix),
        n_features=data.n_features,
        n_classes=0,
        total_weight=float(weights.sum()),
        seed=0,
        splitter="best",
    )
    left = scores - np.average(scores, axis=0, weights=weights)
    graphs = []
    for _ in range(max(4, N_ROUNDS // scores.shape[1])):
        for score in range(scores.shape[1]):
            targets = np.ascontiguousarray(left[:, score])
            graph = grow(data, None, targets, weights, params, n_jobs)
            left[:, score] -= RATE * graph.value[graph.apply(matrix, n_jobs), 0]
            graphs.append(scaled(graph, RATE))
    return graphs
