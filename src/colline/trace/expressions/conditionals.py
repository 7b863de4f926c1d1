"""Expressions that choose: what decides is CONDITIONAL, what is chosen is transformed."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.structs import rename_members, struct_fitted_by_if, struct_members
from colline.trace.flow import Flow, apply_effect, merge
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


@expression("If")
def if_else(node: Node, scope: Scope) -> Flow:
    """`if(p, a, b)` → p conditional; a, b transformation"""
    fitted = struct_fitted_by_if(node)
    if fitted is not None:
        return rename_members(scope(fitted), struct_members(node.node("falseValue")))
    predicate = scope(node.node("predicate"))
    yes, no = scope(node.node("trueValue")), scope(node.node("falseValue"))
    return _choose((predicate,), (yes, no), f"if({predicate.text}, {yes.text}, {no.text})")


@expression("NullIfResult")
def null_if(node: Node, scope: Scope) -> Flow:
    """`nullif(a, b)` as Spark 4.3 writes it: null where the predicate holds → p conditional; a transformation"""
    predicate, value = scope(node.node("predicate")), scope(node.node("value"))
    return _choose((predicate,), (value,), f"if({predicate.text}, NULL, {value.text})")


@expression("CaseWhen")
def case_when(node: Node, scope: Scope) -> Flow:
    """`case when p then a else b end` → p conditional; a, b transformation"""
    flat = [scope(item) for item in node.nodes("branches")]
    predicates, values = flat[0::2], flat[1::2]
    otherwise = node.optional("elseValue")
    text = " ".join(f"WHEN {p.text} THEN {v.text}" for p, v in zip(predicates, values, strict=True))
    if otherwise is not None:
        values.append(scope(otherwise))
        text += f" ELSE {values[-1].text}"
    return _choose(predicates, values, f"CASE {text} END")


@expression("Coalesce")
def coalesce(node: Node, scope: Scope) -> Flow:
    """`coalesce(a, b)` → a, b both conditional and transformation"""
    flows = [scope(item) for item in node.nodes("children")]
    return _choose(flows, flows, "coalesce(" + ", ".join(flow.text for flow in flows) + ")")


def _choose(predicates: tuple[Flow, ...] | list[Flow], values: tuple[Flow, ...] | list[Flow], text: str) -> Flow:
    decided = (apply_effect(flow.dependencies, Effect.CONDITIONAL, text=flow.text) for flow in predicates)
    dependencies = merge((*decided, *(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in values)))
    return Flow(dependencies, text=text, description=text)
