"""Layers in files: checkpoints of a fit, and layers that are not kept in memory.

A folder has one file for each finished layer and ``cascade.json``, which lists them with their
checksums. A file is written under another name and renamed when it is whole, and it is listed
after that: whatever happens to a fit, what is listed can be read.

Forests are stored as plain arrays, which are validated when they are read. Members of any other
kind are pickled: as with every pickle, read only what you trust.
"""

import hashlib
import json
import pickle
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from hedgerow._engine import Forest
from hedgerow._files import replacing
from hedgerow.cascade.layers import FoldedMember, GrownForest, Layer

FORMAT = 1
LIST = "cascade.json"


class LayerFiles:
    """The layers of one cascade in a folder.

    Parameters
    ----------
    folder : Path or None
        Made when it is not there. None is a temporary one, deleted when nobody refers to these
        files any more.
    fingerprint : str
        What the fit depends on. A folder with the layers of another fit is refused.
    seed : int
        The seed of the fit; a resumed fit takes that of the first.
    resume : bool
        Go on with the layers that are there; else they are deleted.
    """

    def __init__(self, folder: Path | None, fingerprint: str, seed: int, resume: bool) -> None:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="hedgerow-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.listed: dict[str, Any] = {
            "format": FORMAT, "fingerprint": fingerprint, "seed": seed, "layers": [],
        }  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        if resume and (folder / LIST).exists():
            self.listed = self._read_list(fingerprint)
        else:
            (folder / LIST).unlink(missing_ok=True)
            for file in folder.glob("layer_*.npz"):
                file.unlink()
        for part in folder.glob(".*.part"):  # of a fit that was killed
            part.unlink()

    @property
    def seed(self) -> int:
        return self.listed["seed"]

    @property
    def n_layers(self) -> int:
        return len(self.listed["layers"])

    def _read_list(self, fingerprint: str) -> dict[str, Any]:
        try:
            listed = json.loads((self.folder / LIST).read_text())
            is_known = listed["format"] == FORMAT
            is_same = listed["fingerprint"] == fingerprint
            seed, layers = listed["seed"], listed["layers"]
            # A layer has one name: a list leads to no other files.
            is_sound = isinstance(layers, list) and type(seed) is int and 0 <= seed < 2**31
            is_sound = is_sound and all(
                entry["file"] == _name_of(place) and isinstance(entry["sha256"], str)
                for place, entry in enumerate(layers)
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self.damaged(f"{LIST} cannot be read") from error
        if not is_known:
            raise ValueError(
                f"The checkpoint in {str(self.folder)!r} was written in a format that this version "
                "does not know: give resume=False to start anew, or another folder."
            )
        if not is_sound:
            raise self.damaged(f"{LIST} lists what no fit has written")
        if not is_same:
            raise ValueError(
                f"The checkpoint in {str(self.folder)!r} belongs to another fit (other data or "
                "parameters): give resume=False to delete it and start anew, or another folder."
            )
        return listed

    def damaged(self, why: str) -> ValueError:
        return ValueError(
            f"The checkpoint in {str(self.folder)!r} is damaged ({why}): give resume=False to "
            "delete it and start anew, or another folder."
        )

    def write(self, layer: Layer, vectors: np.ndarray) -> "StoredLayer":
        """Store the next layer with the vectors of the training rows."""
        name = _name_of(self.n_layers)
        arrays = {"gate": np.array(layer.gate), "vectors": vectors}
        for place, member in enumerate(layer.members):
            for key, array in _state_of(member).items():
                arrays[f"{place}.{key}"] = array
        self._write_whole(name, lambda file: np.savez(file, allow_pickle=False, **arrays))
        entry = {"file": name, "sha256": _checksum(self.folder / name)}
        longer = {**self.listed, "layers": [*self.listed["layers"], entry]}
        self._write_whole(LIST, lambda file: file.write(json.dumps(longer, indent=1).encode()))
        self.listed = longer
        pickled = [isinstance(member, FoldedMember) for member in layer.members]
        return StoredLayer(self, name, pickled)

    def _write_whole(self, name: str, write: Callable[[IO], Any]) -> None:
        try:
            with replacing(self.folder / name) as file:
                write(file)
        except OSError as error:
            raise OSError(
                error.errno,
                f"{name} could not be written to {str(self.folder)!r} ({error.strerror}). The "
                f"{self.n_layers} layers before it are whole; with a checkpoint, make room and fit "
                "again to go on from there",
            ) from error

    def read_all(self, pickled: list[bool]) -> Iterator[tuple["StoredLayer", np.ndarray]]:
        """The layers in turn, each with the vectors of the training rows.

        ``pickled`` says which members are no forests.
        """
        for entry in self.listed["layers"]:
            path = self.folder / entry["file"]
            if not path.is_file():
                raise self.damaged(f"{path.name} is missing")
            if _checksum(path) != entry["sha256"]:
                raise self.damaged(f"{path.name} does not have the checksum that was recorded")
            with np.load(path, allow_pickle=False) as arrays:
                yield StoredLayer(self, path.name, pickled), arrays["vectors"]


class StoredLayer:
    """A layer in a file, read each time it is needed.

    It is no part of a pickled or stored model, which holds the layers themselves.
    """

    def __init__(self, files: LayerFiles, name: str, pickled: list[bool]) -> None:
        self.files = files  # which keeps a temporary folder alive
        self.path = files.folder / name
        self.pickled = pickled

    def load(self) -> Layer:
        """The layer."""
        try:
            with np.load(self.path, allow_pickle=False) as arrays:
                members = [
                    _pickled(arrays, place) if pickled else _forest(arrays, place)
                    for place, pickled in enumerate(self.pickled)
                ]
                return Layer(members, float(arrays["gate"]))
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise OSError(
                f"A layer of this model is in {str(self.path)!r}, which cannot be read: {error}"
            ) from error


def _name_of(place: int) -> str:
    """The file of a layer, counted from 0."""
    return f"layer_{place + 1}.npz"


def _state_of(member: GrownForest | FoldedMember) -> dict[str, np.ndarray]:
    if isinstance(member, GrownForest):
        return {name: np.asarray(value) for name, value in member.forest.__getstate__().items()}
    return {"pickle": np.frombuffer(pickle.dumps(member, protocol=5), dtype=np.uint8)}


def _forest(arrays: Any, place: int) -> GrownForest:
    start = f"{place}."
    state = {name.removeprefix(start): arrays[name] for name in arrays if name.startswith(start)}
    forest = Forest.__new__(Forest)
    forest.__setstate__({k: a.item() if a.ndim == 0 else a for k, a in state.items()})
    return GrownForest(forest)


def _pickled(arrays: Any, place: int) -> FoldedMember:
    return pickle.loads(arrays[f"{place}.pickle"].tobytes())


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
