"""Data larger than memory: a Parquet file of mixed columns, from its reading to fitted models.

Steps run in processes of their own, so that a long run can be taken in parts: `generate` writes the
file; `read` reads it with pyarrow alone; `bin` makes codes in a file; `tree`, `forest` and `graph`
are fitted on these; `lightgbm` (Sequence) and `xgboost` (external memory) read the same file and
grow as many trees of as many leaves as the forest has trees.

    python benchmarks/scale.py --rows 2000000
    python benchmarks/scale.py --rows 100000000 --folder scratch --steps generate read bin
    python benchmarks/scale.py --rows 100000000 --folder scratch --steps tree forest
    python benchmarks/scale.py --render            # only write the page again
"""

import argparse
import contextlib
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import measure
import numpy as np
from measure import markdown

import hedgerow

STEPS = ("generate", "read", "bin", "tree", "forest", "graph", "lightgbm", "xgboost")
BATCH = 1_000_000
CATEGORIES = (3, 12, 50, 200)
DEPTH, LEAVES, TREES = 10, 256, 20


def batch(seed, n):
    """Rows as an Arrow table: 10 real columns, two with gaps, 6 whole ones, 4 of words."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    columns = {f"real{i}": rng.standard_normal(n, dtype=np.float32) for i in range(8)}
    for i in (8, 9):
        gaps = rng.random(n) < 0.1 * (i - 7)
        columns[f"real{i}"] = pa.array(rng.random(n), mask=gaps)
    for i in range(6):
        columns[f"whole{i}"] = rng.integers(0, 10 ** (1 + i), n, dtype=np.int32)
    for i, k in enumerate(CATEGORIES):
        words = [f"word {word}" for word in range(k)]
        codes = rng.integers(0, k, n, dtype=np.int32)
        columns[f"words{i}"] = pa.DictionaryArray.from_arrays(codes, words)
    score = columns["real0"] * columns["real1"] + columns["whole1"] / 50.0 - 1
    score += np.asarray(columns["words2"].indices) % 5 == 0
    score += columns["real2"] > 0.5
    columns["target"] = (score + rng.standard_normal(n) > 0.7).astype(np.int8)
    return pa.table(columns)


def generate(path, codes, rows):
    import pyarrow.parquet as pq

    with contextlib.ExitStack() as stack:
        writer = None
        for seed, first in enumerate(range(0, rows, BATCH)):
            table = batch(seed, min(BATCH, rows - first))
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(path, table.schema))
            writer.write_table(table)
    return {"disk": path.stat().st_size}


def read(path, codes, rows):
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches(BATCH // 2):
            pass
    return {"disk": path.stat().st_size}


def bin_(path, codes, rows):
    codes.unlink(missing_ok=True)
    data = hedgerow.Dataset.from_parquet(path, target="target", file=codes, n_jobs=-1)
    return {"disk": codes.stat().st_size, "rank error": data.rank_error}


def fitted(model):
    """A step that fits a model on the file of codes."""

    def step(path, codes, rows):
        model.fit(hedgerow.Dataset.open(codes))
        return {"disk": codes.stat().st_size, "splits": int(model.n_splits_)}

    return step


def as_numbers(table):
    """Features and targets of an Arrow table for the peers: categories as their codes."""
    columns = []
    for name in table.schema.names[:-1]:
        column = table[name]
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        indices = column.indices if hasattr(column, "indices") else column
        columns.append(indices.to_numpy(zero_copy_only=False).astype(np.float32))
    return np.column_stack(columns), table["target"].to_numpy()


def lightgbm(path, codes, rows):
    import lightgbm as lgb
    import pyarrow.parquet as pq

    class Rows(lgb.Sequence):
        """Rows of the file; a row group is kept while rows of it are asked for."""

        def __init__(self):
            self.batch_size = BATCH // 2
            self.file = pq.ParquetFile(path)
            self.at, self.group = -1, None

        def __len__(self):
            return self.file.metadata.num_rows

        def of_group(self, at):
            if at != self.at:
                self.at, self.group = at, as_numbers(self.file.read_row_group(at))[0]
            return self.group

        def __getitem__(self, index):
            if isinstance(index, slice):
                first, last = index.start, index.stop
                parts = []
                while first < last:
                    group = self.of_group(first // BATCH)
                    begin = first % BATCH
                    parts.append(group[begin : begin + last - first])
                    first += len(parts[-1])
                return np.concatenate(parts).astype(np.float64)
            return self.of_group(index // BATCH)[index % BATCH].astype(np.float64)

    y = pq.read_table(path, columns=["target"])["target"].to_numpy()
    words = list(range(16, 20))
    parameters = {"objective": "binary", "num_leaves": LEAVES, "num_threads": os.cpu_count(),
                  "verbosity": -1}  # fmt: skip
    data = lgb.Dataset(Rows(), y, categorical_feature=words, params=parameters)
    lgb.train(parameters, data, num_boost_round=TREES)
    return {"disk": path.stat().st_size}


def xgboost(path, codes, rows):
    import pyarrow.parquet as pq
    import xgboost as xgb

    class Batches(xgb.DataIter):
        """The file a batch at a time; XGBoost's own pages go to a folder beside it."""

        def __init__(self):
            self.batches = None
            super().__init__(cache_prefix=str(codes.with_name("xgboost")))

        def next(self, input_data):
            if self.batches is None:
                self.batches = pq.ParquetFile(path).iter_batches(BATCH)
            given = next(self.batches, None)
            if given is None:
                return False
            X, y = as_numbers(given)
            input_data(data=X, label=y)
            return True

        def reset(self):
            self.batches = None

    data = xgb.ExtMemQuantileDMatrix(Batches(), max_bin=256, nthread=os.cpu_count())
    parameters = {"objective": "binary:logistic", "max_leaves": LEAVES, "max_depth": 0,
                  "grow_policy": "lossguide", "nthread": os.cpu_count()}  # fmt: skip
    xgb.train(parameters, data, num_boost_round=TREES)
    pages = sum(file.stat().st_size for file in codes.parent.glob("xgboost*"))
    return {"disk": path.stat().st_size + pages}


RUNS = {
    "generate": generate,
    "read": read,
    "bin": bin_,
    "tree": fitted(hedgerow.DecisionTreeClassifier(max_depth=DEPTH, n_jobs=-1)),
    "forest": fitted(
        hedgerow.RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=-1)
    ),
    "graph": fitted(hedgerow.TreeInTreeClassifier(C=1e-3, n_merges=2, n_rounds=2, n_jobs=-1)),
    "lightgbm": lightgbm,
    "xgboost": xgboost,
}


class OwnMemory:
    """Peak of the memory that is no mapped file, looked at every 20 ms."""

    def __enter__(self):
        self.peak, self.done = 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def look(self):
        while not self.done.wait(0.02):
            self.peak = max(self.peak, measure.resident("RssAnon"))

    def __exit__(self, *failure):
        self.done.set()
        self.thread.join()


def one(step, path, codes, rows):
    """A step, in a process of its own."""
    with OwnMemory() as own, measure.PeakMemory() as memory:
        begin, cpu = time.perf_counter(), time.process_time()
        found = RUNS[step](path, codes, rows)
        taken, busy = time.perf_counter() - begin, time.process_time() - cpu
    return found | {"seconds": taken, "cpu": busy, "own": own.peak, "resident": memory.peak}


def render(results):
    """The Markdown page from all stored measurements."""
    rows = []
    for n in sorted({m["rows"] for m in results.measurements()}):
        for step in STEPS:
            found = results.measurements(rows=n, step=step)
            if not found:
                continue
            taken = results.median("seconds", rows=n, step=step)
            last = found[-1]
            rows.append([
                f"{n:,}", step, len(found), taken, None if not taken else f"{n / taken:,.0f}",
                *[None if k not in last else last[k] / 1e9 for k in ("own", "resident", "disk")],
                last.get("error"),
            ])  # fmt: skip
    header = ["rows", "step", "runs", "seconds", "rows a second", "peak of own memory, GB",
              "peak with mapped files, GB", "file, GB", "failed"]  # fmt: skip
    body = [
        "20 columns: 10 real (two with gaps), 6 whole, 4 categories; two classes. `tree`: depth "
        f"{DEPTH}; `forest`: {TREES} trees of that depth; `graph`: Tree in Tree at C=1e-3, "
        f"two merges of two rounds; the peers boost {TREES} trees of {LEAVES} leaves, and their "
        "times hold their reading and binning. Own memory is without mapped files, which the "
        "system takes back when it needs to.",
        markdown(header, rows),
    ]
    for n in sorted({m["rows"] for m in results.measurements()}):
        pace = [results.median("seconds", rows=n, step=step) for step in ("bin", "read")]
        if all(pace):
            body.append(
                f"{n:,} rows: binning, which reads the file twice and writes the codes, takes "
                f"{pace[0] / pace[1]:.1f} times as long as pyarrow's reading alone."
            )
    results.write("Data larger than memory", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=STEPS)
    parser.add_argument("--folder", help="where the files are and stay; none: thrown away")
    parser.add_argument("--minutes", type=float, default=20, help="limit of a step")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("scale")
    if not arguments.render:
        folder = Path(arguments.folder or tempfile.mkdtemp())
        folder.mkdir(exist_ok=True)
        path, codes = folder / f"{arguments.rows}.parquet", folder / f"{arguments.rows}.codes"
        try:
            for step in arguments.steps:
                limit = 60 * arguments.minutes
                found = measure.in_child(one, step, path, codes, arguments.rows, timeout=limit)
                results.add(rows=arguments.rows, step=step, **found)
                print(step, found, flush=True)
        finally:
            if not arguments.folder:
                shutil.rmtree(folder)
    render(results)


if __name__ == "__main__":
    main()
