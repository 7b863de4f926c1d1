"""Sinks without a destination of their own: one passes events to a Python object, one discards them."""

from __future__ import annotations

from typing import Protocol

from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult


class Emitter(Protocol):
    """An object of the user or of another package that receives events."""

    def emit(self, event: bytes) -> object:
        """Receive one event as JSON."""


class EmitterSink:
    """Passes events to an object with `emit`. It is called on the transport's thread, so it may block and raise."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Pass the events one by one. After an exception, that event and all later ones are retried."""
        for position, event in enumerate(batch.events):
            try:
                self._emitter.emit(event)
            except Exception as error:  # noqa: BLE001 - the object is not ours and may raise anything
                rest = tuple(range(position, len(batch.events)))
                return DeliveryResult(retry=rest, reason=f"{type(error).__name__}: {error}")
        return DELIVERED

    def after_fork(self) -> None:
        """Do nothing: the object has to handle a fork by itself."""

    def close(self) -> None:
        """Close the object if it has `close`."""
        close = getattr(self._emitter, "close", None)
        if close is not None:
            close()


class NoopSink:
    """Discards events."""

    def deliver(self, batch: Batch) -> DeliveryResult:  # noqa: ARG002 - part of the interface
        """Discard the batch and count it as delivered."""
        return DELIVERED

    def after_fork(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
