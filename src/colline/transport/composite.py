"""Delivers every event to several transports. A part that fails or hangs does not affect the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from time import monotonic

from colline.transport.batching import BatchingTransport
from colline.transport.interfaces import DeliveryStats, Event, Transport, to_json_line


class CompositeTransport:
    """Several transports, by name."""

    def __init__(self, parts: Mapping[str, Transport]) -> None:
        self.parts = dict(parts)

    def emit(self, event: Event) -> None:
        """Serialize the event once and emit it to every part."""
        line: Event
        try:
            line = to_json_line(event)
        except Exception:  # noqa: BLE001 - every part meets the same error, counts it and logs it
            line = event
        for part in self.parts.values():
            part.emit(line)

    def flush(self, timeout: float) -> bool:
        """Flush every part. The parts share the timeout."""
        until = monotonic() + timeout
        flushed = [part.flush(max(0.0, until - monotonic())) for part in self.parts.values()]
        return all(flushed)

    def begin_close(self, timeout: float | None = None) -> None:
        """Start closing all parts at the same time."""
        for part in self.parts.values():
            if isinstance(part, (BatchingTransport, CompositeTransport)):
                part.begin_close(timeout)

    def close(self, timeout: float | None = None) -> None:
        """Close all parts. It takes as long as the slowest part."""
        self.begin_close(timeout)
        for part in self.parts.values():
            part.close(timeout)

    @property
    def stats(self) -> DeliveryStats:
        """The sum of the parts' counters. An event counts once per part."""
        return reduce(add, (part.stats for part in self.parts.values()), DeliveryStats())
