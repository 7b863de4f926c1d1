"""Aggregate functions."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


@expression("AggregateExpression", "PythonUDAF")
def aggregate_function(node: Node, scope: Scope) -> Flow:
    """`sum(a) filter (where p)` → a aggregation, p conditional"""
    if node.kind == "PythonUDAF":
        inner = scope.dependencies(node.nodes("children"), Effect.AGGREGATION)
        text = f"{node.text('name')}({', '.join(scope(child).text for child in node.nodes('children'))})"
        return Flow(inner, text=text, description=text)
    function = scope(node.node("aggregateFunction"))
    text = function.text.replace("(", "(DISTINCT ", 1) if node.get("isDistinct") else function.text
    condition = node.optional("filter")
    chosen = scope.dependencies([condition], Effect.CONDITIONAL) if condition is not None else {}
    return Flow(merge((apply_effect(function.dependencies, Effect.AGGREGATION), chosen)), text=text, description=text)


@expression("PivotFirst")
def pivot_first(node: Node, scope: Scope) -> Flow:
    """`pivot (sum(a) for k in (…))` → a aggregation, k conditional"""
    value, key = scope(node.node("valueColumn")), scope(node.node("pivotColumn"))
    dependencies = merge(
        (
            apply_effect(value.dependencies, Effect.AGGREGATION),
            apply_effect(key.dependencies, Effect.CONDITIONAL, text=key.text),
        )
    )
    return Flow(dependencies, text=value.text, description=value.text)
