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

    It is written without a name, where the system has such files, or under a temporary name beside
    it. An error, a full disk or an interrupt leaves what was there before, and nothing else. So
    does a process that is killed; a part that had a name already is removed by the next one that
    writes the same file.

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
    part, file = _open_new(path, mode, encoding)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if part is None:
                part = _new_part(path)
                # Any directory makes it the call that follows links.
                os.link(_name_in_proc(file), part, src_dir_fd=file.fileno(), follow_symlinks=True)
        os.replace(part, path)
    except BaseException:
        if part is not None:
            part.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text file, completely or not at all."""
    with replacing(path, "w") as file:
        file.write(text)


def _open_new(path: Path, mode: str, encoding: str | None) -> tuple[Path | None, IO]:
    """A new file, with the name that it has while it is written, if it has one."""
    unnamed = _open_unnamed(path.parent, mode, encoding)
    if unnamed is not None:
        return None, unnamed
    return _open_part(path, mode.replace("w", "x"), encoding)


def _new_part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")


def _open_unnamed(folder: Path, mode: str, encoding: str | None) -> IO | None:
    """A new file that goes with its process until it is given a name; None where there are none."""
    try:
        file = os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), mode, encoding=encoding)
    except (AttributeError, OSError):  # of another system, or of a file system without them
        return None
    if not os.path.exists(_name_in_proc(file)):
        file.close()
        return None
    with suppress(OSError):
        _lock(file)
    return file


def _name_in_proc(file: IO) -> str:
    return f"/proc/self/fd/{file.fileno()}"


def _open_part(path: Path, mode: str, encoding: str | None) -> tuple[Path, IO]:
    """A new file beside `path`, locked while it is open."""
    while True:
        part = _new_part(path)
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
