"""The lake's tables as Arrow, read by delta-rs without a JVM. The types are those of `lake.tables`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from colline.errors import LakeError
from colline.lake.tables import COLUMNS, COVERAGE, DATASETS, EDGES, JOBS, READS, Table, fields_of, split_columns

TIME = pa.timestamp("us", tz="UTC")
_PRIMITIVES = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "timestamp": TIME,
    "date": pa.date32(),
    "binary": pa.binary(),
}
# The tables that answers are made of, with the columns that answers need.
ANSWER_TABLES: dict[Table, tuple[str, ...]] = {
    DATASETS: (
        *("id", "namespace", "name", "kind", "layer", "owner", "domain", "symlinks", "tags", "merged_into"),
        *("first_seen", "last_seen", "last_written", "last_read", "dropped_at"),
    ),
    COLUMNS: (
        *("id", "dataset_id", "kind", "namespace", "name", "field", "type", "ordinal", "tags"),
        *("first_seen", "last_seen", "removed_at"),
    ),
    JOBS: (
        *("id", "namespace", "name", "integration", "owner", "last_run", "last_state", "last_error", "runs"),
        *("first_seen", "last_started", "last_ended", "last_success", "last_failure", "changed_at"),
    ),
    EDGES: (
        *("source_id", "target_id", "job_id", "type", "subtype", "masking", "description"),
        *("first_run", "last_run", "runs", "first_seen", "last_seen", "retired_at"),
    ),
    READS: ("column_id", "job_id", "use", "kind", "last_run", "reads", "first_read", "last_read"),
    COVERAGE: ("kind", "run_id", "detail", "job_id", "dataset_id", "first_seen", "last_seen", "resolved_at"),
}


def answer_schema(path: str) -> Any:
    """The Arrow schema of the answer table at a path such as `gold/edges`."""
    [table] = [table for table in ANSWER_TABLES if table.path == path]
    return arrow_schema(table, ANSWER_TABLES[table])


def has_table(lake: Path, table: Table) -> bool:
    """Whether the lake holds that Delta table."""
    return (lake / table.path / "_delta_log").is_dir()


def read_answer_table(lake: Path, table: Table) -> tuple[Any, int]:
    """A table's columns that answers need, and its Delta version; a table that does not exist is empty, version -1."""
    schema = arrow_schema(table, ANSWER_TABLES[table])
    if not has_table(lake, table):
        return schema.empty_table(), -1
    rows, version = _open(lake / table.path)
    return pa.table([_column(rows, field) for field in schema], schema=schema), version


def scan(lake: Path, table: Table, *, columns: Sequence[str], filters: Any = None) -> Any:
    """Chosen columns of a table as an Arrow table, with rows selected by a pyarrow filter; None without the table."""
    if not has_table(lake, table):
        return None
    from deltalake import DeltaTable

    dataset = DeltaTable(str(lake / table.path)).to_pyarrow_dataset()
    present = [column for column in columns if column in dataset.schema.names]
    return dataset.to_table(columns=present, filter=filters)


def versions(lake: Path) -> dict[str, int]:
    """The newest Delta version of each table that answers are made of, by the table's path."""
    from deltalake import DeltaTable

    present = (table for table in ANSWER_TABLES if has_table(lake, table))
    return {table.path: DeltaTable(str(lake / table.path)).version() for table in present}


def arrow_schema(table: Table, columns: Sequence[str]) -> Any:
    """The Arrow schema of some of a table's columns."""
    types = fields_of(table)
    return pa.schema([(column, arrow_type(types[column])) for column in columns])


def arrow_type(spark_type: str) -> Any:
    """`array<string>` → `pa.list_(pa.string())`; structs and maps likewise."""
    if spark_type in _PRIMITIVES:
        return _PRIMITIVES[spark_type]
    matched = re.fullmatch(r"(array|struct|map)<(.*)>", spark_type)
    if matched is None:
        raise ValueError(f"no Arrow type for {spark_type!r}")
    kind, inner = matched.groups()
    if kind == "array":
        return pa.list_(arrow_type(inner))
    if kind == "map":
        key, value = split_columns(inner)
        return pa.map_(arrow_type(key), arrow_type(value))
    members = (member.partition(":") for member in split_columns(inner))
    return pa.struct([(name.strip("`"), arrow_type(member_type)) for name, _, member_type in members])


def _open(path: Path) -> tuple[Any, int]:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(str(path))
        return table.to_pyarrow_table(), table.version()
    except (DeltaError, OSError, pa.ArrowException) as error:
        hint = "check that the lake is complete and readable"
        raise LakeError(f"cannot read {path}: {error}", hint=hint) from error


def _column(rows: Any, field: Any) -> Any:
    """A column in its declared type; null where the table was written without it."""
    if field.name not in rows.schema.names:
        return pa.nulls(rows.num_rows, field.type)
    column = rows.column(field.name)
    if field.name == "symlinks":  # a writer may store fewer or more members of a symlink
        members = [member.name for member in field.type.value_type]
        links = ([{name: link.get(name) for name in members} for link in found or ()] for found in column.to_pylist())
        return pa.array(links, field.type)
    return column.cast(field.type)
