"""Tree embeddings: fit and predict against scikit-learn's forest of 50 trees.

The paper's linear model with one and three trees, our default, and what a million rows cost
compared with the machine's own matrix product. All contenders take turns on the same split.

    python benchmarks/embedding.py                    # all sets, a few minutes
    python benchmarks/embedding.py --sets adult magic
    python benchmarks/embedding.py --quick            # one small set, a tenth of the rows
"""

import argparse

import measure
import numpy as np
from growth import make_data
from measure import markdown, mean, points, show, times
from sklearn.ensemble import RandomForestClassifier

from hedgerow.embedding import TreeEmbeddingClassifier
from hedgerow.papers.decision_tree_embedding import paper_model

SETS = ("bank_marketing", "adult", "magic", "letter")
MODELS = {
    "forest": lambda seed: RandomForestClassifier(50, random_state=seed, n_jobs=1),
    "DTE-1": lambda seed: paper_model(1, seed),
    "DTE-3": lambda seed: paper_model(3, seed),
    "default": lambda seed: TreeEmbeddingClassifier(random_state=seed),
}
GOALS = {"DTE-1": 30, "DTE-3": 15, "default": 5}
LINEAR, BUMPS = "linear", ("raw", "rbf")


def run(name, results, repeats):
    """All contenders on one set, all on the same one-hot matrix."""
    table = measure.read_table(name)
    X = np.nan_to_num(table.view("one-hot"))
    for seed in range(1, repeats + 1):
        train, test = table.split(seed)
        for model, make in MODELS.items():

            def fit_and_predict(make=make, seed=seed, train=train, test=test):
                return make(seed).fit(X[train], table.y[train]).predict(X[test])

            taken = measure.seconds(fit_and_predict, most=3)
            score = measure.score("classification", table.y[test], fit_and_predict())
            results.add(
                set=name, model=model, split=seed, rows=len(train), columns=X.shape[1],
                seconds=taken, score=score,
            )  # fmt: skip
            print(f"{name:16} split {seed} {model:8} {show(taken)} s, {score:.2f}", flush=True)


def matmul_share(n_rows, results):
    """Prediction of many rows, as a share of the rate of a large matrix product."""
    side = np.random.default_rng(0).random((2000, 2000), dtype="float32")
    rate = 2 * 2000**3 / measure.seconds(lambda: side @ side)
    X, y = make_data(n_rows, 30, 5)
    sample = slice(0, 20_000)
    for activation in (LINEAR, BUMPS):
        model = TreeEmbeddingClassifier(activation=activation, random_state=0).fit(
            X[sample], y[sample]
        )
        taken = measure.seconds(lambda model=model: model.predict(X), most=3)
        anchors, columns = model.embedding_.anchors_.shape
        one_product = 2 * n_rows * columns * 5
        products = one_product
        if activation != LINEAR:
            products = 2 * n_rows * (columns * anchors + (columns + anchors) * 5)
        results.add(
            set="made", model=str(activation), rows=n_rows, columns=columns, anchors=anchors,
            seconds=taken, rate=rate, share=products / taken / rate,
        )  # fmt: skip
        print(f"{n_rows:,} rows, {activation}: {show(taken)} s", flush=True)


def render(results):
    """The Markdown page from all stored measurements."""
    rows = []
    for name in dict.fromkeys(m["set"] for m in results.measurements() if m["set"] != "made"):
        lines = results.measurements(set=name)
        base = results.median("seconds", set=name, model="forest")
        row = [name, f"{lines[-1]['rows']} × {lines[-1]['columns']}", base]
        for model in GOALS:
            taken = results.median("seconds", set=name, model=model)
            row += [taken, times(base, taken)]
        row += [points(mean(results.values("score", set=name, model=m))) for m in MODELS]
        rows.append(row)
    header = ["set", "rows × columns", "forest"]
    for model, goal in GOALS.items():
        header += [model, f"ratio (goal {goal}x)"]
    header += [f"accuracy {model}" for model in MODELS]
    many = [
        [m["model"], f"{m['rows']:,} × {m['columns']}", m["anchors"], m["seconds"],
         m["rate"] / 1e9, 100 * m["share"]]
        for m in results.measurements(set="made")
    ]  # fmt: skip
    body = [
        "Seconds of fit and predict together, medians over the splits, one thread; float32 "
        "one-hot matrices for all. The forest is scikit-learn's with 50 trees.",
        markdown(header, rows),
        "## Many rows\n\nPrediction alone. The share is that of the products which the model "
        "needs, at the rate of a 2000 × 2000 float32 product on the same core.",
        markdown(
            ["activation", "rows × columns", "anchors", "seconds", "GFLOP/s of the machine",
             "share, %"],
            many,
        ),
    ]  # fmt: skip
    results.write("Tree embeddings against a forest", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one small set, fewer rows")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    arguments = parser.parse_args()
    results = measure.Results("embedding_quick" if arguments.quick else "embedding")
    if not arguments.render:
        chosen = {"magic"} if arguments.quick else set(arguments.sets)
        results.drop(lambda m: m["set"] in chosen | {"made"})
        for name in sorted(chosen):
            run(name, results, 1 if arguments.quick else arguments.repeats)
        matmul_share(100_000 if arguments.quick else 1_000_000, results)
    render(results)


if __name__ == "__main__":
    main()
