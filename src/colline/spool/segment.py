"""One file of the spool: events as lines, written by the one process that holds its lock.

    1763481985123-7d0f2a66-….4096.open      time of creation, unique id, bytes at the start that are delivered

The file contains nothing but lines, so the receiver turns it into a landing file by renaming it. The transport records
its progress in the file's name, because a rename is atomic.

The owner holds a `flock`. The kernel releases it when the process ends for any reason, so a free lock means that the
owner is dead and another process may adopt the file.

A line never contains a NUL byte. Pages that a power failure lost are read as NUL bytes, so a line is damaged if it
contains one or if it has no line end.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from uuid import uuid4

_NAME = re.compile(r"\d{13}-[0-9a-f-]{36}\.(?P<delivered>\d+)\.open")
_PIECE_BYTES = 1024 * 1024
_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Segment:
    """An open and locked spool file. `waiting` has the offset and length of each line that is not delivered yet."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.opened_at = time.monotonic()
        self.size = 0
        self.waiting: deque[tuple[int, int]] = deque()
        self.damaged_parts = 0
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path, *, sync: bool, mode: int = 0o600) -> Segment:
        """Create an empty file. With `sync` its name survives a power failure."""
        while True:
            path = folder / f"{time.time_ns() // 1_000_000:013d}-{uuid4()}.0.open"
            segment = cls(path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))
            try:
                # Before this lock, another process may have taken the file for an abandoned one and removed it.
                if _lock(segment._descriptor) and _is_at(path, segment._descriptor):
                    if sync:
                        sync_folder(folder)
                    return segment
            except OSError:
                segment.remove()
                raise
            segment.close()

    @classmethod
    def adopt(cls, path: Path, is_intact: Callable[[bytes], bool] | None = None) -> Segment | None:
        """Open a file whose owner is dead. None if the owner is alive, or if the file is gone or cannot be read.

        A line for which `is_intact` returns False is treated as damaged.
        """
        name = _NAME.fullmatch(path.name)
        if name is None:
            return None
        try:
            segment = cls(path, os.open(path, os.O_RDWR))
        except OSError:
            return None
        try:
            if _lock(segment._descriptor) and _is_at(path, segment._descriptor):
                segment._read_index(int(name["delivered"]), is_intact)
                return segment
        except OSError:
            pass
        segment.close()
        return None

    def _read_index(self, start: int, is_intact: Callable[[bytes], bool] | None) -> None:
        self.size, was_whole = start, True
        with open(self._descriptor, "rb", closefd=False) as lines:
            lines.seek(start)
            for line in lines:
                is_whole = line.endswith(b"\n") and b"\0" not in line and (is_intact is None or is_intact(line))
                if is_whole:
                    self.waiting.append((self.size, len(line)))
                self.damaged_parts += was_whole and not is_whole
                self.size, was_whole = self.size + len(line), is_whole

    @property
    def created_ms(self) -> int:
        """Time of creation, in milliseconds since 1970."""
        return int(self.path.name.split("-", 1)[0])

    @property
    def id(self) -> str:
        """The part of the name that never changes."""
        return self.path.name.split(".", 1)[0]

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        """Write lines, each with its line end; with `sync` they survive a power failure.

        On OSError the file stays as it was. FileNotFoundError: somebody deleted the file or, with `sync`, moved it.
        """
        try:
            offset = self.size
            for piece in _pieces(lines):
                _write(self._descriptor, piece, offset)
                offset += len(piece)
            if sync:
                _sync_data(self._descriptor)
            # Looking up the path would make `emit` a third slower (bench/emit.py, after a pause).
            is_found = _is_at(self.path, self._descriptor) if sync else os.fstat(self._descriptor).st_nlink > 0
            if not is_found:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
            raise
        for line in lines:
            self.waiting.append((self.size, len(line)))
            self.size += len(line)

    def read(self, limit: int) -> tuple[bytes, ...]:
        """The oldest waiting lines without their line ends, at most `limit`."""
        places = islice(self.waiting, limit)
        return tuple(os.pread(self._descriptor, length - 1, offset) for offset, length in places)

    def mark_delivered(self, count: int) -> None:
        """Record that the `count` oldest waiting lines are delivered."""
        offset = length = 0
        for _ in range(count):
            offset, length = self.waiting.popleft()
        with suppress(OSError):  # after a crash these lines would be delivered a second time, which is allowed
            self.path = self.path.rename(self.path.with_name(f"{self.id}.{offset + length}.open"))

    def truncate_at_damage(self) -> None:
        """Remove the first damaged line, and everything behind it."""
        end = 0
        for count, (offset, length) in enumerate(self.waiting):
            if offset != end:
                self.waiting = deque(islice(self.waiting, count))
                break
            end += length
        if end < os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, end)
            os.fsync(self._descriptor)
        self.size = end

    def close(self) -> None:
        """Close the file and release the lock. In a forked child the lock stays with the parent."""
        descriptor, self._descriptor = self._descriptor, -1
        with suppress(OSError):
            os.close(descriptor)

    def remove(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.close()


def abandoned_segments(folder: Path, is_intact: Callable[[bytes], bool] | None = None) -> Iterator[Segment]:
    """Adopt the files of dead processes, oldest first."""
    for path in sorted(folder.glob("*.open")):
        segment = Segment.adopt(path, is_intact)
        if segment is not None:
            yield segment


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they are missing, so that they survive a power failure."""
    if folder.is_dir():
        return
    if not folder.parent.exists():
        make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in this folder survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _pieces(lines: Sequence[bytes]) -> Iterator[bytes]:
    """The lines joined to pieces of about a megabyte: joining all of them would double the memory of large ones."""
    start = size = 0
    for end, line in enumerate(lines, 1):
        size += len(line)
        if size >= _PIECE_BYTES or end == len(lines):
            yield b"".join(lines[start:end])
            start, size = end, 0


def _write(descriptor: int, data: bytes, offset: int) -> None:
    rest = memoryview(data)
    while rest:  # a nearly full disk may take a part only
        written = os.pwrite(descriptor, rest, offset)
        rest, offset = rest[written:], offset + written


def _lock(descriptor: int) -> bool:
    """True if this process holds the lock now, False if another one does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    """True if the open file is the one that has this path: nobody deleted, moved or replaced it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
