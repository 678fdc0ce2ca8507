"""The same work on two builds of hedgerow, in turns: is anything slower than before?

    python benchmarks/versions.py OLD_PYTHON NEW_PYTHON --repeats 5

Both are interpreters in whose environments a build is installed. Each keeps one process per piece
of work; the two take turns, so that a slow minute of the machine hits both. Prints and writes
``results/versions.md``: CPU seconds of both and their ratio. Work that ends in other
predictions than before is marked.
"""

import argparse
import json
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOLERANCE = 1.02  # beyond, the new build is called slower

# Name -> (data set, rows or None, program). The program leaves a function `work` that returns
# predictions; it must run on both builds.
WORK = {
    "CART letter": ("letter", None, "work = lambda: h.DecisionTreeClassifier().fit(X, y)"),
    "CART adult frame": ("adult", None, "work = lambda: h.DecisionTreeClassifier().fit(frame, y)"),
    "CART california": (
        "california_housing",
        None,
        "work = lambda: h.DecisionTreeRegressor().fit(X, y)",
    ),
    "CART mnist": ("mnist", 20000, "work = lambda: h.DecisionTreeClassifier().fit(X, y)"),
    "CART mnist best-first": (
        "mnist",
        20000,
        "work = lambda: h.DecisionTreeClassifier(max_leaf_nodes=500).fit(X, y)",
    ),
    "forest letter": (
        "letter",
        None,
        "work = lambda: h.RandomForestClassifier(20, random_state=0).fit(X, y)",
    ),
    "forest adult frame": (
        "adult",
        None,
        "work = lambda: h.RandomForestClassifier(20, random_state=0).fit(frame, y)",
    ),
    "forest california": (
        "california_housing",
        None,
        "work = lambda: h.RandomForestRegressor(20, random_state=0).fit(X, y)",
    ),
    "extra trees letter": (
        "letter",
        None,
        "work = lambda: h.ExtraTreesClassifier(20, random_state=0).fit(X, y)",
    ),
    "Tree in Tree letter": ("letter", None, "work = lambda: h.TreeInTreeClassifier().fit(X, y)"),
    "Tree in Tree adult 40": (
        "adult",
        None,
        "work = lambda: h.TreeInTreeClassifier(max_splits=40).fit(frame, y)",
    ),
    "TAO letter": ("letter", None, "work = lambda: h.TAOTreeClassifier(max_depth=8).fit(X, y)"),
    "mean margin letter": (
        "letter",
        None,
        "work = lambda: h.MeanMarginTreeClassifier().fit(X, y)",
    ),
    "naive graph optdigits": (
        "optdigits",
        None,
        "work = lambda: h.NaiveDecisionGraphClassifier().fit(X, y)",
    ),
    "mixed forest letter": (
        "letter",
        6000,
        "work = lambda: h.HeterogeneousForestClassifier(n_estimators=10, random_state=0).fit(X, y)",
    ),
    "cascade optdigits": (
        "optdigits",
        None,
        "work = lambda: h.CascadeForestClassifier(n_trees=20, max_layers=2, random_state=0)"
        ".fit(X, y)",
    ),
    "embedding letter": (
        "letter",
        None,
        "work = lambda: h.TreeEmbeddingClassifier(random_state=0).fit(X, y)",
    ),
    "predict forest letter": (
        "letter",
        None,
        "m = h.RandomForestClassifier(50, random_state=0).fit(X, y)\nwork = lambda: m.predict(X)",
    ),
    "predict tree adult frame": (
        "adult",
        None,
        "m = h.DecisionTreeClassifier().fit(frame, y)\nwork = lambda: m.predict(frame)",
    ),
    "fit_within adult 40": (
        "adult",
        12000,
        "work = lambda: h.fit_within(frame, y, max_splits=40)",
    ),
}

WORKER = """
import json, sys, time, zlib
import numpy as np, pandas as pd
import hedgerow as h
folder, name, rows, program = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
data = pd.read_parquet(f"{folder}/{name}.parquet")
data = data.drop(columns=["split"], errors="ignore")
if rows:
    data = data.sample(rows, random_state=0).reset_index(drop=True)
y = data.pop("target").to_numpy()
frame = data
X = np.ascontiguousarray(pd.DataFrame({c: s.cat.codes if s.dtype == "category" else s
                                       for c, s in data.items()}).to_numpy(np.float32))
exec(program)
for line in sys.stdin:
    began, cpu = time.perf_counter(), time.process_time()
    found = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    if hasattr(found, "predict"):
        found = found.predict(frame if "fit(frame" in program or "fit_within" in program else X)
    found = np.asarray(found)
    code = zlib.crc32(np.ascontiguousarray(found.astype(str) if found.dtype == object else found))
    print("measured", json.dumps([seconds, cpu, code]), flush=True)
"""


class Build:
    """One interpreter with a build of hedgerow, at one piece of work."""

    def __init__(self, python, folder, work):
        name, rows, program = work
        command = [python, "-c", WORKER, str(folder), name, str(rows or 0), program]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self):
        """Wall seconds, CPU seconds and a code of the predictions."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        for line in self.process.stdout:  # an editable install prints lines of its own
            if line.startswith("measured "):
                return json.loads(line.removeprefix("measured "))
        raise SystemExit("a worker ended before its work was done")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def _turn(builds, new_first):
    """Both builds once, in either order: the second of two is often slower on a busy machine."""
    order = builds[::-1] if new_first else builds
    found = {build: build.run() for build in order}
    return [found[build] for build in builds]


def measure(name, old, new, folder, repeats):
    """One row of the table: medians of CPU seconds, their ratio, whether predictions agree."""
    builds = [Build(python, folder, WORK[name]) for python in (old, new)]
    try:
        for build in builds:
            build.run()  # imports and first-call set-up
        turns = [_turn(builds, new_first=turn % 2 == 1) for turn in range(repeats)]
    finally:
        for build in builds:
            build.close()
    before, after = (statistics.median(turn[k][1] for turn in turns) for k in (0, 1))
    quickest = [min(turn[k][1] for turn in turns) for k in (0, 1)]
    return {
        "work": name,
        "before": before,
        "after": after,
        "ratio": after / before,
        "quickest": quickest[1] / quickest[0],
        "same": all(turn[0][2] == turn[1][2] for turn in turns),
    }


def is_slower(row):
    return min(row["ratio"], row["quickest"]) > TOLERANCE


def page(rows, arguments):
    lines = [
        "# Before and after",
        "",
        f"`python benchmarks/versions.py OLD NEW --repeats {arguments.repeats}`, "
        f"{datetime.now(UTC):%Y-%m-%d}, commits {arguments.commits or 'not given'}; one thread, "
        f"CPU seconds of {arguments.repeats} turns whose order alternates. Slower is what is "
        "slower by the medians and by the quickest runs.",
        "",
        "| work | before, median s | after, median s | after/before | quickest | predictions |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        mark = " **slower**" if is_slower(row) else ""
        same = "same" if row["same"] else "**differ**"
        lines.append(
            f"| {row['work']} | {row['before']:.4f} | {row['after']:.4f} | {row['ratio']:.3f}"
            f"{mark} | {row['quickest']:.3f} | {same} |"
        )
    slower = sum(map(is_slower, rows))
    lines += ["", f"{slower} of {len(rows)} are slower than {TOLERANCE:g} times before."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--work", nargs="*", default=list(WORK))
    parser.add_argument("--commits", help="what is compared, for the page")
    arguments = parser.parse_args()
    from hedgerow.datasets.folder import data_folder

    rows = []
    for name in arguments.work:
        rows.append(measure(name, arguments.old, arguments.new, data_folder(), arguments.repeats))
        print(rows[-1], file=sys.stderr, flush=True)
    text = page(rows, arguments)
    (HERE / "results" / "versions.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
