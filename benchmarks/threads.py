"""Threads: fit and predict of every family with 1, 2, 4, ... threads up to all cores.

Each family is fitted on a small, a middle and a large table; thread counts take turns. A second
table holds Amdahl's share: the part of the work of one thread that does not shrink, as the times
of one thread and of most threads tell it.

    python benchmarks/threads.py
    python benchmarks/threads.py --sets optdigits letter --repeats 3
    python benchmarks/threads.py --render            # only write the page again
"""

import argparse
import os
import time

import measure
from measure import markdown, show

import hedgerow

SETS = ("optdigits", "letter", "adult")
FAMILIES = {
    "CART": lambda **one: hedgerow.DecisionTreeClassifier(**one),
    "forest": lambda **one: hedgerow.RandomForestClassifier(50, random_state=0, **one),
    "extra trees": lambda **one: hedgerow.ExtraTreesClassifier(50, random_state=0, **one),
    "mean margin": lambda **one: hedgerow.MeanMarginTreeClassifier(**one),
    "heterogeneous forest": lambda **one: hedgerow.HeterogeneousForestClassifier(
        n_estimators=10, random_state=0, **one
    ),
    "Tree in Tree": lambda **one: hedgerow.TreeInTreeClassifier(C=2e-4, **one),
    "alternating": lambda **one: hedgerow.TAOTreeClassifier(max_leaf_nodes=300, **one),
    "embedding": lambda **one: hedgerow.TreeEmbeddingClassifier(random_state=0, **one),
    "boosting": lambda **one: hedgerow.GradientBoostingClassifier(
        max_iter=10, random_state=0, **one
    ),
    "cascade": lambda **one: hedgerow.CascadeForestClassifier(
        n_forests=2, n_trees=20, max_layers=2, random_state=0, **one
    ),
}


def counts(n_cores):
    """1, 2, 4, ... and all cores."""
    doubled = [1]
    while doubled[-1] * 2 < n_cores:
        doubled.append(doubled[-1] * 2)
    return sorted({*doubled, n_cores})


def run(name, results, repeats, families):
    """All families and thread counts on one set, in turns."""
    table = measure.read_table(name)
    X = table.view("one-hot")
    train, test = table.split()
    X_train, y_train, X_test = X[train], table.y[train], X[test]
    for turn in range(repeats):
        for family in families:
            for n_jobs in counts(os.cpu_count()):
                fit = measure.seconds(
                    lambda f=family, n=n_jobs: FAMILIES[f](n_jobs=n).fit(X_train, y_train), most=5
                )
                begin, cpu = time.perf_counter(), time.process_time()
                model = FAMILIES[family](n_jobs=n_jobs).fit(X_train, y_train)
                busy = (time.process_time() - cpu) / (time.perf_counter() - begin)
                predict = measure.seconds(lambda model=model: model.predict(X_test), most=5)
                results.add(
                    set=name, family=family, threads=n_jobs, turn=turn, rows=len(train),
                    columns=X.shape[1], fit=fit, predict=predict, busy=busy,
                )  # fmt: skip
                print(f"{name:10} {family:20} {n_jobs} threads {show(fit)} s", flush=True)


def serial_share(one, many, n_threads):
    """Amdahl's share: what of one thread's time is left however many there are, in percent."""
    return max(0.0, 100 * (many / one * n_threads - 1) / (n_threads - 1))


def render(results):
    """The Markdown page from all stored measurements."""
    most = max(m["threads"] for m in results.measurements())
    rows = []
    for name in dict.fromkeys(m["set"] for m in results.measurements()):
        for family in dict.fromkeys(m["family"] for m in results.measurements(set=name)):
            found = {"set": name, "family": family}
            last = results.measurements(**found)[-1]
            cells = [name, f"{last['rows']} × {last['columns']}", family]
            for what in ("fit", "predict"):
                one = results.median(what, threads=1, **found)
                many = results.median(what, threads=most, **found)
                cells += [one, many, f"{one / many:.2f}x"]
                if what == "fit":
                    cells.append(f"{serial_share(one, many, most):.0f} %")
            rows.append([*cells, results.median("busy", threads=most, **found)])
    header = ["set", "rows × columns", "family", "fit, 1 thread, s", f"fit, {most} threads, s",
              "speed-up", "serial share of the fit", "predict, 1 thread, s",
              f"predict, {most} threads, s", "speed-up",
              f"cores busy in the fit with {most}"]  # fmt: skip
    n_turns = 1 + max(m["turn"] for m in results.measurements())
    slower = sum(float(row[5][:-1]) < 0.95 for row in rows)
    slower_predict = sum(float(row[9][:-1]) < 0.95 for row in rows)
    body = [
        f"Medians of {n_turns} turn{'s' * (n_turns > 1)}, binning included; calls shorter than "
        "0.3 s are repeated within a turn. The serial share is Amdahl's: with it a fit on many "
        "cores is at most 100 / share times as fast as on one. More than 5 % slower than one "
        f"thread: {slower} of {len(rows)} fits, {slower_predict} of {len(rows)} predictions.",
        markdown(header, rows),
    ]
    results.write("Threads", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("threads")
    if not arguments.render:
        chosen = set(arguments.families)
        results.drop(lambda m: m["set"] in arguments.sets and m["family"] in chosen)
        for name in arguments.sets:
            run(name, results, arguments.repeats, arguments.families)
    render(results)


if __name__ == "__main__":
    main()
