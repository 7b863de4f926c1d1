"""Statements that change what a dataset is called or whether it is there: RENAME, DROP, TRUNCATE, ALTER."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import ColumnRef
from colline.trace.commands.target import target_source, write
from colline.trace.flow import column_flow
from colline.trace.result import DatasetRead, Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Trace, schema_of


def _identifier_source(node: Node, name: str) -> Source:
    """A target given as an identifier, with its location where the catalog told it."""
    found = node.node(name)
    location = found.text("location")
    return Source(SourceKind.TABLE, paths=(location,) if location else (), table=found.strings("identifier"))


@command("AlterTableRenameCommand", "RenameTable")
def rename_table(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table a rename to b` → b, formerly a"""
    old = (
        _identifier_source(node, "oldName")
        if node.kind == "AlterTableRenameCommand"
        else target_source(node.children[0])
    )
    given = node.optional("newName")
    parts = given.strings("identifier") if given is not None else node.strings("newName")
    full = (*old.table[: len(old.table) - len(parts)], *parts)
    location = given.text("location") if given is not None else ""
    new = Source(SourceKind.TABLE, old.provider, (location,) if location else (), full)
    return (replace(write(new, {}, trace, lifecycle=Lifecycle.RENAME), previous=trace.context.name(old)),)


@command("RenameColumn")
def rename_column(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table t rename column a to b` → t.b from t.a, identity"""
    table = node.node("table")
    target = target_source(table)
    name = trace.context.name(target)
    old = (*node.node("column").strings("path"), node.node("column").text("field"))
    column = ColumnRef(name, ".".join(part for part in old if part))
    schema = schema_of(table.nodes("outputAttributes"))
    trace.add_input(DatasetRead(name, target, schema))
    parent = column.field.rpartition(".")[0]
    new = f"{parent}.{node.text('newName')}" if parent else node.text("newName")
    return (write(target, {new: column_flow(column)}, trace, schema=schema, lifecycle=Lifecycle.ALTER),)


@command("DropTable", "DropTableCommand", "DropView")
def drop(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`drop table t` → t is gone"""
    target = (
        _identifier_source(node, "tableName") if node.kind == "DropTableCommand" else target_source(node.children[0])
    )
    if node.get("isView") or node.kind == "DropView":
        target = Source(SourceKind.VIEW, table=target.table)
    return (write(target, {}, trace, lifecycle=Lifecycle.DROP),)


@command("TruncateTableCommand", "TruncateTable")
def truncate(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`truncate table t` → t has no rows"""
    target = (
        _identifier_source(node, "tableName")
        if node.kind == "TruncateTableCommand"
        else target_source(node.children[0])
    )
    return (write(target, {}, trace, lifecycle=Lifecycle.TRUNCATE),)


@command("AddColumns", "DropColumns", "ReplaceColumns", "AlterColumn", "AlterColumns", "AlterTableAddColumnsCommand")
def alter(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table t add column a int` → t has another schema"""
    table = node.children[0] if node.children else None
    target = target_source(table) if table is not None else _identifier_source(node, "table")
    return (write(target, {}, trace, lifecycle=Lifecycle.ALTER),)
