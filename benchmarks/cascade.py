"""Deep forests: hedgerow's cascades against DF21 and the same cascade of scikit-learn's forests.

DF21 (`deep-forest` on PyPI) installs on Python 3.9 at the latest, so it runs in an environment of
its own, whose interpreter is given by `--df21` or by the environment variable HEDGEROW_DF21:

    python3.9 -m venv df21 && df21/bin/pip install deep-forest "numpy<1.24" "scikit-learn<1.2"

Every measurement is one fit in a fresh process; contenders take turns, seed by seed. Each one is
stored at once and not done again (`--fresh` does), so a run can be split and taken up again.

    python benchmarks/cascade.py --df21 df21/bin/python      # time, memory, accuracy
    python benchmarks/cascade.py --accuracy usps mnist       # accuracy of the presets alone
    python benchmarks/cascade.py --scan mnist fashion_mnist  # scanning on parts of 10,000 images
    python benchmarks/cascade.py --render                    # the page from what there is
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import measure
import numpy as np
from measure import markdown, mean, points, show, times

SETS = ("optdigits", "letter", "adult")
DF21, AS_DF21, DEFAULT, LIGHT, PEER = (
    "DF21", "as DF21", "default preset", "light preset", "scikit-learn's forests",
)  # fmt: skip
CONTENDERS = (DF21, AS_DF21, PEER, DEFAULT, LIGHT)
PEER_SETS = ("optdigits",)  # it takes minutes on the others
ALONE, SCANNED = "cascade alone", "scanning, then cascade"
GOALS = {"letter": 96.96, "mnist": 98.11, "usps": 94.67}  # DF21's published accuracy, or measured
SHAPE = (28, 28)


def make(contender, seed, threads=1):
    """An unfitted cascade of hedgerow's."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    import hedgerow

    settings = {"random_state": seed, "n_jobs": threads}
    if contender == AS_DF21:  # 2 + 2 forests of 100 trees, out of bag, two rounds of patience
        return hedgerow.CascadeForestClassifier(
            class_vectors="out_of_bag", max_layers=20, n_tolerance=2, **settings
        )
    if contender == PEER:
        pair = [RandomForestClassifier(100), ExtraTreesClassifier(100)]
        return hedgerow.CascadeForestClassifier(estimators=pair * 2, **settings)
    return hedgerow.CascadeForestClassifier(contender.split()[0], **settings)


def attempt(name, contender, seed):
    """One measurement of a cascade of hedgerow's; run in a fresh process."""
    table = measure.read_table(name)
    models = []

    def keep():
        models.append(make(contender, seed))
        return models[-1]

    line = measure.trial(keep, table, "codes", table.split(None if table.official else seed))
    return line | {"layers": models[-1].n_layers_, "grown": len(models[-1].layer_scores_)}


def attempt_df21(interpreter, name, seed, patience):
    """One measurement of DF21, by the interpreter of its own environment."""
    table = measure.read_table(name)
    train, test = table.split(None if table.official else seed)
    X = table.view("codes")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(
            file, X_train=X[train], y_train=table.y[train], X_test=X[test], y_test=table.y[test]
        )
        program = Path(__file__).with_name("df21.py")
        try:
            run = subprocess.run(
                [interpreter, program, file, str(seed)],
                capture_output=True, text=True, timeout=patience, check=True,
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError) as error:
            return {"error": f"{type(error).__name__}: {error}"[:200]}
    return json.loads(run.stdout.splitlines()[-1])


def accuracy(name, contender, seed, threads):
    """The accuracy of a cascade on the official test rows."""
    table = measure.read_table(name)
    train, test = table.split(None if table.official else seed)
    X = table.view("codes")
    start = time.perf_counter()
    model = make(contender, seed, threads).fit(X[train], table.y[train])
    fit = time.perf_counter() - start
    score = measure.score(table.task, table.y[test], model.predict(X[test]))
    return {"fit": fit, "score": score, "layers": model.n_layers_}


def scan(name, model, n_images, seed, threads):
    """The accuracy on the official test images after learning from a part of the others."""
    from sklearn.pipeline import make_pipeline

    from hedgerow import MultiGrainedScanner

    table = measure.read_table(name)
    train, test = table.split()
    train = np.sort(np.random.default_rng(seed).choice(train, n_images, replace=False))
    X = table.view("codes")
    cascade = make(DEFAULT, seed, threads)
    if model == SCANNED:
        scanner = MultiGrainedScanner(SHAPE, random_state=seed, n_jobs=threads)
        cascade = make_pipeline(scanner, cascade)
    start = time.perf_counter()
    with measure.PeakMemory() as memory:
        cascade.fit(X[train], table.y[train])
    fit = time.perf_counter() - start
    score = measure.score(table.task, table.y[test], cascade.predict(X[test]))
    return {"fit": fit, "memory": memory.extra, "score": score}


def run(given, results):
    """All measurements that are asked for and not there yet."""
    for seed in range(given.seeds):
        for name in given.scan:
            for model in (ALONE, SCANNED):
                key = {"part": "scan", "set": name, "contender": model, "images": given.images}
                call = partial(scan, name, model, given.images, seed, given.threads)
                add(results, {**key, "seed": seed, "threads": given.threads}, call, given.patience)
        for name in given.accuracy:
            for contender in (LIGHT, DEFAULT):
                key = {"part": "accuracy", "set": name, "contender": contender, "seed": seed}
                call = partial(accuracy, name, contender, seed, given.threads)
                add(results, {**key, "threads": given.threads}, call, given.patience)
        for name in () if given.scan or given.accuracy else given.sets:
            for contender in given.contenders:
                if contender == PEER and name not in PEER_SETS:
                    continue
                key = {"part": "timing", "set": name, "contender": contender, "seed": seed}
                key["threads"] = 1
                if contender != DF21:
                    add(results, key, partial(attempt, name, contender, seed), given.patience)
                elif given.df21:
                    call = partial(attempt_df21, given.df21, name, seed, given.patience)
                    add(results, key, call, given.patience)


def asked_for(line, given):
    """Whether a stored measurement is one that this run would make."""
    part = "scan" if given.scan else "accuracy" if given.accuracy else "timing"
    sets = given.scan or given.accuracy or given.sets
    contenders = given.contenders if part == "timing" else [line.get("contender")]
    return line.get("part") == part and line["set"] in sets and line["contender"] in contenders


def add(results, key, call, patience):
    """Do one measurement in a fresh process and store it, unless it is there."""
    if results.measurements(**key):
        return
    line = measure.in_child(call, timeout=patience)
    results.add(**key, **line)
    said = line.get("error") or f"fit {show(line['fit'])} s, score {line['score']:.2f}"
    print(*key.values(), said, sep="  ", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    body = [
        "Float32 matrices, categories as their codes; official splits. *as DF21*: hedgerow at "
        "DF21's settings, two random forests and two of extra trees, of 100 trees each, a layer, "
        "out-of-bag class vectors, two rounds of patience. *scikit-learn's forests*: the default "
        "preset's cascade with scikit-learn's forests as members, so the same folds and layers. "
        "Layers are grown until some do not help, and those up to the best are kept: how many "
        "that are depends on chance. "
        "Each measurement is a fresh process; medians over the seeds, contenders taking turns. "
        "Memory: peak resident memory during the fit minus that just before it. "
        f"{results.disturbed()}",
    ]
    timed = [name for name in SETS if results.measurements(part="timing", set=name)]
    if timed:
        body += ["## Ratios, one thread", summary(results, timed)]
    for name in timed:
        body += [f"## {name}", details(results, name)]
    body += list(accuracies(results)) + list(scans(results))
    results.write("Deep forests against DF21", body)


def summary(results, names):
    """hedgerow's figures as multiples of its peers', with the goals."""

    def median(what, name, who):
        return results.median(what, part="timing", set=name, contender=who)

    def per_layer(name, who):
        fit, grown = median("fit", name, who), median("grown", name, who)
        return fit / grown if fit and grown else None

    def gap(name, a, b):
        scores = [
            mean(results.values("score", part="timing", set=name, contender=c)) for c in (a, b)
        ]
        return None if None in scores else f"{scores[0] - scores[1]:+.2f}"

    rows = [
        [
            name,
            times(median("fit", name, DF21), median("fit", name, AS_DF21)),
            times(per_layer(name, DF21), per_layer(name, AS_DF21)),
            times(median("memory", name, DF21), median("memory", name, AS_DF21)),
            gap(name, AS_DF21, DF21),
            gap(name, DEFAULT, DF21),
            times(median("fit", name, PEER), median("fit", name, DEFAULT)),
            gap(name, DEFAULT, PEER),
            times(median("fit", name, DEFAULT), median("fit", name, LIGHT)),
            gap(name, LIGHT, DEFAULT),
        ]
        for name in names
    ]
    goal = ["goal", "5x", None, "2x", "0", "0", None, None, "10x", "-0.3"]
    return markdown(
        ["set", "as DF21: fit, times faster than DF21", "the same for each layer that was grown",
         "memory, times less", "points over DF21",
         "default preset: points over DF21", "fit, times faster than with scikit-learn's forests",
         "points over those", "light preset: fit, times faster than default",
         "points over default"],
        [*rows, goal],
    )  # fmt: skip


def details(results, name):
    """The full table of one set."""
    rows = []
    for contender in CONTENDERS:
        who = {"part": "timing", "set": name, "contender": contender}
        lines = results.measurements(**who)
        if not lines:
            continue
        scores = results.values("score", **who)
        if not scores:
            rows.append([contender, 0, lines[0]["error"], *[None] * 7])
            continue
        memory, pickled = (results.median(what, **who) / 1e6 for what in ("memory", "pickle"))
        rows.append(
            [
                contender, len(scores), results.median("fit", **who), results.median("cpu", **who),
                results.median("predict", **who), memory, pickled,
                results.median("grown", **who), results.median("layers", **who),
                points(mean(scores)),
            ]
        )  # fmt: skip
    return markdown(
        ["cascade", "seeds", "fit s", "CPU s", "predict s", "memory MB", "pickle MB",
         "layers grown", "kept", "accuracy"],
        rows,
    )  # fmt: skip


def accuracies(results):
    """The accuracy of the presets where DF21's is published."""
    rows = []
    for name, goal in GOALS.items():
        for contender in (LIGHT, DEFAULT):
            scores = [
                score
                for part in ("timing", "accuracy")
                for score in results.values("score", part=part, set=name, contender=contender)
            ]
            if scores:
                rows.append([name, contender, len(scores), points(mean(scores)), points(goal)])
    if rows:
        yield "## Accuracy"
        yield markdown(["set", "cascade", "fits", "accuracy", "goal: DF21's"], rows)


def scans(results):
    """What scanning adds on a part of the images."""
    rows = []
    for name in dict.fromkeys(m["set"] for m in results.measurements(part="scan")):
        who = {"part": "scan", "set": name}
        alone, scanned = ({**who, "contender": c} for c in (ALONE, SCANNED))
        scores = [mean(results.values("score", **c)) for c in (alone, scanned)]
        if None in scores:
            continue
        rows.append(
            [
                name, results.measurements(**scanned)[0]["images"], *map(points, scores),
                f"{scores[1] - scores[0]:+.2f}", results.median("fit", **alone) / 60,
                results.median("fit", **scanned) / 60, results.median("memory", **scanned) / 1e6,
            ]
        )  # fmt: skip
    if rows:
        yield "## Scanning\n\nWindows of 7, 10 and 13 pixels at every second pixel; default preset."
        yield markdown(
            ["set", "images", "cascade alone", "scanned", "margin, points", "fit min, alone",
             "scanned", "memory MB, scanned"],
            rows,
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="all by default")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    parser.add_argument("--accuracy", nargs="+", choices=list(GOALS), default=[])
    parser.add_argument("--scan", nargs="+", choices=["mnist", "fashion_mnist"], default=[])
    parser.add_argument("--images", type=int, default=10_000, help="images to learn from, --scan")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="for --accuracy and --scan")
    parser.add_argument("--df21", default=os.environ.get("HEDGEROW_DF21"), help="its interpreter")
    parser.add_argument("--patience", type=float, default=3600, help="seconds for a measurement")
    parser.add_argument("--fresh", action="store_true", help="measure anew what is asked for")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("cascade")
    if not arguments.render:
        measure.study.folder()  # before anything stored is dropped
        results.drop(
            lambda line: "error" in line or (arguments.fresh and asked_for(line, arguments))
        )
        if not arguments.df21:
            print("DF21 takes no part: no interpreter given (--df21).")
        run(arguments, results)
    render(results)


if __name__ == "__main__":
    main()
