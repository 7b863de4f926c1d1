"""One append-only file of the spool: lines go in, and the whole file becomes a landing file by a rename.

A segment holds whole lines and no NUL byte, so what a killed process or a lost power left behind can be told from what
was made durable: everything after the last line end, or from the first NUL on, was never acknowledged.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

OPEN = ".open"
_PIECES = 512  # buffers in one writev; Linux allows 1024


@dataclass(slots=True)
class Segment:
    """An open segment. `size` and `events` count what is durable; the file may be longer while a write is under way."""

    path: Path
    descriptor: int
    opened: float = field(default_factory=time.monotonic)
    size: int = 0
    events: int = 0

    def append(self, lines: Sequence[bytes], events: int) -> None:
        """Returns when the lines are durable. On OSError nothing of them is kept."""
        try:
            self._write(lines)
            os.fdatasync(self.descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self.descriptor, self.size)
            raise
        self.size += sum(map(len, lines))
        self.events += events

    def _write(self, lines: Sequence[bytes]) -> None:
        for start in range(0, len(lines), _PIECES):
            pieces = lines[start : start + _PIECES]
            written = os.writev(self.descriptor, pieces)
            if written < sum(map(len, pieces)):
                rest = memoryview(b"".join(pieces))[written:]
                while rest:
                    rest = rest[os.write(self.descriptor, rest) :]

    def land(self, landing: Path) -> Path | None:
        """The landing file this segment became; None if it was empty. The segment is closed."""
        try:
            if not self.events:
                self.path.unlink()
                return None
            return landed(self.path, landing, self.events)
        finally:
            os.close(self.descriptor)


def open_segment(directory: Path) -> Segment:
    """A new segment, locked by this process until it is landed or the process ends, however it ends."""
    path = directory / f"{time.time_ns() // 1_000_000}-{uuid.uuid4()}{OPEN}"
    with _entrance(directory):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o640)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    sync_directory(directory)
    return Segment(path, descriptor)


def landed(path: Path, landing: Path, events: int) -> Path:
    """Where the segment is after the rename: `dt=…/{epoch_ms}-{uuid}-{n}events.ndjson`, named after the segment."""
    stem = path.name.removesuffix(OPEN)
    day = datetime.fromtimestamp(int(stem.split("-", 1)[0]) / 1000, timezone.utc)
    folder = landing / f"dt={day:%Y-%m-%d}"
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        sync_directory(folder.parent)
    target = folder / f"{stem}-{events}events.ndjson"
    path.rename(target)
    sync_directory(folder)
    sync_directory(path.parent)
    return target


def recover(directory: Path, landing: Path) -> list[Path]:
    """Landing files made of what dead processes left in the spool; segments of live ones stay."""
    with _entrance(directory):
        adopted = [_adopted(path, landing) for path in sorted(directory.glob(f"*{OPEN}"))]
    return [path for path in adopted if path is not None]


def _adopted(path: Path, landing: Path) -> Path | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        size, events = sound_part(path)
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
        if events:
            return landed(path, landing, events)
        path.unlink()
    except BlockingIOError:  # its process is alive
        pass
    finally:
        os.close(descriptor)
    return None


def sound_part(path: Path) -> tuple[int, int]:
    """How many bytes from the start are whole lines without a NUL, and how many lines that is."""
    size = events = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n") or b"\0" in line:
                break
            size += len(line)
            events += 1
    return size, events


@contextmanager
def _entrance(directory: Path) -> Iterator[None]:
    """One process at a time makes or adopts segments, so that a new one is never taken for an abandoned one."""
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sync_directory(path: Path) -> None:
    """Returns when the names in this folder are durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
