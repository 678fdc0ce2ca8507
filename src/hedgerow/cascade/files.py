"""Layers in files: checkpoints of a fit, and layers that are not kept in memory.

A folder has one file for each finished layer, one for its vectors of the training rows, and
``cascade.json``, which lists them with their checksums. A file is written under another name and
renamed when it is whole, and it is listed after that: whatever happens to a fit, what is listed can
be read.

A layer's file is a model file (``docs/format.md``) whose last record is the layer; forests in it
are validated when they are read. Members of any other kind are pickled: as with every pickle, read
only what you trust. A fit whose members are all forests reads no pickle.
"""

import hashlib
import json
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from hedgerow._files import replacing
from hedgerow._records import container, graphs
from hedgerow._records.values import Codec, Fields, Reader, Writer
from hedgerow._version import __version__
from hedgerow.cascade import layers
from hedgerow.cascade.layers import FoldedMember, Layer

FORMAT = 2
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
        self.is_temporary = folder is None  # so nobody resumes, and vectors are not kept
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
            for file in (*folder.glob("layer_*.hedgerow"), *folder.glob("vectors_*.npy")):
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
            seed, entries = listed["seed"], listed["layers"]
            # A layer has its names: a list leads to no other files.
            is_sound = isinstance(entries, list) and type(seed) is int and 0 <= seed < 2**31
            is_sound = is_sound and all(
                list(entry) == [*_names_of(place)]
                and all(isinstance(checksum, str) for checksum in entry.values())
                for place, entry in enumerate(entries)
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
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
        name, vectors_name = _names_of(self.n_layers)
        writer = Writer({codec.type: codec for codec in _codecs(pickles=True)})
        writer.record(layer, "a layer")
        self._write_whole(
            name,
            lambda file: container.write(
                file, {"records": writer.records}, writer.arrays, __version__, compress=False
            ),
        )
        if not self.is_temporary:
            self._write_whole(vectors_name, lambda file: np.save(file, vectors, allow_pickle=False))
            entry = {name: _checksum(self.folder / name) for name in (name, vectors_name)}
            longer = {**self.listed, "layers": [*self.listed["layers"], entry]}
            self._write_whole(LIST, lambda file: file.write(json.dumps(longer, indent=1).encode()))
            self.listed = longer
        else:
            self.listed["layers"].append({})
        pickles = any(isinstance(member, FoldedMember) for member in layer.members)
        return StoredLayer(self, name, pickles)

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

    def read_all(self, pickles: bool) -> Iterator[tuple["StoredLayer", np.ndarray]]:
        """The layers in turn, each with the vectors of the training rows.

        ``pickles`` says whether some members are no forests.
        """
        for entry in self.listed["layers"]:
            for name, checksum in entry.items():
                if not (self.folder / name).is_file():
                    raise self.damaged(f"{name} is missing")
                if _checksum(self.folder / name) != checksum:
                    raise self.damaged(f"{name} does not have the checksum that was recorded")
            name, vectors_name = entry
            vectors = np.load(self.folder / vectors_name, allow_pickle=False)
            yield StoredLayer(self, name, pickles), vectors


class StoredLayer:
    """A layer in a file, read each time it is needed.

    It is no part of a pickled or stored model, which holds the layers themselves.
    """

    def __init__(self, files: LayerFiles, name: str, pickles: bool) -> None:
        self.files = files  # which keeps a temporary folder alive
        self.path = files.folder / name
        self.pickles = pickles

    def load(self) -> Layer:
        """The layer."""
        try:
            content = container.read(self.path.read_bytes())
            codecs = {codec.name: codec for codec in _codecs(self.pickles)}
            layer = Reader(codecs, content.description.get("records"), content.arrays).last
            return layer if isinstance(layer, Layer) else container.damaged("it holds no layer")
        except (OSError, ValueError) as error:
            raise OSError(
                f"A layer of this model is in {str(self.path)!r}, which cannot be read: {error}"
            ) from error


def _names_of(place: int) -> tuple[str, str]:
    """The files of a layer, counted from 0, and of its vectors."""
    return f"layer_{place + 1}.hedgerow", f"vectors_{place + 1}.npy"


def _codecs(pickles: bool) -> list[Codec]:
    """What a layer's file may hold; pickles only where members are no forests."""
    pickled = Codec("pickle", FoldedMember, _pickled, _unpickled)
    return [*graphs.CODECS, *layers.CODECS, *([pickled] if pickles else [])]


def _pickled(member: FoldedMember, writer: Writer, where: str) -> dict[str, Any]:
    data = np.frombuffer(pickle.dumps(member, protocol=5), dtype=np.uint8)
    return {"bytes": writer.array(data, where)}


def _unpickled(fields: Fields) -> FoldedMember:
    return pickle.loads(fields.take("bytes", np.ndarray).tobytes())


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
