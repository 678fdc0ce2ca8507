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
from hedgerow.datasets import load_data
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
    write_reading(FOLDER / "reading")


def write_reading(folder: Path) -> None:
    """A model with the reading of a raw table, a later raw table and what is predicted of it."""
    if folder.exists():
        return
    folder.mkdir()
    lines = ["spent;joined;plan;paid;zip;status"]
    for i in range(90):
        spent = f"{i * 37 % 50}.{i * 61 % 1000:03},{i % 100:02} \u20ac" if i % 8 else "-"
        plan = ("Pro", "pro ", "Basic")[i % 3]
        status = "keep" if i * 37 % 50 > 20 or i % 3 == 2 else "cut"
        joined = f"{i % 28 + 1:02}.{i % 12 + 1:02}.{2020 + i % 4}"
        lines.append(f"{spent};{joined};{plan};{'yes' if i % 5 else 'N'};{i % 7:05};{status}")
    (folder / "raw.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")
    data = load_data(str(folder / "raw.csv"), "status")
    model = hedgerow.DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
    model.reading_ = data.reading
    hedgerow.save(model, folder / "model.hedgerow")
    expected = {"features": list(data.X.columns), "predict": model.predict(data.X).tolist()}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
