"""Intervals of regressors on thirteen sets: coverage and width, beside MAPIE and quantile-forest.

Forests of 100 trees on at most 4,000 rows of a set: half to fit, a quarter to calibrate, a quarter
to test. Intervals from rows out of the bags fit on the first three quarters, so they are asked to
hold without rows of their own. hedgerow runs on every split, the others on the first ones.

    python benchmarks/uncertainty.py                  # about five minutes
    python benchmarks/uncertainty.py --sets abalone --splits 3
    python benchmarks/uncertainty.py --render         # the page again from the stored numbers
"""

import argparse
import time

import measure
import numpy as np
from measure import markdown
from sklearn.ensemble import RandomForestRegressor as Reference

import hedgerow
from hedgerow.papers import study

SETS = (
    "abalone", "ailerons", "ames_house_prices", "bike_sharing_hour", "california_housing", "casp",
    "cpu_act", "diamonds", "elevators", "house_8L", "kin8nm", "pol", "puma32H",
)  # fmt: skip
MOST_ROWS = 4_000
COVERAGE = 0.9
WITHIN = 1  # points
TREES = 100
LEAF = 5  # rows in a leaf of the forests of quantiles
ENDS = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
PROMISES = ("hedgerow, calibrated", "hedgerow, out of bag", "MAPIE, split")
QUANTILES = ("hedgerow, quantiles", "quantile-forest")


def calibrated(X, y, fit, calibrate, test, seed):
    forest = hedgerow.RandomForestRegressor(TREES, random_state=seed).fit(X[fit], y[fit])
    return forest.calibrate(X[calibrate], y[calibrate]).predict_interval(X[test], COVERAGE)


def out_of_bag(X, y, fit, calibrate, test, seed):
    rows = np.concatenate([fit, calibrate])
    forest = hedgerow.RandomForestRegressor(TREES, oob_score=True, random_state=seed)
    return forest.fit(X[rows], y[rows]).predict_interval(X[test], COVERAGE)


def mapie(X, y, fit, calibrate, test, seed):
    from mapie.regression import SplitConformalRegressor

    forest = Reference(TREES, random_state=seed).fit(X[fit], y[fit])
    model = SplitConformalRegressor(forest, confidence_level=COVERAGE, prefit=True)
    return model.conformalize(X[calibrate], y[calibrate]).predict_interval(X[test])[1][..., 0]


def quantiles(X, y, fit, calibrate, test, seed):
    rows = np.concatenate([fit, calibrate])
    forest = hedgerow.RandomForestRegressor(
        TREES, min_samples_leaf=LEAF, keep_targets=True, random_state=seed
    )
    return forest.fit(X[rows], y[rows]).predict_quantiles(X[test], ENDS)


def quantile_forest(X, y, fit, calibrate, test, seed):
    from quantile_forest import RandomForestQuantileRegressor

    rows = np.concatenate([fit, calibrate])
    forest = RandomForestQuantileRegressor(TREES, min_samples_leaf=LEAF, random_state=seed)
    return forest.fit(X[rows], y[rows]).predict(X[test], quantiles=ENDS)


WAYS = dict(
    zip(
        PROMISES + QUANTILES,
        (calibrated, out_of_bag, mapie, quantiles, quantile_forest),
        strict=True,
    )
)


def load(name):
    """The matrix, categories as codes and what is missing as the median, and the target."""
    found = study.read(name, study.folder())
    table = measure.Table(name, found.X, found.y.to_numpy("float64"), None)
    X = table.view("codes")
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), table.y


def run(name, results, n_splits, n_beside):
    X, y = load(name)
    for split in range(n_splits):
        rows = np.random.default_rng(split).permutation(len(y))[:MOST_ROWS]
        half, quarter = len(rows) // 2, len(rows) // 4
        parts = np.split(rows, [half, half + quarter])
        for way, intervals in WAYS.items():
            if split >= n_beside and not way.startswith("hedgerow"):
                continue
            start = time.process_time()
            low, high = intervals(X, y, *parts, split).T
            truth = y[parts[2]]
            results.add(
                set=name, way=way, split=split, rows=half, test=len(truth),
                coverage=100 * float(np.mean((low <= truth) & (truth <= high))),
                width=float(np.mean(high - low) / y.std()), cpu=time.process_time() - start,
            )  # fmt: skip
        print(name, split, flush=True)


def render(results):
    """The Markdown page from all stored measurements."""

    def mean(what, **wanted):
        values = results.values(what, **wanted)
        return float(np.mean(values)) if values else None

    def shown(what, ways):
        rows = []
        for name in SETS:
            if not results.measurements(set=name):
                continue
            cells = (mean(what, set=name, way=way) for way in ways)
            rows.append([name, *(None if cell is None else f"{cell:.2f}" for cell in cells)])
        return markdown(["set", *ways], rows)

    verdicts = []
    for way in PROMISES:
        found = [c for n in SETS if (c := mean("coverage", set=n, way=way)) is not None]
        if found:
            away = [abs(c - 100 * COVERAGE) for c in found]
            n_held = sum(a <= WITHIN for a in away)
            verdicts.append(
                f"{way}: within {WITHIN} point of {COVERAGE:.0%} on {n_held} of {len(away)} sets, "
                f"{max(away):.2f} points away at most"
            )
    counts = {way: len({m["split"] for m in results.measurements(way=way)}) for way in WAYS}
    times = [
        f"{way} {float(np.median(results.values('cpu', way=way))):.2f}"
        for way in WAYS
        if results.values("cpu", way=way)
    ]
    body = [
        f"Intervals for {COVERAGE:.0%} of the rows, forests of {TREES} trees, at most "
        f"{MOST_ROWS:,} rows of a set: half to fit, a quarter to calibrate, a quarter to test; "
        "means over splits ("
        + ", ".join(f"{way} {n}" for way, n in counts.items())
        + "). Out-of-bag "
        "intervals and quantiles fit on the first three quarters. Quantiles promise no coverage.",
        "; ".join(verdicts) + ".",
        "Processor seconds of fit, calibration and prediction, medians: " + ", ".join(times) + ".",
        "## Per cent of the test rows inside",
        shown("coverage", PROMISES + QUANTILES),
        "## Width in standard deviations of the target",
        shown("width", PROMISES + QUANTILES),
    ]
    results.write("Intervals beside MAPIE and quantile-forest", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--beside", type=int, default=3, help="splits of the other libraries")
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    results = measure.Results("uncertainty")
    if not options.render:
        for name in options.sets:
            run(name, results, options.splits, options.beside)
    render(results)


if __name__ == "__main__":
    main()
