"""A model as an ES module without dependencies: tables, and the few functions that read them."""

import json
import re
from dataclasses import fields
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.facts import header, self_test
from hedgerow.export.parts import functions
from hedgerow.export.reading import ExportError, read

_LARGEST_WHOLE = 2**53  # JavaScript's numbers tell whole numbers apart up to here

_MODULE = """\
export const features = {features};

// {outputs_are}
export const {outputs_name} = {outputs};

const model = {model};
for (const step of model.steps)
  for (const graph of step.graphs ?? []) graph.tests = Float64Array.from(graph.tests);
const places = features.map(({{categories}}) =>
  categories && new Map(categories.map((category, code) => [asKey(category), code])));

{api}
// Answers rows of the model's own library, and compares every bit. Returns the number of rows.
export function selfTest() {{
  tests.forEach(([row, expected], i) => {{
    const [values] = run(row);
    if (!values.every((value, j) => Object.is(value, expected[j])))
      throw new Error(`row ${{i}} of the self-test is wrong: ${{values}} instead of ${{expected}}`);
  }});
  return tests.length;
}}

{functions}

const tests = [
{tests}
];
"""
_PREDICT_CLASS = """\
// The class of a row: an object by the names of the features, or a list in their order.
export function predict(row) {
  return classes[largest(run(row)[1])];
}

// The probabilities of the classes, in their order.
export function predictProba(row) {
  return run(row)[0];
}
"""
_PREDICT_NUMBER = """\
// The number for a row: an object by the names of the features, or a list in their order.
export function predict(row) {
  return run(row)[0][0];
}
"""
_PREDICT_NUMBERS = """\
// The numbers for a row: an object by the names of the features, or a list in their order.
export function predict(row) {
  return run(row)[0];
}
"""


def to_javascript(model: Any, *, name: str = "model") -> str:
    """Write a model as an ES module for browsers, Node, Deno and Bun.

    The module has no dependencies and exports ``predict(row)``, for classifiers also
    ``predictProba(row)`` and ``classes``, and ``features`` and ``selfTest()``. A row is an object
    by the names of the features, or a list in their order; null, undefined, NaN and what an object
    lacks are missing, and so is a category that the training table did not have. Probabilities
    and numbers are those of the model, bit by bit.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
        Named in the first comment.

    Returns
    -------
    text : str
        Plain ASCII.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_javascript
    >>> X, y = load_iris(return_X_y=True)
    >>> text = to_javascript(DecisionTreeClassifier(max_depth=2).fit(X, y), name="iris")
    >>> print(text.splitlines()[0])
    // iris: DecisionTreeClassifier of 2 tests
    """
    program = read(model)
    classes = program.outputs[0].classes
    is_classifier = classes is not None
    shown = list(classes) if classes is not None else [output.name for output in program.outputs]
    steps = [_step(step) for step in program.steps]
    table = (
        "{"
        f"width: {program.n_columns}, "
        f"values: {literal(program.values)}, "
        f"decisions: {literal(program.decisions)}, steps: [\n" + ",\n".join(steps) + "\n]}"
    )
    needed = ["run", "largest", *(type(step).__name__.lower() for step in program.steps)]
    test = self_test(program)
    rows = zip(test.rows, test.values, strict=True)
    tests = ",\n".join(f"[{literal(row)}, {literal(values)}]" for row, values in rows)
    if is_classifier:
        api = _PREDICT_CLASS
    else:
        api = _PREDICT_NUMBER if program.n_values == 1 else _PREDICT_NUMBERS
    code = _MODULE.format(
        features=_features(program),
        outputs_are="The order of the probabilities." if is_classifier else "What is predicted.",
        outputs_name="classes" if is_classifier else "outputs",
        outputs=literal(shown),
        model=table,
        api=api,
        functions="\n\n".join(functions("predict.js", "function", "//", needed)),
        tests=tests,
    )
    test_command = "import('./model.mjs').then((m) => console.log(m.selfTest()))"
    lines = [*header(program, name), f'test: node -e "{test_command}"']
    return "\n".join(f"// {line}" for line in lines) + "\n\n" + code


def literal(value: Any) -> str:
    """Data as a JavaScript expression: ASCII that ends no script element of a page."""
    plain = _plain(value)
    _refuse_large(plain)
    return json.dumps(plain, separators=(",", ":")).replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _refuse_large(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _refuse_large(item)
    elif type(value) is int and abs(value) > _LARGEST_WHOLE:
        raise ExportError(
            f"JavaScript cannot tell {value} from its neighbours: use text for categories and "
            "classes beyond 2^53."
        )


def _features(program: p.Program) -> str:
    lines = [
        f"  {{name: {literal(feature.name)}, categories: {literal(feature.categories)}}},"
        for feature in program.features
    ]
    return "\n".join(["[", *lines, "]"])


def _step(step: p.Step) -> str:
    parts = [f"make: {type(step).__name__.lower()}"]
    for field in fields(step):
        value = getattr(step, field.name)
        name = re.sub("_(.)", lambda found: found[1].upper(), field.name)
        if field.name == "graphs":
            parts.append("graphs: [\n" + ",\n".join(_graph(graph) for graph in value) + "\n]")
        else:
            parts.append(f"{name}: {literal(value)}")
    return "{" + ", ".join(parts) + "}"


def _graph(graph: p.Graph) -> str:
    is_oblique, is_category = graph.kind == p.OBLIQUE, graph.kind == p.CATEGORY
    tests = np.stack(
        [
            2.0 * graph.kind + graph.missing_left,
            np.where(is_oblique, graph.detail, graph.column),
            np.where(is_category, graph.detail, graph.threshold),
            graph.left,
            graph.right,
        ],
        axis=1,
    ).ravel()
    sets = ["".join("01"[bit] for bit in goes_left.astype(int)) for goes_left in graph.sets]
    obliques = ",".join(
        f"{{columns:{literal(oblique.columns)},weights:{literal(oblique.weights)},"
        f"centres:{literal(oblique.centres)},tables:{literal(oblique.tables)},"
        f"inLanes:{literal(oblique.in_lanes)}}}"
        for oblique in graph.obliques
    )
    numbers = [int(x) if np.isfinite(x) and x == int(x) and (x or not np.signbit(x)) else x
               for x in tests.tolist()]  # fmt: skip
    shown = json.dumps(numbers, separators=(",", ":"))
    return (
        f"{{tests: {shown}, sets: {literal(sets)}, obliques: [{obliques}], "
        f"values: {literal(graph.values)}}}"
    )
