"""The snapshot on disk: named `.npy` arrays and a `meta.json` in one folder, mapped when first touched.

Layout of `snapshot/`: one folder a version, and `CURRENT` holding the name of the one to use, replaced by rename.
A reader holds a shared lock on its version's `LOCK`, so that cleaning never takes a folder that is in use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from colline.errors import LakeError
from colline.graph.strings import Strings

FORMAT = 1
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
        self._mapped: dict[str, NDArray[Any]] = {}
        self._texts: dict[str, Strings] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = self._mapped.get(name)
        if found is None:
            mapped = np.load(self.folder / f"{name}.npy", mmap_mode="r")
            # numpy's memmap class costs more at every access than the access itself; the plain view maps the same pages
            found = self._mapped[name] = mapped.view(np.ndarray)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._mapped or (self.folder / f"{name}.npy").exists()

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
    """Every array as its own file and the facts about them in `meta.json`, on disk when this returns."""
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        if isinstance(array, Strings):
            _save(folder / f"{name}.offsets.npy", array.offsets)
            _save(folder / f"{name}.data.npy", array.data)
        else:
            _save(folder / f"{name}.npy", array)
    with (folder / "meta.json").open("w", encoding="utf-8") as file:
        json.dump({"format": FORMAT, **meta}, file)
        file.flush()
        os.fsync(file.fileno())
    (folder / "LOCK").touch()


def _save(path: Path, array: NDArray[Any]) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array))
        file.flush()
        os.fsync(file.fileno())


def _meta(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    if meta["format"] > FORMAT:
        raise LakeError(
            f"the snapshot {folder} has format {meta['format']}, this colline reads up to {FORMAT}",
            hint="upgrade colline, or publish the snapshot again with this version",
        )
    return meta
