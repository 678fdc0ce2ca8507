"""Defaults of Tree in Tree and TAO against a pruned CART and a constant, also on noise.

Models that promise to be small choose their size on rows left out: nobody should have to know a
price. Five folds on each set, of at most 6,000 rows. A set with a star is very noisy: all but a
tenth of its targets were shuffled. Each result is a line of `results/defaults.jsonl`.

    python benchmarks/defaults.py                     # what is not there yet, about 20 minutes
    python benchmarks/defaults.py --sets adult cmc    # these anew
    python benchmarks/defaults.py --render            # the page from what there is
"""

import argparse
import time

import measure
import numpy as np
from measure import markdown
from sklearn.model_selection import KFold, StratifiedKFold

import hedgerow
from hedgerow._engine import prune
from hedgerow.papers import study

# Nothing of these models was chosen on the sets of the page.
REPORT = {
    "california_housing": "regression",
    "bike_sharing_hour": "regression",
    "cpu_act": "regression",
    "diamonds": "regression",
    "house_8L": "regression",
    "airbnb_berlin": "regression",
    "casp": "regression",
    "ailerons": "regression",
    "adult": "classification",
    "bank_marketing": "classification",
    "magic": "classification",
    "student_dropout": "classification",
    "waveform5000": "classification",
    "wine_quality_white": "classification",
    "higgs_18k": "classification",
    "connect4": "classification",
    "letter": "classification",
    "cmc": "classification",
    "car": "classification",
    "kr_vs_kp": "classification",
    "flights_3m": "regression",  # very noisy as it is
    "california_housing*": "regression",
    "bike_sharing_hour*": "regression",
    "adult*": "classification",
    "magic*": "classification",
    "waveform5000*": "classification",
}

# Sets, and starred ones of them, on which the constants of hedgerow.tree.price and the prices that
# graphs are tried at were chosen.
CHOOSE = (
    "abalone", "ames_house_prices", "breast_cancer", "credit_a", "credit_g", "cylinder_bands",
    "diabetes", "ecoli", "elevators", "glass", "haberman", "heart_c", "hypothyroid", "kin8nm",
    "optdigits", "page_blocks", "pol", "primary_tumor", "puma32H", "satimage", "sick", "sonar",
    "spambase", "splice", "tic_tac_toe", "vehicle", "wine_quality_red", "yeast",
)  # fmt: skip

MOST_ROWS = 6_000
FOLDS = 5
SHUFFLED = 0.9  # of the targets of a set with a star
MOST_PRICES = 60  # of the pruned CART
PRUNED, CONSTANT = "pruned CART", "constant"
MODELS = ("Tree in Tree", "TAO")


def read(name):
    """Features and targets of a set, sampled down and with shuffled targets where it has a star."""
    found = study.read(name.rstrip("*"), study.folder())
    y = found.y.to_numpy()
    y = y.astype(float) if REPORT[name] == "regression" else np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(y))[:MOST_ROWS])
    X, y = found.X.iloc[rows].reset_index(drop=True), y[rows]
    if name.endswith("*"):
        shuffled = rng.permutation(len(y))[: int(SHUFFLED * len(y))]
        y[shuffled] = y[rng.permutation(shuffled)]
    return X, y


def folds(task, X, y, seed):
    """Shuffled folds, stratified for classes."""
    splitter = KFold if task == "regression" else StratifiedKFold
    return list(splitter(FOLDS, shuffle=True, random_state=seed).split(X, y))


def score(task, y, found):
    """R², or the share of right classes."""
    if task == "classification":
        return float(np.mean(found == y))
    return float(1 - np.sum((found - y) ** 2) / np.sum((y - y.mean()) ** 2))


def pruned_cart(task, X, y, seed):
    """CART at the best price of those between two prunings, by five-fold cross-validation."""
    kind = "Classifier" if task == "classification" else "Regressor"
    cart = getattr(hedgerow, f"DecisionTree{kind}")
    alphas = np.unique(cart(n_jobs=1).cost_complexity_pruning_path(X, y).ccp_alphas)
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1] * (1 + 1e-9))
    # The last prices leave few splits: there each of them is tried, and fewer before.
    steps = np.geomspace(1, len(between), MOST_PRICES).astype(int)
    prices = between[np.unique(len(between) - steps)]
    losses = np.zeros(len(prices))
    for train, test in folds(task, X, y, seed):
        tree = cart(n_jobs=1).fit(X.iloc[train], y[train])
        whole, matrix = tree.graph_, tree.schema_.encode(tree, X.iloc[test])
        for at, price in enumerate(prices):
            graph = prune(whole, price)
            value = graph.value[graph.apply(matrix)]
            if task == "classification":
                losses[at] += np.sum(tree.classes_[value.argmax(axis=1)] != y[test])
            else:
                losses[at] += np.sum((value[:, 0] - y[test]) ** 2)
    return cart(ccp_alpha=prices[losses.argmin()], n_jobs=1).fit(X, y)


def run(name, results):
    """All models on the folds of one set."""
    task = REPORT[name]
    kind = "Classifier" if task == "classification" else "Regressor"
    X, y = read(name)
    for fold, (train, test) in enumerate(folds(task, X, y, seed=0)):
        contenders = {
            PRUNED: lambda X, y, seed=fold: pruned_cart(task, X, y, seed),
            "Tree in Tree": getattr(hedgerow, f"TreeInTree{kind}")(n_jobs=1).fit,
            "TAO": getattr(hedgerow, f"TAOTree{kind}")(n_jobs=1).fit,
        }
        targets = y[train]
        guess = targets.mean() if task == "regression" else np.bincount(targets).argmax()
        constant = score(task, y[test], np.full(len(test), guess))
        results.add(set=name, fold=fold, model=CONSTANT, score=constant, splits=0)
        for model, fit in contenders.items():
            start = time.process_time()
            fitted = fit(X.iloc[train], targets)
            seconds = time.process_time() - start
            found = score(task, y[test], fitted.predict(X.iloc[test]))
            splits = int(fitted.n_splits_)
            results.add(
                set=name, fold=fold, model=model, score=found, splits=splits, seconds=seconds
            )
            print(
                f"{name:20} {fold} {model:14} {100 * found:7.2f} {splits:5} splits {seconds:.2f} s"
            )


def render(results):
    """The Markdown page from all stored measurements."""
    sets = [name for name in REPORT if len(results.values("score", set=name)) == FOLDS * 4]

    def scores(name, model):
        return 100 * np.array(results.values("score", set=name, model=model))

    def size(name, model):
        return float(np.mean(results.values("splits", set=name, model=model)))

    rows, below = [], {(model, rival): [] for model in MODELS for rival in (PRUNED, CONSTANT)}
    for name in sets:
        cells = [f"{scores(name, CONSTANT).mean():.2f}"]
        cells.append(f"{scores(name, PRUNED).mean():.2f} ({size(name, PRUNED):.0f})")
        for model in MODELS:
            found = scores(name, model)
            more = found - scores(name, PRUNED)
            error = more.std(ddof=1) / np.sqrt(FOLDS)
            cells.append(f"{found.mean():.2f} ({size(name, model):.0f})")
            is_below = more.mean() < -error - 1e-9
            cells.append(f"{more.mean():+.2f} ± {error:.2f}" + (" **below**" if is_below else ""))
            if is_below:
                below[model, PRUNED].append(name)
            if found.mean() < scores(name, CONSTANT).mean() - 1e-9:
                below[model, CONSTANT].append(name)
        rows.append([name, *cells])
    header = ["set", CONSTANT, PRUNED]
    header += [cell for model in MODELS for cell in (model, "more than CART")]
    n_noisy = sum(name.endswith("*") or name == "flights_3m" for name in sets)
    body = [
        f"Mean test score of {FOLDS} folds in points (accuracy, or 100 R² in regression), in "
        "brackets the splits. Models have their defaults. The pruned CART has its `ccp_alpha` by "
        "five-fold cross-validation on the training fold; the difference to it has the standard "
        f"error over the folds. At most {MOST_ROWS:,} rows of a set. {n_noisy} of {len(sets)} sets "
        f"are very noisy: flights as it is, and those with a star, of whose targets "
        f"{SHUFFLED:.0%} were shuffled.",
        "## Verdict",
        markdown(
            ["default", "below a constant", "below the pruned CART by more than a standard error"],
            [
                [
                    model,
                    *(
                        f"{len(below[model, rival])} of {len(sets)}"
                        + "".join(f", {name}" for name in below[model, rival])
                        for rival in (CONSTANT, PRUNED)
                    ),
                ]
                for model in MODELS
            ],
        ),
        "Two models that are equally good differ by more than a standard error, in one direction, "
        "on about one set of five by chance.",
        "## Sets",
        markdown(header, rows),
        "Constants of the choice were taken on other sets: " + ", ".join(CHOOSE) + ".",
    ]
    results.write("Defaults that choose their size", body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=REPORT, help="measure these anew")
    parser.add_argument("--render", action="store_true", help="only make the page")
    given = parser.parse_args()
    results = measure.Results("defaults")
    if not given.render:
        if given.sets:
            results.drop(lambda line: line["set"] in given.sets)
        for name in given.sets or REPORT:
            if len(results.values("score", set=name)) < FOLDS * 4:
                results.drop(lambda line, name=name: line["set"] == name)
                run(name, results)
    render(results)


if __name__ == "__main__":
    main()
