"""Reads the SQL text of a JDBC source: the tables it names, and the table columns behind each of its columns.

sqlglot parses the text. It is an optional dependency and imported late; without it, a query has no known tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from colline.terminal_text import get_logger
from colline.trace import Effect

log = get_logger("colline")

Table = tuple[str, ...]

_IDENTIFIER_PART = re.compile(r'"((?:[^"]|"")+)"|`([^`]+)`|\[([^\]]+)\]|([^\s."`\[\](),;\'=]+)')


class IdentifierCase(Enum):
    """How a database stores an identifier without quotes."""

    UNCHANGED = "unchanged"
    LOWER = "lower"
    UPPER = "upper"

    def apply(self, identifier: str) -> str:
        """The identifier as the database stores it."""
        if self is IdentifierCase.LOWER:
            return identifier.lower()
        return identifier.upper() if self is IdentifierCase.UPPER else identifier


@dataclass(frozen=True, slots=True)
class JdbcQuery:
    """The text of a `query` or `dbtable` option, with sqlglot's name of its dialect."""

    sql: str
    dialect: str
    identifier_case: IdentifierCase


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """A column of a table, and its effect on an output column or on the rows of a query."""

    table: Table
    column: str
    effect: Effect


@dataclass(frozen=True)
class QueryColumns:
    """The origins of a query's columns, by lower-case name.

    `row_origins` decide which rows there are. `star_tables` are the tables of a `select *`: each of their columns is
    also a column of the query.
    """

    outputs: dict[str, tuple[ColumnOrigin, ...]] = field(default_factory=dict)
    row_origins: tuple[ColumnOrigin, ...] = ()
    star_tables: tuple[Table, ...] = ()


def split_identifier(text: str, case: IdentifierCase) -> Table:
    """`"Sales".orders` → its parts without quotes; empty if the text is not just an identifier."""
    parts: list[str] = []
    start = 0
    while match := _IDENTIFIER_PART.match(text, start):
        quoted = next((part for part in match.groups()[:3] if part is not None), None)
        parts.append(quoted.replace('""', '"') if quoted is not None else case.apply(match.group(4)))
        start = match.end()
        if start == len(text):
            return tuple(parts)
        if text[start] != ".":
            break
        start += 1
    return ()


@lru_cache(maxsize=256)
def query_tables(query: JdbcQuery) -> tuple[Table, ...]:
    """The tables that a query reads, in order of appearance, without its CTEs."""
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
        from sqlglot.optimizer.scope import traverse_scope
    except ImportError:
        _warn_sqlglot_is_missing()
        return ()
    try:
        tree = sqlglot.parse_one(_to_select(query.sql), dialect=query.dialect or None)
        sources = [source for scope in traverse_scope(tree) for source in scope.sources.values()]
    except (SqlglotError, RecursionError, ValueError) as error:
        _warn_unreadable(error)
        return ()
    tables = [source for source in sources if isinstance(source, sqlglot.exp.Table) and source.name]
    return tuple(dict.fromkeys(_table_parts(table, query.identifier_case) for table in tables))


@lru_cache(maxsize=256)
def query_columns(query: JdbcQuery) -> QueryColumns | None:
    """The origins of a query's columns; None if sqlglot is missing or cannot read the query.

    A column without a table name in a query over two tables gets both tables as its origins.
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
        from sqlglot.optimizer.scope import build_scope
    except ImportError:
        return None
    try:
        root = build_scope(sqlglot.parse_one(_to_select(query.sql), dialect=query.dialect or None))
        return _ScopeReader(query.identifier_case).read(root) if root is not None else None
    # sqlglot's trees differ between versions and dialects
    except (SqlglotError, RecursionError, ValueError, LookupError, AttributeError) as error:
        _warn_unreadable(error)
        return None


def _to_select(sql: str) -> str:
    """`(select …) t`, `orders o join lines l on …` → `select * from …`."""
    text = sql.strip().rstrip(";")
    return text if re.match(r"(?is)^(select|with)\b", text) else f"select * from {text}"  # noqa: S608 - parsed, never run


def _table_parts(table: Any, case: IdentifierCase) -> Table:
    return tuple(part.name if part.args.get("quoted") else case.apply(part.name) for part in table.parts)


@lru_cache(maxsize=1)
def _warn_sqlglot_is_missing() -> None:
    log.warning("the tables of a JDBC query are unknown: sqlglot is not installed\nhint: pip install 'colline[sql]'")


def _warn_unreadable(error: Exception) -> None:
    log.warning("cannot read the query of a JDBC source: %s", type(error).__name__)


_DIRECT_EFFECTS = (Effect.IDENTITY, Effect.TRANSFORMATION, Effect.AGGREGATION)  # weakest first
_CLAUSE_EFFECTS = {
    "where": Effect.FILTER,
    "having": Effect.FILTER,
    "group": Effect.GROUP_BY,
    "order": Effect.SORT,
}


def _combine_effects(inner: Effect, outer: Effect) -> Effect:
    """The effect of two steps: the indirect one, or the stronger of two direct ones."""
    if not inner.is_direct or not outer.is_direct:
        return outer if inner.is_direct else inner
    return _DIRECT_EFFECTS[max(_DIRECT_EFFECTS.index(inner), _DIRECT_EFFECTS.index(outer))]


class _ScopeReader:
    """Reads sqlglot's scopes, each of them once: a query, a branch of a UNION, a subquery, a CTE.

    Scopes and expressions have the type Any, because the classes of sqlglot differ between the supported versions.
    """

    def __init__(self, case: IdentifierCase) -> None:
        from sqlglot import exp

        self._exp = exp
        self._case = case
        self._known: dict[int, QueryColumns] = {}

    def read(self, scope: Any) -> QueryColumns:
        """The columns of a scope."""
        if id(scope) not in self._known:
            # sqlglot renamed the attribute
            branches = getattr(scope, "set_operation_scopes", None) or getattr(scope, "union_scopes", None)
            self._known[id(scope)] = self._read_union(branches) if branches else self._read_select(scope)
        return self._known[id(scope)]

    def _read_union(self, scopes: Iterable[Any]) -> QueryColumns:
        """Columns are matched by position and named by the first branch."""
        branches = [self.read(branch) for branch in scopes]
        columns = [list(branch.outputs.values()) for branch in branches]
        outputs = {
            name: tuple(dict.fromkeys(origin for each in columns if index < len(each) for origin in each[index]))
            for index, name in enumerate(branches[0].outputs)
        }
        row_origins = tuple(origin for branch in branches for origin in branch.row_origins)
        star_tables = dict.fromkeys(table for branch in branches for table in branch.star_tables)
        return QueryColumns(outputs, row_origins, tuple(star_tables))

    def _read_select(self, scope: Any) -> QueryColumns:
        outputs: dict[str, tuple[ColumnOrigin, ...]] = {}
        star_tables: list[Table] = []
        for item in scope.expression.selects:
            if not item.is_star:
                outputs[item.alias_or_name.lower()] = tuple(self._origins(item, scope, self._effect(item)))
                continue
            for source in self._star_sources(item, scope):
                if isinstance(source, self._exp.Table):
                    star_tables.append(_table_parts(source, self._case))
                else:
                    outputs.update(self.read(source).outputs)
                    star_tables += self.read(source).star_tables
        row_origins = dict.fromkeys(self._row_origins(scope))
        return QueryColumns(outputs, tuple(row_origins), tuple(dict.fromkeys(star_tables)))

    def _star_sources(self, item: Any, scope: Any) -> list[Any]:
        """`*` → all sources of a SELECT, `t.*` → t."""
        wanted = item.table if isinstance(item, self._exp.Column) else ""
        return [source for alias, source in _sources(scope).items() if not wanted or alias == wanted]

    def _effect(self, item: Any) -> Effect:
        value = item.unalias()
        if isinstance(value, self._exp.Column):
            return Effect.IDENTITY
        return Effect.AGGREGATION if value.find(self._exp.AggFunc) else Effect.TRANSFORMATION

    def _row_origins(self, scope: Any) -> Iterator[ColumnOrigin]:
        clauses = scope.expression.args
        for name, effect in _CLAUSE_EFFECTS.items():
            if clauses.get(name):
                yield from self._origins(clauses[name], scope, effect)
        for join in clauses.get("joins") or ():
            yield from self._origins(join, scope, Effect.JOIN)
        for source in _sources(scope).values():
            if not isinstance(source, self._exp.Table):
                yield from self.read(source).row_origins

    def _origins(self, expression: Any, scope: Any, effect: Effect) -> Iterator[ColumnOrigin]:
        """The origins of every column in an expression."""
        sources = _sources(scope)
        for column in expression.find_all(self._exp.Column):
            if isinstance(column.this, self._exp.Star):
                continue
            source = sources.get(column.table)
            for each in [source] if source is not None else sources.values():
                yield from self._column_origins(column, each, effect)

    def _column_origins(self, column: Any, source: Any, effect: Effect) -> Iterator[ColumnOrigin]:
        name = column.name if column.this.args.get("quoted") else self._case.apply(column.name)
        if isinstance(source, self._exp.Table):
            yield ColumnOrigin(_table_parts(source, self._case), name, effect)
            return
        inner = self.read(source)
        for origin in inner.outputs.get(column.name.lower(), ()):
            yield replace(origin, effect=_combine_effects(origin.effect, effect))
        if column.name.lower() not in inner.outputs:
            yield from (ColumnOrigin(table, name, effect) for table in inner.star_tables)


def _sources(scope: Any) -> dict[str, Any]:
    """The tables and scopes that a SELECT reads, by alias."""
    return {alias: source for alias, (_, source) in scope.selected_sources.items()}
