"""MERGE and INSERT ALL: several clauses that write to a table, each with its own condition; and what SET assigns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from sqlglot import exp

from colline.sql_lineage.named_relation import NamedRelation, table_relation
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
    conditions: dict[str, list[Any]] = {}
    for clause in _clauses(node):
        kind = f"{clause.args.get('matched')} {clause.args.get('source')}"
        before = conditions.setdefault(kind, [])
        before.append(clause.args.get("condition"))
        action = clause.args.get("then")
        if not isinstance(action, (exp.Insert, exp.Update)):
            deleted.append(indirect(before, scope, Effect.FILTER) if _deletes(action) else merge(()))
            continue
        condition = indirect(before[-1:], scope, Effect.CONDITIONAL)
        for name, flow in _assigned_flows(action, table, scope, condition).items():
            if not _is_unchanged(flow, table, name):
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


def _deletes(action: Any) -> bool:
    return action is not None and "DELETE" in str(action.name or action).upper()


def _assigned_flows(action: Any, table: TableSchema, scope: SqlScope, condition: Dependencies) -> dict[str, Flow]:
    """The flow of each column that a clause sets."""
    if _is_star(action):
        source = scope.sources["#source"]
        names = [name for name in table.columns if source.find(name) is not None] or list(source.names)
        flows = {name: source.find(name) or Flow() for name in names}
        return {name: conditional_flow(flow, condition) for name, flow in flows.items()}
    if isinstance(action, exp.Update):
        aliases = [alias for alias in scope.sources if alias != "#source"]
        return dict(assigned_column(each, aliases, scope, condition) for each in action.expressions)
    values = action.expression.expressions if action.expression is not None else []
    names = [column.name for column in action.this.expressions] if action.this is not None else list(table.columns)
    return {
        name: conditional_flow(expression_flow(value, scope), condition)
        for name, value in zip(names, values, strict=False)
    }


def _is_star(action: Any) -> bool:
    """`update set *`, `insert *`, and `insert row` of BigQuery."""
    items = [action.this, *action.expressions]
    return any(isinstance(item, exp.Star) for item in items) or (
        isinstance(action, exp.Insert) and (action.expression is None or isinstance(action.this, exp.Var))
    )


def assigned_column(
    assignment: Any, aliases: Collection[str], scope: SqlScope, condition: Dependencies
) -> tuple[str, Flow]:
    """`set t.a = b` → a, and the flow of b under the condition of its clause; `set s.x = b` changes the struct s."""
    flow = expression_flow(assignment.expression, scope)
    parts = [part.name for part in assignment.this.parts]
    names = parts[1:] if len(parts) > 1 and parts[0].lower() in aliases else parts[-1:] if len(parts) == 1 else parts
    if len(names) > 1:
        flow = Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), flow.text, flow.description)
    return names[0], conditional_flow(flow, condition)


def conditional_flow(flow: Flow, condition: Dependencies) -> Flow:
    """A value that is written under a condition."""
    if not condition:
        return flow
    return Flow(merge((describe_dependencies(flow), condition)), text=flow.text, description=flow.description)


def _is_unchanged(flow: Flow, table: TableSchema, name: str) -> bool:
    """`set a = t.a` keeps the value that the column has."""
    column = flow.column
    return column is not None and column == ColumnRef(table.name, column.field) and column.field.lower() == name.lower()


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
