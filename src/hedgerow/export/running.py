"""Exports in their real runtimes: what they say of rows, and how long they take."""

import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow._version import __version__
from hedgerow.export.facts import UNSEEN, as_written
from hedgerow.export.javascript import literal
from hedgerow.export.plain_json import from_json
from hedgerow.export.program import Program
from hedgerow.export.reading import read
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.sql import to_sql, value_names
from hedgerow.export.sql_dialects import DIALECTS

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
_C = """\
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {{
  FILE *in = fopen("rows", "rb"), *values = fopen("values", "wb"), *chosen = fopen("chosen", "wb");
  const long n = {n_rows};
  long i, j;
  {row} *x = ({row} *)malloc((n * {n_features} + 1) * sizeof *x);
  double read;
  {value} p[{n_values}];
  volatile double kept = 0;
  for (i = 0; i < n * {n_features}; i++) {{
    if (fread(&read, sizeof read, 1, in) != 1) return 1;
    {store}
  }}
  clock_t began = clock();
  for (i = 0; i < n; i++) {{ {answer}; kept = p[0]; }}
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  for (i = 0; i < n; i++) {{
    {answer};
    for (j = 0; j < {n_values}; j++) {{ read = p[j]; fwrite(&read, sizeof read, 1, values); }}
    {choose}
  }}
  (void)kept;
  printf("[%.9g, %d]", seconds, {name}_self_test());
  return fclose(values) || fclose(chosen);
}}
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


def run_c(
    text: str,
    program: Program,
    matrix: np.ndarray,
    *,
    numbers: str = "double",
    leaves: str = "double",
    compiler: Sequence[str] | None = None,
    **settings: Any,
) -> Ran:
    """Rows through a header, compiled as C or by a compiler of C++; its self-test runs as well.

    Numbers that the header does not take, such as parts of whole ones, are rounded down.
    """
    command = list(compiler or [found_compiler(), "-std=c99", "-O2"])
    name = re.findall(r"(\w+)_self_test\(void\)", text)[0]
    is_class = program.outputs[0].classes is not None
    is_single, n = program.graph is not None and leaves != "uint8", program.n_values
    answer = f"{name}_predict{'_proba' if is_class else ''}(x + i * {program.n_features}, p)"
    if n == 1 and not is_class:
        answer = f"p[0] = {name}_predict(x + i * {program.n_features})"
    if leaves == "class":
        said = f"{name}_predict(x + i * {program.n_features})"
        answer = f"for (j = 0; j < {n}; j++) p[j] = j == {said}"
        leaves = "float"
    row = re.findall(r"numbers of type (\w+),", text)[0]
    store = f"x[i] = ({row})read;"
    if numbers == "ranks":
        store = f"x[i] = {name}_code(i % {program.n_features}, read);"
    elif numbers in ("int16", "int32"):
        store = f"x[i] = read != read ? {name.upper()}_MISSING : ({row})read;"
        most = np.iinfo(numbers).max
        matrix = np.clip(np.floor(matrix), -most, most)
    choose = (
        f"{{ const int place = {name}_predict(x + i * {program.n_features}); "
        "fwrite(&place, sizeof place, 1, chosen); }"
    )
    harness = _C.format(
        n_rows=len(matrix), n_features=program.n_features, n_values=n, name=name, row=row,
        value=leaves if is_single else "double", store=store, answer=answer,
        choose=choose if is_class else "",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        main = "run.cpp" if "++" in command[0] else "run.c"
        # The self-test is compiled without its main.
        (place / "model.h").write_text(
            text.replace("int main(void)", "static inline int unused(void)")
        )
        (place / main).write_text(harness)
        matrix.astype(np.float64).tofile(place / "rows")
        defined = f"-D{name.upper()}_TEST"
        _output([*command, defined, main, "-o", "run"], folder, command[0])
        seconds, n_wrong = json.loads(_output([str(place / "run")], folder, "the program"))
        if n_wrong:
            raise RuntimeError(f"{n_wrong} rows of the header's own test are wrong")
        version = _output([command[0], "-dumpfullversion", "-dumpversion"], folder, command[0])
        runtime = f"{Path(command[0]).name} {version.strip()}"
        return Ran(runtime, *_results(place, program, len(matrix)), seconds)


def run_sql(
    text: str, program: Program, matrix: np.ndarray, *, dialect: str = "duckdb", **settings: Any
) -> Ran:
    """Rows as a table through a query, and its self-test; PostgreSQL through psql."""
    settings.pop("keep", None)
    body, plain = (
        re.sub(r"\A(--.*\n)+", "", to_sql(program, dialect=dialect, keep=keep, **settings))
        for keep in ("_row", ())
    )
    if not text.endswith(plain):
        raise ValueError("the query is not what the model is written as today: write it again")
    names = [feature.name or f"x{f}" for f, feature in enumerate(program.features)]
    rows = as_written(program, matrix)
    test = to_sql(program, dialect=dialect, test=True)
    run = {"duckdb": _in_duckdb, "sqlite": _in_sqlite, "postgresql": _in_postgresql}[dialect]
    table = settings.get("table", "rows")
    runtime, found, seconds, n_wrong = run(body, test, table, names, program, rows)
    if n_wrong:
        raise RuntimeError(f"{n_wrong} rows of the query's own test are wrong")
    found.sort(key=lambda row: int(row[0]))
    n, classes = len(value_names(program)), program.outputs[0].classes
    values = np.array([row[-n:] for row in found], dtype=np.float64).reshape(len(rows), n)
    if classes is None:
        return Ran(runtime, values, None, seconds)
    place = {str(label): i for i, label in enumerate(classes)}
    # psql writes -2.0 as -2.
    place |= {str(c).removesuffix(".0"): i for i, c in enumerate(classes) if isinstance(c, float)}
    place |= {str(int(label)): i for i, label in enumerate(classes) if isinstance(label, bool)}
    place |= {{True: "t", False: "f"}[c]: i for i, c in enumerate(classes) if isinstance(c, bool)}
    return Ran(runtime, values, np.array([place[str(row[1])] for row in found]), seconds)


def run_json(text: str, program: Program, matrix: np.ndarray, **settings: Any) -> Ran:
    """Rows through the model that a text gives back, step by step."""
    again = read(from_json(text), output=program.output)
    began = time.perf_counter()
    values, decisions = evaluate(again, matrix)
    seconds = time.perf_counter() - began
    is_class = again.outputs[0].classes is not None
    chosen = answers(again, values, decisions)[0] if is_class else None
    return Ran(f"hedgerow {__version__}", values, chosen, seconds)


def run_onnx(
    content: bytes, program: Program, matrix: np.ndarray, *, numbers: str = "float", **settings: Any
) -> Ran:
    """Rows through ONNX Runtime on one thread."""
    try:
        import onnxruntime
    except ImportError:
        raise RuntimeMissingError(
            "ONNX Runtime is not installed: pip install onnxruntime."
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
    real = np.float32 if numbers == "float" else np.float64
    with np.errstate(over="ignore"):
        if len(session.get_inputs()) == 1 and session.get_inputs()[0].name == "X":
            given = {"X": matrix.astype(real)}
        else:
            rows = as_written(program, matrix)
            given = {}
            for f, feature in enumerate(program.features):
                column = [row[f] for row in rows]
                is_text = isinstance((feature.categories or (0,))[0], str)
                cells = [UNSEEN if x is None else x for x in column] if is_text else [
                    np.nan if x is None else x for x in column]  # fmt: skip
                kind = object if is_text else real
                given[feature.name or f"x{f}"] = np.array(cells, dtype=kind)[:, None]
    began = time.perf_counter()
    found = session.run(None, given)
    seconds = time.perf_counter() - began
    runtime = f"ONNX Runtime {onnxruntime.__version__}"
    values = np.asarray(found[-1], dtype=np.float64)
    classes = program.outputs[0].classes
    if classes is None:
        return Ran(runtime, values, None, seconds)
    place = {label: i for i, label in enumerate(classes)}
    return Ran(runtime, values, np.array([place[label] for label in found[0].tolist()]), seconds)


def _in_duckdb(
    query: str, test: str, table: str, names: list[str], program: Program, rows: list[list[Any]]
) -> tuple[str, list, float, int]:
    try:
        import duckdb
        import pyarrow as pa
    except ImportError as error:
        raise RuntimeMissingError(
            f"{error.name} is not installed: pip install duckdb pyarrow."
        ) from None
    columns = [
        pa.array([row[f] for row in rows], pa.float64() if feature.categories is None else None)
        for f, feature in enumerate(program.features)
    ]
    with duckdb.connect() as base:
        base.register(table, pa.table([range(len(rows)), *columns], names=["_row", *names]))
        began = time.perf_counter()
        found = base.execute(query).fetchall()
        seconds = time.perf_counter() - began
        wrong = base.execute(test).fetchall()
        return f"DuckDB {duckdb.__version__}", found, seconds, wrong[0][0]


def _in_sqlite(
    query: str, test: str, table: str, names: list[str], program: Program, rows: list[list[Any]]
) -> tuple[str, list, float, int]:
    sql = DIALECTS["sqlite"]
    listed = ", ".join(map(sql.identifier, names))
    base = sqlite3.connect(":memory:")
    try:
        base.execute(f"CREATE TABLE {sql.identifier(table)} (_row, {listed})")
        marks = ", ".join("?" * (len(names) + 1))
        base.executemany(
            f"INSERT INTO {sql.identifier(table)} VALUES ({marks})",
            ([i, *row] for i, row in enumerate(rows)),
        )
        began = time.perf_counter()
        found = base.execute(query).fetchall()
        seconds = time.perf_counter() - began
        wrong = base.execute(test).fetchall()
        return f"SQLite {sqlite3.sqlite_version}", found, seconds, wrong[0][0]
    finally:
        base.close()


def _in_postgresql(
    query: str, test: str, table: str, names: list[str], program: Program, rows: list[list[Any]]
) -> tuple[str, list, float, int]:
    """In a temporary table of the server that psql's own settings name (PGHOST, PGUSER, ...)."""
    psql = shutil.which("psql")
    if psql is None:
        raise RuntimeMissingError("psql is not installed, which asks PostgreSQL: install it.")
    sql = DIALECTS["postgresql"]
    columns = ["_row bigint"]
    for name, feature in zip(names, program.features, strict=True):
        categories = feature.categories or ()
        is_word = any(isinstance(category, str) for category in categories)
        is_bool = bool(categories) and all(isinstance(category, bool) for category in categories)
        kind = "text" if is_word else "boolean" if is_bool else "float8"
        columns.append(f"{sql.identifier(name)} {kind}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        with (place / "rows.csv").open("w", newline="", encoding="utf-8") as file:
            for i, row in enumerate(rows):
                cells = [
                    '""' if cell == "" else "" if cell is None else _cell(cell) for cell in row
                ]
                file.write(",".join([str(i), *cells]) + "\n")
        (place / "run.sql").write_text(
            f"CREATE TEMPORARY TABLE {sql.identifier(table)} ({', '.join(columns)});\n"
            f"\\copy {sql.identifier(table)} FROM '{place / 'rows.csv'}' WITH (FORMAT csv)\n"
            "CREATE TEMPORARY TABLE clock AS SELECT clock_timestamp() AS began;\n"
            f"CREATE TEMPORARY TABLE said AS {query}\n"
            "SELECT version(), extract(epoch FROM clock_timestamp() - began) FROM clock;\n"
            f"{test}\n"
            "\\copy said TO 'said.csv' WITH (FORMAT csv)\n",
            encoding="utf-8",
        )
        command = [
            psql,
            "-X",
            "-q",
            "-A",
            "-t",
            "-F",
            "|",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            "run.sql",
        ]
        lines = _output(command, folder, "PostgreSQL").strip().splitlines()
        version, seconds = lines[0].split("|")
        with (place / "said.csv").open(newline="", encoding="utf-8") as file:
            found = list(csv.reader(file))
        return " ".join(version.split()[:2]), found, float(seconds), int(lines[1])


def _cell(value: Any) -> str:
    text = repr(value) if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"'


def found_compiler() -> str:
    """A compiler of C: that of the environment variable CC, or the first there is."""
    names = [os.environ.get("CC", ""), "gcc", "clang", "cc"]
    for name in filter(None, names):
        if found := shutil.which(name):
            return found
    raise RuntimeMissingError(
        "There is no compiler of C here: install gcc or clang, or name it in CC."
    )


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
