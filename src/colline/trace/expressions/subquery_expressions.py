"""Subqueries inside expressions. They are traced in the scope of the query around them, for outer references."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge
from colline.trace.relation import Relation
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


def subquery_relation(node: Node, scope: Scope) -> Relation:
    """The relation of a subquery's plan."""
    return scope.trace.for_subquery(scope)(node.node("plan"))


@expression("ScalarSubquery")
def scalar_subquery(node: Node, scope: Scope) -> Flow:
    """`select (select max(a) from t where b > 0) m` → m from t.a AGGREGATION and t.b FILTER."""
    relation = subquery_relation(node, scope)
    value = relation.flow(0)
    text = f"(SELECT {value.text or value.description})"
    return Flow(merge((value.dependencies, relation.row_dependencies)), text=text, description=text)


@expression("Exists")
def exists(node: Node, scope: Scope) -> Flow:
    """`exists (select 1 from t where t.a = o.b)` → t.a and o.b CONDITIONAL."""
    return _condition(subquery_relation(node, scope).row_dependencies, "EXISTS (…)")


@expression("ListQuery")
def in_list(node: Node, scope: Scope) -> Flow:
    """`(select b from t where c > 0)` on the right of IN → t.b IDENTITY, t.c FILTER."""
    relation = subquery_relation(node, scope)
    return Flow(merge((relation.all_dependencies, relation.row_dependencies)), text="(SELECT …)")


@expression("InSubquery")
def in_subquery(node: Node, scope: Scope) -> Flow:
    """`a in (select b from t)` → a and t.b CONDITIONAL."""
    flows = [scope(item) for item in node.expressions]
    text = f"{', '.join(flow.text for flow in flows[:-1])} IN {flows[-1].text}"
    return _condition(merge(flow.dependencies for flow in flows), text)


def _condition(dependencies: Dependencies, text: str) -> Flow:
    return Flow(apply_effect(dependencies, Effect.CONDITIONAL, text=text), text=text, description=text)
