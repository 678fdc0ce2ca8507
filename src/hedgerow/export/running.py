"""Exports in their real runtimes: what they say of rows, and how long they take."""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.export.facts import as_written
from hedgerow.export.javascript import literal
from hedgerow.export.program import Program

_NODE = """\
import {writeFileSync} from "node:fs";
import * as model from "./model.mjs";
import {rows} from "./rows.mjs";
const answer = model.predictProba ?? model.predict;
for (const row of rows.slice(0, 1000)) answer(row);
const began = process.hrtime.bigint();
const answers = rows.map((row) => answer(row));
const nanoseconds = Number(process.hrtime.bigint() - began);
const chosen = model.classes
  ? rows.map((row) => model.classes.findIndex((label) => Object.is(label, model.predict(row))))
  : [];
writeFileSync("values", Float64Array.from(answers.flat()));
writeFileSync("chosen", Int32Array.from(chosen));
console.log(JSON.stringify([process.version, nanoseconds, model.selfTest()]));
"""
_PYTHON = """\
import array, json, platform, time
import model
with open("rows.json") as file:
    rows = json.load(file)
answer = getattr(model, "predict_proba", None) or model.predict
began = time.perf_counter()
answers = [answer(row) for row in rows]
seconds = time.perf_counter() - began
if isinstance(answers[0], list):
    answers = [value for values in answers for value in values]
classes = [(type(label), label) for label in getattr(model, "CLASSES", ())]
labels = map(model.predict, rows) if classes else ()
chosen = [classes.index((type(label), label)) for label in labels]
with open("values", "wb") as file:
    file.write(array.array("d", answers).tobytes())
with open("chosen", "wb") as file:
    file.write(array.array("i", chosen).tobytes())
model.self_test()
print(json.dumps([platform.python_version(), seconds]))
"""


class RuntimeMissingError(RuntimeError):
    """A runtime that is not installed."""


@dataclass(frozen=True, eq=False)
class Ran:
    """What an export said.

    Attributes
    ----------
    runtime : str
        With its version.
    values : ndarray of shape (n_rows, n_values)
    chosen : ndarray of shape (n_rows,) or None
        The places of the classes that it named.
    seconds : float
        For all rows.
    """

    runtime: str
    values: np.ndarray
    chosen: np.ndarray | None
    seconds: float


def run_python(text: str, program: Program, matrix: np.ndarray, **settings: Any) -> Ran:
    """Rows through a file in a Python of its own, without other packages."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.py").write_text(text)
        (place / "rows.json").write_text(json.dumps(as_written(program, matrix)))
        (place / "run.py").write_text(_PYTHON)
        version, seconds = json.loads(_output([sys.executable, "-S", "run.py"], folder, "Python"))
        return Ran(f"Python {version}", *_results(place, program, len(matrix)), seconds)


def run_javascript(text: str, program: Program, matrix: np.ndarray) -> Ran:
    """Rows through a module in Node; its self-test runs as well."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeMissingError("Node is not installed, which runs JavaScript: install nodejs.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.mjs").write_text(text)
        (place / "rows.mjs").write_text(
            f"export const rows = {literal(as_written(program, matrix))};\n"
        )
        (place / "run.mjs").write_text(_NODE)
        version, nanoseconds, _ = json.loads(_output([node, "run.mjs"], folder, "Node"))
        results = _results(place, program, len(matrix))
        return Ran(f"Node {version}", *results, nanoseconds * 1e-9)


def _output(command: list[str], folder: str, runtime: str) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{runtime} failed: {ran.stderr.strip()}")
    return ran.stdout


def _results(folder: Path, program: Program, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The values and the classes that a program left in two files."""
    values = np.fromfile(folder / "values").reshape(n_rows, program.n_values)
    if program.outputs[0].classes is None:
        return values, None
    return values, np.fromfile(folder / "chosen", dtype=np.int32)
