"""Bags of every kind of member against scikit-learn's around the same member: accuracy and time.

python benchmarks/bags.py
python benchmarks/bags.py --sets sonar wine --members 20 --splits 2
"""

import argparse
import time

import measure
import numpy as np
import sklearn.ensemble
from measure import markdown
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hedgerow

SETS = (
    "balance_scale", "breast_w", "diabetes", "ecoli", "glass", "ionosphere", "sonar", "vehicle",
    "wine", "yeast",
)  # fmt: skip

# Trees of hedgerow are compared with bags of scikit-learn's trees; other members with themselves.
MEMBERS = {
    "decision tree": (hedgerow.DecisionTreeClassifier(), DecisionTreeClassifier()),
    "random splits": (
        hedgerow.DecisionTreeClassifier(splitter="random", max_features="sqrt"),
        DecisionTreeClassifier(splitter="random", max_features="sqrt"),
    ),
    "hedgerow forest": (hedgerow.RandomForestClassifier(n_estimators=5),) * 2,
    "scikit-learn tree": (DecisionTreeClassifier(),) * 2,
    "naive Bayes": (GaussianNB(var_smoothing=1e-6),) * 2,
    "nearest neighbours": (KNeighborsClassifier(algorithm="kd_tree"),) * 2,
    "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()),) * 2,
}
NOTE = (
    "Mean accuracy in points over random splits (a quarter of the rows for testing), the same for "
    "both. The last column is the mean difference over all sets and splits with its standard "
    "error; a bag and its peer draw different rows, so single cells differ by chance."
)


def accuracy(bag, table, split):
    """Accuracy in points and seconds of the fit."""
    X, (train, test) = np.nan_to_num(table.view("one-hot")), split
    start = time.perf_counter()
    bag.fit(X[train], table.y[train])
    taken = time.perf_counter() - start
    return measure.score("classification", table.y[test], bag.predict(X[test])), taken


def compare(name, tables, n_members, n_splits):
    """Accuracies (sets x splits x 2) and seconds of both libraries for one kind of member."""
    ours, theirs = MEMBERS[name]
    scores, seconds = np.zeros((len(tables), n_splits, 2)), np.zeros(2)
    for i, table in enumerate(tables):
        for seed in range(n_splits):
            bags = (
                hedgerow.BaggingClassifier(ours, n_members, random_state=seed),
                sklearn.ensemble.BaggingClassifier(theirs, n_members, random_state=seed),
            )
            for side, bag in enumerate(bags):
                scores[i, seed, side], taken = accuracy(bag, table, table.split(seed + 1))
                seconds[side] += taken
        print(f"{name:>20} on {table.name:<14}", *scores[i].mean(axis=0).round(2), flush=True)
    return scores, seconds


def main():
    """Compare all kinds of members and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    tables = [measure.read_table(name) for name in options.sets]
    cells, times = [], []
    for name in MEMBERS:
        scores, seconds = compare(name, tables, options.members, options.splits)
        difference = scores[..., 0] - scores[..., 1]
        error = difference.std(ddof=1) / np.sqrt(difference.size)
        means = [f"{a:.1f} / {b:.1f}" for a, b in scores.mean(axis=1)]
        cells.append([name, *means, f"{difference.mean():+.2f} ± {error:.2f}"])
        times.append([name, *seconds, measure.times(seconds[1], seconds[0])])
    body = [
        f"{options.members} members, {options.splits} splits. {NOTE}",
        markdown(["hedgerow / scikit-learn", *options.sets, "difference"], cells),
        "Seconds of all fits together, one thread.",
        markdown(["member", "hedgerow", "scikit-learn", "faster"], times),
    ]
    measure.write_page("bags", "Bags against scikit-learn", [measure.environment()], body)


if __name__ == "__main__":
    main()
