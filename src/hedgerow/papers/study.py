"""What every paper's module shares: data, the command line, a journal of results, Markdown.

A study is a list of units (a data set, a seed, a method). Each finished unit goes into a `Journal`
at once, so that an interrupted study continues where it stopped, and the page is made from the
journal alone.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PACKAGES = ("hedgerow", "numpy", "scikit-learn")


class Table(NamedTuple):
    """A data set: features as a frame, the target as a series, 'train' or 'test' of each row."""

    X: Any
    y: Any
    split: np.ndarray | None


def parser(documentation: str | None) -> argparse.ArgumentParser:
    """A command line with the options that every study has."""
    made = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--data", metavar="FOLDER", help="Parquet files (default: HEDGEROW_DATA)")
    made.add_argument("--out", metavar="FOLDER", default="reproduced", help="results and figures")
    made.add_argument("--seeds", type=int, default=5, help="repetitions (default: 5)")
    made.add_argument("--quick", action="store_true", help="a short form that takes a minute")
    return made


def folder(given: str | None) -> Path:
    """The folder of data sets: as given, else from HEDGEROW_DATA; ends with a message if none."""
    named = given or os.environ.get("HEDGEROW_DATA")
    if named is None or not Path(named).is_dir():
        sys.exit(
            "Give the folder of Parquet files with --data, or in HEDGEROW_DATA"
            + (f"; {named!r} is not a folder." if named else ".")
        )
    return Path(named)


def read(name: str, where: Path) -> Table:
    """Data set `name`: ``name.parquet`` with a column 'target' and perhaps 'split'."""
    import pandas as pd

    path = where / f"{name}.parquet"
    if not path.is_file():
        sys.exit(f"The data folder has no file {path.name}.")
    frame = pd.read_parquet(path)
    split = frame.pop("split").to_numpy(str) if "split" in frame else None
    return Table(frame, frame.pop("target"), split)


def one_hot(frame: Any) -> np.ndarray:
    """The features as a float64 matrix: a 0/1 column per category, gaps filled with the mean."""
    import pandas as pd

    matrix = pd.get_dummies(frame, dtype=float).astype(float)
    return matrix.fillna(matrix.mean()).fillna(0.0).to_numpy()


class Journal:
    """Results as JSON lines, one per finished unit; the last line for a key counts."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._results: dict[str, dict] = {}
        self._keys: dict[str, dict] = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:  # cut off by a kill: that unit runs again
                    continue
                self._remember(entry["key"], entry["result"])

    def _remember(self, key: dict, result: dict) -> None:
        name = json.dumps(key, sort_keys=True)
        self._keys[name], self._results[name] = key, result

    def get(self, **key: Any) -> dict | None:
        """The result of a unit, or None if it has not run."""
        return self._results.get(json.dumps(key, sort_keys=True))

    def add(self, key: dict, **result: Any) -> dict:
        """Write down the result of a unit."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        broken = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a") as file:
            file.write("\n" * broken + json.dumps({"key": key, "result": result}) + "\n")
        self._remember(key, result)
        return result

    def find(self, **part: Any) -> list[tuple[dict, dict]]:
        """All (key, result) whose key has these items."""
        return [
            (key, self._results[name])
            for name, key in self._keys.items()
            if part.items() <= key.items()
        ]


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def provenance(command: str) -> str:
    """When, with what and how a page was made."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.now(UTC).date().isoformat()
    return (
        f"Made on {today} with {versions}, Python {platform.python_version()}, "
        f"on {os.cpu_count()} cores ({platform.machine()}), by `{command}`."
    )
