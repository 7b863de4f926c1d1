"""Lands events as the lake transport does: complete files of JSON lines in the landing folder of a lake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from colline.events.json_codec import encode
from colline.events.model import Event
from colline.lake.layout import LANDING
from colline.transport.filesystem import FileSystem
from colline.transport.interfaces import Batch
from colline.transport.sinks.lake_sink import LakeSink

MAX_FILE_BYTES = 16 * 2**20
MAX_EVENTS_PER_FILE = 1_000


def land_events(events: Iterable[Event], lake: str, files: FileSystem) -> int:
    """Write the events to the landing folder; returns their number."""
    sink = LakeSink(lake, LANDING, files)
    count = 0
    batch: Batch | None = None
    for lines in _batches(events):
        batch = Batch.create(lines, after=batch.created_at if batch is not None else None)
        sink.deliver(batch)
        count += len(lines)
    return count


def _batches(events: Iterable[Event]) -> Iterator[tuple[bytes, ...]]:
    lines: list[bytes] = []
    size = 0
    for event in events:
        line = encode(event)
        if lines and (size + len(line) > MAX_FILE_BYTES or len(lines) >= MAX_EVENTS_PER_FILE):
            yield tuple(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield tuple(lines)
