"""A model as plain JSON, and back: the records of a model file, with arrays as lists."""

import io
import json
import math
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from hedgerow._records import container
from hedgerow.export.reading import ExportError
from hedgerow.storage import content_of, model_of

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(model: Any, *, name: str = "model", indent: int | None = None) -> str:
    """Write a model as JSON: what its file holds, readable by any program.

    The records are those of ``docs/format.md``; arrays are lists. `json_schema` describes it all,
    and `from_json` reads it.

    Parameters
    ----------
    model : a fitted estimator of hedgerow
    name : str, default="model"
    indent : int, default=None
        Of records and arrays on lines of their own; None: one line.

    Returns
    -------
    text : str
        Plain ASCII. Equal models give equal texts.

    Examples
    --------
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import from_json, to_json
    >>> text = to_json(DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> from_json(text).predict([[0.9]]).tolist()
    ['yes']
    """
    try:
        content = content_of(model)
    except TypeError as error:
        raise ExportError(str(error)) from None
    table = {
        "format": container.FORMAT,
        "version": content.version,
        "name": name,
        "arrays": [_listed(array) for array in content.arrays],
        **content.description,
    }
    return json.dumps(table, allow_nan=False, indent=indent) + "\n"


def from_json(text: str | bytes) -> Any:
    """Read a model that `to_json` wrote.

    Like a model file it holds data only, and is checked in the same way before it is used.

    Parameters
    ----------
    text : str or bytes

    Returns
    -------
    model : estimator
    """
    try:
        table = json.loads(text, parse_constant=_refused)
        if not isinstance(table, dict) or not isinstance(table.get("arrays"), list):
            raise ValueError("it is no object with arrays and records")
        if table.get("format") != container.FORMAT:
            raise ValueError(f"its format is {table.get('format')!r}, not {container.FORMAT}")
        arrays = [_array(place, entry) for place, entry in enumerate(table["arrays"])]
        # Through the bytes of a file, whose reader checks everything.
        file = io.BytesIO()
        description = {"records": table.get("records")}
        container.write(file, description, arrays, str(table.get("version", "")), compress=False)
        return model_of(container.read(file.getvalue()))
    except MemoryError:
        raise
    except Exception as error:  # whatever a changed text leads to
        reason = str(error) or type(error).__name__
        raise ValueError(f"the JSON is no model of hedgerow: {reason.rstrip('.')}.") from None


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of what `to_json` writes."""
    return json.loads((files("hedgerow.export") / "templates" / "model.schema.json").read_text())


def _refused(literal: str) -> Any:
    raise ValueError(f"it has {literal} for a number")


def _listed(array: np.ndarray) -> dict[str, Any]:
    """An array as a list of its items in C order."""
    kind = container.type_of(array)
    items = [_plain(item) for item in array.ravel().tolist()]
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    entry = {"type": kind, "shape": list(array.shape), "items": items}
    return entry | ({"order": "F"} if is_fortran else {})


def _plain(item: Any) -> Any:
    if isinstance(item, float) and not math.isfinite(item):
        return "nan" if item != item else "inf" if item > 0 else "-inf"
    return item


def _array(place: int, entry: Any) -> np.ndarray:
    if not isinstance(entry, dict) or not {"type", "shape", "items"} <= set(entry):
        raise ValueError(f"array {place} lacks its type, shape or items")
    kind, shape, items = entry["type"], entry["shape"], entry["items"]
    if kind not in container.NUMBERS:
        raise ValueError(f"array {place} has the type {kind!r}")
    if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"array {place} has the shape {shape!r}")
    if not isinstance(items, list) or len(items) != math.prod(shape):
        raise ValueError(f"array {place} has not as many items as its shape says")
    expected = {"b": (bool,), "f": (int, float)}.get(kind[0], (int,))
    found = [_SPECIAL.get(item, item) if isinstance(item, str) else item for item in items]
    if any(type(item) not in expected for item in found):
        raise ValueError(f"array {place} has an item that is no {kind}")
    out = np.array(found, dtype=kind).reshape(shape)
    return np.asfortranarray(out) if entry.get("order") == "F" else out
