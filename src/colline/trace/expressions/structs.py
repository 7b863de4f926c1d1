"""Structs: their members, how they are made, and how the analyzer fits one to its target."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.basics import expression_text, literal_string
from colline.trace.flow import Flow, apply_effect, merge, read_member
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope


@expression("GetStructField")
def struct_member(node: Node, scope: Scope) -> Flow:
    """`address.zip` → address.zip identity; of a struct made here, the member that went in"""
    return read_member(scope(node.node("child")), node.text("field"))


@expression("CreateNamedStruct")
def struct(node: Node, scope: Scope) -> Flow:
    """`struct(a, b)` → a, b transformation, each of them known apart"""
    fitted = _struct_fitted_by_casts(node)
    if fitted is not None:
        return rename_members(scope(fitted), struct_members(node))
    items = node.nodes("children")
    names = [literal_string(item) for item in items[0::2]]
    flows = [scope(item) for item in items[1::2]]
    known = dict(zip(names, flows, strict=True)) if all(names) else None
    text = "struct(" + ", ".join(flow.text for flow in flows) + ")"
    dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in flows)
    return Flow(dependencies, text=text, description=text, members=known)


@expression("UpdateFields")
def update_fields(node: Node, scope: Scope) -> Flow:
    """`s.withField("x", a)` → everything of s and a; x is a, every other member is still that of s"""
    base = scope(node.node("structExpr"))
    given = [item for item in node.nodes("fieldOps") if item.kind == "WithField"]
    set_here = {item.text("name"): scope(item.node("valExpr")) for item in given}
    dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in (base, *set_here.values()))
    text = expression_text(node, scope)
    return Flow(dependencies, text=text, description=text, members=set_here, bases=(base,))


def struct_fitted_by_if(node: Node) -> Node | None:
    """The struct `s` in `if(s is null, null, struct(s.x, …))`: how the analyzer fits a struct to its target."""
    test, fallback, created = node.node("predicate"), node.node("trueValue"), node.node("falseValue")
    whole = test.optional("child") if test.kind == "IsNull" else None
    if whole is None or fallback.text("sql") != "NULL" or created.kind != "CreateNamedStruct":
        return None
    source = _struct_of_members(created)
    return whole if source is not None and _is_same(source, whole) else None


def _struct_fitted_by_casts(created: Node) -> Node | None:
    """The struct `s` in `struct(cast(s.x as t), …)`, every cast the analyzer's own: how Spark 3.5 fits a struct."""
    casts = all(item.kind == "Cast" and not item.get("by_user") for item in created.nodes("children")[1::2])
    return _struct_of_members(created) if casts else None


def _struct_of_members(created: Node) -> Node | None:
    """The one struct whose members are all that goes into `made`."""
    parts = [part for _, part in struct_members(created)]
    if not parts or any(part.kind != "GetStructField" for part in parts):
        return None
    whole = parts[0].node("child")
    return whole if all(_is_same(part.node("child"), whole) for part in parts) else None


def struct_members(created: Node) -> list[tuple[str, Node]]:
    """The members of a struct that is made: their names, and their values below the analyzer's own casts."""
    items = created.nodes("children")
    return [(literal_string(name), _strip_casts(value)) for name, value in zip(items[0::2], items[1::2], strict=True)]


def _strip_casts(node: Node) -> Node:
    while node.kind in {"Alias", "Cast"} and not node.get("by_user"):
        node = node.node("child")
    return node


def _is_same(left: Node, right: Node) -> bool:
    return left is right or (left.kind == right.kind == "AttributeReference" and left.text("id") == right.text("id"))


def rename_members(whole: Flow, parts: list[tuple[str, Node]]) -> Flow:
    """A struct whose members go by the target's names; the same column where no name changed."""
    if all(name == part.text("field") for name, part in parts):
        return whole
    return replace(whole, members={name: read_member(whole, part.text("field")) for name, part in parts}, column=None)
