"""Heterogeneous forests against scikit-learn's 1,000 trees, mean-margin trees against CART, growth.

Every measurement is stored at once and not done again (`--fresh` does), so a run can be split by
parts and sets and taken up again.

    python benchmarks/margins.py                       # all: about 8 minutes, one thread
    python benchmarks/margins.py --part forests --sets letter magic
    python benchmarks/margins.py --part tree           # one mean-margin tree on mnist
    python benchmarks/margins.py --render              # the page from what there is
    python benchmarks/margins.py --quick               # a try-out on one set

treeple is compared where it can be imported. Its wheels (0.10.3) do not import beside
scikit-learn 1.9: they were built against an older one.
"""

import argparse
import time

import measure
import numpy as np
import peers
from growth import exponent, make_data
from measure import markdown, points, times
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import hedgerow

SETS = (
    "page_blocks", "optdigits", "satimage", "mushroom", "magic", "letter", "waveform5000",
)  # fmt: skip
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
COLUMNS = (10, 30, 100, 300, 1_000)
OURS, PEER, YDF = ("100×CVDT (paper)", "default"), "scikit-learn", "YDF oblique"
TREES = {"MeanMarginTree": {}, "MeanMarginTree, not standardised": {"standardize": False}}
REPEATS = 3
PATIENCE = 60  # seconds of a fit; a tenth of YDF's trees says beforehand how long it takes


def contenders(trees):
    """Makers of forests with the view of the table that each is given."""
    tenth = max(1, trees // 10)

    def mixed(candidates=None):
        return hedgerow.HeterogeneousForestClassifier(candidates, tenth, random_state=0)

    models = {
        OURS[0]: (lambda: mixed("paper"), "frame"),
        OURS[1]: (mixed, "frame"),
        PEER: (lambda: RandomForestClassifier(trees, random_state=0), "one-hot"),
        YDF: (lambda: ydf_forest(tenth), "columns"),
    }
    treeple = treeple_forest(tenth)
    return models if treeple is None else {**models, "treeple oblique": (treeple, "one-hot")}


def ydf_forest(trees):
    """YDF's random forest with oblique tests, full-grown."""
    return peers.Ydf(
        "RandomForestLearner", "classification", 1, num_trees=trees, random_seed=0,
        split_axis="SPARSE_OBLIQUE", max_depth=-1, min_examples=1, compute_oob_performances=False,
    )  # fmt: skip


def treeple_forest(trees):
    """A maker of treeple's oblique forest, None where treeple cannot be imported."""
    try:
        from treeple.ensemble import ObliqueRandomForestClassifier
    except (ImportError, ValueError) as error:
        print(f"treeple is left out: {error}")
        return None
    return lambda: ObliqueRandomForestClassifier(trees, random_state=0)


class Contest:
    """A table, and what is measured on it."""

    def __init__(self, results, name):
        self.results, self.table = results, measure.read_table(name)
        self.rows = self.table.split(1)

    def parts(self, kind):
        """Training and test rows of a view, without gaps where the peer knows none."""
        X = self.table.view(kind)
        parts = [measure.take(X, rows) for rows in self.rows]
        return [np.nan_to_num(part) if kind == "one-hot" else part for part in parts]

    def run(self, make, kind, repeats, **key):
        """Fit and predict; store seconds and accuracy under the key."""
        train, test = self.parts(kind)
        y, y_test = (self.table.y[rows] for rows in self.rows)
        for _ in range(repeats - len(self.results.measurements(**key))):
            fit, model = timed(lambda: make().fit(train, y))
            predict = measure.seconds(lambda model=model: model.predict(test))
            accuracy = measure.score("classification", y_test, model.predict(test))
            self.results.add(**key, fit=fit, predict=predict, accuracy=accuracy)
            print(*key.values(), *map(measure.show, (fit, predict, accuracy)), flush=True)

    def ydf_seconds(self, kind, trees):
        """About how long a fit of YDF's forest takes, from a tenth of the trees."""
        train, y = self.parts(kind)[0], self.table.y[self.rows[0]]
        fewer_trees = max(1, trees // 10)
        return timed(lambda: ydf_forest(fewer_trees).fit(train, y))[0] * trees / fewer_trees


def timed(call):
    """Seconds of a call, and what it returned."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def forests(results, names, trees):
    """Fit and prediction of the forests on each set."""
    for name in names:
        contest = Contest(results, name)
        for label, (make, kind) in contenders(trees).items():
            key = {"part": "forests", "set": name, "model": label}
            if label == YDF and not results.measurements(**key):
                seconds = contest.ydf_seconds(kind, trees // 10)
                if seconds > PATIENCE:
                    results.add(**key, estimated=seconds)
            contest.run(make, kind, REPEATS if label in OURS else 1, **key)


def tree(results, name="mnist"):
    """One mean-margin tree against scikit-learn's CART."""
    contest = Contest(results, name)
    for label, given in TREES.items():
        key = {"part": "tree", "set": name, "model": label}
        contest.run(lambda g=given: hedgerow.MeanMarginTreeClassifier(**g), "codes", REPEATS, **key)
    key["model"] = PEER
    contest.run(lambda: DecisionTreeClassifier(random_state=0), "codes", 1, **key)


def growth(results):
    """Seconds of a mean-margin tree by rows and by columns."""
    for what, n, p in (*(("rows", n, 20) for n in ROWS), *(("columns", 5_000, p) for p in COLUMNS)):
        key = {"part": "growth", "by": what, "size": n if what == "rows" else p}
        if not results.measurements(**key):
            X, y = make_data(n, p, 5)
            fit = measure.seconds(lambda X=X, y=y: hedgerow.MeanMarginTreeClassifier().fit(X, y))
            results.add(**key, fit=fit)


def compared(results, models, **key):
    """Rows of a table: seconds, how many times faster than the peer, accuracy."""

    def median(what, model):
        return results.median(what, model=model, **key)

    rows = []
    for model in models:
        estimated = median("estimated", model)
        if estimated is not None:
            rows.append([model, f"about {estimated:.0f}", None, None, None, None])
        if median("fit", model) is None:
            continue
        rows.append([
            model, median("fit", model), times(median("fit", PEER), median("fit", model)),
            median("predict", model), times(median("predict", PEER), median("predict", model)),
            points(median("accuracy", model)),
        ])  # fmt: skip
    return rows


def render(results):
    """The Markdown page from all stored measurements."""
    head = ["model", "fit, s", "faster", "predict, s", "faster", "accuracy"]
    body = [
        "## Forests\n\n100 members against scikit-learn's random forest of 1,000 trees, one "
        "thread, a random quarter of the rows for testing, or the official test rows. hedgerow and "
        "YDF read categories as they are, scikit-learn gets them one-hot. "
        '"Faster" is in times of scikit-learn; the goal is 5x for 100×CVDT, fit and prediction. A '
        f"fit of YDF that would take more than {PATIENCE} seconds is estimated from a tenth of its "
        "trees."
    ]
    found = dict.fromkeys(m["set"] for m in results.measurements(part="forests"))
    rows = [
        [name, *row]
        for name in found
        for row in compared(
            results, [*OURS, PEER, YDF, "treeple oblique"], part="forests", set=name
        )
    ]
    body.append(markdown(["set", *head], rows))
    for name in dict.fromkeys(m["set"] for m in results.measurements(part="tree")):
        rows = compared(results, [*TREES, PEER], part="tree", set=name)
        body += [
            f"## One tree on {name}\n\nscikit-learn's is CART; the goal is 10x for the fit.",
            markdown(head, rows),
        ]
    body.append(
        "## Growth\n\nSeconds of one mean-margin tree, grown out, on made data; 1 is linear."
    )
    for what, title in (("rows", "rows, 20 columns"), ("columns", "columns, 5,000 rows")):
        lines = results.measurements(part="growth", by=what)
        if lines:
            sizes, taken = [m["size"] for m in lines], [m["fit"] for m in lines]
            rows = [[f"{size:,}", seconds] for size, seconds in zip(sizes, taken, strict=True)]
            rows.append(["**exponent**", f"**{exponent(sizes, taken):.2f}**"])
            body.append(markdown([title, "seconds"], rows))
    results.write("Mean-margin trees", body)


def main():
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--part", choices=("forests", "tree", "growth"))
    parser.add_argument("--quick", action="store_true", help="one set, 50 trees, forests alone")
    parser.add_argument("--fresh", action="store_true", help="measure again what is stored")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("margins_quick" if arguments.quick else "margins")
    parts = {
        "forests": lambda: forests(results, arguments.sets, 1000),
        "tree": lambda: tree(results),
        "growth": lambda: growth(results),
    }
    if arguments.quick:
        parts = {"forests": lambda: forests(results, ["page_blocks"], 50)}
    elif arguments.render:
        parts = {}
    elif arguments.part:
        parts = {arguments.part: parts[arguments.part]}
    if arguments.fresh or arguments.quick:
        results.drop(
            lambda m: m["part"] in parts and (m["part"] != "forests" or m["set"] in arguments.sets)
        )
    for run in parts.values():
        run()
    render(results)


if __name__ == "__main__":
    main()
