"""Builds OpenLineage events from statements.

All text that a person wrote (SQL, names, descriptions, messages) is redacted before it becomes part of an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any

from colline import __version__
from colline.events import dataset_facets, facets
from colline.events.event_context import EventContext, Failure, ParentRun, RunName, RunResult, WriteStatistics
from colline.events.facet_specs import COLUMN_LINEAGE, JOB_TAGS, LINEAGE, PRODUCER, RUN_TAGS, STEPS, facets_by_key
from colline.events.lineage_facets import LineageForm, column_lineage_facet, lineage_job_facet, steps_facet
from colline.events.model import SPEC, InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from colline.trace import ColumnRef, DatasetRead, Dependency, Statement, Write
from colline.trace.opaque_flow import through_steps

MAX_MESSAGE_CHARS = 10_000
MAX_SQL_CHARS = 100_000

NO_RESULT = RunResult()
NO_STATEMENT = Statement((), ())


def run_event(
    state: RunState, at: datetime, statement: Statement, context: EventContext, *, result: RunResult = NO_RESULT
) -> RunEvent:
    """The event of a run that is in this state at this time."""
    if not statement.has_columns:
        context = replace(context, form=LineageForm.NONE, definition="")
    columns = _lineage_columns(statement)
    return RunEvent(
        event_time=timestamp(at),
        producer=PRODUCER,
        schema_url=f"{SPEC}RunEvent",
        event_type=state,
        run=Run(run_id=context.run.run_id, facets=_run_facets(statement, context, result)),
        job=Job(
            namespace=context.redact(context.run.namespace),
            name=context.redact(context.run.name),
            facets=_job_facets(statement, context),
        ),
        inputs=tuple(_input(dataset, context, columns) for dataset in statement.inputs),
        outputs=tuple(_output(write, context, result) for write in statement.writes),
    )


def timestamp(at: datetime) -> str:
    """The format of times in events: `2026-03-01T10:30:00.123456Z`."""
    return at.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def definition(statement: Statement) -> str:
    """A digest of a statement's lineage, equal for all runs of the same query.

    Descriptions are not part of it, because a query that differs only in a date or a limit is the same query.
    """
    parts: list[object] = []
    for write in statement.writes:
        parts.append((write.name.namespace, write.name.name, write.lifecycle.value if write.lifecycle else ""))
        parts += [(name, _without_descriptions(entries)) for name, entries in sorted(write.lineage.fields.items())]
        parts.append(_without_descriptions(write.lineage.dataset))
    for dataset in statement.inputs:
        reads = sorted((read.field, [use.value for use in read.uses]) for read in dataset.reads)
        parts.append((dataset.name.namespace, dataset.name.name, reads))
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _without_descriptions(entries: Iterable[Dependency]) -> list[tuple[str, str, str, list[tuple[str, bool]]]]:
    return sorted(
        (
            entry.column.dataset.namespace,
            entry.column.dataset.name,
            entry.column.field,
            sorted({(each.effect.name, each.masking) for each in entry.transformations}),
        )
        for entry in entries
    )


def _run_facets(statement: Statement, context: EventContext, result: RunResult) -> dict[str, Any] | None:
    redact, engine = context.redact, context.engine
    application_id = context.properties.get("spark.app.id")
    return facets_by_key(
        _parent(context.parent, redact),
        facets.ProcessingEngineFacet(engine.version, engine.name, __version__) if engine else None,
        _opaque_steps(statement, redact),
        facets.QueryFacet(context.definition) if context.definition else None,
        _error_message(result.failure, redact),
        facets.UnresolvedPlanFacet(context.recorded_plan) if context.recorded_plan else None,
        facets.DeliveryFacet(**result.delivery) if result.delivery is not None else None,
        facets.SparkPropertiesFacet(dict(context.properties)) if context.properties else None,
        facets.SparkApplicationFacet(application_id) if application_id else None,
        tags=(RUN_TAGS, _tags(context.run_tags, redact)),
    )


def _opaque_steps(statement: Statement, redact: Callable[[str], str]) -> facets.OpaqueStepsFacet | None:
    steps = tuple(
        facets.OpaqueFacetStep(step.node, redact(step.function), redact(step.why))
        for step in dict.fromkeys(statement.opaque)
    )
    return facets.OpaqueStepsFacet(steps) if steps else None


def _error_message(failure: Failure | None, redact: Callable[[str], str]) -> facets.ErrorMessageFacet | None:
    if failure is None:
        return None
    message = truncate(redact(failure.message), MAX_MESSAGE_CHARS)
    stack = truncate(redact(failure.stack), MAX_MESSAGE_CHARS)
    return facets.ErrorMessageFacet(message, failure.language, stack or None)


def _job_facets(statement: Statement, context: EventContext) -> dict[str, Any]:
    pattern = facets.EmissionPattern("PERIODIC", "ACCUMULATIVE") if context.processing == "STREAMING" else None
    sql = truncate(context.redaction.sql(context.sql), MAX_SQL_CHARS) if context.sql else ""
    found = facets_by_key(
        facets.JobTypeFacet(context.processing, "SPARK", context.job_type, pattern),
        facets.SqlFacet(sql, "spark") if context.sql else None,
        _ownership(context),
        tags=(JOB_TAGS, _tags(context.job_tags, context.redact)),
    )
    assert found is not None
    if context.form in (LineageForm.JOB_FACET, LineageForm.BOTH) and (statement.writes or statement.inputs):
        found[LINEAGE.key] = lineage_job_facet(statement, context.redaction)
    return found


def _ownership(context: EventContext) -> facets.JobOwnershipFacet | None:
    """The owner of a job: its tag `owner`."""
    owner = context.job_tags.get("owner")
    return facets.JobOwnershipFacet((facets.Owner(context.redact(owner)),)) if owner else None


def _parent(parent: ParentRun | None, redact: Callable[[str], str]) -> facets.ParentRunFacet | None:
    if parent is None:
        return None
    root = parent.root or parent.run
    return facets.ParentRunFacet(*_identifiers(parent.run, redact), facets.RootRun(*_identifiers(root, redact)))


def _identifiers(run: RunName, redact: Callable[[str], str]) -> tuple[facets.RunIdentifier, facets.JobIdentifier]:
    return facets.RunIdentifier(run.run_id), facets.JobIdentifier(redact(run.namespace), redact(run.name))


def _tags(tags: Mapping[str, str], redact: Callable[[str], str]) -> facets.TagsFacet:
    found = (facets.Tag(redact(key), redact(value), "SPARK") for key, value in sorted(tags.items()))
    return facets.TagsFacet(tuple(found))


def _input(dataset: DatasetRead, context: EventContext, lineage_columns: frozenset[ColumnRef]) -> InputDataset:
    redact = context.redact
    named = dataset_facets.find_named_dataset(dataset.name, dataset.source, context.names)
    is_new = dataset.name not in context.described_inputs
    # the lineage of the outputs already has the columns that it uses
    has_other_reads = any(ColumnRef(dataset.name, read.field) not in lineage_columns for read in dataset.reads)
    return InputDataset(
        namespace=redact(dataset.name.namespace),
        name=redact(dataset.name.name),
        facets=facets_by_key(
            dataset_facets.data_source(dataset.name, redact) if is_new else None,
            dataset_facets.schema(dataset.schema, redact) if is_new else None,
            dataset_facets.symlinks(named, redact),
            dataset_facets.storage(dataset.source) if is_new else None,
            dataset_facets.catalog(dataset.source, context.names) if is_new else None,
            dataset_facets.dataset_type(named) if is_new else None,
            dataset_facets.version_read(dataset.source),
            dataset_facets.columns_read(dataset, redact) if has_other_reads else None,
        ),
    )


def _lineage_columns(statement: Statement) -> frozenset[ColumnRef]:
    """The input columns in the lineage of any output."""
    lineages = [write.lineage for write in statement.writes]
    entries = [each for lineage in lineages for each in (*lineage.fields.values(), lineage.dataset)]
    return frozenset(each.column for each in through_steps(each for entry in entries for each in entry))


def _output(write: Write, context: EventContext, result: RunResult) -> OutputDataset:
    redact = context.redact
    named = dataset_facets.find_named_dataset(write.name, write.target, context.names)
    statistics = result.written.get(write.name, WriteStatistics())
    found = facets_by_key(
        dataset_facets.data_source(write.name, redact),
        dataset_facets.schema(write.schema, redact),
        dataset_facets.symlinks(named, redact),
        dataset_facets.storage(write.target),
        dataset_facets.catalog(write.target, context.names),
        dataset_facets.dataset_type(named),
        facets.VersionFacet(statistics.version) if statistics.version else None,
        _lifecycle(write, redact),
    )
    assert found is not None
    if context.form in (LineageForm.COMPACT, LineageForm.LEGACY, LineageForm.BOTH):
        is_legacy = context.form is LineageForm.LEGACY
        found[COLUMN_LINEAGE.key] = column_lineage_facet(write.lineage, context.redaction, legacy=is_legacy)
    steps = steps_facet(write.lineage, context.redaction) if context.form is not LineageForm.NONE else None
    if steps is not None:
        found[STEPS.key] = steps
    return OutputDataset(
        namespace=redact(write.name.namespace),
        name=redact(write.name.name),
        facets=found,
        output_facets=facets_by_key(_statistics(statistics)),
    )


def _lifecycle(write: Write, redact: Callable[[str], str]) -> facets.LifecycleFacet | None:
    if write.lifecycle is None:
        return None
    old = write.previous
    previous = facets.PreviousIdentifier(redact(old.namespace), redact(old.name)) if old else None
    return facets.LifecycleFacet(write.lifecycle.value, previous)


def _statistics(statistics: WriteStatistics) -> facets.OutputStatisticsFacet | None:
    if statistics.rows is None and statistics.size is None and statistics.files is None:
        return None
    return facets.OutputStatisticsFacet(statistics.rows, statistics.size, statistics.files)


def truncate(text: str, max_chars: int) -> str:
    """The text, shortened to `max_chars` with a note of how much is missing."""
    return text if len(text) <= max_chars else f"{text[:max_chars]}… ({len(text) - max_chars} characters left out)"
