"""Writing files that are complete or not there at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4


@contextmanager
def replacing(path: str | os.PathLike, mode: str = "wb") -> Iterator[IO]:
    """A file to write that takes its name when the body has ended well.

    It is written under a temporary name beside it. An error, a full disk or an interrupt leaves
    what was there before, and nothing else.

    Parameters
    ----------
    path : path-like
        The file to make or replace. Devices and pipes are written as they are.
    mode : {"wb", "w"}, default="wb"

    Yields
    ------
    file : file object
    """
    path = Path(path)
    encoding = None if "b" in mode else "utf-8"
    if path.exists() and not path.is_file():
        with path.open(mode, encoding=encoding) as file:
            yield file
        return
    # Links are followed, so that the link stays and its file is replaced.
    path = path.resolve()
    part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        with part.open(mode.replace("w", "x"), encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text file, completely or not at all."""
    with replacing(path, "w") as file:
        file.write(text)
