"""Reads the lineage facets of one event as facts: one per input column, output column and effect.

It gives the facts that `pipeline` computes for the same event, without Spark. The input of both are events; this module
is for the few events of one session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from colline.events.lineage_facets import (
    ColumnLineageFacet,
    InputFieldJson,
    LineageEntryJson,
    OutputFieldJson,
    TransformationJson,
)
from colline.events.model import Job, OutputDataset

# an input with one of these effects decides the rows of the output, also of an output with one column
ROW_SUBTYPES = frozenset({"FILTER", "JOIN", "GROUP_BY", "SORT"})
_UNSPECIFIED = TransformationJson("DIRECT", "TRANSFORMATION")

Source = tuple[str, str, str]  # namespace, dataset, field


@dataclass(frozen=True, slots=True)
class Fact:
    """An input column has an effect on a column of the output, or on its rows (`target` is None)."""

    target: str | None
    source: Source
    type: str
    subtype: str
    masking: bool = False
    description: str = ""


def lineage_facts(output: OutputDataset, job: Job) -> list[Fact] | None:
    """The facts about one output; None if the event has no column lineage of it."""
    facet = _facet_of(output, job)
    if facet is None:
        return None
    fields = [fact for name, field in facet.fields.items() for fact in _field_facts(name, field)]
    direct = [fact for fact in fields if fact.type == "DIRECT"]
    rows = [fact for each in facet.dataset or () for fact in _facts(None, each)]
    shared = _with_row_facts([fact for fact in fields if fact.type != "DIRECT"], len(facet.fields))
    return list(dict.fromkeys([*direct, *shared, *_row_facts(rows, direct)]))


def _facet_of(output: OutputDataset, job: Job) -> ColumnLineageFacet | None:
    content = (output.facets or {}).get("columnLineage")
    if content is not None:
        return msgspec.convert(content, ColumnLineageFacet)
    for entry in job_entries(job):
        if entry.fields and (entry.namespace, entry.name) == (output.namespace, output.name):
            return _as_column_lineage(entry)
    return None


def job_entries(job: Job) -> list[LineageEntryJson]:
    """The entries of the job's `lineage` facet."""
    content: Mapping[str, Any] = (job.facets or {}).get("lineage") or {}
    return [msgspec.convert(entry, LineageEntryJson) for entry in content.get("entries") or ()]


def _as_column_lineage(entry: LineageEntryJson) -> ColumnLineageFacet:
    """The entry of a `lineage` facet in the older form."""

    def columns(inputs: Iterable[Any]) -> list[InputFieldJson]:
        return [InputFieldJson(i.namespace, i.name, i.field, i.transformations) for i in inputs if i.field is not None]

    fields = {name: OutputFieldJson(columns(field.inputs)) for name, field in (entry.fields or {}).items()}
    return ColumnLineageFacet(fields, columns(entry.inputs))


def _field_facts(name: str, field: OutputFieldJson) -> Iterator[Fact]:
    for each in field.input_fields:
        yield from _facts(name, each)


def _facts(target: str | None, each: InputFieldJson) -> Iterator[Fact]:
    for how in each.transformations or (_UNSPECIFIED,):
        kind = how.type.upper()
        subtype = (how.subtype or ("TRANSFORMATION" if kind == "DIRECT" else "CONDITIONAL")).upper()
        source = (each.namespace, each.name, each.field)
        yield Fact(target, source, kind, subtype, bool(how.masking), how.description or "")


def _with_row_facts(indirect: list[Fact], width: int) -> list[Fact]:
    """The INDIRECT facts of columns; one that all columns have is a fact about the rows."""
    columns: dict[Fact, set[str | None]] = defaultdict(set)
    for fact in indirect:
        columns[replace(fact, target=None)].add(fact.target)

    def decides_rows(fact: Fact) -> bool:
        is_common = len(columns[replace(fact, target=None)]) == width
        return is_common and (width > 1 or fact.subtype in ROW_SUBTYPES)

    return [replace(fact, target=None) if decides_rows(fact) else fact for fact in indirect]


def _row_facts(rows: list[Fact], direct: list[Fact]) -> list[Fact]:
    """The `dataset` entries. A DIRECT one repeats what a column has, or stands for the rows of its branch."""
    sources = {fact.source for fact in direct}
    return [
        fact if fact.type == "INDIRECT" else replace(fact, type="INDIRECT", subtype="FILTER")
        for fact in rows
        if fact.type == "INDIRECT" or fact.source not in sources
    ]
