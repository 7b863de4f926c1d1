"""Definitions as lines of text, for comparison in tests."""

from __future__ import annotations

from collections.abc import Iterator

from colline.importers.definitions import DefinedJob, Definitions
from colline.trace import ColumnLineage
from colline.trace.lineage_text import effect_label


def job_lines(job: DefinedJob) -> list[str]:
    """`table.column <- table.column effect` for every output of a job."""
    return [line for output in job.outputs for line in lineage_lines(output.dataset.name.name, output.lineage)]


def lineage_lines(target: str, lineage: ColumnLineage | None) -> Iterator[str]:
    """The lines of one output, with `*` for what decides its rows."""
    if lineage is None:
        yield f"{target} without lineage"
        return
    rows = {"*": lineage.dataset} if lineage.dataset else {}
    for name, entries in {**lineage.fields, **rows}.items():
        if not entries:
            yield f"{target}.{name} <- nothing"
        for entry in entries:
            source = f"{entry.column.dataset.name}.{entry.column.field}"
            yield from (f"{target}.{name} <- {source} {effect_label(each)}" for each in entry.transformations)


def job_named(found: Definitions, name: str) -> DefinedJob:
    """The job with this name."""
    [job] = [job for job in found.jobs if job.name == name]
    return job
