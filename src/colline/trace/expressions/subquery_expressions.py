"""Sub-queries inside expressions. They are traced with the scope around them, so outer references lead on."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Flow, Ways, merge, through
from colline.trace.relation import Relation
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


def relation(node: Node, scope: Scope) -> Relation:
    """The relation of a sub-query's plan."""
    return scope.trace.inside(scope)(node.node("plan"))


@expression("ScalarSubquery")
def scalar(node: Node, scope: Scope) -> Flow:
    """`(select max(a) from t where b)` → a aggregation, b filter, both on this column"""
    found = relation(node, scope)
    first = found.flow(0)
    text = f"(SELECT {first.text or first.description})"
    return Flow(merge((first.ways, found.rows)), text=text, description=text)


@expression("Exists")
def exists(node: Node, scope: Scope) -> Flow:
    """`exists (select 1 from t where t.a = o.b)` → a, b conditional"""
    return _decided(relation(node, scope).rows, "EXISTS (…)")


@expression("ListQuery")
def listed(node: Node, scope: Scope) -> Flow:
    """The list that IN compares with: its values and what decides its rows."""
    found = relation(node, scope)
    return Flow(merge((found.everything, found.rows)), text="(SELECT …)")


@expression("InSubquery")
def contained(node: Node, scope: Scope) -> Flow:
    """`a in (select b from t)` → a, b conditional"""
    flows = [scope(item) for item in node.expressions]
    text = f"{', '.join(flow.text for flow in flows[:-1])} IN {flows[-1].text}"
    return _decided(merge(flow.ways for flow in flows), text)


@expression("FunctionTableSubqueryArgumentExpression", "LateralSubquery")
def table_argument(node: Node, scope: Scope) -> Flow:
    """A whole table as an argument: all of its columns."""
    found = relation(node, scope)
    return Flow(merge((through(found.everything, Effect.TRANSFORMATION), found.rows)), text="TABLE(…)")


def _decided(ways: Ways, text: str) -> Flow:
    return Flow(through(ways, Effect.CONDITIONAL, text=text), text=text, description=text)
