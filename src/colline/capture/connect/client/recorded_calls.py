"""The requests of a client on their way from the user's threads to the recorder: a bounded queue."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import time
from typing import Any

from colline.capture.connect.proto_walk import Message

MAX_WAITING_CALLS = 2000
MAX_WAITING_BYTES = 256 * 1024 * 1024
# parts of the result that the recorder needs
_RESULTS = frozenset(
    {"sql_command_result", "checkpoint_command_result", "write_stream_operation_start_result",
     "streaming_query_command_result", "pipeline_command_result"}
)  # fmt: skip
_CANCELLED = "OPERATION_CANCELED"


@dataclass
class RecordedCall:
    """One request: its plan and, once it has ended, what came of it. `is_rejected` if Spark could not analyze it."""

    number: int
    plan: Message
    size: int
    tags: tuple[str, ...]
    started_ms: int
    ended_ms: int = 0
    error: str | None = None
    is_cancelled: bool = False
    is_rejected: bool = False
    results: dict[str, Any] = field(default_factory=dict)
    result_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallEvent:
    """The start or the end of a call."""

    call: RecordedCall
    is_end: bool


class CallQueue:
    """Observes a client's requests. A request is discarded if too many others wait."""

    def __init__(self) -> None:
        self._events: SimpleQueue[CallEvent | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        self._waiting = 0
        self._unfinished = 0  # calls that have ended and are not handled yet
        self._waiting_bytes = 0
        self.accepted = 0
        self.discarded = 0

    def on_start(self, request: Any) -> RecordedCall | None:
        """Copy the plan of a request. Runs on the user's thread."""
        started = _now_ms()
        size = request.plan.ByteSize()
        with self._lock:
            if self._waiting >= MAX_WAITING_CALLS or self._waiting_bytes + size > MAX_WAITING_BYTES:
                self.discarded += 1
                return None
            self._count += 1
            self._waiting += 1
            self._waiting_bytes += size
            self.accepted += 1
            number = self._count
        plan = type(request.plan)()
        plan.CopyFrom(request.plan)
        call = RecordedCall(number, plan, size, tuple(request.tags), started)
        self._events.put(CallEvent(call, is_end=False))
        return call

    def on_response(self, call: RecordedCall, response: Any) -> None:
        """Keep the parts of the result that later plans refer to."""
        if isinstance(response, dict):
            call.results.update((name, value) for name, value in response.items() if name in _RESULTS)
        elif not call.result_columns and hasattr(response, "fieldNames"):
            call.result_columns = tuple(response.fieldNames())

    def on_end(self, call: RecordedCall, error: BaseException | None) -> None:
        """Note the end of a request."""
        call.ended_ms = _now_ms()
        with self._lock:
            self._unfinished += 1
        if error is not None:
            call.error = _error_text(error)
            call.is_rejected = _is_analysis_error(error)
            call.is_cancelled = isinstance(error, KeyboardInterrupt) or _condition(error) == _CANCELLED
        self._events.put(CallEvent(call, is_end=True))

    @property
    def is_idle(self) -> bool:
        """Whether every call that has ended has been handled completely."""
        with self._lock:
            return self._unfinished == 0

    def next(self) -> CallEvent | None:
        """The next start or end; None when the queue has been closed."""
        return self._events.get()

    def release(self, call: RecordedCall) -> None:
        """A call has been handled completely."""
        with self._lock:
            self._waiting -= 1
            self._unfinished -= 1
            self._waiting_bytes -= call.size

    def close(self) -> None:
        """Wake the reader up. It reads what is waiting first."""
        self._events.put(None)


def _error_text(error: BaseException) -> str:
    """The error in the form of Spark's end event: the message, then the stack of the server."""
    message, _, stack = str(error).partition("\n\nJVM stacktrace:\n")
    frames = [line.strip() for line in stack.splitlines() if line.strip().startswith("at ")]
    text = message.strip() or type(error).__name__
    return "\n\t".join((text, *frames))


def _is_analysis_error(error: BaseException) -> bool:
    from pyspark.errors import AnalysisException

    return isinstance(error, AnalysisException)


def _condition(error: BaseException) -> str:
    """Spark's name of an error; Spark 3.5 calls it error class."""
    read = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return (read() or "") if read is not None else ""


def _now_ms() -> int:
    return int(time() * 1000)
