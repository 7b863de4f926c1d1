"""MERGE, upserts and INSERT ALL: clauses that write to a table under conditions of their own; what SET assigns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sqlglot import exp

from colline.sql_lineage.named_relation import NamedFlow, NamedRelation, table_relation
from colline.sql_lineage.sql_expressions import expression_flow, indirect
from colline.sql_lineage.sql_queries import query_relation, read_query, with_ctes
from colline.sql_lineage.sql_scope import SqlScope, StatementContext
from colline.sql_lineage.sql_sources import source_relation
from colline.sql_lineage.sql_targets import Target, Written, table_write
from colline.sql_lineage.table_schema import TableSchema
from colline.trace import ColumnRef, Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, describe_dependencies, merge, merge_flows


def merged_table(node: Any, context: StatementContext) -> Written:
    """`merge into t using s on t.k = s.k when matched then update set a = s.b` → a from s.b; t.k and s.k JOIN."""
    table = context.tables.find(context.parts(node.this))
    scope = _merge_scope(node, table, context)
    flows: dict[str, list[Flow]] = {}
    deleted: list[Dependencies] = []
    for clause, before in _clauses_with_earlier(node):
        action = clause.args.get("then")
        if not _sets_columns(clause):
            every = _conditions((*before, clause))
            deleted.append(indirect(every, scope, Effect.FILTER) if _deletes(action) else merge(()))
            continue
        setting = [each for each in before if _sets_columns(each)]
        condition = indirect(_conditions((*setting, clause)), scope, Effect.CONDITIONAL)
        for name, flow in set_columns(_assigned_flows(action, table, scope), table, condition):
            flows.setdefault(name, []).append(flow)
    on = indirect([node.args.get("on")], scope, Effect.JOIN)
    source = scope.sources["#source"]
    rows = merge((source.row_dependencies, on, *deleted))
    relation = NamedRelation(tuple((name, merge_flows(each)) for name, each in flows.items()), rows)
    return table_write(Target(node.this, tuple(flows)), relation, context, context.sql(node))


def _merge_scope(node: Any, table: TableSchema, context: StatementContext) -> SqlScope:
    """The target and the source by alias; the source is `#source` too."""
    scope = with_ctes(node, SqlScope(context, read_query=read_query))
    alias, source = source_relation(node.args["using"], scope)
    target = {node.this.alias_or_name.lower(): table_relation(table)}
    return replace(scope, sources={**target, alias: source, "#source": source})


def _clauses(node: Any) -> list[Any]:
    whens = node.args.get("whens")
    return list(whens.expressions) if whens is not None else list(node.expressions)


def _clauses_with_earlier(node: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each clause, with the clauses before it that the same rows may take."""
    earlier: dict[str, list[Any]] = {}
    for clause in _clauses(node):
        before = earlier.setdefault(f"{clause.args.get('matched')} {clause.args.get('source')}", [])
        yield clause, list(before)
        before.append(clause)


def _conditions(clauses: Iterable[Any]) -> list[Any]:
    return [clause.args.get("condition") for clause in clauses]


def _sets_columns(clause: Any) -> bool:
    return isinstance(clause.args.get("then"), (exp.Insert, exp.Update))


def _deletes(action: Any) -> bool:
    return action is not None and "DELETE" in str(action.name or action).upper()


def _assigned_flows(action: Any, table: TableSchema, scope: SqlScope) -> list[NamedFlow]:
    """The columns of a clause with their flows, without its condition."""
    if _is_star(action):
        source = scope.sources["#source"]
        names = [name for name in table.columns if source.find(name) is not None] or list(source.names)
        return [(name, source.find(name) or Flow()) for name in names]
    if isinstance(action, exp.Update):
        aliases = [alias for alias in scope.sources if alias != "#source"]
        return [assigned_column(each, aliases, scope) for each in action.expressions]
    values = action.expression.expressions if action.expression is not None else []
    names = [column.name for column in action.this.expressions] if action.this is not None else list(table.columns)
    return [(name, expression_flow(value, scope)) for name, value in zip(names, values, strict=False)]


def _is_star(action: Any) -> bool:
    """`update set *`, `insert *`, and `insert row` of BigQuery."""
    items = [action.this, *action.expressions]
    return any(isinstance(item, exp.Star) for item in items) or (
        isinstance(action, exp.Insert) and (action.expression is None or isinstance(action.this, exp.Var))
    )


def assigned_column(assignment: Any, aliases: Collection[str], scope: SqlScope) -> NamedFlow:
    """`set t.a = b` → a, and the flow of b; `set s.x = b` changes the struct s."""
    flow = expression_flow(assignment.expression, scope)
    parts = [part.name for part in assignment.this.parts]
    names = parts[1:] if len(parts) > 1 and parts[0].lower() in aliases else parts[-1:] if len(parts) == 1 else parts
    if len(names) > 1:
        flow = Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), flow.text, flow.description)
    return names[0], flow


def set_columns(columns: Iterable[NamedFlow], table: TableSchema, condition: Dependencies) -> list[NamedFlow]:
    """The columns that a clause sets, under its condition; `set a = t.a` sets nothing."""
    return [
        (name, _conditional_flow(flow, condition)) for name, flow in columns if not _is_unchanged(flow, table, name)
    ]


def _conditional_flow(flow: Flow, condition: Dependencies) -> Flow:
    """A value that is written under a condition."""
    if not condition:
        return flow
    return Flow(merge((describe_dependencies(flow), condition)), text=flow.text, description=flow.description)


def _is_unchanged(flow: Flow, table: TableSchema, name: str) -> bool:
    """`set a = t.a` keeps the value that the column has."""
    column = flow.column
    return column is not None and column == ColumnRef(table.name, column.field) and column.field.lower() == name.lower()


def upserted_rows(conflict: Any, inserted: NamedRelation, target: Any, context: StatementContext) -> NamedRelation:
    """`insert … select k, x … on conflict (k) do update set n = excluded.x` → n from x; t.k and excluded.k JOIN."""
    table = context.tables.find(context.parts(target))
    alias = target.alias_or_name.lower()
    scope = SqlScope(context, sources={alias: table_relation(table), "excluded": inserted}, read_query=read_query)
    condition = indirect([conflict.args.get("where")], scope, Effect.CONDITIONAL)
    flows = {name: [flow] for name, flow in inserted.columns}
    assigned = [assigned_column(each.transform(_excluded_value), [alias], scope) for each in conflict.expressions]
    for name, flow in set_columns(assigned, table, condition):
        flows.setdefault(name, []).append(flow)
    keys = [key.this for key in conflict.args.get("conflict_keys") or ()]
    both = [exp.column(key.name, table=source) for key in keys for source in (alias, "excluded")]
    columns = [(name, merge_flows(each)) for name, each in flows.items()]
    return inserted.with_columns(columns).with_rows(indirect(both, scope, Effect.JOIN))


def _excluded_value(node: Any) -> Any:
    """`values(x)` of MySQL → excluded.x"""
    is_values = isinstance(node, exp.Anonymous) and str(node.this).upper() == "VALUES" and node.expressions
    return exp.column(node.expressions[0].name, table="excluded") if is_values else node


def multi_table_insert(node: Any, context: StatementContext) -> Written:
    """`insert all into a values (x) into b values (y) select x, y from t`."""
    source = query_relation(node.args["source"], context)
    scope = SqlScope(context, sources={"": source}, read_query=read_query)
    found = [_conditional_insert(each, source, scope, context) for each in node.expressions]
    return Written(tuple(write for each in found for write in each.writes))


def _conditional_insert(each: Any, source: NamedRelation, scope: SqlScope, context: StatementContext) -> Written:
    insert = each.this
    schema = insert.this if isinstance(insert.this, exp.Schema) else None
    target = schema.this if schema is not None else insert.this
    names = tuple(column.name for column in schema.expressions) if schema is not None else ()
    rows = merge((source.row_dependencies, indirect([each.expression], scope, Effect.FILTER)))
    values = insert.expression
    if not isinstance(values, exp.Values):
        return table_write(Target(target, names), replace(source, row_dependencies=rows), context)
    items = values.expressions[0].expressions
    columns = [(item.alias_or_name, expression_flow(item, scope)) for item in items]
    return table_write(Target(target, names), NamedRelation(tuple(columns), rows), context)
