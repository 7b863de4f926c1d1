"""Turns messages about streaming queries into events: one run per stream, not one per micro-batch.

A run has a START with the lineage, a RUNNING event at intervals, and one final event. The micro-batches are SQL
executions; the description of a batch contains the run id of its stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from colline.capture.runs.application import Application
from colline.capture.runs.job_labels import JobLabel, from_tags
from colline.capture.runs.job_names import new_run_context, spark_time, with_job
from colline.capture.runs.write_statistics import FILES, ROWS, SIZE, first_metric
from colline.events.event_builder import NO_STATEMENT, run_event
from colline.events.event_context import EventContext, Failure, RunResult, WriteStatistics
from colline.events.lineage_facets import LineageForm
from colline.events.model import RunEvent, RunState
from colline.trace import ColumnLineage, ColumnRef, Dependency, Statement, Transformation, Write
from colline.trace.statement import merge_inputs

RUNNING_SECONDS = 60.0

_STREAM_RUN_ID = re.compile(r"\brunId = ([0-9a-f-]{36})\b")
# the root nodes of a batch's plan; other executions inside a batch belong to the source or the sink
_BATCH_ROOTS = ("WriteToMicroBatch", "WriteToContinuous")


@dataclass(frozen=True)
class StreamRun:
    """A running stream.

    `reported` is the lineage of its last event; it is None before START. `definition` is the plan the stream was
    started with, for a stream that ends without a batch. `query` is the id that the stream keeps when it is restarted.
    """

    context: EventContext
    started: datetime
    query_name: str = ""
    label: JobLabel | None = None
    statement: Statement | None = None
    written: WriteStatistics = field(default_factory=WriteStatistics)
    reported: Statement | None = None
    running_event_at: datetime | None = None
    definition: Any = None
    query: str = ""

    @property
    def has_name(self) -> bool:
        """Whether the job has a name that does not depend on what the stream writes."""
        return bool(self.query_name or self.label)


class StreamTracker:
    """The running streams of one application."""

    def __init__(
        self, application: Application, analyze: Callable[[Any], Statement], running_seconds: float = RUNNING_SECONDS
    ) -> None:
        self._application = application
        self._analyze = analyze
        self._running_seconds = running_seconds
        self._runs: dict[str, StreamRun] = {}
        self._batches: dict[str, str] = {}  # execution id of a batch → run id of its stream
        self._names: dict[str, str] = {}  # id of a stream's query → name of its job

    @property
    def open_count(self) -> int:
        """The number of running streams."""
        return len(self._runs)

    def handle(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        """The events that follow from a message about a stream; None for any other message."""
        handler = _HANDLERS.get(str(message.get("kind")))
        return handler(self, message) if handler else None

    def finish(self, at: datetime) -> tuple[RunEvent, ...]:
        """ABORT for every running stream."""
        why = Failure("the application ended, or colline was detached, while this stream ran", language="PYTHON")
        events: list[RunEvent] = []
        for key in list(self._runs):
            events += self._finish_run(key, RunState.ABORT, at, why)
        return tuple(events)

    def _on_stream_start(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        name, definition, query = message.get("text") or "", message.get("plan"), str(message.get("query") or "")
        self._runs[str(message["run"])] = replace(
            self._new_run(message), query_name=name, definition=definition, query=query
        )
        return ()

    def _new_run(self, message: Mapping[str, Any]) -> StreamRun:
        at = spark_time(message["time"])
        context = replace(new_run_context(self._application, at), processing="STREAMING", job_type="STREAM")
        return StreamRun(context, at)

    def _on_batch_start(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        match = _STREAM_RUN_ID.search(message.get("text") or "")
        if match is None:
            return None
        key = match.group(1)
        run = self._runs.get(key)
        if run is None:
            if message.get("plan") is None or not _is_of_batch(message["plan"]):
                return None  # a query of the user, whose description contains such an id
            run = self._new_run(message)  # the stream was started before colline was attached
        self._batches[str(message["id"])] = key
        run = replace(run, label=run.label or from_tags(message.get("tags") or ()))
        run = self._with_plan(run, message.get("plan"))
        return self._start_if_named(key, run)

    def _on_nested_write(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        """Adds a write inside `foreachBatch` to the stream."""
        key = self._batches.get(str(message.get("root")))
        run = self._runs.get(key) if key else None
        if key is None or run is None:
            return ()
        run = replace(run, statement=_merge(run.statement, self._analyze(message["plan"])))
        return self._start_if_named(key, run)

    def _on_batch_end(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...] | None:
        key = self._batches.pop(str(message["id"]), None)
        if key is None:
            return None
        run = self._runs.get(key)
        if run is None:
            return ()
        if message.get("text") is None:
            run = replace(run, written=_add_metrics(run.written, message.get("metrics") or {}))
        return self._start(key, run)

    def _on_progress(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        key, at = str(message["run"]), spark_time(message["time"])
        run = self._runs.get(key)
        if run is None:
            return ()
        run = self._with_plan(run, message.get("plan"))
        start = self._start(key, run)
        run = self._runs[key]
        last = run.running_event_at
        is_due = last is None or (at - last).total_seconds() >= self._running_seconds
        if run.reported is None or not (is_due or run.statement != run.reported):
            return start
        return (*start, self._running_event(key, run, at))

    def _on_stream_end(self, message: Mapping[str, Any]) -> tuple[RunEvent, ...]:
        error = message.get("text")
        head, _, stack = (error or "").partition("\n\tat ")
        failure = Failure(head.strip(), f"at {stack}" if stack else "") if error else None
        state = RunState.FAIL if failure else RunState.COMPLETE
        return self._finish_run(str(message["run"]), state, spark_time(message["time"]), failure)

    def _with_plan(self, run: StreamRun, plan: Any) -> StreamRun:
        """The run with its lineage, from the first plan that contains what the stream reads and writes."""
        if run.statement is not None or plan is None or not _is_of_batch(plan):
            return run
        statement = self._analyze(plan)
        if run.definition is not None and _has_idle_source(plan):
            statement = _merge(statement, self._analyze(run.definition))
        return replace(run, statement=statement)

    def _start_if_named(self, key: str, run: StreamRun) -> tuple[RunEvent, ...]:
        """START, unless the job has no name yet: the first write of the batch names it."""
        has_output = run.statement is not None and run.statement.writes
        if has_output or run.has_name or self._application.job:
            return self._start(key, run)
        self._runs[key] = run
        return ()

    def _start(self, key: str, run: StreamRun) -> tuple[RunEvent, ...]:
        """START with the lineage, unless it has been emitted or the lineage is not known yet."""
        if run.statement is None or run.reported is not None:
            self._runs[key] = run
            return ()
        # the job keeps this name, even if a later batch writes another output
        context = self._name_job(run)
        self._runs[key] = replace(run, reported=run.statement, context=context)
        return (run_event(RunState.START, run.started, run.statement, context),)

    def _name_job(self, run: StreamRun) -> EventContext:
        """The context with its job; a stream without a name and without a known output is called `stream`."""
        has_output = run.statement is not None and run.statement.writes
        name = run.query_name or ("" if has_output else self._names.get(run.query, "stream"))
        context = with_job(run.context, self._application, run.statement, run.label, query_name=name)
        if run.query and has_output:
            self._names[run.query] = context.run.name.removeprefix(f"{self._application.run.name}.")
        return context

    def _running_event(self, key: str, run: StreamRun, at: datetime) -> RunEvent:
        """RUNNING with the current counts, and with the lineage if it changed since the last event."""
        statement, context = run.statement or NO_STATEMENT, run.context
        if run.statement == run.reported:
            without_schema = tuple(replace(write, schema=()) for write in statement.writes)
            statement = replace(statement, writes=without_schema)
            known = frozenset(found.name for found in statement.inputs)
            context = replace(context, form=LineageForm.NONE, described_inputs=known)
        self._runs[key] = replace(run, reported=run.statement, running_event_at=at)
        return run_event(RunState.RUNNING, at, statement, context, result=_ending(run))

    def _finish_run(self, key: str, state: RunState, at: datetime, failure: Failure | None) -> tuple[RunEvent, ...]:
        run = self._runs.pop(key, None)
        if run is None:
            return ()
        self._batches = {batch: stream for batch, stream in self._batches.items() if stream != key}
        if run.statement is None and run.definition is not None:
            run = replace(run, statement=self._analyze(run.definition))
        statement = run.statement or NO_STATEMENT
        context = run.context if run.reported is not None else self._name_job(run)
        start = () if run.reported is not None else (run_event(RunState.START, run.started, statement, context),)
        ending = replace(_ending(run), failure=failure)
        return (*start, run_event(state, max(at, run.started), statement, context, result=ending))


_HANDLERS: dict[str, Callable[[StreamTracker, Mapping[str, Any]], tuple[RunEvent, ...] | None]] = {
    "stream_start": StreamTracker._on_stream_start,
    "stream_progress": StreamTracker._on_progress,
    "stream_end": StreamTracker._on_stream_end,
    "start": StreamTracker._on_batch_start,
    "end": StreamTracker._on_batch_end,
    "nested": StreamTracker._on_nested_write,
}


def _is_of_batch(plan: Any) -> bool:
    """Whether a plan contains what the stream reads and writes: a statement does, as it is made of the whole stream."""
    return isinstance(plan, Statement) or _root_class(plan).startswith(_BATCH_ROOTS)


def _has_idle_source(plan: Any) -> bool:
    """Whether a source has no new data in this batch: the plan then has an empty relation in its place."""
    if isinstance(plan, Statement):
        return False
    empty = {
        index: fields.index("isStreaming")
        for index, (name, _, fields, _) in enumerate(plan["classes"])
        if name in {"LocalRelation", "LogicalRDD"} and "isStreaming" in fields
    }
    return any(node[0] in empty and node[1 + empty[node[0]]] is True for node in plan["nodes"])


def _root_class(plan: Mapping[str, Any]) -> str:
    """The class of a plan's root node, without decoding the plan."""
    return str(plan["classes"][plan["nodes"][plan["root"]][0]][0])


def _ending(run: StreamRun) -> RunResult:
    writes = (run.statement or NO_STATEMENT).writes
    # Spark counts rows per batch, so the counts cannot be divided between several outputs
    return RunResult({writes[0].name: run.written} if len(writes) == 1 else {})


def _add_metrics(total: WriteStatistics, metrics: Mapping[str, int]) -> WriteStatistics:
    return WriteStatistics(
        _add(total.rows, first_metric(metrics, ROWS)),
        _add(total.size, first_metric(metrics, SIZE)),
        _add(total.files, first_metric(metrics, FILES)),
    )


def _add(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _merge(known: Statement | None, more: Statement) -> Statement:
    """Both statements as one. An output that both write has the lineage of both."""
    if known is None:
        return more
    writes: dict[object, Write] = {write.name: write for write in known.writes}
    for write in more.writes:
        writes[write.name] = _merge_writes(writes[write.name], write) if write.name in writes else write
    opaque = tuple(dict.fromkeys((*known.opaque, *more.opaque)))
    return Statement(tuple(writes.values()), merge_inputs((*known.inputs, *more.inputs)), opaque)


def _merge_writes(known: Write, more: Write) -> Write:
    names = dict.fromkeys((*known.lineage.fields, *more.lineage.fields))
    fields = {
        name: _merge_entries(known.lineage.fields.get(name, ()), more.lineage.fields.get(name, ())) for name in names
    }
    lineage = ColumnLineage(
        fields,
        _merge_entries(known.lineage.dataset, more.lineage.dataset),
        merge_inputs((*known.lineage.inputs, *more.lineage.inputs)),
        tuple(dict.fromkeys((*known.lineage.opaque, *more.lineage.opaque))),
        {**known.lineage.values, **more.lineage.values},
    )
    columns = {field.name: field for field in (*more.schema, *known.schema)}
    return replace(known, lineage=lineage, schema=tuple(columns.values()))


def _merge_entries(*parts: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
    """Each input column once, with its transformations in every part."""
    found: dict[ColumnRef, set[Transformation]] = {}
    for entry in chain(*parts):
        found.setdefault(entry.column, set()).update(entry.transformations)
    return tuple(Dependency(column, tuple(sorted(steps))) for column, steps in found.items())
