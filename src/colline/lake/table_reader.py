"""The lake's tables as Arrow, read by delta-rs without a JVM. Each table's shape is written down here once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from colline.errors import LakeError

TIME = pa.timestamp("us", tz="UTC")
_TEXT, _LONG = pa.string(), pa.int64()
_SYMLINK = pa.struct([("namespace", _TEXT), ("name", _TEXT), ("type", _TEXT)])


def _shape(texts: str = "", longs: str = "", times: str = "", **others: Any) -> Any:
    """A schema from space-separated column names."""
    fields = [(n, _TEXT) for n in texts.split()] + [(n, _LONG) for n in longs.split()]
    return pa.schema(fields + [(n, TIME) for n in times.split()] + list(others.items()))


SHAPES: dict[str, Any] = {
    "silver/datasets": _shape(
        "namespace name kind layer owner domain",
        "id merged_into",
        "first_seen last_seen last_written last_read dropped_at",
        symlinks=pa.list_(_SYMLINK),
        tags=pa.list_(_TEXT),
    ),
    "gold/columns": _shape(
        "kind namespace name field type",
        "id dataset_id",
        "first_seen last_seen removed_at",
        ordinal=pa.int32(),
        tags=pa.list_(_TEXT),
    ),
    "gold/jobs": _shape(
        "namespace name integration owner last_run last_state last_error",
        "id runs",
        "first_seen last_started last_ended last_success last_failure changed_at",
    ),
    "gold/edges": _shape(
        "type subtype description first_run last_run",
        "source_id target_id job_id runs",
        "first_seen last_seen retired_at",
        masking=pa.bool_(),
    ),
    "gold/reads": _shape("use kind last_run", "column_id job_id reads", "first_read last_read"),
    "gold/coverage": _shape("kind run_id detail", "job_id dataset_id", "first_seen last_seen resolved_at"),
}


def has_table(lake: Path, name: str) -> bool:
    """Whether the lake holds that Delta table."""
    return (lake / name / "_delta_log").is_dir()


def read(lake: Path, name: str, columns: Sequence[str] | None = None) -> tuple[Any, int]:
    """A table in the shape written above, and its Delta version; a table that is not there is empty, version -1."""
    shape = SHAPES[name]
    if columns is not None:
        shape = pa.schema([shape.field(column) for column in columns])
    if not has_table(lake, name):
        return shape.empty_table(), -1
    table, version = _open(lake / name)
    return pa.table([_column(table, field) for field in shape], schema=shape), version


def scan(lake: Path, name: str, *, columns: Sequence[str], filters: Any = None) -> Any:
    """Chosen columns of a table whose shape is not ours to fix; rows by a pyarrow filter expression."""
    if not has_table(lake, name):
        return None
    from deltalake import DeltaTable

    dataset = DeltaTable(str(lake / name)).to_pyarrow_dataset()
    present = [column for column in columns if column in dataset.schema.names]
    return dataset.to_table(columns=present, filter=filters)


def versions(lake: Path) -> dict[str, int]:
    """The newest Delta version of each table that answers are made of."""
    from deltalake import DeltaTable

    return {name: DeltaTable(str(lake / name)).version() for name in SHAPES if has_table(lake, name)}


def _open(path: Path) -> tuple[Any, int]:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(str(path))
        return table.to_pyarrow_table(), table.version()
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise LakeError(f"cannot read {path}: {error}", hint="is the lake complete and readable?") from error


def _column(table: Any, field: Any) -> Any:
    """A column in its documented type; one that an older writer did not know is all null."""
    if field.name not in table.schema.names:
        return pa.nulls(table.num_rows, field.type)
    column = table.column(field.name)
    if field.name == "symlinks":  # a writer may tell more of a symlink than we need
        keep = [inner.name for inner in field.type.value_type]
        links = ([{k: link.get(k) for k in keep} for link in found or ()] for found in column.to_pylist())
        return pa.array(links, field.type)
    return column.cast(field.type)
