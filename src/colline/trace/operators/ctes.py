"""Common table expressions. Each is traced once, even if it is read often; recursive ones up to the fixed point."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.flow import merge, merge_flows
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace

_MAX_ROUNDS = 20


@operator("WithCTE")
def with_cte(node: Node, trace: Trace) -> Relation:
    """`with c as (select a from t) select a from c` → a from t.a. The definitions were traced before."""
    return trace(node.node("plan"))


@operator("CTERelationDef")
def cte_definition(node: Node, trace: Trace) -> Relation:
    """`with c as (select a from t) …` → c.a from t.a."""
    relation = trace(node.node("child"))
    trace.shared_relations[f"cte {node.text('id')}"] = relation
    return relation


@operator("CTERelationRef")
def cte_reference(node: Node, trace: Trace) -> Relation:
    """`select a from c` → a from the column a of the definition; each reference has its own expression ids."""
    return with_output_ids(trace.shared_relations[f"cte {node.text('cteId')}"], node)


@operator("UnionLoop")
def recursive_cte(node: Node, trace: Trace) -> Relation:
    """`with recursive r as (select a from t union all select b from r join u …) …` → r.a from t.a and u.b.

    The recursive step is traced with the result so far until that does not change.
    """
    output = tuple(a.text("id") for a in node.nodes("output"))
    key = f"loop {node.text('id')}"
    anchor = trace(node.node("anchor"))
    current = anchor
    for _ in range(_MAX_ROUNDS):
        trace.shared_relations[key] = current
        step = trace.restart()(node.node("recursion"))
        flows = [merge_flows([anchor.flow(position), step.flow(position)]) for position in range(len(output))]
        columns = dict(zip(output, flows, strict=True))
        following = Relation(columns, output, merge((anchor.row_dependencies, step.row_dependencies)))
        if _has_same_dependencies(current, following):
            break
        current = following
    return following


@operator("UnionLoopRef")
def recursive_cte_reference(node: Node, trace: Trace) -> Relation:
    """`select a from r` inside the definition of r → a from what is known of r.a so far."""
    return with_output_ids(trace.shared_relations[f"loop {node.text('loopId')}"], node)


def with_output_ids(relation: Relation, node: Node) -> Relation:
    """The columns of a relation under the expression ids of `node`, by position."""
    output = tuple(a.text("id") for a in node.nodes("output"))
    columns = {key: relation.flow(position) for position, key in enumerate(output)}
    return Relation(columns, output, relation.row_dependencies)


def _has_same_dependencies(left: Relation, right: Relation) -> bool:
    if left.row_dependencies != right.row_dependencies:
        return False
    return [flow.dependencies for flow in left.flows] == [flow.dependencies for flow in right.flows]
