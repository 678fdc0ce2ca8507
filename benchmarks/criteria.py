"""Medians in the leaves: trees and forests of `criterion="absolute_error"` beside scikit-learn's.

100,000 training rows, 25,000 test rows. Each fit is a fresh process with one thread and a limit;
each result is a line of `results/criteria.jsonl`.

    python benchmarks/criteria.py                   # what is not there yet
    python benchmarks/criteria.py --render          # the page from what there is
"""

import argparse
import time

import measure
import numpy as np
from measure import markdown
from sklearn import ensemble, tree
from sklearn.datasets import make_friedman1

import hedgerow

N_TRAIN, N_TEST = 100_000, 25_000
LIMIT = 120  # seconds a fit
REPEATS = 3
FLIGHTS = "flights_3m"
CALIFORNIA = "california_housing"

DATA = ("friedman, 1 column", "friedman, 10 columns", "california, jittered", "flights")
MODELS = {
    "tree": ("DecisionTreeRegressor", {}),
    "tree of 100 leaves": ("DecisionTreeRegressor", {"max_leaf_nodes": 100}),
    "tree, leaves of 20 rows": ("DecisionTreeRegressor", {"min_samples_leaf": 20}),
    "random forest of 10": (
        "RandomForestRegressor",
        {"n_estimators": 10, "max_features": 1 / 3, "min_samples_leaf": 5, "n_jobs": 1},
    ),
    "extra trees, 10": (
        "ExtraTreesRegressor",
        {"n_estimators": 10, "min_samples_leaf": 5, "n_jobs": 1},
    ),
}
LIBRARIES = ("hedgerow", "hedgerow, exact", "hedgerow, squared error", "scikit-learn")


def draw(name):
    """Features and targets: training rows, then test rows."""
    rng, n = np.random.default_rng(0), N_TRAIN + N_TEST
    if name.startswith("friedman"):
        X, y = make_friedman1(n, n_features=10, noise=1, random_state=0)
        return (X[:, 3:4] if "1 column" in name else X).astype("float32"), y
    table = measure.read_table(CALIFORNIA if name.startswith("california") else FLIGHTS)
    X = table.view("codes")
    if len(X) >= n:
        rows = rng.choice(len(X), n, replace=False)
        return X[rows], table.y[rows]
    rows = rng.integers(len(X), size=n)
    jitter = rng.normal(scale=0.02, size=(n, X.shape[1])) * X.std(axis=0)
    return (X[rows] + jitter).astype("float32"), table.y[rows] + rng.normal(scale=0.01, size=n)


def fit(name, model, library):
    """Seconds of the fit, and the mean absolute error on the test rows."""
    kind, settings = MODELS[model]
    settings = settings | {"random_state": 0, "criterion": "absolute_error"}
    if library == "scikit-learn":
        make = getattr(tree if kind.startswith("Decision") else ensemble, kind)
    else:
        make = getattr(hedgerow, kind)
        if "exact" in library:
            settings["max_bins"] = None
        if "squared" in library:
            settings["criterion"] = "squared_error"
    X, y = draw(name)
    make(**settings).fit(X[:500], y[:500])  # imports and first-call set-up
    start, cpu = time.perf_counter(), time.process_time()
    fitted = make(**settings).fit(X[:N_TRAIN], y[:N_TRAIN])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    error = np.abs(fitted.predict(X[N_TRAIN:]) - y[N_TRAIN:]).mean()
    return {"seconds": seconds, "cpu": cpu, "error": float(error)}


def run(results):
    for name in DATA:
        for model in MODELS:
            for library in LIBRARIES:
                place = {"data": name, "model": model, "library": library}
                for _ in range(REPEATS - len(results.values("seconds", **place))):
                    if results.values("stopped", **place):
                        break
                    found = measure.in_child(fit, name, model, library, timeout=LIMIT)
                    if "error" in found and not isinstance(found["error"], float):
                        found = {"stopped": found["error"]}
                    results.add(**place, **found)
                    print(*place.values(), found, flush=True)
                    if library == "scikit-learn":
                        break  # one run: it takes the time of all others together


def cell(results, place):
    stopped = results.values("stopped", **place)
    if stopped:
        return stopped[0]
    cpu, error = (results.median(what, **place) for what in ("cpu", "error"))
    return f"{cpu:.2f} s ({error:.3f})"


def render(results):
    """The Markdown page from all stored measurements."""
    body = [
        f"Processor seconds of a fit on {N_TRAIN:,} rows, in brackets the mean absolute error on "
        f"{N_TEST:,} others; one thread. hedgerow: the median of {REPEATS} runs; scikit-learn: one "
        f'run, stopped after {LIMIT} s. Exact is `max_bins=None`; "squared error" is the same '
        "model by means, which counts bins instead of moving medians.",
        "flights: rows drawn from 3 million, categories as their numbers. california: rows drawn "
        "with replacement, moved by a fiftieth of a standard deviation. friedman: "
        "`make_friedman1` with unit noise, all columns or the fourth alone.",
    ]
    ratios = []
    for name in DATA:
        rows = []
        for model in MODELS:
            places = [{"data": name, "model": model, "library": lib} for lib in LIBRARIES]
            if not results.values("cpu", **places[0]):
                continue
            ours, theirs = (results.values("cpu", **places[i]) for i in (0, 3))
            times = "" if not theirs else f"{theirs[0] / np.median(ours):.0f}x"
            if theirs:
                ratios.append(theirs[0] / np.median(ours))
            rows.append([model, *(cell(results, place) for place in places), times])
        body += [f"## {name}", markdown(["model", *LIBRARIES, "scikit-learn / hedgerow"], rows)]
    if ratios:
        body.insert(
            1,
            f"Where scikit-learn ended, hedgerow takes 1/{min(ratios):.0f} to 1/{max(ratios):.0f} "
            f"of its time, 1/{np.median(ratios):.0f} in the median.",
        )
    results.write("Medians in the leaves", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="only make the page")
    given = parser.parse_args()
    results = measure.Results("criteria")
    if not given.render:
        run(results)
    render(results)


if __name__ == "__main__":
    main()
