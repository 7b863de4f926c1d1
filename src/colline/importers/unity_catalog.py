"""Exports of Unity Catalog's system tables: system.access.column_lineage and table_lineage, as CSV, Parquet or Delta.

The tables record which columns a statement read and wrote, but not how. So each input is a transformation that is
marked as untyped. Each run of an entity is a run at the time of its events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from colline.errors import SettingError
from colline.importers.definitions import DefinedDataset, DefinedInput, DefinedJob, DefinedOutput, Definitions
from colline.importers.file_tree import FileTree
from colline.importers.json_values import as_map, as_text
from colline.importers.lineage_exports import Row, lineage_exports
from colline.importers.table_resolution import TableResolver
from colline.naming.dataset import NameContext
from colline.naming.file_paths import name_of_path
from colline.trace import (
    ColumnLineage,
    ColumnRead,
    ColumnRef,
    DatasetName,
    Dependency,
    Effect,
    Transformation,
    Use,
)

INTEGRATION = "UNITY_CATALOG"
NAMESPACE = "unitycatalog"
MAX_ROWS = 5_000_000
UNTYPED = Transformation(Effect.TRANSFORMATION, "untyped: Unity Catalog does not record how")
# key of entity_metadata → kind of entity
_ENTITY_KEYS = {"job_info": "JOB", "notebook_id": "NOTEBOOK", "dashboard_id": "DASHBOARD", "sql_query_id": "QUERY"}


@dataclass
class _EntityRun:
    """What one run of a notebook, job, pipeline, dashboard or query read and wrote."""

    job: str
    kind: str
    owner: str
    run: str
    seen_at: datetime
    fields: dict[DatasetName, dict[str, dict[ColumnRef, None]]] = field(default_factory=dict)
    reads: dict[DatasetName, dict[str, None]] = field(default_factory=dict)
    written: dict[DatasetName, None] = field(default_factory=dict)


def read_unity_catalog(tree: FileTree, resolver: TableResolver, namespace: str) -> Definitions:
    """The runs in every export below a path."""
    reader = _Reader(tree, resolver, namespace)
    files = 0
    for file, rows in lineage_exports(tree):
        files += 1
        reader.read(file, rows)
    return Definitions(tuple(reader.jobs()), files=files)


class _Reader:
    """Collects rows by the run that they belong to."""

    def __init__(self, tree: FileTree, resolver: TableResolver, namespace: str) -> None:
        self._tree = tree
        self._resolver = resolver
        self._namespace = namespace
        self._runs: dict[tuple[str, str], _EntityRun] = {}
        self._count = 0

    def read(self, file: str, rows: Iterable[Row]) -> None:
        """Add the rows of a file; a row without a time is reported."""
        for number, row in enumerate(rows, 2):
            self._count += 1
            if self._count > MAX_ROWS:
                hint = "export fewer days, for example where event_date > current_date() - interval 30 days"
                raise SettingError(f"{file}: more than {MAX_ROWS:,} rows of lineage", hint=hint)
            seen_at = _time(row.get("event_time"))
            if seen_at is None:
                self._tree.problems.add(file, number, f"expected a time in event_time, found {row.get('event_time')!r}")
                continue
            self._add(row, self._run(row, seen_at))

    def _run(self, row: Row, seen_at: datetime) -> _EntityRun:
        kind, identifier = _entity(row)
        job = f"{kind.lower()}/{identifier}"
        given = (row.get(key) for key in ("entity_run_id", "statement_id", "event_id"))
        run = next((str(value) for value in given if value), seen_at.date().isoformat())
        found = self._runs.get((job, run))
        if found is None:
            owner = as_text(row.get("created_by"))
            found = self._runs[job, run] = _EntityRun(job, kind, owner, run, seen_at)
        found.seen_at = max(found.seen_at, seen_at)
        return found

    def _add(self, row: Row, run: _EntityRun) -> None:
        source, target = self._table(row, "source"), self._table(row, "target")
        column, written = as_text(row.get("source_column_name")), as_text(row.get("target_column_name"))
        if target is not None:
            run.written[target] = None
            inputs = run.fields.setdefault(target, {}).setdefault(written, {}) if written else {}
            if source is not None and column:
                inputs[ColumnRef(source, column)] = None
        if source is not None:
            reads = run.reads.setdefault(source, {})
            if column and target is None:
                reads[column] = None

    def _table(self, row: Row, side: str) -> DatasetName | None:
        name = as_text(row.get(f"{side}_table_full_name"))
        if name:
            return self._resolver.find(tuple(name.split("."))).name
        path = as_text(row.get(f"{side}_path"))
        return name_of_path(path, NameContext()) if path else None

    def jobs(self) -> Iterator[DefinedJob]:
        """The runs in the order of their times."""
        for run in sorted(self._runs.values(), key=lambda each: (each.seen_at, each.job, each.run)):
            yield DefinedJob(
                self._namespace,
                run.job,
                INTEGRATION,
                run.kind,
                outputs=tuple(_output(target, run) for target in run.written),
                inputs=tuple(_input(source, reads) for source, reads in run.reads.items()),
                owners=(run.owner,) if run.owner else (),
                seen_at=run.seen_at,
                run_key=run.run,
            )


def _output(target: DatasetName, run: _EntityRun) -> DefinedOutput:
    """A table that a run wrote; without rows of columns, its lineage is not known."""
    columns = run.fields.get(target)
    if not columns:
        return DefinedOutput(DefinedDataset(target))
    fields = {
        name: tuple(Dependency(column, (UNTYPED,)) for column in inputs) for name, inputs in sorted(columns.items())
    }
    return DefinedOutput(DefinedDataset(target), ColumnLineage(fields))


def _input(source: DatasetName, reads: Mapping[str, None]) -> DefinedInput:
    return DefinedInput(DefinedDataset(source), tuple(ColumnRead(name, (Use.VALUE,)) for name in reads))


def _entity(row: Row) -> tuple[str, str]:
    """The kind and id of what ran; a query without an entity is a query of its user."""
    kind, identifier = as_text(row.get("entity_type")), row.get("entity_id")
    if kind and identifier:
        return kind, str(identifier)
    metadata = row.get("entity_metadata")
    try:
        loaded = as_map(json.loads(metadata)) if isinstance(metadata, str) and metadata else as_map(metadata)
    except (ValueError, RecursionError):
        loaded = {}
    for key, name in _ENTITY_KEYS.items():
        value = loaded.get(key)
        found = as_map(value).get("job_id") if isinstance(value, dict) else value
        if found:
            return name, str(found)
    return "QUERY", as_text(row.get("created_by")) or "unknown"


def _time(value: Any) -> datetime | None:
    """A time as a value, or as text in any form of ISO 8601; without an offset it is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00").replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
