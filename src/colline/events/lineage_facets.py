"""Column lineage as facets: the compact form, the cartesian one, and the newer `lineage` job facet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from colline.events.facets import COLUMN_LINEAGE, LINEAGE, sealed
from colline.trace import ColumnLineage, DatasetName, DatasetRead, Dependency, Effect, Statement, Transformation, Use

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Redaction:
    """What may be told: `text` of names and messages, `sql` of expressions and queries, whose literals are data."""

    text: Redact
    sql: Redact


class LineageForm(Enum):
    """How an event says which column depends on which. Never two of them on one event."""

    COMPACT = "compact"  # columnLineage, inputs that decide the rows once in `dataset`
    LEGACY = "legacy"  # columnLineage, the same inputs repeated on every column
    JOB_FACET = "lineage"  # the `lineage` facet of the job
    NONE = "none"  # nothing new to say: an earlier event of the run said it


def column_lineage(lineage: ColumnLineage, redact: Redaction, *, legacy: bool = False) -> dict[str, Any]:
    """The sealed columnLineage facet of one output. What has no description has none; masking is always said."""
    shared = [_column(each, redact) for each in lineage.dataset]
    fields = {
        redact.text(name): {"inputFields": [_column(each, redact) for each in found] + (shared if legacy else [])}
        for name, found in lineage.fields.items()
    }
    content: dict[str, Any] = {"fields": fields}
    if shared and not legacy:
        content["dataset"] = shared
    return sealed(COLUMN_LINEAGE, content)


def lineage_facet(statement: Statement, redact: Redaction) -> dict[str, Any]:
    """The sealed `lineage` job facet: one entry per output, or the job itself where nothing is written."""
    entries = [
        {
            "namespace": redact.text(write.name.namespace),
            "name": redact.text(write.name.name),
            "type": "DATASET",
            "inputs": _entities(write.lineage, redact),
            "fields": {
                redact.text(name): {"inputs": [_source(each, redact) for each in found]}
                for name, found in write.lineage.fields.items()
            },
        }
        for write in statement.writes
    ]
    if not entries:
        reads = [each for found in statement.inputs for each in _reads(found, redact)]
        entries = [{"type": "JOB", "inputs": reads}]
    return sealed(LINEAGE, {"entries": entries})


def _entities(lineage: ColumnLineage, redact: Redaction) -> list[dict[str, Any]]:
    """Every dataset that feeds an output, then the columns that decide its rows."""
    names = dict.fromkeys([each.name for each in lineage.inputs] + [each.column.dataset for each in _all(lineage)])
    return [_entity(name, redact) for name in names] + [_source(each, redact) for each in lineage.dataset]


def _all(lineage: ColumnLineage) -> Iterable[Dependency]:
    yield from (each for found in lineage.fields.values() for each in found)
    yield from lineage.dataset


def _entity(name: DatasetName, redact: Redaction) -> dict[str, Any]:
    return {"namespace": redact.text(name.namespace), "name": redact.text(name.name), "type": "DATASET"}


def _source(dependency: Dependency, redact: Redaction) -> dict[str, Any]:
    column = _column(dependency, redact)
    return {"namespace": column["namespace"], "name": column["name"], "type": "DATASET", **column}


_EFFECTS = {
    Use.VALUE: Effect.TRANSFORMATION,
    Use.JOIN: Effect.JOIN,
    Use.FILTER: Effect.FILTER,
    Use.GROUP_BY: Effect.GROUP_BY,
    Use.SORT: Effect.SORT,
    Use.WINDOW: Effect.WINDOW,
    Use.CONDITIONAL: Effect.CONDITIONAL,
}


def _reads(found: DatasetRead, redact: Redaction) -> list[dict[str, Any]]:
    """The columns a query read without writing them anywhere; the whole dataset where no column is known."""
    entity = _entity(found.name, redact)
    return [
        {
            **entity,
            "field": redact.text(read.field),
            "transformations": [_transformation(Transformation(_EFFECTS[use]), redact) for use in read.uses],
        }
        for read in found.reads
    ] or [entity]


def _column(dependency: Dependency, redact: Redaction) -> dict[str, Any]:
    column = dependency.column
    return {
        "namespace": redact.text(column.dataset.namespace),
        "name": redact.text(column.dataset.name),
        "field": redact.text(column.field),
        "transformations": [_transformation(each, redact) for each in dependency.transformations],
    }


def _transformation(transformation: Transformation, redact: Redaction) -> dict[str, Any]:
    said = {"description": redact.sql(transformation.description)} if transformation.description else {}
    effect = transformation.effect
    return {"type": effect.type, "subtype": effect.subtype, **said, "masking": transformation.masking}
