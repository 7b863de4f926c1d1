"""Columns, aliases, casts, literals, and the default rule for functions."""

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
    """`upper(a)` → a TRANSFORMATION. A function that the analyzer replaces by another one has the effects of that."""
    replacement = node.optional("replacement")
    if replacement is not None:
        return replace(
            scope(replacement),
            text=expression_text(node, scope, skip=replacement),
            members=None,
            column=None,
        )
    dependencies = merge(apply_effect(scope(inner).dependencies, Effect.TRANSFORMATION) for inner in node.expressions)
    text = expression_text(node, scope)
    return Flow(dependencies, text=text, description=text)


@expression("AttributeReference")
def column(node: Node, scope: Scope) -> Flow:
    """`a` → a IDENTITY."""
    found = scope.columns.get(node.text("id"))
    return found if found is not None else Flow(text=node.text("name"))


@expression("OuterReference")
def outer_column(node: Node, scope: Scope) -> Flow:
    """`o.b` in `exists (select 1 from t where t.a = o.b)` → b IDENTITY, found in an outer query."""
    reference = node.expressions[0]
    outer = scope.outer
    while outer is not None and reference.text("id") not in outer.columns:
        outer = outer.outer
    return qualify(outer(reference)) if outer is not None else Flow(text=reference.text("name"))


@expression("Alias")
def alias(node: Node, scope: Scope) -> Flow:
    """`a + b as c` → the flow of a + b, described as `a + b`. Later expressions refer to a long one as `c`."""
    flow = scope(node.node("child"))
    if flow.column is not None:
        return flow
    text = flow.text if len(flow.text) <= MAX_INLINE_CHARS else node.text("name")
    return replace(flow, text=text, description=flow.text)


@expression("Literal", "NamedLambdaVariable")
def literal(node: Node, scope: Scope) -> Flow:
    """`42`, or the variable of a lambda → no input."""
    return Flow(text=render(node, ()))


@expression("Cast")
def cast(node: Node, scope: Scope) -> Flow:
    """`cast(a as string)` → a TRANSFORMATION; a cast that the analyzer added → a IDENTITY."""
    inner = scope(node.node("child"))
    if not node.get("by_user"):
        return inner
    text = f"cast({inner.text} as {node.text('dataType')})"
    return Flow(apply_effect(inner.dependencies, Effect.TRANSFORMATION), text=text, description=text)


@expression(
    "KnownNotNull",
    "KnownNullable",
    "AssertNotNull",
    "CheckOverflowInTableInsert",
    "CheckOverflowInTableWrite",
)
def analyzer_wrapper(node: Node, scope: Scope) -> Flow:
    """`knownnotnull(a)` and other wrappers of the analyzer that do not change the value → a IDENTITY."""
    return scope(node.expressions[0])


@expression("StaticInvoke")
def static_invoke(node: Node, scope: Scope) -> Flow:
    """The analyzer's length check of a CHAR or VARCHAR column a → a IDENTITY; any other call → TRANSFORMATION."""
    if node.text("functionName") in {"charTypeWriteSideCheck", "varcharTypeWriteSideCheck", "readSidePadding"}:
        return scope(node.nodes("arguments")[0])
    return any_function(node, scope)


@expression("SQLScalarFunction")
def sql_function(node: Node, scope: Scope) -> Flow:
    """`double(a)` with `create function double(x int) … return x * 2` → the flow of its body, `a * 2`."""
    arguments = tuple(scope(inner).text for inner in node.nodes("inputs"))
    return replace(scope(node.node("child")), text=render(node, arguments), members=None, column=None)


@expression("SortOrder")
def sort_order(node: Node, scope: Scope) -> Flow:
    """`a desc` → a IDENTITY."""
    inner = scope(node.node("child"))
    suffix = " DESC" if "Desc" in node.text("direction") else ""
    return Flow(inner.dependencies, text=inner.text + suffix)


@expression("With")
def with_common_expressions(node: Node, scope: Scope) -> Flow:
    """`with x := a + b in x * x`, an expression of the analyzer → the flow of `x * x`."""
    return scope(node.node("child"))


@expression("CommonExpressionDef")
def common_expression(node: Node, scope: Scope) -> Flow:
    """`x := a + b` → the flow of a + b, kept for the references to x."""
    flow = scope(node.node("child"))
    scope.common_expressions[_common_key(node)] = flow
    return flow


@expression("CommonExpressionRef")
def common_expression_reference(node: Node, scope: Scope) -> Flow:
    """`x` → the flow of its definition."""
    return scope.common_expressions.get(_common_key(node), EMPTY_FLOW)


def _common_key(node: Node) -> str:
    return str(node.get("id"))


def literal_string(node: Node) -> str:
    """`'it\\'s'` → it's: the value of a string literal."""
    text = node.text("sql")
    return text[1:-1].replace("\\'", "'").replace("\\\\", "\\") if text[:1] == "'" else text


def expression_text(node: Node, scope: Scope, skip: Node | None = None) -> str:
    """The SQL text of an expression; `skip` is an argument that is not part of the text."""
    return render(node, tuple(scope(each).text for each in node.expressions if each is not skip))
