"""What the golden models say of many rows stays the same, bit by bit, however they are routed.

The fingerprints were taken from the engine that walked one 16-byte node after another. Run this
file as a script to take those of golden models that have none yet.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from small_models import answers, numbers, table

import hedgerow

FILES = Path(__file__).parent / "files"
FINGERPRINTS = FILES / "predictions.json"
# The matrix products of embeddings are those of whatever BLAS is there.
GOLDEN = sorted(p.stem for p in FILES.glob("v1/*.hedgerow") if "embedding" not in p.stem)
N_ROWS = 5000


def fingerprint(name):
    """A hash of a golden model's answers; libraries of functions may differ in the last digits."""
    model = hedgerow.load(FILES / f"v1/{name}.hedgerow")
    X = numbers(N_ROWS) if hasattr(model, "shape") else table(N_ROWS)
    out = hashlib.sha256()
    for values in answers(model, X).values():
        if values.dtype.kind == "f":
            values = np.round(values.astype(np.float64), 12) + 0.0  # no negative zero
        out.update(str(values.tolist()).encode())
    return out.hexdigest()


@pytest.mark.parametrize("name", GOLDEN)
def test_predictions_of_golden_models_are_unchanged(name):
    known = json.loads(FINGERPRINTS.read_text())
    if name not in known:
        pytest.skip("the model is younger than the fingerprints")
    assert fingerprint(name) == known[name]


if __name__ == "__main__":
    known = json.loads(FINGERPRINTS.read_text()) if FINGERPRINTS.exists() else {}
    found = {name: known.get(name) or fingerprint(name) for name in GOLDEN}
    FINGERPRINTS.write_text(json.dumps(found, indent=1) + "\n")
