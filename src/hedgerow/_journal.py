"""A journal: JSON objects in a file, one per line, each written whole and at once.

What is finished is on the disk, whatever happens next: a run that is killed goes on from there.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hedgerow._files import write_text


class Journal:
    """The lines of a file, in order; a line that a kill cut off is left out.

    `get`, `add` and `find` are for lines that are the result of a unit of work, which a key names.

    Parameters
    ----------
    path : path-like
        Made, with its folder, by the first line.

    Attributes
    ----------
    lines : list of dict
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.lines: list[dict[str, Any]] = []
        if self.path.exists():
            with self.path.open(encoding="utf-8", errors="replace") as file:
                for text in file:
                    try:
                        line = json.loads(text)
                    except json.JSONDecodeError:
                        continue
                    if isinstance(line, dict):
                        self.lines.append(line)

    def append(self, line: dict[str, Any]) -> None:
        """Write a line to the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(line).encode() + b"\n"
        with self.path.open("a+b", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    data = b"\n" + data  # after a line that was cut off
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        self.lines.append(line)

    def replace(self, lines: Iterable[dict[str, Any]]) -> None:
        """Write other lines instead of those that there are."""
        self.lines = list(lines)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in self.lines))

    def add(self, key: dict[str, Any], **result: Any) -> dict[str, Any]:
        """Write down the result of a unit."""
        self.append({"key": key, "result": result})
        return result

    def get(self, **key: Any) -> dict[str, Any] | None:
        """The last result of a unit, or None if it has not run."""
        for line in reversed(self.lines):
            if line["key"] == key:
                return line["result"]
        return None

    def find(self, **part: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """All (key, last result) whose key has these items."""
        found = {
            json.dumps(line["key"], sort_keys=True): (line["key"], line["result"])
            for line in self.lines
            if part.items() <= line["key"].items()
        }
        return list(found.values())
