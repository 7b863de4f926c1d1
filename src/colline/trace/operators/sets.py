"""Set operators: UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.structs import member_names
from colline.trace.flow import Flow, merge, merge_flows, merge_structs, read_member
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
        names = member_names(attribute.text("type"))
        flows = [branch.flow(position) for branch in branches]
        if names:
            inputs = zip(flows, node.nodes("children"), strict=True)
            flows = [_named_by_first_branch(flow, _type_of(child, position), names) for flow, child in inputs]
        columns[attribute.text("id")] = merge_structs(flows) if names else merge_flows(flows)
    return Relation(columns, tuple(columns), merge(branch.row_dependencies for branch in branches))


def _named_by_first_branch(flow: Flow, own_type: str, names: tuple[str, ...]) -> Flow:
    """`struct(a as x) union all struct(b as y)` → x from a and b: members are matched by position."""
    own = tuple(flow.members) if flow.members is not None else member_names(own_type)
    if own == names or len(own) != len(names):
        return flow
    return replace(flow, members={name: read_member(flow, each) for name, each in zip(names, own, strict=True)})


def _type_of(branch: Node, position: int) -> str:
    """The type of an output column of a branch, if the branch is a table or a select list of columns."""
    items = branch.nodes("projectList") or branch.nodes("output")
    item = items[position] if position < len(items) else None
    while item is not None and item.kind == "Alias":
        item = item.node("child")
    return item.text("type") if item is not None else ""


@operator("Intersect", "Except")
def intersect_or_except(node: Node, trace: Trace) -> Relation:
    """`select a from t except select b from u` → a from t.a, and t.a and u.b decide the rows."""
    left, right = trace(node.node("left")), trace(node.node("right"))
    effects = (Effect.JOIN,) if node.get("isAll") else (Effect.JOIN, Effect.GROUP_BY)
    rows = [compared_columns(side, effect) for effect in effects for side in (left, right)]
    output = tuple(a.text("id") for a in node.nodes("output"))
    columns = {key: left.flow(position) for position, key in enumerate(output)}
    return Relation(columns, output, merge((left.row_dependencies, right.row_dependencies, *rows)))
