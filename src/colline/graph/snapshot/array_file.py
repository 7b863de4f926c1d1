"""The snapshot on disk: one file of raw arrays and a `meta.json` that says where each lies, mapped as a whole.

Layout of `snapshot/`: one folder a version, and `CURRENT` holding the name of the one to use, replaced by rename.
A reader holds a shared lock on its version's `LOCK`, so that cleaning never takes a folder that is in use.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from colline.errors import LakeError
from colline.graph.snapshot.strings import Strings

FORMAT = 3
_ALIGNED = 64
NEVER = np.iinfo(np.int64).max  # an end that has not come
UNKNOWN = np.iinfo(np.int64).min  # a time nobody told us

# the subtypes an edge may have, by their code; the last one is any other
SUBTYPES = (
    "IDENTITY",
    "TRANSFORMATION",
    "AGGREGATION",
    "JOIN",
    "GROUP_BY",
    "FILTER",
    "SORT",
    "WINDOW",
    "CONDITIONAL",
    "",
)


class Arrays:
    """The mapped arrays of one snapshot version. Immutable; every answer is made from one of these."""

    def __init__(self, folder: Path, lock: IO[bytes] | None = None) -> None:
        self.folder = folder
        self.version = folder.name
        self.meta: dict[str, Any] = _meta(folder)
        self._lock = lock
        self._file = _map(folder / "arrays")
        self._mapped: dict[str, NDArray[Any]] = {}
        self._numbers: dict[str, memoryview] = {}
        self._texts: dict[str, Strings] = {}
        self.derived: dict[Any, Any] = {}  # values made of the arrays once, by whoever needs them

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = self._mapped.get(name)
        if found is None:
            kind, count, offset = self.meta["arrays"][name]
            found = self._mapped[name] = np.frombuffer(self._file, np.dtype(kind), count, offset)
        return found

    def numbers(self, name: str) -> memoryview:
        """The same array as numbers of Python: cheaper for who looks at a few of them."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = self[name].data
        return found

    def fetch(self) -> None:
        """Let the system read the whole file now: page by page, as they are first looked at, each is a wait."""
        if hasattr(mmap, "MADV_WILLNEED"):  # not everywhere
            self._file.madvise(mmap.MADV_WILLNEED)

    def __contains__(self, name: str) -> bool:
        return name in self.meta["arrays"]

    def strings(self, name: str) -> Strings:
        """The table of texts of that name."""
        found = self._texts.get(name)
        if found is None:
            found = self._texts[name] = Strings(self[f"{name}.offsets"], self[f"{name}.data"])
        return found

    def close(self) -> None:
        """Let go of the folder; arrays already mapped stay valid."""
        if self._lock is not None:
            self._lock.close()


def write(folder: Path, arrays: Mapping[str, NDArray[Any] | Strings], meta: Mapping[str, Any]) -> None:
    """All arrays one after the other and the facts about them in `meta.json`, on disk when this returns."""
    folder.mkdir(parents=True)
    places: dict[str, tuple[str, int, int]] = {}
    with (folder / "arrays").open("wb") as file:
        for name, array in _plain(arrays):
            file.write(b"\0" * (-file.tell() % _ALIGNED))
            places[name] = (array.dtype.str, len(array), file.tell())
            file.write(np.ascontiguousarray(array).data)
        file.write(b"\0" * _ALIGNED)  # a file of nothing cannot be mapped
        _to_disk(file)
    with (folder / "meta.json").open("w", encoding="utf-8") as text:
        json.dump({"format": FORMAT, **meta, "arrays": places}, text)
        _to_disk(text)
    (folder / "LOCK").touch()


def _plain(arrays: Mapping[str, NDArray[Any] | Strings]) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, array in arrays.items():
        if isinstance(array, Strings):
            yield f"{name}.offsets", array.offsets
            yield f"{name}.data", array.data
        else:
            yield name, array


def _to_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _meta(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    if meta["format"] > FORMAT:
        raise LakeError(
            f"the snapshot {folder} has format {meta['format']}, this colline reads up to {FORMAT}",
            hint="upgrade colline, or publish the snapshot again with this version",
        )
    return meta
