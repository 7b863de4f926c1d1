"""Operators over two inputs side by side."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.subquery_expressions import relation
from colline.trace.flow import Flow, Ways, merge, qualified, through
from colline.trace.operators.unary import conjuncts
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Scope, Trace


@operator("Join")
def join(node: Node, trace: Trace) -> Relation:
    """`select a.x from a join b on a.k = b.k` → rows by a.k and b.k"""
    return _joined(node, trace, trace(node.node("left")), trace(node.node("right")))


@operator("LateralJoin")
def lateral(node: Node, trace: Trace) -> Relation:
    """`from a, lateral (select … where b.k = a.k)` → the right side sees the columns of the left"""
    left = trace(node.node("left"))
    return _joined(node, trace, left, relation(node.node("right"), trace.scope(left)))


@operator("AsOfJoin")
def as_of(node: Node, trace: Trace) -> Relation:
    """`merge_asof(a, b, on="t")` → rows by a.t and b.t"""
    joined = _joined(node, trace, trace(node.node("left")), trace(node.node("right")))
    scope = trace.scope(trace(node.node("left")), trace(node.node("right")))
    order = [found for found in (node.maybe("asOfCondition"), node.maybe("orderExpression")) if found is not None]
    return joined.with_rows(scope.ways(order, Effect.JOIN))


def _joined(node: Node, trace: Trace, left: Relation, right: Relation) -> Relation:
    columns = {**left.columns, **right.columns}
    condition = node.maybe("condition")
    by: Ways = meeting(condition, columns, trace) if condition is not None else {}
    columns.update(_existence(node, by))
    output = tuple(a.text("id") for a in node.nodes("output")) or (*left.output, *right.output)
    return Relation(columns, output, merge((left.rows, right.rows, by)))


def meeting(condition: Node, columns: dict[str, Flow], trace: Trace) -> Ways:
    """What a join condition reads, described with the datasets' names: `(orders.id = items.id)`."""
    seen: set[int] = set()
    stack, shown = [condition], dict(columns)
    while stack:
        node = stack.pop()
        if node.place in seen:
            continue
        seen.add(node.place)
        stack.extend(node.expressions)
        key = node.text("id")
        if node.kind == "AttributeReference" and key in columns:
            shown[key] = qualified(columns[key])
    return Scope(trace, shown).ways(conjuncts(condition), Effect.JOIN)


def _existence(node: Node, by: Ways) -> dict[str, Flow]:
    """An existence join adds a column that says whether there was a match."""
    kind = node.get("joinType")
    if not (isinstance(kind, tuple) and kind[0] == "ExistenceJoin" and isinstance(kind[1], Node)):
        return {}
    return {kind[1].text("id"): Flow(through(by, Effect.CONDITIONAL), text="exists")}
