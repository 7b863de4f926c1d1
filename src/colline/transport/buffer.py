"""Where events wait until they are delivered. This one waits in memory; `spool` waits on disk."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Protocol


class Buffer(Protocol):
    """Events in the order they came. Not thread-safe: the carrier holds its lock around every call."""

    adopted: int
    cut: int

    def put(self, line: bytes) -> int:
        """How many events were lost by taking this one: 0, 1 when it did not fit, or as many as made room for it."""

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, `limit` at most; they stay until `done`."""

    def done(self, count: int) -> None:
        """Forget the `count` oldest events of the last `peek`."""

    def __len__(self) -> int: ...

    @property
    def on_disk(self) -> int:
        """How many of the waiting events would survive this process."""

    def tend(self) -> None:
        """Housekeeping while nothing waits."""

    def forget(self) -> None:
        """In a forked child: what waits belongs to the parent."""

    def close(self) -> None:
        """Let go of files and locks."""


class MemoryBuffer:
    """A bounded queue; a new event beyond `capacity` is not taken."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lines: deque[bytes] = deque()
        self.adopted = 0
        self.cut = 0

    def put(self, line: bytes) -> int:
        """0 when the event was taken, 1 when the queue is full."""
        if len(self._lines) >= self._capacity:
            return 1
        self._lines.append(line)
        return 0

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, `limit` at most."""
        return tuple(islice(self._lines, limit))

    def done(self, count: int) -> None:
        """Forget the `count` oldest."""
        for _ in range(count):
            self._lines.popleft()

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def on_disk(self) -> int:
        """None: all of it is lost with the process."""
        return 0

    def tend(self) -> None:
        """Nothing to do."""

    def forget(self) -> None:
        """Start empty."""
        self._lines = deque()

    def close(self) -> None:
        """Nothing to let go of."""
