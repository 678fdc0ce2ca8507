"""Tables for sums of trees, and the engine that grows them without an estimator."""

import numpy as np
import pandas as pd

from hedgerow._engine import Dataset, TreeSumParams, grow_tree_sum


def engine(X, y, loss="squared_error", *, n_jobs=1, weights=None, **settings):
    data = Dataset(len(X))
    data.append_matrix(X, 255, 1)
    n_classes = int(y.max()) + 1 if loss == "log_loss" else 0
    params = TreeSumParams(loss=loss, n_classes=n_classes, **settings)
    return grow_tree_sum(data, None, y, weights, params, n_jobs)


def mixed(n=400, seed=0):
    """Numbers, missing ones and categories, with a number to learn."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 70, n)),
            "kind": pd.Categorical(rng.choice(list("abcdefgh"), n)),
        }
    )
    kinds = frame["kind"].cat.codes.to_numpy()
    y = frame["size"] + np.where(frame["age"].isna(), 2, frame["age"] / 30) + kinds % 3
    return frame, y.to_numpy() + rng.normal(scale=0.2, size=n)
