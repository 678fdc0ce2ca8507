"""How the rows are divided into training and test rows, and what that is called.

Shuffled folds are for rows that have nothing to do with each other. Rows that belong together
(`groups`), follow one another (`time`), or were divided by somebody else (`split`, `test`) need
folds that respect it, or the score is that of another task.
"""

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from hedgerow import _parameters as parameters
from hedgerow.comparison.records import Task

NAME_OF_A_DIVISION = re.compile(
    r"(cv_?)?(split|fold|partition|subset)s?(_?(id|nr|no))?|(is_?)?(train|test)(_?(set|test))?",
    re.IGNORECASE,
)
_TEST = {"test", "testing", "holdout", "hold-out", "eval", "evaluation"}
_TRAIN = {"train", "training", "dev", "development", "learn"}
_VALID = {"val", "valid", "validation"}
MOST_FOLDS = 20  # that a column may number


@dataclass(frozen=True)
class Division:
    """Folds.

    Attributes
    ----------
    splits : list of (train, test)
    words : str
        What they are, for people.
    is_shuffled : bool
        Whether rows went to folds by chance.
    fit_rows : ndarray or None
        The rows that a final model is fitted on; None for all.
    """

    splits: list[tuple[np.ndarray, np.ndarray]]
    words: str
    is_shuffled: bool = False
    fit_rows: np.ndarray | None = None


def divide(
    cv: Any,
    task: Task,
    y: np.ndarray,
    seed: int,
    *,
    repeats: int = 1,
    groups: np.ndarray | None = None,
    time: np.ndarray | None = None,
    split: np.ndarray | None = None,
    n_test: int = 0,
) -> Division:
    """Make the folds of a comparison.

    Parameters
    ----------
    cv : int or cross-validator
    task : {"classification", "regression"}
    y : ndarray of shape (n_rows,)
    seed : int
    repeats : int, default=1
        How often the rows are shuffled anew.
    groups, time, split : ndarray of shape (n_rows,), default=None
        At most one of them.
    n_test : int, default=0
        So many rows at the end are the test rows, and there is no other fold.

    Returns
    -------
    division : Division
    """
    ways = {"groups": groups, "time": time, "split": split, "test": n_test or None}
    used = [name for name, value in ways.items() if value is not None]
    if len(used) > 1:
        raise ValueError(f"'{used[0]}' and '{used[1]}' are two ways to divide the rows: give one.")
    parameters.check_int("repeats", repeats, low=1)
    if repeats > 1 and (used not in ([], ["groups"]) or hasattr(cv, "split")):
        raise ValueError("'repeats' shuffles the rows anew, which this division does not allow.")
    rows = np.arange(len(y))
    if n_test:
        train, test = rows[: len(y) - n_test], rows[len(y) - n_test :]
        return Division([(train, test)], "one test table", fit_rows=train)
    if split is not None:
        return _by_column(split)
    if hasattr(cv, "split"):
        return Division(list(cv.split(np.zeros(len(y)), y, groups)), "folds as given")
    parameters.check_int("cv", cv, low=2)
    if time is not None:
        return _by_time(time, cv)
    stratified = task == "classification"
    if groups is not None:
        return _by_groups(groups, cv, y, stratified, seed, repeats)
    _check_classes(y, cv, stratified)
    how: Any
    if repeats > 1:
        how = RepeatedStratifiedKFold if stratified else RepeatedKFold
        folds = how(n_splits=cv, n_repeats=repeats, random_state=seed).split(rows, y)
    else:
        how = StratifiedKFold if stratified else KFold
        folds = how(cv, shuffle=True, random_state=seed).split(rows, y)
    often = f", {repeats} times" if repeats > 1 else ""
    words = f"{cv} {'stratified' if stratified else 'shuffled'} folds{often}"
    with warnings.catch_warnings():  # of classes with few rows, which `watch` names
        warnings.filterwarnings("ignore", message="The least populated class")
        return Division(list(folds), words, is_shuffled=True)


def _check_classes(y: np.ndarray, n_folds: int, stratified: bool) -> None:
    if stratified and np.unique(y, return_counts=True)[1].max() < n_folds:
        raise ValueError(
            f"'cv' must be at most the rows of the largest class for classification, got {n_folds}."
        )


def _by_time(time: np.ndarray, n_folds: int) -> Division:
    """Folds that are ever later, each tested by models that saw only what was before."""
    missing = np.array([value is None or value != value for value in time.tolist()])
    if missing.any():
        raise ValueError(f"'time' is missing in {missing.sum()} rows: leave them out.")
    if len(np.unique(time)) <= n_folds:
        raise ValueError(
            f"'time' must have more than {n_folds} different values for as many folds."
        )
    order = np.argsort(time, kind="stable")
    splits = []
    for _, test in TimeSeriesSplit(n_folds).split(order):
        begin, end = time[order[test[0]]], time[order[test[-1]]]
        tested = (time >= begin) & (time <= end)  # rows of one moment stay together
        before = time < begin
        if before.any():
            splits.append((np.flatnonzero(before), np.flatnonzero(tested)))
    return Division(splits, f"{len(splits)} folds in the order of time")


def _by_groups(
    groups: np.ndarray, n_folds: int, y: np.ndarray, stratified: bool, seed: int, repeats: int
) -> Division:
    codes = np.unique(groups.astype(str), return_inverse=True)[1]
    n_groups = int(codes.max()) + 1
    if n_groups < n_folds:
        raise ValueError(f"'groups' has {n_groups} different values, too few for {n_folds} folds.")
    how: Any = StratifiedGroupKFold if stratified else GroupKFold
    splits = []
    for repeat in range(repeats):
        # A new order of the rows, and new numbers for the groups: what is left to chance in both.
        rng = np.random.default_rng([seed, repeat])
        order, names = rng.permutation(len(y)), rng.permutation(n_groups)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            found = list(how(n_folds).split(order, y[order], names[codes[order]]))
        splits += [(np.sort(order[train]), np.sort(order[test])) for train, test in found]
    often = f", {repeats} times" if repeats > 1 else ""
    return Division(splits, f"{n_folds} folds of whole groups, of {n_groups:,}{often}")


def _by_column(split: np.ndarray) -> Division:
    """Training and test rows by their words, or one fold for each number."""
    words = np.array([str(value).strip().lower() for value in split.tolist()])
    rows, known = np.arange(len(words)), set(words)
    is_test = np.isin(words, list(_TEST))
    if is_test.any() and known <= _TEST | _TRAIN | _VALID:
        train = rows[~is_test]
        if not len(train):
            raise ValueError("'split' has test rows only.")
        return Division([(train, rows[is_test])], "the given test rows", fit_rows=train)
    if known <= {"true", "false"} or known <= {"yes", "no"}:
        raise ValueError(
            "'split' must say which rows are for what ('train', 'test') or number the folds; "
            f"{sorted(known)} does neither."
        )
    if 2 <= len(known) <= MOST_FOLDS and all(re.fullmatch(r"-?\d+(\.0)?", w) for w in known):
        splits = [(rows[words != w], rows[words == w]) for w in sorted(known)]
        return Division(splits, f"{len(splits)} given folds")
    shown = ", ".join(sorted(known)[:5])
    raise ValueError(
        f"'split' must say 'train' and 'test', or number at most {MOST_FOLDS} folds; it has "
        f"{shown}{', ...' if len(known) > 5 else ''}."
    )
