"""Appends events to one local file, one JSON object per line."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from colline.transport.filesystem import expand_local_path
from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult


@contextmanager
def _exclusive_lock(descriptor: int) -> Iterator[None]:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def append_all_or_nothing(descriptor: int, data: bytes) -> None:
    """Append the data. If a write fails, the file is truncated to its previous size."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        os.ftruncate(descriptor, end)
        raise


class FileSink:
    """Appends events to one local file. A file lock lets several processes write to the same file."""

    def __init__(self, location: str) -> None:
        self._path = expand_local_path(location).absolute()  # the process may change its working directory

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Append the batch. An incomplete line of a killed process is ended first, so that it damages no new line."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            with _exclusive_lock(descriptor):
                line_end = b"\n" if _ends_within_line(descriptor) else b""
                append_all_or_nothing(descriptor, line_end + b"\n".join(batch.events) + b"\n")
        finally:
            os.close(descriptor)
        return DELIVERED

    def after_fork(self) -> None:
        """Do nothing: the file is open only during a delivery."""

    def close(self) -> None:
        """Do nothing: the file is open only during a delivery."""


def _ends_within_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
