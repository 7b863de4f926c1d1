"""Delivers events to a destination: a file, a lake, an HTTP server, Kafka. Delivery never delays or fails the job."""

from __future__ import annotations

from colline.transport.batching import BatchingPolicy, BatchingTransport
from colline.transport.composite import CompositeTransport
from colline.transport.filesystem import FileSystem, LocalFileSystem, MemoryFileSystem
from colline.transport.interfaces import Batch, DeliveryResult, DeliveryStats, Event, Sink, Transport
from colline.transport.memory import MemoryTransport

__all__ = [
    "Batch",
    "BatchingPolicy",
    "BatchingTransport",
    "CompositeTransport",
    "DeliveryResult",
    "DeliveryStats",
    "Event",
    "FileSystem",
    "LocalFileSystem",
    "MemoryFileSystem",
    "MemoryTransport",
    "Sink",
    "Transport",
]
