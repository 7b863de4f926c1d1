"""The one engine behind every transport: a bounded buffer, a daemon thread, batches, retries, counters.

`emit` writes the event down and returns; a sink sees batches on the carrier's own thread. Whatever a sink does, hang,
raise or refuse, stays on that thread.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from weakref import WeakSet

from colline.events.redact import redact
from colline.terminal_text import get_logger
from colline.transport.buffer import Buffer, MemoryBuffer
from colline.transport.filesystem import PeerGoneError
from colline.transport.interfaces import Batch, Event, Receipt, Sink, Stats, as_line
from colline.transport.retry import Breaker, Patience
from colline.transport.shutdown import at_end

log = get_logger("colline.transport")

_ADOPT_INTERVAL_SECONDS = 30.0
_CLOSING_WAIT = 0.5  # longest pause between two tries while closing: the time left is short
# Seconds at the end for a peer that failed once, or again and again: the job must not wait for a dead server.
_LAST_CHANCE = (2.0, 0.3)


@dataclass(frozen=True, slots=True)
class Pace:
    """How many events travel together, how long the first of them waits, how many may wait at all."""

    batch_size: int = 50
    flush_seconds: float = 0.0
    queue_capacity: int = 5000
    shutdown_timeout: float = 10.0
    patience: Patience = field(default_factory=Patience)


class Carrier:
    """A transport made of a sink."""

    def __init__(self, name: str, sink: Sink, pace: Pace | None = None, buffer: Buffer | None = None) -> None:
        self.name = name
        self._sink = sink
        self._pace = pace or Pace()
        # An empty spool is false, so `or` would not do.
        self._buffer: Buffer = MemoryBuffer(self._pace.queue_capacity) if buffer is None else buffer
        self._reset()
        if not _ALIVE:
            at_end(close_all)
        _ALIVE.add(self)
        if len(self._buffer):
            self._start()

    def _reset(self) -> None:
        # An RLock, so that a signal handler that emits while its own thread is inside `emit` does not wait for itself.
        self._wake = threading.Condition(threading.RLock())
        self._thread: threading.Thread | None = None
        self._breaker = Breaker(self._pace.patience)
        self._made = self._sent = self._retried = self._dropped = self._failed = 0
        self._accepted = len(self._buffer)
        self._settled = 0  # accepted events that will not be tried again
        self._part_settled = 0  # those of the batch under way
        self._nudges = 0
        self._hurry_to = 0  # a flush waits until this many are settled
        self._deadline: float | None = None  # set by close
        self._unasked = False  # closing without a timeout of the caller's own
        self._last_made: datetime | None = None
        self._closed = False
        self._finished = False

    def emit(self, event: Event) -> None:
        """Write the event down and return."""
        try:
            line = as_line(event)
        except Exception as error:  # noqa: BLE001 (an event that cannot be written down must not reach the job)
            self._count_unwritable(error)
            return
        with self._wake:
            self._made += 1
            if self._deadline is not None:
                self._dropped += 1
                return
            lost = self._take(line)
            if lost:
                self._count_lost(lost)
            waiting = len(self._buffer)
            if waiting in (1, self._pace.batch_size):
                self._wake.notify_all()
            if self._thread is None:
                self._start()

    def flush(self, timeout: float) -> bool:
        """True when everything emitted before this call has left within `timeout` seconds."""
        until = monotonic() + timeout
        with self._wake:
            target = self._accepted
            self._hurry_to = max(self._hurry_to, target)
            self._nudges += 1
            self._wake.notify_all()
            while self._settled < target and not self._finished:
                left = until - monotonic()
                if left <= 0:
                    return False
                self._wake.wait(left)
            return self._settled >= target

    def begin_close(self, timeout: float | None = None) -> None:
        """Take no more events and start to drain; `close` waits for the end of it."""
        seconds = self._pace.shutdown_timeout if timeout is None else timeout
        with self._wake:
            if self._deadline is not None:
                return
            self._deadline = monotonic() + seconds
            self._unasked = timeout is None
            self._hurry_up()
            self._nudges += 1
            if self._thread is None and len(self._buffer):
                self._start()
            self._wake.notify_all()

    def close(self, timeout: float | None = None) -> None:
        """Deliver what waits for `timeout` seconds at most, say what became of everything, stop."""
        self.begin_close(timeout)
        with self._wake:
            if self._closed:
                return
            self._closed = True
        self._finish(max(0.0, (self._deadline or 0.0) - monotonic()))

    @property
    def stats(self) -> Stats:
        """Where every event is now."""
        with self._wake:
            waiting, spooled = self._waiting()
            return Stats(
                emitted=self._made,
                queued=0 if self._finished else waiting - spooled,
                sent=self._sent,
                retried=self._retried,
                dropped=self._dropped,
                spooled=spooled,
                failed=self._failed,
                adopted=self._buffer.adopted_events,
                damaged=self._buffer.damaged_parts,
            )

    def _waiting(self) -> tuple[int, int]:
        """Events not settled yet, and how many of them would survive this process."""
        waiting = len(self._buffer) - self._part_settled
        return waiting, min(waiting, self._buffer.on_disk)

    def _take(self, line: bytes) -> int:
        self._accepted += 1
        try:
            return self._buffer.put(line)
        except Exception:
            log.exception("colline: the %s transport could not keep an event", self.name)
            return 1

    def _count_lost(self, lost: int) -> None:
        self._settled += lost
        before, self._dropped = self._dropped, self._dropped + lost
        # Said at 1, 2, 4, 8 … so that a long outage does not fill the log.
        if before.bit_length() != self._dropped.bit_length():
            log.warning("colline: %s events dropped so far by the %s transport (it is full)", self._dropped, self.name)

    def _count_unwritable(self, error: Exception) -> None:
        with self._wake:
            self._made += 1
            self._failed += 1
        log.warning("colline: an event could not be written as JSON: %s", error)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"colline-{self.name}", daemon=True)
        try:
            self._thread.start()
        except (
            RuntimeError
        ):  # the interpreter is shutting down, or the system has no thread left: close() drains inline
            self._thread = None

    def _run(self) -> None:
        while not self._finished:
            try:
                if (batch := self._next_batch()) is None or not self._carry(batch):
                    return
            except Exception:  # the thread must outlive any fault of ours: events still wait
                log.exception("colline: the %s transport stumbled", self.name)
                with self._wake:
                    self._pause(Receipt(why="internal error"))

    def _next_batch(self) -> Batch | None:
        """The next events to deliver, when there are enough of them or the first has waited long enough."""
        with self._wake:
            while not len(self._buffer):
                if self._deadline is not None:
                    return None
                if not self._wake.wait(_ADOPT_INTERVAL_SECONDS):
                    self._buffer.adopt(1)  # `emit` waits while a file is read, so only one
                    self._accepted += len(self._buffer)
            until = monotonic() + self._pace.flush_seconds
            while not self._is_due() and (left := until - monotonic()) > 0:
                self._wake.wait(left)
            batch = Batch.of(self._buffer.peek(self._pace.batch_size), after=self._last_made)
            self._last_made = batch.made_at
            return batch

    def _is_due(self) -> bool:
        enough = len(self._buffer) >= self._pace.batch_size
        return enough or self._deadline is not None or self._settled < self._hurry_to

    def _carry(self, batch: Batch) -> bool:
        """True when every event of the batch is settled, False when time ran out."""
        size = len(batch.events)
        while True:
            receipt = self._attempt(batch)
            with self._wake:
                if self._finished:
                    return False
                self._count(batch, receipt)
                if not receipt.again:
                    self._settle(size)
                    return True
                if not self._pause(receipt):
                    return False
                self._retried += 1
            if len(receipt.again) < len(batch.events):
                batch = replace(batch, events=tuple(batch.events[position] for position in receipt.again))

    def _attempt(self, batch: Batch) -> Receipt:
        try:
            return self._sink.deliver(batch)
        except Exception as error:  # noqa: BLE001 (a sink may fail in any way; the job must not see it)
            everything = tuple(range(len(batch.events)))
            gone = isinstance(error, PeerGoneError)
            return Receipt(again=everything, why=f"{type(error).__name__}: {redact(str(error))}", hopeless=gone)

    def _count(self, batch: Batch, receipt: Receipt) -> None:
        settled = len(batch.events) - len(receipt.again)
        self._part_settled += settled
        self._sent += settled - len(receipt.refused)
        for _, why in receipt.refused:
            self._failed += 1
            if self._failed.bit_count() == 1:
                log.warning("colline: the %s transport refused an event (%s so far): %s", self.name, self._failed, why)

    def _settle(self, size: int) -> None:
        self._buffer.mark_delivered(size)
        self._settled += size
        self._part_settled = 0
        if self._breaker.succeeded():
            log.warning("colline: the %s transport delivers again", self.name)
        self._wake.notify_all()

    def _pause(self, receipt: Receipt) -> bool:
        """Wait before the next try; False when closing leaves no time for another one."""
        was_open = self._breaker.is_open
        wait = self._breaker.failed(receipt.retry_after)
        if self._breaker.is_open and not was_open:
            log.warning(
                "colline: the %s transport cannot deliver and rests for %.0f s; events wait: %s",
                self.name, wait, receipt.why,
            )  # fmt: skip
        if self._deadline is not None:
            if receipt.hopeless:
                return False
            self._hurry_up()
            wait = min(wait, _CLOSING_WAIT)
        nudges, until = self._nudges, monotonic() + wait
        # A flush or a close nudges: the peer may be back, so one try is made at once.
        while self._nudges == nudges and (left := min(until, self._deadline or until) - monotonic()) > 0:
            self._wake.wait(left)
        return self._deadline is None or monotonic() < self._deadline

    def _hurry_up(self) -> None:
        """At a program's end nobody asked to wait: a peer that is known to fail gets one last try."""
        failures = self._breaker.failures
        if self._unasked and self._deadline is not None and failures:
            self._deadline = min(self._deadline, monotonic() + _LAST_CHANCE[failures > 1])

    def _finish(self, seconds: float) -> None:
        if self._thread is None:
            self._run()
        else:
            self._thread.join(seconds)  # the thread shortens the deadline itself when it sees no point in waiting
        stopped = self._thread is None or not self._thread.is_alive()
        with self._wake:
            waiting, spooled = self._waiting()
            self._failed += waiting - spooled
            self._finished = True
            self._wake.notify_all()
        if stopped:  # otherwise the sink hangs, and closing it could hang too
            self._sink.close()
        self._report()
        self._buffer.close()
        _ALIVE.discard(self)

    def _report(self) -> None:
        stats = self.stats
        level = logging.INFO if stats.is_whole and not stats.spooled else logging.WARNING
        told = ", ".join(f"{count} {name}" for name, count in stats.to_dict().items() if count)
        log.log(level, "colline: the %s transport ends: %s", self.name, told or "no events")

    def after_fork(self) -> None:
        """In a forked child: what waits, the thread and the connections belong to the parent."""
        self._buffer.disown()
        self._sink.forget()
        self._reset()


_ALIVE: WeakSet[Carrier] = WeakSet()


def close_all() -> None:
    """Every carrier drains at the same time, each for its own shutdown timeout at most."""
    alive = list(_ALIVE)
    for carrier in alive:
        carrier.begin_close()
    for carrier in alive:
        carrier.close()


def _after_fork_in_child() -> None:
    for carrier in list(_ALIVE):
        carrier.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
