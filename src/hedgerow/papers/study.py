"""What every paper's module shares: data, the command line, a journal of results, Markdown.

A study is a list of units (a data set, a seed, a method). Each finished unit goes into a `Journal`
at once, so that an interrupted study continues where it stopped, and the page is made from the
journal alone.
"""

import argparse
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow._journal import Journal
from hedgerow.datasets.folder import VARIABLE, data_folder, read_set, sets_in

__all__ = ["Journal", "StudyData", "folder", "markdown", "one_hot", "parser", "provenance", "read"]

PACKAGES = ("hedgerow", "numpy", "scikit-learn")


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


def provenance(command: str) -> str:
    """When, with what and how a page was made."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.now(UTC).date().isoformat()
    return (
        f"Made on {today} with {versions}, Python {platform.python_version()}, "
        f"on {os.cpu_count()} cores ({platform.machine()}), by `{command}`."
    )
