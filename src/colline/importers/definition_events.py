"""Definitions → OpenLineage events. An import is one run of each job, at one time.

A job with many outputs is split into several events of one run, so that no event becomes too large for the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from colline.events import facets
from colline.events.event_builder import MAX_SQL_CHARS, timestamp, truncate
from colline.events.facet_specs import COLUMN_LINEAGE, JOB_TAGS, PRODUCER, facets_by_key
from colline.events.lineage_facets import column_lineage_facet
from colline.events.model import (
    SPEC,
    Dataset,
    DatasetEvent,
    Event,
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from colline.events.redact import Redaction
from colline.events.run_ids import run_id
from colline.importers.definitions import DefinedDataset, DefinedInput, DefinedJob, DefinedOutput, Definitions
from colline.trace import ColumnLineage, DatasetName, OpaqueStep

MAX_EDGES_PER_EVENT = 5_000
MAX_OPAQUE_STEPS = 1_000  # of one job
TAG_SOURCE = "COLLINE"


def definition_events(definitions: Definitions, at: datetime, redaction: Redaction) -> Iterator[Event]:
    """The events of all jobs, and of the datasets that no job writes."""
    builder = _EventBuilder(at, redaction)
    for job in definitions.jobs:
        yield from builder.job_events(job)
    for dataset in definitions.datasets:
        yield builder.dataset_event(dataset)


class _EventBuilder:
    """Builds events at one time with one redaction."""

    def __init__(self, at: datetime, redaction: Redaction) -> None:
        self._at = at
        self._redaction = redaction
        self._text = redaction.text

    def job_events(self, job: DefinedJob) -> Iterator[RunEvent]:
        """The events of one run: all but the last one are RUNNING."""
        at = job.seen_at or self._at
        key = f"{job.namespace}/{job.name}/{job.run_key}"
        identifier = str(uuid5(NAMESPACE_URL, key)) if job.run_key else run_id(int(at.timestamp() * 1000))
        groups = list(_groups(job.outputs))
        for place, outputs in enumerate(groups):
            is_last = place == len(groups) - 1
            yield RunEvent(
                event_time=timestamp(at.astimezone(timezone.utc)),
                producer=PRODUCER,
                schema_url=f"{SPEC}RunEvent",
                event_type=RunState.COMPLETE if is_last else RunState.RUNNING,
                run=Run(run_id=identifier, facets=self._run_facets(job) if is_last else None),
                job=Job(namespace=self._text(job.namespace), name=self._text(job.name), facets=self._job_facets(job)),
                inputs=tuple(self._inputs(job, outputs)),
                outputs=tuple(self._output(output) for output in outputs),
            )

    def dataset_event(self, dataset: DefinedDataset) -> DatasetEvent:
        """The description of a dataset."""
        namespace, name = self._name(dataset.name)
        return DatasetEvent(
            event_time=timestamp(self._at),
            producer=PRODUCER,
            schema_url=f"{SPEC}DatasetEvent",
            dataset=Dataset(namespace=namespace, name=name, facets=self._dataset_facets(dataset)),
        )

    def _name(self, name: DatasetName) -> tuple[str, str]:
        return self._text(name.namespace), self._text(name.name)

    def _run_facets(self, job: DefinedJob) -> dict[str, Any] | None:
        steps = list(dict.fromkeys(job.opaque))
        if len(steps) > MAX_OPAQUE_STEPS:
            rest = len(steps) - MAX_OPAQUE_STEPS
            steps = [*steps[:MAX_OPAQUE_STEPS], OpaqueStep("import", job.name, f"{rest:,} more gaps are not listed")]
        text = self._text
        listed = tuple(facets.OpaqueFacetStep(each.node, text(each.function), text(each.why)) for each in steps)
        return facets_by_key(facets.OpaqueStepsFacet(listed)) if listed else None

    def _job_facets(self, job: DefinedJob) -> dict[str, Any] | None:
        sql = truncate(self._redaction.sql(job.sql), MAX_SQL_CHARS) if job.sql else ""
        tags = tuple(facets.Tag(self._text(tag), "true", TAG_SOURCE) for tag in job.tags)
        owners = tuple(facets.Owner(self._text(owner)) for owner in job.owners)
        path = self._text(job.path)
        return facets_by_key(
            facets.JobTypeFacet("BATCH", job.integration, job.job_type),
            facets.SqlFacet(sql, job.dialect or None) if sql else None,
            facets.JobDocumentationFacet(self._text(job.description)) if job.description else None,
            facets.JobOwnershipFacet(owners) if owners else None,
            facets.SourceCodeLocationFacet("file", f"file:{path}", path) if path else None,
            tags=(JOB_TAGS, facets.TagsFacet(tags)),
        )

    def _inputs(self, job: DefinedJob, outputs: Iterable[DefinedOutput]) -> Iterator[InputDataset]:
        """The inputs that a job names, then the datasets behind the lineage of these outputs."""
        seen: set[DatasetName] = set()
        for each in job.inputs:
            seen.add(each.dataset.name)
            yield self._input(each)
        for output in outputs:
            for name in lineage_inputs(output.lineage):
                if name not in seen:
                    seen.add(name)
                    yield self._input(DefinedInput(DefinedDataset(name)))

    def _input(self, given: DefinedInput) -> InputDataset:
        namespace, name = self._name(given.dataset.name)
        reads = tuple(
            facets.ColumnUses(self._text(read.field), tuple(use.value for use in read.uses)) for read in given.reads
        )
        found = self._dataset_facets(given.dataset) or {}
        found |= facets_by_key(facets.ColumnsReadFacet(reads)) or {} if reads else {}
        return InputDataset(namespace=namespace, name=name, facets=found or None)

    def _output(self, output: DefinedOutput) -> OutputDataset:
        namespace, name = self._name(output.dataset.name)
        found = self._dataset_facets(output.dataset) or {}
        if output.is_dropped:
            found |= facets_by_key(facets.LifecycleFacet("DROP")) or {}
        if output.lineage is not None:
            found[COLUMN_LINEAGE.key] = column_lineage_facet(output.lineage, self._redaction)
        return OutputDataset(namespace=namespace, name=name, facets=found or None)

    def _dataset_facets(self, dataset: DefinedDataset) -> dict[str, Any] | None:
        text = self._text
        columns = tuple(
            facets.SchemaFacetField(text(each.name), each.type or None, text(each.description) or None)
            for each in dataset.columns
        )
        tags = [facets.DatasetTag(text(tag), "true", TAG_SOURCE) for tag in dataset.tags]
        for column in dataset.columns:
            tags += [facets.DatasetTag(text(tag), "true", TAG_SOURCE, text(column.name)) for tag in column.tags]
        links = tuple(
            facets.SymlinkIdentifier(text(each.namespace), text(each.name), each.type) for each in dataset.symlinks
        )
        owners = tuple(facets.Owner(text(owner)) for owner in dataset.owners)
        return facets_by_key(
            facets.SchemaFacet(columns) if columns else None,
            facets.SymlinksFacet(links) if links else None,
            facets.DatasetTypeFacet(dataset.kind.value) if dataset.kind is not None else None,
            facets.DatasetDocumentationFacet(text(dataset.description)) if dataset.description else None,
            facets.DatasetOwnershipFacet(owners) if owners else None,
            facets.DatasetTagsFacet(tuple(tags)) if tags else None,
        )


def lineage_inputs(lineage: ColumnLineage | None) -> list[DatasetName]:
    """The datasets that the columns of a lineage come from, in order of appearance."""
    if lineage is None:
        return []
    entries = (each for columns in (*lineage.fields.values(), lineage.dataset) for each in columns)
    return list(dict.fromkeys(each.column.dataset for each in entries))


def _groups(outputs: tuple[DefinedOutput, ...]) -> Iterator[tuple[DefinedOutput, ...]]:
    """Outputs in groups of about `MAX_EDGES_PER_EVENT` edges, at least one group."""
    group: list[DefinedOutput] = []
    edges = 0
    for output in outputs:
        size = _edge_count(output.lineage) + len(output.dataset.columns)
        if group and edges + size > MAX_EDGES_PER_EVENT:
            yield tuple(group)
            group, edges = [], 0
        group.append(output)
        edges += size
    yield tuple(group)


def _edge_count(lineage: ColumnLineage | None) -> int:
    if lineage is None:
        return 0
    return sum(len(entries) for entries in lineage.fields.values()) + len(lineage.dataset)
