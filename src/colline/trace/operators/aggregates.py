"""Operators that group rows: GROUP BY, ROLLUP and CUBE, PIVOT and UNPIVOT, DISTINCT."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge, merge_flows
from colline.trace.operators.unary import named_relation
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace


@operator("Aggregate")
def aggregate(node: Node, trace: Trace) -> Relation:
    """`select k, sum(a) s from t group by k` → k from t.k, s from t.a, and t.k decides the rows."""
    child_node = node.node("child")
    child = _pivot_input(child_node, trace) if _is_pivot(node) else trace(child_node)
    scope = trace.scope(child)
    grouping = scope.dependencies(node.nodes("groupingExpressions"), Effect.GROUP_BY)
    rows = merge((child.row_dependencies, grouping))
    return named_relation(node.nodes("aggregateExpressions"), scope, rows)


def _is_pivot(node: Node) -> bool:
    return any(_aggregate_kind(item) == "PivotFirst" for item in node.nodes("aggregateExpressions"))


def _aggregate_kind(item: Node) -> str:
    inner = item.optional("child") if item.kind == "Alias" else item
    function = inner.optional("aggregateFunction") if inner is not None else None
    return function.kind if function is not None else ""


def _pivot_input(node: Node, trace: Trace) -> Relation:
    """The inner Aggregate of PIVOT. The analyzer groups it by the pivot key too, but the key decides values, not rows.

    `select * from t pivot (sum(a) for k in ('x'))` → x from t.a, conditional on t.k.
    """
    child = trace(node.node("child"))
    return named_relation(node.nodes("aggregateExpressions"), trace.scope(child), child.row_dependencies)


@operator("Expand")
def expand(node: Node, trace: Trace) -> Relation:
    """`select v from t unpivot (v for n in (a, b))` → v from t.a and t.b. ROLLUP and CUBE are an Expand too."""
    child = trace(node.node("child"))
    scope = trace.scope(child)
    projections = node.get("projections")
    rows = projections if isinstance(projections, tuple) else ()
    output = [a.text("id") for a in node.nodes("output")]
    columns: dict[str, Flow] = {}
    for position, key in enumerate(output):
        items = [row[position] for row in rows if isinstance(row, tuple)]
        columns[key] = merge_flows([scope(item) for item in items if isinstance(item, Node)])
    return Relation(columns, tuple(output), child.row_dependencies)


@operator("Distinct")
def distinct(node: Node, trace: Trace) -> Relation:
    """`select distinct a, b from t` → a from t.a, b from t.b, and both decide the rows."""
    child = trace(node.node("child"))
    return child.with_row_dependencies(compared_columns(child, Effect.GROUP_BY))


@operator("Deduplicate", "DeduplicateWithinWatermark")
def deduplicate(node: Node, trace: Trace) -> Relation:
    """`df.dropDuplicates(["k"])` → every column unchanged, and k decides the rows."""
    child = trace(node.node("child"))
    return child.with_row_dependencies(trace.scope(child).dependencies(node.nodes("keys"), Effect.GROUP_BY))


def compared_columns(relation: Relation, effect: Effect) -> Dependencies:
    """The dependencies of a comparison of whole rows, each column described by its own text."""
    return merge(apply_effect(flow.dependencies, effect, text=flow.text) for flow in relation.flows)
