"""What every paper's module shares: data, the command line, a journal of results, claims, Markdown.

A study is a list of units (a data set, a seed, a method). Each finished unit goes into a `Journal`
at once, with what it was run with, so that an interrupted study continues where it stopped, and the
page is made from the journal alone. What a paper claims is a list of `Claim`, each with a verdict
that is computed from the numbers.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow import _journal
from hedgerow.datasets.folder import VARIABLE, data_folder, read_set, sets_in

__all__ = [
    "Claim",
    "Journal",
    "StudyData",
    "claims_table",
    "counted",
    "folder",
    "markdown",
    "one_hot",
    "parser",
    "provenance",
    "read",
    "spread",
    "standing",
    "write_page",
]

PACKAGES = ("hedgerow", "numpy", "scikit-learn")
NOT_RUN = "not run"
VERDICTS = {True: "holds", False: "**does not hold**", None: "cannot be said"}
BETTER = "Better than published: "
OLDER = "\n## Older figures\n"


class Claim(NamedTuple):
    """What a paper says, and what is found here.

    Attributes
    ----------
    text : str
    published, found : str
        The figures behind it, where there are any.
    holds : bool or None
        None where the runs so far cannot tell.
    """

    text: str
    published: str
    found: str
    holds: bool | None


class Journal(_journal.Journal):
    """Units of a study, each with the commit, the date and the versions that it was run with."""

    def __init__(self, path: str | os.PathLike) -> None:
        super().__init__(path)
        self._results = {_text_of(line["key"]): line["result"] for line in self.lines}

    def append(self, line: dict[str, Any]) -> None:
        super().append(line)
        self._results[_text_of(line["key"])] = line["result"]

    def add(self, key: dict[str, Any], **result: Any) -> dict[str, Any]:
        """Write down the result of a unit."""
        self.append({"key": key, "result": result, "run": surroundings()})
        return result

    def get(self, **key: Any) -> dict[str, Any] | None:
        """The last result of a unit, or None if it has not run."""
        return self._results.get(_text_of(key))

    def run(self, key: dict[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of a unit, which does its work if it has not yet been done."""
        found = self.get(**key)
        if found is None:
            start = time.process_time()
            found = work()
            run = surroundings() | {"seconds": round(time.process_time() - start, 2)}
            self.append({"key": key, "result": found, "run": run})
        return found


def _text_of(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


@cache
def _commit() -> str:
    """The commit of the sources, if they are a checkout; '+' where they differ from it."""
    here = Path(__file__).parent

    def git(*command: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(here), *command], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        tracked = git("ls-files", "--error-unmatch", str(here / "study.py"))
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/src", ":/cpp")
        return git("rev-parse", "--short=10", "HEAD") + "+" * bool(changed) if tracked else ""
    except (OSError, subprocess.CalledProcessError):
        return ""


def surroundings() -> dict[str, Any]:
    """What a unit is run with: commit, date, versions."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    versions["Python"] = platform.python_version()
    commit = {"commit": _commit()} if _commit() else {}
    return commit | {"date": datetime.now(UTC).date().isoformat(), "versions": versions}


class StudyData(NamedTuple):
    """A data set: features as a frame, the target as a series, 'train' or 'test' of each row."""

    X: Any
    y: Any
    split: np.ndarray | None


def parser(documentation: str | None) -> argparse.ArgumentParser:
    """A command line with the options that every study has."""
    arguments = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--data", metavar="FOLDER", help="Parquet files (default: HEDGEROW_DATA)"
    )
    arguments.add_argument(
        "--out", metavar="FOLDER", default="reproduced", help="results and figures"
    )
    arguments.add_argument("--seeds", type=int, default=5, help="repetitions (default: 5)")
    arguments.add_argument("--quick", action="store_true", help="a short form that takes a minute")
    return arguments


def folder(given: str | None = None) -> Path:
    """The folder of data sets: as given, else from HEDGEROW_DATA; ends with a message if none."""
    found = data_folder(given)
    if found is None:
        named = given or os.environ.get(VARIABLE)
        sys.exit(
            f"Give the folder of Parquet files with --data, or in {VARIABLE}"
            + (f"; {named!r} is not a folder." if named else ".")
        )
    return found


def read(name: str, where: Path) -> StudyData:
    """Data set `name`: ``name.parquet`` with a column 'target' and perhaps 'split'."""
    if name not in sets_in(where):
        sys.exit(f"The data folder has no file {name}.parquet.")
    frame, split = read_set(name, where)
    return StudyData(frame, frame.pop("target"), split)


def one_hot(frame: Any) -> np.ndarray:
    """The features as a float64 matrix: a 0/1 column per category, gaps filled with the mean."""
    import pandas as pd

    matrix = pd.get_dummies(frame, dtype=float).astype(float)
    return matrix.fillna(matrix.mean()).fillna(0.0).to_numpy()


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean, and the standard deviation between runs where there are several."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"


def claims_table(claims: Sequence[Claim]) -> str:
    """What the paper says, what is found, and whether that agrees."""
    rows = [(c.text, c.published, c.found, VERDICTS[c.holds]) for c in claims]
    return markdown(["claim", "paper", "here", ""], rows)


def counted(text: str, where: Sequence[str], elsewhere: Sequence[str], published: str) -> Claim:
    """A claim about sets, published as "19 of 20" or "all", with those on which it is so and not.

    It holds with at least the published share, less one set.
    """
    n = len(where) + len(elsewhere)
    if not n:
        return Claim(text, published, NOT_RUN, None)
    count, of = (1, 1) if published == "all" else map(int, published.split(" of "))
    holds = len(where) + 1 >= n * count / of
    not_on = f" (not on {', '.join(elsewhere)})" if 0 < len(elsewhere) <= 6 else ""
    return Claim(text, published, f"{len(where)} of {n}{not_on}", holds)


def standing(pages: Path, link: str = "docs/papers") -> str:
    """A line for each page: how many of its claims have been re-run, hold and do not, and its line
    that begins with `BETTER`."""
    rows = []
    for path in sorted(pages.glob("*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        holds, fails = (sum(line.endswith(f"| {VERDICTS[v]} |") for line in lines)
                        for v in (True, False))  # fmt: skip
        better = [line.removeprefix(BETTER) for line in lines if line.startswith(BETTER)]
        title = f"[{lines[0].lstrip('# ')}]({link}/{path.name})"
        rows.append([title, holds + fails, holds, fails, " ".join(better)])
    header = ["paper", "claims re-run", "hold", "do not hold", "better than published"]
    return markdown(header, rows)


def write_page(path: Path, text: str) -> None:
    """Write a page; what an earlier one has under `OLDER`, of runs without a journal, stays."""
    earlier = path.read_text(encoding="utf-8") if path.exists() else ""
    _, heading, older = earlier.partition(OLDER)
    path.write_text(text.rstrip("\n") + "\n" + heading + older, encoding="utf-8")


def provenance(journal: Journal, command: str) -> str:
    """When, with what and how the units of a page were run."""
    runs = [line["run"] for line in journal.lines if "run" in line]
    if not runs:
        return f"Made by `{command}`."
    dates = sorted(run["date"] for run in runs)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    commits = Counter(run.get("commit", "no checkout") for run in runs)
    which = ", ".join(f"{commit} ({count})" for commit, count in commits.most_common())
    versions = sorted({f"{k} {v}" for run in runs for k, v in run["versions"].items()})
    minutes = sum(run.get("seconds", 0.0) for run in runs) / 60
    took = f"{minutes:.1f} processor minutes" if minutes < 60 else f"{minutes / 60:.1f} hours"
    return (
        f"Made by `{command}` from {len(runs)} runs in "
        f"[the journal]({journal.path.name}), which has commit, date, versions and seconds of "
        f"each: {when}, {took}; commits {which} ('+': with changes); "
        f"{', '.join(versions)}."
    )
