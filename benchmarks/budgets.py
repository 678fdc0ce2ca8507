"""Is the time of `hedgerow compare --budget` kept and used, and does it find the best model?

The command runs as a user runs it, one table and one budget at a time. A budget is *kept* where
the command ends before it, or at most 5 % or 2 s later, libraries and the report included. It is
*used* where 70 % of it are, or no model is left that could have run. The best model is *right*
where the run with the longest time on the same table ranks it first or within one standard error of
its first. Each run is a line of `results/budgets.jsonl`, with the load of the machine.

    python benchmarks/budgets.py                             # what is not there yet: 50 minutes
    python benchmarks/budgets.py --budgets 30s --sets adult  # these anew
    python benchmarks/budgets.py --render                    # the page from what there is
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from hedgerow.comparison import Comparison
from hedgerow.comparison.budget import parse_budget
from hedgerow.comparison.metrics import label_of
from hedgerow.papers import study

BUDGETS = ("30s", "60s", "2min")
LONGEST = "10min"  # of the reference, and of the sets of `LONG`
SETS = {
    "adult": None,
    "letter": None,
    "covertype": 50_000,
    "california_housing": None,
    "flights_3m": 200_000,
    "bank_marketing": None,
    "fraud": 60_000,
}
LONG = ("california_housing", "bank_marketing")
OVER_SHARE, OVER_SECONDS, USED = 0.05, 2.0, 0.7
RESULTS = Path(__file__).parent / "results"


def write_table(name, folder):
    """The rows of a set as a Parquet file without its own division."""
    path = folder / f"{name}.parquet"
    if name == "fraud":
        frame = fraud(SETS[name])
    else:
        found = study.read(name, study.folder())
        frame = found.X.assign(target=found.y.to_numpy())
        if SETS[name] is not None:
            rows = np.sort(np.random.default_rng(0).permutation(len(frame))[: SETS[name]])
            frame = frame.iloc[rows].reset_index(drop=True)
    frame.to_parquet(path)
    return path


def fraud(n_rows):
    """Payments of which about one in 250 is a fraud, as far as can be told from them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 12)), columns=[f"v{i}" for i in range(12)])
    frame["amount"] = rng.lognormal(3, 1.2, n_rows).round(2)
    frame["hour"] = rng.integers(0, 24, n_rows)
    frame["shop"] = pd.Categorical(rng.choice([f"shop {i}" for i in range(40)], n_rows))
    score = (
        1.2 * frame["v0"] - frame["v1"] + 0.8 * frame["v2"] * frame["v3"]
        + 0.5 * np.log(frame["amount"]) + 0.8 * (frame["hour"] < 5)
        + 0.6 * frame["shop"].cat.codes.isin([3, 17, 31])
    )  # fmt: skip
    frame["target"] = np.where(score + rng.logistic(size=n_rows) > 8.0, "fraud", "fine")
    return frame


def run(name, budget, folder):
    """One run of the command: what it took, and what it found."""
    out = folder / f"{name}-{budget}"
    command = [
        sys.executable, "-c", "from hedgerow.cli import main; main()", "compare",
        str(write_table(name, folder)), "--target", "target", "--budget", budget,
        "--out", str(out), "--no-resume",
    ]  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        return {"seconds": seconds, "failed": done.stderr.strip().splitlines()[-1]}
    found = Comparison.from_json((out / "results.json").read_text())
    best = found.best_model
    return {
        "seconds": seconds,
        "load": os.getloadavg()[0],
        "metric": found.metric,
        "best": best.name,
        "score": best.mean(found.metric),
        "ranked": [r.name for r in found.ranked],
        "level": [
            r.name
            for r in found.ranked
            if r.standard_error is None
            or abs(r.mean(found.metric) - best.mean(found.metric)) <= r.standard_error
        ],
        "left_out": [r.name for r in found.results if not r.is_ranked],
    }


def page(journal):
    rows, kept, used, right, n_right = [], 0, 0, 0, 0
    results = [(key, result) for key, result in journal.find() if "failed" not in result]
    results.sort(key=lambda pair: (list(SETS).index(pair[0]["set"]), _seconds(pair[0])))
    reference = {}
    for key, result in results:  # the longest comes last
        reference[key["set"]] = key["budget"], result
    for key, result in results:
        limit = _seconds(key)
        share = result["seconds"] / limit
        in_time = result["seconds"] <= limit + max(OVER_SHARE * limit, OVER_SECONDS)
        is_used = share >= USED or not result["left_out"]
        budget, longest = reference[key["set"]]
        is_reference = budget == key["budget"]
        agrees = result["best"] in longest["level"]
        kept, used = kept + in_time, used + is_used
        if not is_reference:
            right, n_right = right + agrees, n_right + 1
        rows.append(
            [
                key["set"],
                key["budget"],
                f"{result['seconds']:.1f} s",
                f"{share:.0%}"
                + ("" if in_time else " **over**")
                + ("" if is_used else " **idle**"),
                len(result["ranked"]) - 1,
                len(result["left_out"]),
                f"{result['best']}, {label_of(result['metric'])} {result['score']:.4f}",
                "reference" if is_reference else ("yes" if agrees else f"no: {longest['best']}"),
                f"{result['load']:.0f}",
            ]
        )
    header = [
        "set",
        "budget",
        "took",
        "of the budget",
        "ranked",
        "left out",
        "best",
        "right",
        "load",
    ]
    failed = [
        f"{key['set']} at {key['budget']}: {result['failed']}"
        for key, result in journal.find()
        if "failed" in result
    ]
    replaced = [
        f"{line['key']['set']} at {line['key']['budget']}: {line['result']['seconds']:.1f} s "
        f"(commit {line['run']['commit']})"
        for line in journal.lines
        if journal.get(**line["key"]) is not line["result"]
    ]
    parts = [
        "# Budgets of time",
        study.provenance(journal, "python benchmarks/budgets.py"),
        f"Kept (at most {OVER_SHARE:.0%} or {OVER_SECONDS:.0f} s over): {kept} of {len(rows)}. "
        f"Used ({USED:.0%} or more, or no model left): {used} of {len(rows)}. Best model as the "
        "longest run on the same table has it, or within one standard error of that: "
        f"{right} of {n_right}.",
        f"Load is the mean number of processes that wanted one of {os.cpu_count()} processors in "
        "the last minute of a run. Where it is above that, the machine was shared: a run got a "
        "part of it only, so fewer models fit into the time than on a machine of one's own.",
        study.markdown(header, rows),
    ]
    if replaced:
        parts.append(
            "Earlier runs, of which the table has a later one: " + "; ".join(replaced) + "."
        )
    if failed:
        parts.append("Failed: " + "; ".join(failed) + ".")
    return "\n\n".join(parts) + "\n"


def _seconds(key):
    return parse_budget(key["budget"]).seconds


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", choices=SETS)
    parser.add_argument("--budgets", nargs="*")
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    journal = study.Journal(RESULTS / "budgets.jsonl")
    wanted = [
        (name, budget)
        for budget in options.budgets or (*BUDGETS, LONGEST)
        for name in options.sets or SETS
        if budget != LONGEST or options.budgets or name in LONG
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, budget in [] if options.render else wanted:
            key = {"set": name, "budget": budget}
            if options.budgets or journal.get(**key) is None:
                result = run(name, budget, Path(folder))
                journal.add(key, **result)
                print(json.dumps(key | result), flush=True)
    (RESULTS / "budgets.md").write_text(page(journal))


if __name__ == "__main__":
    main()
