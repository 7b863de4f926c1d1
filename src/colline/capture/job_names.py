"""Which job a run belongs to, and what the events of one run share."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from colline.capture.application import Application
from colline.capture.job_labels import Label
from colline.events.event_builder import NO_STATEMENT, EventContext, RunName, definition
from colline.events.run_ids import run_id
from colline.naming.dataset import DatasetKind
from colline.naming.rules import identify
from colline.trace import Statement


def opened(application: Application, started: datetime) -> EventContext:
    """The context of a new run that began then; its job is named when more is known."""
    return EventContext(
        RunName(application.run.namespace, "", run_id(int(started.timestamp() * 1000))),
        application.names,
        application.parent,
        application.engine,
        form=application.form,
        run_tags=application.run_tags,
        redact=application.redact,
        redact_sql=application.redact_sql,
    )


def named(
    context: EventContext, application: Application, statement: Statement | None, label: Label | None, name: str = ""
) -> EventContext:
    """The run's context with its job: by label, by setting or notebook, by a name of its own, else by its output."""
    found = label.name if label else application.job or _job_name(application, statement or NO_STATEMENT, name)
    return replace(
        context,
        run=replace(context.run, name=found),
        job_tags={**application.job_tags, **(label.tags if label else {})},
        definition=definition(statement) if statement else "",
    )


def moment(milliseconds: int) -> datetime:
    """A time as Spark tells it."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)


def _job_name(application: Application, statement: Statement, name: str) -> str:
    """`shop.sales.totals`: the application and the output as its catalog knows it, or the last part of its path."""
    if name:
        return f"{application.run.name}.{name}"
    if not statement.writes:
        return f"{application.run.name}.query"
    write = statement.writes[0]
    known = identify(write.target, application.names)
    short = [link.name for link in known.symlinks] if known.name == write.name else []
    last = write.name.name if known.kind is not DatasetKind.FILE else write.name.name.rstrip("/").rpartition("/")[2]
    return f"{application.run.name}.{short[-1] if short else last or 'output'}"
