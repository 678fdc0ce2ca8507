"""The one ranking of a comparison, and the one rule for "about as good as the best".

Models are ranked by their mean score over the folds that all ranked models finished: no model is
ahead, or behind, for the folds it happened to have. One that failed, ran out of time, or is more
than one fold behind is named and not ranked.

A model is *about as good* as the best where the mean of its paired differences from it is at most
one standard error of that mean, and at most `MOST_GIVEN_UP` of what the best gains on a constant.
The standard error is that of C. Nadeau and Y. Bengio, "Inference for the generalization error"
(2003): training sets of folds overlap, so the plain one is too small. The second condition is for
few folds, whose standard error may be large for want of evidence.
"""

import math

import numpy as np

from hedgerow.comparison.metrics import gain
from hedgerow.comparison.records import CONSTANT, INTERRUPTED, Result
from hedgerow.model_selection import corrected_t_test

MOST_GIVEN_UP = 0.05
LEFT_OUT = "left out: "  # begins the reasons of a schedule


def rank(results: list[Result], metric: str) -> None:
    """Sort results, the best first, and note in each the folds that the ranking counts."""
    tested = [
        fold for fold in {f for r in results for f in r.folds} if _tells(results, metric, fold)
    ]
    finished = {r.name: sorted(set(r.folds) & set(tested)) for r in results}
    sound = [r for r in results if finished[r.name] and _is_sound(r, metric, finished[r.name])]
    models = [r for r in sound if r.family != CONSTANT]
    whole = [r for r in models if r.error in (None, INTERRUPTED)] or models
    most = max((len(finished[r.name]) for r in whole), default=0)
    ranked = [r for r in whole if len(finished[r.name]) >= most - 1]
    counted = _common([finished[r.name] for r in ranked])
    if not counted:  # folds of different runs
        ranked = [r for r in ranked if len(finished[r.name]) == most][:1]
        counted = _common([finished[r.name] for r in ranked])
    ranked += [r for r in sound if r.family == CONSTANT and set(counted) <= set(r.folds)]
    for result in results:
        result.counted = counted if any(result is r for r in ranked) else []
    results.sort(key=lambda r: _place(r, metric))


def _tells(results: list[Result], metric: str, fold: int) -> bool:
    """Whether any model has a score in a fold: an AUC needs rows of both classes."""
    return any(math.isfinite(r.score_of(metric, fold)) for r in results if fold in r.folds)


def _is_sound(result: Result, metric: str, folds: list[int]) -> bool:
    return all(math.isfinite(result.score_of(metric, fold)) for fold in folds)


def _common(folds: list[list[int]]) -> list[int]:
    return sorted(set.intersection(*map(set, folds))) if folds else []


def _place(result: Result, metric: str) -> tuple:
    size = math.inf if result.n_bytes is None else result.n_bytes
    score = gain(metric, result.mean(metric))
    behind = -score if math.isfinite(score) else math.inf
    return (not result.is_ranked, not result.folds, behind, size, result.name)


def unranked(results: list[Result]) -> dict[str, list[str]]:
    """The models without a place in the ranking, by the reason."""
    reasons: dict[str, list[str]] = {}
    for result in results:
        if not result.is_ranked:
            n = len(result.folds)
            done = f", after {n} fold{'' if n == 1 else 's'}" if n else ""
            reason = (result.error or "it has no score").removeprefix(LEFT_OUT)
            reasons.setdefault(reason + done, []).append(result.name)
    return reasons


def judge(results: list[Result], metric: str, test_ratio: float, constant: Result | None) -> None:
    """Note in each ranked result whether it is about as good as the best, which is the first."""
    ranked = [result for result in results if result.is_ranked]
    for result in results:
        result.p_value, result.standard_error, result.about_as_good = None, None, False
    if not ranked:
        return
    best = ranked[0]
    top = gain(metric, best.mean(metric))
    floor = None if constant is None else gain(metric, constant.mean(metric))
    margin = math.inf if floor is None else MOST_GIVEN_UP * max(top - floor, 0.0)
    for result in ranked:
        behind = top - gain(metric, result.mean(metric))
        ours, theirs = (
            np.array([gain(metric, r.score_of(metric, fold)) for fold in r.counted])
            for r in (result, best)
        )
        error = 0.0
        if len(ours) > 1:
            error = math.sqrt((1 / len(ours) + test_ratio) * np.var(theirs - ours, ddof=1))
            if result is not best:
                result.p_value = corrected_t_test(ours, theirs, test_ratio).pvalue
                result.standard_error = error
        # Scores that are equal differ by rounding.
        result.about_as_good = result is best or behind <= min(error, margin) + 1e-12
