"""Writing files that are complete or not there at all."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a file that is open cannot be deleted anyway
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | os.PathLike, mode: str = "wb") -> Iterator[IO]:
    """A file to write that takes its name when the body has ended well.

    It is written under a temporary name beside it. An error, a full disk or an interrupt leaves
    what was there before, and nothing else. A process that is killed leaves its part; the next one
    that writes the same file removes it.

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
    _remove_stale(path)
    part, file = _open_part(path, mode.replace("w", "x"), encoding)
    try:
        with file:
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


def _open_part(path: Path, mode: str, encoding: str | None) -> tuple[Path, IO]:
    """A new file beside `path`, locked while it is open."""
    while True:
        part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        file = part.open(mode, encoding=encoding)
        with suppress(OSError):  # not every file system has locks
            _lock(file)
        if part.exists():
            return part, file
        file.close()  # another process took it for a stale one before it was locked


def _remove_stale(path: Path) -> None:
    """Delete the parts of `path` that nobody writes any more."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.????????.part"):
        # A part that cannot be opened, locked or deleted is left alone.
        with suppress(OSError), part.open("rb") as file:
            _lock(file)
            part.unlink()


def _lock(file: IO) -> None:
    """Take the lock of a file; an OSError says that another process has it."""
    if fcntl is not None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
