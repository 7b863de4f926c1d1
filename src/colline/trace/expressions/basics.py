"""Columns, aliases, casts, structs, and the rule for every function that has none of its own."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.flow import EMPTY_FLOW, MAX_INLINE_CHARS, Flow, apply_effect, merge, qualify
from colline.trace.rule_registry import expression
from colline.trace.sql_text import render
from colline.trace.tracer import Scope


@expression("*")
def any_function(node: Node, scope: Scope) -> Flow:
    """`upper(a)` → a transformation; a function that stands for another one has that one's effects."""
    replacement = node.optional("replacement")
    if replacement is not None:
        return replace(
            scope(replacement),
            text=expression_text(node, scope, leave_out=replacement),
            members=None,
            column=None,
        )
    dependencies = merge(apply_effect(scope(inner).dependencies, Effect.TRANSFORMATION) for inner in node.expressions)
    text = expression_text(node, scope)
    return Flow(dependencies, text=text, description=text)


@expression("AttributeReference")
def column(node: Node, scope: Scope) -> Flow:
    """`a` → a identity"""
    found = scope.columns.get(node.text("id"))
    return found if found is not None else Flow(text=node.text("name"))


@expression("OuterReference")
def outer_column(node: Node, scope: Scope) -> Flow:
    """A column of the query around this sub-query."""
    referred = node.expressions[0]
    around = scope.outer
    while around is not None and referred.text("id") not in around.columns:
        around = around.outer
    return qualify(around(referred)) if around is not None else Flow(text=referred.text("name"))


@expression("Alias")
def alias(node: Node, scope: Scope) -> Flow:
    """`a + b as c` → c is described as `a + b`, and later referred to by it while it is short"""
    flow = scope(node.node("child"))
    if flow.column is not None:
        return flow
    text = flow.text if len(flow.text) <= MAX_INLINE_CHARS else node.text("name")
    return replace(flow, text=text, description=flow.text)


@expression("Literal", "NamedLambdaVariable")
def literal(node: Node, scope: Scope) -> Flow:
    """`42`, or the variable of a lambda → no input"""
    return Flow(text=render(node, ()))


@expression("Cast", "AnsiCast")
def cast(node: Node, scope: Scope) -> Flow:
    """`cast(a as string)` → a transformation; a cast that the analyzer added keeps identity"""
    inner = scope(node.node("child"))
    if not node.get("by_user"):
        return inner
    text = f"cast({inner.text} as {node.text('dataType')})"
    return Flow(apply_effect(inner.dependencies, Effect.TRANSFORMATION), text=text, description=text)


@expression(
    "KnownNotNull",
    "KnownNullable",
    "KnownFloatingPointNormalized",
    "NormalizeNaNAndZero",
    "AssertNotNull",
    "CheckOverflowInTableInsert",
    "CheckOverflowInTableWrite",
    "CheckOverflow",
    "PromotePrecision",
    "TempResolvedColumn",
    "UpCast",
    "LazyExpression",
    "UnresolvedAlias",
)
def analyzer_wrapper(node: Node, scope: Scope) -> Flow:
    """What the analyzer wraps around an expression without changing its value."""
    return scope(node.expressions[0])


@expression("StaticInvoke")
def static_invoke(node: Node, scope: Scope) -> Flow:
    """The checks of CHAR and VARCHAR columns keep identity, any other static call transforms."""
    if node.text("functionName") in {"charTypeWriteSideCheck", "varcharTypeWriteSideCheck", "readSidePadding"}:
        return scope(node.nodes("arguments")[0])
    return any_function(node, scope)


@expression("SQLScalarFunction")
def sql_function(node: Node, scope: Scope) -> Flow:
    """`create function double(x int) … return x * 2` → what its body does with its arguments"""
    arguments = tuple(scope(inner).text for inner in node.nodes("inputs"))
    return replace(scope(node.node("child")), text=render(node, arguments), members=None, column=None)


@expression("SortOrder")
def sort_order(node: Node, scope: Scope) -> Flow:
    """`a desc` → what reaches a"""
    inner = scope(node.node("child"))
    suffix = " DESC" if "Desc" in node.text("direction") else ""
    return Flow(inner.dependencies, text=inner.text + suffix)


@expression("With")
def with_common_expressions(node: Node, scope: Scope) -> Flow:
    """An expression over common parts, which are evaluated first."""
    return scope(node.node("child"))


@expression("CommonExpressionDef")
def common_expression(node: Node, scope: Scope) -> Flow:
    """The definition of a common part."""
    flow = scope(node.node("child"))
    scope.common_expressions[_common_key(node)] = flow
    return flow


@expression("CommonExpressionRef")
def common_expression_reference(node: Node, scope: Scope) -> Flow:
    """A reference to a common part."""
    return scope.common_expressions.get(_common_key(node), EMPTY_FLOW)


def _common_key(node: Node) -> str:
    return str(node.get("id"))


def literal_string(node: Node) -> str:
    """The value of a string literal."""
    text = node.text("sql")
    return text[1:-1].replace("\\'", "'").replace("\\\\", "\\") if text[:1] == "'" else text


def expression_text(node: Node, scope: Scope, leave_out: Node | None = None) -> str:
    """The expression as text, of the texts of what is inside."""
    return render(node, tuple(scope(inner).text for inner in node.expressions if inner is not leave_out))
