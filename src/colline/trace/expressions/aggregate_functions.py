"""Aggregate functions."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import NO_DEPENDENCIES, Flow, apply_effect, merge
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


@expression("AggregateExpression")
def aggregate_function(node: Node, scope: Scope) -> Flow:
    """`sum(a) filter (where p)` → a AGGREGATION, p CONDITIONAL."""
    function = scope(node.node("aggregateFunction"))
    text = function.text.replace("(", "(DISTINCT ", 1) if node.get("isDistinct") else function.text
    condition = node.optional("filter")
    selection = scope.dependencies([condition], Effect.CONDITIONAL) if condition is not None else NO_DEPENDENCIES
    dependencies = merge((apply_effect(function.dependencies, Effect.AGGREGATION), selection))
    return Flow(dependencies, text=text, description=text)


@expression("PythonUDAF")
def python_aggregate_function(node: Node, scope: Scope) -> Flow:
    """`my_mean(a)` → a AGGREGATION."""
    arguments = node.nodes("children")
    text = f"{node.text('name')}({', '.join(scope(argument).text for argument in arguments)})"
    return Flow(scope.dependencies(arguments, Effect.AGGREGATION), text=text, description=text)


@expression("PivotFirst")
def pivot_first(node: Node, scope: Scope) -> Flow:
    """`pivot (sum(a) for k in (…))` → a AGGREGATION, k CONDITIONAL."""
    value, key = scope(node.node("valueColumn")), scope(node.node("pivotColumn"))
    values = apply_effect(value.dependencies, Effect.AGGREGATION)
    selection = apply_effect(key.dependencies, Effect.CONDITIONAL, text=key.text)
    return Flow(merge((values, selection)), text=value.text, description=value.text)
