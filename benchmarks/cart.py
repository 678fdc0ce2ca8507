"""One decision tree: hedgerow against scikit-learn and YDF.

Fit (binning included), prediction of the test part and of one row, accuracy or R², memory, and
two threads against one. All contenders take turns on the same split before the next split
begins, so a slow minute of the machine hits all of them; figures are medians over the splits.

    python benchmarks/cart.py                         # all sets, about ten minutes
    python benchmarks/cart.py --sets letter adult
    python benchmarks/cart.py --quick                 # small sets, two splits
    python benchmarks/cart.py --render                # the page again from the stored numbers
"""

import argparse
from functools import partial

import measure
import peers
from measure import markdown, mean, points, show, times

LARGE = ("mnist", "covertype", "flights_3m")
SETS = ("optdigits", "letter", "california_housing", "adult", "covertype", "mnist", "flights_3m")
QUICK = ("optdigits", "letter", "california_housing")
# Down to single rows the tree on 3 million noisy flights has a million leaves that say nothing.
MIN_SAMPLES_LEAF = {"flights_3m": 20}
FIT_GOAL = {"mnist": 10, "covertype": 10, "optdigits": None}
PEER_SPLITS = 2  # of a peer other than scikit-learn, on the large sets


def contenders(table):
    """(library, view, threads) of everyone who takes part on a set, in turn."""
    same = "codes" if table.name == "flights_3m" else "one-hot"
    entries = [("scikit-learn", same, 1), ("hedgerow", same, 1)]
    if table.categorical:
        entries.append(("hedgerow", "frame", 1))
    if table.name in ("mnist", "covertype"):
        entries.append(("hedgerow", same, 2))
    entries.append(("YDF", "columns", 1))
    return entries


def maker(library, table, seed, n_jobs):
    leaf = MIN_SAMPLES_LEAF.get(table.name, 1)
    return partial(peers.make_tree, library, table.task, seed, n_jobs, leaf)


def memory(name, library, view, threads):
    """Peak extra memory of a fit; run in a fresh process."""
    table = measure.read_table(name)
    train = table.split()[0]
    X, y = measure.take(table.view(view), train), table.y[train]
    make = maker(library, table, 0, threads)
    table.views.clear()
    sample = slice(0, None, max(1, len(y) // 1000))
    make().fit(measure.take(X, sample), y[sample])
    with measure.PeakMemory() as peak:
        make().fit(X, y)
    return {"memory": peak.extra, "cells": len(y) * measure.shape(X)[1]}


def run(name, results, repeats, absent):
    """All contenders on one set."""
    table = measure.read_table(name)
    # Split None is the official one; the mean accuracy is over the random ones only.
    splits = ([None] if table.official else []) + list(range(1, repeats + 1))
    entries = [entry for entry in contenders(table) if entry[0] not in absent]
    for turn, seed in enumerate(splits):
        split = table.split(seed)
        for library, view, threads in entries:
            if name in LARGE and library == "YDF" and turn >= PEER_SPLITS:
                continue
            make = maker(library, table, seed or 0, threads)
            line = measure.trial(make, table, view, split)
            line["memory"] = None  # from a fresh process, below
            results.add(
                set=name, library=library, view=view, threads=threads, split=seed,
                categorical=bool(table.categorical), **line,
            )  # fmt: skip
            print(
                f"{name:20} split {show(seed):2} {library:13} {view:8} {threads} thread(s): "
                f"fit {show(line['fit'])} s, predict {show(line['predict'])} s, "
                f"score {line['score']:.2f}",
                flush=True,
            )
    del table
    for library, view, threads in entries:
        line = measure.in_child(memory, name, library, view, threads)
        if "error" in line:
            print(f"  memory of {library}: {line['error']}")
            continue
        results.add(set=name, library=library, view=view, threads=threads, split="memory", **line)


def render(results):
    """The Markdown page from all stored measurements."""
    names = [name for name in SETS if results.measurements(set=name)]
    speed, quality, room, threads = [], [], [], []
    for name in names:
        lines = results.measurements(set=name)
        for view in dict.fromkeys(m["view"] for m in lines if m["library"] != "YDF"):
            speed_row, quality_row, room_row = compare(results, name, view)
            speed.append(speed_row)
            quality.append(quality_row)
            room.append(room_row)
        for view in dict.fromkeys(m["view"] for m in lines if m["threads"] == 2):
            one, two = (
                results.median("fit", set=name, library="hedgerow", view=view, threads=n)
                for n in (1, 2)
            )
            threads.append([name, one, two, times(one, two), "1.6x"])
    body = [
        "One thread unless stated; float32 matrices. Times are medians over the splits (the "
        "official split, where there is one, and random ones of the same size, a quarter for "
        "testing otherwise), the contenders taking turns on each split. *One-hot*: scikit-learn "
        "and hedgerow get the same matrix. *Codes*: category numbers as one column each, for "
        "both (one-hot flights would be 460 columns). *Frame*: hedgerow gets the data frame with "
        "its categories, compared with scikit-learn's figures on the matrix. YDF always gets the "
        "categories natively. Trees are grown out for all (YDF: no pruning, no depth limit); on "
        "flights_3m every leaf has at least 20 rows for all. On the large sets YDF ran on "
        f"{PEER_SPLITS} splits only. {results.disturbed()}",
        "## Fit and predict\n\nSeconds; ratios are how many times faster hedgerow is. CPU time is "
        "what the fit itself used, whatever else the machine did.",
        markdown(
            ["set", "input", "rows × columns", "fit scikit-learn", "fit hedgerow", "ratio", "goal",
             "ratio, CPU time", "fit YDF", "ratio", "predict scikit-learn", "predict hedgerow",
             "ratio", "goal", "predict YDF"],
            speed,
        ),
        "## Accuracy\n\nAccuracy, or R² for california_housing and flights_3m, in points: mean "
        "over the random splits. The goal is a difference not below -0.3.",
        markdown(
            ["set", "input", "splits", "scikit-learn", "hedgerow", "difference", "YDF",
             "official split: scikit-learn", "hedgerow"],
            quality,
        ),
        "## One row, memory, size\n\nOne row in microseconds: `predict` of one row, and "
        "hedgerow's `model.row_predictor()`, called with a 1-D float64 array (goal: under 5). "
        "Memory: peak resident memory during the fit minus that just before it, in a fresh "
        "process, in bytes per cell of the training input (goal: under 1.5; on small sets the "
        "tree itself weighs more than the cells). Pickle in kB.",
        markdown(
            ["set", "input", "row scikit-learn", "row hedgerow", "row_predictor", "row YDF",
             "bytes per cell scikit-learn", "hedgerow", "YDF", "MB scikit-learn", "hedgerow",
             "pickle scikit-learn", "hedgerow"],
            room,
        ),
    ]  # fmt: skip
    if threads:
        body += [
            "## Two threads\n\nFit of hedgerow, seconds.",
            markdown(["set", "1 thread", "2 threads", "ratio", "goal"], threads),
        ]
    results.write("One decision tree against scikit-learn and YDF", body)


def compare(results, name, view):
    """Rows of the three tables for one set and one form of hedgerow's input."""
    base = "codes" if name == "flights_3m" else "one-hot"

    def entry(library):
        chosen = {"scikit-learn": base, "hedgerow": view, "YDF": "columns"}[library]
        return {"set": name, "library": library, "view": chosen, "threads": 1}

    sk, ours, ydf = (entry(library) for library in ("scikit-learn", "hedgerow", "YDF"))

    def medians(what):
        return [results.median(what, **wanted) for wanted in (sk, ours, ydf)]

    def scores(wanted):
        lines = results.measurements(**wanted)
        return [m["score"] for m in lines if isinstance(m["split"], int)]

    def per_cell(wanted):
        lines = results.measurements(**wanted, split="memory")
        return lines[-1]["memory"] / lines[-1]["cells"] if lines else None

    fit, predict, row, size = (medians(what) for what in ("fit", "predict", "row", "pickle"))
    measured = next(m for m in results.measurements(set=name, view=view) if "rows" in m)
    dimensions = f"{measured['rows']:,} × {measured['columns']}"
    label = view if measured["categorical"] else "numbers"
    goal = FIT_GOAL.get(name, 5)
    speed = [
        name, label, dimensions, *fit[:2], times(*fit[:2]), goal and f"{goal}x",
        times(*medians("cpu")[:2]),
        fit[2], times(fit[2], fit[1]), *predict[:2], times(*predict[:2]), "2x", predict[2],
    ]  # fmt: skip
    theirs, hedgerows = scores(sk), scores(ours)
    same = len(theirs) == len(hedgerows) > 0
    official = [points(mean(results.values("score", **who, split=None))) for who in (sk, ours)]
    quality = [
        name, label, len(theirs) or len(hedgerows), points(mean(theirs)), points(mean(hedgerows)),
        f"{mean(hedgerows) - mean(theirs):+.2f}" if same else None,
        few_points(scores(ydf), len(theirs)), *official,
    ]  # fmt: skip
    extra = [results.median("memory", **who, split="memory") for who in (sk, ours)]
    room = [
        name, label, row[0], row[1], results.median("fast row", **ours), row[2],
        per_cell(sk), per_cell(ours), per_cell(ydf),
        *(value and value / 1e6 for value in extra), *(value and value / 1e3 for value in size[:2]),
    ]  # fmt: skip
    return speed, quality, room


def few_points(values, expected):
    """Mean in points, with the number of splits where it is not the expected one."""
    if not values:
        return None
    return points(mean(values)) + (f" ({len(values)})" if len(values) != expected else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, help="data sets, all by default")
    parser.add_argument("--repeats", type=int, help="random splits per set, 5 by default")
    parser.add_argument("--quick", action="store_true", help="three small sets, two splits")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("cart-quick" if arguments.quick else "cart")
    if not arguments.render:
        absent = peers.missing()
        for library in {"hedgerow", "YDF"} & set(absent):
            print(f"{library} takes no part: {absent[library]}")
        names = arguments.sets or (QUICK if arguments.quick else SETS)
        repeats = arguments.repeats or (2 if arguments.quick else 5)
        measure.study.folder()  # before anything stored is dropped
        for name in names:
            results.drop(lambda line, name=name: line["set"] == name)
            run(name, results, repeats, absent)
    render(results)


if __name__ == "__main__":
    main()
