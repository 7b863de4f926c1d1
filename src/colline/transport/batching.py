"""The transport in front of every sink: accepts events without blocking and delivers them in batches on a thread.

`emit` serializes an event, puts it into a `DeliveryQueue` and returns. A daemon thread passes batches to the sink. If
the sink hangs, raises or refuses events, only that thread is affected. `CircuitBreaker` decides when to retry, and
`ShutdownDeadline` how long a closing transport still tries.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, field, replace
from time import monotonic
from weakref import WeakSet

from colline.events.redact import redact
from colline.terminal_text import get_logger
from colline.transport.buffer import Buffer, MemoryBuffer
from colline.transport.delivery_queue import DeliveryQueue
from colline.transport.interfaces import (
    Batch,
    DeliveryResult,
    DeliveryStats,
    DestinationLostError,
    Event,
    Sink,
    to_json_line,
)
from colline.transport.retry import CircuitBreaker, RetryPolicy
from colline.transport.shutdown import ShutdownDeadline, register_shutdown_hook

log = get_logger("colline.transport")

_ADOPT_INTERVAL_SECONDS = 30.0
_MAX_PAUSE_SECONDS_WHILE_CLOSING = 0.5


@dataclass(frozen=True, slots=True)
class BatchingPolicy:
    """Size of a batch, how long its first event waits for others, and the limits of the queue and of the shutdown."""

    batch_size: int = 50
    flush_seconds: float = 0.0
    queue_capacity: int = 5000
    shutdown_seconds: float = 10.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)


class BatchingTransport:
    """A transport that delivers to one sink."""

    def __init__(
        self, name: str, sink: Sink, policy: BatchingPolicy | None = None, buffer: Buffer | None = None
    ) -> None:
        self.name = name
        self._sink = sink
        self._policy = policy or BatchingPolicy()
        self._buffer: Buffer = MemoryBuffer(self._policy.queue_capacity) if buffer is None else buffer
        self._reset()
        if not _open_transports:
            register_shutdown_hook(close_all)
        _open_transports.add(self)
        if len(self._queue):
            self._start_thread()

    def _reset(self) -> None:
        # Reentrant, because a signal handler may emit while its own thread is in `emit`.
        self._changed = threading.Condition(threading.RLock())
        self._queue = DeliveryQueue(self.name, self._buffer)
        self._breaker = CircuitBreaker(self._policy.retry)
        self._deadline = ShutdownDeadline(self._policy.shutdown_seconds)
        self._thread: threading.Thread | None = None
        self._flush_target = 0  # a flush waits until this number of events is settled
        self._wake_ups = 0  # calls of flush and close: each of them ends a pause
        self._is_closed = False

    def emit(self, event: Event) -> None:
        """Put the event into the queue."""
        try:
            line = to_json_line(event)
        except Exception as error:  # noqa: BLE001 - an event that cannot be serialized must not fail the job
            with self._changed:
                self._queue.reject_unserializable(error)
            return
        with self._changed:
            if self._deadline.is_set:
                self._queue.reject()
                return
            self._queue.put(line)
            if len(self._queue) in (1, self._policy.batch_size):
                self._changed.notify_all()
            if self._thread is None:
                self._start_thread()

    def flush(self, timeout: float) -> bool:
        """Deliver the events emitted so far. False if that takes longer than `timeout` seconds."""
        until = monotonic() + timeout
        with self._changed:
            target = self._queue.accepted
            self._flush_target = max(self._flush_target, target)
            self._wake_up()
            while self._queue.settled < target and not self._queue.is_abandoned:
                left = until - monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return self._queue.settled >= target

    def begin_close(self, timeout: float | None = None) -> None:
        """Accept no more events and deliver the waiting ones in the background."""
        with self._changed:
            if self._deadline.is_set:
                return
            self._deadline.start(timeout)
            self._deadline.shorten(self._breaker.failures)
            if self._thread is None and len(self._queue):
                self._start_thread()
            self._wake_up()

    def close(self, timeout: float | None = None) -> None:
        """Deliver the waiting events for at most `timeout` seconds, stop, and log the counters."""
        self.begin_close(timeout)
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
        is_stopped = self._wait_for_thread()
        with self._changed:
            self._queue.abandon()
            self._changed.notify_all()
        if is_stopped:  # otherwise the sink hangs, and closing it could hang too
            self._sink.close()
        self._log_counters()
        self._buffer.close()
        _open_transports.discard(self)

    @property
    def stats(self) -> DeliveryStats:
        """The current counters."""
        with self._changed:
            return self._queue.stats

    def after_fork(self) -> None:
        """In a forked child: start empty, because the events, the thread and the connections belong to the parent."""
        self._buffer.reset_after_fork()
        self._sink.after_fork()
        self._reset()

    def _wake_up(self) -> None:
        self._wake_ups += 1
        self._changed.notify_all()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"colline-{self.name}", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # at interpreter exit, or at the system's limit of threads; then `close` delivers
            self._thread = None

    def _wait_for_thread(self) -> bool:
        """Wait until the thread has delivered everything or the deadline is over. Returns whether it has stopped."""
        if self._thread is None:
            self._run()
            return True
        self._thread.join(self._deadline.seconds_left())
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._queue.is_abandoned:
            try:
                if (batch := self._wait_for_batch()) is None or not self._deliver(batch):
                    return
            except Exception:
                log.exception("colline: unexpected error in the %s transport", self.name)
                with self._changed:
                    if not self._pause(DeliveryResult(reason="unexpected error")):
                        return

    def _wait_for_batch(self) -> Batch | None:
        """The next batch, once it is full or its first event has waited long enough. None if all is delivered."""
        with self._changed:
            while not len(self._queue):
                if self._deadline.is_set:
                    return None
                if not self._changed.wait(_ADOPT_INTERVAL_SECONDS):
                    self._queue.adopt()
            until = monotonic() + self._policy.flush_seconds
            while not self._is_batch_due() and (left := until - monotonic()) > 0:
                self._changed.wait(left)
            return self._queue.next_batch(self._policy.batch_size)

    def _is_batch_due(self) -> bool:
        is_full = len(self._queue) >= self._policy.batch_size
        return is_full or self._deadline.is_set or self._queue.settled < self._flush_target

    def _deliver(self, batch: Batch) -> bool:
        """Try until every event of the batch is delivered or refused. False if the deadline is over first."""
        size = len(batch.events)
        while True:
            result = self._attempt(batch)
            with self._changed:
                if self._queue.is_abandoned:
                    return False
                self._queue.record_attempt(batch, result)
                if not result.retry:
                    self._finish_batch(size)
                    return True
                if not self._pause(result):
                    return False
                self._queue.record_retry()
            batch = replace(batch, events=tuple(batch.events[position] for position in result.retry))

    def _attempt(self, batch: Batch) -> DeliveryResult:
        try:
            return self._sink.deliver(batch)
        except Exception as error:  # noqa: BLE001 - a sink may raise anything, and the job must not see it
            return DeliveryResult(
                retry=tuple(range(len(batch.events))),
                reason=f"{type(error).__name__}: {error}",
                is_permanent=isinstance(error, DestinationLostError),
            )

    def _finish_batch(self, size: int) -> None:
        self._queue.finish_batch(size)
        if self._breaker.is_open:
            log.warning("colline: the %s transport delivers again", self.name)
        self._breaker.record_success()
        self._changed.notify_all()

    def _pause(self, result: DeliveryResult) -> bool:
        """Wait before the next attempt. False if the transport is closing and there is no time for another one."""
        was_open = self._breaker.is_open
        seconds = self._breaker.record_failure(result.retry_after)
        if self._breaker.is_open and not was_open:
            log.warning(
                "colline: the %s transport cannot deliver, circuit open for %.0f s, events are queued: %s",
                self.name, seconds, redact(result.reason),
            )  # fmt: skip
        if self._deadline.is_set:
            if result.is_permanent:
                return False
            self._deadline.shorten(self._breaker.failures)
            seconds = min(seconds, _MAX_PAUSE_SECONDS_WHILE_CLOSING)
        self._wait_for_wake_up(min(seconds, self._deadline.seconds_left()))
        return self._deadline.seconds_left() > 0

    def _wait_for_wake_up(self, seconds: float) -> None:
        """Wait, but not longer than until the next flush or close: these try at once."""
        before, until = self._wake_ups, monotonic() + seconds
        while self._wake_ups == before and (left := until - monotonic()) > 0:
            self._changed.wait(left)

    def _log_counters(self) -> None:
        stats = self.stats
        level = logging.INFO if stats.is_lossless and not stats.spooled else logging.WARNING
        counters = ", ".join(f"{count} {name}" for name, count in stats.to_dict().items() if count)
        log.log(level, "colline: the %s transport is closed: %s", self.name, counters or "no events")


_open_transports: WeakSet[BatchingTransport] = WeakSet()


def close_all() -> None:
    """Close all open transports at the same time, each within its own shutdown time-out."""
    transports = list(_open_transports)
    for transport in transports:
        transport.begin_close()
    for transport in transports:
        transport.close()


def _after_fork_in_child() -> None:
    for transport in list(_open_transports):
        transport.after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
