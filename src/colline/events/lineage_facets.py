"""The JSON of column lineage: the `columnLineage` facet of a dataset and the newer `lineage` facet of a job.

No other Python code writes or reads these shapes. `spark_schema` has them as Spark types, from which `json_structure`
builds the decoder of the receiver.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from colline.events.facet_specs import COLUMN_LINEAGE, LINEAGE, STEPS, add_header
from colline.events.redact import NO_REDACTION, Redaction
from colline.trace import (
    ColumnLineage,
    DatasetName,
    DatasetRead,
    Dependency,
    Effect,
    Statement,
    Transformation,
    Use,
    Write,
)
from colline.trace.opaque_flow import StepColumn, bounded_rows, steps_of, through_steps, without_steps


class LineageForm(Enum):
    """Which facets of an event contain column lineage."""

    BOTH = "both"  # columnLineage in its compact form, and the `lineage` facet of the job
    COMPACT = "compact"  # columnLineage, with the inputs that decide the rows once, in `dataset`
    LEGACY = "legacy"  # columnLineage, with the inputs that decide the rows repeated on every column
    JOB_FACET = "lineage"  # the `lineage` facet of the job
    NONE = "none"  # an earlier event of the run has the same lineage


class TransformationJson(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """How an input column affects an output."""

    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None


class InputFieldJson(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An input column."""

    namespace: str
    name: str
    field: str
    transformations: list[TransformationJson] | None = None


class OutputFieldJson(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """The input columns of one output column, with two deprecated keys that older producers send.

    colline sends the description of a column without inputs: `count(*)`, `current_timestamp()`."""

    input_fields: list[InputFieldJson]
    transformation_type: str | None = None
    transformation_description: str | None = None


class ColumnLineageFacet(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The `columnLineage` facet."""

    fields: dict[str, OutputFieldJson]
    dataset: list[InputFieldJson] | None = None


class StepReferenceJson(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an opaque step affects a column, or another step."""

    step: str
    transformations: list[TransformationJson] | None = None


class StepJson(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An opaque step with many columns: every output of the step depends on every input of it."""

    id: str
    node: str
    function: str
    input_fields: list[InputFieldJson]
    input_steps: list[StepReferenceJson] = []


class LineageInputJson(msgspec.Struct, frozen=True, omit_defaults=True):
    """A dataset, or with `field` a column, that an entry of the `lineage` facet depends on."""

    namespace: str
    name: str
    type: str
    field: str | None = None
    transformations: list[TransformationJson] | None = None


class LineageFieldJson(msgspec.Struct, frozen=True):
    """The input columns of one output column in the `lineage` facet."""

    inputs: list[LineageInputJson]


class LineageEntryJson(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One output in the `lineage` facet, or the job itself if it writes nothing."""

    namespace: str | None = None
    name: str | None = None
    type: str
    inputs: list[LineageInputJson]
    fields: dict[str, LineageFieldJson] | None = None


def column_lineage_facet(lineage: ColumnLineage, redaction: Redaction, *, legacy: bool = False) -> dict[str, Any]:
    """The `columnLineage` facet of one output. Empty descriptions and an empty `dataset` are left out."""
    facet = _column_lineage(lineage, _FacetWriter(redaction), legacy=legacy)
    return add_header(COLUMN_LINEAGE, msgspec.to_builtins(facet))


def steps_facet(lineage: ColumnLineage, redaction: Redaction) -> dict[str, Any] | None:
    """The `colline_steps` facet of one output: its opaque steps that are too wide for `columnLineage`; None without."""
    steps = steps_of(_all_entries(lineage))
    if not steps:
        return None
    writer = _FacetWriter(redaction)
    fields = {
        redaction.text(name): references
        for name, entries in lineage.fields.items()
        if (references := writer.step_references(entries))
    }
    content = {"steps": [writer.step(each) for each in steps], "fields": fields}
    rows = writer.step_references(lineage.dataset)
    return add_header(STEPS, msgspec.to_builtins({**content, "dataset": rows} if rows else content))


def _all_entries(lineage: ColumnLineage) -> list[Dependency]:
    return [entry for entries in (*lineage.fields.values(), lineage.dataset) for entry in entries]


def plain_column_lineage(lineage: ColumnLineage, *, legacy: bool = False) -> dict[str, Any]:
    """The content of the `columnLineage` facet, including empty descriptions and an empty `dataset`."""
    facet = _column_lineage(lineage, _FacetWriter(NO_REDACTION, keeps_empty=True), legacy=legacy)
    content: dict[str, Any] = msgspec.to_builtins(facet)
    return content


def lineage_job_facet(statement: Statement, redaction: Redaction) -> dict[str, Any]:
    """The `lineage` facet of a job: one entry per output, or one entry for a job that writes nothing."""
    writer = _FacetWriter(redaction)
    entries = [_output_entry(write, writer) for write in statement.writes]
    if not entries:
        inputs = [each for dataset in statement.inputs for each in writer.lineage_reads(dataset)]
        entries = [LineageEntryJson(type="JOB", inputs=inputs)]
    return add_header(LINEAGE, {"entries": msgspec.to_builtins(entries)})


@dataclass(frozen=True, slots=True)
class _FacetWriter:
    """Converts the parts of lineage to their JSON form."""

    redaction: Redaction
    keeps_empty: bool = False

    def input_field(self, dependency: Dependency) -> InputFieldJson:
        """An input column in the `columnLineage` facet."""
        column, text = dependency.column, self.redaction.text
        transformations = [self.transformation(each) for each in dependency.transformations]
        return InputFieldJson(
            text(column.dataset.namespace), text(column.dataset.name), text(column.field), transformations
        )

    def step(self, step: StepColumn) -> StepJson:
        """An opaque step in the `colline_steps` facet."""
        inputs = [self.input_field(each) for each in without_steps(step.inputs)]
        references = self.step_references(step.inputs)
        return StepJson(step.field, step.node, self.redaction.text(step.function), inputs, references)

    def step_references(self, entries: Iterable[Dependency]) -> list[StepReferenceJson]:
        """The opaque steps among dependencies."""
        found = [entry for entry in entries if isinstance(entry.column, StepColumn)]
        return [StepReferenceJson(e.column.field, [self.transformation(t) for t in e.transformations]) for e in found]

    def transformation(self, transformation: Transformation) -> TransformationJson:
        """One effect of an input column."""
        effect, description = transformation.effect, transformation.description
        if description:
            description = self.redaction.sql(description)
        shown = description if description or self.keeps_empty else None
        return TransformationJson(effect.type, effect.subtype, shown, transformation.masking)

    def value(self, expression: str | None) -> str | None:
        """The expression of a column without inputs; None if it is not known."""
        return self.redaction.sql(expression) if expression else None

    def lineage_dataset(self, name: DatasetName) -> LineageInputJson:
        """A dataset in the `lineage` facet."""
        return LineageInputJson(self.redaction.text(name.namespace), self.redaction.text(name.name), "DATASET")

    def lineage_column(self, dependency: Dependency) -> LineageInputJson:
        """An input column in the `lineage` facet."""
        field = self.input_field(dependency)
        return LineageInputJson(field.namespace, field.name, "DATASET", field.field, field.transformations)

    def lineage_reads(self, dataset: DatasetRead) -> list[LineageInputJson]:
        """The columns that a query reads; the dataset alone if no column is known."""
        whole = self.lineage_dataset(dataset.name)
        return [
            msgspec.structs.replace(
                whole,
                field=self.redaction.text(read.field),
                transformations=[self.transformation(Transformation(_USE_EFFECTS[use])) for use in read.uses],
            )
            for read in dataset.reads
        ] or [whole]


# the effect that stands for the use of a column in a query without an output
_USE_EFFECTS = {
    Use.VALUE: Effect.TRANSFORMATION,
    Use.JOIN: Effect.JOIN,
    Use.FILTER: Effect.FILTER,
    Use.GROUP_BY: Effect.GROUP_BY,
    Use.SORT: Effect.SORT,
    Use.WINDOW: Effect.WINDOW,
    Use.CONDITIONAL: Effect.CONDITIONAL,
}


def _column_lineage(lineage: ColumnLineage, writer: _FacetWriter, *, legacy: bool) -> ColumnLineageFacet:
    rows = [writer.input_field(each) for each in without_steps(lineage.dataset)]
    repeated, dataset = (rows, []) if legacy else ([], rows)
    dataset += [writer.input_field(each) for each in bounded_rows(_all_entries(lineage))]
    fields = {
        writer.redaction.text(name): OutputFieldJson(
            [*map(writer.input_field, without_steps(entries)), *repeated],
            transformation_description=None if repeated else writer.value(lineage.values.get(name)),
        )
        for name, entries in lineage.fields.items()
    }
    return ColumnLineageFacet(fields, dataset if dataset or writer.keeps_empty else None)


def _output_entry(write: Write, writer: _FacetWriter) -> LineageEntryJson:
    """The entry of one output: its input datasets, the columns that decide its rows, and the inputs of each column."""
    lineage, text = write.lineage, writer.redaction.text
    columns = list(through_steps(_all_entries(lineage)))
    rows = (*without_steps(lineage.dataset), *bounded_rows(_all_entries(lineage)))
    datasets = dict.fromkeys([each.name for each in lineage.inputs] + [each.column.dataset for each in columns])
    return LineageEntryJson(
        namespace=text(write.name.namespace),
        name=text(write.name.name),
        type="DATASET",
        inputs=[*map(writer.lineage_dataset, datasets), *map(writer.lineage_column, rows)],
        fields={
            text(name): LineageFieldJson([writer.lineage_column(each) for each in without_steps(entries)])
            for name, entries in lineage.fields.items()
        },
    )
