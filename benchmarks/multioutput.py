"""Forests of several outputs against scikit-learn's: several columns of real tables are predicted.

The target of a set and some of its features are the outputs; the other features are the table.
Forests of 100 trees with the defaults of both libraries, one thread, in turns.

    python benchmarks/multioutput.py                     # all sets
    python benchmarks/multioutput.py --sets letter --repeats 1
    python benchmarks/multioutput.py --render            # the page again from the stored numbers
"""

import argparse

import measure
import numpy as np
import pandas as pd
from measure import markdown, times
from sklearn import ensemble
from sklearn.metrics import r2_score

import hedgerow

# By set: the features that are outputs beside its target; None: a label for each class.
OUTPUTS = {
    "california_housing": ["totalBedrooms", "medianIncome"],
    "letter": ["width", "high"],
    "adult": ["sex", "marital-status", "relationship"],
    "covertype": ["Wilderness_Area_0", "Wilderness_Area_2"],
    "mnist": None,
}
MOST_ROWS = 20_000  # of a set
FORESTS = ("RandomForest", "ExtraTrees")
GOAL = 2


def load(name):
    """The matrix, the outputs, and the rows for training and testing."""
    table = measure.read_table(name)
    frame, others = table.frame, OUTPUTS[name]
    if others is None:
        y = (table.y[:, None] == np.unique(table.y)).astype(int)
    else:
        columns = [pd.Series(table.y), *(frame[column] for column in others)]
        if table.task == "classification":
            columns = [pd.Series(pd.factorize(column)[0]) for column in columns]
        y = np.column_stack(columns)
        if table.task == "regression":  # so that no output counts for more than another
            y = y / y.std(axis=0)
        frame = frame.drop(columns=others)
    X = measure.Table(name, frame, table.y, None).view("codes")
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    n_test = len(rows) // 4
    return table.task, X, y, np.sort(rows[n_test:]), np.sort(rows[:n_test])


def points(task, truth, predicted):
    """Mean accuracy, or mean R², over the outputs."""
    if task == "classification":
        return 100 * float((truth == predicted).mean())
    return 100 * float(r2_score(truth, predicted))


def run(name, results, repeats):
    task, X, y, train, test = load(name)
    suffix = "Classifier" if task == "classification" else "Regressor"
    for repeat in range(repeats):
        for forest in FORESTS:
            for library, house in (("hedgerow", hedgerow), ("scikit-learn", ensemble)):
                kind = getattr(house, forest + suffix)
                settings = {"n_estimators": 100, "n_jobs": 1, "random_state": repeat}
                model = kind(**settings)
                fit = measure.seconds(lambda m=model: m.fit(X[train], y[train]), most=1)
                predict = measure.seconds(lambda m=model: m.predict(X[test]), most=1)
                results.add(
                    set=name, forest=forest, library=library, repeat=repeat, threads=1,
                    rows=len(train), columns=X.shape[1], outputs=y.shape[1], fit=fit,
                    predict=predict, score=points(task, y[test], model.predict(X[test])),
                )  # fmt: skip
                print(f"{name} {forest} {library}: fit {fit:.2f} s, {predict:.2f} s", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    lines, factors = [], []
    for name in OUTPUTS:
        for forest in FORESTS:
            wanted = {"set": name, "forest": forest}
            if not results.measurements(**wanted):
                continue
            size = results.measurements(**wanted)[0]
            values = {
                (what, library): results.median(what, **wanted, library=library)
                for what in ("fit", "predict", "score")
                for library in ("hedgerow", "scikit-learn")
            }
            fits = values["fit", "scikit-learn"], values["fit", "hedgerow"]
            factors.append(fits[0] / fits[1])
            lines.append(
                [name, forest, f"{size['rows']:,} x {size['columns']}", size["outputs"], *fits,
                 times(*fits),
                 times(values["predict", "scikit-learn"], values["predict", "hedgerow"]),
                 f"{values['score', 'scikit-learn']:.2f}", f"{values['score', 'hedgerow']:.2f}"]
            )  # fmt: skip
    n_repeats = len({line["repeat"] for line in results.measurements()})
    reached = sum(factor >= GOAL for factor in factors)
    body = [
        "Forests of 100 trees, defaults of both libraries, one thread. The outputs are the target "
        f"and some columns of the table, at most {MOST_ROWS:,} rows, a quarter of them for tests. "
        "Seconds of `fit` are medians, scores medians of the mean accuracy or R² over the "
        f"outputs, in points; runs with other seeds, in turns: {n_repeats}.",
        f"Goal: fits {GOAL}x as fast. Reached in {reached} of {len(factors)} rows.",
        markdown(
            ["set", "forest", "table", "outputs", "s scikit-learn", "s hedgerow", "fit faster",
             "predict faster", "score scikit-learn", "score hedgerow"],
            lines,
        ),
    ]  # fmt: skip
    results.write("Several outputs against scikit-learn", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(OUTPUTS), choices=list(OUTPUTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    results = measure.Results("multioutput")
    if not options.render:
        for name in options.sets:
            run(name, results, options.repeats)
    render(results)


if __name__ == "__main__":
    main()
