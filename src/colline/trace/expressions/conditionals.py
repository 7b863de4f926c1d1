"""Expressions that choose between values: conditions are CONDITIONAL, the values are transformed."""

from __future__ import annotations

from collections.abc import Sequence

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.structs import rename_members, struct_fitted_by_if, struct_members
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


@expression("If")
def if_else(node: Node, scope: Scope) -> Flow:
    """`if(p, a, b)` → p CONDITIONAL; a and b TRANSFORMATION."""
    fitted = struct_fitted_by_if(node)
    if fitted is not None:
        return rename_members(scope(fitted), struct_members(node.node("falseValue")))
    if _is_null_guard(node):
        return scope(node.node("falseValue"))
    predicate = scope(node.node("predicate"))
    yes, no = scope(node.node("trueValue")), scope(node.node("falseValue"))
    return _choose((predicate,), (yes, no), f"if({predicate.text}, {yes.text}, {no.text})")


def _is_null_guard(node: Node) -> bool:
    """Whether the analyzer wrote `if(a is null, null, f(a))`, because the JVM function `f` takes a primitive value."""
    call = node.node("falseValue")
    return call.kind == "ScalaUDF" and any(argument.kind == "KnownNotNull" for argument in call.nodes("children"))


@expression("NullIfResult")
def null_if(node: Node, scope: Scope) -> Flow:
    """`nullif(a, b)` from Spark 4.3 on → a = b CONDITIONAL; a TRANSFORMATION."""
    predicate, value = scope(node.node("predicate")), scope(node.node("value"))
    return _choose((predicate,), (value,), f"if({predicate.text}, NULL, {value.text})")


@expression("CaseWhen")
def case_when(node: Node, scope: Scope) -> Flow:
    """`case when p then a else b end` → p CONDITIONAL; a and b TRANSFORMATION."""
    branches = [scope(item) for item in node.nodes("branches")]
    predicates, values = branches[0::2], branches[1::2]
    otherwise = node.optional("elseValue")
    text = " ".join(f"WHEN {p.text} THEN {v.text}" for p, v in zip(predicates, values, strict=True))
    if otherwise is not None:
        values.append(scope(otherwise))
        text += f" ELSE {values[-1].text}"
    return _choose(predicates, values, f"CASE {text} END")


@expression("Coalesce")
def coalesce(node: Node, scope: Scope) -> Flow:
    """`coalesce(a, b)` → a and b both CONDITIONAL and TRANSFORMATION."""
    flows = [scope(item) for item in node.nodes("children")]
    return _choose(flows, flows, "coalesce(" + ", ".join(flow.text for flow in flows) + ")")


def _choose(predicates: Sequence[Flow], values: Sequence[Flow], text: str) -> Flow:
    conditions = (apply_effect(flow.dependencies, Effect.CONDITIONAL, text=flow.text) for flow in predicates)
    chosen = (apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in values)
    return Flow(merge((*conditions, *chosen)), text=text, description=text)
