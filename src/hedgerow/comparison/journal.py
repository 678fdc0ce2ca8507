"""Finished folds on the disk, from which a comparison that was killed goes on.

The first line of the file says what was compared; every other one is a fold of a model, written
when it is finished.
"""

import base64
import hashlib
import os
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from hedgerow._columns import is_frame
from hedgerow._journal import Journal

FORMAT = 2


@dataclass
class Fold:
    """What one model did in one fold.

    Attributes
    ----------
    number : int
    scores : dict of str to float
    costs : tuple
        Splits, bytes, depth and microseconds per row, None where they are not known.
    n_file_bytes : int or None
        Of the model in a file, where it was written.
    fit_seconds, seconds : float
        Of the fit, and of all of it.
    settings : dict
        What tuning, or a limit, chose.
    predictions : ndarray of shape (n_test,)
        Class codes or numbers.
    probabilities : ndarray of shape (n_test, n_classes) or None
    """

    number: int
    scores: dict[str, float]
    costs: tuple
    fit_seconds: float
    seconds: float
    settings: dict[str, Any]
    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    n_file_bytes: int | None = None


class FoldJournal:
    """The journal of one comparison.

    Parameters
    ----------
    path : path-like
    comparison : dict
        What a fold depends on, as `describe` gives it.
    resume : bool or None
        True goes on with the folds that are there, and refuses those of another comparison; False
        deletes them; None does so unless they are of this very comparison.
    """

    def __init__(
        self, path: str | os.PathLike, comparison: dict[str, Any], resume: bool | None
    ) -> None:
        self._journal = Journal(path)
        lines = self._journal.lines
        written = lines[0].get("comparison") if lines else None
        if resume is None and written == comparison and len(lines) > 1:
            raise ValueError(
                f"'{path}' has {len(lines) - 1} finished folds of this very comparison: go on from "
                "them with resume=True ('--resume'), or start anew with resume=False "
                "('--no-resume')."
            )
        if resume and lines:
            self._check(written, comparison)
        else:
            self._journal.replace([{"comparison": comparison}])

    def _check(self, written: Any, here: dict[str, Any]) -> None:
        path = self._journal.path
        if not isinstance(written, dict):
            raise ValueError(f"'{path}' is no journal of a comparison, so it cannot be resumed.")
        for name, value in here.items():
            if written.get(name) != value:
                was = f"{name} was {written.get(name)!r}, now it is {value!r}"
                other = {"table": "its table was another one", "folds": "its folds were other ones"}
                raise ValueError(
                    f"'{path}' is the journal of another comparison: {other.get(name, was)}. Start "
                    "anew with resume=False ('--no-resume'), or give another place for the results."
                )

    def folds_of(self, model: str, n_folds: int) -> list[Fold]:
        """The finished folds of a model, in order."""
        found = {
            line["fold"]: Fold(
                line["fold"],
                line["scores"],
                tuple(line["costs"]),
                line["fit_seconds"],
                line["seconds"],
                line["settings"],
                _decode(line["predictions"]),
                None if line["probabilities"] is None else _decode(line["probabilities"]),
                line["n_file_bytes"],
            )
            for line in self._journal.lines[1:]
            if line["model"] == model and line["fold"] < n_folds
        }
        return [found[number] for number in sorted(found)]

    def write(self, model: str, fold: Fold) -> None:
        """Write a finished fold to the disk."""
        shares = fold.probabilities
        self._journal.append(
            {
                "model": model,
                "fold": fold.number,
                "scores": fold.scores,
                "costs": fold.costs,
                "fit_seconds": fold.fit_seconds,
                "seconds": fold.seconds,
                "settings": fold.settings,
                "predictions": _encode(fold.predictions),
                "probabilities": None if shares is None else _encode(shares),
                "n_file_bytes": fold.n_file_bytes,
            }
        )


def describe(X: Any, y: np.ndarray, splits: list, **settings: Any) -> dict[str, Any]:
    """What the folds of a comparison depend on; table and folds as checksums."""
    return {
        "format": FORMAT,
        "hedgerow": version("hedgerow"),
        "table": _checksum([*_columns(X), y]),
        "folds": _checksum([part for split in splits for part in split]),
        **settings,
    }


def _columns(X: Any) -> Any:
    if not is_frame(X):
        yield X
        return
    for place, name in enumerate(X.columns):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
        yield np.array([str(name), str(column.dtype)])
        yield np.asarray(column)


def _checksum(arrays: list) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        array = np.asarray(array)
        if array.dtype.kind == "O":
            array = array.astype(str)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _encode(array: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(zlib.compress(array.tobytes(), 1)).decode()
    return {"dtype": array.dtype.str, "shape": array.shape, "data": data}


def _decode(record: dict[str, Any]) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(record["data"]))
    return np.frombuffer(data, dtype=record["dtype"]).reshape(record["shape"])
