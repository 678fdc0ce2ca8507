"""Sparse tables: trees and forests beside scikit-learn's on text and on one-hot columns.

text    11,314 made documents of 20 topics as TF-IDF with 50,000 columns, about 100 numbers a row,
        words as frequent as Zipf's law says
adult   its categories as one-hot columns beside its numbers

Each fit is a fresh process with one thread, so that its memory is its own; libraries in turns.

    python benchmarks/sparse.py                      # both tables, some minutes
    python benchmarks/sparse.py --tables adult --repeats 1
    python benchmarks/sparse.py --render             # the page again from the stored numbers
"""

import argparse
import time

import measure
import numpy as np
from measure import PeakMemory, markdown, times
from scipy import sparse
from sklearn import ensemble, tree
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import OneHotEncoder

import hedgerow

N_DOCUMENTS, N_WORDS, N_TOPICS = 11_314, 50_000, 20
DRAWS = 150  # of words a document
OWN = 0.3  # share of a document's words that are its topic's
TABLES = ("text", "adult")
MODELS = {
    "tree": ("DecisionTreeClassifier", {}),
    "random forest of 20": ("RandomForestClassifier", {"n_estimators": 20, "n_jobs": 1}),
    "extra trees, 20": ("ExtraTreesClassifier", {"n_estimators": 20, "n_jobs": 1}),
}
LIBRARIES = ("hedgerow", "scikit-learn")
GOAL = 5
LIMIT = 300  # seconds a process


def documents():
    """TF-IDF of made documents, and their topics."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, N_WORDS + 1)
    cumulated = np.cumsum(frequency) / frequency.sum()
    topics = rng.integers(N_TOPICS, size=N_DOCUMENTS)
    words = np.searchsorted(cumulated, rng.random((N_DOCUMENTS, DRAWS)))
    # A topic has an order of its own of the words, so that others are frequent in it.
    own = np.array([rng.permutation(N_WORDS) for _ in range(N_TOPICS)])
    is_own = rng.random(words.shape) < OWN
    words = np.where(is_own, own[topics[:, None], words], words)
    rows = np.repeat(np.arange(N_DOCUMENTS), DRAWS)
    counts = sparse.csr_matrix(
        (np.ones(words.size), (rows, words.ravel())), shape=(N_DOCUMENTS, N_WORDS)
    )
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts).astype(np.float32), topics


def draw(name):
    """The sparse table, its classes, and the rows for training and testing."""
    if name == "text":
        X, y = documents()
        rows = np.random.default_rng(1).permutation(len(y))
        return X, y, np.sort(rows[len(y) // 4 :]), np.sort(rows[: len(y) // 4])
    table = measure.read_table(name)
    numbers = table.frame.drop(columns=table.categorical).to_numpy(np.float32)
    words = OneHotEncoder().fit_transform(table.frame[table.categorical].astype(str))
    X = sparse.hstack([sparse.csr_matrix(numbers), words]).tocsr().astype(np.float32)
    return X, table.y, *table.split()


def fit(name, model, library):
    """Seconds and memory of a fit, seconds of a prediction, accuracy."""
    X, y, train, test = draw(name)
    kind, settings = MODELS[model]
    house = tree if kind.startswith("Decision") else ensemble
    make = getattr(hedgerow if library == "hedgerow" else house, kind)
    given, asked = X[train], X[test]
    make(**settings, random_state=0).fit(given[:200], y[train][:200])  # first-call set-up
    start, cpu = time.perf_counter(), time.process_time()
    with PeakMemory() as memory:
        fitted = make(**settings, random_state=0).fit(given, y[train])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.process_time()
    score = 100 * float((fitted.predict(asked) == y[test]).mean())
    return {
        "fit": seconds, "cpu": cpu, "predict": time.process_time() - start, "score": score,
        "memory": memory.extra / 2**20, "cores": cpu / seconds, "threads": 1,
        "table": f"{given.shape[0]:,} x {given.shape[1]:,}",
        "size": (given.data.nbytes + given.indices.nbytes + given.indptr.nbytes) / 2**20,
        "dense": given.shape[0] * given.shape[1] * 4 / 2**20,
    }  # fmt: skip


def run(name, results, repeats):
    for repeat in range(repeats):
        for model in MODELS:
            for library in LIBRARIES:
                found = measure.in_child(fit, name, model, library, timeout=LIMIT)
                place = {"set": name, "model": model, "library": library, "repeat": repeat}
                results.add(**place, **found)
                print(*place.values(), found, flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    lines, factors, sizes = [], [], []
    for name in TABLES:
        known = results.measurements(set=name)
        if known:
            size = known[0]
            sizes.append(
                f"{name}: {size['table']}, {size['size']:.1f} MiB as CSR, {size['dense']:,.0f} MiB "
                "written out as float32"
            )
        for model in MODELS:
            wanted = {"set": name, "model": model}
            found = {
                (what, library): results.median(what, **wanted, library=library)
                for what in ("cpu", "predict", "memory", "score")
                for library in LIBRARIES
            }
            if None in found.values():
                continue
            theirs, ours = (found["cpu", library] for library in reversed(LIBRARIES))
            factors.append(theirs / ours)
            lines.append(
                [name, model, theirs, ours, times(theirs, ours), f"{GOAL}x",
                 times(found["predict", "scikit-learn"], found["predict", "hedgerow"]),
                 found["memory", "scikit-learn"], found["memory", "hedgerow"],
                 f"{found['score', 'scikit-learn']:.2f}", f"{found['score', 'hedgerow']:.2f}"]
            )  # fmt: skip
    n_repeats = len({line["repeat"] for line in results.measurements()})
    reached = sum(factor >= GOAL for factor in factors)
    body = [
        "Processor seconds of a fit, MiB that it needs on top of the table, accuracy on test rows; "
        f"one thread, medians of {n_repeats} runs in turns, each in a fresh process. "
        f"{results.disturbed()}",
        "; ".join(sizes) + ".",
        f"Goal: fits {GOAL}x as fast. Reached in {reached} of {len(factors)} rows.",
        markdown(
            ["table", "model", "s scikit-learn", "s hedgerow", "fit faster", "goal",
             "predict faster", "MiB scikit-learn", "MiB hedgerow", "accuracy scikit-learn",
             "accuracy hedgerow"],
            lines,
        ),
    ]  # fmt: skip
    results.write("Sparse tables against scikit-learn", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    results = measure.Results("sparse")
    if not options.render:
        for name in options.tables:
            run(name, results, options.repeats)
    render(results)


if __name__ == "__main__":
    main()
