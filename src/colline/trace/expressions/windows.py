"""Window functions: the arguments are direct; partition, order and frame are WINDOW on this column only."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.rule_registry import expression
from colline.trace.sql_text import render
from colline.trace.tracer import Scope


@expression("RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist", "NTile")
def rank_function(node: Node, scope: Scope) -> Flow:
    """`rank()` → no input. Its arguments in the plan are the order expressions, which Spark repeats."""
    return Flow(text=f"{node.function}()")


@expression("WindowExpression")
def window_expression(node: Node, scope: Scope) -> Flow:
    """`sum(a) over (partition by b order by c)` → a AGGREGATION; b and c WINDOW."""
    call = node.node("windowFunction")
    function, specification = scope(call), node.node("windowSpec")
    effect = Effect.AGGREGATION if call.kind == "PythonUDF" else Effect.IDENTITY
    text = f"{function.text} OVER ({_over_clause(specification, scope)})"
    window = scope.dependencies(specification.expressions, Effect.WINDOW, text=text)
    return Flow(merge((apply_effect(function.dependencies, effect), window)), text=text, description=text)


def _over_clause(specification: Node, scope: Scope) -> str:
    partition = [scope(item).text for item in specification.nodes("partitionSpec")]
    order = [scope(item).text for item in specification.nodes("orderSpec")]
    parts = [
        f"PARTITION BY {', '.join(partition)}" if partition else "",
        f"ORDER BY {', '.join(order)}" if order else "",
    ]
    return " ".join(part for part in parts if part)


@expression("WindowSpecDefinition", "SpecifiedWindowFrame")
def window_specification(node: Node, scope: Scope) -> Flow:
    """`partition by b order by c` → b and c unchanged; `window_expression` makes them WINDOW."""
    flows = [scope(item) for item in node.expressions]
    return Flow(merge(flow.dependencies for flow in flows), text=render(node, tuple(flow.text for flow in flows)))
