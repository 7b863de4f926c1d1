"""The flow of an expression: which columns it is computed from, and how.

`DEPENDENCIES` has one function per class of sqlglot's nodes. A class without a function transforms its children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import exp

from colline.sql_lineage.sql_functions import (
    CASE_FUNCTIONS,
    CHOICE_FUNCTIONS,
    DECRYPTIONS,
    function_name,
    is_aggregate,
    is_masking,
    is_rank,
    is_value_of_another_row,
)
from colline.sql_lineage.sql_scope import SqlScope
from colline.trace import Effect
from colline.trace.flow import (
    NO_DEPENDENCIES,
    Dependencies,
    Flow,
    apply_effect,
    clear_masking,
    merge,
    read_member,
    truncate,
)

Rule = Callable[[Any, SqlScope], Dependencies]
_Rule = TypeVar("_Rule", bound=Rule)
DEPENDENCIES: dict[type, Rule] = {}
MAX_TEXT_CHARS = 20_000  # the text of a longer expression is not rendered


def rule(*class_names: str) -> Callable[[_Rule], _Rule]:
    """Registers a function for classes of sqlglot; a class that this version does not have is skipped."""

    def register(function: _Rule) -> _Rule:
        for name in class_names:
            if hasattr(exp, name):
                DEPENDENCIES[getattr(exp, name)] = function
        return function

    return register


def expression_flow(node: Any, scope: SqlScope) -> Flow:
    """The flow of a value: a column as it is, or an expression with its text."""
    while isinstance(node, (exp.Paren, exp.Alias, exp.Aliases)):
        node = node.this
    if isinstance(node, (exp.Column, exp.Dot)):
        return column_or_member(node, scope)
    if isinstance(node, exp.Struct):
        return _struct(node, scope)
    text = scope.context.sql(node)
    return Flow(dependencies(node, scope), text=truncate(text), description=truncate(text))


def dependencies(node: Any, scope: SqlScope) -> Dependencies:
    """The columns that an expression is computed from, with their effects on it."""
    function = DEPENDENCIES.get(type(node))
    return function(node, scope) if function is not None else _transform(node, scope)


def indirect(nodes: Iterable[Any], scope: SqlScope, effect: Effect) -> Dependencies:
    """Expressions that do not become values: conditions, keys, orders. Each AND part is described on its own."""
    parts = [part for node in nodes if node is not None for part in _conjuncts(node)]
    found = (apply_effect(dependencies(part, scope), effect, text=scope.context.sql(part)) for part in parts)
    return merge(found)


def _conjuncts(node: Any) -> list[Any]:
    while isinstance(node, (exp.Where, exp.Having, exp.Qualify, exp.Paren)):
        node = node.this
    return list(node.flatten()) if isinstance(node, exp.And) else [node]


def _children(node: Any) -> Iterator[Any]:
    for value in node.args.values():
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, exp.Expression):
                yield child


def _merge_nodes(nodes: Iterable[Any], scope: SqlScope) -> Dependencies:
    return merge(dependencies(node, scope) for node in nodes)


def _transform(node: Any, scope: SqlScope) -> Dependencies:
    """`upper(a)`, `a + b`, `cast(a as int)` → TRANSFORMATION; `sum(a)` → AGGREGATION; `md5(a)` masks."""
    name = function_name(node)
    if name in CHOICE_FUNCTIONS:
        return _tested_and_chosen(node, scope)
    if name in CASE_FUNCTIONS:
        return _decode(node, scope)
    children = node.flatten(unnest=False) if isinstance(node, (exp.Connector, exp.Binary)) else _children(node)
    is_grouped = is_aggregate(node) and not is_value_of_another_row(node)
    effect = Effect.AGGREGATION if is_grouped else Effect.TRANSFORMATION
    found = apply_effect(_merge_nodes(children, scope), effect, masking=is_masking(node))
    return clear_masking(found) if name in DECRYPTIONS else found


@rule("Column", "Dot")
def _column(node: Any, scope: SqlScope) -> Dependencies:
    """`t.a` → a; `address.zip` of a struct → address.zip."""
    return column_or_member(node, scope).dependencies


def column_or_member(node: Any, scope: SqlScope) -> Flow:
    """The flow of a column, or of a member of a struct."""
    if isinstance(node, exp.Dot):
        member = node.expression
        whole = expression_flow(node.this, scope)
        if isinstance(member, exp.Identifier):
            return read_member(whole, member.name)
        found = merge((whole.dependencies, dependencies(member, scope)))
        return Flow(apply_effect(found, Effect.TRANSFORMATION), text=scope.context.sql(node))
    if isinstance(node.this, exp.Star) or node.name.lower() in scope.lambda_names:
        return Flow()
    parts = scope.context.parts(node)
    return Flow() if parts[0].lower() in scope.lambda_names else scope.column(parts)


def _struct(node: Any, scope: SqlScope) -> Flow:
    """`struct(a as x, b as y)` → a and b TRANSFORMATION; its members are known separately."""
    members: dict[str, Flow] = {}
    for at, item in enumerate(node.expressions):
        value = item.expression if isinstance(item, exp.PropertyEQ) else item
        name = item.this.name if isinstance(item, exp.PropertyEQ) else item.alias_or_name
        members[name or f"col{at + 1}"] = expression_flow(value, scope)
    found = apply_effect(merge(flow.dependencies for flow in members.values()), Effect.TRANSFORMATION)
    text = truncate(scope.context.sql(node))
    return Flow(found, text=text, description=text, members=members)


@rule("Literal", "Null", "Boolean", "Star", "DataType", "Placeholder", "Parameter", "SessionParameter", "Identifier")
def _constant(_node: Any, _scope: SqlScope) -> Dependencies:
    """`1`, `null`, `@day` → no input."""
    return NO_DEPENDENCIES


@rule(
    "Var",
    "Interval",
    "Grouping",
    "GroupingId",
    "CurrentDate",
    "CurrentTimestamp",
    "CurrentTime",
    "CurrentUser",
    "Rand",
    "Uuid",
    "Hint",
)
def _constant_function(_node: Any, _scope: SqlScope) -> Dependencies:
    """`current_date`, `rand()` → no input."""
    return NO_DEPENDENCIES


@rule("Paren", "Alias", "Ordered", "Distinct", "Kwarg", "PropertyEQ", "Order", "Tuple", "Group")
def _pass_through(node: Any, scope: SqlScope) -> Dependencies:
    """`(a)`, `a desc`, `distinct a` → a."""
    if isinstance(node, (exp.Kwarg, exp.PropertyEQ)):
        return dependencies(node.expression, scope)
    return _merge_nodes(_children(node), scope)


@rule("Case")
def _case(node: Any, scope: SqlScope) -> Dependencies:
    """`case when p then a else b end` → p CONDITIONAL; a and b TRANSFORMATION."""
    branches = node.args.get("ifs") or []
    conditions = [node.this, *(branch.this for branch in branches)]
    values = [*(branch.args.get("true") for branch in branches), node.args.get("default")]
    return _choice(conditions, values, scope)


@rule("If", "Nvl2")
def _if(node: Any, scope: SqlScope) -> Dependencies:
    """`if(p, a, b)` → p CONDITIONAL; a and b TRANSFORMATION."""
    return _choice([node.this], [node.args.get("true"), node.args.get("false")], scope)


@rule("Nullif")
def _nullif(node: Any, scope: SqlScope) -> Dependencies:
    """`nullif(a, b)` → a and b CONDITIONAL; a TRANSFORMATION."""
    return _choice([node.this, node.expression], [node.this], scope)


@rule("Coalesce")
def _tested_and_chosen(node: Any, scope: SqlScope) -> Dependencies:
    """`coalesce(a, b)` → a and b both CONDITIONAL and TRANSFORMATION."""
    arguments = list(_children(node))
    return _choice(arguments, arguments, scope)


@rule("DecodeCase")
def _decode(node: Any, scope: SqlScope) -> Dependencies:
    """`decode(a, 1, b, c)` → a CONDITIONAL; b and c TRANSFORMATION."""
    first, *rest = list(_children(node)) or [None]
    tests, values = rest[0::2], rest[1::2]
    if len(rest) % 2:
        values.append(tests.pop())
    return _choice([first, *tests], values, scope)


def _choice(conditions: Iterable[Any], values: Iterable[Any], scope: SqlScope) -> Dependencies:
    chosen = (dependencies(value, scope) for value in values if value is not None)
    transformed = apply_effect(merge(chosen), Effect.TRANSFORMATION)
    return merge((indirect(conditions, scope, Effect.CONDITIONAL), transformed))


@rule("Filter")
def _filtered_aggregate(node: Any, scope: SqlScope) -> Dependencies:
    """`sum(a) filter (where b > 0)` → a AGGREGATION; b CONDITIONAL."""
    return merge((dependencies(node.this, scope), indirect([node.expression], scope, Effect.CONDITIONAL)))


@rule("WithinGroup")
def _ordered_aggregate(node: Any, scope: SqlScope) -> Dependencies:
    """`percentile_cont(0.5) within group (order by a)` → a AGGREGATION."""
    return apply_effect(_merge_nodes(_children(node), scope), Effect.AGGREGATION)


@rule("Window")
def _window(node: Any, scope: SqlScope) -> Dependencies:
    """`sum(a) over (partition by b order by c)` → a AGGREGATION; b and c WINDOW."""
    call = node.this
    while isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    value = NO_DEPENDENCIES if is_rank(call) else dependencies(call, scope)
    named = scope.windows.get(node.alias.lower()) if node.alias else None
    specifications = [node, named] if named is not None else [node]
    keys = [key for each in specifications for key in (*(each.args.get("partition_by") or ()), each.args.get("order"))]
    text = scope.context.sql(node)
    found = merge(dependencies(key, scope) for key in keys if key is not None)
    return merge((value, apply_effect(found, Effect.WINDOW, text=text)))


@rule("Subquery", "Select", "Union", "Intersect", "Except", "SetOperation")
def _scalar_subquery(node: Any, scope: SqlScope) -> Dependencies:
    """`(select max(a) from t where b > 0)` → a AGGREGATION; b FILTER."""
    relation = scope.subquery(node)
    return merge((relation.all_dependencies, relation.row_dependencies))


@rule("Exists")
def _exists(node: Any, scope: SqlScope) -> Dependencies:
    """`exists (select 1 from t where t.a = o.b)` → t.a and o.b CONDITIONAL."""
    if not isinstance(node.this, exp.Query):
        return _transform(node, scope)
    rows = scope.subquery(node.this).row_dependencies
    return apply_effect(rows, Effect.CONDITIONAL, text="EXISTS (…)")


@rule("In")
def _membership(node: Any, scope: SqlScope) -> Dependencies:
    """`a in (select b from t)` → a and t.b CONDITIONAL; `a in (1, 2)` → a TRANSFORMATION."""
    query = node.args.get("query")
    if query is None:
        return _transform(node, scope)
    text = f"{scope.context.sql(node.this)} IN (…)"
    found = merge((dependencies(node.this, scope), _scalar_subquery(query, scope)))
    return apply_effect(found, Effect.CONDITIONAL, text=text)


@rule("Lambda")
def _lambda(node: Any, scope: SqlScope) -> Dependencies:
    """`x -> x + a` → a: the parameters are not columns."""
    names = frozenset(parameter.name.lower() for parameter in node.expressions)
    return dependencies(node.this, replace(scope, lambda_names=scope.lambda_names | names))
