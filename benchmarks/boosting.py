"""Gradient boosting: hedgerow against LightGBM, XGBoost, CatBoost and scikit-learn.

`--scores` compares the defaults of all libraries: accuracy or R² of a quarter of the rows, by
models of the others. A set of more than `--rows` rows is sampled. hedgerow's defaults were chosen
on other sets (CHOOSE of `sizes.py`, without flights_3m), never on these.
`--speed` compares hedgerow with LightGBM at the same trees (100 rounds, 31 leaves, learning rate
0.1): every measurement is one fit in a fresh process, the libraries take turns.

Each result is a line of `results/boosting.jsonl`; one that is there is not measured again
(`--fresh` does), so that a run can be stopped and taken up again.

    python benchmarks/boosting.py --scores --seeds 2
    python benchmarks/boosting.py --scores --sets covertype --rows 600000
    python benchmarks/boosting.py --speed                # a few minutes, on a quiet machine
    python benchmarks/boosting.py --render               # the page from what there is
"""

import argparse
import time

import measure
import numpy as np
from measure import markdown, points, times
from sizes import REPORT

from hedgerow.comparison.peers import Peer
from hedgerow.papers import study

SETS = REPORT | {"covertype": "classification", "flights_3m": "regression"}
LARGE = ("covertype", "flights_3m")
LIBRARIES = ("hedgerow", "LightGBM", "XGBoost", "CatBoost", "HGB")
SPEED_SETS = {  # rows at most, rounds
    "california_housing": (None, 100),
    "adult": (None, 100),
    "flights_3m": (1_000_000, 100),
    "covertype": (None, 10),
}
TEST_SHARE = 0.25


def read(name, most_rows):
    """Frame, targets and task of a set, a sample of its rows where it is larger."""
    found = study.read(name, study.folder())
    if SETS[name] == "regression":
        y = found.y.to_numpy("float64")
    else:
        y = np.unique(found.y.to_numpy(), return_inverse=True)[1]
    if most_rows is None or len(y) <= most_rows:
        return found.X, y
    rows = np.sort(np.random.default_rng(0).choice(len(y), most_rows, replace=False))
    return measure.take(found.X, rows), y[rows]


def divide(X, y, seed):
    """Train and test rows of a table."""
    order = np.random.default_rng(seed).permutation(len(y))
    n_test = round(TEST_SHARE * len(y))
    train, test = np.sort(order[n_test:]), np.sort(order[:n_test])
    return measure.take(X, train), y[train], measure.take(X, test), y[test]


def make(library, task, threads, **settings):
    """An unfitted booster with its library's defaults, but for its threads and the settings."""
    kind = "Classifier" if task == "classification" else "Regressor"
    if library == "hedgerow":
        import hedgerow

        return getattr(hedgerow, f"GradientBoosting{kind}")(n_jobs=threads, **settings)
    if library == "LightGBM":
        import lightgbm

        return Peer(getattr(lightgbm, f"LGBM{kind}")(n_jobs=threads, verbose=-1, **settings))
    if library == "XGBoost":
        import xgboost

        return Peer(getattr(xgboost, f"XGB{kind}")(n_jobs=threads, **settings))
    if library == "CatBoost":
        import catboost

        quiet = {"verbose": 0, "allow_writing_files": False}
        return Peer(getattr(catboost, f"CatBoost{kind}")(thread_count=threads, **quiet, **settings))
    import sklearn.ensemble

    return Peer(getattr(sklearn.ensemble, f"HistGradientBoosting{kind}")(**settings))


# --- scores -------------------------------------------------------------------------------------


def run_scores(given, results):
    """The defaults of every library on every set, seed by seed."""
    for seed in range(given.seeds):
        for name in given.sets:
            for library in given.libraries:
                key = {"part": "score", "set": name, "library": library, "seed": seed}
                key["rows"] = given.rows
                if results.measurements(**key) and not given.fresh:
                    continue
                results.drop(lambda m, key=key: key.items() <= m.items())
                results.add(**key, **default_score(name, library, seed, given))


def default_score(name, library, seed, given):
    """Score in points, processor seconds and log-loss of one fit."""
    X_train, y_train, X_test, y_test = divide(*read(name, given.rows), seed)
    settings = {"random_state": seed} if library == "hedgerow" else {}
    start = time.process_time()
    model = make(library, SETS[name], given.threads[0], **settings).fit(X_train, y_train)
    cpu = time.process_time() - start
    score = measure.score(SETS[name], y_test, model.predict(X_test))
    print(f"{name:20} {library:10} seed {seed}: {score:.2f} in {cpu:.1f} s", flush=True)
    found = {"score": score, "cpu": cpu}
    if SETS[name] == "classification":
        sure = model.predict_proba(X_test)[np.arange(len(y_test)), y_test]
        found["log_loss"] = float(-np.mean(np.log(np.clip(sure, 1e-15, 1))))
    return found


def score_tables(results):
    """Scores of the sets that all libraries have done, and their means."""
    body = []
    done = results.measurements(part="score")
    common = [
        (name, rows, seed)
        for name, rows, seed in sorted({(m["set"], m["rows"], m["seed"]) for m in done})
        if all(
            results.measurements(part="score", set=name, rows=rows, seed=seed, library=library)
            for library in LIBRARIES
        )
    ]
    if not common:
        return body
    by_set = {}
    for name, rows, seed in common:
        for library in LIBRARIES:
            wanted = {"part": "score", "set": name, "rows": rows, "seed": seed}
            line = results.measurements(**wanted, library=library)[-1]
            by_set.setdefault((name, rows), {}).setdefault(library, []).append(line)

    def means(field):
        return {
            key: {
                library: float(np.mean([line[field] for line in lines]))
                for library, lines in libraries.items()
            }
            for key, libraries in by_set.items()
            if all(field in line for lines in libraries.values() for line in lines)
        }

    for title, field, best, shown in (
        ("Score of the defaults: accuracy or R², in points", "score", max, points),
        ("Log-loss of the defaults", "log_loss", min, lambda value: f"{value:.4f}"),
        ("Processor seconds of a fit with the defaults", "cpu", min, lambda value: f"{value:.1f}"),
    ):
        table, rows = means(field), []
        for (name, most), found in table.items():
            top = best(found.values())
            cells = [
                f"**{shown(found[library])}**" if found[library] == top else shown(found[library])
                for library in LIBRARIES
            ]
            label = f"{name} ({most:,} rows at most)" if name in LARGE else name
            rows.append([label, len(by_set[name, most]["hedgerow"]), *cells])
        overall = [np.mean([found[library] for found in table.values()]) for library in LIBRARIES]
        rows.append(["**mean**", "", *(shown(float(value)) for value in overall)])
        body += [f"## {title}", markdown(["set", "splits", *LIBRARIES], rows)]
    return body


# --- speed --------------------------------------------------------------------------------------


def attempt(name, library, threads):
    """One fit at equal trees, and what it takes; run in a fresh process."""
    most_rows, rounds = SPEED_SETS[name]
    X_train, y_train, X_test, y_test = divide(*read(name, most_rows), 0)
    if library == "hedgerow":
        # As LightGBM's defaults: every tree sees all rows and features.
        settings = {
            "max_iter": rounds, "learning_rate": 0.1, "early_stopping": False, "subsample": 1.0,
            "max_features": 1.0,
        }  # fmt: skip
    else:
        settings = {"n_estimators": rounds}

    def unfitted():
        return make(library, SETS[name], threads, **settings)

    few = slice(0, 1000)
    unfitted().fit(measure.take(X_train, np.arange(1000)), y_train[few])
    with measure.PeakMemory() as memory:
        start, start_cpu = time.perf_counter(), time.process_time()
        model = unfitted().fit(X_train, y_train)
        fit, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    predict = measure.seconds(lambda: model.predict(X_test), most=5)
    return {
        "rows_trained": len(y_train),
        "fit": fit,
        "cpu": cpu,
        "cores": cpu / fit,
        "predict": predict,
        "memory": memory.extra,
        "score": measure.score(SETS[name], y_test, model.predict(X_test)),
    }


def run_speed(given, results):
    """hedgerow and LightGBM in turns."""
    for repeat in range(given.repeats):
        for name in SPEED_SETS:
            for threads in given.threads:
                for library in ("LightGBM", "hedgerow"):
                    key = {"part": "speed", "set": name, "library": library, "repeat": repeat}
                    key["threads"] = threads
                    if results.measurements(**key) and not given.fresh:
                        continue
                    results.drop(lambda m, key=key: key.items() <= m.items())
                    found = measure.in_child(attempt, name, library, threads, timeout=600)
                    results.add(**key, **found)
                    print(name, library, threads, found, flush=True)


def speed_table(results):
    """Medians of times and memory at equal trees."""
    rows = []
    for name in SPEED_SETS:
        for threads in (1, 2):
            wanted = {"part": "speed", "set": name, "threads": threads}
            cells = []
            for what in ("fit", "predict", "memory"):
                ours = results.median(what, library="hedgerow", **wanted)
                theirs = results.median(what, library="LightGBM", **wanted)
                if ours is None or theirs is None:
                    cells += [None] * 3
                elif what == "memory":
                    cells += [f"{ours / 2**20:.0f} MB", f"{theirs / 2**20:.0f} MB"]
                    cells.append(times(theirs, ours))
                else:
                    cells += [ours, theirs, times(theirs, ours)]
            scores = [
                results.median("score", library=library, **wanted)
                for library in ("hedgerow", "LightGBM")
            ]
            if cells[0] is not None:
                n_rows = int(results.median("rows_trained", **wanted))
                rows.append([name, f"{n_rows:,}", threads, *cells, *map(points, scores)])
    if not rows:
        return []
    header = ["set", "rows", "threads"]
    for what in ("fit s", "predict s", "memory"):
        header += [f"{what}: hedgerow", "LightGBM", ""]
    header += ["score: hedgerow", "LightGBM"]
    about = (
        "100 rounds (covertype: 10, of seven trees each), 31 leaves, learning rate 0.1. Fitting "
        "includes reading the frame and binning. The third column of each is LightGBM's figure "
        "over hedgerow's."
    )
    return ["## Speed and memory at equal trees", about, markdown(header, rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--sets", nargs="+", default=[s for s in SETS if s not in LARGE])
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    results = measure.Results("boosting")
    if given.scores:
        run_scores(given, results)
    if given.speed:
        run_speed(given, results)
    about = (
        "A quarter of the rows is held out, the same for all libraries; larger sets are sampled "
        "(20,000 rows where nothing else is said). Settings of hedgerow's were chosen on other "
        "sets; that splits of categories needed holding back at all was first noticed on "
        "airbnb_berlin. Shown are the sets that all libraries have done so far. Bold is the best "
        "of a row."
    )
    results.write("Gradient boosting", [about, *score_tables(results), *speed_table(results)])


if __name__ == "__main__":
    main()
