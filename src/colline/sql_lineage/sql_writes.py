"""Statements that write: CREATE … AS, views, INSERT, SELECT INTO, UPDATE, DELETE, and the DDL of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from colline.sql_lineage.created_views import created_view, creates_view
from colline.sql_lineage.named_relation import NamedRelation, table_relation
from colline.sql_lineage.sql_expressions import indirect
from colline.sql_lineage.sql_merges import assigned_column, merged_table, multi_table_insert, set_columns, upserted_rows
from colline.sql_lineage.sql_queries import query_relation, read_query, with_ctes
from colline.sql_lineage.sql_scope import SqlScope, StatementContext
from colline.sql_lineage.sql_sources import argument, join_sources, table_key
from colline.sql_lineage.sql_targets import (
    NOTHING,
    SqlColumn,
    SqlWrite,
    TableComment,
    Target,
    WriteKind,
    Written,
    is_temporary,
    table_write,
)
from colline.trace import DatasetName, Effect
from colline.trace.flow import Dependencies, Flow, merge


def written_tables(tree: Any, context: StatementContext) -> Written:
    """What a parsed statement writes; nothing for a query."""
    reader = READERS.get(type(tree))
    if reader is not None:
        return reader(tree, context)
    if isinstance(tree, exp.Select) and tree.args.get("into") is not None and not context.has_variables:
        return _select_into(tree, context)
    if isinstance(tree, exp.Query):
        query_relation(tree, context)
    return NOTHING


def _create(node: Any, context: StatementContext) -> Written:
    kind = str(node.kind).upper()
    if kind not in {"TABLE", "VIEW"} or isinstance(node.this, exp.UserDefinedFunction):
        return NOTHING
    schema = node.this if isinstance(node.this, exp.Schema) else None
    target = schema.this if schema is not None else node.this
    columns = tuple(_defined_column(each, context) for each in schema.expressions) if schema is not None else ()
    columns = tuple(column for column in columns if column.name)
    properties = node.args.get("properties")
    is_temp = bool(properties and properties.find(exp.TemporaryProperty))
    view: WriteKind = "VIEW" if kind == "VIEW" else "TABLE"
    if not isinstance(node.expression, (exp.Query, exp.Table)):
        return _defined_table(target, columns, node, context, is_temp=is_temp)
    relation = query_relation(node.expression, context)
    names = tuple(column.name for column in columns)
    if is_temp:
        return Written(temporary={table_key(target): relation.rename(names)})
    created = Target(target, names, view, columns, _table_comment(properties))
    return table_write(created, relation, context, context.sql(node.expression))


def _defined_table(
    target: Any, columns: tuple[SqlColumn, ...], node: Any, context: StatementContext, *, is_temp: bool
) -> Written:
    """DDL without a query: the columns of a table."""
    if is_temp or is_temporary(target):
        empty = NamedRelation(tuple((column.name, Flow()) for column in columns))
        return Written(temporary={table_key(target): empty})
    if not columns or node.args.get("clone") or node.find(exp.LikeProperty):
        return NOTHING
    table = context.tables.find(context.parts(target))
    comment = _table_comment(node.args.get("properties"))
    return Written((SqlWrite(target=table.name, kind="TABLE", columns=columns, description=comment),))


def _defined_column(node: Any, context: StatementContext) -> SqlColumn:
    if isinstance(node, exp.Identifier):
        return SqlColumn(node.name)
    if not isinstance(node, exp.ColumnDef):
        return SqlColumn("")
    kind = node.args.get("kind")
    comment = node.find(exp.CommentColumnConstraint)
    text = comment.this.name if comment is not None and isinstance(comment.this, exp.Literal) else ""
    return SqlColumn(node.name, context.sql(kind).lower() if kind is not None else "", text)


def _table_comment(properties: Any) -> str:
    found = properties.find(exp.SchemaCommentProperty) if properties is not None else None
    return str(found.this.name) if found is not None and isinstance(found.this, exp.Literal) else ""


def _select_into(node: Any, context: StatementContext) -> Written:
    """`select a into t from s`."""
    into = node.args["into"]
    relation = query_relation(node, context)
    if into.args.get("temporary") or into.args.get("unlogged") or is_temporary(into.this):
        return Written(temporary={table_key(into.this): relation})
    return table_write(Target(into.this, kind="TABLE"), relation, context, context.sql(node))


def _insert(node: Any, context: StatementContext) -> Written:
    query = node.expression
    if isinstance(query, exp.Values) or query is None:
        return NOTHING
    schema = node.this if isinstance(node.this, exp.Schema) else None
    target = schema.this if schema is not None else node.this
    if not isinstance(target, exp.Table):
        return NOTHING
    names = tuple(each.name for each in schema.expressions) if schema is not None else ()
    scope = SqlScope(context, read_query=read_query)
    with_clause = argument(node, "with")
    if with_clause is not None and argument(query, "with") is None:
        query = query.copy()
        query.set("with_" if "with_" in exp.Select.arg_types else "with", with_clause.copy())
    relation = read_query(query, scope)
    if node.args.get("by_name"):
        names = names or relation.names
    conflict = node.args.get("conflict")
    if conflict is not None:
        names = names or context.tables.find(context.parts(target)).columns
        relation = upserted_rows(conflict, relation.rename(names), target, context)
        names = relation.names
    return table_write(Target(target, names), relation, context, context.sql(node))


def _update(node: Any, context: StatementContext) -> Written:
    """`update t set a = s.b from s where c` → a from s.b; c CONDITIONAL on a."""
    target, scope, rows = _update_sources(node, context)
    condition = indirect([node.args.get("where")], scope, Effect.CONDITIONAL)
    aliases = {node.this.alias_or_name.lower(), target.alias_or_name.lower()}
    assigned = [assigned_column(each, aliases, scope) for each in node.expressions]
    flows = dict(set_columns(assigned, context.tables.find(context.parts(target)), condition))
    relation = NamedRelation(tuple(flows.items()), rows)
    return table_write(Target(target, tuple(flows)), relation, context, context.sql(node))


def _update_sources(node: Any, context: StatementContext) -> tuple[Any, SqlScope, Dependencies]:
    """The table that UPDATE or DELETE changes, the scope of its expressions, and its join conditions."""
    scope = with_ctes(node, SqlScope(context, read_query=read_query))
    clause = argument(node, "from")
    using = node.args.get("using")
    others = [clause.this] if clause is not None else list(using) if isinstance(using, list) else []
    tables = [table for each in (node.this, *others) if each is not None for table in each.find_all(exp.Table)]
    named = node.this if isinstance(node.this, exp.Table) else tables[0]
    target = next((table for table in tables if table.alias and table.alias.lower() == named.name.lower()), named)
    items = others if target is not named else [node.this, *others]
    before = set(context.inputs)
    sources, rows = join_sources(items, scope)
    behind = _table_behind(node, target)
    if behind is not None:
        sources.setdefault(named.alias_or_name.lower(), scope.ctes[target.name.lower()])
        return behind, replace(scope, sources=sources), rows
    if target.args.get("alias") is None or target is named:
        sources.setdefault(named.alias_or_name.lower(), table_relation(context.tables.find(context.parts(target))))
    own = context.tables.find(context.parts(target)).name
    if own not in before and not any(own in _tables_of(flow) for each in sources.values() for _, flow in each.columns):
        context.inputs.pop(own, None)
    return target, replace(scope, sources=sources), rows


def _table_behind(node: Any, target: Any) -> Any:
    """The table that a change of a common table expression changes: `with d as (select … from t) delete from d`."""
    clause = argument(node, "with")
    queries = {cte.alias.lower(): cte.this for cte in clause.expressions} if clause is not None else {}
    found = None
    for _ in queries:
        query = queries.get(target.name.lower()) if not target.args.get("db") else None
        source = argument(query, "from") if query is not None else None
        if source is None or not isinstance(source.this, exp.Table):
            break
        target = found = source.this
    return found


def _tables_of(flow: Flow) -> set[DatasetName]:
    return {column.dataset for column in flow.dependencies}


def _delete(node: Any, context: StatementContext) -> Written:
    """`delete from t where c` → c decides which rows there are."""
    target, scope, rows = _update_sources(node, context)
    rows = merge((rows, indirect([node.args.get("where")], scope, Effect.FILTER)))
    if not rows:
        return NOTHING
    return table_write(Target(target), NamedRelation(row_dependencies=rows), context, context.sql(node))


def _comment(node: Any, context: StatementContext) -> Written:
    """`comment on table t is '…'`, `comment on column t.a is '…'`."""
    text = node.expression.name if isinstance(node.expression, exp.Literal) else ""
    kind = str(node.args.get("kind") or "").upper()
    if not text or kind not in {"TABLE", "VIEW", "COLUMN", "MATERIALIZED VIEW"}:
        return NOTHING
    if kind == "COLUMN" and isinstance(node.this, exp.Column):
        parts = tuple(part.name for part in node.this.parts)
        return Written(comments=(TableComment(context.tables.find(parts[:-1]).name, text, parts[-1]),))
    if not isinstance(node.this, exp.Table):
        return NOTHING
    return Written(comments=(TableComment(context.tables.find(context.parts(node.this)).name, text),))


def _command(node: Any, context: StatementContext) -> Written:
    """CREATE with options that sqlglot does not know: the query after AS is parsed by itself."""
    text = f"{node.this} {node.expression}"
    found = created_view(text, context)
    if found is None:
        if creates_view(text):
            context.problems.append("not understood")
        return NOTHING
    target, query = found
    return table_write(Target(target, kind="VIEW"), query_relation(query, context), context, context.sql(query))


READERS: dict[type, Callable[[Any, StatementContext], Written]] = {
    exp.Create: _create,
    exp.Insert: _insert,
    exp.Update: _update,
    exp.Delete: _delete,
    exp.Merge: merged_table,
    exp.MultitableInserts: multi_table_insert,
    exp.Comment: _comment,
    exp.Command: _command,
}
