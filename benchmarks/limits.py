"""Distance to the limit: each stage of the engine beside what the machine could do at best.

The limit of a stage is the bytes that it must touch over the measured bandwidth of one core, or
the operations that it must do over their measured rate, whichever takes longer. Rates are measured
here, in the same run, by plain NumPy on the same sizes; a stage is timed through the engine.

    python benchmarks/limits.py
    python benchmarks/limits.py --sets letter
"""

import argparse

import measure
import numpy as np
from measure import markdown

import hedgerow
from hedgerow._engine import Dataset, GrowParams, PackedGraphs, grow

# Numbers of the arrays that rates are measured on: 32 MB of double precision in memory, and a
# quarter of a megabyte in the second-level cache.
MADE, NEAR = 1 << 22, 1 << 15


def rates():
    """What one core can do: bytes a second, counted cells a second, operations a second."""
    rng = np.random.default_rng(0)
    numbers = rng.random(MADE)
    to = np.empty_like(numbers)
    copied = 2 * numbers.nbytes / measure.seconds(lambda: np.copyto(to, numbers))
    codes = rng.integers(0, 255, NEAR)
    counted = NEAR / measure.seconds(lambda: np.bincount(codes, minlength=256), most=500)
    A = rng.random((512, 512), dtype="float32")
    products = 2 * 512**3 / measure.seconds(lambda: A @ A)
    near, small = rng.permutation(NEAR), rng.random(NEAR)
    fetched = NEAR / measure.seconds(lambda: small.take(near, mode="clip"), most=500)
    return {"copy": copied, "count": counted, "product": products, "fetch": fetched}


def stages(name, rate):
    """Name, what is done, seconds at the limit, and seconds of the engine, for each stage."""
    table = measure.read_table(name)
    X, train = np.ascontiguousarray(table.view("one-hot"), "float32"), table.split()[0]
    X, y = X[train], table.y[train].astype(np.int32)
    n, width = X.shape
    n_classes = int(y.max()) + 1
    cells = n * width

    def binned():
        data = Dataset(n)
        data.append_matrix(X, 255, 1)
        return data

    data = binned()

    def grown(**limits):
        return grow(data, None, y, None, GrowParams(n_classes=n_classes, **limits), 1)

    deep, whole = grown(max_depth=6), grown()
    packed = PackedGraphs([whole])
    forest = hedgerow.RandomForestClassifier(50, random_state=0, n_jobs=1).fit(X, y)
    one, six = (
        measure.seconds(lambda: grown(max_depth=1)),
        measure.seconds(lambda: grown(max_depth=6)),
    )
    grown_out = measure.seconds(grown)
    visits = float(whole.decision_path(X)[0][-1])
    forest_visits = float(sum(m.decision_path(X).sum() for m in forest.estimators_))
    deep_rows = float((deep.n_samples * (deep.left >= 0)).sum())
    all_rows = float((whole.n_samples * (whole.left >= 0)).sum())
    embedding = hedgerow.LeafMeansEmbedding(n_jobs=1, random_state=0).fit(X, y)
    anchors = embedding.transform(X[:2]).shape[1]
    return [
        ("binning", f"{cells:.3g} numbers read and written twice, and sorted by bins",
         max(2 * (4 + 1) * cells / rate["copy"], cells / rate["count"]),
         measure.seconds(binned)),
        ("histograms and partition, first split", f"{cells:.3g} cells counted",
         cells / rate["count"], one),
        ("histograms and partition, six levels",
         f"{deep_rows * width / 2:.3g} cells counted: the smaller child of each node",
         (n + (deep_rows - n) / 2) * width / rate["count"], six),
        ("small nodes: the levels below", f"{(all_rows - deep_rows) * width:.3g} cells counted",
         (all_rows - deep_rows) * width / rate["count"], max(grown_out - six, 0.0)),
        ("routing, one tree", f"{visits:.3g} nodes visited", visits / rate["fetch"],
         measure.seconds(lambda: packed.predict_class(X, 1))),
        ("routing, 50 trees", f"{forest_visits:.3g} nodes visited",
         forest_visits / rate["fetch"], measure.seconds(lambda: forest.predict(X))),
        ("embedding's products", f"{2 * cells * anchors:.3g} operations",
         2 * cells * anchors / rate["product"], measure.seconds(lambda: embedding.transform(X))),
    ]  # fmt: skip


def run(name, results):
    """All stages on one set."""
    rate = rates()
    for stage, work, limit, taken in stages(name, rate):
        results.add(set=name, stage=stage, work=work, limit=limit, seconds=taken, **rate)
        print(f"{name:10} {stage:40} {taken / limit:.1f}x the limit", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    rows = [
        [m["set"], m["stage"], m["work"], 1e3 * m["limit"], 1e3 * m["seconds"],
         f"{m['seconds'] / m['limit']:.1f}x"]
        for m in results.measurements()
    ]  # fmt: skip
    rate = {what: results.median(what) for what in ("copy", "count", "fetch", "product")}
    body = [
        "One thread, one run. What this core does at best, measured by NumPy in the same run: "
        f"{rate['copy'] / 1e9:.1f} GB/s copied, {rate['count'] / 1e9:.2f} billion cells counted a "
        f"second, {rate['fetch'] / 1e9:.2f} billion numbers fetched a second at random places of a "
        f"quarter of a megabyte, {rate['product'] / 1e9:.0f} billion operations a second in a "
        "product of matrices of single precision. A stage below 1x does less work than is counted "
        "here, by subtraction of siblings, by leaving out constant columns, or several at a time.",
        markdown(["set", "stage", "work", "limit, ms", "taken, ms", "distance"], rows),
    ]
    results.write("Distance to the limit", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["letter", "adult"])
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("limits")
    if not arguments.render:
        results.drop(lambda m: m["set"] in arguments.sets)
        for name in arguments.sets:
            run(name, results)
    render(results)


if __name__ == "__main__":
    main()
