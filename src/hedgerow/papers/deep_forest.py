"""Arnould, Boyer and Scornet, "Analyzing the tree-layer structure of Deep Forests": its figures.

    python -m hedgerow.papers.deep_forest --quick                  # small sets, small forests
    python -m hedgerow.papers.deep_forest --figure 6 --sets adult
    python -m hedgerow.papers.deep_forest                          # everything, hours

Figures 2 and 3   seven configurations: default, best and light cascades, their first layers, and
                  forests with as many trees
Figures 4 and 5   sub-models: the score of every layer, and which layer is the best
Figures 6 and 7   networks of two trees: depth of the second tree, and where it cuts first
Chessboards       risks of centred trees and networks against the paper's bounds

The paper shows pictures, not numbers: its claims are set against what is found here. Runs differ
by the seed of models and, where a set has no official test part, of the split.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from hedgerow import (
    CascadeForestClassifier,
    CascadeForestRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiGrainedScanner,
    RandomForestClassifier,
    RandomForestRegressor,
    TreeNetworkClassifier,
    TreeNetworkRegressor,
)
from hedgerow.papers import chessboard, study

CLASSIFICATION = ("adult", "letter", "yeast", "higgs_18k", "fashion_mnist")
REGRESSION = ("airbnb_berlin", "ames_house_prices")
SETS = CLASSIFICATION + REGRESSION
QUICK = ("yeast", "ames_house_prices")
CONFIGURATIONS = (
    "default",
    "best",
    "light",
    "best, layer 1",
    "light, layer 1",
    "best, flat",
    "light, flat",
)
FASHION_ROWS = (4000, 2000)  # training and test images that are scanned
REDUCED = {
    "higgs_18k": "18,000 of the paper's 208,000 rows",
    "fashion_mnist": "4,000 and 2,000 of the paper's 30,000 and 8,000 images; scanned features are "
    "not its 260",
}
TWO_CLASSES = ("adult", "higgs_18k")
NEAR = 1.0  # points that "about as good" and "not much" allow
SHAPE = ("n_forests", "n_trees", "max_depth")  # what "best" chooses
NETWORKS = ("shallow", "optimal", "deep")  # first trees
DEPTHS = (*range(1, 13), 15, 20, 25, 30)  # of the second tree


class Part(NamedTuple):
    """A training and a test part of a data set."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def prepare(name: str, where: Path, seed: int, cache: Path) -> Part:
    """A split of a data set: the official one if there is one, else 30 % for the test."""
    table = study.read(name, where)
    y = np.asarray(table.y.astype(str) if name in CLASSIFICATION else table.y)
    if name == "fashion_mnist":
        return _scanned(table, y, cache)
    if table.split is None:
        rows = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed)
    else:
        rows = [np.flatnonzero(table.split == part) for part in ("train", "test")]
    train, test = rows
    return Part(table.X.iloc[train], y[train], table.X.iloc[test], y[test])


def _scanned(table: study.StudyData, y: np.ndarray, cache: Path) -> Part:
    """Images as the class vectors of their windows, pooled; kept in a file."""
    n, n_test = FASHION_ROWS
    rows = [np.flatnonzero(table.split == part) for part in ("train", "test")]
    train, test = rows[0][:n], rows[1][:n_test]
    path = cache / f"fashion_mnist_{n}_{n_test}.npz"
    if not path.exists():
        scanner = MultiGrainedScanner((28, 28), windows=[(7, 7), (13, 13)], stride=4, n_trees=30,
                                      pooling=2, random_state=0)  # fmt: skip
        pixels = table.X.to_numpy(np.float32)
        seen = scanner.fit_transform(pixels[train], y[train])
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, train=seen, test=scanner.transform(pixels[test]))
    with np.load(path) as file:
        return Part(file["train"], y[train], file["test"], y[test])


def cascade(name: str, **parameters: Any) -> Any:
    """A cascade for the task of a data set."""
    cls = CascadeForestClassifier if name in CLASSIFICATION else CascadeForestRegressor
    return cls(**parameters)


# --- Figures 2 and 3 -----------------------------------------------------------------------------


def configurations(name: str, part: Part, n_trees: int, seed: int) -> dict[str, Any]:
    """The test score of each of the seven configurations."""

    def score(model: Any) -> float:
        return float(model.score(part.X_test, part.y_test))

    default = cascade(name, preset="paper", n_trees=n_trees, random_state=seed)
    shape = _best_shape(name, part, n_trees, seed)
    best = cascade(name, **shape, random_state=seed)
    light = cascade(name, preset="paper_light", random_state=seed)
    found: dict[str, Any] = {"shape": {what: shape[what] for what in SHAPE}}
    found["default"] = score(default.fit(part.X, part.y))
    for label, model in (("best", best), ("light", light)):
        model.fit(part.X, part.y)
        found[label] = score(model)
        found[f"{label}, layer 1"] = score(model.subset(1))
        found[f"{label}, flat"] = score(model.flatten().fit(part.X, part.y))
    return found


def _best_shape(name: str, part: Part, n_trees: int, seed: int) -> dict[str, Any]:
    """Forests in a layer, trees and depth, chosen on a fifth of the training rows."""
    rows = np.arange(len(part.y))
    train, held = train_test_split(rows, test_size=0.2, random_state=seed)
    X, X_held = (part.X.iloc[r] if hasattr(part.X, "iloc") else part.X[r] for r in (train, held))
    grid = [
        {"partner": "random_trees", "n_forests": f, "n_trees": t, "max_depth": d, "cv": 3}
        for f in (1, 2)
        for t in (max(2, n_trees // 4), n_trees)
        for d in (10, None)
    ]
    scores = [
        cascade(name, **shape, random_state=seed).fit(X, part.y[train]).score(X_held, part.y[held])
        for shape in grid
    ]
    return grid[int(np.argmax(scores))]


# --- Figures 4 and 5 -----------------------------------------------------------------------------


def sub_models(
    name: str, part: Part, forests: int, n_trees: int, layers: int, seed: int
) -> list[float]:
    """The test score after each layer, with one random forest or 2 + 2 forests in a layer."""
    shape: dict[str, Any] = {"n_forests": 2, "n_trees": n_trees, "partner": "random_trees"}
    if forests == 1:
        cls = RandomForestClassifier if name in CLASSIFICATION else RandomForestRegressor
        shape = {"estimators": [cls(n_trees)]}
    model = cascade(
        name, **shape, cv=3, max_layers=layers, n_tolerance=layers, keep="all", random_state=seed
    ).fit(part.X, part.y)
    if name in CLASSIFICATION:
        return [float(np.mean(said == part.y_test)) for said in model.staged_predict(part.X_test)]
    spread = np.sum((part.y_test - part.y_test.mean()) ** 2)
    return [
        float(1 - np.sum((said - part.y_test) ** 2) / spread)
        for said in model.staged_predict(part.X_test)
    ]


def best_layers(runs: list[list[float]]) -> np.ndarray:
    """How often layer m (rows) is the best of the first n (columns), over runs."""
    layers = len(runs[0])
    counts = np.zeros((layers, layers), dtype=int)
    for scores in runs:
        for n in range(layers):
            counts[np.argmax(scores[: n + 1]), n] += 1
    return counts


# --- Figures 6 and 7 -----------------------------------------------------------------------------


def networks(name: str, part: Part) -> dict[str, Any]:
    """Scores of single trees and of networks, by the depths of both trees."""
    single, double = (
        (DecisionTreeClassifier, TreeNetworkClassifier)
        if name in CLASSIFICATION
        else (DecisionTreeRegressor, TreeNetworkRegressor)
    )
    optimal = double("cv", 1, random_state=0).fit(part.X, part.y).encoding_depth_
    found: dict[str, Any] = {"optimal": optimal, "tree": {}, "network": {}, "first_cut": {}}
    for depth in (max(1, optimal // 3), optimal, optimal + 6):
        tree = single(max_depth=depth).fit(part.X, part.y)
        found["tree"][str(depth)] = float(tree.score(part.X_test, part.y_test))
        scores = []
        for second in DEPTHS:
            network = double(depth, second).fit(part.X, part.y)
            scores.append(float(network.score(part.X_test, part.y_test)))
        found["network"][str(depth)] = scores
        graph = network.output_.graph_
        is_new = bool(graph.feature[0] >= network.n_features_in_)
        found["first_cut"][str(depth)] = [is_new, float(graph.threshold[0])]
    return found


# --- running -------------------------------------------------------------------------------------


def units(given: Any) -> Iterator[dict[str, Any]]:
    """The keys of everything to be run, the quick ones first."""
    if 9 in given.figure:
        yield from chessboard.units(given.repetitions)
    for seed, name, figure in product(
        range(given.seeds), given.sets, [f for f in given.figure if f != 9]
    ):
        key = {"figure": figure, "set": name, "seed": seed}
        if figure == 6:
            yield key
        elif figure == 2:
            yield {**key, "trees": given.trees}
        else:
            yield from ({**key, "forests": forests, "trees": given.trees} for forests in (1, 4))


def run(given: Any, journal: study.Journal, where: Path, out: Path) -> None:
    """Run what the journal does not have yet."""
    for key in units(given):
        if journal.get(**key) is not None:
            continue
        journal.run(key, partial(work, key, given, where, out))
        print(*key.values(), flush=True)


def work(key: dict[str, Any], given: Any, where: Path, out: Path) -> dict[str, Any]:
    """Do one piece of work."""
    if "study" in key:
        return chessboard.run(key)
    name, seed = key["set"], key["seed"]
    part = prepare(name, where, seed, out)
    rows = {"rows": [len(part.y), len(part.y_test)]}
    if key["figure"] == 6:
        return rows | networks(name, part)
    if key["figure"] == 2:
        return rows | configurations(name, part, given.trees, seed)
    layers = sub_models(name, part, key["forests"], given.trees, given.layers, seed)
    return rows | {"scores": layers}


# --- the page ------------------------------------------------------------------------------------


def page(journal: study.Journal, given: Any, out: Path) -> str:
    """All that the journal has, as Markdown; pictures are written beside it."""
    parts = [
        "# Deep forests: the figures of the paper\n",
        "L. Arnould, C. Boyer and E. Scornet, *Analyzing the tree-layer structure of Deep Forests* "
        "(2021). Accuracy or R² on test rows, in percent, with the standard deviation between runs "
        "where there are several. The paper gives its results as pictures.\n",
        study.provenance(journal, "hedgerow reproduce deep-forest " + given.command) + "\n",
        _still_to_run(journal),
        _page_sets(journal),
        "## Claims\n\nA claim about sets holds with all of them, less one; "
        f"'about as good' and 'little' allow {NEAR:g} point.\n",
        study.claims_table(claims(journal, given.trees)) + "\n",
        f"{study.BETTER}its results are pictures; bounds that hold where three printed ones do "
        "not.\n",
        _page_configurations(journal, given.trees, out),
        _page_layers(journal, given.trees, out),
        _page_networks(journal, out),
        chessboard.page(journal, out),
    ]
    return "\n".join(part for part in parts if part)


def _page_sets(journal: study.Journal) -> str:
    """The sizes of the sets, and where there are fewer rows than in the paper."""
    sizes = {key["set"]: found["rows"] for key, found in journal.find() if "rows" in found}
    rows = [[name, *sizes[name], REDUCED.get(name, "")] for name in SETS if name in sizes]
    return study.markdown(["set", "training rows", "test rows", ""], rows) + "\n" if rows else ""


def claims(journal: study.Journal, trees: int) -> list[study.Claim]:
    """What the paper says of its figures, and what the journal says."""
    return (
        _claims_of_configurations(journal, trees)
        + _claims_of_layers(journal, trees)
        + _claims_of_networks(journal)
        + chessboard.claims(journal)
    )


def _about(text: str, kept: dict[str, bool], published: str = "all") -> study.Claim:
    """A claim about sets."""
    parts = [[name for name, holds in kept.items() if holds is side] for side in (True, False)]
    return study.counted(text, parts[0], parts[1], published)


def _claims_of_configurations(journal: study.Journal, trees: int) -> list[study.Claim]:
    names = _sets_with(journal, figure=2, trees=trees)
    runs = {n: [r for _, r in journal.find(figure=2, trees=trees, set=n)] for n in names}
    means = {n: {c: 100 * np.mean([r[c] for r in runs[n]]) for c in CONFIGURATIONS} for n in names}
    near = {n: bool(m["light"] > m["default"] - NEAR) for n, m in means.items()}
    out = [_about("the light cascade is about as good as the default one", near)]
    for kind in ("best", "light"):
        gains = {n: m[kind] - m[f"{kind}, flat"] for n, m in means.items()}
        text = f"the {kind} cascade is better than its flat forest"
        out.append(_about(f"{text}, but on letter",
                          {n: bool(g > 0) for n, g in gains.items() if n != "letter"}))  # fmt: skip
        if "letter" in gains:
            out.append(study.Claim(f"{text}: not on letter", "", f"{gains['letter']:+.1f}",
                                   bool(gains["letter"] <= 0)))  # fmt: skip
    return out


def _claims_of_layers(journal: study.Journal, trees: int) -> list[study.Claim]:
    found = journal.find(figure=4, trees=trees)
    runs = [result["scores"] for _, result in found]
    early = sum(int(np.argmax(scores) < 2) for scores in runs)
    changes: dict[str, list[float]] = {}
    for key, result in found:
        first, *others = result["scores"]
        name = f"{key['set']}, {key['forests']} a layer"
        changes.setdefault(name, []).append(100 * (max(others) - first))
    little = {name: bool(np.mean(gains) < NEAR) for name, gains in changes.items()}
    return [
        _about("more layers change the score little", little),
        study.Claim("one or two layers are mostly best", "mostly", f"in {early} of {len(runs)} "
                    "runs" if runs else study.NOT_RUN, early > len(runs) / 2 if runs else None),
    ]  # fmt: skip


def _claims_of_networks(journal: study.Journal) -> list[study.Claim]:
    kept: dict[str, dict[str, bool]] = {"shallow": {}, "steady": {}, "half": {}}
    new: list[bool] = []
    for name in _sets_with(journal, figure=6):
        runs = [r for _, r in journal.find(figure=6, set=name) if r["optimal"] > 1]
        if not runs:
            continue
        new += [bool(cut[0]) for run in runs for cut in run["first_cut"].values()]
        trees, scores = (np.array([list(r[what].values()) for r in runs])
                         for what in ("tree", "network"))  # fmt: skip
        kept["shallow"][name] = bool(scores[:, 0].mean(axis=0).max() > trees[:, 0].mean())
        if len(runs) > 1:
            best = int(scores[:, 1].mean(axis=0).argmax())
            kept["steady"][name] = bool(scores[:, 1, best].std() <= trees[:, 1].std())
        if name in TWO_CLASSES:
            cuts = [list(run["first_cut"].values())[1][1] for run in runs]
            kept["half"][name] = bool(abs(np.mean(cuts) - 0.5) < 0.1)
    said = f"in {sum(new)} of {len(new)} networks" if new else study.NOT_RUN
    return [
        study.Claim("the second tree cuts a new feature first", "always", said,
                    all(new) if new else None),
        _about("with two classes, behind a tree of optimal depth, within 0.1 of 1/2", kept["half"]),
        _about("behind a tree that is too shallow the network is better than it", kept["shallow"]),
        _about("behind a tree of optimal depth the network varies less between runs",
               kept["steady"]),
    ]  # fmt: skip


def _plot():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _still_to_run(journal: study.Journal) -> str:
    done = {figure: _sets_with(journal, figure=figure) for figure in (2, 4, 6)}
    missing = {f: [name for name in SETS if name not in found] for f, found in done.items()}
    if not any(missing.values()):
        return ""
    lists = "; ".join(f"Figure {f}: {', '.join(names)}" for f, names in missing.items() if names)
    return f"Not run yet: {lists}.\n"


def _sets_with(journal: study.Journal, **part: Any) -> list[str]:
    found = {key["set"] for key, _ in journal.find(**part)}
    return [name for name in SETS if name in found]


def _page_configurations(journal: study.Journal, trees: int, out: Path) -> str:
    names = _sets_with(journal, figure=2, trees=trees)
    if not names:
        return ""
    plt = _plot()
    figure, axes = plt.subplots(1, len(names), figsize=(2.4 * len(names), 3.4))
    rows = []
    for name, axis in zip(names, np.atleast_1d(axes), strict=True):
        runs = [result for _, result in journal.find(figure=2, trees=trees, set=name)]
        scores = 100 * np.array([[run[c] for c in CONFIGURATIONS] for run in runs])
        mean, spread = scores.mean(axis=0), scores.std(axis=0)
        shapes = ["/".join(str(value) for value in run["shape"].values()) for run in runs]
        cells = [study.spread(list(column), 1) for column in scores.T]
        rows.append([name, len(runs), *cells, ", ".join(dict.fromkeys(shapes))])
        axis.bar(range(len(CONFIGURATIONS)), mean, yerr=spread, color=plt.cm.tab10.colors)
        axis.set_ylim(mean.min() - 3 * max(0.5, spread.max()), mean.max() + max(0.5, spread.max()))
        axis.set_xticks(range(len(CONFIGURATIONS)), CONFIGURATIONS, rotation=90, fontsize=7)
        axis.set_title(name, fontsize=9)
    figure.tight_layout()
    figure.savefig(out / "deep_forest_configurations.png")
    return (
        "## Figures 2 and 3: seven configurations\n\n"
        f"Default: 4 + 4 forests of {trees} trees (the paper has 500), 3 folds, layers until three "
        "in a row do not help on a fifth of the rows. Best: chosen among eight shapes on a fifth "
        "of the training rows. Light: two layers of 1 + 1 forests of 50 trees of depth 30. Flat: "
        "one random forest with as many trees as the cascade, those of all folds counted.\n\n"
        + study.markdown(["set", "runs", *CONFIGURATIONS, "best: forests/trees/depth"], rows)
        + "\n\n![Figures 2 and 3](deep_forest_configurations.png)\n"
    )


def _page_layers(journal: study.Journal, trees: int, out: Path) -> str:
    names = _sets_with(journal, figure=4, trees=trees)
    if not names:
        return ""
    plt = _plot()
    figure, axes = plt.subplots(
        len(names), 4, figsize=(12, 2.4 * len(names)), squeeze=False, layout="constrained"
    )
    rows = []
    for name, line in zip(names, axes, strict=True):
        for forests, (box, map_) in zip((1, 4), (line[:2], line[2:]), strict=True):
            found = journal.find(figure=4, trees=trees, set=name, forests=forests)
            runs = [result["scores"] for _, result in found]
            scores = 100 * np.array(runs)
            box.boxplot(scores)
            box.set_title(f"{name}, {forests} per layer", fontsize=8)
            counts = best_layers(runs)
            map_.imshow(counts, cmap="Blues")
            for (m, n), count in np.ndenumerate(counts):
                if m <= n:
                    map_.text(n, m, count, ha="center", va="center", fontsize=7)
            ticks = range(len(counts)), [i + 1 for i in range(len(counts))]
            map_.set_xticks(*ticks)
            map_.set_yticks(*ticks)
            map_.set_xlabel("layers", fontsize=7)
            map_.set_ylabel("best layer", fontsize=7)
            means = scores.mean(axis=0)
            often = ", ".join(map(str, counts[:, -1]))
            rows.append([name, forests, len(runs), *(f"{m:.2f}" for m in means), often])
    figure.savefig(out / "deep_forest_layers.png")
    n_layers = len(rows[0]) - 4
    header = ["set", "forests", "runs", *(f"layer {i + 1}" for i in range(n_layers)),
              "runs in which layer 1, 2, … is best"]  # fmt: skip
    return (
        "## Figures 4 and 5: sub-models\n\n"
        f"One cascade of {n_layers} layers a run, forests of {trees} trees, cut after each layer: "
        "here a layer does not depend on how many follow, so one run gives all sub-models.\n\n"
        + study.markdown(header, rows)
        + "\n\n![Figures 4 and 5](deep_forest_layers.png)\n"
    )


def _page_networks(journal: study.Journal, out: Path) -> str:
    names = _sets_with(journal, figure=6)
    if not names:
        return ""
    plt = _plot()
    figure, axes = plt.subplots(
        len(names), 3, figsize=(10, 2.2 * len(names)), squeeze=False, layout="constrained"
    )
    rows = []
    for name, line in zip(names, axes, strict=True):
        runs = [result for _, result in journal.find(figure=6, set=name)]
        runs = [run for run in runs if run["optimal"] > 1]  # else there is no shallower tree
        for place, (kind, axis) in enumerate(zip(NETWORKS, line, strict=True)):
            pairs, trees, new = (
                [list(run[what].values())[place] for run in runs]
                for what in ("network", "tree", "first_cut")
            )
            depths = sorted(int(list(run["network"])[place]) for run in runs)
            depth = "–".join(map(str, dict.fromkeys((depths[0], depths[-1]))))
            scores, tree = 100 * np.array(pairs), 100 * np.mean(trees)
            axis.boxplot(scores, tick_labels=DEPTHS)
            axis.axhline(tree, color="green", linestyle="--")
            axis.set_title(f"{name}: first tree of depth {depth}", fontsize=8)
            axis.tick_params(labelsize=6)
            mean = scores.mean(axis=0)
            n_new = sum(is_new for is_new, _ in new)
            where = f"{np.mean([t for _, t in new]):.2f}"
            best = f"{mean.max():.2f} ({DEPTHS[np.argmax(mean)]})"
            rows.append([name, f"{depth} ({kind})", len(runs), f"{tree:.2f}", f"{mean[0]:.2f}",
                         best, f"{n_new} of {len(new)}", where])  # fmt: skip
    figure.savefig(out / "deep_forest_networks.png")
    header = ["set", "first depth", "runs", "single tree", "second depth 1", "best (second depth)",
              "first cut on a new feature", "at"]  # fmt: skip
    return (
        "## Figures 6 and 7: networks of two trees\n\n"
        "The optimal depth of a single tree is found by 3-fold cross-validation. The dashed line "
        "is the single tree of the first tree's depth. Where a set has an official test part there "
        "is one run: nothing in these trees is left to chance.\n\n"
        + study.markdown(header, rows)
        + "\n\n![Figure 6](deep_forest_networks.png)\n"
    )


def main(argv: list[str] | None = None) -> None:
    """Run what the command line asks for, and write the page."""
    parser = study.parser(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET")
    parser.add_argument("--figure", nargs="+", type=int, choices=(2, 4, 6, 9), default=[9, 6, 2, 4])
    parser.add_argument(
        "--repetitions", type=int, default=100, help="samples from each chessboard (Figure 9)"
    )
    parser.add_argument("--trees", type=int, default=500, help="trees in a forest")
    parser.add_argument("--layers", type=int, default=6, help="layers of Figures 4 and 5")
    parser.add_argument("--render", action="store_true", help="only write the page")
    arguments = parser.parse_args(argv)
    if arguments.quick:
        arguments.sets = [name for name in arguments.sets if name in QUICK]
        arguments.trees, arguments.layers, arguments.seeds = 20, 3, min(arguments.seeds, 2)
        arguments.repetitions = 20
    arguments.command = (
        f"--trees {arguments.trees} --layers {arguments.layers} --seeds {arguments.seeds}"
    )
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    journal = study.Journal(out / "deep_forest.jsonl")
    if not arguments.render:
        run(arguments, journal, study.folder(arguments.data), out)
    study.write_page(out / "deep_forest.md", page(journal, arguments, out))
    print(out / "deep_forest.md")


if __name__ == "__main__":
    main()
