"""Structs: reading, creating and updating members. The analyzer also rebuilds structs to fit the type of a target."""

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
    """`address.zip` → address.zip IDENTITY; `struct(a as x).x` → a IDENTITY."""
    return read_member(scope(node.node("child")), node.text("field"))


@expression("CreateNamedStruct")
def struct(node: Node, scope: Scope) -> Flow:
    """`struct(a, b)` → a and b TRANSFORMATION; a member that is read later leads to its own column only."""
    fitted = _struct_fitted_by_casts(node)
    if fitted is not None:
        return rename_members(scope(fitted), struct_members(node))
    items = node.nodes("children")
    names = [literal_string(item) for item in items[0::2]]
    flows = [scope(item) for item in items[1::2]]
    members = dict(zip(names, flows, strict=True)) if all(names) else None
    text = "struct(" + ", ".join(flow.text for flow in flows) + ")"
    dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in flows)
    return Flow(dependencies, text=text, description=text, members=members)


@expression("UpdateFields")
def update_fields(node: Node, scope: Scope) -> Flow:
    """`s.withField("x", a)` → s and a TRANSFORMATION; member x leads to a, every other member to s."""
    base = scope(node.node("structExpr"))
    updates = [item for item in node.nodes("fieldOps") if item.kind == "WithField"]
    members = {item.text("name"): scope(item.node("valExpr")) for item in updates}
    dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in (base, *members.values()))
    text = expression_text(node, scope)
    return Flow(dependencies, text=text, description=text, members=members, bases=(base,))


def struct_fitted_by_if(node: Node) -> Node | None:
    """`if(s is null, null, struct(s.x, …))` → s. The analyzer rebuilds a struct like this to fit its target."""
    test, null, created = node.node("predicate"), node.node("trueValue"), node.node("falseValue")
    whole = test.optional("child") if test.kind == "IsNull" else None
    if whole is None or null.text("sql") != "NULL" or created.kind != "CreateNamedStruct":
        return None
    source = _struct_of_members(created)
    return whole if source is not None and _is_same(source, whole) else None


def _struct_fitted_by_casts(created: Node) -> Node | None:
    """`struct(cast(s.x as t), …)` → s. Spark 3.5 rebuilds a struct like this; casts of the user do not count."""
    has_casts = all(item.kind == "Cast" and not item.get("by_user") for item in created.nodes("children")[1::2])
    return _struct_of_members(created) if has_casts else None


def _struct_of_members(created: Node) -> Node | None:
    """`struct(s.x, s.y)` → s; None if a value is not a member of s."""
    values = [value for _, value in struct_members(created)]
    if not values or any(value.kind != "GetStructField" for value in values):
        return None
    whole = values[0].node("child")
    return whole if all(_is_same(value.node("child"), whole) for value in values) else None


def struct_members(created: Node) -> list[tuple[str, Node]]:
    """`struct(a as x, cast(b as t) as y)` → (x, a), (y, b), without the casts that the analyzer added."""
    items = created.nodes("children")
    return [(literal_string(name), _strip_casts(value)) for name, value in zip(items[0::2], items[1::2], strict=True)]


def _strip_casts(node: Node) -> Node:
    while node.kind in {"Alias", "Cast"} and not node.get("by_user"):
        node = node.node("child")
    return node


def _is_same(left: Node, right: Node) -> bool:
    return left is right or (left.kind == right.kind == "AttributeReference" and left.text("id") == right.text("id"))


def rename_members(whole: Flow, members: list[tuple[str, Node]]) -> Flow:
    """A struct whose members have the names of the target; `whole` itself if no name differs."""
    if all(name == value.text("field") for name, value in members):
        return whole
    renamed = {name: read_member(whole, value.text("field")) for name, value in members}
    return replace(whole, members=renamed, column=None)
