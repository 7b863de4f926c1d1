"""Turns the listener's messages into events: one run per root execution, with a START and exactly one final event.

Uses neither Spark nor threads: messages go in and events come out, so that tests cover every order of messages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from colline.capture.error_boundary import ErrorBoundary
from colline.capture.runs.application import Application
from colline.capture.runs.job_labels import JobLabel, from_tags
from colline.capture.runs.job_names import new_run_context, spark_time, with_job
from colline.capture.runs.stream_tracker import StreamTracker
from colline.capture.runs.write_statistics import Commit, statistics_from
from colline.events.event_builder import NO_STATEMENT, run_event
from colline.events.event_context import EventContext, Failure, RunResult, WriteStatistics
from colline.events.model import RunEvent, RunState
from colline.naming.dataset import SESSION_CATALOG
from colline.trace import DatasetName, Lifecycle, OpaqueStep, SchemaField, Statement

Message = Mapping[str, Any]
PlanAnalyzer = Callable[[Any], Statement]
CommitReader = Callable[[Statement], Mapping[DatasetName, Commit]]

_UNTRACED_PLAN = "plan"
_MAX_DESCRIBED_INPUTS = 10_000
_MAX_OPEN_RUNS = 100_000


@dataclass(frozen=True)
class OpenRun:
    """A run without a final event yet. `has_start` is true once its START has been emitted.

    `is_described` is false if START had only the names of the inputs, so that the final event has to describe them.
    """

    context: EventContext
    started: datetime
    statement: Statement | None = None
    label: JobLabel | None = None
    sql: str = ""
    has_start: bool = False
    is_described: bool = True


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The number of runs started, and of runs by their final state. `skipped` runs touched no data."""

    started: int = 0
    completed: int = 0
    failed: int = 0
    aborted: int = 0
    skipped: int = 0


_COUNTERS = {
    RunState.START: "started",
    RunState.COMPLETE: "completed",
    RunState.FAIL: "failed",
    RunState.ABORT: "aborted",
}


def add_events(counts: RunCounts, events: tuple[RunEvent, ...]) -> RunCounts:
    """The counts with these events added."""
    for event in events:
        name = _COUNTERS.get(event.event_type) if event.event_type else None
        if name:
            counts = replace(counts, **{name: getattr(counts, name) + 1})
    return counts


@dataclass
class RunTracker:
    """The open runs of one application. All methods are called from one thread."""

    application: Application
    analyze: PlanAnalyzer
    errors: ErrorBoundary = field(default_factory=ErrorBoundary)
    read_commits: CommitReader = lambda _: {}
    counts: RunCounts = RunCounts()
    streams: StreamTracker = field(init=False)
    _open: OrderedDict[str, OpenRun] = field(default_factory=OrderedDict)
    _described: OrderedDict[DatasetName, tuple[SchemaField, ...]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.streams = StreamTracker(self.application, self.analyze_safely)

    @property
    def open_count(self) -> int:
        """The number of runs and streams without a final event."""
        return len(self._open) + self.streams.open_count

    def start_application(self, at: datetime) -> RunEvent:
        """The START event of the application, with the Spark properties that the settings allow."""
        context = replace(self._application_context(), properties=self.application.properties)
        return run_event(RunState.START, at, NO_STATEMENT, context)

    def handle(self, message: Message) -> tuple[RunEvent, ...]:
        """The events that follow from a message of the listener; an unknown kind of message yields none."""
        events = self._events_for(message)
        self.counts = add_events(self.counts, events)
        return events

    def finish(
        self, at: datetime, failure: Failure | None = None, delivery: Mapping[str, int] | None = None
    ) -> tuple[RunEvent, ...]:
        """ABORT for each open run, then the final event of the application."""
        events: list[RunEvent] = [*self.streams.finish(at)]
        for key in list(self._open):
            run = self._open.pop(key)
            why = Failure("the application ended, or colline was detached, while this query ran", language="PYTHON")
            events += self._final_events(run, RunState.ABORT, at, RunResult(failure=why))
        self.counts = add_events(self.counts, tuple(events))
        state = RunState.FAIL if failure else RunState.COMPLETE
        context = self._application_context()
        return (
            *events,
            run_event(state, at, NO_STATEMENT, context, result=RunResult(failure=failure, delivery=delivery)),
        )

    def analyze_safely(self, plan: Any) -> Statement:
        """What a plan reads and writes; if tracing fails, a statement with the reason as its opaque step."""
        return self.errors.run(
            "tracing a plan",
            lambda: self.analyze(plan),
            lambda error: _untraced_statement(f"tracing failed: {type(error).__name__}"),
        )

    def _events_for(self, message: Message) -> tuple[RunEvent, ...]:
        if message.get("own"):
            self._open.pop(_key(message), None)
            return ()
        stream_events = self.streams.handle(message)
        if stream_events is not None:
            return stream_events
        kind = message.get("kind")
        if kind == "start":
            return self._start(message)
        if kind == "end":
            return self._end(message)
        return ()

    def _start(self, message: Message) -> tuple[RunEvent, ...]:
        run = self._with_lineage(self._new_run(message), message)
        # without a plan the run waits for its end, which carries it; a run without data gets events only if it fails
        statement = run.statement
        is_sure = statement is not None and _touches_data(statement) and not _may_drop_nothing(statement)
        events = self._start_events(run) if is_sure else ()
        is_described = run.statement is None or run.statement.has_columns
        self._open[_key(message)] = replace(run, has_start=bool(events), is_described=is_described)
        while len(self._open) > _MAX_OPEN_RUNS:
            self._open.popitem(last=False)
        return events

    def _end(self, message: Message) -> tuple[RunEvent, ...]:
        run = self._open.pop(_key(message), None) or self._new_run(message)
        if run.statement is None or message.get("plan") is not None:
            run = self._with_lineage(run, message)
        error = message.get("text")
        if error is None and not run.has_start and not _has_effect(run.statement or NO_STATEMENT, message):
            self.counts = replace(self.counts, skipped=self.counts.skipped + 1)
            return ()
        at = spark_time(message["time"])
        if error is None:
            return self._final_events(run, RunState.COMPLETE, at, self._statistics(run, message))
        state = RunState.ABORT if message.get("is_cancelled") else RunState.FAIL
        return self._final_events(run, state, at, RunResult(failure=_failure(error)))

    def _new_run(self, message: Message) -> OpenRun:
        started = spark_time(message["time"])
        context = new_run_context(self.application, started)
        return OpenRun(context, started, label=from_tags(message.get("tags") or ()), sql=message.get("sql") or "")

    def _with_lineage(self, run: OpenRun, message: Message) -> OpenRun:
        """The run with its lineage and job name, or with the reason why the plan could not be read."""
        if message.get("plan") is not None:
            run = replace(run, statement=self.analyze_safely(message["plan"]), sql=message.get("sql") or run.sql)
        elif message.get("failure"):
            run = replace(run, statement=_untraced_statement(f"the plan could not be read: {message['failure']}"))
        context = with_job(run.context, self.application, run.statement, run.label)
        if run.has_start:  # the lineage of the final event replaces that of START; the job stays the same
            context = replace(context, run=run.context.run)
        context = replace(context, sql=run.sql, recorded_plan=message.get("recorded_plan") or "")
        return replace(run, context=context)

    def _start_events(self, run: OpenRun) -> tuple[RunEvent, ...]:
        statement = run.statement or NO_STATEMENT
        if run.context.recorded_plan:  # ingest has to analyze the plan, which is in the final event only
            statement = replace(statement, opaque=())
        context = replace(run.context, described_inputs=self._already_described(statement), recorded_plan="")
        return (run_event(RunState.START, run.started, statement, context),)

    def _final_events(self, run: OpenRun, state: RunState, at: datetime, ending: RunResult) -> tuple[RunEvent, ...]:
        """The final event of a run, after its START if that has not been emitted yet."""
        start = () if run.has_start else self._start_events(run)
        statement = run.statement or NO_STATEMENT
        if run.has_start and not run.is_described:
            described = self._already_described(statement)
        else:
            described = frozenset(found.name for found in statement.inputs)
        context = replace(run.context, described_inputs=described)
        return (*start, run_event(state, max(at, run.started), statement, context, result=ending))

    def _already_described(self, statement: Statement) -> frozenset[DatasetName]:
        """The inputs whose schema an earlier event contains, unchanged; this event need not repeat it."""
        described = []
        for found in statement.inputs if statement.has_columns else ():
            if self._described.get(found.name) == found.schema:
                described.append(found.name)
            self._described[found.name] = found.schema
            self._described.move_to_end(found.name)
        while len(self._described) > _MAX_DESCRIBED_INPUTS:
            self._described.popitem(last=False)
        return frozenset(described)

    def _statistics(self, run: OpenRun, message: Message) -> RunResult:
        statement = run.statement or NO_STATEMENT
        metrics = message.get("metrics") or {}
        commits = self.errors.run(
            "reading a table's version", lambda: self.read_commits(statement), lambda _: dict[DatasetName, Commit]()
        )
        # Spark counts rows per statement, so the counts cannot be divided between several outputs
        metrics = metrics if len(statement.writes) == 1 else {}
        return RunResult(
            {write.name: _output_statistics(metrics, commits.get(write.name)) for write in statement.writes}
        )

    def _application_context(self) -> EventContext:
        application = self.application
        return EventContext(
            application.run,
            application.names,
            application.outer,
            application.engine,
            processing="NONE",
            job_type="APPLICATION",
            job_tags=application.job_tags,
            run_tags=application.run_tags,
            redact=application.redact,
            redact_sql=application.redact_sql,
        )


def _key(message: Message) -> str:
    return str(message.get("id"))


def _touches_data(statement: Statement) -> bool:
    """Whether a statement gets events: SHOW TABLES and SET do not, a plan that could not be traced does."""
    return bool(statement.writes or statement.inputs or _UNTRACED_PLAN in [step.node for step in statement.opaque])


def _may_drop_nothing(statement: Statement) -> bool:
    """Whether this is DROP … IF EXISTS of a table of the session catalog, which reports what it drops."""
    return bool(statement.writes) and all(
        write.is_conditional
        and write.lifecycle is Lifecycle.DROP
        and (len(write.target.table) < 3 or write.target.table[0] == SESSION_CATALOG)
        for write in statement.writes
    )


def _has_effect(statement: Statement, message: Message) -> bool:
    """Whether a statement that has ended touched data. DROP … IF EXISTS did if Spark dropped the table meanwhile."""
    if not _may_drop_nothing(statement):
        return _touches_data(statement)
    dropped = {tuple(name.lower().split(".", 1)) for name in message.get("dropped") or ()}
    names = (tuple(part.lower() for part in write.target.table[-2:]) for write in statement.writes)
    return any(name == drop[-len(name) :] for name in names for drop in dropped)


def _untraced_statement(why: str) -> Statement:
    return Statement((), (), (OpaqueStep(_UNTRACED_PLAN, why=why),))


def _output_statistics(metrics: Mapping[str, int], commit: Commit | None) -> WriteStatistics:
    """The counts of Spark's metrics; without any, those of the commit, as for a command nested in another command."""
    counted = statistics_from(metrics)
    if commit is None:
        return counted
    if counted == WriteStatistics():
        counted = statistics_from(commit.metrics)
    return replace(counted, version=commit.version)


def _failure(error: str) -> Failure:
    """Splits Spark's error text into message and stack trace."""
    message, _, stack = error.partition("\n\tat ")
    return Failure(message.strip(), f"at {stack}" if stack else "")
