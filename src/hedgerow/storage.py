"""Models as files: `save` and `load`.

A model file is a zip archive of ``model.json`` and NumPy arrays (``0.npy``, ``1.npy``, ...). It
holds data only: reading one runs no code out of it, unlike a pickle, and graphs are validated by
the engine before they are used. It is the same, byte for byte, for the same model.

``model.json`` has the version of the format, that of hedgerow, and the state of the estimator as
JSON. What JSON lacks is an object with one key that begins with "$": ``{"$array": 0}`` is the first
of the arrays, ``{"$object": [class, state]}`` an object of one of hedgerow's classes.

A model that holds objects of other libraries (a bag of scikit-learn estimators, say) cannot be
saved so, and is refused: pickle it, and load the pickle only where you trust its origin.
"""

import importlib
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hedgerow._files import replacing

FORMAT = 1
_CONTENTS = "model.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every entry, so that equal models are equal files
_PLAIN = (str, bool, int, type(None))
_COLLECTIONS = (tuple, set, frozenset)
_SMALL = 32  # items; an entry of its own takes some 200 bytes


def save(model: Any, path: Any) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of hedgerow whose parts are hedgerow's too.
    path : path-like
        By custom it ends in ``.hedgerow``.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> import hedgerow, tempfile, os
    >>> tree = hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> hedgerow.save(tree, path)
    >>> hedgerow.load(path).predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    import hedgerow

    if not isinstance(model, BaseEstimator) or not _is_ours(type(model)):
        raise TypeError(
            f"only hedgerow's models can be saved, got an object of {type(model).__module__}."
            f"{type(model).__name__}; pickle it, or use its own library."
        )
    check_is_fitted(model)
    writer = _Writer()
    contents = {
        "format": FORMAT,
        "hedgerow": hedgerow.__version__,
        "model": writer.encode(model, type(model).__name__),
    }
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        text = json.dumps(contents, allow_nan=False, separators=(",", ":"))
        archive.writestr(_entry(_CONTENTS), text)
        for place, array in enumerate(writer.arrays):
            with archive.open(_entry(f"{place}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def load(path: Any) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : estimator

    See Also
    --------
    save : Write it.
    """
    name = Path(path).name
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no model file '{path}'.")
    try:
        with zipfile.ZipFile(path) as archive:
            contents = json.loads(archive.read(_CONTENTS))
            version = contents["format"]
            if version != FORMAT:
                raise ValueError(
                    f"{name} has format {version}, this version of hedgerow reads {FORMAT}; "
                    f"it was written by hedgerow {contents.get('hedgerow')}."
                )
            return _Reader(archive).decode(contents["model"])
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError(f"{name} is no model file of hedgerow, or it is damaged.") from None
    except (EOFError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "hedgerow"


class _Writer:
    """From a value to JSON; large arrays are collected, and an object is written once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.objects: list[Any] = []

    def encode(self, value: Any, where: str) -> Any:
        """The value as JSON; ``where`` names it in a refusal."""
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, np.generic):
            return {"$scalar": self._array(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if type(value) is list:
            return [self.encode(item, where) for item in value]
        if type(value) in _COLLECTIONS:
            items = value if type(value) is tuple else sorted(value, key=repr)
            return {f"${type(value).__name__}": [self.encode(item, where) for item in items]}
        if type(value) is dict:
            pairs = value.items()
            return {
                "$dict": [[self.encode(k, where), self.encode(v, f"{where}.{k}")] for k, v in pairs]
            }
        return self._object(value, where)

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype != object and array.size > _SMALL:
            self.arrays.append(array)
            return {"$array": len(self.arrays) - 1}
        items = [self.encode(item, where) for item in array.ravel().tolist()]
        return {"$items": [array.dtype.str, list(array.shape), items]}

    def _object(self, value: Any, where: str) -> Any:
        for place, known in enumerate(self.objects):
            if known is value:
                return {"$same": place}
        kind = type(value)
        if not _is_ours(kind):
            raise TypeError(
                f"{where} is an object of {kind.__module__}.{kind.__name__}, which a model file "
                "cannot hold: pickle the model, and load the pickle only where you trust it."
            )
        state = tuple(value) if isinstance(value, tuple) else value.__getstate__()
        encoded = self.encode(state, where)
        self.objects.append(value)
        return {"$object": [f"{kind.__module__}:{kind.__qualname__}", encoded]}


class _Reader:
    """The way back; objects are counted in the order in which they were completed."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.objects: list[Any] = []

    def decode(self, value: Any) -> Any:
        """The value of some JSON."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag == "$array":
            with self.archive.open(f"{int(content)}.npy") as entry:
                return np.lib.format.read_array(entry, allow_pickle=False)
        if tag == "$scalar":
            return self.decode(content)[()]
        if tag == "$float":
            return float(content)
        if tag == "$same":
            return self.objects[content]
        items = self.decode(content)
        if tag == "$items":
            dtype, shape, values = items
            array = np.empty(len(values), dtype=np.dtype(dtype))
            array[:] = values
            return array.reshape(shape)
        if tag == "$dict":
            return dict(items)
        if tag == "$object":
            self.objects.append(_make(*items))
            return self.objects[-1]
        return {f"${kind.__name__}": kind for kind in _COLLECTIONS}[tag](items)


def _make(name: str, state: Any) -> Any:
    """An object of one of hedgerow's classes; a file can name no other."""
    module, _, qualname = name.partition(":")
    if module.partition(".")[0] != "hedgerow":
        raise ValueError(f"a model file cannot hold objects of {module}.")
    try:
        kind = getattr(importlib.import_module(module), qualname)
    except (ImportError, AttributeError):
        raise ValueError(
            f"this version of hedgerow does not know {qualname} of {module}."
        ) from None
    if not isinstance(kind, type) or not _is_ours(kind):
        raise ValueError(f"{module} has no class {qualname}.")
    if issubclass(kind, tuple):
        return kind(*state)
    made = kind.__new__(kind)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state or {})
    return made
