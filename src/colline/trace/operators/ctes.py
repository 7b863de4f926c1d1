"""Common table expressions: traced once however often they are read, and recursive ones to the fixed point."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.flow import merge, merge_flows
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace

_MAX_ROUNDS = 20


@operator("WithCTE")
def with_cte(node: Node, trace: Trace) -> Relation:
    """`with c as (…) select … from c` → the query, whose common tables were traced before it"""
    return trace(node.node("plan"))


@operator("CTERelationDef")
def cte_definition(node: Node, trace: Trace) -> Relation:
    """The definition of a common table."""
    found = trace(node.node("child"))
    trace.shared_relations[f"cte {node.text('id')}"] = found
    return found


@operator("CTERelationRef")
def cte_reference(node: Node, trace: Trace) -> Relation:
    """A reading of a common table, with ids of its own."""
    return rename_columns(trace.shared_relations[f"cte {node.text('cteId')}"], node)


@operator("UnionLoop")
def recursive_cte(node: Node, trace: Trace) -> Relation:
    """`with recursive r as (anchor union all step over r)` → anchor and step as UNION, until nothing is added"""
    output = tuple(a.text("id") for a in node.nodes("output"))
    key = f"loop {node.text('id')}"
    found = trace(node.node("anchor"))
    anchor = found
    for _ in range(_MAX_ROUNDS):
        trace.shared_relations[key] = found
        step = trace.restart()(node.node("recursion"))
        merged = [merge_flows([anchor.flow(position), step.flow(position)]) for position in range(len(output))]
        columns = dict(zip(output, merged, strict=True))
        after = Relation(columns, output, merge((anchor.row_dependencies, step.row_dependencies)))
        if _is_unchanged(found, after):
            break
        found = after
    return after


@operator("UnionLoopRef")
def recursive_cte_reference(node: Node, trace: Trace) -> Relation:
    """What the loop has found so far."""
    return rename_columns(trace.shared_relations[f"loop {node.text('loopId')}"], node)


def rename_columns(found: Relation, node: Node) -> Relation:
    """The columns of `found` under the ids of `node`'s output, by position."""
    output = tuple(a.text("id") for a in node.nodes("output"))
    return Relation({key: found.flow(position) for position, key in enumerate(output)}, output, found.row_dependencies)


def _is_unchanged(before: Relation, after: Relation) -> bool:
    return [flow.dependencies for flow in before.flows] == [
        flow.dependencies for flow in after.flows
    ] and before.row_dependencies == after.row_dependencies
