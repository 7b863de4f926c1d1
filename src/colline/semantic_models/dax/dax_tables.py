"""The lineage of DAX table functions: the columns of the result, and what decides its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from colline.semantic_models.dax import dax_functions as known
from colline.semantic_models.dax.dax_scope import DaxScope, DaxTable
from colline.semantic_models.dax.dax_syntax import Call, Constant, DaxNode, FieldReference, TableRows
from colline.semantic_models.dax.dax_values import (
    argument,
    evaluate,
    filter_dependencies,
    scalar,
    scalars,
    table_of,
    used_relationships,
)
from colline.sql_lineage.named_relation import NamedFlow, NamedRelation, union_relation
from colline.trace import Effect
from colline.trace.flow import NO_DEPENDENCIES, UNCHANGED, Dependencies, Flow, apply_effect, merge, merge_flows

TableRule = Callable[[Call, DaxScope], DaxTable]
TABLE_RULES: dict[str, TableRule] = {}


def table_rule(functions: Iterable[str]) -> Callable[[TableRule], TableRule]:
    """Registers a function for names of DAX table functions; a second rule for a name is an error."""

    def register(function: TableRule) -> TableRule:
        for name in functions:
            assert name not in TABLE_RULES, f"two rules for {name}"
            TABLE_RULES[name] = function
        return function

    return register


def table_of_values(value: Dependencies, scope: DaxScope, name: str = "Value") -> DaxTable:
    """The table of the values of one column."""
    names = [column.field for column in value] or [name]
    columns = ((field, Flow(value, text=field)) for field in names[:1])
    return DaxTable(NamedRelation(tuple(columns)), tuple(sorted(scope.tables_of(value))))


def rows_table(node: TableRows, scope: DaxScope) -> DaxTable:
    """`{ 1, 2 }` → a table with the column Value."""
    width = max((len(row) for row in node.rows), default=0)
    values = [[scalar(cell, scope) for cell in row] for row in node.rows]
    flows = [merge_flows([Flow(row[at]) for row in values if at < len(row)]) for at in range(width)]
    names = ["Value"] if width == 1 else [f"Value{at + 1}" for at in range(width)]
    return DaxTable(NamedRelation(tuple(zip(names, flows, strict=True))))


def _with_rows(table: DaxTable, *rows: Dependencies) -> DaxTable:
    return replace(table, relation=table.relation.with_rows(*rows))


@table_rule(["FILTER"])
def _filtered_rows(call: Call, scope: DaxScope) -> DaxTable:
    """`FILTER(Sales, Sales[Qty] > 0)` → the rows of Sales; Qty FILTER."""
    table = table_of(argument(call, 0), scope)
    condition = scalar(argument(call, 1), scope.for_rows(table))
    joins = scope.joins(table.tables, scope.tables_of(condition))
    return _with_rows(table, apply_effect(condition, Effect.FILTER), joins)


@table_rule(["CALCULATETABLE"])
def _calculate_table(call: Call, scope: DaxScope) -> DaxTable:
    """`CALCULATETABLE(Sales, Store[City] = "Lyon")` → the rows of Sales; City FILTER; the keys JOIN."""
    filters = call.arguments[1:]
    inner = scope.with_relationships(used_relationships(filters, scope))
    table = table_of(argument(call, 0), inner)
    condition, tables = filter_dependencies(filters, scope)
    return _with_rows(table, condition, inner.joins(tables, table.tables))


@table_rule(known.COLUMN_TABLES)
def _column_values(call: Call, scope: DaxScope) -> DaxTable:
    """`VALUES(Customer[City])` → City, one row per value; `ALL(Customer)` → the rows of Customer."""
    values = [(each, evaluate(each, scope)) for each in call.arguments]
    tables = [value for _, value in values if isinstance(value, DaxTable)]
    columns = [(node, value) for node, value in values if not isinstance(value, DaxTable)]
    if tables and not columns:
        return tables[0]
    named = tuple((_name_of(node, at), Flow(value)) for at, (node, value) in enumerate(columns))
    groups = apply_effect(merge(value for _, value in columns), Effect.GROUP_BY)
    sources = sorted({table for _, value in columns for table in scope.tables_of(value)})
    return DaxTable(NamedRelation(named, groups), tuple(sources))


def _name_of(node: DaxNode, position: int) -> str:
    return node.name if isinstance(node, FieldReference) else f"Value{position + 1}"


@table_rule(known.TIME_TABLES)
def _dates(call: Call, scope: DaxScope) -> DaxTable:
    """`DATESYTD('Date'[Date])` → Date; its arguments decide which dates."""
    value = scalar(argument(call, 0), scope)
    table = table_of_values(value, scope, "Date")
    return _with_rows(table, apply_effect(merge((value, scalars(call.arguments[1:], scope))), Effect.FILTER))


@table_rule(["SUMMARIZE"])
def _summarize(call: Call, scope: DaxScope) -> DaxTable:
    """`SUMMARIZE(Sales, Store[City], "Total", SUM(Sales[Amount]))` → City GROUP_BY; Total from Amount."""
    table = table_of(argument(call, 0), scope)
    return _group(table, call.arguments[1:], scope.for_rows(table))


@table_rule(["SUMMARIZECOLUMNS"])
def _summarize_columns(call: Call, scope: DaxScope) -> DaxTable:
    """`SUMMARIZECOLUMNS(Store[City], FILTER(…), "Total", [Total])` → City GROUP_BY; Total; what the filters use."""
    return _group(DaxTable(NamedRelation()), call.arguments, scope)


@table_rule(["GROUPBY"])
def _group_by(call: Call, scope: DaxScope) -> DaxTable:
    """`GROUPBY(Sales, Sales[City], "Total", SUMX(CURRENTGROUP(), Sales[Amount]))`."""
    table = table_of(argument(call, 0), scope)
    inner = scope.with_variable("CURRENTGROUP()", table).for_rows(table)
    return _group(table, call.arguments[1:], inner)


@table_rule(["CURRENTGROUP"])
def _current_group(_call: Call, scope: DaxScope) -> DaxTable:
    """`CURRENTGROUP()` inside GROUPBY → the rows of its table."""
    found = scope.variables.get("CURRENTGROUP()")
    return found if isinstance(found, DaxTable) else DaxTable(NamedRelation())


def _group(table: DaxTable, arguments: Iterable[DaxNode], scope: DaxScope) -> DaxTable:
    """Columns to group by, filters, and pairs of a name and an expression."""
    columns: list[NamedFlow] = []
    rows: list[Dependencies] = [table.rows]
    sources = set(table.tables)
    nodes = iter(arguments)
    for node in nodes:
        if isinstance(node, Constant):
            columns.append((node.text, Flow(scalar(next(nodes, Constant("")), scope))))
            continue
        for key in node.arguments if isinstance(node, Call) and node.function.startswith("ROLLUP") else (node,):
            value = evaluate(key, scope)
            if isinstance(value, DaxTable):  # a filter
                rows += [value.rows, apply_effect(value.relation.all_dependencies, Effect.FILTER)]
                continue
            columns.append((_name_of(key, len(columns)), Flow(value)))
            rows.append(apply_effect(value, Effect.GROUP_BY))
            sources |= scope.tables_of(value)
            rows.append(scope.joins(table.tables, scope.tables_of(value)))
    return DaxTable(NamedRelation(tuple(columns), merge(rows)), tuple(sorted(sources)))


@table_rule(["ADDCOLUMNS"])
def _add_columns(call: Call, scope: DaxScope) -> DaxTable:
    """`ADDCOLUMNS(Store, "Total", [Total])` → the columns of Store, and Total."""
    table = table_of(argument(call, 0), scope)
    added = tuple(_named_expressions(call.arguments[1:], scope.for_rows(table)))
    relation = table.relation.with_columns((*table.relation.columns, *added))
    return DaxTable(relation, table.tables)


@table_rule(["SELECTCOLUMNS"])
def _select_columns(call: Call, scope: DaxScope) -> DaxTable:
    """`SELECTCOLUMNS(Store, "Town", Store[City])` → Town."""
    table = table_of(argument(call, 0), scope)
    columns = _named_expressions(call.arguments[1:], scope.for_rows(table))
    return DaxTable(table.relation.with_columns(columns), table.tables)


@table_rule(["ROW"])
def _row(call: Call, scope: DaxScope) -> DaxTable:
    """`ROW("Total", [Total])` → one row."""
    return DaxTable(NamedRelation(tuple(_named_expressions(call.arguments, scope))))


def _named_expressions(arguments: Iterable[DaxNode], scope: DaxScope) -> Iterator[NamedFlow]:
    """Pairs of a name and an expression; a column without a name keeps its own."""
    nodes = iter(arguments)
    for node in nodes:
        if isinstance(node, Constant):
            yield node.text, Flow(scalar(next(nodes, Constant("")), scope))
        else:
            yield _name_of(node, 0), Flow(scalar(node, scope))


@table_rule(["TOPN", "TOPNSKIP"])
def _top_rows(call: Call, scope: DaxScope) -> DaxTable:
    """`TOPN(10, Store, [Total], DESC)` → the rows of Store; Total SORT."""
    place = 1 if call.function == "TOPN" else 2
    table = table_of(argument(call, place), scope)
    order = scalars(call.arguments[place + 1 :], scope.for_rows(table))
    numbers = apply_effect(scalars(call.arguments[:place], scope), Effect.FILTER)
    joins = scope.joins(table.tables, scope.tables_of(order))
    return _with_rows(table, apply_effect(order, Effect.SORT), numbers, joins)


@table_rule(known.SET_OPERATIONS)
def _set_operation(call: Call, scope: DaxScope) -> DaxTable:
    """`UNION(a, b)` by position; INTERSECT and EXCEPT compare the columns of both."""
    tables = [table_of(each, scope) for each in call.arguments] or [DaxTable(NamedRelation())]
    sources = tuple(dict.fromkeys(name for table in tables for name in table.tables))
    if call.function == "UNION":
        return DaxTable(union_relation([table.relation for table in tables]), sources)
    compared = (table.relation.compared_columns(Effect.JOIN) for table in tables)
    rows = merge((*(table.rows for table in tables[1:]), *compared))
    return DaxTable(tables[0].relation.with_rows(rows), sources)


@table_rule(known.TABLE_PRODUCTS)
def _product(call: Call, scope: DaxScope) -> DaxTable:
    """`CROSSJOIN(a, b)`, `GENERATE(a, b)` → the columns of both; a natural join compares those with the same name."""
    tables: list[DaxTable] = []
    for each in call.arguments:
        inner = scope.for_rows(tables[-1]) if tables and call.function.startswith("GENERATE") else scope
        tables.append(table_of(each, inner))
    columns = tuple(column for table in tables for column in table.relation.columns)
    count = Counter(name.lower() for name, _ in columns)
    shared = merge(flow.dependencies for name, flow in columns if count[name.lower()] > 1)
    keys = apply_effect(shared, Effect.JOIN) if call.function.startswith("NATURAL") else NO_DEPENDENCIES
    rows = merge((*(table.rows for table in tables), keys))
    return DaxTable(NamedRelation(columns, rows), tuple(dict.fromkeys(t for table in tables for t in table.tables)))


@table_rule(["TREATAS"])
def _treat_as(call: Call, scope: DaxScope) -> DaxTable:
    """`TREATAS(VALUES(Budget[City]), Store[City])` → both cities JOIN."""
    table = table_of(argument(call, 0), scope)
    targets = scalars(call.arguments[1:], scope)
    keys = apply_effect(merge((table.relation.all_dependencies, targets)), Effect.JOIN)
    return DaxTable(NamedRelation((), merge((table.rows, keys))), tuple(sorted(scope.tables_of(targets))))


@table_rule(["RELATEDTABLE"])
def _related_table(call: Call, scope: DaxScope) -> DaxTable:
    """`RELATEDTABLE(Sales)` → the rows of Sales; the keys of the relationship JOIN."""
    table = table_of(argument(call, 0), scope)
    sources = [name for each in scope.rows[-1:] for name in each.tables] or ([scope.home] if scope.home else [])
    return _with_rows(table, scope.joins(sources, table.tables))


@table_rule(["FIRSTNONBLANK", "LASTNONBLANK"])
def _first_date(call: Call, scope: DaxScope) -> DaxTable:
    """`LASTNONBLANK('Date'[Date], [Stock])` → Date; Stock FILTER."""
    table = table_of(argument(call, 0), scope)
    condition = scalar(argument(call, 1), scope.for_rows(table))
    return _with_rows(table, apply_effect(condition, Effect.FILTER))


@table_rule(["INDEX", "OFFSET", "WINDOW"])
def _window_rows(call: Call, scope: DaxScope) -> DaxTable:
    """`OFFSET(-1, ORDERBY('Date'[Year]))` → rows that the order decides: Year WINDOW."""
    values = [evaluate(each, scope) for each in call.arguments]
    tables = [value for value in values if isinstance(value, DaxTable)]
    order = merge(value for value in values if not isinstance(value, DaxTable))
    table = tables[0] if tables else DaxTable(NamedRelation())
    return _with_rows(table, apply_effect(order, Effect.WINDOW))


@table_rule(["CALENDAR", "GENERATESERIES"])
def _series(call: Call, scope: DaxScope) -> DaxTable:
    """`CALENDAR(MIN(Sales[Date]), TODAY())` → Date, which its bounds decide."""
    bounds = scalars(call.arguments, scope)
    name = "Date" if call.function == "CALENDAR" else "Value"
    flow = Flow(apply_effect(bounds, Effect.TRANSFORMATION))
    return DaxTable(NamedRelation(((name, flow),), apply_effect(bounds, Effect.FILTER)))


@table_rule(["CALENDARAUTO"])
def _calendar_of_model(_call: Call, scope: DaxScope) -> DaxTable:
    """`CALENDARAUTO()` → Date, from all date columns of the model that are not calculated."""
    references = (
        scope.names.field(table.name, column.name)
        for table in scope.names.model.tables
        for column in table.columns
        if column.data_type.lower() == "datetime" and column.expression is None and table.name != scope.home
    )
    bounds = merge({reference: UNCHANGED} for reference in references if reference is not None)
    found = apply_effect(bounds, Effect.TRANSFORMATION)
    return DaxTable(NamedRelation((("Date", Flow(found)),), apply_effect(found, Effect.FILTER)))


@table_rule(["DATATABLE"])
def _data_table(call: Call, _scope: DaxScope) -> DaxTable:
    """`DATATABLE("Code", STRING, { … })` → columns without input."""
    names = [each.text for each in call.arguments if isinstance(each, Constant)]
    return DaxTable(NamedRelation(tuple((name, Flow()) for name in names)))


@table_rule(known.TABLE_PASSES - {"TOPNSKIP"})
def _same_rows(call: Call, scope: DaxScope) -> DaxTable:
    """`SAMPLE(10, Store, …)`, `KEEPFILTERS(table)` → the rows of the table."""
    tables = [value for each in call.arguments if isinstance(value := evaluate(each, scope), DaxTable)]
    return tables[0] if tables else DaxTable(NamedRelation())


@table_rule(["SUBSTITUTEWITHINDEX", "ADDMISSINGITEMS", "GROUPCROSSAPPLY", "GROUPCROSSAPPLYTABLE", "TOPNPERLEVEL"])
def _opaque_table(call: Call, scope: DaxScope) -> DaxTable:
    """A function that visuals generate: every column may come from every argument."""
    scope.findings.opaque.setdefault(call.function, call.line)
    found = apply_effect(scalars(call.arguments, scope), Effect.TRANSFORMATION)
    return DaxTable(NamedRelation(fallback=Flow(found)))
