"""CLONE, deep or shallow: a copy of a whole Delta, Parquet or Iceberg table."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import ColumnRef
from colline.trace.commands.inserts import create_table
from colline.trace.commands.target import build_write, declared_schema
from colline.trace.flow import column_flow
from colline.trace.result import DatasetRead, Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, table_source
from colline.trace.tracer import Trace


@command("CreateDeltaTableCommand")
def create_delta(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t shallow clone s` → t.a from s.a; `create table t like s` → no input."""
    clone = node.optional("query")
    if clone is None:
        return create_table(node, trace)
    original = clone.node("sourceTable")
    table = original.optional("catalog_table")
    if table is not None:
        source = table_source(table)
    else:
        source = path_source(original.text("path"), original.text("format").lower())
    name, schema = trace.context.name(source), declared_schema(original)
    trace.add_input(DatasetRead(name, source, schema))
    columns = {field.name: column_flow(ColumnRef(name, field.name)) for field in schema}
    lifecycle = Lifecycle.OVERWRITE if node.text("mode") == "Overwrite" else Lifecycle.CREATE
    return (build_write(table_source(node.node("table")), columns, trace, schema=schema, lifecycle=lifecycle),)
