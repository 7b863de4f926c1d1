"""What the tap heard → events. One run per root execution: START with its lineage, then exactly one end.

No Spark and no thread here: messages go in, events come out, so every order of messages can be tested.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from colline.capture.application import Application
from colline.capture.error_boundary import Containment
from colline.capture.job_labels import Label, from_tags
from colline.capture.job_names import moment, named, opened
from colline.capture.stream_tracker import Streams
from colline.capture.write_statistics import Commit, written
from colline.events.event_builder import NO_STATEMENT, Ending, EventContext, Failure, Written, run_event
from colline.events.model import RunEvent, RunState
from colline.trace import DatasetName, OpaqueStep, SchemaField, Statement

Message = Mapping[str, Any]
Analyse = Callable[[Any], Statement]

_CANCELLED = re.compile(r"SPARK_JOB_CANCELLED|Job \d+ cancelled|OPERATION_CANCELED|cancelled job group", re.IGNORECASE)
_UNTRACED = "plan"
_KNOWN_LIMIT = 10_000
_OPEN_LIMIT = 100_000


@dataclass(frozen=True)
class OpenRun:
    """A run that has begun: what its events share, and whether its START is out."""

    context: EventContext
    started: datetime
    statement: Statement | None = None
    label: Label | None = None
    text: str = ""
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How many runs began and how they ended."""

    started: int = 0
    completed: int = 0
    failed: int = 0
    aborted: int = 0
    skipped: int = 0


_WORDS = {
    RunState.START: "started",
    RunState.COMPLETE: "completed",
    RunState.FAIL: "failed",
    RunState.ABORT: "aborted",
}


def counted(counts: Counts, events: tuple[RunEvent, ...]) -> Counts:
    """The counts after these events."""
    for event in events:
        word = _WORDS.get(event.event_type) if event.event_type else None
        if word:
            counts = replace(counts, **{word: getattr(counts, word) + 1})
    return counts


@dataclass
class Runs:
    """The open runs of one application. `hear` is called by one thread only."""

    application: Application
    analyse: Analyse
    containment: Containment = field(default_factory=Containment)
    committed: Callable[[Statement], Mapping[DatasetName, Commit]] = lambda _: {}
    counts: Counts = Counts()
    streams: Streams = field(init=False)
    _open: OrderedDict[str, OpenRun] = field(default_factory=OrderedDict)
    _known: OrderedDict[DatasetName, tuple[SchemaField, ...]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.streams = Streams(self.application, self.traced)

    def hear(self, message: Message) -> tuple[RunEvent, ...]:
        """The events a message of the tap gives rise to; an unknown kind gives none."""
        events = self._heard(message)
        self.counts = counted(self.counts, events)
        return events

    def _heard(self, message: Message) -> tuple[RunEvent, ...]:
        if message.get("own"):
            self._open.pop(_key(message), None)
            return ()
        told = self.streams.hear(message)
        if told is not None:
            return told
        kind = message.get("kind")
        if kind == "start":
            return self._start(message)
        if kind == "end":
            return self._end(message)
        return ()

    def begin(self, at: datetime) -> RunEvent:
        """The application's own START, with the properties of Spark that a setting lets out."""
        context = replace(self._application_context(), properties=self.application.properties)
        return run_event(RunState.START, at, NO_STATEMENT, context)

    def finish(
        self, at: datetime, failure: Failure | None = None, delivery: Mapping[str, int] | None = None
    ) -> tuple[RunEvent, ...]:
        """ABORT for what is still open, then the application's own end."""
        events: list[RunEvent] = [*self.streams.finish(at)]
        for key in list(self._open):
            run = self._open.pop(key)
            why = Failure("the application ended, or colline was detached, while this query ran", language="PYTHON")
            events += self._finished(run, RunState.ABORT, at, Ending(failure=why))
        self.counts = counted(self.counts, tuple(events))
        state = RunState.FAIL if failure else RunState.COMPLETE
        context = self._application_context()
        return (*events, run_event(state, at, NO_STATEMENT, context, Ending(failure=failure, delivery=delivery)))

    @property
    def open(self) -> int:
        """How many runs have begun and not ended."""
        return len(self._open) + self.streams.open

    def _start(self, message: Message) -> tuple[RunEvent, ...]:
        run = self._understood(self._opened(message), message)
        # a run without its plan waits for its end, which brings it; one that touches no data is told only if it fails
        events = self._told(run) if run.statement is not None and _touches_data(run.statement) else ()
        self._open[_key(message)] = replace(run, is_told=bool(events))
        while len(self._open) > _OPEN_LIMIT:
            self._open.popitem(last=False)
        return events

    def _end(self, message: Message) -> tuple[RunEvent, ...]:
        run = self._open.pop(_key(message), None) or self._opened(message)
        if run.statement is None:
            run = self._understood(run, message)
        error = message.get("text")
        if error is None and not run.is_told and not _touches_data(run.statement or NO_STATEMENT):
            self.counts = replace(self.counts, skipped=self.counts.skipped + 1)
            return ()
        at = moment(message["time"])
        if error is None:
            return self._finished(run, RunState.COMPLETE, at, self._measured(run, message))
        state = RunState.ABORT if _CANCELLED.search(error[:2000]) else RunState.FAIL
        return self._finished(run, state, at, Ending(failure=_failure(error)))

    def _opened(self, message: Message) -> OpenRun:
        started = moment(message["time"])
        context = opened(self.application, started)
        return OpenRun(context, started, label=from_tags(message.get("tags") or ()), text=message.get("sql") or "")

    def _understood(self, run: OpenRun, message: Message) -> OpenRun:
        """The run with its lineage, computed once, and its job; where that fails, with the reason instead."""
        if message.get("plan") is not None:
            run = replace(run, statement=self.traced(message["plan"]), text=message.get("sql") or run.text)
        elif message.get("failure"):
            run = replace(run, statement=_untraced(f"the plan could not be read: {message['failure']}"))
        context = named(run.context, self.application, run.statement, run.label)
        return replace(run, context=replace(context, sql=run.text))

    def traced(self, plan: Any) -> Statement:
        """What a plan reads and writes; where tracing fails, a statement that says so."""
        return self.containment.run(
            "tracing a plan",
            lambda: self.analyse(plan),
            lambda error: _untraced(f"tracing failed: {type(error).__name__}"),
        )

    def _told(self, run: OpenRun) -> tuple[RunEvent, ...]:
        """START, with the lineage in it."""
        statement = run.statement or NO_STATEMENT
        context = replace(run.context, known=self._fresh(statement))
        return (run_event(RunState.START, run.started, statement, context),)

    def _finished(self, run: OpenRun, state: RunState, at: datetime, ending: Ending) -> tuple[RunEvent, ...]:
        before = () if run.is_told else self._told(run)
        statement = run.statement or NO_STATEMENT
        known = frozenset(found.name for found in statement.inputs)
        context = replace(run.context, known=known)
        return (*before, run_event(state, max(at, run.started), statement, context, ending))

    def _fresh(self, statement: Statement) -> frozenset[DatasetName]:
        """The inputs that need no description: an earlier event described them as they still are."""
        known = []
        for found in statement.inputs:
            if self._known.get(found.name) == found.schema:
                known.append(found.name)
            self._known[found.name] = found.schema
            self._known.move_to_end(found.name)
        while len(self._known) > _KNOWN_LIMIT:
            self._known.popitem(last=False)
        return frozenset(known)

    def _measured(self, run: OpenRun, message: Message) -> Ending:
        statement = run.statement or NO_STATEMENT
        metrics = message.get("metrics") or {}
        commits = self.containment.run(
            "reading a table's version", lambda: self.committed(statement), lambda _: dict[DatasetName, Commit]()
        )
        # Spark counts per statement; with several outputs nobody knows which of them a row went to
        shared = metrics if len(statement.writes) == 1 else {}
        return Ending({write.name: _written(shared, commits.get(write.name)) for write in statement.writes})

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
    """Whether there is something to tell: SHOW TABLES and SET have nothing, a plan that could not be traced has."""
    return bool(statement.writes or statement.inputs or _UNTRACED in [step.node for step in statement.opaque])


def _untraced(why: str) -> Statement:
    return Statement((), (), (OpaqueStep(_UNTRACED, why=why),))


def _written(metrics: Mapping[str, int], commit: Commit | None) -> Written:
    """What the plan's own metrics say, else what the table's commit says: a command inside a command counts there."""
    counted = written(metrics)
    if commit is None:
        return counted
    if counted == Written():
        counted = written(commit.metrics)
    return replace(counted, version=commit.version)


def _failure(error: str) -> Failure:
    """The message and, where Spark gave one, the stack below it."""
    message, _, stack = error.partition("\n\tat ")
    return Failure(message.strip(), f"at {stack}" if stack else "")
