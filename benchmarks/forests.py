"""Forests of 100 trees: hedgerow against scikit-learn, YDF and LightGBM's random-forest mode.

Every measurement (set, contender, threads, seed) is one fit in a fresh process, which gives its
time, prediction time, peak memory, pickled size and accuracy together. All contenders take turns
with one seed before the next seed begins, and all sets have had a seed before any gets the next.
Each measurement is stored at once, and one that is stored is not done again (`--fresh` does), so
a run can be split by sets, stopped and taken up again.

    python benchmarks/forests.py --sets letter adult
    python benchmarks/forests.py --seeds 1 --threads 1 --patience 130 --minutes 12
    python benchmarks/forests.py --minutes 90         # all sets, as far as the time goes
    python benchmarks/forests.py --render             # the page from what there is
"""

import argparse
import time
from functools import partial

import measure
import peers
from measure import markdown, mean, points, show, times

SETS = (
    "optdigits", "letter", "california_housing", "adult", "mnist", "kddcup99_10pct", "covertype",
)  # fmt: skip
LARGE = ("mnist", "kddcup99_10pct", "covertype")
CATEGORICAL = ("adult", "kddcup99_10pct")
KINDS = ("random forest", "extra trees")
FIT_GOAL = {"covertype": 8, "optdigits": None}


def contenders(name, seed, counts):
    """(library, kind, view, threads) of everyone who takes part with one seed, in turn.

    On the large sets the later seeds are for scikit-learn and hedgerow with one thread only.
    """
    first = seed == 0 or name not in LARGE
    for threads in counts if first else (1,):
        for kind in KINDS:
            yield "scikit-learn", kind, "one-hot", threads
            yield "hedgerow", kind, "one-hot", threads
            if name in CATEGORICAL:
                yield "hedgerow", kind, "frame", threads
        if first:
            yield "YDF", "random forest", "columns", threads
            yield "LightGBM", "random forest", "frame", threads


def attempt(name, library, kind, view, threads, seed):
    """One measurement; run in a fresh process. Official split where there is one, else by seed."""
    table = measure.read_table(name)
    make = partial(peers.make_forest, library, kind, table.task, seed, threads)
    return measure.trial(make, table, view, table.split(None if table.official else seed))


def run(names, seeds, counts, minutes, patience, results, absent):
    """All measurements that are not there yet and fit into the time."""
    end = time.monotonic() + 60 * minutes
    for seed in range(seeds):
        for name in names:
            for library, kind, view, threads in contenders(name, seed, counts):
                key = {"set": name, "library": library, "kind": kind, "view": view}
                key |= {"threads": threads, "seed": seed}
                if library in absent or results.measurements(**key):
                    continue
                label = f"{name:18} seed {seed} {library:12} {kind:13} {view:7} {threads} thread(s)"
                expected = results.median("elapsed", **{**key, "seed": 0}) or 0
                left = end - time.monotonic()
                if left < max(expected, 1):
                    print(f"{label}: left out, no time")
                    continue
                if gave_up(results, key):
                    print(f"{label}: left out, gave up earlier")
                    continue
                start = time.monotonic()
                line = measure.in_child(
                    attempt, name, library, kind, view, threads, seed, timeout=patience
                )
                results.add(**key, elapsed=time.monotonic() - start, **line)
                said = line.get("error") or (
                    f"fit {show(line['fit'])} s, predict {show(line['predict'])} s, "
                    f"{show(line['memory'] / 1e6)} MB, score {line['score']:.2f}"
                )
                print(f"{label}: {said}", flush=True)


def gave_up(results, key):
    """Whether this contender was stopped or failed on this set earlier in this run."""
    same = {k: key[k] for k in ("set", "library", "kind", "view")}
    return any("error" in line for line in results.measurements(**same))


def render(results):
    """The Markdown page from all stored measurements."""
    names = [name for name in SETS if results.measurements(set=name)]
    body = [
        "100 trees, grown out (LightGBM: up to 255 leaves, and one tree per class and round when "
        "there are more than two classes); float32 matrices. scikit-learn gets categories "
        "one-hot; hedgerow gets the same matrix (*one-hot*) and the data frame with its "
        "categories (*frame*); YDF and LightGBM get the categories natively. Each measurement is "
        "a fresh process; medians over the seeds, contenders taking turns. Official split where "
        "there is one, else a random quarter for testing, by seed. On mnist, kddcup99_10pct and "
        "covertype the seeds after the first are for scikit-learn and hedgerow with one thread "
        "only. *x*: scikit-learn's figure for the same kind of forest and as many threads, divided "
        "by this one's, so more is better everywhere. Memory: peak resident memory during the fit "
        "minus that just before it. One row: `predict` of one row, in brackets through "
        "`model.row_predictor()`, called with a 1-D float64 array, both with the threads of the "
        f"forest. {results.disturbed()}",
        "## Summary, one thread\n\nscikit-learn's and YDF's figures divided by hedgerow's; "
        "difference of accuracy or R² in points. YDF has a random forest only.",
        markdown(
            ["set", "forest", "input", "fit", "goal", "fit, CPU time", "fit, YDF", "goal",
             "predict", "goal", "one row", "memory", "goal", "pickle", "goal", "points", "goal"],
            [row for name in names for row in summary(results, name)],
        ),
    ]  # fmt: skip
    for name in names:
        body += [f"## {name}", details(results, name)]
    results.write("Forests of 100 trees against scikit-learn, YDF and LightGBM", body)


def summary(results, name):
    """Rows of the summary: hedgerow's kinds and inputs on one set."""
    found = results.measurements(set=name, library="hedgerow", threads=1)
    for kind, view in dict.fromkeys((m["kind"], m["view"]) for m in found):
        ours = {"set": name, "library": "hedgerow", "kind": kind, "view": view, "threads": 1}
        theirs = {**ours, "library": "scikit-learn", "view": "one-hot"}
        ydf = {**ours, "library": "YDF", "view": "columns"}

        def ratio(what, peer, ours=ours):
            return times(results.median(what, **peer), results.median(what, **ours))

        goal = FIT_GOAL.get(name, 4)
        goal = goal and f"{goal}x"
        yield [
            name, kind, label(view, name), ratio("fit", theirs), goal, ratio("cpu", theirs),
            ratio("fit", ydf), goal if kind == "random forest" else None,
            ratio("predict", theirs), "3x", ratio("row", theirs), ratio("memory", theirs), "4x",
            ratio("pickle", theirs), "4x", difference(results, ours, theirs), "±0.2",
        ]  # fmt: skip


def difference(results, ours, theirs):
    """Mean difference of the scores over the seeds that both have, with their number."""
    hedgerows, other = (
        {m["seed"]: m["score"] for m in results.measurements(**who) if "score" in m}
        for who in (ours, theirs)
    )
    seeds = hedgerows.keys() & other.keys()
    if not seeds:
        return None
    gap = mean([hedgerows[seed] - other[seed] for seed in seeds])
    return f"{gap:+.2f} ({len(seeds)} seed{'s' * (len(seeds) > 1)})"


def details(results, name):
    """The full table of one set."""
    rows = []
    found = results.measurements(set=name)
    keys = dict.fromkeys((m["threads"], m["kind"], m["library"], m["view"]) for m in found)
    order = list(peers.MODULES)
    for threads, kind, library, view in sorted(
        keys, key=lambda k: (k[0], KINDS.index(k[1]), order.index(k[2]), k[3])
    ):
        who = {"set": name, "kind": kind, "library": library, "view": view, "threads": threads}
        base = {**who, "library": "scikit-learn", "view": "one-hot"}
        scores = results.values("score", **who)
        if not scores:
            failure = results.values("error", **who)[0]
            rows.append([threads, kind, library, label(view, name), 0, failure, *[None] * 10])
            continue

        def pair(what, scale=1, who=who, base=base):
            value = results.median(what, **who)
            return [value / scale, times(results.median(what, **base), value)]

        fast = results.median("fast row", **who)
        row, row_ratio = pair("row")
        rows.append(
            [
                threads, kind, library, label(view, name), len(scores),
                *pair("fit"), *pair("predict"),
                show(row) + (f" ({show(fast)})" if fast else ""), row_ratio,
                *pair("memory", 1e6), *pair("pickle", 1e6), points(mean(scores)),
            ]
        )  # fmt: skip
    return markdown(
        ["threads", "forest", "library", "input", "seeds", "fit s", "x", "predict s", "x",
         "one row µs", "x", "memory MB", "x", "pickle MB", "x", "score"],
        rows,
    )  # fmt: skip


def label(view, name):
    """Name of a library's input."""
    if name not in CATEGORICAL:
        return "numbers"
    return "native" if view in ("frame", "columns") else view


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="all by default")
    parser.add_argument("--seeds", type=int, default=5, help="seeds per set")
    parser.add_argument(
        "--threads", nargs="+", type=int, choices=(1, 2), default=(1, 2), help="both by default"
    )
    parser.add_argument("--minutes", type=float, default=60, help="begin nothing after this long")
    parser.add_argument("--patience", type=float, default=600, help="seconds for one measurement")
    parser.add_argument("--fresh", action="store_true", help="measure the chosen sets anew")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("forests")
    if not arguments.render:
        absent = peers.missing()
        for library, reason in absent.items():
            print(f"{library} takes no part: {reason}")
        measure.study.folder()  # before anything stored is dropped
        # What failed is tried again by every new run.
        results.drop(
            lambda line: line["set"] in arguments.sets and (arguments.fresh or "error" in line)
        )
        stored = sum(len(results.measurements(set=name)) for name in arguments.sets)
        if stored:
            print(f"{stored} measurements of these sets are kept from earlier runs.")
        run(
            arguments.sets,
            arguments.seeds,
            arguments.threads,
            arguments.minutes,
            arguments.patience,
            results,
            absent,
        )
    render(results)


if __name__ == "__main__":
    main()
