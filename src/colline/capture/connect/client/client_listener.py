"""Turns the requests of a Spark Connect client into the messages that a watch reads.

Two threads work: one records requests and asks the server about their tables, so that START has the names of inputs and
outputs; the other one lets the resolver analyze the plans of requests that have ended.
"""

from __future__ import annotations

import threading
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any

from colline.capture.connect.client.call_lineage import CallLineage, unknown_request, unresolved_fields
from colline.capture.connect.client.plan_recorder import PlanRecorder, RecordedRequest
from colline.capture.connect.client.recorded_calls import CallQueue, RecordedCall
from colline.capture.connect.client.remote_streams import CHECK_SECONDS, RemoteStreams
from colline.capture.connect.client.request_hooks import RequestHooks
from colline.capture.error_boundary import ErrorBoundary

_POLL_SECONDS = 0.02
_HURRY_MARGIN_SECONDS = 1.0


class ClientListener:
    """The counterpart of `QueryListener` for a client whose server is another process."""

    def __init__(
        self,
        client: Any,
        recorder: PlanRecorder,
        streams: RemoteStreams,
        lineage: CallLineage,
        errors: ErrorBoundary,
    ) -> None:
        self._client = client
        self._streams = streams
        self._recorder = recorder
        self._lineage = lineage
        self._errors = errors
        self._calls = CallQueue()
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._to_resolve: SimpleQueue[tuple[RecordedCall, RecordedRequest] | None] = SimpleQueue()
        self._requests: dict[int, RecordedRequest] = {}
        self._posted = 0
        self._lock = threading.Lock()
        self._has_ended = False
        self._hooks = RequestHooks(client, self._calls, errors)
        self._threads = [
            threading.Thread(target=work, name=f"colline-{name}", daemon=True)
            for name, work in (("recorder", self._record_calls), ("resolver", self._resolve_requests))
        ]
        for thread in self._threads:
            thread.start()

    def poll(self, milliseconds: int) -> dict[str, Any] | None:
        """The next message, or None after that time."""
        try:
            return self._messages.get(timeout=milliseconds / 1000)
        except Empty:
            return self._end_of_session()

    def is_drained(self, handled: int) -> bool:
        """Whether the `handled` messages are all messages of the requests that have ended so far."""
        return self._calls.is_idle and self._posted == handled

    def wait_for_spark(self, milliseconds: int) -> bool:
        """True when the requests that have ended so far have been recorded and analyzed."""
        deadline = monotonic() + milliseconds / 1000
        while not self._calls.is_idle:
            if monotonic() >= deadline:
                return False
            sleep(_POLL_SECONDS)
        return True

    def limit_analysis(self, seconds: float) -> None:
        """Analyze no more plans after this time: the program ends."""
        self._lineage.stop_after(max(seconds - _HURRY_MARGIN_SECONDS, 0.0))

    def stats(self) -> dict[str, int]:
        """The counters of requests."""
        return {"accepted": self._calls.accepted, "discarded": self._calls.discarded}

    def release_thread(self) -> None:
        """Nothing to release: no connection belongs to a thread."""

    def close(self) -> None:
        """Restore the client, and end the threads and the resolver."""
        self._hooks.remove()
        self._calls.close()
        self._errors.run("ending the resolver", self._lineage.close, lambda _: None)
        self._messages.put(None)

    def _record_calls(self) -> None:
        while (event := self._calls.next()) is not None:
            call = event.call
            (self._end if event.is_end else self._start)(call)
        self._to_resolve.put(None)

    def _start(self, call: RecordedCall) -> None:
        request = self._errors.run("recording a plan", lambda: self._recorder.record(call.plan), unknown_request)
        self._requests[call.number] = request
        is_stream = _command_kind(request) == "write_stream_operation_start"
        if request.is_run and not is_stream and (request.named.writes or request.named.inputs):
            self._post(self._start_message(call, request))

    def _end(self, call: RecordedCall) -> None:
        request = self._requests.pop(call.number)
        if call.error is None:
            self._errors.run("recording a plan", lambda: self._recorder.finish(request, call.results), lambda _: None)
        self._to_resolve.put((call, request))

    def _resolve_requests(self) -> None:
        while True:
            try:
                item = self._to_resolve.get(timeout=None if self._streams.is_empty else CHECK_SECONDS)
            except Empty:
                self._check_streams()
                continue
            if item is None:
                return
            self._errors.run("analyzing a plan", partial(self._finish, *item), partial(self._finish_by_name, *item))
            self._calls.release(item[0])

    def _finish(self, call: RecordedCall, request: RecordedRequest) -> None:
        if _command_kind(request) == "streaming_query_command":
            self._check_streams()
        if not _has_run(call, request):
            if request.is_run:
                self._post({"kind": "end", "id": call.number, "own": True})
            return
        if "write_stream_operation_start_result" in call.results:
            self._start_stream(call, request)
            return
        self._post(_end_message(call, request) | self._lineage.final_fields(call, request))

    def _finish_by_name(self, call: RecordedCall, request: RecordedRequest, error: Exception) -> None:
        """End the run of a request that could not be handled completely."""
        if request.is_run:
            self._post(_end_message(call, request) | unresolved_fields(request, type(error).__name__))

    def _start_stream(self, call: RecordedCall, request: RecordedRequest) -> None:
        started = self._streams.start(call.results["write_stream_operation_start_result"], call.started_ms)
        self._post(started)
        plan = self._lineage.final_fields(call, request)["plan"]
        self._post({"kind": "stream_progress", "run": started["run"], "time": call.ended_ms, "plan": plan})

    def _check_streams(self) -> None:
        for message in self._errors.run("checking streams", self._streams.end_messages, lambda _: []):
            self._post(message)

    def _start_message(self, call: RecordedCall, request: RecordedRequest) -> dict[str, Any]:
        return {
            "kind": "start",
            "id": call.number,
            "time": call.started_ms,
            "tags": call.tags,
            "plan": request.named,
            "sql": request.sql,
        }

    def _post(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._posted += 1
        self._messages.put(message)

    def _end_of_session(self) -> dict[str, Any] | None:
        """The message for the end of the application, once the user has stopped the session."""
        if self._has_ended or not getattr(self._client, "is_closed", False) or not self._calls.is_idle:
            return None
        self._has_ended = True
        return {"kind": "application_end"}


def _end_message(call: RecordedCall, request: RecordedRequest) -> dict[str, Any]:
    message = {"kind": "end", "id": call.number, "time": call.ended_ms, "tags": call.tags, "sql": request.sql}
    if call.error is not None:
        message |= {"text": call.error, "is_cancelled": call.is_cancelled}
    return message


def _command_kind(request: RecordedRequest) -> str:
    """The kind of a command; empty for a query."""
    plan = request.opened
    if plan is None or plan.WhichOneof("op_type") != "command":
        return ""
    return str(plan.command.WhichOneof("command_type"))


def _has_run(call: RecordedCall, request: RecordedRequest) -> bool:
    """Whether the request executed something. The server only parses a query as SQL text and returns it."""
    relation = call.results.get("sql_command_result")
    if relation is None or request.has_no_run:
        return request.is_run
    return relation.WhichOneof("rel_type") not in ("sql", "with_relations")
