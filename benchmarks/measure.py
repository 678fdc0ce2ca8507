"""Measuring, shared by every benchmark: data, clocks, memory, fresh processes, result files.

Parts
-----
`Table`, `read_table` a data set, its splits and the forms in which it is given to a library
`seconds`           median time of a call, repeated while it is short
`PeakMemory`        memory that a block of code needed on top of what was there before
`trial`             everything measured of one model on one split
`in_child`          the same call in a fresh process, with a time limit
`Results`           measurements as JSON lines, from which the Markdown page is made

Import this module before NumPy: it holds every numeric library to one thread.
"""

# ruff: noqa: E402 (the limits must be set before the imports)

import os

for _name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
# Arrow's own pool keeps freed memory, which would hide what a fit needs afterwards.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

import contextlib
import ctypes
import gc
import importlib.metadata
import multiprocessing
import pickle
import platform
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from hedgerow._journal import Journal
from hedgerow.papers import study

RESULTS = Path(__file__).resolve().parent / "results"
REGRESSION = {"california_housing", "flights_3m"}
TEST_FRACTION = 0.25
PACKAGES = (
    "numpy", "scipy", "pandas", "scikit-learn", "ydf", "lightgbm", "xgboost", "catboost",
    "interpret-core", "imodels", "pystreed", "emlearn", "m2cgen",
    "tl2cgen", "lleaves", "onnxruntime", "skl2onnx", "shap", "mapie",
    "quantile-forest", "dask", "distributed", "pyarrow", "hedgerow",
)  # fmt: skip


# --- data ---------------------------------------------------------------------------------------


@dataclass
class Table:
    """A data set: features as a frame, target as numbers, row numbers of the official split."""

    name: str
    frame: pd.DataFrame
    y: np.ndarray
    official: tuple[np.ndarray, np.ndarray] | None
    views: dict = field(default_factory=dict, repr=False)

    @property
    def task(self):
        return "regression" if self.name in REGRESSION else "classification"

    @cached_property
    def categorical(self):
        return [c for c in self.frame if isinstance(self.frame[c].dtype, pd.CategoricalDtype)]

    def split(self, seed=None):
        """Row numbers (train, test): the official split for None, else random of the same size."""
        if seed is None and self.official:
            return self.official
        n = len(self.y)
        n_test = len(self.official[1]) if self.official else round(TEST_FRACTION * n)
        order = np.random.default_rng(seed or 0).permutation(n)
        return np.sort(order[n_test:]), np.sort(order[:n_test])

    def view(self, kind):
        """The features in one of the forms a library takes.

        one-hot   float32 matrix, a 0/1 column per category
        codes     float32 matrix, the category number as one column
        frame     the pandas frame as it is
        columns   dict of arrays (YDF): numbers as float32, categories as strings

        Without categorical columns the first three are the same float32 matrix.
        """
        if not self.categorical and kind != "columns":
            kind = "codes"
        if kind not in self.views:
            self.views[kind] = self._make_view(kind)
        return self.views[kind]

    def _make_view(self, kind):
        if kind == "columns":
            if not self.categorical:
                return {"x": self.view("codes")}
            return {c: self._column(c) for c in self.frame}
        if kind == "frame":
            return self.frame
        if kind == "one-hot":
            return pd.get_dummies(self.frame, columns=self.categorical).to_numpy("float32")
        codes = {c: self.frame[c].cat.codes for c in self.categorical}
        return self.frame.assign(**codes).to_numpy("float32")

    def _column(self, name):
        column = self.frame[name]
        if name in self.categorical:
            return column.astype(object).where(column.notna(), "").to_numpy(str)
        return column.to_numpy("float32")


def read_table(name):
    """Data set `name` of the folder HEDGEROW_DATA as a `Table`."""
    found = study.read(name, study.folder())
    official = None
    if found.split is not None:
        official = tuple(np.flatnonzero(found.split == part) for part in ("train", "test"))
    if name in REGRESSION:
        y = found.y.to_numpy("float64")
    else:
        y = np.unique(found.y.to_numpy(), return_inverse=True)[1].astype("int64")
    return Table(name, found.X, y, official)


def take(X, rows):
    """Rows of a view."""
    if isinstance(X, dict):
        return {name: column[rows] for name, column in X.items()}
    return X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows]


def shape(X):
    """Rows and columns of a view."""
    if isinstance(X, dict):
        first = next(iter(X.values()))
        return len(first), sum(c.shape[1] if c.ndim == 2 else 1 for c in X.values())
    return X.shape


# --- clocks and memory --------------------------------------------------------------------------


def seconds(call, at_least=0.3, most=15):
    """Median seconds of `call()`; repeated until `at_least` seconds or `most` calls have passed."""
    taken = []
    gc.collect()
    while not taken or (sum(taken) < at_least and len(taken) < most):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def row_microseconds(call, rows, at_least=0.3):
    """Median over passes of the mean microseconds of `call(row)` over `rows`."""
    for row in rows[:3]:
        call(row)

    def every_row():
        for row in rows:
            call(row)

    return 1e6 * seconds(every_row, at_least, most=100) / len(rows)


def score(task, y, prediction):
    """Accuracy, or R² for regression, in points (0 to 100)."""
    prediction = np.asarray(prediction)
    if task == "classification":
        return 100 * float(np.mean(prediction == y))
    return 100 * float(1 - np.sum((y - prediction) ** 2) / np.sum((y - y.mean()) ** 2))


class PeakMemory:
    """Context manager; `extra` is the peak resident memory inside minus that just before, in bytes.

    Linux counts the peak itself (VmHWM, started anew through clear_refs); where that is not to
    be had, a thread looks every millisecond. Memory that earlier work left free but not returned
    would be used again unseen, so measure in a fresh process.
    """

    def __enter__(self):
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        self.before = resident()
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self.poller = None
        except OSError:
            self.done, self.peak = threading.Event(), self.before
            self.poller = threading.Thread(target=self._poll, daemon=True)
            self.poller.start()
        return self

    def __exit__(self, *failure):
        if self.poller:
            self.done.set()
            self.poller.join()
        else:
            self.peak = resident("VmHWM")
        self.extra = max(0, self.peak - self.before)

    def _poll(self):
        while not self.done.wait(0.001):
            self.peak = max(self.peak, resident())


def resident(entry="VmRSS"):
    """Resident memory of this process in bytes, from /proc."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(entry):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {entry}.")


# --- one model on one split ---------------------------------------------------------------------


def trial(make, table, kind, split):
    """Fit `make()` on the train rows of a view of `table` and measure everything about it."""
    train, test = split
    X = table.view(kind)
    X_train, y_train = take(X, train), table.y[train]
    X_test, y_test = take(X, test), table.y[test]
    # Imports and first-call set-up are not what is measured.
    sample = np.random.default_rng(0).choice(train, min(1000, len(train)), replace=False)
    make().fit(take(X, sample), table.y[sample])
    with PeakMemory() as memory:
        start, start_cpu = time.perf_counter(), time.process_time()
        model = make().fit(X_train, y_train)
        fit, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    share = cpu / fit
    if fit < 0.3:
        fit = seconds(lambda: make().fit(X_train, y_train))
    rows, columns = shape(X_train)
    return {
        "rows": rows,
        "columns": columns,
        "fit": fit,
        "cpu": cpu,  # of the first fit alone
        "cores": share,
        "predict": seconds(lambda: model.predict(X_test)),
        "score": score(table.task, y_test, model.predict(X_test)),
        "row": row_microseconds(model.predict, [take(X_test, slice(i, i + 1)) for i in range(50)]),
        "fast row": fast_row_microseconds(model, take(X_test, slice(0, 50))),
        "pickle": len(pickle.dumps(model, protocol=5)),
        "memory": memory.extra,
    }


def fast_row_microseconds(model, X):
    """Microseconds of a row through `model.row_predictor()`, None where there is no such thing.

    It is called with one row as a 1-D float64 array; categories are their codes, as the model's
    schema gives them.
    """
    if not hasattr(model, "row_predictor"):
        return None
    encoded = model.schema_.encode(model, X) if isinstance(X, pd.DataFrame) else X
    rows = list(np.ascontiguousarray(encoded, dtype="float64"))
    predict_row = model.row_predictor()
    answers = [predict_row(row) for row in rows]
    if not np.allclose(answers, model.predict(X)):
        print(f"  note: row_predictor() and predict() of {type(model).__name__} differ")
    return row_microseconds(predict_row, rows)


# --- fresh processes ----------------------------------------------------------------------------


def in_child(function, *arguments, timeout=None):
    """`function(*arguments)` in a fresh process; a failure or a timeout is {"error": text}."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    # Not a daemon: joblib gives a daemon one thread only, whatever n_jobs says.
    child = context.Process(target=_answer, args=(sender, function, arguments))
    child.start()
    sender.close()
    try:
        if not receiver.poll(timeout):
            return {"error": f"stopped after {timeout:.0f} s"}
        return receiver.recv()
    except EOFError:
        child.join()
        return {"error": f"the process ended with code {child.exitcode}"}
    finally:
        child.kill()
        child.join()


def _answer(sender, function, arguments):
    try:
        sender.send(function(*arguments))
    except Exception as error:
        sender.send({"error": f"{type(error).__name__}: {error}"[:200]})


# --- results ------------------------------------------------------------------------------------


def environment():
    """Date, commit, command, machine and versions of this run; no path of the machine in it."""
    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "commit": commit(),
        "command": command,
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def commit():
    """The commit that is checked out, with a plus sign where sources differ from it."""
    call = ["git", "-C", str(RESULTS), "describe", "--always", "--exclude=*", "--dirty=+"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    return "unknown"


def processor():
    """Name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


@dataclass
class Results:
    """Measurements of all runs so far in `results/<name>.jsonl`, one JSON object per line.

    Each line carries the number of its run; a line with an "environment" describes a run.
    """

    name: str

    def __post_init__(self):
        self.journal = Journal(RESULTS / f"{self.name}.jsonl")
        self.run = 1 + max((line["run"] for line in self.lines), default=0)

    @property
    def lines(self):
        """All lines so far."""
        return self.journal.lines

    def add(self, **line):
        """Append one measurement; the first of a run is preceded by its environment."""
        if not any(known["run"] == self.run for known in self.lines):
            self.journal.append({"run": self.run, "environment": environment()})
        self.journal.append({"run": self.run, **line})

    def drop(self, unwanted):
        """Forget the measurements for which `unwanted(line)` holds, and runs left without any."""
        kept = [m for m in self.measurements() if not unwanted(m)]
        runs = {m["run"] for m in kept}
        self.journal.replace(
            [m for m in self.lines if m["run"] in runs and (m in kept or is_run(m))]
        )

    def measurements(self, **wanted):
        """Measurements whose fields have the `wanted` values."""
        return [
            line
            for line in self.lines
            if not is_run(line) and all(line.get(k) == v for k, v in wanted.items())
        ]

    def median(self, what, **wanted):
        """Median of field `what` over the wanted measurements, None if there are none."""
        values = self.values(what, **wanted)
        return statistics.median(values) if values else None

    def values(self, what, **wanted):
        """Field `what` of the wanted measurements that have it."""
        lines = self.measurements(**wanted)
        return [line[what] for line in lines if line.get(what) is not None]

    def disturbed(self):
        """A sentence on how often another program took part of the processor."""
        shares = self.values("cores", threads=1)
        short = sum(share < 0.9 for share in shares)
        return f"{short} of {len(shares)} fits with one thread got less than 90 % of a core."

    def write(self, title, body):
        """Write the Markdown page: title, how it was measured, `body`."""
        used = {m["run"] for m in self.measurements()}
        runs = [m["environment"] for m in self.lines if is_run(m) and m["run"] in used]
        if not runs:
            sys.exit(f"No measurements yet: {self.journal.path.name} is empty.")
        write_page(self.name, title, runs, body)


def write_page(name, title, runs, body):
    """Write `results/<name>.md`: title, how it was measured, `body`."""
    heads = [
        f"- `{run['command']}`, {run['date']}, commit {run.get('commit', 'not noted')}\n"
        f"- {run['machine']}\n- {run['versions']}"
        for run in runs
    ]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n\n".join([f"# {title}", *heads, *body]) + "\n")
    print(f"\nWritten: benchmarks/results/{name}.md")


def is_run(line):
    """Whether a line describes a run rather than a measurement."""
    return "environment" in line


def markdown(header, rows):
    """A Markdown table; None becomes a dash, floats are shortened."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(show(cell) for cell in line) + " |" for line in lines)


def show(value):
    """A table cell: three significant digits for numbers, a dash for None."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{digits}f}"


def times(slow, fast):
    """How many times faster `fast` is, as a cell."""
    if slow is None or not fast:
        return None
    return f"{slow / fast:.1f}x" if slow >= fast else f"{slow / fast:.2f}x"


def points(value):
    """A score in points, two decimals."""
    return None if value is None else f"{value:.2f}"


def mean(values):
    """Mean, None for nothing."""
    return statistics.mean(values) if values else None
