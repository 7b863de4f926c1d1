"""Writes each batch of events as one NDJSON file to the landing folder of a lake."""

from __future__ import annotations

from colline.transport.filesystem import FileSystem
from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult


def landing_file_name(batch: Batch) -> str:
    """`dt=2026-03-01/1772323200000-<uuid>-50events.ndjson`. The UUID makes it unique among all writers."""
    milliseconds = int(batch.created_at.timestamp() * 1000)
    return f"dt={batch.created_at:%Y-%m-%d}/{milliseconds}-{batch.id}-{len(batch.events)}events.ndjson"


class LakeSink:
    """Writes files below `{base}/{folder}`."""

    def __init__(self, base: str, folder: str, files: FileSystem) -> None:
        self._root = f"{base.rstrip('/')}/{folder.strip('/')}"
        self._files = files

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Write the batch. A retry writes the same name, so a write that only seemed to fail is not duplicated."""
        path = f"{self._root}/{landing_file_name(batch)}"
        self._files.write_atomically(path, b"\n".join(batch.events) + b"\n")
        return DELIVERED

    def after_fork(self) -> None:
        """Do nothing: no file is open between deliveries."""

    def close(self) -> None:
        """Do nothing: no file is open between deliveries."""
