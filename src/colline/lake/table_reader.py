"""The lake's tables as Arrow, read by delta-rs without a JVM. The types are those of `lake.tables`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa

from colline.errors import LakeError
from colline.lake.lake_folders import has_table
from colline.lake.tables import Table, fields_of, split_columns

TIME = pa.timestamp("us", tz="UTC")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PRIMITIVES = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "timestamp": TIME,
    "date": pa.date32(),
    "binary": pa.binary(),
}


def read_table(lake: Path, table: Table) -> tuple[Any, int]:
    """A stored table and its Delta version; a table that does not exist is empty, version -1."""
    schema = arrow_schema(table)
    if not has_table(lake, table):
        return schema.empty_table(), -1
    rows, version = _open(lake / table.path)
    return pa.table([_column(rows, field) for field in schema], schema=schema), version


def read_rows(
    lake: Path,
    table: Table,
    columns: Sequence[str],
    *,
    where: Sequence[str] = (),
    order_by: str = "",
    page: tuple[int, int | None] = (0, None),
) -> list[dict[str, Any]]:
    """Rows of a table as Python values; the table may not exist, or may be older than some of the columns.

    `where` has SQL conditions, `page` the offset and the number of rows (None: all). The query engine of delta-rs
    needs no `pyarrow.dataset`, which would import pandas.
    """
    delta = _open_delta(lake, table)
    if delta is None:
        return []
    present = {field.name for field in delta.schema().fields}
    names = [column for column in columns if column in present]
    listed = ", ".join(f'"{name}"' for name in names)
    offset, count = page
    limit = f" offset {offset:d}" if count is None else f" limit {count:d} offset {offset:d}"
    order = f" order by {order_by}" if order_by else ""
    return _rows(_query(delta, f"select {listed} from t{_condition(where)}{order}{limit}"))  # noqa: S608 - own columns


def count_rows(lake: Path, table: Table, where: Sequence[str] = ()) -> int:
    """The number of rows that fulfil all conditions (SQL); 0 without the table."""
    delta = _open_delta(lake, table)
    if delta is None:
        return 0
    return int(_query(delta, f"select count(*) as n from t{_condition(where)}").column(0)[0].as_py())  # noqa: S608


def has_column(lake: Path, table: Table, name: str) -> bool:
    """Whether the stored table exists and has this column."""
    delta = _open_delta(lake, table)
    return delta is not None and name in {field.name for field in delta.schema().fields}


def sql_text(value: str) -> str:
    """`it's` → `'it''s'`"""
    return "'" + value.replace("'", "''") + "'"


def sql_time(micros: int) -> str:
    """A time in microseconds since 1970, as SQL."""
    return f"arrow_cast({int(micros)}, 'Timestamp(Microsecond, Some(\"UTC\"))')"


def _open_delta(lake: Path, table: Table) -> Any:
    if not has_table(lake, table):
        return None
    from deltalake import DeltaTable

    with _report_unreadable(lake / table.path):
        return DeltaTable(str(lake / table.path))


def _condition(where: Sequence[str]) -> str:
    return f" where {' and '.join(where)}" if where else ""


def _query(delta: Any, sql: str) -> Any:
    from deltalake import QueryBuilder

    with _report_unreadable(delta.table_uri):
        return pa.RecordBatchReader.from_stream(QueryBuilder().register("t", delta).execute(sql)).read_all()


def _rows(found: Any) -> list[dict[str, Any]]:
    columns = [_values(found.column(name)) for name in found.column_names]
    return [dict(zip(found.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    """The values of a column; Arrow would import pandas to convert times."""
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    micros = column.cast(TIME).cast(pa.int64()).to_pylist()
    return [None if each is None else EPOCH + timedelta(microseconds=each) for each in micros]


def arrow_schema(table: Table) -> Any:
    """The Arrow schema of a table."""
    return pa.schema([(name, arrow_type(spark_type)) for name, spark_type in fields_of(table).items()])


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
    from pyarrow import fs

    # The file system of delta-rs calls Python from Arrow's threads, which aborts a process that ends meanwhile.
    folder = fs.SubTreeFileSystem(str(path), fs.LocalFileSystem())
    with _report_unreadable(path):
        table = DeltaTable(str(path))
        return table.to_pyarrow_table(filesystem=folder), table.version()


@contextmanager
def _report_unreadable(path: Path | str) -> Iterator[None]:
    """Turns the errors of missing and damaged files into errors of the lake."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        place = str(path).removeprefix("file://")
        reason = " ".join(str(error).split())
        hint = "check that the lake is complete and readable"
        raise LakeError(f"cannot read {place}: {reason}", hint=hint) from error


def _column(rows: Any, field: Any) -> Any:
    """A column in its declared type; null where the table was written without it."""
    if field.name not in rows.schema.names:
        return pa.nulls(rows.num_rows, field.type)
    column = rows.column(field.name)
    return column.cast(field.type)
