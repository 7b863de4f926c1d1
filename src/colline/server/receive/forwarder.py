"""Sends received events on to Kafka, after they have landed: at least once, also after `kill -9` of the server.

When a spool file lands, it also gets a name in the outbox (a hard link). A thread delivers the files of the outbox,
oldest first, and removes a file when the broker has confirmed each of its events. A server that was killed delivers the
rest of a file again when it is started.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colline.terminal_text import get_logger
from colline.transport.interfaces import Batch, DeliveryResult, Sink
from colline.transport.retry import CircuitBreaker, RetryPolicy

log = get_logger("colline.server")

_POLL_SECONDS = 0.5
_STOP_SECONDS = 5.0
_BATCH_EVENTS, _BATCH_BYTES = 500, 4 * 1024 * 1024
_RETRY = RetryPolicy(backoff_seconds=0.5, max_backoff_seconds=5.0, breaker_seconds=10.0, max_breaker_seconds=30.0)


@dataclass(slots=True)
class ForwardCounts:
    """Counters since the start, for `/metrics`."""

    events: int = 0
    refused: int = 0
    failures: int = 0


class Forwarder:
    """Delivers the files of an outbox to a sink."""

    def __init__(self, outbox: Path, sink: Sink, retry: RetryPolicy = _RETRY) -> None:
        self.counts = ForwardCounts()
        self._outbox = outbox
        self._sink = sink
        self._breaker = CircuitBreaker(retry)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="colline-forward", daemon=True)

    def start(self) -> None:
        """Begin to deliver, first what an earlier process left."""
        self._thread.start()

    def stop(self) -> None:
        """Stop delivering; the outbox keeps what is left."""
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)
        if not self._thread.is_alive():
            self._sink.close()

    def waiting(self) -> int:
        """The number of files that are not delivered yet."""
        return len(self._files())

    def _files(self) -> list[Path]:
        return sorted(self._outbox.glob("[0-9]*.ndjson"))

    def _run(self) -> None:
        while not self._stopping.is_set():
            for file in self._files():
                try:
                    is_delivered = all(self._deliver(batch) for batch in _batches(file))
                    if is_delivered:
                        file.unlink(missing_ok=True)
                except FileNotFoundError:  # another server of this lake has delivered it
                    continue
                except OSError as error:
                    log.error("cannot forward %s: %s", file, error)
                    break
                if not is_delivered:
                    break
            self._stopping.wait(_POLL_SECONDS)

    def _deliver(self, batch: Batch) -> bool:
        """Deliver until every event is confirmed or refused; False if the server stops before."""
        while not self._stopping.is_set():
            result = self._attempt(batch)
            self._count(batch, result)
            if not result.retry:
                self._breaker.record_success()
                return True
            if self._breaker.failures == 0:
                log.warning("cannot forward events, trying again: %s", result.reason)
            self.counts.failures += 1
            batch = Batch(tuple(batch.events[place] for place in result.retry), batch.id, batch.created_at)
            self._stopping.wait(self._breaker.record_failure(result.retry_after))
        return False

    def _attempt(self, batch: Batch) -> DeliveryResult:
        try:
            return self._sink.deliver(batch)
        except Exception as error:  # noqa: BLE001 - a sink may raise anything; then no event was delivered
            return DeliveryResult(retry=tuple(range(len(batch.events))), reason=str(error))

    def _count(self, batch: Batch, result: DeliveryResult) -> None:
        self.counts.events += len(batch.events) - len(result.refused) - len(result.retry)
        self.counts.refused += len(result.refused)
        for _, reason in result.refused:
            log.error("an event was not forwarded, and is in landing only: %s", reason)


def _batches(file: Path) -> Iterator[Batch]:
    """The lines of a file in batches."""
    events: list[bytes] = []
    size = 0
    with file.open("rb") as lines:
        for line in lines:
            events.append(line.rstrip(b"\n"))
            size += len(line)
            if len(events) == _BATCH_EVENTS or size >= _BATCH_BYTES:
                yield Batch.create(tuple(events))
                events, size = [], 0
    if events:
        yield Batch.create(tuple(events))
