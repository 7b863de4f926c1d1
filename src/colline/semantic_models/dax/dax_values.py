"""The lineage of a DAX value: which columns and measures it depends on, and how.

`RULES` has one function per DAX function with a rule of its own; any other function transforms its arguments. Every
argument is evaluated once, so that the time is linear in the size of the expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from colline.semantic_models.dax import dax_functions as known
from colline.semantic_models.dax.dax_scope import DaxScope, DaxTable, DaxValue
from colline.semantic_models.dax.dax_syntax import (
    Block,
    Call,
    Constant,
    DaxNode,
    FieldReference,
    NameReference,
    Operation,
    TableRows,
)
from colline.semantic_models.semantic_model import Relationship
from colline.trace import Effect
from colline.trace.flow import NO_DEPENDENCIES, Dependencies, apply_effect, merge

Rule = Callable[[Call, DaxScope], Dependencies]
RULES: dict[str, Rule] = {}


def rule(functions: Iterable[str]) -> Callable[[Rule], Rule]:
    """Registers a function for names of DAX functions; a second rule for a name is an error."""

    def register(function: Rule) -> Rule:
        for name in functions:
            assert name not in RULES, f"two rules for {name}"
            RULES[name] = function
        return function

    return register


def scalar(node: DaxNode, scope: DaxScope) -> Dependencies:
    """The dependencies of a value. A table is all of its columns and what decides its rows."""
    value = evaluate(node, scope)
    return merge((value.relation.all_dependencies, value.rows)) if isinstance(value, DaxTable) else value


def evaluate(node: DaxNode, scope: DaxScope) -> DaxValue:
    """The dependencies of a scalar, or a table."""
    if isinstance(node, Constant):
        return NO_DEPENDENCIES
    if isinstance(node, FieldReference):
        return scope.field(node)
    if isinstance(node, NameReference):
        return _named_value(node, scope)
    if isinstance(node, Operation):
        return apply_effect(merge(scalar(each, scope) for each in node.operands), Effect.TRANSFORMATION)
    if isinstance(node, Block):
        return _block(node, scope)
    return _call_or_rows(node, scope)


def _call_or_rows(node: Call | TableRows, scope: DaxScope) -> DaxValue:
    from colline.semantic_models.dax.dax_tables import TABLE_RULES, rows_table

    if isinstance(node, TableRows):
        return rows_table(node, scope)
    function = TABLE_RULES.get(node.function)
    if function is not None:
        return function(node, scope)
    return RULES.get(node.function, _transform)(node, scope)


def _block(node: Block, scope: DaxScope) -> DaxValue:
    for name, value in node.variables:
        scope = scope.with_variable(name, evaluate(value, scope))
    return evaluate(node.result, scope)


def _named_value(node: NameReference, scope: DaxScope) -> DaxValue:
    """A variable, a table, or a keyword such as DESC."""
    if not node.is_quoted and node.name.lower() in scope.variables:
        return scope.variables[node.name.lower()]
    table = scope.names.table(node.name)
    if table is not None:
        return scope.base_table(table)
    if node.is_quoted or node.name.upper() not in known.KEYWORDS:
        scope.findings.unresolved.setdefault(node.name, node.line)
    return NO_DEPENDENCIES


def argument(call: Call, position: int) -> DaxNode:
    """An argument; an omitted one is an empty constant."""
    return call.arguments[position] if position < len(call.arguments) else Constant("")


def scalars(nodes: Iterable[DaxNode], scope: DaxScope) -> Dependencies:
    """The dependencies of several values together."""
    return merge(scalar(node, scope) for node in nodes)


def table_of(node: DaxNode, scope: DaxScope) -> DaxTable:
    """The table that an argument is; a column where a table is expected is the table of its values."""
    from colline.semantic_models.dax.dax_tables import table_of_values

    value = evaluate(node, scope)
    return value if isinstance(value, DaxTable) else table_of_values(value, scope)


def _transform(call: Call, scope: DaxScope) -> Dependencies:
    """`ROUND(a, 2)` → a TRANSFORMATION. A function that a model defines is evaluated with its arguments."""
    if call.function.lower() in {name.lower() for name in scope.names.model.functions}:
        scope.findings.opaque.setdefault(f"the function {call.function}", call.line)
    found = []
    for each in call.arguments:
        value = evaluate(each, scope)
        found.append(value.rows if isinstance(value, DaxTable) and value.is_base else _all_of(value))
    return apply_effect(merge(found), Effect.TRANSFORMATION)


def _all_of(value: DaxValue) -> Dependencies:
    return merge((value.relation.all_dependencies, value.rows)) if isinstance(value, DaxTable) else value


@rule(known.AGGREGATIONS)
def _aggregation(call: Call, scope: DaxScope) -> Dependencies:
    """`SUM(Sales[Amount])` → Amount AGGREGATION; a count masks; `MAX(a, b)` of two values transforms them."""
    is_of_values = call.function in {"MIN", "MAX", "MINA", "MAXA"} and len(call.arguments) > 1
    effect = Effect.TRANSFORMATION if is_of_values else Effect.AGGREGATION
    return apply_effect(scalars(call.arguments, scope), effect, masking=call.function in known.COUNTS)


@rule(["COUNTROWS", "ISEMPTY"])
def _row_count(call: Call, scope: DaxScope) -> Dependencies:
    """`COUNTROWS(FILTER(Sales, Sales[Qty] > 0))` → Qty FILTER; the number of rows has no direct input."""
    return table_of(argument(call, 0), scope).rows if call.arguments else NO_DEPENDENCIES


@rule(known.ITERATORS)
def _iteration(call: Call, scope: DaxScope) -> Dependencies:
    """`SUMX(Sales, [Qty] * [Price])` → Qty and Price AGGREGATION, and what decides the rows of the table."""
    table = table_of(argument(call, 0), scope)
    inner = scope.for_rows(table)
    value = scalar(argument(call, 1), inner)
    rest = scalars(call.arguments[2:], inner)
    effect = Effect.SORT if call.function == "CONCATENATEX" else Effect.AGGREGATION
    aggregated = apply_effect(value, Effect.AGGREGATION, masking=call.function in known.COUNTS)
    joins = scope.joins(table.tables, scope.tables_of(value))
    return merge((aggregated, apply_effect(rest, effect), table.rows, joins))


@rule(["CALCULATE"])
def _calculate(call: Call, scope: DaxScope) -> Dependencies:
    """`CALCULATE([Total], Store[City] = "Lyon")` → Total unchanged; City FILTER; the keys between them JOIN."""
    filters = call.arguments[1:]
    inner = scope.with_relationships(used_relationships(filters, scope))
    value = scalar(argument(call, 0), inner)
    condition, tables = filter_dependencies(filters, scope)
    return merge((value, condition, inner.joins(tables, scope.tables_of(value))))


@rule(known.TIME_TOTALS)
def _total_to_date(call: Call, scope: DaxScope) -> Dependencies:
    """`TOTALYTD([Total], 'Date'[Date])` is `CALCULATE([Total], DATESYTD('Date'[Date]))`."""
    return _calculate(call, scope)


def used_relationships(filters: Sequence[DaxNode], scope: DaxScope) -> list[Relationship]:
    """The relationships that USERELATIONSHIP activates."""
    found = []
    for each in filters:
        if isinstance(each, Call) and each.function == "USERELATIONSHIP":
            keys = [key for node in each.arguments for key in scalar(node, scope)]
            relationship = scope.names.relationship_between(*keys) if len(keys) == 2 else None
            found += [relationship] if relationship is not None else []
    return found


def filter_dependencies(filters: Iterable[DaxNode], scope: DaxScope) -> tuple[Dependencies, frozenset[str]]:
    """Filter arguments of CALCULATE, and the tables that they filter.

    Their columns are FILTER; those of USERELATIONSHIP and CROSSFILTER are JOIN.
    """
    found = [_filter(each, scope) for each in filters]
    return merge(each for each, _ in found), frozenset().union(*(tables for _, tables in found))


def _filter(node: DaxNode, scope: DaxScope) -> tuple[Dependencies, frozenset[str]]:
    if isinstance(node, Call) and node.function in known.FILTER_WRAPPERS:
        return filter_dependencies(node.arguments, scope)
    if isinstance(node, Call) and node.function in {"USERELATIONSHIP", "CROSSFILTER"}:
        return apply_effect(scalars(node.arguments[:2], scope), Effect.JOIN), frozenset()
    value = evaluate(node, scope)
    if not isinstance(value, DaxTable):
        return apply_effect(value, Effect.FILTER), scope.tables_of(value)
    columns = NO_DEPENDENCIES if value.is_base else value.relation.all_dependencies
    return merge((_rows_as_filter(value.rows), apply_effect(columns, Effect.FILTER))), frozenset(value.tables)


def _rows_as_filter(rows: Dependencies) -> Dependencies:
    """What decides the rows of a filter table decides which values are included; join keys stay join keys."""
    joins = {column: frozenset(each for each in found if each.effect is Effect.JOIN) for column, found in rows.items()}
    others = {column: found - joins[column] for column, found in rows.items() if found - joins[column]}
    kept = {column: found for column, found in joins.items() if found}
    return merge((kept, apply_effect(others, Effect.FILTER)))


@rule(known.CONDITIONS)
def _condition(call: Call, scope: DaxScope) -> Dependencies:
    """`IF(p, a, b)` → p CONDITIONAL; a and b TRANSFORMATION. `SWITCH(x, 1, a, b)` → x CONDITIONAL; a and b."""
    first, *rest = call.arguments or (Constant(""),)
    tests, values = [first], list(rest)
    if call.function == "SWITCH":
        tests, values = [first, *rest[0:-1:2]], [*rest[1::2], *(rest[-1:] if len(rest) % 2 else [])]
    return _choice(scalars(tests, scope), scalars(values, scope))


@rule(known.CHOICES)
def _first_value(call: Call, scope: DaxScope) -> Dependencies:
    """`COALESCE(a, b)` → a and b both CONDITIONAL and TRANSFORMATION."""
    found = scalars(call.arguments, scope)
    return _choice(found, found)


def _choice(tests: Dependencies, values: Dependencies) -> Dependencies:
    return merge((apply_effect(tests, Effect.CONDITIONAL), apply_effect(values, Effect.TRANSFORMATION)))


@rule(["RELATED"])
def _related_value(call: Call, scope: DaxScope) -> Dependencies:
    """`RELATED(Product[Name])` → Name unchanged, and the keys of the relationships on the way JOIN."""
    value = scalars(call.arguments, scope)
    sources = [table for each in scope.rows[-1:] for table in each.tables] or ([scope.home] if scope.home else [])
    return merge((value, scope.joins(sources, scope.tables_of(value))))


@rule(["LOOKUPVALUE"])
def _lookup(call: Call, scope: DaxScope) -> Dependencies:
    """`LOOKUPVALUE(Rate[Value], Rate[Code], Sales[Code])` → Value unchanged; both codes JOIN."""
    keys = call.arguments[1:] if len(call.arguments) % 2 else call.arguments[1:-1]
    default = () if len(call.arguments) % 2 else call.arguments[-1:]
    joined = apply_effect(scalars(keys, scope), Effect.JOIN)
    return merge((scalar(argument(call, 0), scope), joined, scalars(default, scope)))


@rule(["EARLIER", "EARLIEST", "EVALUATEANDLOG"])
def _pass_through(call: Call, scope: DaxScope) -> Dependencies:
    """`EARLIER(Sales[Amount])` → Amount unchanged."""
    return scalar(argument(call, 0), scope)


@rule(["RANKX"])
def _rank(call: Call, scope: DaxScope) -> Dependencies:
    """`RANKX(ALL(Store), [Total])` → Total WINDOW, and what decides the rows of the table."""
    table = table_of(argument(call, 0), scope)
    value = scalar(argument(call, 1), scope.for_rows(table))
    order = merge((value, scalar(argument(call, 2), scope)))
    joins = scope.joins(table.tables, scope.tables_of(value))
    return merge((apply_effect(order, Effect.WINDOW), table.rows, joins))


@rule(["RANK", "ROWNUMBER", "RANK.EQ", *known.WINDOW_PARTS])
def _window(call: Call, scope: DaxScope) -> Dependencies:
    """`ROWNUMBER(ORDERBY(Sales[Date]))` → Date WINDOW."""
    found = []
    for each in call.arguments:
        value = evaluate(each, scope)
        found.append(value.rows if isinstance(value, DaxTable) else value)
    return apply_effect(merge(found), Effect.WINDOW)


@rule(["FIRSTNONBLANKVALUE", "LASTNONBLANKVALUE"])
def _value_of_first_date(call: Call, scope: DaxScope) -> Dependencies:
    """`LASTNONBLANKVALUE('Date'[Date], [Stock])` → Stock AGGREGATION; Date SORT."""
    order = apply_effect(scalar(argument(call, 0), scope), Effect.SORT)
    return merge((apply_effect(scalar(argument(call, 1), scope), Effect.AGGREGATION), order))


@rule(known.OPAQUE_FUNCTIONS)
def _opaque(call: Call, scope: DaxScope) -> Dependencies:
    """`SELECTEDMEASURE()`: the measure that a calculation group is applied to is not known."""
    scope.findings.opaque.setdefault(call.function, call.line)
    return NO_DEPENDENCIES
