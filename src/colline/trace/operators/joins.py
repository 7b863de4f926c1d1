"""Joins: inner, outer, semi, anti, lateral, as-of and existence."""

from __future__ import annotations

from collections.abc import Mapping

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.subquery_expressions import subquery_relation
from colline.trace.flow import NO_DEPENDENCIES, Dependencies, Flow, apply_effect, merge, qualify
from colline.trace.operators.unary import conjuncts
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Scope, Trace


@operator("Join")
def join(node: Node, trace: Trace) -> Relation:
    """`select a.x from a join b on a.k = b.k` → x from a.x, and a.k and b.k decide the rows."""
    return _join_relations(node, trace, trace(node.node("left")), trace(node.node("right")))


@operator("LateralJoin")
def lateral_join(node: Node, trace: Trace) -> Relation:
    """`select x from a, lateral (select b.x from b where b.k = a.k)` → x from b.x, and a.k and b.k decide the rows."""
    left = trace(node.node("left"))
    return _join_relations(node, trace, left, subquery_relation(node.node("right"), trace.scope(left)))


@operator("AsOfJoin")
def as_of_join(node: Node, trace: Trace) -> Relation:
    """`ps.merge_asof(a, b, on="t")` → every column unchanged, and a.t and b.t decide the rows."""
    left, right = trace(node.node("left")), trace(node.node("right"))
    joined = _join_relations(node, trace, left, right)
    order = [each for each in (node.optional("asOfCondition"), node.optional("orderExpression")) if each is not None]
    return joined.with_row_dependencies(trace.scope(left, right).dependencies(order, Effect.JOIN))


def _join_relations(node: Node, trace: Trace, left: Relation, right: Relation) -> Relation:
    columns = {**left.columns, **right.columns}
    condition = node.optional("condition")
    matching = join_dependencies(condition, columns, trace) if condition is not None else NO_DEPENDENCIES
    columns.update(_existence_column(node, matching))
    output = tuple(a.text("id") for a in node.nodes("output")) or (*left.output, *right.output)
    return Relation(columns, output, merge((left.row_dependencies, right.row_dependencies, matching)))


def join_dependencies(condition: Node, columns: Mapping[str, Flow], trace: Trace) -> Dependencies:
    """The dependencies of a join condition, described with table names: `(orders.id = items.id)`."""
    seen: set[int] = set()
    stack, qualified = [condition], dict(columns)
    while stack:
        node = stack.pop()
        if node.index in seen:
            continue
        seen.add(node.index)
        stack.extend(node.expressions)
        key = node.text("id")
        if node.kind == "AttributeReference" and key in columns:
            qualified[key] = qualify(columns[key])
    return Scope(trace, qualified).dependencies(conjuncts(condition), Effect.JOIN)


def _existence_column(node: Node, matching: Dependencies) -> dict[str, Flow]:
    """The boolean column that an existence join adds: whether a row has a match."""
    kind = node.get("joinType")
    if not (isinstance(kind, tuple) and kind[0] == "ExistenceJoin" and isinstance(kind[1], Node)):
        return {}
    return {kind[1].text("id"): Flow(apply_effect(matching, Effect.CONDITIONAL), text="exists")}
