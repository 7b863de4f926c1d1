"""Statements that change a table without a query: RENAME, DROP, TRUNCATE, ALTER."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import ColumnRef
from colline.trace.commands.target import build_write, target_source
from colline.trace.flow import column_flow
from colline.trace.result import DatasetRead, Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Trace, schema_of


def _identifier_source(node: Node, argument: str) -> Source:
    """The source of a target given as an identifier, with its location if the catalog has one."""
    identifier = node.node(argument)
    location = identifier.text("location")
    return Source(SourceKind.TABLE, paths=(location,) if location else (), table=identifier.strings("identifier"))


@command("AlterTableRenameCommand", "RenameTable")
def rename_table(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table a rename to b` → b, whose previous name is a."""
    is_v1 = node.kind == "AlterTableRenameCommand"
    old = _identifier_source(node, "oldName") if is_v1 else target_source(node.children[0])
    new_name = node.optional("newName")
    parts = new_name.strings("identifier") if new_name is not None else node.strings("newName")
    table = (*old.table[: len(old.table) - len(parts)], *parts)
    location = new_name.text("location") if new_name is not None else ""
    new = Source(SourceKind.TABLE, old.provider, (location,) if location else (), table)
    write = build_write(new, {}, trace, lifecycle=Lifecycle.RENAME)
    return (replace(write, previous=trace.context.name(old)),)


@command("RenameColumn")
def rename_column(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table t rename column a to b` → t.b from t.a."""
    table = node.node("table")
    target = target_source(table)
    name = trace.context.name(target)
    path = (*node.node("column").strings("path"), node.node("column").text("field"))
    column = ColumnRef(name, ".".join(part for part in path if part))
    schema = schema_of(table.nodes("outputAttributes"))
    trace.add_input(DatasetRead(name, target, schema))
    parent = column.field.rpartition(".")[0]
    new = f"{parent}.{node.text('newName')}" if parent else node.text("newName")
    return (build_write(target, {new: column_flow(column)}, trace, schema=schema, lifecycle=Lifecycle.ALTER),)


@command("DropTable", "DropTableCommand", "DropView")
def drop(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`drop table t` → t with lifecycle DROP, no input."""
    is_v1 = node.kind == "DropTableCommand"
    target = _identifier_source(node, "tableName") if is_v1 else target_source(node.children[0])
    if node.get("isView") or node.kind == "DropView":
        target = Source(SourceKind.VIEW, table=target.table)
    return (build_write(target, {}, trace, lifecycle=Lifecycle.DROP),)


@command("TruncateTableCommand", "TruncateTable")
def truncate(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`truncate table t` → t with lifecycle TRUNCATE, no input."""
    is_v1 = node.kind == "TruncateTableCommand"
    target = _identifier_source(node, "tableName") if is_v1 else target_source(node.children[0])
    return (build_write(target, {}, trace, lifecycle=Lifecycle.TRUNCATE),)


@command("AddColumns", "DropColumns", "ReplaceColumns", "AlterColumn", "AlterColumns", "AlterTableAddColumnsCommand")
def alter(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table t add column a int` → t with lifecycle ALTER, no input."""
    table = node.children[0] if node.children else None
    target = target_source(table) if table is not None else _identifier_source(node, "table")
    return (build_write(target, {}, trace, lifecycle=Lifecycle.ALTER),)
