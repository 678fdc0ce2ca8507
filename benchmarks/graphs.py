"""Decision graphs and alternately optimised trees: fit times against scikit-learn's tree.

Graphs of about 1,000 splits on mnist and 1,500 on letter, beside a CART tree with as many
splits by scikit-learn and by hedgerow; TAO from that tree; the naive decision graph. Prediction in
nanoseconds per node that a row visits. All contenders take turns on the official split, with one
thread.

    python benchmarks/graphs.py                   # all sets, some minutes
    python benchmarks/graphs.py --sets letter
    python benchmarks/graphs.py --quick           # optdigits alone
"""

import argparse

import measure
from measure import markdown, mean, points, show, times
from sklearn.tree import DecisionTreeClassifier

import hedgerow

# set -> splits, price of a split that gives TnT about as many
SIZES = {"optdigits": (170, 7e-4), "letter": (1500, 1e-4), "mnist": (1000, 1e-4)}
PEER = "scikit-learn CART"


def contenders(n_splits, C):
    """A factory for each model, by name."""
    one = {"n_jobs": 1}
    return {
        PEER: lambda: DecisionTreeClassifier(max_leaf_nodes=n_splits + 1, random_state=0),
        "CART": lambda: hedgerow.DecisionTreeClassifier(max_leaf_nodes=n_splits + 1, **one),
        "TnT": lambda: hedgerow.TreeInTreeClassifier(C=C, **one),
        "TnT, limit": lambda: hedgerow.TreeInTreeClassifier(max_splits=n_splits, **one),
        "TAO": lambda: hedgerow.TAOTreeClassifier(max_leaf_nodes=n_splits + 1, ccp_alpha=0, **one),
        "NDG": lambda: hedgerow.NaiveDecisionGraphClassifier(max_splits=n_splits, **one),
    }


def run(name, results, repeats):
    """All contenders on one set, one after the other, `repeats` times."""
    table = measure.read_table(name)
    X = table.view("one-hot")
    train, test = table.split()
    X_train, y_train, X_test = X[train], table.y[train], X[test]
    for turn in range(repeats):
        for model, make in contenders(*SIZES[name]).items():
            taken = measure.seconds(lambda make=make: make().fit(X_train, y_train), most=3)
            fitted = make().fit(X_train, y_train)
            predict = measure.seconds(lambda fitted=fitted: fitted.predict(X_test))
            visited = fitted.decision_path(X_test).sum()
            score = measure.score(table.task, table.y[test], fitted.predict(X_test))
            results.add(
                set=name, model=model, turn=turn, rows=len(train), columns=X.shape[1],
                seconds=taken, score=score,
                splits=fitted.tree_.node_count // 2 if model == PEER else fitted.n_splits_,
                path=float(visited / len(test)) - 1, node=1e9 * predict / float(visited),
            )  # fmt: skip
            print(f"{name:10} turn {turn} {model:18} {show(taken)} s", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    rows = []
    for name in dict.fromkeys(m["set"] for m in results.measurements()):
        peer = results.median("seconds", set=name, model=PEER)
        for model in dict.fromkeys(m["model"] for m in results.measurements(set=name)):
            found = {"set": name, "model": model}
            taken = results.median("seconds", **found)
            last = results.measurements(**found)[-1]
            rows.append(
                [name, f"{last['rows']} × {last['columns']}", model, last["splits"], taken,
                 times(peer, taken), points(mean(results.values("score", **found))),
                 last["path"], results.median("node", **found)]
            )  # fmt: skip
    header = ["set", "rows × columns", "model", "splits", "fit, s", f"against {PEER}",
              "test accuracy", "mean path", "predict, ns per visited node"]  # fmt: skip
    body = [
        "Medians of the turns, one thread, float32. TnT is grown at a fixed price of a split, or "
        "at the price that a limit of splits needs; the trees have about as many splits. A row "
        "visits the nodes from the root to its leaf.",
        markdown(header, rows),
    ]
    results.write("Decision graphs against a tree", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="optdigits, one turn")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("graphs_quick" if arguments.quick else "graphs")
    if not arguments.render:
        chosen = ["optdigits"] if arguments.quick else arguments.sets
        results.drop(lambda m: m["set"] in chosen)
        for name in chosen:
            run(name, results, 1 if arguments.quick else arguments.repeats)
    render(results)


if __name__ == "__main__":
    main()
