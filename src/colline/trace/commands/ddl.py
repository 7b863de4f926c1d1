"""Statements that change a table without a query: RENAME, DROP, TRUNCATE, ALTER."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import ColumnRef
from colline.trace.commands.target import build_write, declared_schema, target_source
from colline.trace.flow import column_flow
from colline.trace.result import DatasetRead, Lifecycle, SchemaField, Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, source_of
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
    new = (
        _renamed_in_catalog(node, old)
        if is_v1
        else replace(old, table=_rename_identifier(old.table, node.strings("newName")))
    )
    if is_v1 and (unmoved := _unmoved_location(node)):
        old, new = replace(old, paths=(unmoved,)), replace(new, paths=(unmoved,))
    write = build_write(new, {}, trace, lifecycle=Lifecycle.RENAME)
    return (replace(write, previous=trace.context.name(old)),)


def _renamed_in_catalog(node: Node, old: Source) -> Source:
    """A managed table of the session catalog moves to the folder of its new name."""
    new = _identifier_source(node, "newName")
    return Source(SourceKind.TABLE, old.provider, new.paths, _rename_identifier(old.table, new.table))


def _rename_identifier(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """`catalog.db.a`, renamed to `b` → `catalog.db.b`."""
    return (*old[: len(old) - len(new)], *new)


def _unmoved_location(node: Node) -> str:
    """The location of an external table, under its old or its new name: the plan may be read after the rename."""
    identifiers = (node.node("oldName"), node.node("newName"))
    return next((each.text("location") for each in identifiers if each.get("is_external")), "")


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


@command("RestoreTableCommand")
def restore(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`restore table t to version as of 1` → t.a from t.a: the rows are those of an earlier version."""
    target = source_of(node)
    name = trace.context.name(target)
    names = node.node("sourceTable").strings("columns")
    schema = tuple(SchemaField(column, "") for column in names)
    trace.add_input(DatasetRead(name, target, schema))
    columns = {column: column_flow(ColumnRef(name, column)) for column in names}
    return (build_write(target, columns, trace, schema=schema, lifecycle=Lifecycle.OVERWRITE),)


@command("CreateTableLikeCommand")
def create_table_like(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t like s` → t with lifecycle CREATE, no input."""
    schema = declared_schema(node.node("sourceTable"))
    target = _identifier_source(node, "targetTable")
    return (build_write(target, {}, trace, schema=schema, lifecycle=Lifecycle.CREATE),)


@command("LoadDataCommand")
def load_data(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`load data inpath '/d' into table t` → t.a from /d.a."""
    source = path_source(node.text("path"), "")
    name, schema = trace.context.name(source), declared_schema(node.node("table"))
    trace.add_input(DatasetRead(name, source, schema))
    columns = {field.name: column_flow(ColumnRef(name, field.name)) for field in schema}
    lifecycle = Lifecycle.OVERWRITE if node.get("isOverwrite") else None
    return (build_write(_identifier_source(node, "table"), columns, trace, schema=schema, lifecycle=lifecycle),)


@command("AddColumns", "DropColumns", "ReplaceColumns", "AlterColumn", "AlterColumns", "AlterTableAddColumnsCommand")
def alter(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter table t add column a int` → t with lifecycle ALTER, no input."""
    table = node.children[0] if node.children else None
    target = target_source(table) if table is not None else _identifier_source(node, "table")
    return (build_write(target, {}, trace, lifecycle=Lifecycle.ALTER),)
