"""Where codes, targets and weights lie: in memory, or in one file that is mapped when it is read.

A file is a row of arrays, each at a multiple of 64 bytes, and a footer that says what they are
(JSON), how long it is and its checksum. It is written beside its place and moved there when it is
complete, so there is never half a file; it is not mapped while it is written, so that writing it
takes no memory.
"""

import json
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_MAGIC = b"HEDGEROWCODES\x01\n\x00"  # 16 bytes, at both ends
_TAIL = struct.Struct("<QI16s")  # length and checksum of the footer
_ALIGN = 64


class InMemory:
    """Arrays that are filled piece by piece."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def make(self, name: str, n: int, dtype: Any) -> None:
        self._arrays[name] = np.empty(n, dtype)

    def piece(self, name: str, first: int, n: int) -> np.ndarray:
        """An array to write into, which `keep` takes back."""
        return self._arrays[name][first : first + n]

    def keep(self, name: str, first: int, piece: np.ndarray) -> None:
        whole = self._arrays[name]
        if piece.base is not whole:
            whole[first : first + len(piece)] = piece

    def finish(self, facts: dict[str, Any]) -> Mapping[str, np.ndarray]:
        return self._arrays

    def drop(self) -> None:
        self._arrays.clear()


class InFile:
    """The same in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists():
            raise FileExistsError(
                f"'{path}' exists: open it with Dataset.open, or remove it to have it made anew."
            )
        self._partial = path.with_name(path.name + ".partial")
        self._file = open(self._partial, "wb")  # noqa: SIM115 (closed by finish or drop)
        self._end = len(_MAGIC)
        self._places: dict[str, tuple[int, int, str]] = {}
        os.pwrite(self._file.fileno(), _MAGIC, 0)

    def make(self, name: str, n: int, dtype: Any) -> None:
        start = -(-self._end // _ALIGN) * _ALIGN
        kind = np.dtype(dtype)
        self._places[name] = start, n, kind.str
        self._end = start + n * kind.itemsize
        os.truncate(self._file.fileno(), self._end)

    def piece(self, name: str, first: int, n: int) -> np.ndarray:
        return np.empty(n, self._places[name][2])

    def keep(self, name: str, first: int, piece: np.ndarray) -> None:
        start, _, kind = self._places[name]
        dtype = np.dtype(kind)
        data = np.ascontiguousarray(piece, dtype)
        left, at = data.data.cast("B"), start + first * dtype.itemsize
        while len(left):
            done = os.pwrite(self._file.fileno(), left, at)
            left, at = left[done:], at + done

    def finish(self, facts: dict[str, Any]) -> Mapping[str, np.ndarray]:
        footer = json.dumps({"arrays": self._places, "facts": facts}).encode()
        tail = _TAIL.pack(len(footer), zlib.crc32(footer), _MAGIC)
        os.pwrite(self._file.fileno(), footer + tail, self._end)
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._partial, self.path)
        return open_file(self.path)[0]

    def drop(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._partial.unlink(missing_ok=True)


def open_file(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file, mapped, and its facts."""
    size = path.stat().st_size
    try:
        with open(path, "rb") as file:
            head = file.read(len(_MAGIC))
            file.seek(-_TAIL.size, os.SEEK_END)
            length, checksum, magic = _TAIL.unpack(file.read())
            if head != _MAGIC or magic != _MAGIC or length + _TAIL.size > size:
                raise ValueError
            file.seek(-_TAIL.size - length, os.SEEK_END)
            footer = file.read(length)
        if zlib.crc32(footer) != checksum:
            raise ValueError
        known = json.loads(footer)
        arrays = {}
        for name, (start, n, kind) in known["arrays"].items():
            if start + n * np.dtype(kind).itemsize > size - _TAIL.size - length:
                raise ValueError
            arrays[name] = np.memmap(path, kind, "r", start, (n,)) if n else np.empty(0, kind)
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        raise ValueError(
            f"this is no complete file of codes: '{path}'; make it anew with Dataset.from_parquet "
            "or Dataset.from_batches and file=."
        ) from None
    return arrays, known["facts"]
