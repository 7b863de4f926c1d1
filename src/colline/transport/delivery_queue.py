"""The events of one transport that wait for delivery, and the counters of what happened to all of its events."""

from __future__ import annotations

from datetime import datetime

from colline.events.redact import redact
from colline.terminal_text import get_logger
from colline.transport.buffer import Buffer
from colline.transport.interfaces import Batch, DeliveryResult, DeliveryStats

log = get_logger("colline.transport")


class DeliveryQueue:
    """Waiting events and counters. Not thread-safe: the transport holds its lock around every call.

    `accepted` counts the events that were ever in the queue. `settled` counts those of them that will not be tried
    again: delivered, refused or dropped. The difference is what `flush` waits for.
    """

    def __init__(self, name: str, buffer: Buffer) -> None:
        self.accepted = len(buffer)
        self.settled = 0
        self.is_abandoned = False
        self._name = name
        self._buffer = buffer
        self._emitted = self._sent = self._retried = self._dropped = self._failed = 0
        self._settled_in_batch = 0  # events of the current batch that will not be tried again
        self._last_batch_at: datetime | None = None

    def __len__(self) -> int:
        return len(self._buffer)

    def put(self, line: bytes) -> None:
        """Add an emitted event, or count it as dropped if the buffer is full."""
        self._emitted += 1
        self.accepted += 1
        try:
            dropped = self._buffer.put(line)
        except Exception:
            log.exception("colline: the %s transport could not store an event", self._name)
            dropped = 1
        if dropped:
            self.settled += dropped
            self._count_dropped(dropped)

    def _count_dropped(self, count: int) -> None:
        before, self._dropped = self._dropped, self._dropped + count
        # Logged at 1, 2, 4, 8 … dropped events, so that a long outage does not fill the log.
        if before.bit_length() != self._dropped.bit_length():
            log.warning("colline: the %s transport is full and dropped %s events so far", self._name, self._dropped)

    def reject(self) -> None:
        """Count an event that was emitted after `close`."""
        self._emitted += 1
        self._dropped += 1

    def reject_unserializable(self, error: Exception) -> None:
        """Count an event that cannot be written as JSON."""
        self._emitted += 1
        self._failed += 1
        log.warning("colline: the %s transport cannot write an event as JSON: %s", self._name, redact(str(error)))

    def adopt(self) -> None:
        """Take over a file of a process that died. Only one at a time, because `emit` waits while it is read."""
        before = len(self._buffer)
        self._buffer.adopt(1)
        self.accepted += len(self._buffer) - before

    def next_batch(self, limit: int) -> Batch:
        """The oldest events, at most `limit`. They stay in the queue until `finish_batch`."""
        batch = Batch.create(self._buffer.peek(limit), after=self._last_batch_at)
        self._last_batch_at = batch.created_at
        return batch

    def record_attempt(self, batch: Batch, result: DeliveryResult) -> None:
        """Count what one delivery attempt achieved."""
        settled = len(batch.events) - len(result.retry)
        self._settled_in_batch += settled
        self._sent += settled - len(result.refused)
        for _, reason in result.refused:
            self._failed += 1
            if self._failed.bit_count() == 1:  # at 1, 2, 4, 8 …
                log.warning(
                    "colline: the %s transport's destination refused an event (%s failed so far): %s",
                    self._name, self._failed, redact(reason),
                )  # fmt: skip

    def record_retry(self) -> None:
        """Count a batch that is tried again."""
        self._retried += 1

    def finish_batch(self, size: int) -> None:
        """Remove a batch of `size` events. All of them were delivered or refused."""
        self._buffer.mark_delivered(size)
        self.settled += size
        self._settled_in_batch = 0

    def abandon(self) -> None:
        """Give up the waiting events. Those in memory count as failed; those on disk wait for another process."""
        waiting, on_disk = self._count_waiting()
        self._failed += waiting - on_disk
        self.is_abandoned = True

    def _count_waiting(self) -> tuple[int, int]:
        """How many events are not settled yet, and how many of them outlive this process."""
        waiting = len(self._buffer) - self._settled_in_batch
        return waiting, min(waiting, self._buffer.on_disk)

    @property
    def stats(self) -> DeliveryStats:
        """The current counters."""
        waiting, on_disk = self._count_waiting()
        return DeliveryStats(
            emitted=self._emitted,
            queued=0 if self.is_abandoned else waiting - on_disk,
            sent=self._sent,
            retried=self._retried,
            dropped=self._dropped,
            spooled=on_disk,
            failed=self._failed,
            adopted=self._buffer.adopted_events,
            damaged=self._buffer.damaged_parts,
        )
