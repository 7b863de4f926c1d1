"""The in-memory twin of every transport: keeps what it was given, for tests, notebooks and `watch.events`."""

from __future__ import annotations

from threading import RLock
from typing import Any

import msgspec

from colline.transport.interfaces import Event, Stats, as_line


class MemoryTransport:
    """Keeps the newest `capacity` events; older ones are dropped and counted."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._lock = RLock()
        self._capacity = capacity
        self._lines: list[bytes] = []
        self._made = self._dropped = self._failed = 0
        self._closed = False

    def emit(self, event: Event) -> None:
        """Keep the event."""
        with self._lock:
            self._made += 1
            if self._closed:
                self._dropped += 1
                return
            try:
                self._lines.append(as_line(event))
            except Exception:  # noqa: BLE001 (an event that cannot be written down must not reach the job)
                self._failed += 1
                return
            if len(self._lines) > self._capacity:
                del self._lines[0]
                self._dropped += 1

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The events as they were serialised."""
        with self._lock:
            return tuple(self._lines)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, decoded."""
        return [msgspec.json.decode(line) for line in self.lines]

    def clear(self) -> None:
        """Forget the events kept so far; they stay counted as sent."""
        with self._lock:
            self._lines.clear()

    def flush(self, timeout: float) -> bool:  # noqa: ARG002 (nothing ever waits here)
        """True: nothing waits."""
        return True

    def close(self, timeout: float | None = None) -> None:  # noqa: ARG002 (nothing ever waits here)
        """Stop taking events; those kept stay readable."""
        self._closed = True

    @property
    def stats(self) -> Stats:
        """Everything kept counts as sent."""
        with self._lock:
            sent = self._made - self._dropped - self._failed
            return Stats(emitted=self._made, sent=sent, dropped=self._dropped, failed=self._failed)
