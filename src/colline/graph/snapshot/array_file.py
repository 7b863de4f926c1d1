"""The files of one snapshot version: `arrays`, `meta.json` and `checksums.json`.

`arrays` holds raw arrays one after the other and is mapped as a whole. `meta.json` holds the type and place of each
array and facts about the lake. `checksums.json` holds the size and the CRC-32 of both files, checked on opening.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from colline.errors import DamagedSnapshotError, LakeError
from colline.graph.snapshot.strings import Strings

Values = NDArray[Any]  # an array of the snapshot: its type depends on its name

FORMAT = 4
ARRAYS, META, CHECKSUMS, LOCK = "arrays", "meta.json", "checksums.json", "LOCK"
COPIED_FILES = (ARRAYS, META, CHECKSUMS)

_VERIFIED = "verified.json"
_ALIGNMENT_BYTES = 64
_BLOCK_BYTES = 1 << 18
_SETTLED_SECONDS = 2.0  # a file system may give two writes within this time the same time stamp

# the subtypes of edges by their code; the last one stands for any other
SUBTYPES = (
    *("IDENTITY", "TRANSFORMATION", "AGGREGATION"),
    *("JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL", ""),
)


class SnapshotMeta(TypedDict):
    """Facts about a snapshot. Times are microseconds since 1970."""

    tables: dict[str, int]  # table → the Delta version it was read at
    published: int
    nodes: int  # columns, and one `rows` node per dataset that has indirect inputs of its rows
    columns: int
    datasets: int
    jobs: int
    groups: dict[str, int]  # group of edges → the number of its edges
    observed: dict[str, int]  # the same without the edges that were derived for nested fields
    nested: bool
    cyclic: bool
    dangling: int  # edges and columns whose column or dataset is missing
    first: int | None
    last: int | None


class StoredMeta(SnapshotMeta):
    """The content of `meta.json`."""

    format: int
    arrays: dict[str, tuple[str, int, int]]  # name → type, length, offset in bytes


class Arrays:
    """The mapped arrays of one snapshot version. They never change; an answer is computed from one `Arrays`."""

    def __init__(self, folder: Path, lock: IO[bytes] | None = None) -> None:
        self.folder = folder
        self.version = folder.name
        self._opened_identity = _identity(folder / ARRAYS)
        verify(folder)
        self.meta = read_meta(folder)
        self._lock = lock
        with (folder / ARRAYS).open("rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._mapped: dict[str, Values] = {}
        self._strings: dict[str, Strings] = {}

    def __getitem__(self, name: str) -> Values:
        found = self._mapped.get(name)
        if found is None:
            kind, count, offset = self.meta["arrays"][name]
            found = self._mapped[name] = np.frombuffer(self._file, np.dtype(kind), count, offset)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.meta["arrays"]

    def strings(self, name: str) -> Strings:
        """The strings of that name."""
        found = self._strings.get(name)
        if found is None:
            found = self._strings[name] = Strings(self[f"{name}.offsets"], self[f"{name}.data"])
        return found

    @property
    def is_unchanged(self) -> bool:
        """Whether the mapped file is as it was when it was opened; the mapping of a deleted file stays valid."""
        try:
            return _identity(self.folder / ARRAYS) == self._opened_identity
        except FileNotFoundError:
            return True

    def read_ahead(self) -> None:
        """Asks the operating system to read the whole file now, so that the first answers do not wait for pages."""
        self._file.madvise(mmap.MADV_WILLNEED)

    def close(self) -> None:
        """Releases the lock on the folder; arrays that are in use stay valid."""
        if self._lock is not None:
            self._lock.close()


def write(folder: Path, arrays: Mapping[str, Values], meta: SnapshotMeta) -> None:
    """Writes a snapshot version to a new folder; the files are on disk when this returns."""
    folder.mkdir(parents=True)
    places: dict[str, tuple[str, int, int]] = {}
    with (folder / ARRAYS).open("wb") as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % _ALIGNMENT_BYTES))
            places[name] = (array.dtype.str, len(array), file.tell())
            file.write(np.ascontiguousarray(array).data)
        file.write(b"\0" * _ALIGNMENT_BYTES)  # an empty file cannot be mapped
        _sync(file)
    _write_json(folder / META, {"format": FORMAT, **meta, "arrays": places})
    _write_json(folder / CHECKSUMS, {name: _checksum(folder / name) for name in (ARRAYS, META)})
    (folder / LOCK).touch()


def write_unpublished(version: str, arrays: Mapping[str, Values], meta: SnapshotMeta) -> Arrays:
    """A snapshot outside of any lake. Its files are deleted again, and their mapping stays valid."""
    place = Path(tempfile.mkdtemp(prefix="colline-"))
    try:
        write(place / version, arrays, meta)
        return Arrays(place / version)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _write_json(path: Path, value: object) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(value, file)
        _sync(file)


def _sync(file: IO[bytes] | IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())


def read_meta(folder: Path) -> StoredMeta:
    """The content of `meta.json`, checked against its checksum."""
    path = folder / META
    if _stored_checksum(folder, META) != _checksum(path):
        raise _damage_error(folder, META)
    meta = cast("StoredMeta", json.loads(path.read_text(encoding="utf-8")))
    if meta["format"] > FORMAT:
        raise LakeError(
            f"the snapshot {folder} has format {meta['format']}, this colline reads up to {FORMAT}",
            hint="upgrade colline, or run `colline ingest` with this version",
        )
    return meta


def verify(folder: Path) -> None:
    """Raises a LakeError if `arrays` does not have its size and checksum.

    Reading 500 MB takes 0.2 s, so the result is stored with the identity of the file: another process that finds
    the same file checks its size and its time stamps only.
    """
    path = folder / ARRAYS
    identity = _identity(path)
    if identity == _stored_identity(folder):
        return
    if _stored_checksum(folder, ARRAYS) != _checksum(path):
        raise _damage_error(folder, ARRAYS)
    if time.time() - identity["changed_ns"] / 1e9 > _SETTLED_SECONDS:
        _store_identity(folder, identity)


def _stored_identity(folder: Path) -> object:
    try:
        return cast("object", json.loads((folder / _VERIFIED).read_bytes()))
    except (OSError, ValueError):
        return None


def _store_identity(folder: Path, identity: dict[str, int]) -> None:
    temporary = folder / f".{_VERIFIED}-{os.getpid()}"
    with contextlib.suppress(OSError):  # this user may only read the lake: every process verifies
        temporary.write_text(json.dumps(identity), encoding="utf-8")
        temporary.replace(folder / _VERIFIED)


def _identity(path: Path) -> dict[str, int]:
    found = path.stat()
    return {"inode": found.st_ino, "bytes": found.st_size, "changed_ns": max(found.st_ctime_ns, found.st_mtime_ns)}


def _checksum(path: Path) -> list[int]:
    """The size and the CRC-32 of a file."""
    size = crc = 0
    block = bytearray(_BLOCK_BYTES)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(block):
            crc = zlib.crc32(memoryview(block)[:count], crc)
            size += count
    return [size, crc]


def _stored_checksum(folder: Path, file: str) -> object:
    try:
        return cast("object", json.loads((folder / CHECKSUMS).read_bytes())[file])
    except (ValueError, TypeError, KeyError):
        raise _damage_error(folder, CHECKSUMS) from None


def _damage_error(folder: Path, file: str) -> DamagedSnapshotError:
    """The error for a file that is truncated or was changed after it was written."""
    return DamagedSnapshotError(
        f"the snapshot {folder} is damaged: {file} was truncated or changed after it was written",
        hint="run `colline ingest` on the lake to publish it again, or copy the snapshot again",
    )
