"""Statements that write the rows of a query: CTAS, RTAS, INSERT, CREATE VIEW, and every form of `df.write`."""

from __future__ import annotations

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import Effect
from colline.trace.commands.target import (
    add_generated_columns,
    build_write,
    column_type,
    declared_schema,
    kafka_target,
    map_by_position,
    match_names,
    output_names,
    target_source,
    write_query,
    written_schema,
)
from colline.trace.flow import merge
from colline.trace.opaque_flow import opaque_relation
from colline.trace.operators.scans import ROUND_TRIP, rdd_job
from colline.trace.result import Lifecycle, OpaqueStep, SchemaField, Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, provider_name, source_of, table_source
from colline.trace.tracer import Trace


def _overwrite_lifecycle(node: Node) -> Lifecycle | None:
    is_overwrite = node.text("mode").lower() == "overwrite" or node.get("overwrite") is True
    return Lifecycle.OVERWRITE if is_overwrite else None


@command(
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "SaveAsV1TableCommand",
)
def create_as_select(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t as select a from s` → t.a from s.a."""
    table = node.optional("table") or node.node("tableDesc")
    lifecycle = _overwrite_lifecycle(node) or (None if node.text("mode") == "Append" else Lifecycle.CREATE)
    return (write_query(table_source(table), node.strings("outputColumnNames"), node, trace, lifecycle=lifecycle),)


@command("CreateTableAsSelect", "ReplaceTableAsSelect")
def create_as_select_v2(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create or replace table t using delta as select a from s` → t.a from s.a."""
    lifecycle = Lifecycle.CREATE if node.kind == "CreateTableAsSelect" else Lifecycle.OVERWRITE
    return (write_query(_new_table(node), (), node, trace, lifecycle=lifecycle),)


def _new_table(node: Node) -> Source:
    """The table that a statement creates, at its default location or at that of its LOCATION clause."""
    target, specification = target_source(node.node("name")), node.optional("tableSpec")
    if specification is None:
        return target
    location = specification.text("location")
    return Source(target.kind, specification.text("provider"), (location,) if location else target.paths, target.table)


@command("InsertIntoHadoopFsRelationCommand")
def insert_into_files(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.write.parquet("/d")` → /d.a from df.a; `insert into t select …` if t is a file table."""
    table = node.optional("catalogTable")
    provider = provider_name(node.text("fileFormat"))
    target = table_source(table) if table is not None else path_source(node.text("outputPath"), provider)
    return (write_query(target, node.strings("outputColumnNames"), node, trace, lifecycle=_overwrite_lifecycle(node)),)


@command("InsertIntoHiveTable")
def insert_into_hive(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select a from s` for a Hive table t → t.a from s.a."""
    names = node.strings("outputColumnNames")
    return (write_query(table_source(node.node("table")), names, node, trace, lifecycle=_overwrite_lifecycle(node)),)


@command("InsertIntoDataSourceCommand")
def insert_into_relation(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select a from s` for a JDBC table t, or another DataSource V1 relation → t.a from s.a."""
    target = node.node("logicalRelation")
    names = tuple(a.text("name") for a in target.nodes("output"))
    return (write_query(source_of(target), names, node, trace, lifecycle=_overwrite_lifecycle(node)),)


@command("SaveIntoDataSourceCommand")
def save(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.write.format("delta").save("/d")` → /d.a from df.a; the same for JDBC, Kafka and other formats."""
    target = _save_target(node)
    return (write_query(target, (), node, trace, lifecycle=_overwrite_lifecycle(node)),)


def _save_target(node: Node) -> Source:
    provider, options = node.text("dataSource"), node.pairs("options")
    values = {key.lower(): value for key, value in options}
    if "url" in values and ("dbtable" in values or "Jdbc" in provider):
        return Source(SourceKind.JDBC, "jdbc", options=options)
    if "topic" in values or "kafka.bootstrap.servers" in values:
        return kafka_target(options, node)
    if "path" in values:
        return path_source(values["path"], "delta" if "Delta" in provider else provider.strip("<>"))
    return Source(SourceKind.OTHER, provider.strip("<>"), options=options)


@command("RddWrite")
def write_rdd(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.rdd.map(f).saveAsTextFile("/d")` → /d.value from every column of df."""
    trace.add_opaque_step(OpaqueStep(node.kind, "rdd", ROUND_TRIP))
    relation = opaque_relation(("value",), [rdd_job(node, trace)], "rdd", node.kind)
    columns, schema = {"value": relation.flow(0)}, (SchemaField("value", "string"),)
    rows = relation.row_dependencies
    target = path_source(node.text("target"), "text")
    return (build_write(target, columns, trace, row_dependencies=rows, schema=schema),)


@command("InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand")
def insert_overwrite_directory(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert overwrite directory '/d' using parquet select a from s` → /d.a from s.a."""
    target = path_source(node.node("storage").text("location"), node.text("provider"))
    return (write_query(target, (), node, trace, lifecycle=_overwrite_lifecycle(node)),)


def is_noop_write(node: Node) -> bool:
    """Whether this is `df.write.format("noop").save()`, which computes all rows and writes nothing."""
    table = node.optional("table")
    definition = table.optional("table") if table is not None else None
    return definition is not None and definition.text("class").endswith(".noop.NoopTable$")


@command("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "DeltaDynamicPartitionOverwriteCommand")
def insert_v2(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`insert into t select a from s`, `df.writeTo("t").append()` → t.a from s.a.

    `insert into t replace where k > 0 select …` → t.k decides the rows as well.
    """
    if is_noop_write(node):
        return ()
    table, query = node.node("table"), node.node("query")
    names = tuple(a.text("name") for a in table.nodes("output"))
    if node.get("isByName"):
        names = match_names(output_names(query), names)
    lifecycle = None if node.kind == "AppendData" else Lifecycle.OVERWRITE
    relation = trace(query)
    columns = add_generated_columns(map_by_position(relation, names), table.optional("table"))
    rows = relation.row_dependencies
    replaced = node.optional("deleteExpr")
    if replaced is not None and replaced.kind != "Literal":
        rows = merge((rows, trace.scope(trace(table)).dependencies([replaced], Effect.FILTER)))
        lifecycle = None
    schema = written_schema(node, names)
    return (
        build_write(target_source(table), columns, trace, row_dependencies=rows, schema=schema, lifecycle=lifecycle),
    )


@command("CreateViewCommand")
def create_view(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create view v as select a from t` → v.a from t.a; a temporary view is not a dataset."""
    if "Temp" in node.text("viewType"):
        return ()
    given = node.get("userSpecifiedColumns")
    names = tuple(str(item[0]) for item in given if isinstance(item, tuple)) if isinstance(given, tuple) else ()
    lifecycle = Lifecycle.OVERWRITE if node.get("replace") else Lifecycle.CREATE
    return (write_query(_view_source(node), names, node, trace, lifecycle=lifecycle),)


@command("AlterViewAsCommand")
def alter_view(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`alter view v as select a from t` → v.a from t.a."""
    return (write_query(_view_source(node), (), node, trace, lifecycle=Lifecycle.OVERWRITE),)


def _view_source(node: Node) -> Source:
    return Source(SourceKind.VIEW, table=node.node("name").strings("identifier"))


@command("CreateDataSourceTableCommand", "CreateTableCommand")
def create_table(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t (a int)` → t with lifecycle CREATE, no input."""
    table = node.node("table")
    schema = declared_schema(table)
    return (build_write(table_source(table), {}, trace, schema=schema, lifecycle=Lifecycle.CREATE),)


@command("CreateTable", "ReplaceTable")
def create_table_v2(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`create table t (a int) using delta` → t with lifecycle CREATE, no input."""
    lifecycle = Lifecycle.CREATE if node.kind == "CreateTable" else Lifecycle.OVERWRITE
    columns = tuple(SchemaField(each.text("name"), column_type(each)) for each in node.nodes("columns"))
    schema = columns or declared_schema(node, "tableSchema")
    return (build_write(_new_table(node), {}, trace, schema=schema, lifecycle=lifecycle),)
