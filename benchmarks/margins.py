"""Heterogeneous forests against scikit-learn's 1,000 trees, mean-margin trees against CART, growth.

python benchmarks/margins.py                                  # about 8 minutes, one thread
python benchmarks/margins.py --sets page_blocks --trees 50 --part forests   # a try-out
python benchmarks/margins.py --part tree                      # one mean-margin tree on mnist
python benchmarks/margins.py --part growth

treeple is compared where it can be imported. Its wheels (0.10.3) do not import beside
scikit-learn 1.9: they were built against an older one.
"""

import argparse
import time

import measure
import numpy as np
import peers
from growth import exponent, make_data
from measure import markdown
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import hedgerow

SETS = (
    "page_blocks", "optdigits", "satimage", "mushroom", "magic", "letter", "waveform5000",
)  # fmt: skip
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
COLUMNS = (10, 30, 100, 300, 1_000)
OBLIQUE_SETS = ("page_blocks", "satimage", "letter")  # YDF's oblique forests take their time
REPEATS = 3


def contenders(trees, name):
    """Forests with the view of the table that each is given."""
    tenth = max(1, trees // 10)
    made = {
        "100×CVDT (paper)": (
            lambda: hedgerow.HeterogeneousForestClassifier("paper", tenth, random_state=0),
            "frame",
        ),
        "default": (
            lambda: hedgerow.HeterogeneousForestClassifier(n_estimators=tenth, random_state=0),
            "frame",
        ),
        "scikit-learn": (lambda: RandomForestClassifier(trees, random_state=0), "one-hot"),
    }
    if name in OBLIQUE_SETS:
        made["YDF oblique"] = (
            lambda: peers.Ydf(
                "RandomForestLearner", "classification", 1, num_trees=tenth, random_seed=0,
                split_axis="SPARSE_OBLIQUE", max_depth=-1, min_examples=1,
                compute_oob_performances=False,
            ),
            "columns",
        )  # fmt: skip
        treeple = treeple_forest(tenth)
        if treeple is not None:
            made["treeple oblique"] = (treeple, "one-hot")
    return made


def treeple_forest(trees):
    """A maker of treeple's oblique forest, None where treeple cannot be imported."""
    try:
        from treeple.ensemble import ObliqueRandomForestClassifier
    except (ImportError, ValueError) as error:
        print(f"treeple is left out: {error}")
        return None
    return lambda: ObliqueRandomForestClassifier(trees, random_state=0)


def measured(make, table, kind, repeats):
    """Median seconds of a fit and of a prediction of the test rows, and the accuracy in points."""
    train, test = table.split(1)
    X = table.view(kind)
    parts = [measure.take(X, rows) for rows in (train, test)]
    parts = [np.nan_to_num(part) if kind == "one-hot" else part for part in parts]
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = make().fit(parts[0], table.y[train])
        taken.append(time.perf_counter() - start)
    predict = measure.seconds(lambda: model.predict(parts[1]))
    accuracy = measure.score("classification", table.y[test], model.predict(parts[1]))
    return float(np.median(taken)), predict, accuracy


def forests(names, trees):
    """Fit and prediction of the forests on each set."""
    rows = []
    for name in names:
        table, found = measure.load(name), {}
        for label, (make, kind) in contenders(trees, name).items():
            ours = label in ("100×CVDT (paper)", "default")
            found[label] = measured(make, table, kind, REPEATS if ours else 1)
            print(f"{name:>14} {label:<18}", *map(measure.show, found[label]), flush=True)
        fit, predict, _ = found["scikit-learn"]
        for label, (own_fit, own_predict, own_accuracy) in found.items():
            rows.append([
                name, label, own_fit, measure.times(fit, own_fit), own_predict,
                measure.times(predict, own_predict), measure.points(own_accuracy),
            ])  # fmt: skip
    head = ["set", "forest", "fit, s", "faster", "predict, s", "faster", "accuracy"]
    note = (
        f"{trees // 10} members against scikit-learn's random forest of {trees} trees, one thread, "
        "a random quarter of the rows for testing. hedgerow and YDF read categories as they are, "
        'scikit-learn gets them one-hot. "Faster" is in times of scikit-learn.'
    )
    return ["## Forests\n\n" + note, markdown(head, rows)]


def tree(name="mnist"):
    """One mean-margin tree against scikit-learn's CART."""
    table = measure.load(name)
    makers = {
        "MeanMarginTree": lambda: hedgerow.MeanMarginTreeClassifier(),
        "MeanMarginTree, not standardised": lambda: hedgerow.MeanMarginTreeClassifier(
            standardize=False
        ),
        "scikit-learn CART": lambda: DecisionTreeClassifier(random_state=0),
    }
    found = {}
    for label, make in makers.items():
        found[label] = measured(make, table, "codes", 1 if "scikit" in label else REPEATS)
        print(f"{name:>14} {label:<34}", *map(measure.show, found[label]), flush=True)
    slow = found["scikit-learn CART"][0]
    rows = [[label, fit, measure.times(slow, fit), predict, measure.points(accuracy)]
            for label, (fit, predict, accuracy) in found.items()]  # fmt: skip
    head = ["tree", "fit, s", "faster", "predict, s", "accuracy"]
    return [f"## One tree on {name}", markdown(head, rows)]


def growth():
    """Seconds of a mean-margin tree by rows and by columns."""

    def fit_seconds(n_rows, n_columns):
        X, y = make_data(n_rows, n_columns, 5)
        return measure.seconds(lambda: hedgerow.MeanMarginTreeClassifier().fit(X, y))

    by_rows = [fit_seconds(n, 20) for n in ROWS]
    by_columns = [fit_seconds(5_000, p) for p in COLUMNS]
    note = "Seconds of one mean-margin tree, grown out, on made data; 1 is linear growth."
    parts = [f"## Growth\n\n{note}"]
    for title, sizes, taken in (
        ("rows, 20 columns", ROWS, by_rows),
        ("columns, 5,000 rows", COLUMNS, by_columns),
    ):
        rows = [[f"{size:,}", seconds] for size, seconds in zip(sizes, taken, strict=True)]
        rows.append(["**exponent**", f"**{exponent(sizes, taken):.2f}**"])
        parts.append(markdown([title, "seconds"], rows))
    return parts


def main():
    """Measure all parts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--trees", type=int, default=1000, help="of scikit-learn's forest")
    parser.add_argument("--part", choices=("forests", "tree", "growth"))
    options = parser.parse_args()
    parts = {
        "forests": lambda: forests(options.sets, options.trees),
        "tree": tree,
        "growth": growth,
    }
    body = []
    for name, run in parts.items():
        if options.part in (None, name):
            body += run()
    measure.write_page("margins", "Mean-margin trees", [measure.environment()], body)


if __name__ == "__main__":
    main()
