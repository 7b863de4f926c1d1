"""What a transport is, what it counts, and what a sink underneath it says about a batch.

A **transport** is what the rest of colline sees: `emit` never blocks and never raises. A **sink** is the blocking part:
it is handed a batch on a thread of its own and says what became of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import msgspec

Event = bytes | str | msgspec.Struct | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stats:
    """Where every event is. `emitted + adopted == sent + dropped + failed + queued + spooled`, at any moment."""

    emitted: int = 0
    queued: int = 0
    sent: int = 0
    retried: int = 0
    dropped: int = 0
    spooled: int = 0
    failed: int = 0
    adopted: int = 0
    damaged: int = 0

    def to_dict(self) -> dict[str, int]:
        """The counters by name, as the `colline_delivery` facet carries them."""
        return asdict(self)

    @property
    def is_whole(self) -> bool:
        """True when nothing was given up: no event dropped, refused or damaged."""
        return not (self.dropped or self.failed or self.damaged)

    def __add__(self, other: Stats) -> Stats:
        return Stats(**{name: count + getattr(other, name) for name, count in asdict(self).items()})


@runtime_checkable
class Transport(Protocol):
    """Carries events somewhere without hurting the job that made them."""

    def emit(self, event: Event) -> None:
        """Take one event. Never blocks, never raises; what cannot be taken is counted as dropped."""

    def flush(self, timeout: float) -> bool:
        """True when everything emitted so far has left within `timeout` seconds."""

    def close(self, timeout: float | None = None) -> None:
        """Deliver what waits, for `timeout` seconds at most, then stop. A second call does nothing."""

    @property
    def stats(self) -> Stats:
        """The counters as they are now."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that travel together. The same batch tried again has the same `id`, so a retry writes the same file."""

    events: tuple[bytes, ...]
    id: str
    made_at: datetime

    @classmethod
    def of(cls, events: tuple[bytes, ...], after: datetime | None = None) -> Batch:
        """A new batch, made now and at least a millisecond `after` the one before, so that file names sort in order."""
        now = datetime.now(timezone.utc)
        return cls(events, str(uuid4()), max(now, after + timedelta(milliseconds=1)) if after else now)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch: positions refused for good with the reason, positions to try again. The rest arrived."""

    refused: tuple[tuple[int, str], ...] = ()
    again: tuple[int, ...] = ()
    why: str = ""
    retry_after: float | None = None
    hopeless: bool = False  # the peer does not come back in this process


ARRIVED = Receipt()


@runtime_checkable
class Sink(Protocol):
    """The blocking end of a transport. Raising means: nothing of this batch arrived, try again later."""

    def deliver(self, batch: Batch) -> Receipt:
        """What became of each event of the batch."""

    def forget(self) -> None:
        """In a forked child: connections belong to the parent, make new ones when needed."""

    def close(self) -> None:
        """Let go of connections and handles."""


_encode = msgspec.json.Encoder().encode


def as_line(event: Event) -> bytes:
    """The event as one line of JSON, without the line end."""
    line = event if type(event) is bytes else event.encode() if isinstance(event, str) else _encode(event)
    if b"\n" in line or b"\r" in line:
        return bytes(msgspec.json.format(line, indent=-1))
    return line
