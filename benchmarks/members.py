"""Boosted decision graphs beside boosted trees, at the same number of splits.

Twenty rounds of 8 and of 31 leaves, five folds on each set, of at most 6,000 rows. Each result is a
line of `results/members.jsonl`.

    python benchmarks/members.py                    # what is not there yet, a few minutes
    python benchmarks/members.py --render           # the page from what there is
"""

import argparse
import time

import measure
import numpy as np
from defaults import FOLDS, MOST_ROWS, folds, read, score
from measure import markdown

import hedgerow

CHOOSE = ("california_housing", "adult", "letter")  # depth and rounds of micro-trees
REPORT = {
    "bike_sharing_hour": "regression",
    "cpu_act": "regression",
    "diamonds": "regression",
    "house_8L": "regression",
    "casp": "regression",
    "ailerons": "regression",
    "bank_marketing": "classification",
    "magic": "classification",
    "student_dropout": "classification",
    "waveform5000": "classification",
    "higgs_18k": "classification",
    "kr_vs_kp": "classification",
}
LEAVES = (8, 31)
SETTINGS = {"max_iter": 20, "learning_rate": 0.15, "early_stopping": False, "n_jobs": 1}
MEMBERS = ("tree", "graph")


def run(name, results):
    """Both kinds of members on the folds of one set."""
    task = REPORT[name]
    kind = "Classifier" if task == "classification" else "Regressor"
    boosting = getattr(hedgerow, f"GradientBoosting{kind}")
    X, y = read(name)
    for fold, (train, test) in enumerate(folds(task, X, y, seed=0)):
        for leaves in LEAVES:
            for members in MEMBERS:
                model = boosting(members=members, max_leaf_nodes=leaves, **SETTINGS)
                start = time.process_time()
                model.fit(X.iloc[train], y[train])
                results.add(
                    set=name,
                    fold=fold,
                    leaves=leaves,
                    members=members,
                    score=score(task, y[test], model.predict(X.iloc[test])),
                    splits=int(model.n_splits_),
                    seconds=time.process_time() - start,
                )
    print(name, flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    whole = FOLDS * len(LEAVES) * len(MEMBERS)
    sets = [name for name in REPORT if len(results.values("score", set=name)) == whole]
    body = [
        f"Mean test score of {FOLDS} folds in points (accuracy, or 100 R² in regression), in "
        f"brackets the splits; at most {MOST_ROWS:,} rows of a set; 20 rounds at a learning rate "
        "of 0.15. The difference has the standard error over the folds. Depth and rounds of "
        "micro-trees were chosen on other sets: " + ", ".join(CHOOSE) + "."
    ]
    for leaves in LEAVES:
        rows, verdicts, times = [], [], []
        for name in sets:
            tree, graph = (
                100 * np.array(results.values("score", set=name, leaves=leaves, members=members))
                for members in MEMBERS
            )
            more, error = graph - tree, (graph - tree).std(ddof=1) / np.sqrt(FOLDS)
            verdicts.append(np.sign(more.mean()) * (abs(more.mean()) > error))
            seconds = [
                results.median("seconds", set=name, leaves=leaves, members=members)
                for members in MEMBERS
            ]
            times.append(seconds[1] / seconds[0])
            splits = [
                np.mean(results.values("splits", set=name, leaves=leaves, members=members))
                for members in MEMBERS
            ]
            rows.append(
                [
                    name,
                    f"{tree.mean():.2f} ({splits[0]:.0f})",
                    f"{graph.mean():.2f} ({splits[1]:.0f})",
                    f"{more.mean():+.2f} ± {error:.2f}",
                    f"{times[-1]:.1f}x",
                ]
            )
        verdicts = np.array(verdicts)
        body += [
            f"## {leaves} leaves",
            f"Graphs are above trees by more than a standard error on {np.sum(verdicts > 0)} of "
            f"{len(sets)} sets, below on {np.sum(verdicts < 0)}; their fits take "
            f"{np.median(times):.1f} times as long in the median (processor time).",
            markdown(["set", "trees", "graphs", "graphs more than trees", "time"], rows),
        ]
    results.write("Boosted graphs beside boosted trees", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="only make the page")
    given = parser.parse_args()
    results = measure.Results("members")
    if not given.render:
        for name in REPORT:
            if not results.values("score", set=name):
                run(name, results)
    render(results)


if __name__ == "__main__":
    main()
