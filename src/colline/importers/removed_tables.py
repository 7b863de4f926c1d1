"""Tables and pages that an earlier import of the same model or report wrote, and that its files no longer have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from colline.importers.definitions import DefinedDataset, DefinedJob, DefinedOutput, Definitions
from colline.importers.known_tables import KnownTables
from colline.importers.power_bi import INTEGRATION, job_name
from colline.trace import ColumnLineage, DatasetName


def with_removed_tables(definitions: Definitions, tables: KnownTables) -> Definitions:
    """The definitions, with a job that drops its output for each table or page that is gone."""
    defined = {
        output.dataset.name: job for job in definitions.jobs if job.integration == INTEGRATION for output in job.outputs
    }
    models = {(name.namespace, name.name.split("/")[0]): job for name, job in defined.items()}
    gone = (
        _dropping_job(name, models[name.namespace, name.name.split("/")[0]])
        for name in _datasets_of(models, tables)
        if name not in defined
    )
    return replace(definitions, jobs=(*definitions.jobs, *gone))


def _dropping_job(name: DatasetName, like: DefinedJob) -> DefinedJob:
    output = DefinedOutput(DefinedDataset(name), ColumnLineage(), is_dropped=True)
    return DefinedJob(like.namespace, job_name(name), like.integration, like.job_type, outputs=(output,))


def _datasets_of(models: dict[tuple[str, str], DefinedJob], tables: KnownTables) -> Iterator[DatasetName]:
    """The datasets of these models and reports in the lake that were not dropped."""
    for namespace in sorted({namespace for namespace, _ in models}):
        for table in tables.datasets_in(namespace):
            if (namespace, table.name.split("/")[0]) in models:
                yield table
