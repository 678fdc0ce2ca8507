"""A folder of data sets: one Parquet file for each, which may say what is for training."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.datasets.files import read_frame

VARIABLE = "HEDGEROW_DATA"


def data_folder(given: str | None = None) -> Path | None:
    """The folder as given, else as the environment variable names it; None where there is none."""
    named = given or os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


def sets_in(folder: Path) -> list[str]:
    """The names of the data sets in a folder."""
    return sorted(path.stem for path in folder.glob("*.parquet"))


def read_set(name: str, folder: Path) -> tuple[Any, np.ndarray | None]:
    """A data set of the folder.

    Parameters
    ----------
    name : str
    folder : Path

    Returns
    -------
    frame : pandas DataFrame
        Features and target.
    split : ndarray of str or None
        "train" or "test" for each row, from the column "split" where there is one.
    """
    frame = read_frame(folder / f"{name}.parquet")
    split = frame.pop("split").to_numpy(str) if "split" in frame else None
    return frame, split
