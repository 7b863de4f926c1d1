"""Set operators: UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Flow, merge, merge_flows, merge_structs
from colline.trace.operators.aggregates import compared_columns
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace


@operator("Union")
def union(node: Node, trace: Trace) -> Relation:
    """`select a from t union all select b from u` → a from t.a and u.b."""
    branches = [trace(child) for child in node.nodes("children")]
    columns: dict[str, Flow] = {}
    for position, attribute in enumerate(node.nodes("output")):
        is_struct = attribute.text("type").startswith("struct<")
        flows = [branch.flow(position) for branch in branches]
        columns[attribute.text("id")] = merge_structs(flows) if is_struct else merge_flows(flows)
    return Relation(columns, tuple(columns), merge(branch.row_dependencies for branch in branches))


@operator("Intersect", "Except")
def intersect_or_except(node: Node, trace: Trace) -> Relation:
    """`select a from t except select b from u` → a from t.a, and t.a and u.b decide the rows."""
    left, right = trace(node.node("left")), trace(node.node("right"))
    effects = (Effect.JOIN,) if node.get("isAll") else (Effect.JOIN, Effect.GROUP_BY)
    rows = [compared_columns(side, effect) for effect in effects for side in (left, right)]
    output = tuple(a.text("id") for a in node.nodes("output"))
    columns = {key: left.flow(position) for position, key in enumerate(output)}
    return Relation(columns, output, merge((left.row_dependencies, right.row_dependencies, *rows)))
