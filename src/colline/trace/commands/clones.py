"""Statements that copy a whole table: CLONE, deep or shallow, of a Delta, Parquet or Iceberg table."""

from __future__ import annotations

from colline.plan.node import Node
from colline.plan.source import Source
from colline.trace.columns import ColumnRef
from colline.trace.commands.inserts import create_table
from colline.trace.commands.target import schema_fields, write
from colline.trace.flow import column_flow
from colline.trace.result import DatasetRead, Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, table_source
from colline.trace.tracer import Trace


@command("CreateDeltaTableCommand")
def create_delta(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t shallow clone s` → t.a from s.a, identity; `create table t like s` → a table, from nothing"""
    clone = node.optional("query")
    if clone is None:
        return create_table(node, trace)
    lifecycle = Lifecycle.OVERWRITE if node.text("mode") == "Overwrite" else Lifecycle.CREATE
    return (_clone(clone, table_source(node.node("table")), trace, lifecycle),)


def _clone(node: Node, target: Source, trace: Trace, lifecycle: Lifecycle) -> Write:
    copied = node.node("sourceTable")
    table = copied.optional("catalog_table")
    found = (
        table_source(table) if table is not None else path_source(copied.text("path"), copied.text("format").lower())
    )
    name, schema = trace.context.name(found), schema_fields(copied)
    trace.add_input(DatasetRead(name, found, schema))
    columns = {field.name: column_flow(ColumnRef(name, field.name)) for field in schema}
    return write(target, columns, trace, schema=schema, lifecycle=lifecycle)
