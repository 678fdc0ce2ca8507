"""Shapley values of forests: hedgerow against shap's TreeExplainer.

Forests of 100 trees, hedgerow's and scikit-learn's, on the same training rows; each explains the
same test rows, by paths and against the same background rows, in turns. shap uses one thread.

    python benchmarks/attribution.py                  # letter and adult, some minutes
    python benchmarks/attribution.py --sets letter --rows 20
    python benchmarks/attribution.py --render         # the page again from the stored numbers
"""

import argparse
import time

import measure
import numpy as np
from measure import markdown, times
from sklearn.ensemble import RandomForestClassifier as Reference

import hedgerow

SETS = ("letter", "adult")
N_BACKGROUND = 20
MIN_SAMPLES_LEAF = 2
GOAL = 10
WAYS = {"paths": "by paths", "rows": f"against {N_BACKGROUND} background rows"}


def timed(call):
    start = time.perf_counter()
    values = call()
    return time.perf_counter() - start, values


def run(name, results, repeats, n_rows):
    """Both contenders on one set, in turns."""
    import shap

    table = measure.read_table(name)
    train, test = table.split()
    X, y = table.view("codes").astype(np.float64), table.y
    settings = {"n_estimators": 100, "min_samples_leaf": MIN_SAMPLES_LEAF, "random_state": 0}
    ours = hedgerow.RandomForestClassifier(**settings, n_jobs=1).fit(X[train], y[train])
    theirs = Reference(**settings).fit(X[train], y[train])
    background, rows = X[train[:N_BACKGROUND]], X[test[:n_rows]]
    for repeat in range(repeats):
        for by in WAYS:
            if by == "paths":
                explainer = shap.TreeExplainer(theirs)
                counted = X[train[:5000]]
            else:
                explainer = shap.TreeExplainer(theirs, background)
                counted = background
            seconds, values = timed(lambda e=explainer: e.shap_values(rows, check_additivity=False))
            results.add(
                set=name, by=by, library="shap", repeat=repeat, seconds=seconds, threads=1,
                rows=len(rows), nodes=sum(t.tree_.node_count for t in theirs.estimators_),
            )  # fmt: skip
            error = np.abs(
                values.sum(axis=1) + explainer.expected_value - theirs.predict_proba(rows)
            ).max()
            print(f"{name} {by} shap: {seconds:.2f} s, off by {error:.1e}", flush=True)
            seconds, values = timed(lambda b=by, c=counted: ours.shap_values(rows, c, by=b))
            error = np.abs(
                values.sum(axis=1) + ours.shap_expected(counted, by=by) - ours.predict_proba(rows)
            ).max()
            results.add(
                set=name, by=by, library="hedgerow", repeat=repeat, seconds=seconds, threads=1,
                rows=len(rows), nodes=ours.forest_.n_nodes, error=float(error),
            )  # fmt: skip
            print(f"{name} {by} hedgerow: {seconds:.2f} s, off by {error:.1e}", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    lines = []
    for name in SETS:
        for by, words in WAYS.items():
            wanted = {"set": name, "by": by}
            if not results.measurements(**wanted):
                continue
            theirs, ours = (
                results.median("seconds", **wanted, library=library)
                for library in ("shap", "hedgerow")
            )
            nodes = [
                results.median("nodes", **wanted, library=library)
                for library in ("shap", "hedgerow")
            ]
            n_rows = results.median("rows", **wanted)
            errors = results.values("error", **wanted)
            lines.append(
                [name, words, int(n_rows), f"{nodes[0]:,.0f} / {nodes[1]:,.0f}",
                 1e3 * theirs / n_rows, 1e3 * ours / n_rows, times(theirs, ours), f"{GOAL}x",
                 f"{max(errors):.0e}"]
            )  # fmt: skip
    body = [
        f"Forests of 100 trees with at least {MIN_SAMPLES_LEAF} rows in a leaf, categories as "
        "codes for both; one thread. Milliseconds a row: hedgerow's include counting the 5,000 "
        "training rows whose shares the paths take. Medians of the repeats, in turns. The last "
        "column is how far expected value and Shapley values are from the output, at most.",
        markdown(
            ["set", "values", "rows", "nodes shap / hedgerow", "ms shap", "ms hedgerow", "faster",
             "goal", "sum off by"],
            lines,
        ),
    ]  # fmt: skip
    results.write("Shapley values against shap", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    results = measure.Results("attribution")
    if not options.render:
        for name in options.sets:
            run(name, results, options.repeats, options.rows)
    render(results)


if __name__ == "__main__":
    main()
