"""Common table expressions: traced once however often they are read, and recursive ones to the fixed point."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.flow import either, merge
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace

_ROUNDS = 20


@operator("WithCTE")
def with_common(node: Node, trace: Trace) -> Relation:
    """`with c as (…) select … from c` → the query, whose common tables were traced before it"""
    return trace(node.node("plan"))


@operator("CTERelationDef")
def definition(node: Node, trace: Trace) -> Relation:
    """The definition of a common table."""
    found = trace(node.node("child"))
    trace.shared[f"cte {node.text('id')}"] = found
    return found


@operator("CTERelationRef")
def reference(node: Node, trace: Trace) -> Relation:
    """A reading of a common table, with ids of its own."""
    return renamed(trace.shared[f"cte {node.text('cteId')}"], node)


@operator("UnionLoop")
def loop(node: Node, trace: Trace) -> Relation:
    """`with recursive r as (anchor union all step over r)` → anchor and step as UNION, until nothing is added"""
    output = tuple(a.text("id") for a in node.nodes("output"))
    key = f"loop {node.text('id')}"
    found = trace(node.node("anchor"))
    anchor = found
    for _ in range(_ROUNDS):
        trace.shared[key] = found
        step = trace.again()(node.node("recursion"))
        merged = [either([anchor.flow(place), step.flow(place)]) for place in range(len(output))]
        columns = dict(zip(output, merged, strict=True))
        after = Relation(columns, output, merge((anchor.rows, step.rows)))
        if _same(found, after):
            break
        found = after
    return after


@operator("UnionLoopRef")
def loop_reference(node: Node, trace: Trace) -> Relation:
    """What the loop has found so far."""
    return renamed(trace.shared[f"loop {node.text('loopId')}"], node)


def renamed(found: Relation, node: Node) -> Relation:
    """The columns of `found` under the ids of `node`'s output, by position."""
    output = tuple(a.text("id") for a in node.nodes("output"))
    return Relation({key: found.flow(place) for place, key in enumerate(output)}, output, found.rows)


def _same(before: Relation, after: Relation) -> bool:
    return [flow.ways for flow in before.flows] == [flow.ways for flow in after.flows] and before.rows == after.rows
