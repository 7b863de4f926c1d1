"""The interfaces of this package: `Transport` for the rest of colline, and `Sink` for destinations.

`Transport.emit` never blocks and never raises. A `Sink` may do both: it receives batches on a thread of its own and
returns which events were delivered.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import msgspec

from colline.errors import TransportError

Event = bytes | str | msgspec.Struct | dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeliveryStats:
    """Counters of events. At any moment `emitted + adopted == sent + dropped + failed + queued + spooled`."""

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
        """The counters by name, as in the `colline_delivery` facet."""
        return asdict(self)

    @property
    def is_lossless(self) -> bool:
        """Whether no event was dropped, refused or damaged."""
        return not (self.dropped or self.failed or self.damaged)

    def __add__(self, other: DeliveryStats) -> DeliveryStats:
        return DeliveryStats(**{name: count + getattr(other, name) for name, count in asdict(self).items()})


@runtime_checkable
class Transport(Protocol):
    """Delivers events in the background, without delaying or failing the job that emits them."""

    def emit(self, event: Event) -> None:
        """Accept one event. Never blocks and never raises; an event that cannot be accepted is counted as dropped."""

    def flush(self, timeout: float) -> bool:
        """Deliver the events emitted so far. False if that takes longer than `timeout` seconds."""

    def close(self, timeout: float | None = None) -> None:
        """Deliver the waiting events for at most `timeout` seconds, then stop. A second call does nothing."""

    @property
    def stats(self) -> DeliveryStats:
        """The current counters."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that are delivered together. A retry has the same `id`, so it writes the same file."""

    events: tuple[bytes, ...]
    id: str
    created_at: datetime

    @classmethod
    def create(cls, events: tuple[bytes, ...], after: datetime | None = None) -> Batch:
        """A new batch, at least one millisecond later than `after`, so that file names sort in order of creation."""
        now = datetime.now(timezone.utc)
        return cls(events, str(uuid4()), max(now, after + timedelta(milliseconds=1)) if after else now)


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """What happened to the events of a batch, by position. Events that are not listed were delivered."""

    refused: tuple[tuple[int, str], ...] = ()  # position and reason of events that the destination will never accept
    retry: tuple[int, ...] = ()
    reason: str = ""  # why events have to be retried
    retry_after: float | None = None  # seconds, as the destination requested
    is_permanent: bool = False  # the destination cannot be reached again in this process


DELIVERED = DeliveryResult()


class DestinationLostError(TransportError):
    """The destination cannot be reached again in this process: a retry is useless."""


@runtime_checkable
class Sink(Protocol):
    """Writes batches to one destination. An exception means that no event of the batch was delivered: retry later."""

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Write a batch and return what happened to its events."""

    def after_fork(self) -> None:
        """Called in a forked child: drop connections, because they belong to the parent."""

    def close(self) -> None:
        """Close connections and files."""


_encode = msgspec.json.Encoder().encode


def to_json_line(event: Event) -> bytes:
    """The event as one line of JSON, without the line end."""
    line = event if type(event) is bytes else event.encode() if isinstance(event, str) else _encode(event)
    if b"\n" in line or b"\r" in line:
        return bytes(msgspec.json.format(line, indent=-1))
    return line
