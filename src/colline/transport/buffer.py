"""Where events wait until they are delivered: in memory, or in a `Spool`, where they outlive the process."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Protocol


class Buffer(Protocol):
    """A queue of events. Not thread-safe: the caller holds a lock around every call."""

    adopted_events: int  # taken over from processes that died
    damaged_parts: int  # damaged parts of files, which were skipped

    def put(self, event: bytes) -> int:
        """Add an event. Returns how many events were dropped: this one, or older ones to make space for it."""

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, at most `limit`; they stay until `mark_delivered`."""

    def mark_delivered(self, count: int) -> None:
        """Remove the first `count` events of the last `peek`."""

    def __len__(self) -> int: ...

    @property
    def on_disk(self) -> int:
        """How many of the waiting events outlive this process."""

    def adopt(self, limit: int) -> None:
        """Take over at most `limit` files of processes that died since the start."""

    def reset_after_fork(self) -> None:
        """In a forked child: start empty, because what waits belongs to the parent."""

    def close(self) -> None:
        """Close files and release locks."""


class MemoryBuffer:
    """A bounded queue that drops a new event when it is full."""

    on_disk = 0

    def __init__(self, capacity: int) -> None:
        self.adopted_events = self.damaged_parts = 0
        self._capacity = capacity
        self._events: deque[bytes] = deque()

    def put(self, event: bytes) -> int:
        """0 if the event was added, 1 if the queue is full."""
        if len(self._events) >= self._capacity:
            return 1
        self._events.append(event)
        return 0

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events, at most `limit`."""
        return tuple(islice(self._events, limit))

    def mark_delivered(self, count: int) -> None:
        """Remove the `count` oldest."""
        for _ in range(count):
            self._events.popleft()

    def __len__(self) -> int:
        return len(self._events)

    def adopt(self, limit: int) -> None:
        """Nothing to adopt."""

    def reset_after_fork(self) -> None:
        """Start empty."""
        self._events = deque()

    def close(self) -> None:
        """Nothing to close."""
