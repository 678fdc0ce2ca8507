"""hedgerow.dask on a cluster of this machine against the local fit, LightGBM and XGBoost.

flights_3m as a Dask data frame that the workers hold; a worker has one thread. Contenders take
turns. "by counts": the rows stay on their workers; nodes of more than a hundredth of the rows are
split by counts that are added up, smaller ones gathered.

    python benchmarks/dask_scale.py
    python benchmarks/dask_scale.py --rows 300000 --repeats 1
    python benchmarks/dask_scale.py --render         # only write the page again
"""

# ruff: noqa: E402 (what the imports find is set before them)

import sys

# Dask looks for a package called sparse, and would find the script of that name in this folder.
sys.modules["sparse"] = None

import argparse
import time

import measure
import numpy as np
from measure import markdown, show

import hedgerow
from hedgerow import dask as on_dask

SET, PARTITIONS, TREES, DEPTH = "flights_3m", 8, 20, 12
SHARE = 100  # a node of a share of the rows smaller than one in this is gathered


def contenders(n_workers):
    """Name -> (fit on the cluster, fit here with as many threads)."""
    forest = {"n_estimators": TREES, "max_depth": DEPTH, "random_state": 0}
    tree = {"max_depth": DEPTH}
    here = {"n_jobs": n_workers}
    found = {
        "tree": (on_dask.DecisionTreeClassifier(**tree),
                 hedgerow.DecisionTreeClassifier(**tree, **here)),
        "tree by counts": (on_dask.DecisionTreeClassifier(**tree),
                           hedgerow.DecisionTreeClassifier(**tree, **here)),
        "forest": (on_dask.RandomForestClassifier(**forest),
                   hedgerow.RandomForestClassifier(**forest, **here)),
        "forest by counts": (on_dask.RandomForestClassifier(**forest, keyed_draws=True),
                             hedgerow.RandomForestClassifier(**forest, **here, keyed_draws=True)),
    }  # fmt: skip
    boosted = {"n_estimators": TREES, "n_jobs": n_workers}
    try:
        import lightgbm

        own = {"num_leaves": 255, "verbosity": -1} | boosted
        found["lightgbm"] = lightgbm.DaskLGBMClassifier(**own), lightgbm.LGBMClassifier(**own)
    except ImportError:
        print("lightgbm is not installed and takes no part")
    try:
        import xgboost
        from xgboost import dask as xgboost_dask

        own = {"max_depth": 8, "enable_categorical": True, "tree_method": "hist"} | boosted
        found["xgboost"] = xgboost_dask.DaskXGBClassifier(**own), xgboost.XGBClassifier(**own)
    except ImportError:
        print("xgboost is not installed and takes no part")
    return found


def counted(graph, n_rows, n_counts):
    """How often a tree by counts asks all workers, for how many nodes, and the bytes of each."""
    depth = np.zeros(graph.n_nodes, dtype=int)
    for node in range(graph.n_nodes):  # numbered in preorder
        if graph.left[node] >= 0:
            depth[graph.left[node]] = depth[graph.right[node]] = depth[node] + 1
    large = graph.n_samples > n_rows // SHARE
    return {
        "levels": int(depth[large].max()) + 1,
        "nodes": int(large.sum()),
        "node bytes": 8 * n_counts,
    }


def run(results, rows, workers, repeats):
    import dask
    import dask.dataframe as dd
    import distributed

    table = measure.read_table(SET)
    rows = min(rows or len(table.y), len(table.y))
    frame = table.frame.iloc[:rows].reset_index(drop=True)
    late = (table.y[:rows] > np.median(table.y)).astype(np.int64)
    for n_workers in workers:
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            X = dd.from_pandas(frame, npartitions=PARTITIONS).persist()
            y = dd.from_pandas(frame[[]].assign(late=late)["late"], npartitions=PARTITIONS)
            y = y.persist()
            distributed.wait([X, y])
            for turn in range(repeats):
                for name, (remote, here) in contenders(n_workers).items():
                    limit = rows // SHARE if "by counts" in name else 1 << 40
                    with dask.config.set({"hedgerow.rows-at-once": limit}):
                        begin = time.perf_counter()
                        remote.fit(X, y)
                        on_cluster = time.perf_counter() - begin
                    begin = time.perf_counter()
                    here.fit(frame, late)
                    local = time.perf_counter() - begin
                    facts = {}
                    if name == "tree by counts":
                        data = hedgerow.Dataset.from_batches([(frame, late)]).bins(255, 1)
                        n_counts = 2 * sum(data.n_bins(f) + 1 for f in range(data.n_features))
                        facts = counted(remote.graph_, rows, n_counts)
                    if isinstance(here, hedgerow.DecisionTreeClassifier):
                        assert remote.graph_.n_nodes == here.graph_.n_nodes
                    elif isinstance(here, hedgerow.RandomForestClassifier):
                        assert remote.forest_.n_nodes == here.forest_.n_nodes
                    results.add(
                        rows=rows, workers=n_workers, contender=name, turn=turn, cluster=on_cluster,
                        local=local, **facts,
                    )  # fmt: skip
                    print(n_workers, name, show(on_cluster), show(local), facts, flush=True)
            client.cancel([X, y])


def render(results):
    """The Markdown page from all stored measurements."""
    rows, body = [], []
    known = results.measurements()
    for n in sorted({m["rows"] for m in known}):
        for workers in sorted({m["workers"] for m in known}):
            for name in dict.fromkeys(m["contender"] for m in known):
                found = {"rows": n, "workers": workers, "contender": name}
                times = [results.median(what, **found) for what in ("cluster", "local")]
                if all(times):
                    count = len(results.measurements(**found))
                    rows.append([f"{n:,}", workers, name, count, *times, times[0] / times[1]])
    header = ["rows", "workers", "contender", "runs", "on the cluster, s", "here, s",
              "overhead factor"]  # fmt: skip
    body.append(
        f"{SET}, late or not; {PARTITIONS} partitions that the workers hold; a worker has one "
        f"thread, the local fit as many threads as there are workers. Trees of depth {DEPTH}, "
        f"{TREES} trees in forests and boosted sums (LightGBM: 255 leaves, XGBoost: depth 8). All "
        "workers share this machine, so that more of them than cores bring nothing. Times hold "
        "everything from the partitions to the model."
    )
    body.append(markdown(header, rows))
    for m in [m for m in known if "levels" in m and m["turn"] == 0]:
        body.append(
            f"A tree by counts of {m['rows']:,} rows on {m['workers']} workers asks all of them "
            f"{m['levels']} times, for {m['nodes']} nodes of {m['node bytes'] / 1e3:.1f} kB each: "
            f"{m['nodes'] * m['node bytes'] / 1e6:.2f} MB from each partition in all."
        )
    results.write("On a Dask cluster", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="of the set's; all")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("dask_scale")
    if not arguments.render:
        run(results, arguments.rows, arguments.workers, arguments.repeats)
    render(results)


if __name__ == "__main__":
    main()
