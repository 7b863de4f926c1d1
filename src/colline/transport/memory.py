"""Keeps events in memory: for tests, notebooks and `watch.events`."""

from __future__ import annotations

from threading import RLock
from typing import Any

import msgspec

from colline.transport.interfaces import DeliveryStats, Event, to_json_line


class MemoryTransport:
    """Keeps the newest `capacity` events. Older ones are dropped and counted."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._lock = RLock()  # reentrant: a signal handler may emit while its own thread is in `emit`
        self._capacity = capacity
        self._lines: list[bytes] = []
        self._emitted = self._dropped = self._failed = 0
        self._is_closed = False

    def emit(self, event: Event) -> None:
        """Keep the event."""
        with self._lock:
            self._emitted += 1
            if self._is_closed:
                self._dropped += 1
                return
            try:
                self._lines.append(to_json_line(event))
            except Exception:  # noqa: BLE001 - an event that cannot be serialized must not fail the job
                self._failed += 1
                return
            if len(self._lines) > self._capacity:
                del self._lines[0]
                self._dropped += 1

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The events as JSON."""
        with self._lock:
            return tuple(self._lines)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, decoded."""
        return [msgspec.json.decode(line) for line in self.lines]

    def clear(self) -> None:
        """Delete the events. The counters stay."""
        with self._lock:
            self._lines.clear()

    def flush(self, timeout: float) -> bool:  # noqa: ARG002 - part of the interface
        """True: no event waits."""
        return True

    def close(self, timeout: float | None = None) -> None:  # noqa: ARG002 - part of the interface
        """Accept no more events. Those in memory stay readable."""
        self._is_closed = True

    @property
    def stats(self) -> DeliveryStats:
        """The current counters. Every event in memory counts as sent."""
        with self._lock:
            sent = self._emitted - self._dropped - self._failed
            return DeliveryStats(emitted=self._emitted, sent=sent, dropped=self._dropped, failed=self._failed)
