"""Where events wait until they are delivered: in memory, or on disk where they outlive the process."""

from __future__ import annotations

import logging
from collections import deque
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Protocol

import msgspec

from colline.errors import TransportError
from colline.spool import Spool, SpoolOptions

log = logging.getLogger("colline.transport")

# After an error the disk is not tried again for this time, because each try costs the job several system calls.
_DISK_PAUSE_SECONDS = 1.0


class Buffer(Protocol):
    """A queue of events. Not thread-safe: the caller holds a lock around every call."""

    def put(self, line: bytes) -> int:
        """Add an event. Returns how many events were dropped: this one, or older ones to make space for it."""

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, at most `limit`; they stay until `mark_delivered`."""

    def mark_delivered(self, count: int) -> None:
        """Remove the first `count` events of the last `peek`."""

    def __len__(self) -> int: ...

    @property
    def on_disk(self) -> int:
        """How many of the waiting events outlive this process."""

    @property
    def adopted_events(self) -> int:
        """How many events were taken over from processes that died."""

    @property
    def damaged_parts(self) -> int:
        """How many damaged parts of files were skipped."""

    def adopt_one_file(self) -> None:
        """Take over the events of a process that died since the start."""

    def disown(self) -> None:
        """In a forked child: start empty, because what waits belongs to the parent."""

    def close(self) -> None:
        """Close files and release locks."""


class MemoryBuffer:
    """A bounded queue that drops a new event when it is full."""

    on_disk = adopted_events = damaged_parts = 0

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lines: deque[bytes] = deque()

    def put(self, line: bytes) -> int:
        """0 if the event was added, 1 if the queue is full."""
        if len(self._lines) >= self._capacity:
            return 1
        self._lines.append(line)
        return 0

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, at most `limit`."""
        return tuple(islice(self._lines, limit))

    def mark_delivered(self, count: int) -> None:
        """Remove the `count` oldest."""
        for _ in range(count):
            self._lines.popleft()

    def __len__(self) -> int:
        return len(self._lines)

    def adopt_one_file(self) -> None:
        """Nothing to do."""

    def disown(self) -> None:
        """Start empty."""
        self._lines = deque()

    def close(self) -> None:
        """Nothing to close."""


class SpoolBuffer:
    """A queue on disk. While the disk cannot be written, new events wait in memory and are delivered last."""

    def __init__(self, folder: str | Path, options: SpoolOptions | None = None, memory_capacity: int = 5000) -> None:
        try:
            self._spool = Spool(folder, options, is_json)
        except OSError as error:
            raise TransportError(
                f"cannot use {folder} as a spool: {error.strerror or error}",
                hint="choose a local folder that this user can write to",
            ) from error
        self._memory = MemoryBuffer(memory_capacity)
        self._delivering: Spool | MemoryBuffer = self._spool
        self._is_disk_failing = False
        self._retry_disk_at = 0.0

    def put(self, line: bytes) -> int:
        """Write the event to disk, or keep it in memory if that fails. Returns how many events were dropped."""
        if self._is_disk_failing and monotonic() < self._retry_disk_at:
            return self._memory.put(line)
        try:
            dropped = self._spool.put(line)
        except OSError as error:
            self._report_failure(error)
            return self._memory.put(line)
        self._is_disk_failing = False
        return dropped

    def _report_failure(self, error: OSError) -> None:
        if not self._is_disk_failing:
            log.warning("colline: cannot write to spool %s, events wait in memory: %s", self._spool.folder, error)
        self._is_disk_failing = True
        self._retry_disk_at = monotonic() + _DISK_PAUSE_SECONDS

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events on disk, then those in memory."""
        self._delivering = self._spool if len(self._spool) else self._memory
        return self._delivering.peek(limit)

    def mark_delivered(self, count: int) -> None:
        """Remove the first `count` events of the last `peek`."""
        self._delivering.mark_delivered(count)

    def __len__(self) -> int:
        return len(self._spool) + len(self._memory)

    @property
    def on_disk(self) -> int:
        """How many of the waiting events outlive this process."""
        return len(self._spool)

    @property
    def adopted_events(self) -> int:
        """How many events were taken over from processes that died."""
        return self._spool.adopted_events

    @property
    def damaged_parts(self) -> int:
        """How many damaged parts of spool files were skipped."""
        return self._spool.damaged_parts

    def adopt_one_file(self) -> None:
        """Adopt one file only, because `emit` waits while it is read."""
        self._spool.adopt(limit=1)

    def disown(self) -> None:
        """In a forked child: start empty."""
        self._spool.disown()
        self._memory.disown()

    def close(self) -> None:
        """Close the files; the next process adopts what they contain."""
        self._spool.close()


_decode_raw = msgspec.json.Decoder(msgspec.Raw).decode


def is_json(line: bytes) -> bool:
    """False for a line that a crash damaged: it would make a peer refuse the whole batch."""
    try:
        _decode_raw(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
