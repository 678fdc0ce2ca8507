"""Exports in their real runtimes: what they say of rows, and how long they take."""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

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
        ran = subprocess.run([node, "run.mjs"], cwd=folder, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"Node failed: {ran.stderr.strip()}")
        version, nanoseconds, _ = json.loads(ran.stdout)
        values = np.fromfile(place / "values").reshape(len(matrix), program.n_values)
        chosen = np.fromfile(place / "chosen", dtype=np.int32)
    named = None if program.outputs[0].classes is None else chosen
    return Ran(f"Node {version}", values, named, nanoseconds * 1e-9)
