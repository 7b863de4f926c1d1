"""Operators over two inputs side by side."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.subquery_expressions import subquery_relation
from colline.trace.flow import Dependencies, Flow, apply_effect, merge, qualify
from colline.trace.operators.unary import conjuncts
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Scope, Trace


@operator("Join")
def join(node: Node, trace: Trace) -> Relation:
    """`select a.x from a join b on a.k = b.k` → rows by a.k and b.k"""
    return _join_relation(node, trace, trace(node.node("left")), trace(node.node("right")))


@operator("LateralJoin")
def lateral(node: Node, trace: Trace) -> Relation:
    """`from a, lateral (select … where b.k = a.k)` → the right side sees the columns of the left"""
    left = trace(node.node("left"))
    return _join_relation(node, trace, left, subquery_relation(node.node("right"), trace.scope(left)))


@operator("AsOfJoin")
def as_of(node: Node, trace: Trace) -> Relation:
    """`merge_asof(a, b, on="t")` → rows by a.t and b.t"""
    joined = _join_relation(node, trace, trace(node.node("left")), trace(node.node("right")))
    scope = trace.scope(trace(node.node("left")), trace(node.node("right")))
    order = [found for found in (node.optional("asOfCondition"), node.optional("orderExpression")) if found is not None]
    return joined.with_row_dependencies(scope.dependencies(order, Effect.JOIN))


def _join_relation(node: Node, trace: Trace, left: Relation, right: Relation) -> Relation:
    columns = {**left.columns, **right.columns}
    condition = node.optional("condition")
    by: Dependencies = join_dependencies(condition, columns, trace) if condition is not None else {}
    columns.update(_existence(node, by))
    output = tuple(a.text("id") for a in node.nodes("output")) or (*left.output, *right.output)
    return Relation(columns, output, merge((left.row_dependencies, right.row_dependencies, by)))


def join_dependencies(condition: Node, columns: dict[str, Flow], trace: Trace) -> Dependencies:
    """What a join condition reads, described with the datasets' names: `(orders.id = items.id)`."""
    seen: set[int] = set()
    stack, shown = [condition], dict(columns)
    while stack:
        node = stack.pop()
        if node.index in seen:
            continue
        seen.add(node.index)
        stack.extend(node.expressions)
        key = node.text("id")
        if node.kind == "AttributeReference" and key in columns:
            shown[key] = qualify(columns[key])
    return Scope(trace, shown).dependencies(conjuncts(condition), Effect.JOIN)


def _existence(node: Node, by: Dependencies) -> dict[str, Flow]:
    """An existence join adds a column that says whether there was a match."""
    kind = node.get("joinType")
    if not (isinstance(kind, tuple) and kind[0] == "ExistenceJoin" and isinstance(kind[1], Node)):
        return {}
    return {kind[1].text("id"): Flow(apply_effect(by, Effect.CONDITIONAL), text="exists")}
