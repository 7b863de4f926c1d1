"""Structs: reading, creating and updating members. The analyzer also rebuilds structs to fit the type of a target."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.expressions.basics import expression_text, literal_string
from colline.trace.flow import EMPTY_FLOW, Flow, apply_effect, merge, read_member
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
    """`s.withField("x", a).dropFields("y")` → a, and the members of s other than x and y, TRANSFORMATION."""
    base = scope(node.node("structExpr"))
    updates = {item.text("name"): item.node("valExpr") for item in node.nodes("fieldOps") if item.kind == "WithField"}
    members = {name: scope(updates[name]) if name in updates else read_member(base, name) for name in _names(node)}
    dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in members.values())
    text = expression_text(node, scope)
    return Flow(dependencies, text=text, description=text, members=members)


def _names(node: Node) -> tuple[str, ...]:
    """The names of the members of a struct."""
    return node.strings("members")


def struct_fitted_by_if(node: Node) -> Node | None:
    """`if(s is null, null, struct(s.x, null as y))` → s. The analyzer rebuilds a struct like this to fit its target."""
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
    """`struct(s.x, null as y)` → s; None if a value is neither a member of s nor NULL, or a member is left out."""
    values = [value for _, value in struct_members(created) if not _is_null(value)]
    if not values or any(value.kind != "GetStructField" for value in values):
        return None
    whole, width = values[0].node("child"), values[0].text("width")
    has_all = not width or len({value.text("field") for value in values}) == int(width)
    return whole if has_all and all(_is_same(value.node("child"), whole) for value in values) else None


def struct_members(created: Node) -> list[tuple[str, Node]]:
    """`struct(a as x, cast(b as t) as y)` → (x, a), (y, b), without the casts that the analyzer added."""
    items = created.nodes("children")
    return [(literal_string(name), _strip_casts(value)) for name, value in zip(items[0::2], items[1::2], strict=True)]


def _strip_casts(node: Node) -> Node:
    while node.kind in {"Alias", "Cast"} and not node.get("by_user"):
        node = node.node("child")
    return node


def _is_null(node: Node) -> bool:
    return node.kind == "Literal" and node.text("sql") in {"NULL"}


def _is_same(left: Node, right: Node) -> bool:
    return left is right or (left.kind == right.kind == "AttributeReference" and left.text("id") == right.text("id"))


def rename_members(whole: Flow, members: list[tuple[str, Node]]) -> Flow:
    """A struct whose members have the names of the target; `whole` itself if no name differs."""
    if all(name == value.text("field") for name, value in members):
        return whole
    renamed = {
        name: EMPTY_FLOW if _is_null(value) else read_member(whole, value.text("field")) for name, value in members
    }
    has_new_members = any(_is_null(value) for _, value in members)
    return replace(whole, members=renamed, column=whole.column if has_new_members else None)


def member_names(data_type: str) -> tuple[str, ...]:
    """`struct<x:int,y:struct<z:int>>` → x, y. Empty for another type, and for a type that Spark has shortened."""
    if not data_type.startswith("struct<") or " more fields" in data_type:
        return ()
    parts, depth = [""], 0
    for character in data_type[len("struct<") : -1]:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part.partition(":")[0] for part in parts)
