"""Prints events to the standard output or the standard error, one JSON object per line."""

from __future__ import annotations

import sys
from typing import Literal

from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult


class ConsoleSink:
    """Prints events, one per line."""

    def __init__(self, stream: Literal["stderr", "stdout"] = "stderr") -> None:
        self._stream = stream

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Print a batch. The stream is read from `sys` each time, because notebooks and tests replace it."""
        stream = sys.stdout if self._stream == "stdout" else sys.stderr
        stream.write("".join(f"{event.decode()}\n" for event in batch.events))
        stream.flush()
        return DELIVERED

    def after_fork(self) -> None:
        """Do nothing: parent and child share the stream."""

    def close(self) -> None:
        """Do nothing: the stream belongs to the program."""
