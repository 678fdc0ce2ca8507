"""The bytes of a model file: a header, one blob of a JSON text and arrays, and a checksum.

``docs/format.md`` describes every byte. This module knows nothing of models: it turns a
description and a list of arrays into bytes and back, and refuses bytes that are anything else.
What is read is never larger than the file allows: the sizes that a file declares are compared
with its own size before anything is made of them.
"""

import json
import math
import re
import struct
import zlib
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

FORMAT = 1
_MAGIC = b"hedgerow"
_HEADER = struct.Struct("<8sHHIQ16s")  # magic, format, compression, sizes, version of hedgerow
_CHECKSUM = struct.Struct("<I")
_PLAIN, _DEFLATED = 0, 1
# Content beyond the first size is at most so many times as large as its compressed form; where
# deflate would shrink it more, it is stored as it is. So a small file takes little memory.
_ALWAYS_FINE, _MOST_TIMES = 1 << 22, 64
# Types that arrays have; stored ones may be narrower.
NUMBERS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_NARROWER = {
    "u": ("u1", "u2", "u4"),
    "i": ("i1", "i2", "i4"),
    "f": ("u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4"),
}


class DamagedError(ValueError):
    """What was read is no model file."""


class OtherFormatError(ValueError):
    """A model file of another format."""


class Content(NamedTuple):
    """What a file holds, and the version of hedgerow that wrote it."""

    description: Any
    arrays: list[np.ndarray]
    version: str


def damaged(reason: str) -> NoReturn:
    raise DamagedError(reason)


def type_of(array: np.ndarray) -> str | None:
    """The name of an array's type in a file, None where a file has none for it."""
    name = f"{array.dtype.kind}{array.dtype.itemsize}"
    return name if name in NUMBERS else None


def write(
    file: IO[bytes],
    description: dict[str, Any],
    arrays: list[np.ndarray],
    version: str,
    *,
    compress: bool = True,
) -> None:
    """Write a file; "arrays" is added to the description."""
    entries, columns = [], []
    for array in arrays:
        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        flat = np.ravel(array, order="F" if is_fortran else "C")
        stored = _narrowed(flat)
        columns.append(stored)
        entry = [type_of(array), type_of(stored), list(array.shape)]
        entries.append(entry + ["F"] * is_fortran)
    text = json.dumps({"arrays": entries, **description}, allow_nan=False, separators=(",", ":"))
    content = bytearray(text.encode())
    text_size = len(content)
    for stored in columns:
        content += bytes(-len(content) % stored.dtype.itemsize)
        content += stored.astype(stored.dtype.newbyteorder("<"), copy=False).data.cast("B")
    body: bytes | bytearray = content
    compression = _PLAIN
    if compress:
        packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(content) + packer.flush()
        if len(packed) < len(content) <= _most_content(len(packed)):
            body, compression = packed, _DEFLATED
    header = _HEADER.pack(
        _MAGIC, FORMAT, compression, text_size, len(content), version.encode()[:16]
    )
    file.write(header)
    file.write(body)
    file.write(_CHECKSUM.pack(zlib.crc32(body, zlib.crc32(header))))


def read(data: bytes) -> Content:
    """What the bytes of a file hold."""
    if len(data) < _HEADER.size + _CHECKSUM.size or not data.startswith(_MAGIC):
        damaged("it does not begin as one")
    _, written, compression, text_size, size, padded = _HEADER.unpack_from(data)
    version = padded.rstrip(b"\0").decode("ascii", "replace")
    body = memoryview(data)[_HEADER.size : -_CHECKSUM.size]
    (checksum,) = _CHECKSUM.unpack_from(data, len(data) - _CHECKSUM.size)
    if zlib.crc32(memoryview(data)[: -_CHECKSUM.size]) != checksum:
        damaged("its checksum is wrong")
    if written != FORMAT:
        raise OtherFormatError(
            f"has format {written}, this version of hedgerow reads format {FORMAT}; it was written "
            f"by hedgerow {version}."
        )
    content = _inflated(body, compression, size)
    if text_size > size:
        damaged("its text is longer than its content")
    description = _parsed(bytes(content[:text_size]))
    arrays, end = _arrays(description.pop("arrays", None), content, text_size)
    if end != size:
        damaged("there is more in it than it describes")
    return Content(description, arrays, version)


def is_newer(version: str, than: str) -> bool:
    """Whether a version of hedgerow came after another."""

    def numbers(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d{1,9}", text)[:3]]

    return numbers(version) > numbers(than)


def _most_content(n_bytes: int) -> int:
    return max(_ALWAYS_FINE, _MOST_TIMES * n_bytes)


def _inflated(body: memoryview, compression: int, size: int) -> memoryview:
    if compression == _PLAIN:
        content: bytes | memoryview = body
    elif compression != _DEFLATED:
        damaged(f"its compression {compression} is unknown")
    elif size > _most_content(len(body)):
        damaged("it claims to be larger than it can be")
    else:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        content = unpacker.decompress(body, size + 1)
        if not unpacker.eof or unpacker.unused_data:
            damaged("its compressed part is broken")
    if len(content) != size:
        damaged("it is longer or shorter than it says")
    return memoryview(content)


def _parsed(text: bytes) -> dict[str, Any]:
    def number(literal: str) -> float:
        value = float(literal)
        return value if math.isfinite(value) else damaged("a number in it is too large")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        return entries if len(entries) == len(pairs) else damaged("a name in it stands twice")

    description = json.loads(
        text.decode("ascii"),
        parse_float=number,
        parse_constant=lambda literal: damaged(f"it has {literal} for a number"),
        object_pairs_hook=unique,
    )
    if not isinstance(description, dict):
        damaged("it has no description")
    return description


def _arrays(entries: Any, content: memoryview, at: int) -> tuple[list[np.ndarray], int]:
    if not isinstance(entries, list):
        damaged("it has no list of arrays")
    arrays: list[np.ndarray] = []
    for entry in entries:
        if not (
            isinstance(entry, list)
            and len(entry) in (3, 4)
            and entry[0] in NUMBERS
            and entry[1] in (entry[0], *_NARROWER.get(entry[0][0], ()))
            and isinstance(entry[2], list)
            and all(type(n) is int and n >= 0 for n in entry[2])
            and entry[3:] in ([], ["F"])
        ):
            damaged(f"array {len(arrays)} is not described")
        stored, shape = np.dtype("<" + entry[1]), tuple(entry[2])
        at += -at % stored.itemsize
        n_items = math.prod(shape)
        end = at + n_items * stored.itemsize
        if end > len(content) or len(shape) > 8 or max(shape, default=0) > len(content):
            damaged(f"array {len(arrays)} is cut off")
        items = np.frombuffer(content, stored, n_items, at)
        arrays.append(items.astype(entry[0]).reshape(shape, order="F" if entry[3:] else "C"))
        at = end
    return arrays, at


def _narrowed(flat: np.ndarray) -> np.ndarray:
    """The array in the narrowest type that keeps every bit of it."""
    for narrow in _NARROWER.get(flat.dtype.kind, ()):
        if np.dtype(narrow).itemsize >= flat.dtype.itemsize:
            break
        with np.errstate(all="ignore"):
            stored = flat.astype(narrow)
            if stored.astype(flat.dtype).tobytes() == flat.tobytes():
                return stored
    return flat
