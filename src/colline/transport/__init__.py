"""Event → somewhere: queues, batches, spool and the transports that carry events without hurting the job."""

from __future__ import annotations

from colline.transport.batching import Carrier
from colline.transport.composite import CompositeTransport
from colline.transport.filesystem import Files, LocalFiles, MemoryFiles
from colline.transport.interfaces import Batch, Event, Receipt, Sink, Stats, Transport
from colline.transport.memory import MemoryTransport

__all__ = [
    "Batch",
    "Carrier",
    "CompositeTransport",
    "Event",
    "Files",
    "LocalFiles",
    "MemoryFiles",
    "MemoryTransport",
    "Receipt",
    "Sink",
    "Stats",
    "Transport",
]
