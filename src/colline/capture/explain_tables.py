"""Creates the empty tables that later statements of an explained script need: results of CTAS, targets of INSERT."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Column = tuple[str, str]  # name and type
_CREATES_TABLE = {"CreateTable", "CreateTableAsSelect", "ReplaceTable", "ReplaceTableAsSelect"}


def create_result_table(parsed: Any, spark: SparkSession) -> None:
    """Create the table of a `create table … as select`, without rows, in place of an earlier one."""
    name = quote_name(_parts(parsed.name().nameParts()))
    spark.sql(f"drop table if exists {name}")
    spark.sql(f"create table {name} ({_column_list(_columns(parsed.query(), spark))})")


def create_insert_target(parsed: Any, spark: SparkSession) -> None:
    """Create the target of an INSERT from the columns of its query, unless it exists.

    `insert into t partition (day = '1') select a, b from s` → `create table t (a …, b …, day string)`
    """
    found = _find_insert(parsed, spark)
    if found is None:
        return
    insert, query = found
    if _kind(insert.table()) != "UnresolvedRelation":
        return
    parts = _parts(insert.table().multipartIdentifier())
    if spark.catalog.tableExists(quote_name(parts)):
        return
    columns = _columns(query, spark)
    partitions = _partitions(insert)
    dynamic = [name for name, value in partitions if value is None]
    names = _parts(insert.userSpecifiedCols()) or [name for name, _ in columns]
    if dynamic:
        names[-len(dynamic) :] = dynamic
    columns = [(name, kind) for name, (_, kind) in zip(names, columns, strict=False)]
    columns += [(name, "string") for name, value in partitions if value is not None]
    create_schema(parts, spark)
    by = f" partitioned by ({', '.join(quote_name([name]) for name, _ in partitions)})" if partitions else ""
    spark.sql(f"create table {quote_name(parts)} ({_column_list(columns)}){by}")


def create_schema(parts: Sequence[str], spark: SparkSession) -> None:
    """Create the schema of a table name that has one."""
    if len(parts) == 2:
        spark.sql(f"create schema if not exists {quote_name(parts[:1])}")


def defined_name(parsed: Any) -> list[str]:
    """The parts of the name of the table that a statement creates; empty for another statement."""
    if _kind(parsed) not in _CREATES_TABLE or _kind(parsed.name()) != "UnresolvedIdentifier":
        return []
    return _parts(parsed.name().nameParts())


def quote_name(parts: Sequence[str]) -> str:
    """`a`.`b`, with backticks inside a part doubled."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def _find_insert(parsed: Any, spark: SparkSession) -> tuple[Any, Any] | None:
    """An INSERT and its query; of `with … insert`, the query with its common table expressions."""
    kind = _kind(parsed)
    if kind == "InsertIntoStatement":
        return parsed, parsed.query()
    if kind == "UnresolvedWith" and _kind(parsed.child()) == "InsertIntoStatement":
        insert = parsed.child()
        children = spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq([insert.query()])
        return insert, parsed.withNewChildren(children)
    return None


def _columns(query: Any, spark: SparkSession) -> list[Column]:
    """The columns of a parsed query. A column of NULLs is text."""
    from pyspark.sql.types import StructType

    skip = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    analyzed = spark._jsparkSession.sessionState().executePlan(query, skip).analyzed()
    fields = StructType.fromJson(json.loads(analyzed.schema().json())).fields
    kinds = [field.dataType.simpleString() for field in fields]
    return [(field.name, "string" if kind == "void" else kind) for field, kind in zip(fields, kinds, strict=True)]


def _partitions(insert: Any) -> list[tuple[str, str | None]]:
    """The partition columns that an INSERT names; None as value of a dynamic one."""
    specs = insert.partitionSpec().toSeq()
    pairs = [specs.apply(number) for number in range(specs.size())]
    return [(pair._1(), pair._2().get() if pair._2().isDefined() else None) for pair in pairs]


def _column_list(columns: Sequence[Column]) -> str:
    """The columns as DDL; a second column of the same name gets a number, because a table refuses it."""
    seen: dict[str, int] = {}
    parts = []
    for name, kind in columns:
        count = seen[name.lower()] = seen.get(name.lower(), 0) + 1
        parts.append(f"{quote_name([name if count == 1 else f'{name}_{count}'])} {kind}")
    return ", ".join(parts)


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _parts(names: Any) -> list[str]:
    return [names.apply(number) for number in range(names.size())]
