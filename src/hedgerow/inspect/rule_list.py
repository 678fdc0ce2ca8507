"""A tree or decision graph as if-then rules, one per leaf.

A shared node of a graph starts rules of its own instead of repeating those below it on every path
to it, so the list never grows beyond one rule per branch.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, overload

import numpy as np

from hedgerow.inspect.reading import Reading, read
from hedgerow.inspect.wording import Condition, fraction, merge


@dataclass(frozen=True)
class Rule:
    """One if-then rule.

    Attributes
    ----------
    start : int
        Node at which the rule applies: 0, or a shared node of a graph.
    node : int
        Node it leads to: a leaf, or a shared node at which to go on.
    conditions : tuple of Interval, Subset or Halfspace
        What a row has to satisfy; all of them, one per feature.
    when, then : str
        Both halves of the rule in words.
    prediction : object
        Class label or mean; None if the rule goes on at another node.
    probabilities : dict or None
        Probability of each class label; None for regressors and for rules that go on.
    rows : int or None
        Training rows in the leaf; None for rules that go on.
    share : float or None
        The same as a share of all training rows.
    """

    start: int
    node: int
    conditions: tuple[Condition, ...]
    when: str
    then: str
    prediction: Any = None
    probabilities: dict | None = field(default=None, hash=False)
    rows: int | None = None
    share: float | None = None

    @property
    def confidence(self) -> float | None:
        """Probability of the predicted class; None where there are no probabilities."""
        return max(self.probabilities.values()) if self.probabilities else None

    @property
    def ends(self) -> bool:
        """Whether the rule predicts, rather than going on at a shared node."""
        return self.rows is not None

    def covers(self, X: np.ndarray) -> np.ndarray:
        """Return for each row of ``schema_.encode(model, X)`` whether it meets the conditions."""
        masks = [condition.holds(X) for condition in self.conditions]
        return np.logical_and.reduce(masks) if masks else np.ones(len(X), dtype=bool)

    def __str__(self) -> str:
        return f"if {self.when}\nthen {self.then}" if self.conditions else self.then


class RuleList(Sequence[Rule]):
    """The rules of a model: a sequence of `Rule` that prints as text.

    Parameters
    ----------
    rules : iterable of Rule
        The rules, those of one starting node together.
    """

    def __init__(self, rules: Sequence[Rule]):
        self._rules = tuple(rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> "RuleList": ...
    def __getitem__(self, index):
        chosen = self._rules[index]
        return RuleList(chosen) if isinstance(index, slice) else chosen

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __repr__(self) -> str:
        return f"<RuleList of {len(self)} rules>"

    def _repr_html_(self) -> str:
        """A table of the rules, in a notebook."""
        rows = "".join(
            f"<tr><td>{i}</td><td>{escape(rule.when) or 'always'}</td>"
            f"<td><b>{escape(rule.then)}</b></td></tr>"
            for i, rule in enumerate(self, 1)
        )
        head = "<tr><th>#</th><th>if</th><th>then</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def __str__(self) -> str:
        lines = []
        start = 0
        margin = len(str(len(self))) + 2
        for i, rule in enumerate(self, 1):
            if rule.start != start:
                start = rule.start
                lines.append(f"at node {start}:")
            first, *rest = str(rule).split("\n")
            lines.append(f"{f'{i}.':<{margin}}{first}")
            lines += [" " * margin + line for line in rest]
        return "\n".join(lines)

    def to_frame(self):
        """Return the rules as a pandas data frame, one row per rule.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``start``, ``node``, ``when``, ``then``, ``prediction``, ``confidence``,
            ``rows`` and ``share``.
        """
        try:
            import pandas as pd
        except ImportError:
            message = "'to_frame' needs pandas: install it with 'pip install pandas'."
            raise ImportError(message) from None
        columns = ["start", "node", "when", "then", "prediction", "confidence", "rows", "share"]
        records = [[getattr(rule, column) for column in columns] for rule in self]
        frame = pd.DataFrame(records, columns=columns)
        return frame.astype({"rows": "Int64", "confidence": float, "share": float})


def rules(
    model: Any,
    *,
    decimals: int | None = 2,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> RuleList:
    """Write a fitted tree or decision graph as if-then rules.

    Every leaf of a tree is one rule, and every row satisfies exactly one of them. Conditions on
    one feature are merged. In a decision graph, a node with several parents starts rules of its
    own and the rules that lead to it end with "go to node ..."; among the rules that start at one
    node, every row that comes there satisfies exactly one.

    Parameters
    ----------
    model : estimator
        Any fitted hedgerow estimator with a `graph_`.
    decimals : int or None, default=2
        Digits after the point. More are shown where fewer would make a number 0 or two thresholds
        of a feature alike; None shows all.
    feature_names : sequence of str or None, default=None
        Names to use instead of those seen in `fit`.
    class_names : sequence of str or None, default=None
        Names to use in text instead of the class labels, in the order of `classes_`.

    Returns
    -------
    rules : RuleList

    See Also
    --------
    export_text : The same model as indented text.
    explain : The path of one row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.inspect import rules
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> print(rules(tree, class_names=iris.target_names))
    1. if petal length (cm) <= 2.45
       then setosa (p = 1, 50 rows, 33.3%)
    2. if petal length (cm) > 2.45 and petal width (cm) <= 1.75
       then versicolor (p = 0.91, 54 rows, 36%)
    3. if petal length (cm) > 2.45 and petal width (cm) > 1.75
       then virginica (p = 0.98, 46 rows, 30.7%)
    """
    model = read(model, decimals=decimals, feature_names=feature_names, class_names=class_names)
    found = []
    starts = deque([0])
    met = {0}
    while starts:
        start = starts.popleft()
        pending: list[tuple[int, tuple[Condition, ...]]] = [(start, ())]
        while pending:
            node, path = pending.pop()
            if node != start and node in model.shared:
                found.append(_rule(model, start, node, path, ends=False))
                if node not in met:
                    met.add(node)
                    starts.append(node)
            elif model.is_leaf(node):
                found.append(_rule(model, start, node, path, ends=True))
            else:
                for condition, child in reversed(model.branches(node)):
                    pending.append((child, merge((*path, condition))))
    return RuleList(found)


def _rule(
    model: Reading, start: int, node: int, conditions: tuple[Condition, ...], ends: bool
) -> Rule:
    when = " and ".join(map(model.words.condition, conditions))
    if not ends:
        return Rule(start, node, conditions, when, f"go to node {node}")
    rows, total = model.rows[node], model.rows[0]
    share = rows / total if total else 0.0
    return Rule(
        start,
        node,
        conditions,
        when,
        then=model.leaf(node, f"{fraction(100 * share, 1, 100)}%"),
        prediction=model.prediction(node),
        probabilities=model.probabilities(node),
        rows=rows,
        share=share,
    )
