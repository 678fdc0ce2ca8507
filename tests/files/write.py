"""Writes the golden files of the present format: models, and what they answer.

Run it once for a new model; files that are there stay as they are, because that is their point.

    python tests/files/write.py
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from small_models import answers, fitted

import hedgerow
from hedgerow.storage import MODELS

FOLDER = Path(__file__).parent / "v1"
N_ROWS = 12


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in MODELS:
        path = FOLDER / f"{name}.hedgerow"
        if path.exists():
            continue
        model, X = fitted(name)
        hedgerow.save(model, path)
        expected = {
            "parameters": {key: repr(value) for key, value in model.get_params(deep=False).items()},
            **{method: values.tolist() for method, values in answers(model, X[:N_ROWS]).items()},
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
