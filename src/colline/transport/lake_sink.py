"""Batches of events as files in a lake's landing folder, one whole file per batch, no two writers ever at one name."""

from __future__ import annotations

from colline.transport.filesystem import Files
from colline.transport.interfaces import ARRIVED, Batch, Receipt


def file_name(batch: Batch) -> str:
    """`dt=2026-03-01/1772323200000-<uuid>-50events.ndjson`."""
    day, milliseconds = batch.made_at.strftime("%Y-%m-%d"), int(batch.made_at.timestamp() * 1000)
    return f"dt={day}/{milliseconds}-{batch.id}-{len(batch.events)}events.ndjson"


class LakeSink:
    """Writes each batch as one NDJSON file below `{base}/{folder}`."""

    def __init__(self, base: str, folder: str, files: Files) -> None:
        self._root = f"{base.rstrip('/')}/{folder.strip('/')}"
        self._files = files

    def deliver(self, batch: Batch) -> Receipt:
        """The same batch tried again goes to the same name: a write that failed after all is not there twice."""
        self._files.write_whole(f"{self._root}/{file_name(batch)}", b"\n".join(batch.events) + b"\n")
        return ARRIVED

    def forget(self) -> None:
        """Nothing is held between batches."""

    def close(self) -> None:
        """Nothing is held between batches."""
