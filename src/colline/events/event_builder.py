"""A statement → OpenLineage events. Pure: what is known goes in, one event comes out.

Everything a person wrote (SQL, names, descriptions, messages) passes `EventContext.redact` before the event exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any

from colline import __version__
from colline.events import dataset_facets, facets
from colline.events.lineage_facets import LineageForm, Redaction, column_lineage, lineage_facet
from colline.events.model import SPEC, InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from colline.naming.dataset import NameContext
from colline.trace import ColumnRef, DatasetName, Dependency, Statement, Write
from colline.trace import DatasetRead as Read

MESSAGE_LIMIT = 10_000
SQL_LIMIT = 100_000


def as_is(text: str) -> str:
    """No redaction."""
    return text


@dataclass(frozen=True, slots=True)
class RunName:
    """A run with the job it is a run of."""

    namespace: str
    name: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Parent:
    """The run above this one, and the one at the top."""

    run: RunName
    root: RunName | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """What ran the query."""

    version: str
    name: str = "spark"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed."""

    message: str
    stack: str = ""
    language: str = "JAVA"


@dataclass(frozen=True, slots=True)
class Written:
    """What Spark's metrics say about one output."""

    rows: int | None = None
    size: int | None = None
    files: int | None = None
    version: str = ""


@dataclass(frozen=True)
class EventContext:
    """Everything about a run but its lineage.

    `known` names the inputs whose schema, storage and catalog an earlier event of this application told: they are not
    told again. Symlinks and versions always are.
    """

    run: RunName
    names: NameContext = field(default_factory=NameContext)
    parent: Parent | None = None
    engine: Engine | None = None
    processing: str = "BATCH"
    job_type: str = "SQL_JOB"
    sql: str = ""
    job_tags: Mapping[str, str] = field(default_factory=dict)
    run_tags: Mapping[str, str] = field(default_factory=dict)
    form: LineageForm = LineageForm.COMPACT
    definition: str = ""
    known: frozenset[DatasetName] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    redact: Callable[[str], str] = as_is
    redact_sql: Callable[[str], str] = as_is

    @property
    def redaction(self) -> Redaction:
        """SQL text passes both."""
        return Redaction(self.redact, lambda text: self.redact(self.redact_sql(text)))


@dataclass(frozen=True)
class Ending:
    """What is known only when a run goes on or is over."""

    written: Mapping[DatasetName, Written] = field(default_factory=dict)
    failure: Failure | None = None
    delivery: Mapping[str, int] | None = None


NOTHING_MORE = Ending()
NO_STATEMENT = Statement((), ())


def run_event(
    state: RunState, at: datetime, statement: Statement, context: EventContext, ending: Ending = NOTHING_MORE
) -> RunEvent:
    """The event that says what a run did, in the state it is in now."""
    job_facets = _job_facets(context)
    used = _used(statement)
    if context.form is LineageForm.JOB_FACET and (statement.writes or statement.inputs):
        job_facets["lineage"] = lineage_facet(statement, context.redaction)
    return RunEvent(
        event_time=timestamp(at),
        producer=facets.PRODUCER,
        schema_url=f"{SPEC}RunEvent",
        event_type=state,
        run=Run(run_id=context.run.run_id, facets=_run_facets(statement, context, ending)),
        job=Job(
            namespace=context.redact(context.run.namespace),
            name=context.redact(context.run.name),
            facets=job_facets,
        ),
        inputs=tuple(_input(found, context, used) for found in statement.inputs),
        outputs=tuple(_output(write, context, ending) for write in statement.writes),
    )


def timestamp(at: datetime) -> str:
    """A time as events carry it: UTC, microseconds, `Z`."""
    return at.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def definition(statement: Statement) -> str:
    """A digest of what a statement reads and writes and how: equal for every run of the same query.

    Descriptions are left out: a date or a limit in the query's text makes no other query of it.
    """
    parts: list[object] = []
    for write in statement.writes:
        parts.append((write.name.namespace, write.name.name, write.lifecycle.value if write.lifecycle else ""))
        parts += [(name, _shape(found)) for name, found in sorted(write.lineage.fields.items())]
        parts.append(_shape(write.lineage.dataset))
    for found in statement.inputs:
        reads = sorted((read.field, [use.value for use in read.uses]) for read in found.reads)
        parts.append((found.name.namespace, found.name.name, reads))
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _shape(dependencies: Iterable[Dependency]) -> list[tuple[str, str, str, list[tuple[str, bool]]]]:
    """Each input column with the ways it arrives, without their text."""
    return sorted(
        (
            each.column.dataset.namespace,
            each.column.dataset.name,
            each.column.field,
            sorted({(way.effect.name, way.masking) for way in each.transformations}),
        )
        for each in dependencies
    )


def _run_facets(statement: Statement, context: EventContext, ending: Ending) -> dict[str, Any] | None:
    redact, engine, failure = context.redact, context.engine, ending.failure
    steps = tuple(
        facets.Step(step.node, redact(step.function), redact(step.why)) for step in dict.fromkeys(statement.opaque)
    )
    return facets.gathered(
        _parent(context.parent, redact),
        facets.ProcessingEngine(engine.version, engine.name, __version__) if engine else None,
        facets.Opaque(steps) if steps else None,
        facets.Query(context.definition) if context.definition else None,
        facets.ErrorMessage(
            cut(redact(failure.message), MESSAGE_LIMIT),
            failure.language,
            cut(redact(failure.stack), MESSAGE_LIMIT) or None,
        )
        if failure
        else None,
        facets.Delivery(**ending.delivery) if ending.delivery is not None else None,
        facets.SparkProperties(dict(context.properties)) if context.properties else None,
        _application(context.properties),
        tags=(facets.RUN_TAGS, _tags(context.run_tags, redact)),
    )


def _application(properties: Mapping[str, str]) -> facets.SparkApplication | None:
    """What joins the run with Spark's own history of applications."""
    found = properties.get("spark.app.id")
    return facets.SparkApplication(found) if found else None


def _job_facets(context: EventContext) -> dict[str, Any]:
    redact = context.redact
    pattern = facets.EmissionPattern("PERIODIC", "ACCUMULATIVE") if context.processing == "STREAMING" else None
    return (
        facets.gathered(
            facets.JobType(context.processing, "SPARK", context.job_type, pattern),
            facets.Sql(cut(context.redaction.sql(context.sql), SQL_LIMIT), "spark") if context.sql else None,
            tags=(facets.JOB_TAGS, _tags(context.job_tags, redact)),
        )
        or {}
    )


def _parent(parent: Parent | None, redact: Callable[[str], str]) -> facets.ParentRun | None:
    if parent is None:
        return None
    root = parent.root or parent.run
    return facets.ParentRun(*_reference(parent.run, redact), facets.RootRef(*_reference(root, redact)))


def _reference(run: RunName, redact: Callable[[str], str]) -> tuple[facets.RunRef, facets.JobRef]:
    return facets.RunRef(run.run_id), facets.JobRef(redact(run.namespace), redact(run.name))


def _tags(tags: Mapping[str, str], redact: Callable[[str], str]) -> facets.Tags:
    return facets.Tags(tuple(facets.Tag(redact(key), redact(value), "SPARK") for key, value in sorted(tags.items())))


def _input(found: Read, context: EventContext, written: frozenset[ColumnRef]) -> InputDataset:
    redact = context.redact
    known = dataset_facets.named(found.name, found.source, context.names)
    fresh = found.name not in context.known
    return InputDataset(
        namespace=redact(found.name.namespace),
        name=redact(found.name.name),
        facets=facets.gathered(
            dataset_facets.data_source(found.name, redact) if fresh else None,
            dataset_facets.schema(found.schema, redact) if fresh else None,
            dataset_facets.symlinks(known, redact),
            dataset_facets.storage(found.source) if fresh else None,
            dataset_facets.catalog(found.source, context.names) if fresh else None,
            dataset_facets.dataset_type(known) if fresh else None,
            dataset_facets.version(found.source),
            dataset_facets.columns_read(found, redact) if _adds_reads(found, written) else None,
        ),
    )


def _adds_reads(found: Read, written: frozenset[ColumnRef]) -> bool:
    """Whether the list of columns read says more than the lineage of the outputs, which names what it used."""
    return any(ColumnRef(found.name, read.field) not in written for read in found.reads)


def _used(statement: Statement) -> frozenset[ColumnRef]:
    """Every column that the lineage of some output names."""
    lineages = [write.lineage for write in statement.writes]
    direct = {each.column for lineage in lineages for found in lineage.fields.values() for each in found}
    return frozenset(direct | {each.column for lineage in lineages for each in lineage.dataset})


def _output(write: Write, context: EventContext, ending: Ending) -> OutputDataset:
    redact = context.redact
    known = dataset_facets.named(write.name, write.target, context.names)
    done = ending.written.get(write.name, Written())
    found = facets.gathered(
        dataset_facets.data_source(write.name, redact),
        dataset_facets.schema(write.schema, redact),
        dataset_facets.symlinks(known, redact),
        dataset_facets.storage(write.target),
        dataset_facets.catalog(write.target, context.names),
        dataset_facets.dataset_type(known),
        dataset_facets.version(write.target, done.version) if done.version else None,
        _lifecycle(write, redact),
    )
    assert found is not None
    if context.form in (LineageForm.COMPACT, LineageForm.LEGACY):
        legacy = context.form is LineageForm.LEGACY
        found[facets.COLUMN_LINEAGE.key] = column_lineage(write.lineage, context.redaction, legacy=legacy)
    return OutputDataset(
        namespace=redact(write.name.namespace),
        name=redact(write.name.name),
        facets=found,
        output_facets=facets.gathered(_statistics(done)),
    )


def _lifecycle(write: Write, redact: Callable[[str], str]) -> facets.LifecycleStateChange | None:
    if write.lifecycle is None:
        return None
    before = write.previous
    previous = facets.PreviousIdentifier(redact(before.namespace), redact(before.name)) if before else None
    return facets.LifecycleStateChange(write.lifecycle.value, previous)


def _statistics(done: Written) -> facets.OutputStatistics | None:
    if done.rows is None and done.size is None and done.files is None:
        return None
    return facets.OutputStatistics(done.rows, done.size, done.files)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with an honest mark."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters left out)"
