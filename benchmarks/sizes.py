"""The best model for any size: score at equal splits and at equal bytes.

Every contender fills each limit from a ladder of settings (`ladders.py`). What it takes, settings
and size within the limit, is chosen on held-out rows of the training fold; it is then fitted again
on the whole fold and scored once on the test fold. Each result is a line of `results/sizes.jsonl`,
so that parts run on their own, and a stopped run goes on with `--resume`.

    python benchmarks/sizes.py                                   # everything, hours
    python benchmarks/sizes.py --models CART TAO --sets adult    # these anew
    python benchmarks/sizes.py --models LightGBM --resume        # what is not there yet
    python benchmarks/sizes.py --render                          # the page from what there is
"""

import argparse
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import measure
import numpy as np
from ladders import CONTENDERS, Rows
from measure import markdown
from sklearn.model_selection import KFold, StratifiedKFold

from hedgerow.papers import study

# Sets of the page; nothing of hedgerow's is chosen on them.
REPORT = {
    "california_housing": "regression",
    "bike_sharing_hour": "regression",
    "cpu_act": "regression",
    "diamonds": "regression",
    "house_8L": "regression",
    "airbnb_berlin": "regression",
    "adult": "classification",
    "bank_marketing": "classification",
    "magic": "classification",
    "spambase": "classification",
    "satimage": "classification",
    "student_dropout": "classification",
    "page_blocks": "classification",
    "credit_g": "classification",
}

# Sets on which settings may be chosen.
CHOOSE = {
    "abalone": "regression",
    "ailerons": "regression",
    "ames_house_prices": "regression",  # categories, missing values
    "casp": "regression",
    "elevators": "regression",
    "flights_3m": "regression",  # categories, very noisy
    "kin8nm": "regression",
    "pol": "regression",
    "puma32H": "regression",
    "car": "classification",  # categories
    "cmc": "classification",  # categories
    "connect4": "classification",  # categories
    "credit_a": "classification",  # categories, missing values
    "higgs_18k": "classification",
    "hypothyroid": "classification",  # categories, missing values
    "letter": "classification",
    "sick": "classification",  # categories, missing values
    "splice": "classification",  # categories
    "waveform5000": "classification",
    "wine_quality_white": "classification",
}

LIMITS = {
    "splits": (5, 10, 20, 40, 80, 160, 320),
    "bytes": (256, 512, 1024, 2048, 4096, 8192, 16384),
}
WHOLE = ("california_housing", "adult")  # every row; of the other sets at most MOST_ROWS
MOST_ROWS = 10_000
FOLDS = 5
FEW_ROWS = 5_000  # a training fold with fewer rows chooses by three inner folds, not by one


def read(name):
    """The rows of a set, a sample where it is large."""
    found = study.read(name, study.folder())
    if REPORT[name] == "regression":
        y, n_classes = found.y.to_numpy("float64"), 0
    else:
        classes, y = np.unique(found.y.to_numpy(), return_inverse=True)
        n_classes = len(classes)
    rows = Rows(found.X, y, n_classes)
    if name in WHOLE or len(y) <= MOST_ROWS:
        return rows
    return rows.take(np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)))


def folds(rows, n, seed=0):
    """Shuffled folds, stratified for classes."""
    splitter = StratifiedKFold if rows.n_classes else KFold
    return list(splitter(n, shuffle=True, random_state=seed).split(rows.frame, rows.y))


def score(rows, stage):
    """Accuracy or R² of a stage on rows, in points."""
    task = "classification" if rows.n_classes else "regression"
    return measure.score(task, rows.y, stage.predict(rows))


def all_limits():
    """Every limit as (unit, amount)."""
    return [(unit, amount) for unit, amounts in LIMITS.items() for amount in amounts]


def choose(contender, train):
    """For every limit the setting, the limit that it is fitted under, and its held-out score.

    A smaller model may be better than one that fills the limit, so all smaller limits are tried.
    """
    inner = folds(train, 3) if len(train.y) < FEW_ROWS else folds(train, 4)[:1]
    parts = [(train.take(learn), train.take(held_out)) for learn, held_out in inner]
    settings = contender.settings(train)
    scores = {}
    for place, setting in enumerate(settings):
        found = defaultdict(list)
        for learn, held_out in parts:
            for limit, stage in contender.fit(setting, learn, all_limits()).items():
                found[limit].append(score(held_out, stage))
        for limit, values in found.items():
            if len(values) == len(parts):
                scores[place, limit] = float(np.mean(values))
    choices = {}
    for unit, amount in all_limits():
        within = [key for key in scores if key[1][0] == unit and key[1][1] <= amount]
        if within:
            best = max(within, key=lambda key: scores[key])
            choices[unit, amount] = settings[best[0]], best[1], scores[best]
    return choices


def run_fold(name, fold, contender, results):
    """All limits of one contender on one fold."""
    began = time.perf_counter()
    rows = read(name)
    train, test = (rows.take(part) for part in folds(rows, FOLDS)[fold])
    choices = choose(contender, train)
    by_setting = defaultdict(set)
    for setting, limit, _ in choices.values():
        by_setting[str(setting)].add(limit)
    stages = {}
    for setting in {str(s): s for s, _, _ in choices.values()}.values():
        for limit, stage in contender.fit(setting, train, sorted(by_setting[str(setting)])).items():
            stages[str(setting), limit] = stage, score(test, stage)
    seconds = round(time.perf_counter() - began, 2)
    for (unit, amount), (setting, limit, held_out) in choices.items():
        if (str(setting), limit) not in stages:
            continue  # a tree of the whole fold is larger than that of a part of it
        stage, tested = stages[str(setting), limit]
        results.add(
            set=name, fold=fold, model=contender.name, unit=unit, limit=amount, score=tested,
            held_out=held_out, splits=stage.n_splits, bytes=stage.n_bytes, settings=setting,
            seconds=seconds,
        )  # fmt: skip
    print(f"{name:20} fold {fold} {contender.name:16} {seconds:.1f} s", flush=True)


def run(given, results):
    """Every wanted contender on every wanted fold."""
    known = {(m["set"], m["fold"], m["model"]) for m in results.measurements()}
    wanted = [
        (name, fold, model)
        for fold in range(FOLDS)
        for name in given.sets
        for model in given.models
    ]
    if not given.resume:
        results.drop(lambda m: (m["set"], m["fold"], m["model"]) in wanted)
        known -= set(wanted)
    for name, fold, model in wanted:
        if (name, fold, model) not in known:
            run_fold(name, fold, CONTENDERS[model], results)


def render(results):
    """The Markdown page from all stored measurements."""


class SizeResults(measure.Results):
    """The journal; a run is described with the commit it ran on."""

    def add(self, **line):
        """Append one measurement."""
        if not any(known["run"] == self.run for known in self.lines):
            call = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
            commit = subprocess.run(call, capture_output=True, text=True).stdout.strip()
            described = {**measure.environment(), "commit": commit}
            self.journal.append({"run": self.run, "environment": described})
        self.journal.append({"run": self.run, **line})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(REPORT), choices=list(REPORT))
    parser.add_argument("--models", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--resume", action="store_true", help="only what is not there yet")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    given = parser.parse_args()
    results = SizeResults("sizes")
    if not given.render:
        run(given, results)
    render(results)


if __name__ == "__main__":
    main()
