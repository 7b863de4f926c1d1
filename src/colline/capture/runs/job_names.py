"""Names the job that a run belongs to, and builds the context that all events of the run share."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from colline.capture.runs.application import Application
from colline.capture.runs.job_labels import JobLabel
from colline.events.event_builder import NO_STATEMENT, definition
from colline.events.event_context import EventContext, RunName
from colline.events.run_ids import run_id
from colline.naming.dataset import DatasetKind
from colline.naming.rules import identify
from colline.trace import Statement


def new_run_context(application: Application, started: datetime) -> EventContext:
    """The event context of a new run. It has no job name yet: that depends on what the run writes."""
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


def with_job(
    context: EventContext,
    application: Application,
    statement: Statement | None,
    label: JobLabel | None,
    *,
    query_name: str = "",
) -> EventContext:
    """The context with its job name: the label, else the setting or notebook, else `application.output`."""
    name = label.name if label else application.job or _default_name(application, statement or NO_STATEMENT, query_name)
    return replace(
        context,
        run=replace(context.run, name=name),
        job_tags={**application.job_tags, **(label.tags if label else {})},
        definition=definition(statement) if statement else "",
    )


def spark_time(milliseconds: int) -> datetime:
    """A time of a Spark event, in milliseconds since 1970, as a UTC datetime."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)


def _default_name(application: Application, statement: Statement, query_name: str) -> str:
    """`shop.sales.totals`: the application and its first output, by catalog name or by the last part of its path."""
    if query_name:
        return f"{application.run.name}.{query_name}"
    if not statement.writes:
        return f"{application.run.name}.query"
    write = statement.writes[0]
    dataset = identify(write.target, application.names)
    catalog_names = [link.name for link in dataset.symlinks] if dataset.name == write.name else []
    path = write.name.name
    last_part = path if dataset.kind is not DatasetKind.FILE else path.rstrip("/").rpartition("/")[2]
    return f"{application.run.name}.{catalog_names[-1] if catalog_names else last_part or 'output'}"
