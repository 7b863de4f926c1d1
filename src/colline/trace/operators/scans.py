"""Leaf operators: tables, files, streams, views, local data and RDDs."""

from __future__ import annotations

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import Effect
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead, OpaqueStep
from colline.trace.rule_registry import operator
from colline.trace.scan_source import source_of, table_source
from colline.trace.tracer import Trace, schema_of

LOCAL = Source(SourceKind.LOCAL)


@operator(
    "LogicalRelation",
    "DataSourceV2Relation",
    "HiveTableRelation",
    "StreamingRelation",
    "StreamingRelationV2",
    "StreamingDataSourceV2Relation",
    "StreamingDataSourceV2ScanRelation",
)
def scan(node: Node, trace: Trace) -> Relation:
    """`select a from t` → a from t.a."""
    described = node.node("relation") if node.kind == "StreamingDataSourceV2ScanRelation" else node
    return trace.scan(source_of(described), _attributes(node))


def _attributes(node: Node) -> tuple[Node, ...]:
    return node.nodes("output") or (*node.nodes("dataCols"), *node.nodes("partitionCols"))


@operator("View")
def view(node: Node, trace: Trace) -> Relation:
    """`select a from v` → a from the table that v reads; a permanent view is an input as well."""
    relation = trace(node.node("child"))
    definition = node.optional("desc")
    if definition is not None and not node.get("isTempView"):
        source = table_source(definition, kind=SourceKind.VIEW)
        trace.add_input(DatasetRead(trace.context.name(source), source, schema_of(node.nodes("output"))))
    return relation


@operator("LocalRelation", "OneRowRelation", "Range")
def local(node: Node, trace: Trace) -> Relation:
    """`values (1, 2)` → no input column; the inputs contain "local data"."""
    if node.kind != "OneRowRelation":
        trace.add_input(DatasetRead(trace.context.name(LOCAL), LOCAL))
    attributes = node.nodes("output")
    columns = {a.text("id"): Flow(text=a.text("name")) for a in attributes}
    return Relation(columns, tuple(columns))


@operator("LogicalRDD", "ExternalRDD")
def rdd(node: Node, trace: Trace) -> Relation:
    """`df.checkpoint()` → the columns of df; `sc.parallelize(…)` → local data; any other RDD is an opaque step."""
    attributes = node.nodes("output")
    origin = trace.context.memory.origin(node.strings("rdds"))
    if origin is not None and origin.is_copy and len(origin.relation.output) == len(attributes):
        return _checkpoint_columns(attributes, origin.relation)
    remembered = _columns_by_id(attributes, trace)
    if remembered is not None:
        return remembered
    if origin is not None:
        return _round_trip(node, origin.relation, trace)
    if set(node.strings("roots")) == {"ParallelCollectionRDD"}:
        return local(node, trace)
    trace.add_opaque_step(OpaqueStep(node.kind, "", "an RDD whose origin is not in the plan"))
    columns = {a.text("id"): Flow(text=a.text("name")) for a in attributes}
    return Relation(columns, tuple(columns))


def _checkpoint_columns(attributes: tuple[Node, ...], origin: Relation) -> Relation:
    """The columns of the checkpointed query, by position: a self-join gives the checkpoint new expression ids."""
    flows = (origin.columns[key] for key in origin.output)
    columns = {a.text("id"): flow for a, flow in zip(attributes, flows, strict=True)}
    return Relation(columns, tuple(columns), origin.row_dependencies)


def _columns_by_id(attributes: tuple[Node, ...], trace: Trace) -> Relation | None:
    """The columns of a checkpoint whose creation was not observed, by the expression ids it has kept.

    The row dependencies may be those of a later query with the same columns.
    """
    known = {a.text("id"): trace.context.memory.recall(a.text("id")) for a in attributes}
    found = {key: pair for key, pair in known.items() if pair is not None}
    # columns without inputs belong to an unknown RDD that was traced before, not to a checkpoint
    if len(found) != len(known) or not any(flow.dependencies for flow, _ in found.values()):
        return None
    return Relation({k: flow for k, (flow, _) in found.items()}, tuple(found), merge(r for _, r in found.values()))


def _round_trip(node: Node, origin: Relation, trace: Trace) -> Relation:
    """`spark.createDataFrame(df.rdd.map(f), schema)` → every column from every column of df."""
    why = "a round trip through an RDD runs a program over whole rows"
    trace.add_opaque_step(OpaqueStep(node.kind, "rdd", why))
    dependencies = apply_effect(origin.all_dependencies, Effect.TRANSFORMATION)
    flow = Flow(dependencies, text="rdd", description="rdd(…)")
    output = tuple(a.text("id") for a in node.nodes("output"))
    return Relation(dict.fromkeys(output, flow), output, origin.row_dependencies)
