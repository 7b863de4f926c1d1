"""Leaf operators: tables, files, streams, views, local data and RDDs."""

from __future__ import annotations

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.checkpoints import RddGraph, RddOrigin, transposed_key
from colline.trace.columns import ColumnRef
from colline.trace.commands.variables import variables_in_text
from colline.trace.flow import Flow, column_flow, merge
from colline.trace.opaque_flow import opaque_relation
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead, OpaqueStep, SchemaField
from colline.trace.rule_registry import operator
from colline.trace.scan_source import memory_sink_source, path_source, source_of, table_source
from colline.trace.tracer import Trace, schema_of

LOCAL = Source(SourceKind.LOCAL)
ROUND_TRIP = "a round trip through an RDD runs a program over whole rows"


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
    definition = node.optional("desc")
    if definition is not None and node.node("child").kind == "MemoryPlan":
        return trace.scan(memory_sink_source(definition.strings("identifier")[-1]), node.nodes("output"))
    relation = trace(node.node("child"))
    if definition is not None and not node.get("isTempView"):
        source = table_source(definition, kind=SourceKind.VIEW)
        trace.add_input(DatasetRead(trace.context.name(source), source, schema_of(node.nodes("output"))))
    return relation


@operator("MemoryPlan")
def memory_sink(node: Node, trace: Trace) -> Relation:
    """What a stream with the format `memory` has written. Only the view around it has its name, see `view`."""
    columns = {a.text("id"): Flow(text=a.text("name")) for a in node.nodes("output")}
    return Relation(columns, tuple(columns))


@operator("LocalRelation", "OneRowRelation", "Range")
def local_data(node: Node, trace: Trace) -> Relation:
    """`values (1, 2)` → no input column; the inputs contain "local data"."""
    # a stream without new data has an empty relation in its place
    if node.kind != "OneRowRelation" and node.get("isStreaming") is not True:
        trace.add_input(DatasetRead(trace.context.name(LOCAL), LOCAL))
    attributes = node.nodes("output")
    variables = variables_in_text(node.strings("names"), trace.context.memory)
    if variables is not None:
        trace.add_opaque_step(OpaqueStep(node.kind, "values", "Spark evaluates the variables in VALUES by itself"))
        return opaque_relation(tuple(a.text("id") for a in attributes), [variables], "values", node.kind)
    columns = {a.text("id"): Flow(text=a.text("name")) for a in attributes}
    return Relation(columns, tuple(columns))


@operator("LogicalRDD", "ExternalRDD")
def rdd(node: Node, trace: Trace) -> Relation:
    """`df.checkpoint()` → the columns of df; `sc.parallelize(…)` → local data; any other RDD is an opaque step."""
    attributes = node.nodes("output")
    origin = trace.context.memory.origin(_rdd_graph(node))
    if origin.relation is not None and origin.is_copy and len(origin.relation.output) == len(attributes):
        return _checkpoint_columns(attributes, origin.relation)
    if origin.relation is not None or origin.files:
        return _round_trip(node, origin, trace)
    remembered = _columns_by_id(attributes, trace)
    if remembered is not None:
        return remembered
    if set(node.strings("roots")) <= {"ParallelCollectionRDD", "EmptyRDD"}:
        return local_data(node, trace)
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


@operator("Transpose")
def transpose(node: Node, trace: Trace) -> Relation:
    """`df.transpose()` → every column from every column of df; the plan has the rows of df as data."""
    output = tuple(a.text("id") for a in node.nodes("output"))
    origin = trace.context.memory.origin(RddGraph(transposed_key(output[0] if output else ""), {}, {}))
    why = "the columns of a transposed table are its rows"
    trace.add_opaque_step(OpaqueStep(node.kind, "transpose", why))
    inputs = [origin.relation] if origin.relation is not None else []
    return opaque_relation(output, inputs, "transpose", node.kind)


def _rdd_graph(node: Node) -> RddGraph:
    rdds, parents = node.strings("rdds"), node.get("parents")
    lists = parents if isinstance(parents, tuple) else ()
    ids = [tuple(str(each) for each in item) if isinstance(item, tuple) else () for item in lists]
    return RddGraph(rdds[0] if rdds else "", dict(zip(rdds, ids, strict=False)), dict(node.pairs("files")))


def _round_trip(node: Node, origin: RddOrigin, trace: Trace) -> Relation:
    """`spark.createDataFrame(df.rdd.map(f), schema)` → every column from every column of df."""
    trace.add_opaque_step(OpaqueStep(node.kind, "rdd", ROUND_TRIP))
    output = tuple(a.text("id") for a in node.nodes("output"))
    known = (origin.relation,) if origin.relation is not None else ()
    return opaque_relation(output, [*known, *(rdd_file(path, trace) for path in origin.files)], "rdd", node.kind)


def rdd_file(path: str, trace: Trace) -> Relation:
    """`sc.textFile("/d")` → its column value."""
    source = path_source(path, "text")
    name = trace.context.name(source)
    trace.add_input(DatasetRead(name, source, (SchemaField("value", "string"),)))
    return Relation({path: column_flow(ColumnRef(name, "value"))}, (path,))


@operator("RddRead")
def rdd_job(node: Node, trace: Trace) -> Relation:
    """`df.rdd.union(other.rdd).count()` → every column of df and other."""
    files = (rdd_file(path, trace) for path in node.strings("files"))
    if not node.children and not node.strings("files"):
        trace.add_input(DatasetRead(trace.context.name(LOCAL), LOCAL))
    return Relation.side_by_side([*(trace(child) for child in node.children), *files])
