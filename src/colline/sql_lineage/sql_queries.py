"""A query → the relation that it returns: SELECT, set operators, common table expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlglot import exp

from colline.sql_lineage.named_relation import NamedFlow, NamedRelation, union_relation
from colline.sql_lineage.sql_expressions import expression_flow, indirect
from colline.sql_lineage.sql_functions import GENERATOR_CLASSES
from colline.sql_lineage.sql_scope import SqlScope, StatementContext
from colline.sql_lineage.sql_sources import argument, join_sources
from colline.trace import Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, merge, merge_flows

MAX_RECURSIVE_STEPS = 10
_ORDER_CLAUSES = ("order", "sort", "cluster")


def query_relation(query: Any, context: StatementContext) -> NamedRelation:
    """The relation of a complete query."""
    return read_query(query, SqlScope(context, read_query=read_query))


def read_query(node: Any, scope: SqlScope) -> NamedRelation:
    """The relation of a query in a scope: its outer columns and common table expressions."""
    scope = with_ctes(node, scope)
    while isinstance(node, exp.Subquery) and not node.args.get("pivots"):
        scope = with_ctes(node.this, scope)
        node = node.this
    if isinstance(node, (exp.Union, exp.Intersect, exp.Except)):
        relation = _set_operation(node, scope)
        return relation.with_rows(_order(node, replace(scope, sources={"": relation})))
    if isinstance(node, exp.Select):
        return _select(node, scope)
    sources, rows = join_sources([node], scope)  # TABLE t, VALUES (…)
    return next(iter(sources.values())).with_rows(rows)


def with_ctes(node: Any, scope: SqlScope) -> SqlScope:
    """The scope with the common table expressions of a statement."""
    clause = argument(node, "with")
    for cte in clause.expressions if clause is not None else ():
        name = cte.alias.lower()
        relation = _cte_relation(cte, scope, is_recursive=bool(clause.recursive))
        scope = replace(scope, ctes={**scope.ctes, name: relation})
    return scope


def _cte_relation(cte: Any, scope: SqlScope, *, is_recursive: bool) -> NamedRelation:
    names = [column.name for column in cte.args["alias"].columns] if cte.args.get("alias") else []
    body = cte.this
    if not is_recursive or not isinstance(body, exp.Union):
        return read_query(body, scope).rename(names)
    found = read_query(body.this, scope).rename(names)
    for _ in range(MAX_RECURSIVE_STEPS):  # the anchor, then the recursive branch until it adds nothing
        inner = replace(scope, ctes={**scope.ctes, cte.alias.lower(): found})
        step = read_query(body, inner).rename(names)
        if step == found:
            break
        found = step
    return found


def _set_operation(node: Any, scope: SqlScope) -> NamedRelation:
    """UNION adds by position; INTERSECT and EXCEPT compare the columns of both sides."""
    if isinstance(node, exp.Union):
        branches = [read_query(each, scope) for each in _union_branches(node)]
        result = union_relation(branches)
        is_distinct = any(each.args.get("distinct") for each in _unions(node))
        return result.with_rows(result.compared_columns(Effect.GROUP_BY)) if is_distinct else result
    left, right = read_query(node.this, scope), read_query(node.expression, scope)
    effects = [Effect.JOIN, Effect.GROUP_BY] if node.args.get("distinct") else [Effect.JOIN]
    compared = [side.compared_columns(effect) for effect in effects for side in (left, right)]
    return left.with_rows(right.row_dependencies, *compared)


def _unions(node: Any) -> Iterator[Any]:
    """A chain of UNIONs, outermost first; sqlglot nests them on the left, one level per branch."""
    while isinstance(node, exp.Union):
        yield node
        node = node.this


def _union_branches(node: Any) -> list[Any]:
    chain = list(_unions(node))
    return [chain[-1].this, *(each.expression for each in reversed(chain))]


def _select(node: Any, scope: SqlScope) -> NamedRelation:
    sources, join_rows = join_sources(_from_items(node), scope)
    windows = {window.name.lower(): window for window in node.args.get("windows") or ()}
    inner = replace(scope, sources=sources, windows=windows)
    columns = list(_select_list(node, inner))
    aliases: dict[str, Flow] = {}
    for name, flow in columns:
        aliases.setdefault(name.lower(), flow)
    named = inner.with_aliases(aliases)
    source_rows = [source.row_dependencies for source in sources.values()]
    filters = [indirect([node.args.get("where"), node.args.get("prewhere")], named, Effect.FILTER)]
    filters += [indirect([node.args.get(name)], named, Effect.FILTER) for name in ("having", "qualify")]
    filters.append(indirect(_generators(node), inner, Effect.FILTER))
    rows = merge((*source_rows, join_rows, *filters, _groups(node, named, columns), _order(node, named, columns)))
    relation = _with_unknown_columns(node, NamedRelation(tuple(columns), rows), inner)
    return relation.with_rows(_distinct(node, relation, named))


def _from_items(node: Any) -> list[Any]:
    clause = argument(node, "from")
    first = [clause.this] if clause is not None else []
    return [*first, *(node.args.get("joins") or ()), *(node.args.get("laterals") or ())]


def _select_list(node: Any, scope: SqlScope) -> Iterator[NamedFlow]:
    """The columns of a SELECT list; an alias can be used in the items after it."""
    aliases: dict[str, Flow] = {}
    for item in node.expressions:
        star = _star(item)
        if star is not None:
            yield from _star_columns(item, star, scope)
            continue
        flow = expression_flow(item, scope.with_aliases(aliases))
        if isinstance(item, exp.Aliases):  # several names: `stack(…) as (a, b)`
            yield from ((name.name, flow) for name in item.expressions)
            continue
        yield item.alias_or_name or item.output_name or scope.context.sql(item.unalias()), flow
        if item.alias:
            aliases.setdefault(item.alias.lower(), flow)


def _generators(node: Any) -> list[Any]:
    """The functions of a SELECT list that return several rows for one: `explode(a)`."""
    items = (item.unalias() if isinstance(item, exp.Alias) else item for item in node.expressions)
    calls = (item.this if isinstance(item, exp.Aliases) else item for item in items)
    return [call for call in calls if isinstance(call, GENERATOR_CLASSES)]


def _star(item: Any) -> Any:
    """The `*` of `*`, `t.*` and `t.* exclude (a)`; None for any other item."""
    if isinstance(item, exp.Star):
        return item
    return item.this if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else None


def _star_columns(item: Any, star: Any, scope: SqlScope) -> Iterator[NamedFlow]:
    """The columns that `*` stands for, without EXCEPT, with REPLACE and RENAME."""
    excluded = _excluded_names(star)
    replaced = {each.alias.lower(): expression_flow(each, scope) for each in star.args.get("replace") or ()}
    renamed = {each.this.name.lower(): each.alias for each in star.args.get("rename") or ()}
    for source in _star_sources(item, scope):
        for name, flow in source.columns:
            key = name.lower()
            if key not in excluded:
                yield renamed.get(key, name), replaced.get(key, flow)


def _excluded_names(star: Any) -> frozenset[str]:
    found = argument(star, "except") or star.args.get("exclude") or ()
    return frozenset(each.name.lower() for each in found)


def _star_sources(item: Any, scope: SqlScope) -> list[NamedRelation]:
    table = item.table.lower() if isinstance(item, exp.Column) else ""
    if table:
        source = scope.sources.get(table)
        return [source] if source is not None else []
    return list(scope.sources.values())


def _with_unknown_columns(node: Any, relation: NamedRelation, scope: SqlScope) -> NamedRelation:
    """A `select *` over a table with unknown columns has unknown columns too."""
    for item in node.expressions:
        star = _star(item)
        for source in _star_sources(item, scope) if star is not None else []:
            if source.is_open:
                relation = _with_open_source(relation, source, _excluded_names(star))
    return relation


def _with_open_source(relation: NamedRelation, source: NamedRelation, excluded: frozenset[str]) -> NamedRelation:
    fallbacks = [flow for flow in (relation.fallback, source.fallback) if flow is not None]
    return replace(
        relation,
        open_tables=tuple(dict.fromkeys((*relation.open_tables, *source.open_tables))),
        hidden=relation.hidden | source.hidden | excluded,
        fallback=merge_flows(fallbacks) if fallbacks else None,
    )


def _groups(node: Any, scope: SqlScope, columns: list[NamedFlow]) -> Dependencies:
    """GROUP BY with its sets, rollups and positions; `group by all` groups by every column without an aggregate."""
    clause = node.args.get("group")
    if clause is None:
        return merge(())
    keys = [*clause.expressions]
    for name in ("grouping_sets", "rollup", "cube"):
        found = clause.args.get(name)
        keys += found if isinstance(found, list) else []
    positions = [_position(key, columns) for key in keys]
    flows = [flow.dependencies for flow in positions if flow is not None]
    if clause.args.get("all"):
        flows += [flow.dependencies for _, flow in columns if not _is_aggregated(flow)]
    plain = [key for key, flow in zip(keys, positions, strict=True) if flow is None]
    return merge((apply_effect(merge(flows), Effect.GROUP_BY), indirect(plain, scope, Effect.GROUP_BY)))


def _is_aggregated(flow: Flow) -> bool:
    return any(each.effect is Effect.AGGREGATION for found in flow.dependencies.values() for each in found)


def _position(key: Any, columns: list[NamedFlow]) -> Flow | None:
    """`group by 1` → the flow of the first column; None for any other key."""
    if not (isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit()):
        return None
    place = int(key.name) - 1
    return columns[place][1] if 0 <= place < len(columns) else None


def _order(node: Any, scope: SqlScope, columns: list[NamedFlow] | None = None) -> Dependencies:
    keys = [key for name in _ORDER_CLAUSES if node.args.get(name) for key in node.args[name].expressions]
    positions = [_position(key.this if isinstance(key, exp.Ordered) else key, columns or []) for key in keys]
    flows = merge(flow.dependencies for flow in positions if flow is not None)
    plain = [key for key, flow in zip(keys, positions, strict=True) if flow is None]
    return merge((apply_effect(flows, Effect.SORT), indirect(plain, scope, Effect.SORT)))


def _distinct(node: Any, relation: NamedRelation, scope: SqlScope) -> Dependencies:
    """DISTINCT compares all columns, DISTINCT ON its keys."""
    clause = node.args.get("distinct")
    if clause is None:
        return merge(())
    keys = clause.args.get("on")
    return indirect([keys], scope, Effect.GROUP_BY) if keys is not None else relation.compared_columns(Effect.GROUP_BY)
