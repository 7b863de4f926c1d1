"""The flat tables of a lake, as `colline.lake.views` defines them in SQL, computed without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from colline.flat.arrow_values import as_lists, as_times, integers, moments
from colline.flat.canonical_ids import canonical_columns, canonical_datasets
from colline.flat.flat_columns import Lake, flat_columns
from colline.flat.flat_datasets import flat_datasets
from colline.flat.flat_edges import flat_edges, flat_reads, stored_edges
from colline.flat.id_index import IdIndex, index_ids
from colline.flat.integer_arrays import UNKNOWN, order_by, starts_of_groups
from colline.flat.observed_mentions import observed_mentions
from colline.lake.flat_shapes import FLAT_COLUMNS, FLAT_COVERAGE, FLAT_EDGES, FLAT_JOBS, FLAT_READS
from colline.lake.table_reader import arrow_schema, read_table
from colline.lake.tables import (
    ALIASES,
    COLUMNS,
    COVERAGE,
    DATASETS,
    DESCRIPTIONS,
    EDGES,
    JOBS,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    Table,
    fields_of,
)

# Writers commit columns before the edges between them, so edges are read first.
SNAPSHOT_TABLES = (
    *(LINEAGE_VERSIONS, OBSERVATIONS, COVERAGE, JOBS),
    *(EDGES, MENTIONS, ALIASES, DESCRIPTIONS, COLUMNS, DATASETS),
)


def read_flat(lake: Path) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """The flat tables of a lake on this machine, by name, and the versions of the stored tables by path."""
    stored = {table: read_table(lake, table) for table in SNAPSHOT_TABLES}
    versions = {table.path: version for table, (_, version) in stored.items()}
    return flat_tables({table: rows for table, (rows, _) in stored.items()}), versions


def flat_tables(stored: Mapping[Table, pa.Table]) -> dict[str, pa.Table]:
    """The flat tables that follow from the stored ones, by name."""
    datasets = canonical_datasets(stored[DATASETS], stored[ALIASES])
    columns = canonical_columns(stored[COLUMNS], datasets)
    edges = stored_edges(stored[EDGES], columns, datasets)
    mentions = observed_mentions(stored[MENTIONS], stored[OBSERVATIONS], datasets, edges)
    lake = Lake(datasets, columns, edges, mentions, stored[DESCRIPTIONS])
    found_edges = _build_table(FLAT_EDGES, flat_edges(stored[LINEAGE_VERSIONS], edges, columns, datasets))
    reads = flat_reads(stored[OBSERVATIONS], stored[MENTIONS], edges, columns, datasets=datasets)
    return {
        "datasets": flat_datasets(lake),
        "columns": _build_table(FLAT_COLUMNS, flat_columns(lake)),
        "jobs": _jobs(stored[JOBS], found_edges, stored[LINEAGE_VERSIONS]),
        "edges": found_edges,
        "reads": _build_table(FLAT_READS, reads),
        "coverage": stored[COVERAGE].select(list(fields_of(FLAT_COVERAGE))),
    }


def _build_table(flat: Table, columns: Mapping[str, Any]) -> pa.Table:
    schema = arrow_schema(flat)
    found = (columns[name] for name in schema.names)
    arrays = [pa.array(values) if isinstance(values, np.ndarray) else values for values in found]
    return pa.table([array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema)


def _jobs(stored: pa.Table, edges: pa.Table, versions: pa.Table) -> pa.Table:
    """The jobs, with the time when the edges of each one last changed, and the datasets that it writes now."""
    ids = integers(stored.column("job_id"))
    index = index_ids(ids)
    job = index.places_of(edges.column("job_id"))
    changes = np.maximum(moments(edges.column("first_seen")), moments(edges.column("retired_at")))
    changed_at = np.full(len(ids), UNKNOWN, np.int64)
    np.maximum.at(changed_at, job[job >= 0], changes[job >= 0])
    columns = {name: stored.column(name) for name in stored.column_names}
    outputs = _current_outputs(versions, index, len(ids))
    derived = {"id": ids, "changed_at": as_times(changed_at), "outputs": outputs}
    return _build_table(FLAT_JOBS, {**columns, **derived, **_job_texts(stored)})


def _job_texts(stored: pa.Table) -> dict[str, pa.Array]:
    """Description, tags, code location and SQL of each job."""
    about = [row or {} for row in stored.column("about").to_pylist()]
    texts = {name: pa.array([row.get(name) for row in about], pa.string()) for name in ("description", "location")}
    sql = pa.array([_last_statements(code) for code in stored.column("code").to_pylist()], pa.string())
    return {**texts, "sql": sql, "tags": pa.array([row.get("tags") or [] for row in about], pa.list_(pa.string()))}


def _last_statements(code: list[dict[str, Any]] | None) -> str | None:
    """The statements of the last group of runs, in their order; `code` has the newest first."""
    if not code:
        return None
    last = [each["sql"] for each in code if each["run_group"] == code[0]["run_group"]]
    return ";\n\n".join(reversed(last))


def _current_outputs(versions: pa.Table, jobs: IdIndex, count: int) -> pa.Array:
    current = versions.filter(versions.column("is_current"))
    job, dataset = jobs.places_of(current.column("job_id")), integers(current.column("dataset_id"))
    order = order_by(job, dataset)
    order = order[job[order] >= 0]
    starts = starts_of_groups(job[order], dataset[order])
    one = order[starts]
    return as_lists(job[one], pa.array(dataset[one]), count)
