"""What a model can be exported to, and the check of an export in its real runtime."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.export.c import to_c
from hedgerow.export.javascript import to_javascript
from hedgerow.export.onnx import to_onnx
from hedgerow.export.page import to_html
from hedgerow.export.plain_json import to_json
from hedgerow.export.python import to_python
from hedgerow.export.reading import ExportError, read
from hedgerow.export.reference import evaluate
from hedgerow.export.rounding import rounded
from hedgerow.export.running import (
    Ran,
    run_c,
    run_javascript,
    run_json,
    run_onnx,
    run_python,
    run_sql,
)
from hedgerow.export.sql import has_own_functions, to_sql

_AGREES = 1e-9  # of numbers whose last bits the model itself leaves to a matrix product


@dataclass(frozen=True)
class Target:
    """A format.

    Attributes
    ----------
    suffix : str
        Of files.
    write : callable
        ``write(model, name=..., **settings)`` gives the text or the bytes of a file.
    run : callable or None
        ``run(content, program, matrix, **settings)`` gives what the file says of encoded rows.
    """

    suffix: str
    write: Callable[..., str | bytes]
    run: Callable[..., Ran] | None = None


TARGETS = {
    "c": Target(".h", to_c, run_c),
    "javascript": Target(".mjs", to_javascript, run_javascript),
    "html": Target(".html", to_html),
    "json": Target(".json", to_json, run_json),
    "onnx": Target(".onnx", to_onnx, run_onnx),
    "python": Target(".py", to_python, run_python),
    "sql": Target(".sql", to_sql, run_sql),
}


@dataclass(frozen=True)
class Check:
    """An export beside its model, row by row.

    Attributes
    ----------
    runtime : str
        What ran the export, with its version.
    rows : int
        Rows compared.
    different : int
        Rows whose class, or any number of whose answer, is not the model's.
    bytes : int
        Of the export.
    nanoseconds : float
        For one row.
    worst : float
        The largest difference of any number of an answer.
    """

    runtime: str
    rows: int
    different: int
    bytes: int
    nanoseconds: float
    worst: float

    def __str__(self) -> str:
        apart = f" by up to {self.worst:.2g}" if self.different else ""
        return (
            f"{self.runtime}: {self.rows:,} rows compared, {self.different:,} different{apart}, "
            f"{self.bytes:,} bytes, {self.nanoseconds:,.0f} ns a row"
        )


def check(
    model: Any,
    to: str,
    content: str | bytes,
    X: Any,
    *,
    output: int | None = None,
    **settings: Any,
) -> Check:
    """Run an export in its real runtime, and compare it with its model.

    Parameters
    ----------
    model : a fitted estimator of hedgerow
    to : str
        A key of `TARGETS`.
    content : str or bytes
        What the target's writer gave.
    X : table
        As ``model.predict`` takes it.
    output : int, default=None
        As `read` took it.
    **settings
        Those of the writer.

    Returns
    -------
    check : Check

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import check, to_javascript
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> print(check(tree, "javascript", to_javascript(tree), X))  # doctest: +SKIP
    Node v20.20.2: 150 rows compared, 0 different, 4,612 bytes, 310 ns a row
    """
    target = TARGETS[to]
    if target.run is None:
        raise ExportError(f"'{to}' has no runtime of its own to be checked in.")
    program = read(model, output=output)
    matrix = model.schema_.encode(model, X)
    ran = target.run(content, program, matrix, **settings)
    truth = _values_of(model, X, output)
    if settings.get("leaves", "double") != "double":  # what these lose is said by the header
        truth = evaluate(rounded(program, settings["leaves"]), matrix)[0]
    if program.is_exact and not (to == "sql" and has_own_functions(program)):
        differs = (ran.values != truth).any(axis=1)
    else:
        differs = ~np.isclose(ran.values, truth, rtol=_AGREES, atol=_AGREES).all(axis=1)
    if ran.chosen is not None:
        classes, predicted = model.classes_, model.predict(X)
        if output is not None:
            classes, predicted = classes[output], predicted[:, output]
        differs |= (ran.chosen < 0) | (np.asarray(classes)[ran.chosen] != predicted)
    size = len(content.encode() if isinstance(content, str) else content)
    n = len(differs)
    apart = np.abs(ran.values - truth)[ran.values != truth]
    worst = float(apart.max(initial=0.0))
    return Check(ran.runtime, n, int(differs.sum()), size, ran.seconds / n * 1e9, worst)


def _values_of(model: Any, X: Any, output: int | None) -> np.ndarray:
    """Probabilities or numbers, as the model itself gives them."""
    for method in ("predict_proba", "predict", "transform"):
        if hasattr(model, method):
            found = getattr(model, method)(X)
            if isinstance(found, list):  # of probabilities, one for each output
                return np.asarray(found[output or 0], dtype=np.float64)
            values = np.asarray(found, dtype=np.float64).reshape(len(found), -1)
            return values if output is None else values[:, [output]]
    raise TypeError(f"{type(model).__name__} predicts nothing")
