"""M functions that transform tables: columns, rows, groups, joins, expansions and pivots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from colline.semantic_models.power_query.m_functions import MCallArguments, OpaqueStepError, m_rule, register_all
from colline.semantic_models.power_query.m_values import (
    ListValue,
    MValue,
    ScalarValue,
    TableValue,
    combine_tables,
    dependencies_of,
    text_of,
    transformed_flow,
)
from colline.sql_lineage.named_relation import NamedFlow, NamedRelation
from colline.trace import Effect
from colline.trace.flow import EMPTY_FLOW, Dependencies, Flow, apply_effect, merge, merge_flows

# rows and columns stay; only their order, number or types change
_SAME_COLUMNS = (
    "Table.Buffer", "Table.StopFolding", "Table.TransformColumnTypes", "Table.ReorderColumns", "Table.PromoteHeaders",
    "Table.FirstN", "Table.LastN", "Table.Skip", "Table.RemoveFirstN", "Table.RemoveLastN", "Table.Range",
    "Table.ReverseRows", "Table.RemoveRows", "Table.AlternateRows", "Table.Repeat", "Table.RemoveRowsWithErrors",
    "Table.SelectRowsWithErrors", "Table.ReplaceErrorValues", "Table.ReplaceType", "Table.View", "Table.ReplaceKeys",
    "Table.AddKey", "Table.DemoteHeaders", "Value.ReplaceType", "Table.FromPartitions", "Table.Keys",
)  # fmt: skip


def _same_columns(call: MCallArguments) -> MValue:
    """`Table.TransformColumnTypes(t, …)` → t."""
    return call.table()


register_all(_SAME_COLUMNS, _same_columns)


def _columns_at(call: MCallArguments, table: TableValue, position: int) -> Dependencies:
    """The dependencies of the columns that an argument names."""
    flows = (table.column(name) for name in call.names(position))
    return merge(flow.dependencies for flow in flows if flow is not None)


@m_rule("Table.SelectColumns")
def _select_columns(call: MCallArguments) -> MValue:
    """`Table.SelectColumns(t, {"a"})` → a."""
    return call.table().select(call.names(1))


@m_rule("Table.RemoveColumns")
def _remove_columns(call: MCallArguments) -> MValue:
    """`Table.RemoveColumns(t, {"a"})` → all columns but a."""
    return call.table().remove(call.names(1))


@m_rule("Table.RenameColumns")
def _rename_columns(call: MCallArguments) -> MValue:
    """`Table.RenameColumns(t, {{"a", "b"}})` → b from a."""
    pairs = [(text_of(row[0]), text_of(row[1])) for row in call.rows_of_list(1) if len(row) > 1]
    if any(None in pair for pair in pairs):
        raise OpaqueStepError("names of columns are computed when the query runs")
    return call.table().rename({old: new for old, new in pairs if old is not None and new is not None})


@m_rule("Table.PrefixColumns")
def _prefix_columns(call: MCallArguments) -> MValue:
    """`Table.PrefixColumns(t, "x")` → x.a from a."""
    table, prefix = call.table(), call.text(1)
    return table.rename({name: f"{prefix}.{name}" for name in table.relation.names})


@m_rule("Table.AddColumn")
def _add_column(call: MCallArguments) -> MValue:
    """`Table.AddColumn(t, "n", each [a] + [b])` → n from a and b."""
    table, name = call.table(), call.text(1)
    value = call.evaluator.row_value(call.value(2), table)
    if isinstance(value, TableValue):
        return replace(table.set_columns({name: Flow(dependencies_of(value))}), nested={**table.nested, name: value})
    return table.set_columns({name: Flow(dependencies_of(value))})


@m_rule("Table.DuplicateColumn")
def _duplicate_column(call: MCallArguments) -> MValue:
    """`Table.DuplicateColumn(t, "a", "b")` → b from a."""
    table = call.table()
    return table.set_columns({call.text(2): table.column(call.text(1)) or EMPTY_FLOW})


@m_rule("Table.AddIndexColumn", "Table.AddRankColumn")
def _add_index(call: MCallArguments) -> MValue:
    """`Table.AddIndexColumn(t, "i")` → i without input; a rank depends on its order."""
    table = call.table()
    flow = EMPTY_FLOW
    if call.function == "Table.AddRankColumn":
        names = [text_of(row[0]) for row in call.rows_of_list(2)]
        order = merge(found.dependencies for name in names if name and (found := table.column(name)))
        flow = Flow(apply_effect(order, Effect.WINDOW))
    return table.set_columns({call.text(1): flow})


@m_rule("Table.TransformColumns")
def _transform_columns(call: MCallArguments) -> MValue:
    """`Table.TransformColumns(t, {{"a", Text.Upper}})` → a from a, TRANSFORMATION."""
    table = call.table()
    names = [text_of(row[0]) for row in call.rows_of_list(1)]
    if None in names:
        raise OpaqueStepError("names of columns are computed when the query runs")
    changed = {name: transformed_flow(flow) for name in names if name and (flow := table.column(name))}
    if call.has(2) and call.function_at(2) is not None:  # a default for all other columns
        changed = {name: transformed_flow(flow) for name, flow in table.relation.columns} | changed
    return table.set_columns(changed)


@m_rule("Table.ReplaceValue")
def _replace_value(call: MCallArguments) -> MValue:
    """`Table.ReplaceValue(t, each [b], each [c], Replacer.ReplaceText, {"a"})` → a from a, b and c."""
    table = call.table()
    extra = merge(call.evaluator.row_dependencies(call.value(position), table) for position in (1, 2))
    changed = {}
    for name in call.names(4):
        flow = table.column(name) or EMPTY_FLOW
        changed[name] = Flow(apply_effect(merge((flow.dependencies, extra)), Effect.TRANSFORMATION))
    return table.set_columns(changed)


@m_rule("Table.FillDown", "Table.FillUp")
def _fill(call: MCallArguments) -> MValue:
    """`Table.FillDown(t, {"a"})` → a from a of other rows."""
    table = call.table()
    names = call.names(1)
    return table.set_columns({name: transformed_flow(flow) for name in names if (flow := table.column(name))})


@m_rule("Table.SelectRows")
def _select_rows(call: MCallArguments) -> MValue:
    """`Table.SelectRows(t, each [a] > 0)` → the rows of t; a FILTER."""
    table = call.table()
    return table.with_rows(apply_effect(call.evaluator.row_dependencies(call.value(1), table), Effect.FILTER))


@m_rule("Table.Distinct")
def _distinct(call: MCallArguments) -> MValue:
    """`Table.Distinct(t, {"a"})` → the rows of t; a GROUP_BY."""
    table = call.table()
    keys = _columns_at(call, table, 1) if call.has(1) else table.relation.all_dependencies
    return table.with_rows(apply_effect(keys, Effect.GROUP_BY))


@m_rule("Table.Sort", "Table.MaxN", "Table.MinN", "Table.Max", "Table.Min")
def _sort(call: MCallArguments) -> MValue:
    """`Table.Sort(t, {{"a", Order.Descending}})` → the rows of t; a SORT."""
    table, value = call.table(), call.value(1)
    items = value.items if isinstance(value, ListValue) else (value,)
    firsts = (item.items[0] if isinstance(item, ListValue) and item.items else item for item in items)
    found = []
    for first in firsts:
        name = text_of(first)
        flow = table.column(name) if name is not None else None
        found.append(flow.dependencies if flow is not None else call.evaluator.row_dependencies(first, table))
    return table.with_rows(apply_effect(merge(found), Effect.SORT))


@m_rule("Table.Group")
def _group(call: MCallArguments) -> MValue:
    """`Table.Group(t, {"k"}, {{"n", each List.Sum([a])}})` → k unchanged and GROUP_BY; n from a, AGGREGATION."""
    table, keys = call.table(), call.names(1)
    columns: list[NamedFlow] = [(key, table.column(key) or EMPTY_FLOW) for key in keys]
    nested = {}
    for row in call.rows_of_list(2):
        name = text_of(row[0])
        if name is None or len(row) < 2:
            raise OpaqueStepError("names of columns are computed when the query runs")
        value = call.evaluator.row_value(row[1], table)
        if isinstance(value, TableValue):  # `each _`: the rows of the group, to be expanded later
            nested[name] = value
            columns.append((name, EMPTY_FLOW))
        else:
            columns.append((name, Flow(apply_effect(dependencies_of(value), Effect.AGGREGATION))))
    groups = apply_effect(merge(flow.dependencies for _, flow in columns[: len(keys)]), Effect.GROUP_BY)
    return TableValue(NamedRelation(tuple(columns), merge((table.relation.row_dependencies, groups))), nested)


@m_rule("Table.NestedJoin", "Table.FuzzyNestedJoin", "Table.AddJoinColumn")
def _nested_join(call: MCallArguments) -> MValue:
    """`Table.NestedJoin(t, {"k"}, u, {"k"}, "n")` → t with the rows of u in n; both keys JOIN."""
    left, right = call.table(0), call.table(2)
    keys = merge((_columns_at(call, left, 1), _columns_at(call, right, 3)))
    rows = merge((right.relation.row_dependencies, apply_effect(keys, Effect.JOIN)))
    name = call.text(4)
    added = left.set_columns({name: EMPTY_FLOW}).with_rows(rows)
    return replace(added, nested={**left.nested, name: right})


@m_rule("Table.Join", "Table.FuzzyJoin")
def _join(call: MCallArguments) -> MValue:
    """`Table.Join(t, {"k"}, u, {"id"})` → the columns of both; k and id JOIN."""
    left, right = call.table(0), call.table(2)
    keys = merge((_columns_at(call, left, 1), _columns_at(call, right, 3)))
    relation = replace(
        left.relation,
        columns=(*left.relation.columns, *right.relation.columns),
        open_tables=(*left.relation.open_tables, *right.relation.open_tables),
    )
    joined = TableValue(relation, {**right.nested, **left.nested})
    return joined.with_rows(right.relation.row_dependencies, apply_effect(keys, Effect.JOIN))


@m_rule("Table.ExpandTableColumn", "Table.ExpandRecordColumn", "Table.AggregateTableColumn")
def _expand(call: MCallArguments) -> MValue:
    """`Table.ExpandTableColumn(t, "n", {"a"}, {"n.a"})` → n.a from a of the tables in n."""
    table, name = call.table(), call.text(1)
    inner = table.nested.get(name)
    whole = table.column(name) or EMPTY_FLOW
    expanded = {}
    for old, new, effect in _expanded_names(call):
        flow = inner.column(old) if inner is not None else None
        found = flow or transformed_flow(whole)
        expanded[new] = found if effect is None else Flow(apply_effect(found.dependencies, effect))
    return table.remove([name]).set_columns(expanded)


def _expanded_names(call: MCallArguments) -> Iterator[tuple[str, str, Effect | None]]:
    """The old and the new name of each expanded column, and how it is aggregated."""
    if call.function == "Table.AggregateTableColumn":
        for row in call.rows_of_list(2):
            names = [text for item in row if (text := text_of(item)) is not None]
            yield names[0], names[-1], Effect.AGGREGATION
        return
    old = call.names(2)
    new = call.names(3) if call.has(3) and isinstance(call.value(3), ListValue) else old
    yield from ((first, second, None) for first, second in zip(old, new, strict=False))


@m_rule("Table.ExpandListColumn")
def _expand_list(call: MCallArguments) -> MValue:
    """`Table.ExpandListColumn(t, "a")` → a row per item of a; a FILTER."""
    table, name = call.table(), call.text(1)
    flow = table.column(name) or EMPTY_FLOW
    expanded = table.set_columns({name: transformed_flow(flow)})
    return expanded.with_rows(apply_effect(flow.dependencies, Effect.FILTER))


@m_rule("Table.Combine")
def _combine(call: MCallArguments) -> MValue:
    """`Table.Combine({t, u})` → the rows of both, by the names of their columns."""
    value = call.value(0)
    if not isinstance(value, ListValue) or not value.items:
        raise OpaqueStepError("the list of tables is computed when the query runs")
    return combine_tables([call.evaluator.as_table(item) for item in value.items])


@m_rule("Table.SplitColumn")
def _split_column(call: MCallArguments) -> MValue:
    """`Table.SplitColumn(t, "a", …, {"a.1", "a.2"})` → a.1 and a.2 from a."""
    table, name = call.table(), call.text(1)
    flow = transformed_flow(table.column(name) or EMPTY_FLOW)
    names = call.names(3) if isinstance(call.value(3), ListValue) else [f"{name}.1", f"{name}.2"]
    return table.remove([name]).set_columns(dict.fromkeys(names, flow))


@m_rule("Table.CombineColumns", "Table.CombineColumnsToRecord")
def _combine_columns(call: MCallArguments) -> MValue:
    """`Table.CombineColumns(t, {"a", "b"}, …, "c")` → c from a and b."""
    table = call.table()
    columns, name = (1, 3) if call.function == "Table.CombineColumns" else (2, 1)
    found = apply_effect(_columns_at(call, table, columns), Effect.TRANSFORMATION)
    return table.remove(call.names(columns)).set_columns({call.text(name): Flow(found)})


@m_rule("Table.Unpivot", "Table.UnpivotOtherColumns")
def _unpivot(call: MCallArguments) -> MValue:
    """`Table.UnpivotOtherColumns(t, {"k"}, "Name", "Value")` → Value from every column but k; Name without input."""
    table, names = call.table(), {name.lower() for name in call.names(1)}
    is_kept = call.function == "Table.UnpivotOtherColumns"
    kept = [(name, flow) for name, flow in table.relation.columns if (name.lower() in names) is is_kept]
    values = [flow for name, flow in table.relation.columns if (name.lower() in names) is not is_kept]
    if table.relation.is_open:
        call.evaluator.report(f"{call.function}: the columns of its source are not known")
        kept = [(name, table.column(name) or EMPTY_FLOW) for name in call.names(1)] if is_kept else kept
    value = merge_flows(values) if values else EMPTY_FLOW
    columns = (*kept, (call.text(2), EMPTY_FLOW), (call.text(3), value))
    rows = apply_effect(value.dependencies, Effect.FILTER)
    relation = replace(table.relation, columns=columns, open_tables=(), fallback=None)
    return TableValue(relation).with_rows(rows)


@m_rule("Table.Pivot")
def _pivot(call: MCallArguments) -> MValue:
    """`Table.Pivot(t, {"x", "y"}, "k", "v", List.Sum)` → x and y from v AGGREGATION, k CONDITIONAL."""
    table, key, value = call.table(), call.text(2), call.text(3)
    tests = (table.column(key) or EMPTY_FLOW).dependencies
    values = (table.column(value) or EMPTY_FLOW).dependencies
    found = merge((apply_effect(values, Effect.AGGREGATION), apply_effect(tests, Effect.CONDITIONAL)))
    rest = table.remove([key, value])
    names = call.value(1)
    known = [text for item in names.items if (text := text_of(item))] if isinstance(names, ListValue) else []
    groups = apply_effect(rest.relation.all_dependencies, Effect.GROUP_BY)
    pivoted = rest.set_columns({name: Flow(found) for name in known}).with_rows(groups)
    return pivoted if known else replace(pivoted, relation=replace(pivoted.relation, fallback=Flow(found)))


@m_rule("Table.Column", "Table.ToList")
def _column(call: MCallArguments) -> MValue:
    """`Table.Column(t, "a")` → the values of a."""
    flow = call.table().column(call.text(1)) if call.function == "Table.Column" else None
    return ScalarValue(flow.dependencies if flow is not None else call.table().relation.all_dependencies)


@m_rule("Table.RowCount", "Table.IsEmpty")
def _row_count(call: MCallArguments) -> MValue:
    """`Table.RowCount(t)` → what decides the rows of t."""
    return ScalarValue(call.table().relation.row_dependencies)
