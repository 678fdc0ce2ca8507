"""The path of one row through a tree or decision graph, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.inspect.reading import Reading, read
from hedgerow.inspect.wording import Condition, Halfspace, Subset, fraction, merge, number


@dataclass(frozen=True)
class Step:
    """One test on the path of a row.

    Attributes
    ----------
    node : int
        Node that tests.
    goes_to : int
        Node the row goes to.
    features : tuple of int
        Features tested: one, or several in an oblique test.
    value : object
        The row's own value, as given; the weighted sum in an oblique test; None if missing.
    condition : Interval, Subset or Halfspace
        What the row satisfied.
    text : str
        The step in words.
    """

    node: int
    goes_to: int
    features: tuple[int, ...]
    value: Any
    condition: Condition
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Explanation:
    """Why a model predicts what it does for one row; prints as text.

    Attributes
    ----------
    steps : tuple of Step
        The tests from the root to the leaf.
    leaf : int
        The leaf reached.
    prediction : object
        Class label or mean.
    probabilities : dict or None
        Probability of each class label; None for a regressor.
    rows : int
        Training rows in the leaf.
    outcome : str
        The last line of the text.
    lines : tuple of str
        The lines before it: the steps in words, all tests of one feature as one.
    """

    steps: tuple[Step, ...]
    leaf: int
    prediction: Any
    probabilities: dict | None = field(hash=False)
    rows: int
    outcome: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        margin = len(str(len(self.lines))) + 2
        lines = [f"{f'{i}.':<{margin}}{line}" for i, line in enumerate(self.lines, 1)]
        return "\n".join([*lines, self.outcome])

    def _repr_html_(self) -> str:
        """A list of the lines, in a notebook."""
        steps = "".join(f"<li>{escape(line)}</li>" for line in self.lines)
        return f"<ol>{steps}</ol><p><b>{escape(self.outcome)}</b></p>"


def explain(
    model: Any,
    row: Any,
    *,
    decimals: int | None = 2,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Explanation:
    """Explain the prediction for one row by the path it takes.

    Parameters
    ----------
    model : estimator
        Any fitted hedgerow estimator with a `graph_`.
    row : array-like, dict, Series or one-row data frame
        Values in the order of the features seen in `fit`, or by feature name. None and NaN are
        missing.
    decimals : int or None, default=2
        Digits after the point. More are shown where fewer would contradict the path; None shows
        all.
    feature_names : sequence of str or None, default=None
        Names to use instead of those seen in `fit`.
    class_names : sequence of str or None, default=None
        Names to use in text instead of the class labels, in the order of `classes_`.

    Returns
    -------
    explanation : Explanation

    See Also
    --------
    export_text : The whole model as indented text.
    rules : The whole model as if-then rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.inspect import explain
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> print(explain(tree, iris.data.iloc[60], class_names=iris.target_names))
    1. petal length (cm) > 2.45 (it is 3.5)
    2. petal width (cm) <= 1.75 (it is 1)
    so: versicolor (p = 0.91, 54 rows), else virginica (0.093)
    """
    model = read(
        model,
        decimals=decimals,
        feature_names=feature_names,
        class_names=class_names,
        max_terms=8,
    )
    values = _values(row, model.words.names)
    codes = np.array([[_encode(model, f, value) for f, value in enumerate(values)]])
    # The engine's own path: on the border of an oblique test another order of the sum might take
    # another branch.
    nodes = model.graph.decision_path(codes)[1].tolist()
    steps = []
    for node, child in pairwise(nodes):
        condition = model.condition(node, goes_left=child == model.left[node])
        if model.left[node] == model.right[node] and not condition.holds(codes)[0]:
            condition = model.condition(node, goes_left=False)
        features, value, text = _told(model, condition, values, codes)
        steps.append(Step(node, child, features, value, condition, text))
    node = nodes[-1]
    return Explanation(
        steps=tuple(steps),
        leaf=node,
        prediction=model.prediction(node),
        probabilities=model.probabilities(node),
        rows=model.rows[node],
        outcome=f"so: {_outcome(model, node)}",
        lines=tuple(
            _told(model, condition, values, codes)[2]
            for condition in merge(step.condition for step in steps)
        ),
    )


def _told(
    model: Reading, condition: Condition, given: list, codes: np.ndarray
) -> tuple[tuple[int, ...], Any, str]:
    """Return the features of a condition that a row meets, its value, and both in words."""
    words = model.words
    text = words.condition(condition, mention=False)
    if isinstance(condition, Halfspace):
        features = tuple(dict.fromkeys(condition.features))
        score = float(condition.score(codes)[0])
        if (score < condition.bound) == condition.below:
            text, shown = words.comparison(condition, score)
            note = f"it is {shown}"
        else:
            note = "it is equal up to rounding"
        missing = {
            feature: number(centre, words.decimals) if place is None else "all categories alike"
            for feature, _, centre, place in condition.terms()
            if np.isnan(codes[0, feature])
        }
        for feature, taken in missing.items():
            note += f", with the missing {words.names[feature]} taken as {taken}"
        return features, score, f"{text} ({note})"
    feature = condition.feature
    value = None if _is_missing(given[feature]) else given[feature]
    if np.isnan(codes[0, feature]):
        what = "missing" if value is None else f"{value!r}, never seen in training,"
        note = f"it is {what} and goes the way of missing values"
    elif isinstance(condition, Subset):
        note = f"it is {words.labels[feature][int(codes[0, feature])]}"
    else:
        text, shown = words.comparison(condition, float(codes[0, feature]))
        note = f"it is {shown}"
    return (feature,), value, f"{text} ({note})"


def _outcome(model: Reading, node: int) -> str:
    """Return the prediction of a leaf, how sure it is, and the next likely classes."""
    text = model.leaf(node)
    if model.class_names is not None:
        p = model.value(node)
        others = [k for k in np.argsort(-p, kind="stable")[1:3] if p[k] > 0]
        for k in others:
            text += f", else {model.class_names[k]} ({fraction(p[k], model.words.decimals)})"
    return text


def _values(row: Any, names: Sequence[str]) -> list:
    """Return the values of a row of any accepted kind, in feature order."""
    if hasattr(row, "columns"):  # a pandas or polars frame
        if len(row) != 1:
            raise ValueError(f"'row' must be a single row, got {len(row)} rows.")
        row = {column: row[column].to_list()[0] for column in row.columns}
    elif hasattr(row, "index") and hasattr(row, "items"):  # a pandas Series
        row = dict(row.items()) if set(row.index) & set(names) else list(row)
    if isinstance(row, Mapping):
        row = {str(name): value for name, value in row.items()}
        absent = [name for name in names if name not in row]
        unknown = [name for name in row if name not in names]
        if absent or unknown:
            faults = [f"lacks {absent}" * bool(absent), f"has unknown {unknown}" * bool(unknown)]
            raise ValueError(
                f"'row' must name the {len(names)} features of the model: it "
                f"{' and '.join(filter(None, faults))}."
            )
        return [row[name] for name in names]
    if isinstance(row, np.ndarray) and row.ndim == 2 and len(row) == 1:
        row = row[0]
    if isinstance(row, str) or not hasattr(row, "__len__") or np.ndim(row[:1]) != 1:
        raise ValueError(f"'row' must be a single row of {len(names)} values, got {row!r}.")
    if len(row) != len(names):
        raise ValueError(f"'row' must have {len(names)} values, one per feature, got {len(row)}.")
    return list(row)


def _encode(model: Reading, feature: int, value: Any) -> float:
    """Return a value as the graph sees it: a number, a category code, or NaN."""
    if _is_missing(value):
        return np.nan
    if feature in model.categories:
        values = model.categories[feature]
        return float(values.index(value)) if value in values else np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        name = model.words.names[feature]
        raise ValueError(f"{name!r} must be a number, got {value!r}.") from None


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or another marker that does not equal itself."""
    return value is None or str(value) in ("<NA>", "NaT") or bool(value != value)
