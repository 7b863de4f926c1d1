"""Grouping: aggregates, ROLLUP and CUBE, PIVOT and UNPIVOT, DISTINCT."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge, merge_flows
from colline.trace.operators.unary import named_expressions
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Trace


@operator("Aggregate")
def aggregate(node: Node, trace: Trace) -> Relation:
    """`select k, sum(a) s from t group by k` → k from t.k, s from t.a; rows by t.k"""
    child_node = node.node("child")
    child = _pivot_input(child_node, trace) if _is_pivot(node) else trace(child_node)
    scope = trace.scope(child)
    columns = named_expressions(node.nodes("aggregateExpressions"), scope)
    grouping = scope.dependencies(node.nodes("groupingExpressions"), Effect.GROUP_BY)
    return Relation(columns, tuple(columns), merge((child.row_dependencies, grouping)))


def _is_pivot(node: Node) -> bool:
    return any(_aggregate_kind(item) == "PivotFirst" for item in node.nodes("aggregateExpressions"))


def _aggregate_kind(item: Node) -> str:
    inner = item.optional("child") if item.kind == "Alias" else item
    function = inner.optional("aggregateFunction") if inner is not None else None
    return function.kind if function is not None else ""


def _pivot_input(node: Node, trace: Trace) -> Relation:
    """The inner step of PIVOT groups by the pivot key as well, which nobody wrote: the key decides values, not rows."""
    below = trace(node.node("child"))
    scope = trace.scope(below)
    columns = named_expressions(node.nodes("aggregateExpressions"), scope)
    return Relation(columns, tuple(columns), below.row_dependencies)


@operator("Expand")
def expand(node: Node, trace: Trace) -> Relation:
    """`group by rollup(k)`, `unpivot (v for n in (a, b))` → v from t.a and t.b, n from nothing"""
    child = trace(node.node("child"))
    scope = trace.scope(child)
    projections = node.get("projections")
    rows = projections if isinstance(projections, tuple) else ()
    output = [a.text("id") for a in node.nodes("output")]
    columns: dict[str, Flow] = {}
    for position, key in enumerate(output):
        items = [row[position] for row in rows if isinstance(row, tuple)]
        flows = [scope(item) for item in items if isinstance(item, Node)]
        columns[key] = merge_flows(flows)
    return Relation(columns, tuple(output), child.row_dependencies)


@operator("Distinct")
def distinct(node: Node, trace: Trace) -> Relation:
    """`select distinct a, b from t` → rows by t.a and t.b"""
    child = trace(node.node("child"))
    return child.with_row_dependencies(compared_columns(child, Effect.GROUP_BY))


@operator("Deduplicate", "DeduplicateWithinWatermark")
def deduplicate(node: Node, trace: Trace) -> Relation:
    """`df.dropDuplicates(["k"])` → every column as is, rows by k"""
    child = trace(node.node("child"))
    return child.with_row_dependencies(trace.scope(child).dependencies(node.nodes("keys"), Effect.GROUP_BY))


def compared_columns(subquery_relation: Relation, effect: Effect) -> Dependencies:
    """What reaches the columns that are compared, each described by its own text."""
    return merge(apply_effect(flow.dependencies, effect, text=flow.text) for flow in subquery_relation.flows)
