"""A bounded queue of events on local disk, for events that must outlive the process that made them.

An event is in a file when `put` returns, and leaves it when it is delivered. Several processes may use one folder: each
writes files of its own, and adopts those of processes that died. While the disk cannot be written, events are kept in
memory.

Each line starts with the checksum of its event, so that a changed byte is found when a file is adopted:

    3dcf2c6e {"eventType":"COMPLETE","eventTime":"2026-03-02T12:04:00Z",...}
"""

from __future__ import annotations

import errno
import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Literal
from zlib import crc32

from colline.errors import TransportError
from colline.spool.segment import Segment, abandoned_segments
from colline.terminal_text import get_logger

log = get_logger("colline.spool")

_MAX_SEGMENT_BYTES = 4 * 1024 * 1024
_MIN_SEGMENT_BYTES = 4096
_SYNC_INTERVAL_SECONDS = 1.0
# After an error the disk is not tried again for this time, because each try costs the job several system calls.
_DISK_PAUSE_SECONDS = 1.0
_CHECKSUM_BYTES = len(b"3dcf2c6e ")


@dataclass(frozen=True, slots=True)
class SpoolOptions:
    """The size limits of a spool, which events it drops when it is full, and when it calls fsync."""

    max_bytes: int = 256 * 1024 * 1024
    policy: Literal["drop_newest", "drop_oldest"] = "drop_newest"
    fsync: Literal["never", "interval", "always"] = "never"
    memory_events: int = 5000  # how many may wait in memory while the disk cannot be written

    @property
    def segment_bytes(self) -> int:
        """Size at which a new file is started. Dropping the oldest file of a full spool keeps most events."""
        return max(_MIN_SEGMENT_BYTES, min(_MAX_SEGMENT_BYTES, self.max_bytes // 8))


class Spool:
    """A first-in, first-out queue on disk. Not thread-safe: the caller holds a lock around every call."""

    def __init__(self, folder: str | Path, options: SpoolOptions | None = None) -> None:
        """Open the folder and adopt what dead processes left in it; damaged lines are skipped."""
        self.adopted_events = 0
        self.damaged_parts = 0
        self._folder = Path(folder).expanduser().absolute()  # the process may change its working directory
        self._options = options or SpoolOptions()
        self._segments: list[Segment] = []  # oldest first
        self._current: Segment | None = None  # the one that `put` appends to
        self._delivering: Segment | None = None  # the one that the last `peek` read
        self._memory: deque[bytes] = deque()
        self._synced_at = monotonic()
        self._retry_disk_at: float | None = None  # set while the disk cannot be written
        try:
            self._make_folder()
            if not os.access(self._folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self.adopt()
        except OSError as error:
            raise TransportError(
                f"cannot use {self._folder} as a spool: {error.strerror or error}",
                hint="choose a local folder that this user can write to",
            ) from error

    def _make_folder(self) -> None:
        self._folder.mkdir(0o700, parents=True, exist_ok=True)

    def __len__(self) -> int:
        return self.on_disk + len(self._memory)

    @property
    def on_disk(self) -> int:
        """How many of the waiting events outlive this process."""
        return sum(len(segment.waiting) for segment in self._segments)

    @property
    def _bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def put(self, event: bytes) -> int:
        """Write one event, without a line end. Returns how many events were dropped because the spool is full."""
        line = b"%08x %s\n" % (crc32(event), event)
        dropped = self._make_space(len(line))
        if self._bytes + len(line) > self._options.max_bytes:
            return dropped + 1
        if self._write(line):
            return dropped
        if len(self._memory) >= self._options.memory_events:
            return dropped + 1
        self._memory.append(event)
        return dropped

    def _write(self, line: bytes) -> bool:
        """False if the disk cannot be written now."""
        if self._retry_disk_at is not None and monotonic() < self._retry_disk_at:
            return False
        try:
            self._append(line)
        except OSError as error:
            if self._retry_disk_at is None:
                log.warning("colline: cannot write to spool %s, events wait in memory: %s", self._folder, error)
            self._retry_disk_at = monotonic() + _DISK_PAUSE_SECONDS
            return False
        self._retry_disk_at = None
        return True

    def _append(self, line: bytes) -> None:
        sync = self._is_sync_due()
        if self._current is not None and self._current.size < self._options.segment_bytes:
            with suppress(FileNotFoundError):  # somebody deleted the folder
                self._current.append([line], sync=sync)
                return
        self._make_folder()
        self._current = Segment.create(self._folder, sync=self._options.fsync != "never")
        self._segments.append(self._current)
        self._current.append([line], sync=sync)

    def _is_sync_due(self) -> bool:
        if self._options.fsync != "interval":
            return self._options.fsync == "always"
        is_due = monotonic() - self._synced_at >= _SYNC_INTERVAL_SECONDS
        if is_due:
            self._synced_at = monotonic()
        return is_due

    def _make_space(self, needed_bytes: int) -> int:
        """Remove files until a line fits: those that are delivered and, if the policy allows it, the oldest ones.

        Returns the number of dropped events. The file in delivery stays.
        """
        dropped = 0
        for segment in list(self._segments):
            if self._bytes + needed_bytes <= self._options.max_bytes:
                break
            is_removable = not segment.waiting or self._options.policy == "drop_oldest"
            if is_removable and segment is not self._delivering:
                dropped += len(segment.waiting)
                self._remove(segment)
        return dropped

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, at most `limit` and all of one file, or else those in memory."""
        self._delivering = next((segment for segment in self._segments if segment.waiting), None)
        if self._delivering is None:
            return tuple(islice(self._memory, limit))
        return tuple(line[_CHECKSUM_BYTES:] for line in self._delivering.read(limit))

    def mark_delivered(self, count: int) -> None:
        """Remove the first `count` events of the last `peek`."""
        segment, self._delivering = self._delivering, None
        if segment is None:
            for _ in range(count):
                self._memory.popleft()
            return
        segment.mark_delivered(count)
        is_in_use = segment is self._current and segment.size < self._options.segment_bytes
        if not segment.waiting and not is_in_use:
            self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        self._segments.remove(segment)
        if segment is self._current:
            self._current = None
        segment.remove()

    def adopt(self, limit: int | None = None) -> None:
        """Take over the files of dead processes, at most `limit` files."""
        for segment in islice(abandoned_segments(self._folder, _is_intact), limit):
            if segment.damaged_parts:
                self.damaged_parts += segment.damaged_parts
                log.warning("colline: skipped %s damaged parts of %s", segment.damaged_parts, segment.path)
            if segment.waiting:
                log.info("colline: adopted %s events from %s", len(segment.waiting), segment.path)
                self.adopted_events += len(segment.waiting)
                self._segments.append(segment)
            else:
                segment.remove()

    def reset_after_fork(self) -> None:
        """In a forked child: start empty, because the files and their locks belong to the parent."""
        for segment in self._segments:
            segment.close()
        self._segments, self._current, self._delivering = [], None, None
        self._memory.clear()
        self.adopted_events = self.damaged_parts = 0

    def close(self) -> None:
        """Remove files without waiting events and close the others, which the next process adopts.

        `len` still returns how many events are left.
        """
        for segment in self._segments:
            segment.close() if segment.waiting else segment.remove()


def _is_intact(line: bytes) -> bool:
    """True if the line starts with the checksum of the rest."""
    return line.startswith(b"%08x " % crc32(memoryview(line)[_CHECKSUM_BYTES:-1]))
