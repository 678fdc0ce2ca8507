"""Exports beside their models: 100,000 adversarial rows of every model in every real runtime.

The models are those of ``tests/export/models.py``, one of every kind that the library has; the rows
lie at their thresholds, one step beside them and anywhere, with missing values and categories that
were never seen. What an export says is compared with the model's own predictions: the class, and
every bit of the probabilities or numbers (within 1e-9 where a model's last bits are those of a
matrix product, or a query's those of the database's own exponential). "float" has rows of single
precision; ONNX rounds their probabilities at the end, which is compared to single precision.

    python benchmarks/equality.py                    # what is not done yet; hours for all
    python benchmarks/equality.py --minutes 10       # begins nothing later
    python benchmarks/equality.py --targets "C, tables" --rows 5000
    python benchmarks/equality.py --render
"""

import argparse
import sys
import time
from pathlib import Path

import measure
import numpy as np
from measure import markdown

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from export.models import NAMES, example
from export.rows import adversarial
from export.test_reading import frame_of, values_of

from hedgerow.export import ExportError, read
from hedgerow.export.facts import as_written
from hedgerow.export.sql import has_own_functions
from hedgerow.export.targets import TARGETS

N_ROWS = 100_000
HOW = {
    "C, tables": ("c", {"form": "tables"}),
    "C, goto": ("c", {"form": "goto"}),
    "C, goto, float": ("c", {"form": "goto", "numbers": "float"}),
    "C, tables, ranks": ("c", {"form": "tables", "numbers": "ranks"}),
    "ONNX, double": ("onnx", {"numbers": "double"}),
    "ONNX, float": ("onnx", {"numbers": "float"}),
    "JavaScript": ("javascript", {}),
    "Python": ("python", {}),
    "SQL, DuckDB": ("sql", {"dialect": "duckdb"}),
    "SQL, SQLite": ("sql", {"dialect": "sqlite"}),
}
LARGE = 1e6  # numbers beyond lose what inexact sums of them cancel


class Rows:
    """Adversarial rows of a model, and what it says of them."""

    def __init__(self, model, X, program, n_rows, is_single):
        self.matrix = adversarial(program, n_rows, single=is_single)
        if not program.is_exact:
            self.matrix[np.abs(self.matrix) > LARGE] = LARGE
        frame = frame_of(program, as_written(program, self.matrix), X)
        self.values, self.predicted = values_of(model, frame)


def compared(model, program, rows, to, settings):
    """What an export says of rows beside its model."""
    target = TARGETS[to]
    ran = target.run(target.write(program, **settings), program, rows.matrix, **settings)
    found, truth = ran.values, rows.values
    if to == "onnx" and settings["numbers"] == "float":
        with np.errstate(over="ignore"):
            found, truth = found.astype(np.float32), truth.astype(np.float32)
    is_exact = program.is_exact and not (to == "sql" and has_own_functions(program))
    if is_exact:
        other = (found != truth).any(axis=1)
    else:
        tolerance = 1e-4 if found.dtype == np.float32 else 1e-9
        other = ~np.isclose(found, truth, rtol=tolerance, atol=tolerance).all(axis=1)
    wrong = 0
    if ran.chosen is not None:
        differs = np.asarray(model.classes_)[ran.chosen] != rows.predicted
        if not is_exact and truth.shape[1] > 1:  # classes that are level to the last bits
            differs &= np.diff(np.sort(truth, axis=1)[:, -2:], axis=1).ravel() > 1e-9
        wrong = int(differs.sum())
    return {"runtime": ran.runtime, "rows": len(found), "other_class": wrong,
            "other_values": int(other.sum()), "is_exact": is_exact}  # fmt: skip


def run(results, names, hows, n_rows, ends):
    for name in names:
        model, X = example(name)
        program, made = read(model), {}
        for how in hows:
            if results.measurements(model=name, how=how) or time.monotonic() > ends:
                continue
            to, settings = HOW[how]
            is_single = settings.get("numbers") == "float"
            if is_single not in made:
                made[is_single] = Rows(model, X, program, n_rows, is_single)
            began = time.monotonic()
            try:
                found = compared(model, program, made[is_single], to, settings)
            except ExportError as error:
                found = {"refused": str(error)}
            results.add(model=name, how=how, seconds=time.monotonic() - began, **found)
            print(f"{name:30} {how:18} {found}", flush=True)


def render(results):
    """The page from all stored measurements."""
    lines, refused = [], {}
    for how in HOW:
        done = results.measurements(how=how)
        ran = [m for m in done if "rows" in m]
        for m in done:
            if "refused" in m:
                refused.setdefault(m["refused"], []).append(f"{m['model']} ({how})")
        if ran:
            lines.append(
                [how, ", ".join(sorted({m["runtime"] for m in ran})), f"{len(ran)} of {len(NAMES)}",
                 sum(m["is_exact"] for m in ran), f"{sum(m['rows'] for m in ran):,}",
                 sum(m["other_class"] for m in ran), sum(m["other_values"] for m in ran)]
            )  # fmt: skip
    wrong = [m for m in results.measurements() if m.get("other_class") or m.get("other_values")]
    head = ["export", "runtime", "models", "to the bit", "rows", "other class", "other values"]
    body = [
        "Every kind of model, adversarial rows, what the export says beside what the model says. "
        "What is compared how is said in the script.",
        markdown(head, lines),
        "No row differs." if not wrong else "Rows differ in "
        + ", ".join(f"{m['model']} ({m['how']})" for m in wrong) + ".",
    ]  # fmt: skip
    if refused:
        listed = [[why, ", ".join(who)] for why, who in refused.items()]
        body += ["## Refused, with this reason", markdown(["reason", "models"], listed)]
    results.write("Exports beside their models", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=NAMES, choices=NAMES, metavar="MODEL")
    parser.add_argument("--targets", nargs="+", default=list(HOW), choices=list(HOW))
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--fresh", action="store_true", help="measure the chosen ones anew")
    parser.add_argument("--render", action="store_true", help="the page alone")
    arguments = parser.parse_args()
    results = measure.Results("equality")
    if arguments.fresh:
        results.drop(lambda m: m["model"] in arguments.models and m["how"] in arguments.targets)
    if not arguments.render:
        ends = time.monotonic() + 60 * arguments.minutes
        run(results, arguments.models, arguments.targets, arguments.rows, ends)
    render(results)


if __name__ == "__main__":
    main()
