"""What a FROM clause names: tables, subqueries, VALUES, unnested arrays and pivots, as relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from colline.sql_lineage.named_relation import NamedFlow, NamedRelation, table_relation
from colline.sql_lineage.sql_expressions import dependencies, expression_flow, indirect
from colline.sql_lineage.sql_scope import SqlScope
from colline.trace import Effect
from colline.trace.flow import EMPTY_FLOW, NO_DEPENDENCIES, Dependencies, Flow, apply_effect, merge, merge_flows

NamedSource = tuple[str, NamedRelation]


def argument(node: Any, name: str) -> Any:
    """An argument of a node. sqlglot appended `_` to the names that are Python keywords in version 28."""
    return node.args.get(f"{name}_") or node.args.get(name)


def table_key(table: Any) -> str:
    """The name under which a script knows a temporary table: `#orders` and `@orders` of T-SQL keep their sign."""
    name = table.this
    if isinstance(name, exp.Parameter):
        return f"@{name.name}".lower()
    sign = "#" if name is not None and name.args.get("temporary") else ""
    return sign + ".".join(part.name for part in table.parts if part.name).lower()


def source_relation(node: Any, scope: SqlScope) -> NamedSource:
    """The alias and the relation of one item of a FROM clause, which may use the items before it."""
    relation = _source(node, scope)
    for pivot in node.args.get("pivots") or ():
        relation = _apply_pivot(relation, pivot, scope)
    alias = node.args.get("alias")
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if names and not isinstance(node, (exp.Unnest, exp.Lateral)):
        relation = relation.rename(names)
    pivots = node.args.get("pivots") or ()
    name = node.alias or next((pivot.alias for pivot in pivots if pivot.alias), "") or getattr(node, "name", "")
    return str(name).lower(), relation


def _source(node: Any, scope: SqlScope) -> NamedRelation:
    if isinstance(node, exp.Subquery):  # its own pivots are applied to the result
        is_join = isinstance(node.this, exp.Table)  # FROM (a JOIN b ON …)
        return joined_tables(node.this, scope) if is_join else scope.subquery(node.this)
    reader = next((read for kind, read in _READERS if isinstance(node, kind)), _function_result)
    return reader(node, scope)


def _table(node: Any, scope: SqlScope) -> NamedRelation:
    key = table_key(node) if isinstance(node.this, (exp.Identifier, exp.Parameter)) else ""
    known = scope.ctes.get(key) or scope.context.temporary.get(key)
    if known is not None:
        return known
    if not isinstance(node.this, exp.Identifier):
        return _function_result(node.this, scope)
    table = scope.context.tables.find(scope.context.parts(node))
    scope.context.inputs[table.name] = None
    return table_relation(table)


def joined_tables(first: Any, scope: SqlScope) -> NamedRelation:
    """`(a JOIN b ON …)` as one relation with the columns of all its tables."""
    sources, rows = join_sources([first, *(first.args.get("joins") or ())], scope)
    relations = list(sources.values())
    columns = tuple(column for each in relations for column in each.columns)
    tables = tuple(table for each in relations for table in each.open_tables)
    return NamedRelation(columns, merge((*(each.row_dependencies for each in relations), rows)), tables)


def join_sources(items: list[Any], scope: SqlScope) -> tuple[dict[str, NamedRelation], Dependencies]:
    """The sources of a FROM clause by alias, and the dependencies of its join conditions."""
    sources: dict[str, NamedRelation] = {}
    rows: list[Dependencies] = []
    for item in items:
        is_join = isinstance(item, exp.Join)
        node = item.this if is_join else item
        inner = replace(scope, sources={**scope.sources, **sources})
        alias, relation = source_relation(node, inner)
        nested = [] if is_join or isinstance(node, exp.Subquery) else node.args.get("joins") or []
        inner = replace(inner, sources={**inner.sources, alias: relation})
        if is_join:
            keys = _shared_names(item, relation, sources)
            rows.append(_join_condition(item, keys, inner))
            nested = node.args.get("joins") or [] if isinstance(node, exp.Table) else []
            relation = _shown_columns(item, keys, relation, sources)
        sources[alias or f"#{len(sources)}"] = relation
        more, conditions = join_sources(nested, inner) if nested else ({}, NO_DEPENDENCIES)
        sources.update(more)
        rows.append(conditions)
    return sources, merge(rows)


def _shared_names(join: Any, relation: NamedRelation, sources: Mapping[str, NamedRelation]) -> list[str]:
    """The names of a USING clause; for a natural join those that both sides have."""
    if str(join.args.get("method") or "").upper() != "NATURAL":
        return [name.name for name in join.args.get("using") or ()]
    left = {name.lower() for each in sources.values() for name in each.names}
    return [name for name in relation.names if name.lower() in left]


def _join_condition(join: Any, keys: list[str], scope: SqlScope) -> Dependencies:
    """`on a.k = b.k` → a.k and b.k JOIN; `using (k)` and `natural` → k of both sides."""
    condition = indirect([join.args.get("on"), join.args.get("match_condition")], scope, Effect.JOIN)
    sides = [each.find(name) for name in keys for each in scope.sources.values()]
    found = merge(flow.dependencies for flow in sides if flow is not None)
    return merge((condition, apply_effect(found, Effect.JOIN, text=f"USING ({', '.join(keys)})")))


def _shown_columns(
    join: Any, keys: list[str], relation: NamedRelation, sources: dict[str, NamedRelation]
) -> NamedRelation:
    """The columns that the right side of a join adds.

    A semi or anti join adds none. Shared columns come from the left side, in a right join from the right side, and in
    a full join from either.
    """
    if not {str(join.kind).upper(), str(join.side).upper()}.isdisjoint({"SEMI", "ANTI"}):
        return NamedRelation(row_dependencies=relation.row_dependencies)
    side = str(join.side).upper()
    if side in {"RIGHT", "FULL"}:
        _replace_shared_columns(keys, relation, sources, is_full=side == "FULL")
    shared = {name.lower() for name in keys}
    kept = [(name, flow) for name, flow in relation.columns if name.lower() not in shared]
    return replace(relation.with_columns(kept), hidden=relation.hidden | shared) if shared else relation


def _replace_shared_columns(
    keys: list[str], relation: NamedRelation, sources: dict[str, NamedRelation], *, is_full: bool
) -> None:
    """The left side's shared columns become those of the right side, or `coalesce(left, right)`."""
    for key in keys:
        right = relation.find(key) or EMPTY_FLOW
        for alias, source in sources.items():
            left = source.listed_flow(key)
            if left is not None:
                flow = _coalesce_sides(left, right) if is_full else right
                columns = [(name, flow if name.lower() == key.lower() else each) for name, each in source.columns]
                sources[alias] = source.with_columns(columns)


def _coalesce_sides(left: Flow, right: Flow) -> Flow:
    both = merge((left.dependencies, right.dependencies))
    tested = apply_effect(both, Effect.CONDITIONAL, text=f"{left.text} IS NULL")
    return Flow(merge((tested, apply_effect(both, Effect.TRANSFORMATION))), text=left.text)


def _generator(node: Any, scope: SqlScope) -> NamedRelation:
    """`unnest(a)`, `lateral view explode(a)` → columns computed from a, which also decides how many rows there are."""
    query = node.this if isinstance(node, exp.Lateral) else None
    if isinstance(query, exp.Query):
        return scope.subquery(query)
    arguments = node.expressions if isinstance(node, exp.Unnest) else [query]
    result = _function_result(node, scope, arguments)
    alias = node.args.get("alias")
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    assert result.fallback is not None
    return result.with_columns((name, result.fallback) for name in names)


def _function_result(node: Any, scope: SqlScope, arguments: list[Any] | None = None) -> NamedRelation:
    """A table function: every column is computed from its arguments."""
    found = merge(dependencies(each, scope) for each in (arguments or [node]) if each is not None)
    text = scope.context.sql(node)
    flow = Flow(apply_effect(found, Effect.TRANSFORMATION), text=text, description=text)
    return NamedRelation(row_dependencies=apply_effect(found, Effect.FILTER, text=text), fallback=flow)


def _values(node: Any, scope: SqlScope) -> NamedRelation:
    """`values (1, a), (2, b)` → one column per position."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    width = max((len(row) for row in rows), default=0)
    flows = [merge_flows([expression_flow(row[at], scope) for row in rows if at < len(row)]) for at in range(width)]
    return NamedRelation(tuple((f"col{position + 1}", flow) for position, flow in enumerate(flows)))


def _apply_pivot(relation: NamedRelation, pivot: Any, scope: SqlScope) -> NamedRelation:
    inner = replace(scope, sources={"": relation})
    return _unpivot(relation, pivot, inner) if pivot.args.get("unpivot") else _pivot(relation, pivot, inner)


def _pivot(relation: NamedRelation, pivot: Any, scope: SqlScope) -> NamedRelation:
    """`pivot (sum(a) for k in (…))` → a AGGREGATION and k CONDITIONAL per new column; the rest is GROUP_BY."""
    keys = [key.this for key in pivot.args.get("fields") or [pivot.args.get("field")] if key is not None]
    condition = indirect(keys, scope, Effect.CONDITIONAL)
    new = []
    for column in pivot.args.get("columns") or ():
        calls = _pivoted_calls(column.name, pivot)
        found = merge((*(dependencies(call, scope) for call in calls), condition))
        new.append((column.name, Flow(found, text=column.name, description=scope.context.sql(calls[0]))))
    used = {column.name.lower() for node in (*pivot.expressions, *keys) for column in node.find_all(exp.Column)}
    rest = [(name, flow) for name, flow in relation.columns if name.lower() not in used]
    groups = apply_effect(merge(flow.dependencies for _, flow in rest), Effect.GROUP_BY)
    result = replace(relation.with_columns([*rest, *new]), hidden=relation.hidden | used)
    return result.with_rows(groups)


def _pivoted_calls(column: str, pivot: Any) -> list[Any]:
    """The aggregate that a pivoted column contains: its alias is a part of the name; all of them if none fits."""
    names = {each.alias.lower(): each.unalias() for each in pivot.expressions if each.alias}
    fitting = [call for name, call in names.items() if column.lower().endswith(f"_{name}") or column.lower() == name]
    return fitting[:1] or [each.unalias() for each in pivot.expressions]


def _unpivot(relation: NamedRelation, pivot: Any, scope: SqlScope) -> NamedRelation:
    """`unpivot (v for n in (a, b))` → v from a and b; n has no input; null values are dropped."""
    fields = pivot.args.get("fields") or ()
    groups = [list(item.find_all(exp.Column)) for field in fields for item in field.expressions]
    values: list[NamedFlow] = []
    for each in pivot.expressions:
        names = [part.name for part in each.expressions] if isinstance(each, exp.Tuple) else [each.alias_or_name]
        for at, name in enumerate(names):
            chosen = [group[at :: len(names)] for group in groups]
            values.append((name, merge_flows([expression_flow(column, scope) for part in chosen for column in part])))
    labels = [(field.this.name, EMPTY_FLOW) for field in fields]
    used = {column.name.lower() for group in groups for column in group}
    rest = [(name, flow) for name, flow in relation.columns if name.lower() not in used]
    result = replace(relation.with_columns([*rest, *labels, *values]), hidden=relation.hidden | used)
    if pivot.args.get("include_nulls"):
        return result
    return result.with_rows(apply_effect(merge(flow.dependencies for _, flow in values), Effect.FILTER))


_READERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, SqlScope], NamedRelation]], ...] = (
    (exp.Table, _table),
    ((exp.Unnest, exp.Lateral), _generator),
    (exp.Values, _values),
    (exp.Query, lambda node, scope: scope.subquery(node)),
)
