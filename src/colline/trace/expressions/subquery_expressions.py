"""Sub-queries inside expressions. They are traced with the scope around them, so outer references lead on."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge
from colline.trace.relation import Relation
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


def subquery_relation(node: Node, scope: Scope) -> Relation:
    """The relation of a sub-query's plan."""
    return scope.trace.for_subquery(scope)(node.node("plan"))


@expression("ScalarSubquery")
def scalar_subquery(node: Node, scope: Scope) -> Flow:
    """`(select max(a) from t where b)` → a aggregation, b filter, both on this column"""
    found = subquery_relation(node, scope)
    first = found.flow(0)
    text = f"(SELECT {first.text or first.description})"
    return Flow(merge((first.dependencies, found.row_dependencies)), text=text, description=text)


@expression("Exists")
def exists(node: Node, scope: Scope) -> Flow:
    """`exists (select 1 from t where t.a = o.b)` → a, b conditional"""
    return _condition(subquery_relation(node, scope).row_dependencies, "EXISTS (…)")


@expression("ListQuery")
def in_list(node: Node, scope: Scope) -> Flow:
    """The list that IN compares with: its values and what decides its rows."""
    found = subquery_relation(node, scope)
    return Flow(merge((found.all_dependencies, found.row_dependencies)), text="(SELECT …)")


@expression("InSubquery")
def in_subquery(node: Node, scope: Scope) -> Flow:
    """`a in (select b from t)` → a, b conditional"""
    flows = [scope(item) for item in node.expressions]
    text = f"{', '.join(flow.text for flow in flows[:-1])} IN {flows[-1].text}"
    return _condition(merge(flow.dependencies for flow in flows), text)


@expression("FunctionTableSubqueryArgumentExpression", "LateralSubquery")
def table_argument(node: Node, scope: Scope) -> Flow:
    """A whole table as an argument: all of its columns."""
    found = subquery_relation(node, scope)
    return Flow(
        merge((apply_effect(found.all_dependencies, Effect.TRANSFORMATION), found.row_dependencies)), text="TABLE(…)"
    )


def _condition(dependencies: Dependencies, text: str) -> Flow:
    return Flow(apply_effect(dependencies, Effect.CONDITIONAL, text=text), text=text, description=text)
