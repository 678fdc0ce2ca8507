"""A model as one Python file without imports: nested tests to read, or tables."""

import keyword
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.columns import categories_of, sides
from hedgerow.export.facts import header, self_test
from hedgerow.export.parts import functions
from hedgerow.export.reading import ExportError, read
from hedgerow.export.words import identifiers

_FORMS = ("auto", "code", "tables")
_READABLE = 500  # tests that are written as code where nobody says otherwise
_DEEPEST = 10  # tests inside each other, before a function of its own
_FEW = 12  # categories that are written where they are compared
_NAMES = {p.Exit: "leave", p.Round: "single"}  # which Python uses otherwise

_FILE = """\
NAN, INFINITY = float("nan"), float("inf")

# Name and categories of each feature.
FEATURES = (
{features}
)
# {outputs_are}
{outputs_name} = {outputs}


{api}


{graphs}{functions}


{constants}{steps}# Answers rows of the model's own library, bit by bit. Returns their number.
def self_test():
    for row, expected in TESTS:
        values = list(run(row)[0])
        if values != expected and repr(values) != repr(expected):
            raise ValueError("%r gives %r instead of %r" % (row, values, expected))
    return len(TESTS)


TESTS = (
{tests}
)

if __name__ == "__main__":
    print(self_test(), "rows are right")
"""
_PREDICT_CLASS = """\
# The class of a row: a dict by the names of the features, or a list in their order.
def predict(row):
    return CLASSES[largest(run(row)[1])]


# The probabilities of the classes, in their order.
def predict_proba(row):
    return list(run(row)[0])"""
_PREDICT_NUMBER = """\
# The number for a row: a dict by the names of the features, or a list in their order.
def predict(row):
    return run(row)[0][0]"""
_PREDICT_NUMBERS = """\
# The numbers for a row: a dict by the names of the features, or a list in their order.
def predict(row):
    return list(run(row)[0])"""
_RUN_GRAPH = """\
# The leaf's values, which are the decisions too.
def run(row):
    values = graph_0(read(row))
    return values, values"""


def to_python(model: Any, *, name: str = "model", form: str = "auto") -> str:
    """Write a model as one Python file without imports, to be read, and for MicroPython.

    The file has ``predict(row)``, for classifiers also ``predict_proba(row)`` and ``CLASSES``, and
    ``FEATURES`` and ``self_test()``. A row is a dict by the names of the features, or a list in
    their order; None, NaN and what a dict lacks are missing, and so is a category that the
    training table did not have. Probabilities and numbers are those of the model, bit by bit,
    where floats have 64 bits.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
        Named in the first comment.
    form : {"auto", "code", "tables"}, default="auto"
        "code": nested tests, in which a node with several parents is a function. "tables": a row
        of numbers for each test. "auto": code up to 500 tests.

    Returns
    -------
    text : str
        Plain ASCII.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_python
    >>> iris = load_iris(as_frame=True)
    >>> text = to_python(DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target))
    >>> start = text.index("def graph_0")
    >>> print(text[start : text.index("return 0.0", start)].rstrip())
    def graph_0(x):
        petal_length_cm = x[2]
        petal_width_cm = x[3]
        if petal_length_cm <= 2.45:
            return 1.0, 0.0, 0.0
        if not petal_width_cm > 1.75:
    """
    if form not in _FORMS:
        raise ValueError(f"'form' must be one of {', '.join(_FORMS)}, got {form!r}.")
    program = read(model)
    n_tests = sum(graph.n_tests for graph in program.graphs)
    is_code = n_tests <= _READABLE if form == "auto" else form == "code"
    writer = _Writer(program)
    graphs = [
        (writer.code if is_code else writer.table)(number, graph)
        for number, graph in enumerate(program.graphs)
    ]
    needed = ["read", "largest"] if program.outputs[0].classes is not None else ["read"]
    if not is_code and graphs:
        needed.append("table")
    if any(len(graph.obliques) for graph in program.graphs):
        needed.append("weighted_sum")
    run = _RUN_GRAPH
    steps = ""
    if program.graph is None:
        needed += ["run", *(_name(step) for step in program.steps)]
        run = ""
        steps = (
            "STEPS = (\n"
            + "".join(f"    {writer.step(step)},\n" for step in program.steps)
            + f")\nVALUES = {literal(program.values)}\n"
            + f"DECISIONS = {literal(program.decisions)}\n\n\n"
        )
    classes = program.outputs[0].classes
    if classes is not None:
        api = _PREDICT_CLASS
    else:
        api = _PREDICT_NUMBER if program.n_values == 1 else _PREDICT_NUMBERS
    test = self_test(program)
    code, data = ("\n\n\n".join(graphs) + "\n\n\n", "") if is_code else ("", "\n".join(graphs))
    text = _FILE.format(
        features="\n".join(
            f"    ({literal(feature.name)}, {literal(feature.categories)}),"
            for feature in program.features
        ),
        outputs_are="What is predicted." if classes is None else "The order of the probabilities.",
        outputs_name="OUTPUTS" if classes is None else "CLASSES",
        outputs=literal([o.name for o in program.outputs] if classes is None else classes),
        api=api,
        graphs=code if graphs else "",
        functions="\n\n\n".join(
            [*functions("python.txt", "def", "#", needed), *([run] if run else [])]
        ),
        constants="".join(f"{line}\n" for line in [*writer.constants, *([data] if data else [])])
        + ("\n\n" if not steps and (writer.constants or data) else ""),
        steps=steps,
        tests="\n".join(
            f"    ({literal(row)}, {_listed(values)}),"
            for row, values in zip(test.rows, test.values, strict=True)
        ),
    )
    lines = [*header(program, name), "test: python FILE"]
    return "\n".join(f"# {line}" for line in lines) + "\n\n" + text


def literal(value: Any) -> str:
    """Data as a Python expression in ASCII; lists as tuples."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not np.isfinite(value):
        return "NAN" if value != value else "INFINITY" if value > 0 else "-INFINITY"
    if value is None or type(value) in (bool, int, float, str):
        return ascii(value)
    raise ExportError(
        f"{value!r} cannot be written as Python: use text, numbers or booleans for categories and "
        "classes."
    )


def _listed(values: np.ndarray) -> str:
    return f"[{', '.join(map(literal, values.tolist()))}]"


def _mapped(keys: Iterable[Any], values: Iterable[Any]) -> str:
    pairs = (f"{literal(key)}: {literal(value)}" for key, value in zip(keys, values, strict=True))
    return f"{{{', '.join(pairs)}}}"


def _name(step: p.Step) -> str:
    return _NAMES.get(type(step), type(step).__name__.lower())


class _Writer:
    """Graphs and steps as text; what they share becomes constants."""

    def __init__(self, program: p.Program) -> None:
        self.program = program
        self.categories = categories_of(program)
        self.constants: list[str] = []
        self._known: dict[str, str] = {}
        self._n_graphs = 0
        names = [feature.name or f"x{f}" for f, feature in enumerate(program.features)]
        taken = [*keyword.kwlist, *keyword.softkwlist, "x", "weighted_sum", "INFINITY", "NAN"]
        self._locals = identifiers(names, keywords=taken)

    def constant(self, name: str, text: str) -> str:
        """The name of a constant; the same text is one."""
        if text not in self._known:
            self._known[text] = f"{name}_{len(self._known)}"
            self.constants.append(f"{self._known[text]} = {text}")
        return self._known[text]

    def _words(self, words: Sequence[Any]) -> str:
        """A set, which is never empty: a test without any category compares with none."""
        if len(words) <= _FEW:
            return literal(words)
        return self.constant("SET", f"{{{', '.join(map(literal, words))}}}")

    def _oblique(self, oblique: p.Oblique) -> str:
        tables = "".join(
            f"({column}, {self.constant('TABLE', _mapped(self._of(column), weights))}, "
            f"{literal(missing)}), "
            for column, weights, missing in oblique.tables
        )
        parts = [literal(part) for part in (oblique.columns, oblique.weights, oblique.centres)]
        return self.constant("SUM", f"({', '.join(parts)}, ({tables}), {oblique.in_lanes})")

    def _of(self, column: int) -> Sequence[Any]:
        categories = self.categories[column]
        assert categories is not None
        return categories

    def code(self, number: int, graph: p.Graph) -> str:
        """Nested tests; nodes with several parents, and very deep ones, are functions."""
        names = {graph.root: f"graph_{number}"}
        written, waiting = [], [graph.root]
        while waiting:
            head = waiting.pop()
            lines, read, called = self._nested(graph, number, head)
            waiting += [node for node in called if node not in names]
            names |= {node: f"graph_{number}_node_{node}" for node in called}
            variables = [f"    {self._locals[f]} = x[{f}]" for f in sorted(read)]
            written.append("\n".join([f"def {names[head]}(x):", *variables, *lines]))
        return "\n\n\n".join(written)

    def _nested(self, graph: p.Graph, number: int, head: int) -> tuple[list[str], set, list[int]]:
        """The lines of a function, the features that they read and the nodes that they call."""
        lines: list[str] = []
        read: set[int] = set()
        called: list[int] = []
        stack = [(head, 1)]
        while stack:
            node, depth = stack.pop()
            gap = "    " * depth
            if node < 0:
                lines.append(f"{gap}return {literal(graph.values[-1 - node])[1:-1]}")
            elif node != head and (graph.n_parents[node] > 1 or depth > _DEEPEST):
                lines.append(f"{gap}return graph_{number}_node_{node}(x)")
                if node not in called:
                    called.append(node)
            else:
                column = int(graph.column[node])
                if 0 <= column < self.program.n_features:
                    read.add(column)
                lines.append(f"{gap}if {self._condition(graph, node)}:")
                stack += [(int(graph.right[node]), depth), (int(graph.left[node]), depth + 1)]
        return lines, read, called

    def _condition(self, graph: p.Graph, test: int) -> str:
        """Whether a row goes left; NaN is beside no number, and in no set."""
        bound = literal(graph.threshold[test])
        if graph.kind[test] == p.OBLIQUE:
            oblique = self._oblique(graph.obliques[graph.detail[test]])
            return f"weighted_sum(x, *{oblique}) < {bound}"
        column = int(graph.column[test])
        is_feature = column < self.program.n_features
        value = self._locals[column] if is_feature else f"x[{column}]"
        if graph.kind[test] == p.AXIS:
            return f"not {value} > {bound}" if graph.missing_left[test] else f"{value} <= {bound}"
        words, are_left = sides(graph, test, self._of(column))
        if len(words) == 1:
            return f"{value} {'==' if are_left else '!='} {literal(words[0])}"
        return f"{value} {'in' if are_left else 'not in'} {self._words(words)}"

    def table(self, number: int, graph: p.Graph) -> str:
        """A row of numbers for each test."""
        sets: dict[str, int] = {}
        tests = []
        for test in range(graph.n_tests):
            kind, column = int(graph.kind[test]), int(graph.column[test])
            kind = 2 * kind + int(graph.missing_left[test] and kind != p.OBLIQUE)
            bound = literal(graph.threshold[test])
            if graph.kind[test] == p.OBLIQUE:
                column = int(graph.detail[test])
            elif graph.kind[test] == p.CATEGORY:
                words = self._words(sides(graph, test, self._of(column))[0])
                bound = str(sets.setdefault(words, len(sets)))
            tests.append(f"({kind}, {column}, {bound}, {graph.left[test]}, {graph.right[test]}),")
        sums = [self._oblique(oblique) for oblique in graph.obliques]
        parts = [
            "\n".join(["(", *tests, ")"]),
            f"({''.join(f'{words}, ' for words in sets)})",
            f"({''.join(f'{name}, ' for name in sums)})",
            literal(graph.values),
        ]
        return f"graph_{number} = table({', '.join(parts)})"

    def step(self, step: p.Step) -> str:
        """A function and what it is called with beside the columns."""
        match step:
            case p.Walk():
                first, self._n_graphs = self._n_graphs, self._n_graphs + len(step.graphs)
                graphs = "".join(f"graph_{n}, " for n in range(first, self._n_graphs))
                further = [literal(step.start), str(step.in_turns), literal(step.factor)]
                parts = [f"({graphs})", *further]
            case p.Recode():
                words = [
                    self._of(step.column)[code] for code in np.flatnonzero(step.table >= 0).tolist()
                ]
                parts = [str(step.column), _mapped(words, step.table[step.table >= 0].tolist())]
            case p.Numbers():
                known: list[str] = []
                chosen: list[Any] = []
                pairs = zip(step.sources.tolist(), step.categories.tolist(), strict=True)
                for source, category in pairs:
                    if category < 0:
                        known.append("None")
                        chosen.append(None)
                        continue
                    listed = ", ".join(map(literal, self._of(source)))
                    known.append(self.constant("SET", f"{{{listed}}}"))
                    chosen.append(self._of(source)[category])
                parts = [
                    literal(step.sources),
                    f"({''.join(f'{name}, ' for name in known)})",
                    literal(chosen),
                    *map(literal, (step.fills, step.fill_columns, step.mean, step.scale)),
                ]
            case _:
                parts = [literal(getattr(step, field.name)) for field in fields(step)]
        return f"({', '.join([_name(step), *parts])})"
