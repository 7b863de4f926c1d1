"""Fan-out: every part carries every event on its own; one that fails or hangs never stops another."""

from __future__ import annotations

from functools import reduce
from operator import add
from time import monotonic
from typing import TYPE_CHECKING

from colline.transport.batching import Carrier
from colline.transport.interfaces import Event, Stats, Transport, as_line

if TYPE_CHECKING:
    from collections.abc import Mapping


class CompositeTransport:
    """Several transports as one, by name."""

    def __init__(self, parts: Mapping[str, Transport]) -> None:
        self.parts = dict(parts)

    def emit(self, event: Event) -> None:
        """Serialised once, given to every part."""
        line: Event
        try:
            line = as_line(event)
        except Exception:  # noqa: BLE001 (every part meets the same error, counts it and logs it)
            line = event
        for part in self.parts.values():
            part.emit(line)

    def flush(self, timeout: float) -> bool:
        """True when every part is flushed; they share the time."""
        until = monotonic() + timeout
        flushed = [part.flush(max(0.0, until - monotonic())) for part in self.parts.values()]
        return all(flushed)

    def begin_close(self, timeout: float | None = None) -> None:
        """Every part starts to drain at the same time."""
        for part in self.parts.values():
            if isinstance(part, (Carrier, CompositeTransport)):
                part.begin_close(timeout)

    def close(self, timeout: float | None = None) -> None:
        """The slowest part decides how long it takes; a hanging one costs the others nothing."""
        self.begin_close(timeout)
        for part in self.parts.values():
            part.close(timeout)

    @property
    def stats(self) -> Stats:
        """Counters of all parts, so an event counts once per part."""
        return reduce(add, (part.stats for part in self.parts.values()), Stats())
