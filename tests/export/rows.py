"""Rows that are hard for an export: at thresholds and one step beside them, missing, denormal."""

import os

import numpy as np

from hedgerow.export.facts import compared_with

# Of each model and target; HEDGEROW_EXPORT_ROWS=100000 for the full proof.
N_ROWS = int(os.environ.get("HEDGEROW_EXPORT_ROWS", "2000"))
EDGES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-45, 1.0, -1.0, 1e30, -1e30, 3.4e38, -3.4e38]


def adversarial(program, n, seed=0, single=False):
    """Encoded rows of a program: numbers as they are, codes, NaN for missing and never seen.

    ``single``: numbers that single precision holds.
    """
    random = np.random.default_rng(seed)
    matrix = np.empty((n, program.n_features))
    for f, known in enumerate(compared_with(program)):
        if program.features[f].categories is not None:
            matrix[:, f] = random.choice(np.append(known, np.nan), n)
            continue
        kind = random.integers(0, 8, n)
        x = random.choice(known, n)
        dtype = np.float32 if single else np.float64
        x = x.astype(dtype)
        x = np.where(kind == 1, np.nextafter(x, dtype(np.inf)), x)
        x = np.where(kind == 2, np.nextafter(x, dtype(-np.inf)), x)
        low, high = known.min() - 1, known.max() + 1
        x = np.where((kind == 3) | (kind == 4), random.uniform(low, high, n), x)
        x = np.where(kind == 5, random.choice(EDGES, n), x)
        x = np.where(kind == 6, np.round(x), x)
        x = np.where(kind == 7, np.nan, x).astype(dtype)
        matrix[:, f] = np.where(np.isinf(x), np.nan, x)
    return matrix
