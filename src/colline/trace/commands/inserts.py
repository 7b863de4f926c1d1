"""Statements that write the rows of a query: CTAS, RTAS, INSERT, and every form of `df.write`."""

from __future__ import annotations

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import Effect
from colline.trace.commands.target import (
    add_generated_columns,
    map_by_position,
    output_names,
    schema_fields,
    target_source,
    type_text,
    write,
    write_rows,
    written_schema,
)
from colline.trace.flow import NO_DEPENDENCIES
from colline.trace.result import Lifecycle, SchemaField, Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, provider_name, source_of, table_source
from colline.trace.tracer import Trace


def _overwrite_lifecycle(node: Node) -> Lifecycle | None:
    return Lifecycle.OVERWRITE if node.text("mode").lower() == "overwrite" or node.get("overwrite") is True else None


@command(
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "OptimizedCreateHiveTableAsSelectCommand",
    "SaveAsV1TableCommand",
)
def create_as_select(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t as select a from s` → t.a from s.a"""
    table = node.optional("table") or node.node("tableDesc")
    lifecycle = _overwrite_lifecycle(node) or (None if node.text("mode") == "Append" else Lifecycle.CREATE)
    return (write_rows(table_source(table), node.strings("outputColumnNames"), node, trace, lifecycle),)


@command("CreateTableAsSelect", "ReplaceTableAsSelect")
def create_in_catalog(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create or replace table t using delta as select a from s` → t.a from s.a"""
    lifecycle = Lifecycle.CREATE if node.kind == "CreateTableAsSelect" else Lifecycle.OVERWRITE
    specification = node.optional("tableSpec")
    target = target_source(node.node("name"))
    if specification is not None:
        location = specification.text("location")
        target = Source(
            target.kind, specification.text("provider"), (location,) if location else target.paths, target.table
        )
    return (write_rows(target, (), node, trace, lifecycle),)


@command("InsertIntoHadoopFsRelationCommand")
def insert_files(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.write.parquet(path)`, `insert into t select …` over a file table"""
    table = node.optional("catalogTable")
    provider = provider_name(node.text("fileFormat"))
    target = table_source(table) if table is not None else path_source(node.text("outputPath"), provider)
    return (write_rows(target, node.strings("outputColumnNames"), node, trace, _overwrite_lifecycle(node)),)


@command("InsertIntoHiveTable")
def insert_hive(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select …` over a Hive table"""
    names = node.strings("outputColumnNames")
    return (write_rows(table_source(node.node("table")), names, node, trace, _overwrite_lifecycle(node)),)


@command("InsertIntoDataSourceCommand")
def insert_relation(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select …` where t is a JDBC table or another relation that takes rows"""
    target = node.node("logicalRelation")
    names = tuple(a.text("name") for a in target.nodes("output"))
    return (write_rows(source_of(target), names, node, trace, _overwrite_lifecycle(node)),)


@command("SaveIntoDataSourceCommand")
def save(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.write.format("jdbc").save()`, `df.write.format("delta").save(path)`"""
    options = node.pairs("options")
    return (write_rows(_saved_source(node.text("dataSource"), options), (), node, trace, _overwrite_lifecycle(node)),)


def _saved_source(provider: str, options: tuple[tuple[str, str], ...]) -> Source:
    keys = {key.lower(): value for key, value in options}
    if "url" in keys and ("dbtable" in keys or "Jdbc" in provider):
        return Source(SourceKind.JDBC, "jdbc", options=options)
    if "topic" in keys or "kafka.bootstrap.servers" in keys:
        return Source(SourceKind.KAFKA, "kafka", options=options)
    if "path" in keys:
        return path_source(keys["path"], "delta" if "Delta" in provider else provider.strip("<>"))
    return Source(SourceKind.OTHER, provider.strip("<>"), options=options)


@command("InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand")
def insert_directory(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert overwrite directory '/d' using parquet select …`"""
    storage = node.node("storage")
    target = path_source(storage.text("location"), node.text("provider"))
    return (write_rows(target, (), node, trace, _overwrite_lifecycle(node)),)


def is_noop_write(node: Node) -> bool:
    """`df.write.format("noop").save()`: the rows are made and thrown away, so nothing is written"""
    table = node.optional("table")
    describe_dependencies = table.optional("table") if table is not None else None
    return describe_dependencies is not None and describe_dependencies.text("class").endswith(".noop.NoopTable$")


@command("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "DeltaDynamicPartitionOverwriteCommand")
def insert_catalog(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select …`, `df.writeTo(t).append()`; REPLACE WHERE reads the target to find what goes"""
    table, query = node.node("table"), node.node("query")
    if is_noop_write(node):
        return ()
    names = output_names(query) if node.get("isByName") else tuple(a.text("name") for a in table.nodes("output"))
    lifecycle = None if node.kind == "AppendData" else Lifecycle.OVERWRITE
    condition = node.optional("deleteExpr")
    replaced = condition is not None and condition.kind != "Literal"
    relation = trace(query)
    columns = add_generated_columns(map_by_position(relation, names), table)
    schema = written_schema(node, names)
    if not replaced or condition is None:
        return (
            write(
                target_source(table), columns, trace, rows=relation.row_dependencies, schema=schema, lifecycle=lifecycle
            ),
        )
    kept = trace.scope(trace(table)).dependencies([condition], Effect.FILTER)
    return (write(target_source(table), columns, trace, rows={**relation.row_dependencies, **kept}, schema=schema),)


@command("CreateViewCommand")
def create_view(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create view v as select a from t` → v.a from t.a; a temporary view is a name, not a dataset"""
    if "Temp" in node.text("viewType"):
        return ()
    given = node.get("userSpecifiedColumns")
    names = tuple(str(item[0]) for item in given if isinstance(item, tuple)) if isinstance(given, tuple) else ()
    target = Source(SourceKind.VIEW, table=node.node("name").strings("identifier"))
    return (write_rows(target, names, node, trace, Lifecycle.OVERWRITE if node.get("replace") else Lifecycle.CREATE),)


@command("AlterViewAsCommand")
def alter_view(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter view v as select a from t` → v.a from t.a"""
    target = Source(SourceKind.VIEW, table=node.node("name").strings("identifier"))
    return (write_rows(target, (), node, trace, Lifecycle.OVERWRITE),)


@command("CreateDataSourceTableCommand", "CreateTableCommand")
def create_table(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t (a int)` → a dataset that exists, from nothing"""
    table = node.node("table")
    return (
        write(
            table_source(table),
            {},
            trace,
            rows=NO_DEPENDENCIES,
            schema=schema_fields(table),
            lifecycle=Lifecycle.CREATE,
        ),
    )


@command("CreateTable", "ReplaceTable")
def create_table_in_catalog(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t (a int) using delta` → a dataset that exists, from nothing"""
    lifecycle = Lifecycle.CREATE if node.kind == "CreateTable" else Lifecycle.OVERWRITE
    defined = tuple(SchemaField(each.text("name"), type_text(each)) for each in node.nodes("columns"))
    schema = defined or schema_fields(node, "tableSchema")
    return (write(target_source(node.node("name")), {}, trace, schema=schema, lifecycle=lifecycle),)
