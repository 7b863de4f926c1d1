"""Events as lines: appended to a local file, printed to a stream, or handed to an object that has `emit`."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from colline.transport.filesystem import local_path
from colline.transport.interfaces import ARRIVED, Batch, Receipt

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows: one writer per file
    fcntl = None  # type: ignore[assignment]  # mypy knows the name as a module


@contextmanager
def _exclusive(descriptor: int) -> Iterator[None]:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def append_whole(descriptor: int, data: bytes) -> None:
    """All the bytes are at the end of the file, or none of them."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        os.ftruncate(descriptor, end)
        raise


class FileSink:
    """Appends events to one local file; writers of other processes take turns by a file lock."""

    def __init__(self, location: str) -> None:
        self._path = local_path(location).absolute()  # a job may change its folder later

    def deliver(self, batch: Batch) -> Receipt:
        """One append per batch. A half line that a killed writer left behind is ended first."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            with _exclusive(descriptor):
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                append_whole(descriptor, (b"\n" if torn else b"") + b"\n".join(batch.events) + b"\n")
        finally:
            os.close(descriptor)
        return ARRIVED

    def forget(self) -> None:
        """The file is opened anew for every batch."""

    def close(self) -> None:
        """The file is closed after every batch."""


class ConsoleSink:
    """Prints events, one per line."""

    def __init__(self, stream: Literal["stderr", "stdout"] = "stderr") -> None:
        self._stream = stream

    def deliver(self, batch: Batch) -> Receipt:
        """Looked up at each batch, because notebooks and tests replace the streams."""
        stream = sys.stdout if self._stream == "stdout" else sys.stderr
        stream.write("".join(f"{event.decode()}\n" for event in batch.events))
        stream.flush()
        return ARRIVED

    def forget(self) -> None:
        """Streams are shared on purpose."""

    def close(self) -> None:
        """The stream is not ours to close."""


class NothingSink:
    """Takes everything and keeps nothing."""

    def deliver(self, batch: Batch) -> Receipt:  # noqa: ARG002 (it keeps nothing)
        """Arrived nowhere, as asked."""
        return ARRIVED

    def forget(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is held."""


class Emitter(Protocol):
    """An object of the user's own."""

    def emit(self, event: bytes) -> object:
        """Take one event as JSON bytes."""


class EmitterSink:
    """Hands events to an object of the user's own, on our thread: it may block and raise as it likes."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def deliver(self, batch: Batch) -> Receipt:
        """Events are given one by one; from the first that raises on, they are tried again."""
        for position, event in enumerate(batch.events):
            try:
                self._emitter.emit(event)
            except Exception as error:  # noqa: BLE001 (the user's own object may raise anything)
                return Receipt(again=tuple(range(position, len(batch.events))), why=f"{type(error).__name__}: {error}")
        return ARRIVED

    def forget(self) -> None:
        """What a fork means to the object is its own business."""

    def close(self) -> None:
        """Closes the object if it can be closed."""
        closing = getattr(self._emitter, "close", None)
        if closing is not None:
            closing()
