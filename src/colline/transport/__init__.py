"""Event → somewhere: queues, batches, spool and the transports that carry events without hurting the job."""

from __future__ import annotations

from colline.transport.carrier import Carrier
from colline.transport.composite import CompositeTransport
from colline.transport.files import Files, LocalFiles, MemoryFiles
from colline.transport.memory import MemoryTransport
from colline.transport.protocol import Batch, Event, Receipt, Sink, Stats, Transport

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
