"""Compression: how small default teachers become before they lose 0.2 points, or 1 % of R².

Teachers with their defaults are fitted on TRAIN_ROWS rows at most and compressed, with the same
rows and targets, to ascending limits of splits until the small model's score on other rows is near
enough to the teacher's. The limit is thus found on the rows that both are scored on; the small
models are not: they know the training rows alone. Constants of `compress` were chosen on other sets
(CHOOSE of `sizes.py`).

Each result is a line of `results/compression.jsonl`; what is there is not measured again
(`--fresh` does).

    python benchmarks/compression.py                                # what is missing
    python benchmarks/compression.py --sets adult --teachers LightGBM
    python benchmarks/compression.py --render                       # the page from what there is
"""

import argparse
import statistics
import time

import measure
import numpy as np
import pandas as pd
from measure import markdown, points
from sizes import REPORT

import hedgerow
from hedgerow.comparison.sizes import count_bytes, count_splits
from hedgerow.compression.compressor import Compressor, Limits
from hedgerow.papers import study

SETS = (
    "california_housing", "adult", "spambase", "cpu_act", "page_blocks", "bike_sharing_hour",
    "magic", "satimage", "house_8L", "bank_marketing",
)  # fmt: skip
SIZES = (5, 10, 20, 40, 80, 160, 320, 640, 1280)
TRAIN_ROWS, TEST_ROWS = 4_000, 8_000
POINTS, SHARE = 0.2, 0.01  # of accuracy; of R²


def teacher_of(library, task):
    """A teacher with its defaults, on one thread."""
    kind = "Regressor" if task == "regression" else "Classifier"
    if library == "LightGBM":
        import lightgbm

        return getattr(lightgbm, f"LGBM{kind}")(n_jobs=1, random_state=0, verbose=-1)
    if library == "XGBoost":
        import xgboost

        made = getattr(xgboost, f"XGB{kind}")
        return made(n_jobs=1, random_state=0, enable_categorical=True)
    if library == "scikit-learn forest":
        import sklearn.ensemble

        return getattr(sklearn.ensemble, f"RandomForest{kind}")(n_jobs=1, random_state=0)
    return getattr(hedgerow, f"CascadeForest{kind}")(random_state=0)


TEACHERS = ("LightGBM", "scikit-learn forest", "XGBoost", "CascadeForest")


def read(name, library):
    """Train and test rows; scikit-learn's forest has codes in place of categories."""
    found = study.read(name, study.folder())
    X, y = found.X, found.y.to_numpy()
    is_number = REPORT[name] == "regression"
    y = y.astype(float) if is_number else np.unique(y, return_inverse=True)[1]
    if library == "scikit-learn forest":
        for column in X.columns:
            if isinstance(X[column].dtype, pd.CategoricalDtype):
                X = X.assign(**{column: X[column].cat.codes.astype(float)})
    order = np.random.default_rng(0).permutation(len(y))
    n_train = min(TRAIN_ROWS, round(0.7 * len(y)))
    train, test = order[:n_train], order[n_train : n_train + TEST_ROWS]
    return measure.take(X, train), y[train], measure.take(X, test), y[test]


def near_enough(task, score, teacher):
    """Whether a score is within the tolerance of the teacher's."""
    least = teacher - POINTS if task == "classification" else teacher * (1 - SHARE)
    return score >= least


def run_one(name, library, results):
    """One teacher on one set, compressed until it is near enough."""
    task = REPORT[name]
    X, y, X_test, y_test = read(name, library)
    began = time.perf_counter()
    teacher = teacher_of(library, task).fit(X, y)
    fit_seconds = time.perf_counter() - began
    whole = measure.score(task, y_test, teacher.predict(X_test))
    began = time.perf_counter()
    compressor = Compressor(teacher, X, y)
    cls = hedgerow.CompressedRegressor if task == "regression" else hedgerow.CompressedClassifier
    for size in SIZES:
        small = cls(max_splits=size)
        small.become(compressor.facts() | compressor.within(Limits(size)))
        score = measure.score(task, y_test, small.predict(X_test))
        near = near_enough(task, score, whole)
        results.add(
            set=name, teacher=library, rows=len(y), teacher_score=whole,
            teacher_splits=count_splits(teacher), teacher_bytes=count_bytes(teacher), size=size,
            splits=small.n_splits_, bytes=small.nbytes_, score=score, origin=small.origin_,
            near=near, fit_seconds=fit_seconds, seconds=time.perf_counter() - began,
        )  # fmt: skip
        if near:
            break
    print(f"{name:20} {library:20} {whole:.2f} {size} splits {score:.2f} "
          f"{time.perf_counter() - began:.0f} s", flush=True)  # fmt: skip


# --- the page -----------------------------------------------------------------------------------


def teacher_table(results, library):
    """The smallest sizes near enough to one teacher, and the factors of bytes."""
    rows, factors = [], []
    for name in SETS:
        lines = results.measurements(set=name, teacher=library)
        if not lines:
            continue
        last = max(lines, key=lambda line: line["size"])
        factor = last["teacher_bytes"] / last["bytes"] if last["near"] else None
        factors += [factor] if factor else []
        by_size = {line["size"]: line["score"] for line in lines}
        rows.append(
            [name, points(last["teacher_score"]), f"{last['teacher_splits']:,}",
             f"{last['teacher_bytes']:,}", f"{last['splits']:,}" if factor else "not reached",
             f"{last['bytes']:,}" if factor else f"> {last['bytes']:,}", points(last["score"]),
             f"{factor:,.0f}x" if factor else None, last["origin"],
             points(by_size.get(20)), points(by_size.get(80))]
        )  # fmt: skip
    if not rows:
        return [], []
    header = ["set", "teacher", "its splits", "its bytes", "smallest splits", "bytes", "score",
              "factor", "origin", "at 20 splits", "at 80 splits"]  # fmt: skip
    return [f"## {library}", markdown(header, rows)], factors


def render(results):
    """The Markdown page from all stored measurements."""
    tables, summary = [], []
    for library in TEACHERS:
        table, factors = teacher_table(results, library)
        tables += table
        if table:
            sets = {m["set"] for m in results.measurements(teacher=library)}
            middle = f"{statistics.median(factors):,.0f}x" if factors else None
            span = f"{min(factors):,.0f}x to {max(factors):,.0f}x" if factors else None
            summary.append([library, len(sets), len(factors), middle, span])
    body = [
        "The smallest of " + ", ".join(map(str, SIZES)) + " splits at which "
        f"`hedgerow.compress` is within {POINTS} points of accuracy, or {SHARE:.0%} of R², of a "
        f"teacher with its defaults. Teachers are fitted on {TRAIN_ROWS:,} rows at most and "
        "compressed with the same rows; scores are those of up to "
        f"{TEST_ROWS:,} others, on which the smallest size is found, too: it is a point of a "
        "curve, not a choice. "
        "One split of each set, so a score may be off by half a point. "
        "Bytes of all models are those of nodes of 16 bytes (leaves count) with 8 more for each of "
        "several values of a leaf; the factor is of these. Empty columns at 20 and 80 splits: a "
        "smaller model was near enough.",
        markdown(
            ["teacher", "sets", "near enough", "median factor", "factors"],
            summary,
        ),
        "Published for other sets and teachers, by their own rulers: 4 to 16 times under LightGBM "
        "at equal accuracy (ToaD, 128 bits a node), 10 to 100 times (LOP).",
        *tables,
    ]
    results.write("Compression", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--teachers", nargs="+", default=TEACHERS)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--render", action="store_true")
    given = parser.parse_args()
    results = measure.Results("compression")
    if not given.render:
        wanted = [(name, library) for library in given.teachers for name in given.sets]
        if given.fresh:
            results.drop(lambda m: (m["set"], m["teacher"]) in wanted)
        last = {}
        for m in results.measurements():
            last[m["set"], m["teacher"]] = m["near"] or m["size"] == SIZES[-1]
        for name, library in wanted:
            if not last.get((name, library)):
                results.drop(lambda m, key=(name, library): (m["set"], m["teacher"]) == key)
                run_one(name, library, results)
    render(results)


if __name__ == "__main__":
    main()
