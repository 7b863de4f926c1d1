"""The watch that `colline.attach` returns: captures the queries of one Spark application until it is detached.

A daemon thread reads the listener's messages, turns them into events and passes them to the transport. None of this
runs on a thread of Spark, and no error in it reaches the user's code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from colline.capture.recent_events import RecentEvents
from colline.capture.runs.exit_status import ExitHooks
from colline.capture.runs.run_tracker import RunCounts, RunTracker
from colline.environment.extras import report_missing_extras
from colline.events.event_context import Failure
from colline.events.model import RunEvent

if TYPE_CHECKING:
    from colline.capture.connect.client.client_listener import ClientListener
    from colline.capture.listener import QueryListener
    from colline.graph.lineage import Lineage
    from colline.transport.interfaces import Transport

_POLL_MILLISECONDS = 2000  # closing the listener wakes the waiting thread
_DRAIN_POLL_SECONDS = 0.005
_DETACH_SECONDS = 10.0
_EVENTS_SECONDS = 30.0

_APPLICATION_END = "application_end"
_JVM_GONE = "jvm_gone"
_UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class WatchStats:
    """The counters of a watch: runs by final state, events, errors inside colline, listener and delivery."""

    runs: RunCounts = field(default_factory=RunCounts)
    open: int = 0
    events: int = 0
    failures: int = 0
    listener: Mapping[str, int] | None = None
    delivery: Mapping[str, int] | None = None


class Watch:
    """Captures the queries of one application. Created by `colline.attach`."""

    def __init__(
        self,
        listener: QueryListener | ClientListener,
        transport: Transport,
        tracker: RunTracker,
        *,
        owns_transport: bool = True,
    ) -> None:
        self._listener = listener
        self._transport = transport
        self._tracker = tracker
        self._owns_transport = owns_transport
        self._recent = RecentEvents()
        self._errors = tracker.errors
        self._closing = threading.Event()
        self._finish_lock = threading.Lock()
        self._is_finished = False
        self._final_event_sent = threading.Event()
        self._handled = 0
        self._events = 0
        self._exit_hooks = ExitHooks(self._on_program_exit)
        self._thread = threading.Thread(target=self._read_messages, name="colline-watch", daemon=True)
        self._emit(tracker.start_application(_utc_now()))
        self._thread.start()

    @property
    def is_attached(self) -> bool:
        """Whether queries are being captured."""
        return not self._is_finished

    @property
    def application_run(self) -> str:
        """The id of the application's run, the parent of all other runs."""
        return self._tracker.application.run.run_id

    @property
    def transport(self) -> Transport:
        """The destination of the events."""
        return self._transport

    @property
    def stats(self) -> WatchStats:
        """The counters as they are now."""
        return WatchStats(
            runs=self._tracker.counts,
            open=self._tracker.open_count,
            events=self._events,
            failures=self._errors.failures,
            listener=None if self._is_finished else self._try("reading counters", self._listener.stats, None),
            delivery=_delivery_counters(self._transport),
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events so far, with the memory transport; an empty list with any other."""
        self.flush(_EVENTS_SECONDS)
        return list(getattr(self._transport, "events", []))

    def lineage(self) -> Lineage:
        """Answers questions about what this session has written and read so far. It needs no lake and no ingest."""
        from colline.graph.session_lineage import SessionLineage

        deadline = monotonic() + _EVENTS_SECONDS
        self._try("waiting for the listener", lambda: self._drain(deadline), False)
        with report_missing_extras():
            return SessionLineage(self._recent.lines)

    def flush(self, timeout: float = 10.0) -> bool:
        """True if the events of all queries before this call are delivered within `timeout` seconds."""
        deadline = monotonic() + timeout
        is_drained = self._try("waiting for the listener", lambda: self._drain(deadline), False)
        is_flushed = self._try("flushing", lambda: self._transport.flush(max(deadline - monotonic(), 0.0)), False)
        return bool(is_drained and is_flushed)

    def detach(self, timeout: float = _DETACH_SECONDS) -> None:
        """Stop capturing: deliver all events, end the application's run and all threads. A second call does nothing."""
        self._finish(self._exit_hooks.caller_failure(), timeout)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def __repr__(self) -> str:
        state = "attached" if self.is_attached else "detached"
        events = f"{self._events:,} event{'s' if self._events != 1 else ''}"
        return f"<Watch {self._tracker.application.run.name!r} {state}, {events}>"

    def _read_messages(self) -> None:
        """Handle one message after the other until the watch closes. Runs on the watch's own thread."""
        while not self._closing.is_set():
            message = self._errors.run(
                "reading a message", lambda: self._listener.poll(_POLL_MILLISECONDS), _message_for_error
            )
            if message is not None:
                self._handle(message)
        self._listener.release_thread()

    def _handle(self, message: Mapping[str, Any]) -> None:
        self._try("building an event", lambda: self._emit_events(message), None)
        self._handled += 1
        if message.get("kind") in (_APPLICATION_END, _JVM_GONE):
            jvm_gone = Failure("the driver's JVM is gone") if message.get("kind") == _JVM_GONE else None
            self._finish(self._exit_hooks.main_thread_failure() or jvm_gone, 0.0)

    def _emit_events(self, message: Mapping[str, Any]) -> None:
        for event in self._tracker.handle(message):
            self._emit(event)

    def _emit(self, event: RunEvent) -> None:
        self._events += 1
        self._transport.emit(event)
        self._try("keeping an event", lambda: self._recent.add(event), None)

    def _drain(self, deadline: float) -> bool:
        """Wait until every query so far has been handled; False if the deadline passes first."""
        if self._is_finished:
            return True
        self._listener.wait_for_spark(int((deadline - monotonic()) * 1000))
        while not self._listener.is_drained(self._handled):
            if monotonic() >= deadline or not self._thread.is_alive():
                return False
            sleep(_DRAIN_POLL_SECONDS)
        return True

    def _on_program_exit(self) -> None:
        self._finish(self._exit_hooks.program_failure(), _DETACH_SECONDS)

    def _finish(self, failure: Failure | None, timeout: float) -> None:
        """Emits the final event exactly once, for the first of: detach, end of the application, end of the program."""
        if timeout:
            self._listener.limit_analysis(timeout)
            self._try("waiting for the listener", lambda: self._drain(monotonic() + timeout), False)
        with self._finish_lock:
            is_first, self._is_finished = not self._is_finished, True
        if not is_first:
            # the program must not end while another thread is still sending the final event
            self._final_event_sent.wait(timeout)
            return
        try:
            self._close(failure)
        finally:
            self._final_event_sent.set()

    def _close(self, failure: Failure | None) -> None:
        self._closing.set()
        self._try("closing the listener", self._listener.close, None)
        if threading.current_thread() is not self._thread:
            self._thread.join(_DETACH_SECONDS)
        self._try("ending the application's run", lambda: self._emit_final_events(failure), None)
        self._exit_hooks.remove()
        if self._owns_transport:
            self._try("closing the transport", self._transport.close, None)

    def _emit_final_events(self, failure: Failure | None) -> None:
        self._transport.flush(1.0)
        delivery = _delivery_counters(self._transport)
        for event in self._tracker.finish(_utc_now(), failure, delivery):
            self._emit(event)

    def _try(self, action: str, call: Callable[[], Any], fallback: Any) -> Any:
        return self._errors.run(action, call, lambda _: fallback)


def _message_for_error(error: Exception) -> Mapping[str, Any]:
    """The message that replaces one that could not be read, or that reports the end of the JVM."""
    gone: tuple[type[Exception], ...] = (OSError,)
    with suppress(ImportError):  # the package pyspark-client has no py4j
        from py4j.protocol import Py4JNetworkError

        gone = (Py4JNetworkError, OSError)
    return {"kind": _JVM_GONE if isinstance(error, gone) else _UNREADABLE}


_DELIVERY_COUNTERS = ("emitted", "queued", "sent", "retried", "dropped", "spooled", "failed")


def _delivery_counters(transport: Any) -> dict[str, int] | None:
    """The transport's counters for the delivery facet; None for a user's own object without counters."""
    stats = getattr(transport, "stats", None)
    return {name: getattr(stats, name) for name in _DELIVERY_COUNTERS} if stats is not None else None


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)
