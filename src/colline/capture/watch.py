"""`colline.attach`: a watch over one Spark application, from any cell, as often as one likes.

A daemon thread reads the tap, turns what it heard into events and hands them to the transport. Nothing here runs on a
thread of Spark's, and nothing that goes wrong here reaches the user's code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from colline.capture.exit_status import Ends
from colline.capture.run_tracker import Counts, Runs
from colline.events.event_builder import Failure
from colline.events.model import RunEvent

if TYPE_CHECKING:
    from colline.capture.listener import Tap
    from colline.transport.interfaces import Transport

_POLL_MILLISECONDS = 2000  # closing the tap ends a wait
_DETACH_SECONDS = 10.0
_EVENTS_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class WatchStats:
    """What a watch has seen so far: runs by how they ended, faults contained, and where the events are."""

    runs: Counts = field(default_factory=Counts)
    open: int = 0
    events: int = 0
    failures: int = 0
    tap: Mapping[str, int] | None = None
    delivery: Mapping[str, int] | None = None


class Watch:
    """One application under watch. Made by `colline.attach`."""

    def __init__(self, tap: Tap, transport: Transport, runs: Runs, *, owns_transport: bool = True) -> None:
        self._tap = tap
        self._transport = transport
        self._runs = runs
        self._owns_transport = owns_transport
        self._containment = runs.containment
        self._closing = threading.Event()
        self._over = threading.Lock()
        self._is_over = False
        self._last_word = threading.Event()
        self._handled = 0
        self._events = 0
        self._ends = Ends(self._end_of_program)
        self._thread = threading.Thread(target=self._read, name="colline-watch", daemon=True)
        self._emit(runs.begin(_now()))
        self._thread.start()

    @property
    def is_attached(self) -> bool:
        """Whether queries are being watched."""
        return not self._is_over

    @property
    def application_run(self) -> str:
        """The run id of the application, the parent of every run."""
        return self._runs.application.run.run_id

    @property
    def transport(self) -> Transport:
        """Where the events go."""
        return self._transport

    @property
    def stats(self) -> WatchStats:
        """The counters as they are now."""
        return WatchStats(
            runs=self._runs.counts,
            open=self._runs.open,
            events=self._events,
            failures=self._containment.failures,
            tap=None if self._is_over else self._contained("asking the tap", self._tap.stats, None),
            delivery=_counters(self._transport),
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events so far, with the memory transport; with another one, none."""
        self.flush(_EVENTS_SECONDS)
        return list(getattr(self._transport, "events", []))

    def flush(self, timeout: float = 10.0) -> bool:
        """True when everything that happened before this call is delivered, within `timeout` seconds."""
        deadline = monotonic() + timeout
        settled = self._contained("waiting for the tap", lambda: self._settle(deadline), False)
        left = self._contained("flushing", lambda: self._transport.flush(max(deadline - monotonic(), 0.0)), False)
        return bool(settled and left)

    def detach(self, timeout: float = _DETACH_SECONDS) -> None:
        """Stop watching. What happened is delivered, the application's run ends, no thread is left; twice is once."""
        self._finish(self._ends.failure_here(), timeout)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def __repr__(self) -> str:
        state = "attached" if self.is_attached else "detached"
        return f"<Watch {self._runs.application.run.name!r} {state}, {self._events} events>"

    def _read(self) -> None:
        """The reader's life: one message after the other until the end."""
        while not self._closing.is_set():
            message = self._containment.run("reading the tap", lambda: self._tap.poll(_POLL_MILLISECONDS), _unread)
            if message is not None:
                self._take(message)
        self._tap.let_go()

    def _take(self, message: Mapping[str, Any]) -> None:
        self._contained("making an event", lambda: self._hear(message), None)
        self._handled += 1
        if message.get("kind") in (_END, _GONE):
            failure = self._ends.failure_anywhere()
            gone = Failure("the driver's JVM is gone") if message.get("kind") == _GONE else None
            self._finish(failure or gone, 0.0)

    def _hear(self, message: Mapping[str, Any]) -> None:
        for event in self._runs.hear(message):
            self._emit(event)

    def _emit(self, event: RunEvent) -> None:
        self._events += 1
        self._transport.emit(event)

    def _settle(self, deadline: float) -> bool:
        if self._is_over:
            return True
        self._tap.wait_for_spark(int((deadline - monotonic()) * 1000))
        while not self._tap.is_settled(self._handled):
            if monotonic() >= deadline or not self._thread.is_alive():
                return False
            sleep(0.005)
        return True

    def _end_of_program(self) -> None:
        self._finish(self._ends.failure_of_program(), _DETACH_SECONDS)

    def _finish(self, failure: Failure | None, timeout: float) -> None:
        """The last word, said once, whoever comes first: detach, the application's end or the program's."""
        if timeout:
            self._contained("waiting for the tap", lambda: self._settle(monotonic() + timeout), False)
        with self._over:
            is_first, self._is_over = not self._is_over, True
        if not is_first:
            # the program must not end while another thread is still saying the last word
            self._last_word.wait(timeout)
            return
        try:
            self._close(failure)
        finally:
            self._last_word.set()

    def _close(self, failure: Failure | None) -> None:
        self._closing.set()
        self._contained("closing the tap", self._tap.close, None)
        if threading.current_thread() is not self._thread:
            self._thread.join(_DETACH_SECONDS)
        self._contained("ending the application's run", lambda: self._say_end(failure), None)
        self._ends.forget()
        if self._owns_transport:
            self._contained("closing the transport", self._transport.close, None)

    def _say_end(self, failure: Failure | None) -> None:
        self._transport.flush(1.0)
        delivery = _counters(self._transport)
        for event in self._runs.finish(_now(), failure, delivery):
            self._emit(event)

    def _contained(self, what: str, call: Callable[[], Any], otherwise: Any) -> Any:
        return self._containment.run(what, call, lambda _: otherwise)


_END = "application_end"
_GONE = "gone"


def _unread(error: Exception) -> Mapping[str, Any]:
    """What stands for a message that could not be read: one that is lost, or a JVM that is gone with all of them."""
    from py4j.protocol import Py4JNetworkError

    return {"kind": _GONE if isinstance(error, (Py4JNetworkError, OSError)) else "lost"}


_DELIVERY = ("made", "queued", "sent", "retried", "dropped", "spooled", "failed")


def _counters(transport: Any) -> dict[str, int] | None:
    """A transport's counters as the delivery facet carries them; an object of the user's own may have none."""
    stats = getattr(transport, "stats", None)
    return {name: getattr(stats, name) for name in _DELIVERY} if stats is not None else None


def _now() -> datetime:
    return datetime.now(timezone.utc)
