"""Streams: one run per query, however many batches it takes. START with its lineage, RUNNING now and then, one end.

A batch of a stream is an execution like any other; what its start says tells which stream it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from colline.capture.application import Application
from colline.capture.job_labels import Label, from_tags
from colline.capture.job_names import moment, named, opened
from colline.capture.write_statistics import FILES, ROWS, SIZE, first
from colline.events.event_builder import NO_STATEMENT, Ending, EventContext, Failure, Written, run_event
from colline.events.lineage_facets import LineageForm
from colline.events.model import RunEvent, RunState
from colline.trace import DatasetRead, Statement, Write

RUNNING_SECONDS = 60.0

_RUN = re.compile(r"\brunId = ([0-9a-f-]{36})\b")
# the root of a batch's plan; what else runs inside a batch is the source's or the sink's own business
_BATCH = ("WriteToMicroBatch", "WriteToContinuous")


@dataclass(frozen=True)
class StreamRun:
    """A stream that runs: what its events share, what it has written so far, when it last said so."""

    context: EventContext
    started: datetime
    name: str = ""
    label: Label | None = None
    statement: Statement | None = None
    written: Written = field(default_factory=Written)
    told: Statement | None = None
    told_at: datetime | None = None


class Streams:
    """The running streams of one application."""

    def __init__(
        self, application: Application, trace: Callable[[Any], Statement], every: float = RUNNING_SECONDS
    ) -> None:
        self._application = application
        self._trace = trace
        self._every = every
        self._runs: dict[str, StreamRun] = {}
        self._batches: dict[str, str] = {}

    @property
    def open(self) -> int:
        """How many streams run."""
        return len(self._runs)

    def hear(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        """The events of a message that is about a stream; None where it is about something else."""
        rule = _RULES.get(str(message.get("kind")))
        return rule(self, message) if rule else None

    def finish(self, at: datetime) -> tuple[RunEvent, ...]:
        """ABORT for every stream that still runs."""
        why = Failure("the application ended, or colline was detached, while this stream ran", language="PYTHON")
        events: list[RunEvent] = []
        for key in list(self._runs):
            events += self._end(key, RunState.ABORT, at, why)
        return tuple(events)

    def _stream_start(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        at = moment(message["time"])
        context = replace(opened(self._application, at), processing="STREAMING", job_type="STREAM")
        self._runs[str(message["run"])] = StreamRun(context, at, name=message.get("text") or "")
        return ()

    def _batch_start(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        match = _RUN.search(message.get("text") or "")
        run = self._runs.get(match.group(1)) if match else None
        if match is None or run is None:
            return () if match else None
        key = match.group(1)
        self._batches[str(message["id"])] = key
        run = replace(run, label=run.label or from_tags(message.get("tags") or ()))
        return self._learned(key, run, message.get("plan"))

    def _nested(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        """A write inside `foreachBatch` is a write of the stream."""
        key = self._batches.get(str(message.get("root")))
        run = self._runs.get(key) if key else None
        if key is None or run is None:
            return ()
        self._runs[key] = replace(run, statement=_united(run.statement, self._trace(message["plan"])))
        return ()

    def _batch_end(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        key = self._batches.pop(str(message["id"]), None)
        if key is None:
            return None
        run = self._runs.get(key)
        if run is not None and message.get("text") is None:
            self._runs[key] = replace(run, written=_more(run.written, message.get("metrics") or {}))
        return ()

    def _progress(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        key, at = str(message["run"]), moment(message["time"])
        run = self._runs.get(key)
        if run is None:
            return ()
        before = self._learned(key, run, message.get("plan"))
        run = self._runs[key]
        is_due = run.told_at is None or (at - run.told_at).total_seconds() >= self._every
        if run.told is None or not (is_due or run.statement != run.told):
            return before
        return (*before, self._running(key, run, at))

    def _stream_end(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        error = message.get("text")
        head, _, stack = (error or "").partition("\n\tat ")
        failure = Failure(head.strip(), f"at {stack}" if stack else "") if error else None
        state = RunState.FAIL if failure else RunState.COMPLETE
        return self._end(str(message["run"]), state, moment(message["time"]), failure)

    def _learned(self, key: str, run: StreamRun, plan: Any) -> tuple[RunEvent, ...]:
        """START, as soon as a plan tells what the stream reads and writes."""
        if run.statement is None and plan is not None and _root(plan).startswith(_BATCH):
            run = replace(run, statement=self._trace(plan))
        if run.statement is None or run.told is not None:
            self._runs[key] = run
            return ()
        # the job is named once: a stream that writes more later is still the same job
        context = named(run.context, self._application, run.statement, run.label, run.name or _fallback(run))
        self._runs[key] = replace(run, told=run.statement, context=context)
        return (run_event(RunState.START, run.started, run.statement, context),)

    def _running(self, key: str, run: StreamRun, at: datetime) -> RunEvent:
        """What is new: the counts, and the lineage where a batch wrote something it had not written before."""
        statement, context = run.statement or NO_STATEMENT, run.context
        if run.statement == run.told:
            bare = tuple(replace(write, schema=()) for write in statement.writes)
            statement = replace(statement, writes=bare)
            known = frozenset(found.name for found in statement.inputs)
            context = replace(context, form=LineageForm.NONE, known=known)
        self._runs[key] = replace(run, told=run.statement, told_at=at)
        return run_event(RunState.RUNNING, at, statement, context, _ending(run))

    def _end(self, key: str, state: RunState, at: datetime, failure: Failure | None) -> tuple[RunEvent, ...]:
        run = self._runs.pop(key, None)
        if run is None:
            return ()
        self._batches = {batch: of for batch, of in self._batches.items() if of != key}
        statement, context = run.statement or NO_STATEMENT, run.context
        if run.told is None:
            context = named(context, self._application, run.statement, run.label, run.name or _fallback(run))
        began = () if run.told is not None else (run_event(RunState.START, run.started, statement, context),)
        ending = replace(_ending(run), failure=failure)
        return (*began, run_event(state, max(at, run.started), statement, context, ending))


_RULES: dict[str, Callable[[Streams, Mapping[str, Any]], tuple[RunEvent, ...] | None]] = {
    "stream_start": Streams._stream_start,
    "stream_progress": Streams._progress,
    "stream_end": Streams._stream_end,
    "start": Streams._batch_start,
    "end": Streams._batch_end,
    "nested": Streams._nested,
}


def _root(plan: Mapping[str, Any]) -> str:
    """The kind of a plan's root, without decoding the plan."""
    return str(plan["classes"][plan["nodes"][plan["root"]][0]][0])


def _fallback(run: StreamRun) -> str:
    """A stream without a name and without an output of its own is `stream`."""
    return "" if run.statement is not None and run.statement.writes else "stream"


def _ending(run: StreamRun) -> Ending:
    writes = (run.statement or NO_STATEMENT).writes
    # a batch counts its rows once; with several outputs nobody knows which of them a row went to
    return Ending({writes[0].name: run.written} if len(writes) == 1 else {})


def _more(known: Written, metrics: Mapping[str, int]) -> Written:
    return Written(
        _plus(known.rows, first(metrics, ROWS)),
        _plus(known.size, first(metrics, SIZE)),
        _plus(known.files, first(metrics, FILES)),
    )


def _plus(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more


def _united(known: Statement | None, more: Statement) -> Statement:
    """Both statements as one: an output that was known is kept as it was."""
    if known is None:
        return more
    writes: dict[object, Write] = {write.name: write for write in known.writes}
    inputs: dict[object, DatasetRead] = {found.name: found for found in known.inputs}
    for write in more.writes:
        writes.setdefault(write.name, write)
    for found in more.inputs:
        inputs.setdefault(found.name, found)
    opaque = tuple(dict.fromkeys((*known.opaque, *more.opaque)))
    return Statement(tuple(writes.values()), tuple(inputs.values()), opaque)
