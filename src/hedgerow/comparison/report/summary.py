"""From a comparison to one plain dict with everything that the report shows."""

import math
from collections import Counter
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from sklearn.metrics import brier_score_loss, confusion_matrix, precision_recall_fscore_support

from hedgerow.comparison.metrics import gain, is_higher_better, label_of
from hedgerow.comparison.ranking import unranked
from hedgerow.comparison.records import COSTS, UNITS, Result
from hedgerow.comparison.report.effects import contributions, coverage, dependence
from hedgerow.comparison.report.embedding import look_at_embedding
from hedgerow.comparison.report.exports import exported
from hedgerow.comparison.report.importance import MOST_FEATURES, permutation_importance
from hedgerow.comparison.report.model import choose, describe, fitted
from hedgerow.comparison.report.patience import Patience
from hedgerow.datasets.summary import summarise_columns

if TYPE_CHECKING:  # it makes reports, and so imports this package
    from hedgerow.comparison.comparison import Comparison

MOST_POINTS = 400
MOST_BARS = 15


def summarise(comparison: "Comparison", refit: bool, patience: Patience) -> dict[str, Any]:
    """Summarise a comparison.

    Parameters
    ----------
    comparison : Comparison
    refit : bool
        Whether models may be fitted for it.
    patience : Patience
        The time there is.

    Returns
    -------
    summary : dict
        JSON's own types only. Parts that cannot be made are None.
    """
    X, y = comparison.X, None if comparison.y is None else np.asarray(comparison.y)
    done = comparison.ranked
    summary: dict[str, Any] = {
        "title": f"Which model for {comparison.data.name or 'this table'}?",
        "date": date.today().isoformat(),
        "version": version("hedgerow"),
        "task": comparison.task,
        "metric": label_of(comparison.metric),
        "higher": is_higher_better(comparison.metric),
        "metrics": [label_of(metric) for metric in comparison.metrics],
        "data": _data(comparison),
        "n_folds": comparison.n_folds,
        "division": comparison.division,
        "warnings": list(comparison.warnings),
        "seconds": round(comparison.seconds, 1),
        "interrupted": comparison.interrupted,
        "limits": {key: float(value) for key, value in comparison.limits.items()},
        "leaderboard": [
            _row(comparison, row, result)
            for row, result in zip(comparison.rows, comparison.results, strict=True)
            if result.is_ranked
        ],
        "settings": _settings(comparison),
        "not_ranked": unranked(comparison.results),
        "headline": _headline(comparison) if done else None,
        "fronts": [_front(comparison, done, cost) for cost in COSTS] if done else [],
        "columns": _columns(comparison),
        "notes": list(comparison.reading.notes) if comparison.reading else [],
        "sizes": _sizes(comparison),
        "errors": None,
        "importance": None,
        "model": None,
        "exports": [],
        "embedding": None,
        "layers": None,
        "dependence": None,
        "contributions": None,
        "coverage": None,
    }
    summary["fronts"] = [front for front in summary["fronts"] if front["points"]]
    if not done or y is None:
        return summary
    summary["errors"] = _errors(comparison, comparison.best_model, y)
    summary["coverage"] = coverage(comparison, comparison.best_model, y)
    if X is None or comparison.splits is None:
        return summary
    chosen = choose(comparison, refit, patience)
    if chosen is not None:
        name, model, why = chosen
        result = comparison[name]
        summary["model"] = {
            "name": name,
            "why": why,
            "score": _number(result.mean(comparison.metric)),
            **describe(model, X, y, result.predictions, comparison.random_state),
        }
        summary["exports"] = exported(model)
    summary["embedding"] = look_at_embedding(comparison, X, y, refit, patience)
    summary["layers"] = _layers(comparison, refit, patience)
    summary["importance"], features = _importance(comparison, X, y, refit, patience)
    if patience.for_importance > 0:
        best = comparison.best_model
        summary["dependence"] = dependence(comparison, best.name, features, best.folds[0], refit)
        ours = [result for result in done if result.is_ours]
        summary["contributions"] = contributions(comparison, ours, refit)
    return summary


def _columns(comparison: "Comparison") -> list[dict[str, Any]] | None:
    """Return what the columns of the table hold, and how they were read."""
    if comparison.X is None:
        return None
    data = comparison.data
    found = summarise_columns(
        comparison.X,
        reading=comparison.reading,
        left_out=data.dropped,
        target=data.target or "target",
        y=comparison.y,
    )
    return [asdict(column) for column in found]


def _data(comparison: "Comparison") -> dict[str, Any]:
    data = comparison.data
    return {
        "name": data.name,
        "target": data.target,
        "n_rows": data.n_rows,
        "n_features": data.n_features,
        "n_categorical": data.n_categorical,
        "n_missing": data.n_missing,
        "n_classes": None if comparison.classes is None else len(comparison.classes),
        "dropped": [f"{name} ({reason})" for name, reason in data.dropped.items()],
    }


def _row(comparison: "Comparison", row: dict[str, Any], result: Result) -> dict[str, Any]:
    """Return a line of the leaderboard: a row of the comparison's own table, and what is drawn."""
    first, second = comparison.metrics[:2]
    drawn = {
        "short": short_name(result),
        "ours": result.is_ours,
        "score": row[first],
        "std": row[f"{first}_std"],
        "second": row[second],
        "scores": [_number(result.score_of(first, fold)) for fold in result.folds],
    }
    return {
        key: _number(value) if isinstance(value, float) else value
        for key, value in (row | drawn).items()
    }


def _settings(comparison: "Comparison") -> list[dict[str, str]]:
    """Return what models run with where that is not their class's default."""
    found = []
    for result in comparison.ranked:
        chosen = Counter(_in_words(fold) for fold in result.parameters if fold)
        tuned = ", ".join(
            f"{words} (in {n} of {len(result.parameters)} folds)"
            for words, n in chosen.most_common()
        )
        words = "; ".join(filter(None, (_in_words(result.changed), tuned)))
        if words:
            found.append({"model": result.name, "words": words})
    return found


def _in_words(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value is not None)


def short_name(result: Result) -> str:
    """Return the name without the library, if that is hedgerow."""
    return result.name.removeprefix("hedgerow ")


def _headline(comparison: "Comparison") -> dict[str, Any]:
    """Return the answer in two sentences' worth of facts: the best, and the smallest as good."""
    best = comparison.best_result
    smallest = None
    if any(r.is_ours for r in comparison.ranked):
        found = comparison.simplest_result
        fewer = (found.n_bytes or math.inf) < (best.n_bytes or math.inf)
        smallest = found if found.about_as_good and fewer else None
    return {
        "best": best.name,
        "is_constant": best is comparison.constant,
        "score": _number(best.mean(comparison.metric)),
        "bytes": best.n_bytes,
        "n_level": sum(r.about_as_good for r in comparison.ranked) - 1,
        "n_counted": len(best.counted),
        "smallest": None
        if smallest is None
        else {
            "name": smallest.name,
            "splits": smallest.n_splits,
            "bytes": smallest.n_bytes,
            "score": _number(smallest.mean(comparison.metric)),
        },
    }


def _front(comparison: "Comparison", done: list[Result], cost: Any) -> dict[str, Any]:
    front, unit = set(comparison.pareto(cost)), UNITS[cost]
    points: list[dict[str, Any]] = []
    for result in done:
        paid = getattr(result, COSTS[cost])
        if paid is not None and result is not comparison.constant:
            points.append(
                {
                    "name": result.name,
                    "short": short_name(result),
                    "ours": result.is_ours,
                    "score": _number(result.mean(comparison.metric)),
                    "cost": float(paid),
                    "cost_text": f"{format(paid, ',.3g' if cost == 'latency' else ',')} {unit}",
                    "on_front": result.name in front,
                }
            )
    points.sort(key=lambda p: p["cost"])
    return {"cost": cost, "name": unit, "points": points}


def _sizes(comparison: "Comparison") -> list[dict[str, Any]] | None:
    """Return the ways of the models from one split to their full size, the best first."""
    ways: dict[str, dict[str, Any]] = {}
    for point in sorted(comparison.front, key=lambda point: point.n_splits):
        if point.n_splits > 0 and math.isfinite(point.score):
            short = point.name.removeprefix("hedgerow ")
            start = {"name": point.name, "short": short, "ours": point.is_ours, "points": []}
            way = ways.setdefault(point.name, start)
            way["points"].append({"splits": point.n_splits, "score": point.score})
    if not ways:
        return None

    def best(way: dict[str, Any]) -> float:
        return max(gain(comparison.metric, point["score"]) for point in way["points"])

    return sorted(ways.values(), key=best, reverse=True)


def _errors(comparison: "Comparison", result: Result, y: np.ndarray) -> dict[str, Any] | None:
    """Return where the best model is wrong, on rows it was not fitted on."""
    if result.predictions is None:
        return None
    known = _known(result, comparison)
    actual, predicted = y[known], np.asarray(result.predictions)[known]
    if comparison.task == "regression":
        return {"model": result.name, **_residuals(actual.astype(float), predicted.astype(float))}
    classes = comparison.classes or []
    names = [str(label) for label in classes]
    counts = confusion_matrix(actual, predicted, labels=classes)
    scores = precision_recall_fscore_support(actual, predicted, labels=classes, zero_division=0.0)
    curve = None
    if result.probabilities is not None:
        curve = _calibration(np.asarray(result.probabilities)[known], actual, classes)
    return {
        "model": result.name,
        "confusion": {"labels": names, "counts": counts.tolist()},
        "per_class": [
            {"name": name, "precision": p, "recall": r, "f1": f, "rows": int(n)}
            for name, p, r, f, n in zip(names, *(s.tolist() for s in scores), strict=True)
        ],
        "calibration": curve,
    }


def _known(result: Result, comparison: "Comparison") -> np.ndarray:
    """Return the rows that were predicted: those that the finished folds tested."""
    if comparison.splits is None:
        return np.arange(len(result.predictions))  # type: ignore[arg-type]
    return np.unique(np.concatenate([comparison.splits[fold][1] for fold in result.folds]))


def _calibration(p: np.ndarray, actual: np.ndarray, classes: list) -> dict[str, Any]:
    """Return how often a class occurs where it was given some probability, in ten bins."""
    if len(classes) == 2:
        sure, hit = p[:, 1], actual == classes[1]
        names = f"probability of {classes[1]}", f"share of {classes[1]}"
    else:
        sure = p.max(axis=1)
        hit = np.asarray(classes)[p.argmax(axis=1)] == actual
        names = "probability of the likeliest class", "share that is right"
    edges = np.unique(np.quantile(sure, np.linspace(0, 1, 11)))
    place = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, max(len(edges) - 2, 0))
    bins = []
    for k in np.unique(place):
        inside = place == k
        n, hits = int(inside.sum()), int(hit[inside].sum())
        interval = stats.binomtest(hits, n).proportion_ci(method="wilson")
        bins.append(
            {
                "mean": float(sure[inside].mean()),
                "rate": hits / n,
                "low": float(interval.low),
                "high": float(interval.high),
                "rows": n,
            }
        )
    gap = sum(b["rows"] * abs(b["mean"] - b["rate"]) for b in bins) / len(sure)
    return {
        "x_name": names[0],
        "y_name": names[1],
        "bins": bins,
        "gap": float(gap),
        "brier": float(brier_score_loss(hit, np.clip(sure, 0, 1))),
    }


def _residuals(actual: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """Return actual against predicted numbers, and the distribution of their differences."""
    rng = np.random.default_rng(0)
    sample = np.sort(rng.permutation(len(actual))[:MOST_POINTS])
    left = actual - predicted
    low, high = np.quantile(left, [0.005, 0.995])
    counts, edges = np.histogram(np.clip(left, low, high), bins=25)
    q = np.quantile(np.abs(left), [0.5, 0.9])
    return {
        "points": {
            "actual": [float(f"{v:.6g}") for v in actual[sample]],
            "predicted": [float(f"{v:.6g}") for v in predicted[sample]],
        },
        "n_rows": len(actual),
        "histogram": {"counts": counts.tolist(), "edges": edges.tolist()},
        "median_error": float(q[0]),
        "error_90": float(q[1]),
        "bias": float(left.mean()),
    }


def _importance(
    comparison: "Comparison", X: Any, y: np.ndarray, refit: bool, patience: Patience
) -> tuple[dict[str, Any] | None, list[int]]:
    """Return what the features are worth to the best model, and the features, the best first."""
    best = comparison.best_model
    if patience.for_importance <= 0:
        return None, []
    found = permutation_importance(
        lambda fold: comparison.fit_fold(best.name, fold, refit=refit),
        X,
        y,
        {fold: comparison.splits[fold][1] for fold in best.folds} if comparison.splits else {},
        comparison.random_state,
        comparison.task == "classification",
        patience.for_importance,
    )
    if not found["folds"]:
        return None, []
    drops = found["drops"]
    means = drops.mean(axis=1)
    low, high = np.quantile(drops, [0.05, 0.95], axis=1)
    order = np.argsort(-means, kind="stable")[:MOST_BARS]
    told = {
        "model": best.name,
        "features": [
            {
                "name": str(comparison.feature_names[found["features"][i]]),
                "mean": float(means[i]),
                "low": float(low[i]),
                "high": float(high[i]),
            }
            for i in order
        ],
        "n_features": len(comparison.feature_names),
        "n_tried": len(found["features"]),
        "was_cut": len(found["features"]) == MOST_FEATURES < len(comparison.feature_names),
        "n_shuffles": int(drops.shape[1]),
        "n_folds": found["folds"],
    }
    return told, [found["features"][i] for i in order]


def _layers(comparison: "Comparison", refit: bool, patience: Patience) -> dict[str, Any] | None:
    """Return the score of each layer of the best cascade."""
    for result in comparison.ranked:
        if result.is_ours and result.family == "cascade":
            scores = getattr(fitted(comparison, result, refit, patience), "layer_scores_", None)
            if scores is not None and len(scores):
                return {"model": result.name, "scores": [float(s) for s in scores]}
    return None


def _number(value: Any) -> float | None:
    """Return a float, or None where there is no finite one."""
    return None if value is None or not math.isfinite(value) else float(value)
