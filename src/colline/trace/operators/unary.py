"""Operators with one child: projection, filter, sort, window, generator, and those that change no column."""

from __future__ import annotations

from collections.abc import Iterator

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge
from colline.trace.relation import Relation
from colline.trace.rule_registry import operator
from colline.trace.tracer import Scope, Trace


def named_expressions(items: tuple[Node, ...], scope: Scope) -> dict[str, Flow]:
    """The flows of the expressions in a select list, by expression id."""
    known = scope.columns
    columns: dict[str, Flow] = {}
    for item in items:
        key = output_key(item)
        is_known = item.kind == "AttributeReference" and key in known
        columns[key] = known[key] if is_known else scope(item)
    return columns


def named_relation(items: tuple[Node, ...], scope: Scope, row_dependencies: Dependencies) -> Relation:
    """The relation of a select list. `select a, a from t` has two output columns with one expression id."""
    return Relation(named_expressions(items, scope), tuple(map(output_key, items)), row_dependencies)


def output_key(item: Node) -> str:
    """The expression id of an item in a select list."""
    return item.text("id") or str(item.index)


@operator("Project")
def project(node: Node, trace: Trace) -> Relation:
    """`select a, b + 1 as c from t` → a from t.a, c from t.b."""
    child = trace(node.node("child"))
    return named_relation(node.nodes("projectList"), trace.scope(child), child.row_dependencies)


@operator("Filter")
def filter_rows(node: Node, trace: Trace) -> Relation:
    """`select a from t where b > 0` → a from t.a, and t.b decides the rows."""
    child = trace(node.node("child"))
    scope = trace.scope(child)
    return child.with_row_dependencies(scope.dependencies(conjuncts(node.node("condition")), Effect.FILTER))


def conjuncts(condition: Node) -> Iterator[Node]:
    """`p and q` → p, q. Each column is described by the part of the condition it occurs in."""
    stack = [condition]
    while stack:
        node = stack.pop()
        if node.kind == "And":
            stack.extend((node.node("right"), node.node("left")))
        else:
            yield node


@operator("Sort")
def sort_rows(node: Node, trace: Trace) -> Relation:
    """`select a from t order by b` → a from t.a, and t.b decides the order of the rows."""
    child = trace(node.node("child"))
    return child.with_row_dependencies(trace.scope(child).dependencies(node.nodes("order"), Effect.SORT))


@operator(
    "GlobalLimit",
    "LocalLimit",
    "Offset",
    "Tail",
    "Sample",
    "SubqueryAlias",
    "Repartition",
    "RepartitionByExpression",
    "RebalancePartitions",
    "ResolvedHint",
    "EventTimeWatermark",
    "UpdateEventTimeWatermarkColumn",
    "CollectMetrics",
    "PipeOperator",
    "SQLFunctionNode",
)
def transparent(node: Node, trace: Trace) -> Relation:
    """`select a from t limit 10` → a from t.a."""
    children = node.children
    return trace(children[0]) if children else Relation({}, ())


@operator("Window")
def window(node: Node, trace: Trace) -> Relation:
    """`select a, rank() over (order by b) r from t` → a from t.a, r indirectly from t.b."""
    child = trace(node.node("child"))
    scope = trace.scope(child)
    added = named_expressions(node.nodes("windowExpressions"), scope)
    return Relation({**child.columns, **added}, (*child.output, *added), child.row_dependencies)


@operator("Generate")
def generate(node: Node, trace: Trace) -> Relation:
    """`select explode(a) x from t` → x from t.a, and t.a decides how many rows there are."""
    child = trace(node.node("child"))
    flow = trace.scope(child)(node.node("generator"))
    values = apply_effect(flow.dependencies, Effect.TRANSFORMATION)
    row_count = apply_effect(flow.dependencies, Effect.FILTER, text=flow.text)
    generated = Flow(values, text=flow.text, description=flow.text)
    columns = dict(child.columns) | {a.text("id"): generated for a in node.nodes("generatorOutput")}
    output = tuple(a.text("id") for a in node.nodes("output"))
    return Relation(columns, output, merge((child.row_dependencies, row_count)))
