"""One file of a spool: records in the order they came, how far they are delivered, and a lock that tells who lives.

header   magic, offset of the first record not delivered yet, checksum of that offset
record   mark, length, checksum, the event's bytes
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections import deque
from itertools import islice
from pathlib import Path
from uuid import uuid4

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

HAS_LOCKS = fcntl is not None
SUFFIX = ".spool"
MAGIC = b"COLLINE1"
MARK = b"\xc0\x11\x1e\x0a"
_HEAD = struct.Struct(">8sQI")
_RECORD = struct.Struct(">4sII")
OVERHEAD = _RECORD.size
_LARGEST = 1 << 30  # a length beyond this is rubbish, not an event


class Segment:
    """An open, locked file. `index` holds place and length of every event that still waits."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = 0
        self.index: deque[tuple[int, int]] = deque()
        self.cut = 0

    @classmethod
    def create(cls, folder: Path) -> Segment:
        """A new empty segment of this process."""
        path = folder / f"{time.time_ns() // 1_000_000:013d}-{os.getpid()}-{uuid4().hex}{SUFFIX}"
        # Locked before it has the name that others look for: nobody can take it for one whose owner is dead.
        young = path.with_suffix(".new")
        segment = cls(young, os.open(young, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _locked(segment._descriptor)
            os.pwrite(segment._descriptor, _head(_HEAD.size), 0)
            segment.path = young.rename(path)
        except BaseException:
            segment.remove()
            raise
        segment.size = _HEAD.size
        return segment

    @classmethod
    def adopt(cls, path: Path) -> Segment | None:
        """The segment a dead process left, or None when its owner lives or it is gone."""
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            return None
        if not _locked(descriptor) or os.fstat(descriptor).st_nlink == 0:
            os.close(descriptor)
            return None
        segment = cls(path, descriptor)
        segment._read()
        return segment

    def _read(self) -> None:
        self.size = os.fstat(self._descriptor).st_size
        data = os.pread(self._descriptor, self.size, 0)
        place, whole = _delivered(data), True
        while place < len(data):
            length = _record_at(data, place)
            if length is None:
                self.cut += whole  # one hole counts once, however long
                whole = False
                place = data.find(MARK, place + 1)
                if place < 0:
                    break
                continue
            self.index.append((place + OVERHEAD, length))
            place, whole = place + OVERHEAD + length, True

    def append(self, line: bytes) -> None:
        """The event is in the file when this returns; on an error nothing of it is."""
        record = _RECORD.pack(MARK, len(line), zlib.crc32(line))
        wanted = OVERHEAD + len(line)
        try:
            written = os.pwritev(self._descriptor, [record, line], self.size)
            if written < wanted:
                rest = (record + line)[written:]
                written += os.pwrite(self._descriptor, rest, self.size + written)
            if written < wanted:
                raise OSError("short write")
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            raise
        self.index.append((self.size + OVERHEAD, len(line)))
        self.size += wanted

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest waiting events, `limit` at most."""
        places = islice(self.index, limit)
        return tuple(os.pread(self._descriptor, length, place) for place, length in places)

    def done(self, count: int) -> None:
        """The `count` oldest events are delivered."""
        place = length = 0
        for _ in range(count):
            place, length = self.index.popleft()
        with contextlib.suppress(OSError):  # unmarked, they would be delivered twice after a crash, never lost
            os.pwrite(self._descriptor, _head(place + length), 0)

    def sync(self) -> None:
        """What was appended survives a power cut."""
        os.fdatasync(self._descriptor) if hasattr(os, "fdatasync") else os.fsync(self._descriptor)

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """The file is gone, and the lock with it."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _head(delivered: int) -> bytes:
    return _HEAD.pack(MAGIC, delivered, zlib.crc32(b"%d" % delivered))


def _delivered(data: bytes) -> int:
    """Where the first undelivered record starts. A head that cannot be trusted means: deliver everything again."""
    if len(data) >= _HEAD.size:
        magic, place, check = _HEAD.unpack_from(data)
        if magic == MAGIC and check == zlib.crc32(b"%d" % place) and _HEAD.size <= place <= len(data):
            return int(place)
    return _HEAD.size


def _record_at(data: bytes, place: int) -> int | None:
    """Length of the event whose record starts here, None when there is no whole record."""
    if len(data) - place < OVERHEAD:
        return None
    mark, length, check = _RECORD.unpack_from(data, place)
    start, end = place + OVERHEAD, place + OVERHEAD + length
    if mark != MARK or length > _LARGEST or end > len(data) or zlib.crc32(data[start:end]) != check:
        return None
    return int(length)


def _locked(descriptor: int) -> bool:
    """True when the lock is ours now. It goes with the process, however that dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
