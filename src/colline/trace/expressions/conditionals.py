"""Expressions that choose: what decides is CONDITIONAL, what is chosen is transformed."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.basics import unquoted
from colline.trace.flow import Flow, member, merge, through
from colline.trace.registry import expression
from colline.trace.tracer import Scope


@expression("If")
def either(node: Node, scope: Scope) -> Flow:
    """`if(p, a, b)` → p conditional; a, b transformation"""
    fitted = rebuilt(node)
    if fitted is not None:
        return refitted(scope(fitted), _members(node.node("falseValue")))
    predicate = scope(node.node("predicate"))
    yes, no = scope(node.node("trueValue")), scope(node.node("falseValue"))
    return _chosen((predicate,), (yes, no), f"if({predicate.text}, {yes.text}, {no.text})")


def rebuilt(node: Node) -> Node | None:
    """The struct `s` in `if(s is null, null, struct(s.x, …))`: how the analyzer fits a struct to its target."""
    test, fallback, made = node.node("predicate"), node.node("trueValue"), node.node("falseValue")
    whole = test.maybe("child") if test.kind == "IsNull" else None
    if whole is None or fallback.text("sql") != "NULL" or made.kind != "CreateNamedStruct":
        return None
    parts = [part for _, part in _members(made)]
    same = all(part.kind == "GetStructField" and _is_same(part.node("child"), whole) for part in parts)
    return whole if parts and same else None


def _members(made: Node) -> list[tuple[str, Node]]:
    """The members of a struct that is made: their names, and their values below the analyzer's own casts."""
    items = made.nodes("children")
    return [(unquoted(name), _uncast(value)) for name, value in zip(items[0::2], items[1::2], strict=True)]


def _uncast(node: Node) -> Node:
    while node.kind in {"Alias", "Cast"} and not node.get("by_user"):
        node = node.node("child")
    return node


def _is_same(left: Node, right: Node) -> bool:
    return left is right or (left.kind == right.kind == "AttributeReference" and left.text("id") == right.text("id"))


def refitted(whole: Flow, parts: list[tuple[str, Node]]) -> Flow:
    """A struct whose members go by the target's names; the same column where no name changed."""
    if all(name == part.text("field") for name, part in parts):
        return whole
    return replace(whole, members={name: member(whole, part.text("field")) for name, part in parts}, column=None)


@expression("CaseWhen")
def case(node: Node, scope: Scope) -> Flow:
    """`case when p then a else b end` → p conditional; a, b transformation"""
    flat = [scope(item) for item in node.nodes("branches")]
    predicates, values = flat[0::2], flat[1::2]
    otherwise = node.maybe("elseValue")
    text = " ".join(f"WHEN {p.text} THEN {v.text}" for p, v in zip(predicates, values, strict=True))
    if otherwise is not None:
        values.append(scope(otherwise))
        text += f" ELSE {values[-1].text}"
    return _chosen(predicates, values, f"CASE {text} END")


@expression("Coalesce")
def first_present(node: Node, scope: Scope) -> Flow:
    """`coalesce(a, b)` → a, b both conditional and transformation"""
    flows = [scope(item) for item in node.nodes("children")]
    return _chosen(flows, flows, "coalesce(" + ", ".join(flow.text for flow in flows) + ")")


def _chosen(predicates: tuple[Flow, ...] | list[Flow], values: tuple[Flow, ...] | list[Flow], text: str) -> Flow:
    decided = (through(flow.ways, Effect.CONDITIONAL, text=flow.text) for flow in predicates)
    ways = merge((*decided, *(through(flow.ways, Effect.TRANSFORMATION) for flow in values)))
    return Flow(ways, text=text, description=text)
