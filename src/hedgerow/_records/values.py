"""Python values in a description, and records: objects that a description may refer to.

JSON has null, true, false, whole numbers, numbers, texts and lists. What else a model holds is an
object with one key: {"tuple": [...]}, {"dict": [[key, value], ...]}, {"float": "nan"},
{"scalar": [type, value]}, {"array": place}, {"texts": [shape, [...]]}, {"items": [shape, [...]]}
and {"record": place}.

A record is a pair of a name and fields. Records stand in a list and refer to earlier ones only, so
none can hold itself, and none is nested. Which records there are is up to the codecs that a writer
and a reader are given: a file can name nothing else.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow._records.container import NUMBERS, damaged, type_of

_NON_FINITE = ("nan", "inf", "-inf")
_MOST_LEVELS = 12  # of records in records; copying nested estimators takes more than their number


class Codec(NamedTuple):
    """How objects of a class are written and read.

    Attributes
    ----------
    name : str
        Of the record.
    type : type
    encode : callable
        (object, writer, where) -> fields; ``where`` names it in a refusal.
    decode : callable
        (`Fields`) -> object.
    is_shared : bool
        Whether one record may stand for several places: of objects that never change and refer to
        no others. All else is written where it is used, so that what is read has the size of its
        file, however its parts are nested.
    """

    name: str
    type: type
    encode: Callable[[Any, "Writer", str], dict[str, Any]]
    decode: Callable[["Fields"], Any]
    is_shared: bool = False


class Writer:
    """From values to a description and arrays."""

    def __init__(self, codecs: dict[type, Codec]) -> None:
        self.arrays: list[np.ndarray] = []
        self.records: list[Any] = []
        self._codecs = codecs
        self._place_of_id: dict[int, int] = {}
        self._place_of_text: dict[str, int] = {}
        self._alive: list[Any] = []  # so that no id is used twice
        self._level = 0

    def value(self, value: Any, where: str) -> Any:
        """A value as JSON; ``where`` names it in a refusal."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.str_):
            return str(value)
        if isinstance(value, np.generic) and type_of(np.asarray(value)):
            return {"scalar": [type_of(np.asarray(value)), self.value(value.item(), where)]}
        if type(value) is np.ndarray:
            return self.array(value, where)
        if type(value) is list:
            return [self.value(item, where) for item in value]
        if type(value) is tuple:
            return {"tuple": [self.value(item, where) for item in value]}
        if type(value) is set:  # whose own order changes from process to process
            return {"set": [self.value(item, where) for item in sorted(value, key=repr)]}
        if type(value) is dict:
            return {
                "dict": [
                    [self.value(key, where), self.value(item, f"{where}.{key}")]
                    for key, item in value.items()
                ]
            }
        return self.record(value, where)

    def array(self, array: np.ndarray, where: str) -> Any:
        """An array as JSON."""
        if type_of(array):
            self.arrays.append(array)
            return {"array": len(self.arrays) - 1}
        if array.dtype.kind == "U":
            return {"texts": [list(array.shape), array.ravel().tolist()]}
        if array.dtype == object:
            items = [self.value(item, where) for item in array.ravel().tolist()]
            return {"items": [list(array.shape), items]}
        raise TypeError(f"{where} is an array of {array.dtype}, which a model file cannot hold.")

    def record(self, value: Any, where: str) -> Any:
        """An object as a reference to its record."""
        kind = type(value)
        codec = self._codecs.get(kind)
        if codec is None:
            raise TypeError(
                f"{where} is an object of {kind.__module__}.{kind.__name__}, which a model file "
                "cannot hold: pickle the model, and load the pickle only where you trust it."
            )
        place = self._place_of_id.get(id(value))
        if place is None:
            self._level += 1
            if self._level > _MOST_LEVELS:
                raise TypeError(f"{where} is nested deeper than a model file can hold.")
            record = [codec.name, codec.encode(value, self, where)]
            self._level -= 1
            # Members of a bag have equal schemas.
            text = json.dumps(record) if codec.is_shared else ""
            place = self._place_of_text.get(text)
            if place is None:
                place = len(self.records)
                self.records.append(record)
            if codec.is_shared:
                self._place_of_text[text] = self._place_of_id[id(value)] = place
                self._alive.append(value)
        return {"record": place}


class Reader:
    """From a description and arrays to values."""

    def __init__(self, codecs: dict[str, Codec], records: Any, arrays: list[np.ndarray]) -> None:
        self._codecs = codecs
        self._arrays: list[np.ndarray | None] = list(arrays)
        self._objects: list[Any] = []
        self._is_used: list[bool] = []
        self._is_shared: list[bool] = []
        self._levels: list[int] = []  # of records in each record
        self._level = 1  # of the one that is read
        if not isinstance(records, list) or not records:
            damaged("it has no records")
        for record in records:
            self._objects.append(self._object(record))
            self._levels.append(self._level)
            self._level = 1
            self._is_used.append(False)
            self._is_shared.append(codecs[record[0]].is_shared)
        if not all(self._is_used[:-1]) or any(array is not None for array in self._arrays):
            damaged("a part of it belongs to nothing")

    @property
    def last(self) -> Any:
        """The object of the last record, which holds all others."""
        return self._objects[-1]

    def _object(self, record: Any) -> Any:
        if not (
            isinstance(record, list)
            and len(record) == 2
            and isinstance(record[0], str)
            and isinstance(record[1], dict)
        ):
            damaged(f"record {len(self._objects)} is none")
        name, fields = record
        if name not in self._codecs:
            damaged(f"this version of hedgerow knows no {name[:40]!r}")
        content = Fields(name, fields, self)
        decoded = self._codecs[name].decode(content)
        content.finish()
        return decoded

    def value(self, encoded: Any) -> Any:
        """The value of some JSON."""
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        if not isinstance(encoded, dict):
            return encoded
        if len(encoded) != 1:
            damaged("a value is none")
        ((tag, inner),) = encoded.items()
        if tag in ("array", "record"):
            return self._referred(tag, inner)
        if tag == "float":
            return float(inner) if inner in _NON_FINITE else damaged("a number is none")
        if not isinstance(inner, list):
            damaged("a value is none")
        if tag == "tuple":
            return tuple(self.value(item) for item in inner)
        if tag == "set":
            return {self.value(item) for item in inner}
        if tag == "dict":
            return {self.value(key): self.value(item) for key, item in inner}
        if tag == "scalar":
            name, number = inner
            if name not in NUMBERS:
                damaged("a number has an unknown type")
            return np.dtype(name).type(_plain(self.value(number)))
        if tag == "texts":
            shape, texts = inner
            if not all(type(text) is str for text in texts):
                damaged("a text is none")
            return np.array(texts, dtype=np.str_).reshape(_shape(shape, len(texts)))
        if tag == "items":
            shape, items = inner
            array = np.empty(len(items), dtype=object)
            array[:] = [_plain(self.value(item)) for item in items]
            return array.reshape(_shape(shape, len(items)))
        damaged(f"it has a value of an unknown kind {tag[:40]!r}")

    def _referred(self, tag: str, place: Any) -> Any:
        found: list = self._arrays if tag == "array" else self._objects
        if type(place) is not int or not 0 <= place < len(found):
            damaged(f"it refers to {tag} {str(place)[:20]}, which it has not")
        if tag == "array":
            array, found[place] = found[place], None
            return damaged(f"array {place} is used twice") if array is None else array
        if self._is_used[place] and not self._is_shared[place]:
            damaged(f"record {place} is used twice")
        self._is_used[place] = True
        self._level = max(self._level, self._levels[place] + 1)
        if self._level > _MOST_LEVELS:
            damaged("its parts are nested too deep")
        return found[place]


class Fields:
    """The fields of a record that is read; what nobody asks for is an error."""

    def __init__(self, name: str, fields: dict[str, Any], reader: Reader) -> None:
        self.name = name
        self._fields, self._reader = dict(fields), reader

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def take(self, field: str, kind: Any = object) -> Any:
        """The value of a field, which must be of a type."""
        if field not in self._fields:
            damaged(f"its {self.name} lacks {field!r}")
        value = self._reader.value(self._fields.pop(field))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            damaged(f"{field!r} of its {self.name} is a {type(value).__name__}")
        return value

    def take_if_there(self, field: str, kind: Any = object) -> Any:
        """The same, None where the record has no such field."""
        return self.take(field, kind) if field in self._fields else None

    def take_named(self, field: str) -> dict[str, Any]:
        """A field that has fields itself."""
        inner = self._fields.pop(field, None)
        if not isinstance(inner, dict):
            damaged(f"its {self.name} lacks {field!r}")
        return {name: self._reader.value(value) for name, value in inner.items()}

    def finish(self) -> None:
        if self._fields:
            damaged(f"its {self.name} has an unknown field {next(iter(self._fields))[:40]!r}")


def _plain(value: Any) -> Any:
    """A value that stands alone: no container, no object."""
    if not isinstance(value, str | bool | int | float | np.generic | None):
        damaged("a single value is a container")
    return value


def _shape(shape: Any, n_items: int) -> list[int]:
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        damaged("an array has no shape")
    if math.prod(shape) != n_items or len(shape) > 8:
        damaged("an array has another shape")
    return shape
