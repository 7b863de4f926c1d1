"""One file of a spool: records in the order they came, how far they are delivered, and a lock that tells who lives.

header   magic, offset of the first record not delivered yet, generation, checksum of both
record   mark, generation, length, checksum, the event's bytes
end      four zero bytes behind the last record

A drained file is written again from its start, in a new generation: pages the system already holds cost a third of new
ones. What an older generation left behind the end is no event.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from uuid import uuid4

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # mypy knows the name as a module

HAS_LOCKS = fcntl is not None
SUFFIX = ".spool"
MAGIC = b"COLLINE2"
MARK = b"\xc0\x11\x1e\x0a"
_END = bytes(4)
_HEAD = struct.Struct(">8sQII")
_RECORD = struct.Struct(">4sIII")
OVERHEAD = _RECORD.size
_LARGEST = 1 << 30  # a length beyond this is rubbish, not an event


class Segment:
    """An open, locked file. `index` holds place and length of every event that still waits."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = _HEAD.size
        self._generation = 0
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
            segment.rewind()
            segment.path = young.rename(path)
        except BaseException:
            segment.remove()
            raise
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
        data = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)
        head = _read_head(data)
        self.size, self._generation = head or (_HEAD.size, 0)
        # A head that cannot be trusted means: deliver everything again, whatever its generation.
        for place, length in _records(data, self.size, self._generation if head else None):
            self.cut += place != self.size  # one hole counts once, however long
            self.index.append((place + OVERHEAD, length))
            self.size = place + OVERHEAD + length
        self.cut += any(data[self.size : self.size + len(_END)])

    def rewind(self) -> None:
        """An empty segment again: its file is written over from the start."""
        generation = int.from_bytes(os.urandom(4), "big")
        os.pwritev(self._descriptor, [_head(_HEAD.size, generation), _END], 0)
        self.size, self._generation = _HEAD.size, generation

    def append(self, line: bytes) -> None:
        """The event is in the file when this returns; on an error nothing of it is."""
        record = _RECORD.pack(MARK, self._generation, len(line), zlib.crc32(line, self._generation))
        wanted = OVERHEAD + len(line) + len(_END)
        try:
            written = os.pwritev(self._descriptor, [record, line, _END], self.size)
            if written < wanted:
                rest = (record + line + _END)[written:]
                written += os.pwrite(self._descriptor, rest, self.size + written)
            if written < wanted:
                raise OSError("short write")
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            raise
        self.index.append((self.size + OVERHEAD, len(line)))
        self.size += OVERHEAD + len(line)

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
            os.pwrite(self._descriptor, _head(place + length, self._generation), 0)

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


def _head(delivered: int, generation: int) -> bytes:
    return _HEAD.pack(MAGIC, delivered, generation, zlib.crc32(b"%d" % delivered, generation))


def _read_head(data: bytes) -> tuple[int, int] | None:
    """Where the first undelivered record starts, and the generation; None when the head cannot be trusted."""
    if len(data) >= _HEAD.size:
        magic, place, generation, check = _HEAD.unpack_from(data)
        if magic == MAGIC and check == zlib.crc32(b"%d" % place, generation) and _HEAD.size <= place <= len(data):
            return place, generation
    return None


def _records(data: bytes, place: int, generation: int | None) -> Iterator[tuple[int, int]]:
    """Place and length of every whole record from `place` on; what lies between them is skipped."""
    while 0 <= place < len(data):
        length = _record_at(data, place, generation)
        if length is None:
            place = data.find(MARK, place + 1)
        else:
            yield place, length
            place += OVERHEAD + length


def _record_at(data: bytes, place: int, generation: int | None) -> int | None:
    """Length of the event whose record starts here, None when there is no whole record of that generation."""
    if len(data) - place < OVERHEAD:
        return None
    mark, made_in, length, check = _RECORD.unpack_from(data, place)
    start, end = place + OVERHEAD, place + OVERHEAD + length
    if mark != MARK or generation not in (None, made_in) or length > _LARGEST or end > len(data):
        return None
    return int(length) if zlib.crc32(data[start:end], made_in) == check else None


def _locked(descriptor: int) -> bool:
    """True when the lock is ours now. It goes with the process, however that dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
