"""What models grow from a table and a seed stays the same, however growing is made faster.

The fingerprints are of what fitted models answer. A change that is meant to change them says why in
the changelog; run this file as a script, with the names of those that change, to take them anew.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_regressor
from small_models import answers, numbers, small, table, targets

from hedgerow.storage import MODELS

FINGERPRINTS = Path(__file__).parent / "files" / "grown.json"
# Matrix products are those of whatever BLAS is there; a compressed model is made of the others.
SMALL = sorted(name for name in MODELS if "embed" not in name and "compressed" not in name)
GROWN_OUT = sorted(
    f"{model}-{task}"
    for model in ("decision-tree", "random-forest", "extra-trees", "random-trees", "tree-in-tree")
    for task in ("classifier", "regressor")
)
PARAMETERS = {"n_estimators": 3, "max_splits": 40, "random_state": 0}


def hashed(*numbers, n=3000, scale=1):
    """Whole numbers below `numbers` in columns, scattered by remainders; most of a column is 0."""
    i = np.arange(n, dtype=np.uint64)[:, None]
    column = np.arange(len(numbers), dtype=np.uint64)
    mixed = (i * np.uint64(2654435761) + column * np.uint64(40503) + i * column) % np.uint64(
        1 << 31
    )
    mixed = mixed * mixed // np.uint64(65536) % np.uint64(1 << 20)
    return (mixed * np.array(numbers, np.uint64) >> np.uint64(20)).astype(float) * scale


def letters():
    """Few values, many classes, in narrow columns."""
    X = hashed(*[16] * 12, n=2500)
    return X, ((X[:, 0] * X[:, 1] + 3 * X[:, 2] + X[:, 3]) % 26)


def houses():
    """Numbers of many values."""
    X = hashed(*[2000] * 7, 3, n=1500, scale=0.37)
    return X, X[:, 0] + X[:, 1] * X[:, 2] / 50 + 100 * (X[:, 7] > 0.4) + X[:, 3] % 7


def images():
    """More columns than rows are copied for, most cells 0."""
    X = np.maximum(hashed(*[400] * 300, n=500) - 250, 0)
    return X, (X[:, 3] + X[:, 100] * 2 + X[:, 250] > 120) * 2 + (X[:, 40] > 10)


def flags():
    """Two values to a column."""
    X = hashed(*[2] * 30, 40, 9, n=2000)
    return X, (X[:, :9].sum(axis=1) > 4) ^ (X[:, 30] > 11) ^ (X[:, 12] > 0)


SETS = {make.__name__: make for make in (letters, houses, images, flags)}
CASES = [*SMALL, *(f"{name} on {data}" for name in GROWN_OUT for data in SETS)]


def model_of(case):
    """A fitted model and the table that it was fitted on."""
    name, _, data = case.partition(" on ")
    if not data:
        model = small(MODELS[name])
        X = numbers(400) if hasattr(model, "shape") else table(400)
        return model.fit(X, targets(model, X)), X
    X, y = SETS[data]()
    cls = MODELS[name]
    model = cls(**{k: v for k, v in PARAMETERS.items() if k in cls().get_params()})
    if data == "flags" and "class_weight" in model.get_params():
        model.set_params(class_weight={False: 3, True: 1})
    return model.fit(X, y if is_regressor(model) else y.astype(int) % 40), X


def fingerprint(case):
    """A hash of a model's answers; libraries of functions may differ in the last digits."""
    model, X = model_of(case)
    out = hashlib.sha256()
    for values in answers(model, X).values():
        if values.dtype.kind == "f":
            values = np.round(values.astype(np.float64), 9) + 0.0  # no negative zero
        out.update(str(values.tolist()).encode())
    return out.hexdigest()


@pytest.mark.parametrize("case", CASES)
def test_the_same_table_and_seed_grow_the_same_model(case):
    known = json.loads(FINGERPRINTS.read_text())
    assert case in known, "run this file as a script for a new model"
    assert fingerprint(case) == known[case]


if __name__ == "__main__":
    known = json.loads(FINGERPRINTS.read_text()) if FINGERPRINTS.exists() else {}
    anew = sys.argv[1:]
    found = {
        case: fingerprint(case)
        if case not in known or any(a in case for a in anew)
        else known[case]
        for case in CASES
    }
    FINGERPRINTS.write_text(json.dumps(found, indent=1) + "\n")
