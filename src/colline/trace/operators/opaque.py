"""Operators that run a program: every output column is assumed to depend on every input column."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.relation import Relation
from colline.trace.result import OpaqueStep
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace

# operator → its name in the DataFrame or SQL API
PROGRAMS = {
    "MapInPandas": "mapInPandas",
    "MapInArrow": "mapInArrow",
    "PythonMapInArrow": "mapInArrow",
    "FlatMapGroupsInPandas": "applyInPandas",
    "FlatMapGroupsInArrow": "applyInArrow",
    "FlatMapCoGroupsInPandas": "cogroup.applyInPandas",
    "FlatMapCoGroupsInArrow": "cogroup.applyInArrow",
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "TransformWithStateInPandas": "transformWithStateInPandas",
    "TransformWithStateInPySpark": "transformWithState",
    "ScriptTransformation": "transform script",
    "MapElements": "map",
    "MapPartitions": "mapPartitions",
    "MapPartitionsInR": "dapply",
    "MapPartitionsInRWithArrow": "dapply",
    "MapGroups": "mapGroups",
    "CoGroup": "cogroup",
    "FlatMapGroupsInR": "gapply",
    "FlatMapGroupsInRWithArrow": "gapply",
    "FlatMapGroupsWithState": "flatMapGroupsWithState",
    "TransformWithState": "transformWithState",
    "DeserializeToObject": "deserialize",
    "SerializeFromObject": "serialize",
    "AppendColumns": "groupByKey",
}


@operator(*PROGRAMS)
def program(node: Node, trace: Trace) -> Relation:
    """`df.mapInPandas(clean, "x int")` → x from every column of df."""
    function = node.optional("functionExpr")
    name = function.text("name") if function is not None else node.text("script")
    return trace.opaque(node, function=name, why=f"{PROGRAMS[node.kind]} runs a program over whole rows")


@operator("TypedFilter")
def typed_filter(node: Node, trace: Trace) -> Relation:
    """`ds.filter(row => …)` → every column unchanged, and all of them decide the rows."""
    child = trace(node.node("child"))
    trace.add_opaque_step(OpaqueStep(node.kind, "", "filter runs a program over whole rows"))
    return child.with_row_dependencies(apply_effect(child.all_dependencies, Effect.FILTER, text="filter(…)"))


@operator("AttachDistributedSequence")
def row_number(node: Node, trace: Trace) -> Relation:
    """`df.pandas_api()` → every column unchanged, and a row number without an input."""
    child = trace(node.node("child"))
    key = node.node("sequenceAttr").text("id")
    return Relation({**child.columns, key: Flow(text="row number")}, (key, *child.output), child.row_dependencies)


@operator("Unread")
def unread_plan(node: Node, trace: Trace) -> Relation:
    """A plan that is too large or too deep to read → every output column from every column of its scans."""
    return trace.opaque(node, why=f"the plan is {node.text('why')}")


@operator("CommandResult")
def command_result(node: Node, trace: Trace) -> Relation:
    """`show tables` → the result of a command, without an input."""
    output = tuple(a.text("id") for a in node.nodes("output"))
    return Relation(dict.fromkeys(output, Flow()), output, merge(()))
