"""What a comparison scores models by: the metrics by name, and any scorer of scikit-learn.

Scores are kept as people know them: an RMSE is positive, and smaller is better. `gain` turns any of
them so that more is better.
"""

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.preprocessing import label_binarize

from hedgerow.comparison.records import Task

RARE = 0.05  # a class with a smaller share of the rows is rare
SCORED_BY_CLASS = ("balanced_accuracy", "f1")  # metrics of labels that count each class alike
CLASSES, NUMBERS = ("classification",), ("regression",)


@dataclass(frozen=True)
class Outcome:
    """What a model predicted for the test rows of a fold.

    Attributes
    ----------
    y, predicted : ndarray of shape (n_rows,)
    shares : ndarray of shape (n_rows, n_classes) or None
        Probabilities that add up to one, in the order of ``classes``.
    classes : ndarray or None
    positive : object
        The class that counts as found, of two.
    model, X : the fitted model and the test rows, for scorers that ask themselves
    """

    y: np.ndarray
    predicted: np.ndarray
    shares: np.ndarray | None
    classes: np.ndarray | None
    positive: Any = None
    model: Any = None
    X: Any = None


def outcome_of(
    model: Any, X: Any, y: np.ndarray, classes: np.ndarray | None, positive: Any
) -> Outcome:
    """What a fitted model predicts for rows whose targets are known.

    Classes that its training rows did not have get the probability 0.
    """
    predicted = np.asarray(model.predict(X))
    if classes is None:
        return Outcome(y, predicted, None, None, None, model, X)
    shares = np.zeros((len(y), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    total = shares.sum(axis=1, keepdims=True)  # 1 up to the rounding of float32
    shares = np.divide(shares, total, out=np.full_like(shares, 1 / len(classes)), where=total > 0)
    return Outcome(y, predicted, shares, classes, positive, model, X)


@dataclass(frozen=True)
class Metric:
    """A way to score predictions.

    Attributes
    ----------
    name : str
        As it is asked for, and as it stands in ``Result.scores``.
    label : str
        As it is shown.
    score : callable
        From an `Outcome` to a number; NaN where the rows do not tell.
    tasks : tuple of str
    higher : bool
        Whether more is better.
    """

    name: str
    label: str
    score: Callable[[Outcome], float]
    tasks: tuple[str, ...] = CLASSES
    higher: bool = True


def _column(outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is of the positive class, and its probability."""
    assert outcome.classes is not None
    assert outcome.shares is not None
    place = int(np.flatnonzero(outcome.classes == outcome.positive)[0])
    return outcome.y == outcome.positive, outcome.shares[:, place]


def _by_class(outcome: Outcome, score: Callable[..., float]) -> float:
    """A score of one class against the rest: of the positive class, or the mean over many."""
    assert outcome.classes is not None
    assert outcome.shares is not None
    if len(outcome.classes) < 2:
        return np.nan
    if len(outcome.classes) == 2:
        pairs = [_column(outcome)]
    else:
        is_class = label_binarize(outcome.y, classes=outcome.classes).astype(bool)
        pairs = list(zip(is_class.T, outcome.shares.T, strict=True))
    known = [(truth, shares) for truth, shares in pairs if 0 < truth.sum() < len(truth)]
    return float(np.mean([score(*pair) for pair in known])) if known else np.nan


def _f1(outcome: Outcome) -> float:
    assert outcome.classes is not None
    if len(outcome.classes) == 2:
        return sk.f1_score(
            outcome.y == outcome.positive, outcome.predicted == outcome.positive, zero_division=0.0
        )
    return sk.f1_score(outcome.y, outcome.predicted, average="macro", zero_division=0.0)


def _balanced_accuracy(outcome: Outcome) -> float:
    return float(
        np.mean([np.mean(outcome.predicted[outcome.y == c] == c) for c in np.unique(outcome.y)])
    )


def _log_loss(outcome: Outcome) -> float:
    assert outcome.classes is not None
    if len(outcome.classes) < 2:
        return 0.0
    return sk.log_loss(outcome.y, outcome.shares, labels=outcome.classes)


def _brier(outcome: Outcome) -> float:
    """Mean squared error of the probabilities; of the positive class alone where there are two."""
    assert outcome.classes is not None
    if len(outcome.classes) == 2:
        truth, shares = _column(outcome)
        return float(np.mean((shares - truth) ** 2))
    truth = outcome.y[:, None] == outcome.classes
    return float(np.mean(np.sum((outcome.shares - truth) ** 2, axis=1)))


def _pinball(quantile: float) -> Metric:
    return Metric(
        f"pinball_{quantile:g}",
        f"pinball loss at {quantile:g}",
        lambda o: sk.mean_pinball_loss(o.y, o.predicted, alpha=quantile),
        NUMBERS,
        higher=False,
    )


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", lambda o: sk.accuracy_score(o.y, o.predicted)),
        Metric("balanced_accuracy", "balanced accuracy", _balanced_accuracy),
        Metric("roc_auc", "ROC AUC", lambda o: _by_class(o, sk.roc_auc_score)),
        Metric(
            "average_precision",
            "average precision",
            lambda o: _by_class(o, sk.average_precision_score),
        ),
        Metric("f1", "F1", _f1),
        Metric("log_loss", "log-loss", _log_loss, higher=False),
        Metric("brier", "Brier score", _brier, higher=False),
        Metric("r2", "R²", lambda o: sk.r2_score(o.y, o.predicted), NUMBERS),
        Metric(
            "rmse",
            "RMSE",
            lambda o: sk.root_mean_squared_error(o.y, o.predicted),
            NUMBERS,
            higher=False,
        ),
        Metric(
            "mae", "MAE", lambda o: sk.mean_absolute_error(o.y, o.predicted), NUMBERS, higher=False
        ),
        Metric(
            "mape",
            "MAPE",
            lambda o: sk.mean_absolute_percentage_error(o.y, o.predicted),
            NUMBERS,
            higher=False,
        ),
        _pinball(0.5),
    )
}
ALIASES = {
    "auc": "roc_auc", "auroc": "roc_auc", "ap": "average_precision", "pr_auc": "average_precision",
    "logloss": "log_loss", "r²": "r2", "r^2": "r2", "brier_score": "brier",
    "pinball": "pinball_0.5", "f1_score": "f1", "f1_macro": "f1",
}  # fmt: skip
DEFAULTS: dict[Task, tuple[str, ...]] = {
    "classification": ("accuracy", "log_loss"),
    "regression": ("r2", "rmse"),
}


def find_metric(wanted: Any, task: Task) -> Metric:
    """A metric by its name, or one that asks a scorer of scikit-learn.

    Parameters
    ----------
    wanted : str or callable
        A name of `METRICS`, ``"pinball_0.9"``, a name of a scorer of scikit-learn, or a scorer:
        a function of a fitted model, X and y, of which more is better.
    task : {"classification", "regression"}

    Returns
    -------
    metric : Metric
    """
    if callable(wanted):
        name = getattr(wanted, "__name__", None) or re.sub(r"\W+", "_", repr(wanted)).strip("_")
        return Metric(name, name, lambda o: wanted(o.model, o.X, o.y), (task,))
    if not isinstance(wanted, str):
        raise TypeError(f"'scoring' must be a name or a scorer, got {wanted!r}.")
    name = re.sub(r"[\s-]+", "_", wanted.strip().lower())
    name = ALIASES.get(name, name)
    quantile = re.fullmatch(r"pinball_(0?\.\d+)", name)
    metric = _pinball(float(quantile[1])) if quantile else METRICS.get(name)
    if metric is None and name in get_scorer_names():
        scorer = get_scorer(name)
        return Metric(name, name, lambda o: scorer(o.model, o.X, o.y), (task,))
    fitting = [known for known, metric in METRICS.items() if task in metric.tasks]
    if metric is None:
        near = difflib.get_close_matches(name, [*METRICS, *ALIASES], 1)
        hint = f" Did you mean {ALIASES.get(near[0], near[0])!r}?" if near else ""
        raise ValueError(
            f"no metric is called {wanted!r}; for {task} there are {', '.join(fitting)}, and "
            f"scikit-learn's scorers.{hint}"
        )
    if task not in metric.tasks:
        raise ValueError(f"{metric.name!r} does not score {task}; take {', '.join(fitting)}.")
    return metric


def find_metrics(scoring: Any, task: Task, y: np.ndarray) -> list[Metric]:
    """The metrics of a comparison, the deciding one first.

    Parameters
    ----------
    scoring : str, callable, iterable of them, or None
        None takes accuracy, or R²; where a class is rare, average precision of two classes and
        balanced accuracy of more.
    task : {"classification", "regression"}
    y : ndarray
        The targets.

    Returns
    -------
    metrics : list of Metric
        Two at least.
    """
    if scoring is None:
        wanted: list[Any] = list(DEFAULTS[task])
        if task == "classification" and rare_classes(y):
            first = "average_precision" if len(np.unique(y)) == 2 else "balanced_accuracy"
            wanted = [first, *wanted]
    elif isinstance(scoring, str):
        wanted = scoring.split(",")
    else:
        wanted = [scoring] if callable(scoring) else list(scoring)
    if not wanted:
        raise ValueError("'scoring' must name a metric, got none.")
    found = [find_metric(one, task) for one in wanted]
    if len(found) == 1:  # a second one beside it, as in every table
        found += [m for m in map(METRICS.__getitem__, DEFAULTS[task]) if m.name != found[0].name]
    return list({metric.name: metric for metric in found}.values())


def weighs_classes(metric: str, y: np.ndarray) -> bool:
    """Whether balanced class weights are worth a try: a rare class, and labels that are scored.

    A metric of probabilities does not ask which class is the likelier.
    """
    return metric in SCORED_BY_CLASS and bool(rare_classes(y))


def rare_classes(y: np.ndarray) -> dict[Any, int]:
    """Classes with a share of the rows under `RARE`, and under half of an equal one; with rows."""
    classes, counts = np.unique(y, return_counts=True)
    most = min(RARE, 0.5 / max(len(classes), 1)) * len(y)
    pairs = zip(classes.tolist(), counts.tolist(), strict=True)
    return {label: count for label, count in pairs if count < most}


def find_positive(positive: Any, classes: np.ndarray | None, y: np.ndarray) -> Any:
    """The class that counts as found: as given, else the rare one, else the last."""
    if classes is None or not len(classes):
        if positive is not None:
            raise ValueError("'positive' names a class, but the target is a number.")
        return None
    if positive is None:
        rare = rare_classes(y)
        return min(rare, key=rare.__getitem__) if rare else classes.tolist()[-1]
    for label in classes.tolist():
        if label == positive or str(label) == str(positive):
            return label
    raise ValueError(f"'positive' must be one of {classes.tolist()}, got {positive!r}.")


def is_higher_better(name: str) -> bool:
    """Whether more of a metric is better; so it is of every scorer of scikit-learn."""
    return METRICS[name].higher if name in METRICS else not name.startswith("pinball_")


def gain(name: str, score: float) -> float:
    """The score, turned so that more is better."""
    return score if is_higher_better(name) else -score


def label_of(name: str) -> str:
    """The metric's name for people."""
    if name.startswith("pinball_"):
        return f"pinball loss at {name.removeprefix('pinball_')}"
    return METRICS[name].label if name in METRICS else name


def in_words(names: Iterable[str]) -> str:
    """Several metrics, between commas."""
    return ", ".join(map(label_of, names))
