"""The gallery: `hedgerow compare` on four data sets, eight minutes each at most, with pictures.

For each set it writes docs/gallery/<set>/report.html and results.json, pictures beside them
(<set>.png, and -model, -phone and -dark), and then docs/gallery/README.md and the sentence of the
README that draws on it, from the results that are there. A set whose results.json exists is left
as it is, so an interrupted run goes on where it stopped; remove the file to run the set again.

    HEDGEROW_DATA=folder python benchmarks/gallery.py
    python benchmarks/gallery.py --budget 30s --out gallery iris

Without HEDGEROW_DATA the sets come from OpenML. The pictures need playwright, Pillow and Chromium
(`pip install playwright pillow && playwright install chromium`); without them there are none.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from hedgerow._files import write_text
from hedgerow.cli.leaderboard import significant
from hedgerow.comparison import Comparison, compare
from hedgerow.comparison.metrics import label_of
from hedgerow.comparison.records import UNITS
from hedgerow.datasets import load_data
from hedgerow.papers import study

SETS = ("adult", "letter", "california_housing", "breast_cancer")
GALLERY = Path("docs/gallery")
HEADLINE = re.compile(r"(?<=<!-- headline -->).*?(?=<!-- end -->)", re.DOTALL)  # of the README
NEARLY = 0.95  # of what the best gains on a constant
MOST_ROWS = 8  # of a leaderboard on the page
LOAD = (
    "Load of the machine, mean of the last quarter of an hour: {:.0f} processes on {} processors. "
    "Where that is more than one for each, times are those of a shared machine, and fewer models "
    "fit into the time; scores and sizes do not depend on it. Bytes: nodes of 16 bytes and the "
    "values of leaves, for all libraries alike; file: hedgerow's own format, other libraries' "
    "pickles, of models up to 4 MB."
)


def run(name, budget, n_jobs, folder):
    table = load_data(name)
    comparison = compare(
        table.X,
        table.y,
        budget=budget,
        n_jobs=n_jobs,
        name=name,
        target=table.target,
        reading=table.reading,
        progress=True,
    )
    folder.mkdir(parents=True, exist_ok=True)
    comparison.report().write_html(folder / "report.html")
    write_text(folder / "results.json", comparison.to_json())


def take_pictures(report, out):
    """Pictures of a report; whether they could be taken."""
    command = [sys.executable, str(GALLERY / "screenshots.py"), str(report), str(out)]
    return subprocess.run(command).returncode == 0


def headline(name, comparison):
    """The smallest of our models that gains nearly what the best does, beside the best booster."""
    metric = comparison.metric
    floor = comparison.constant.mean(metric)
    enough = floor + NEARLY * (comparison.best_model.mean(metric) - floor)
    ours = [r for r in comparison.ranked if r.is_ours and r.mean(metric) >= enough]
    boosters = [r for r in comparison.ranked if r.family == "boosting" and not r.is_ours]
    if not ours or not boosters:
        return ""
    small, booster = min(ours, key=lambda r: r.n_bytes), boosters[0]
    return (
        f"On {name}, {small.name.removeprefix('hedgerow ')} with {small.n_splits:,} splits in "
        f"{small.n_bytes:,} bytes reaches {small.mean(metric):.1%} {label_of(metric)} where\n"
        f"{booster.name}, the best booster of other libraries, reaches {booster.mean(metric):.1%} "
        f"with {booster.n_splits:,} splits in {booster.n_bytes:,} bytes of the same nodes."
    )


def leaderboard(comparison):
    metric, other = comparison.metrics[:2]
    rows = []
    for row in [row for row in comparison.rows if row["rank"]][:MOST_ROWS]:
        rows.append(
            [
                row["model"],
                f"{row[metric]:.4f}" + (" ≈" if row["about_as_good"] else ""),
                significant(row[other], 4),
                "?" if row["splits"] is None else f"{row['splits']:,}",
                "?" if row["longest_path"] is None else f"{row['longest_path']:,}",
                f"{row['bytes']:,}",
                "" if row["file_bytes"] is None else f"{row['file_bytes']:,}",
                significant(row["fit_seconds"], 2),
                significant(row["us_per_row"], 2),
            ]
        )
    names = label_of(metric), label_of(other)
    header = ["model", *names, "splits", "path", "bytes", "file", "fit s", UNITS["latency"]]
    return study.markdown(header, rows)


def made(command):
    facts = study.surroundings()
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"Made by `{command}` on {facts['date']}, one set at a time, a single run of each; commit "
        f"{facts.get('commit', 'unknown')}; {versions}, "
        f"{platform.machine()}."
    )


def section(name, folder):
    comparison = Comparison.from_json((folder / name / "results.json").read_text())
    data = comparison.data
    fronts = [
        f"- {cost}: " + " → ".join(comparison.pareto(cost))
        for cost in ("splits", "bytes", "latency")
    ]
    left_out = [f"{r.name} ({r.error})" for r in comparison.results if r.error]
    parts = [
        f"## {name}",
        f"{comparison.task.capitalize()}, {data.n_rows:,} rows, {data.n_features} features; "
        f"{comparison.n_folds} folds in {comparison.seconds / 60:.1f} minutes. "
        f"[The report]({name}/report.html), [the figures]({name}/results.json).",
        leaderboard(comparison),
        "≈: about as good as the best. Fronts of score against cost:",
        "\n".join(fronts),
    ]
    if left_out:
        parts.append("Left out: " + "; ".join(left_out) + ".")
    if (folder / f"{name}.png").exists():
        parts.append(f"[![The report on {name}]({name}.png)]({name}/report.html)")
        parts.append(
            f'<img src="{name}-phone.png" alt="On a phone" width="240"> '
            f'<img src="{name}-model.png" alt="Its model" width="560">'
        )
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--budget", default="8min")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=GALLERY)
    options = parser.parse_args()
    for name in options.sets:
        folder = options.out / name
        if not (folder / "results.json").exists():
            run(name, options.budget, options.jobs, folder)
            take_pictures(folder / "report.html", folder)
    command = f"python benchmarks/gallery.py --budget {options.budget} --jobs {options.jobs}"
    intro = [
        "# Gallery",
        "`hedgerow compare` on some well-known tables. The reports are single pages without a "
        "network; save one and open it in a browser.",
        made(command),
        LOAD.format(os.getloadavg()[2], os.cpu_count()),
    ]
    sections = [section(name, options.out) for name in options.sets]
    (options.out / "README.md").write_text("\n\n".join(intro + sections) + "\n")
    if options.out == GALLERY and "adult" in options.sets:
        found = Comparison.from_json((GALLERY / "adult" / "results.json").read_text())
        readme = Path("README.md")
        said = HEADLINE.sub(lambda _: headline("adult", found), readme.read_text())
        readme.write_text(said)


if __name__ == "__main__":
    main()
