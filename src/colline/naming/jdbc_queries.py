"""Reads the SQL text of a JDBC source: the tables it names, and the table columns behind each of its columns.

`sql_lineage` reads the text. It needs sqlglot, which is optional; without it, a query has no known tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from colline.sql_lineage.table_schema import TableSchema
from colline.terminal_text import get_logger
from colline.trace import DatasetName, Effect
from colline.trace.flow import Dependencies

if TYPE_CHECKING:
    from colline.sql_lineage.script_lineage import QueryLineage

log = get_logger("colline")

Table = tuple[str, ...]

_SEPARATOR = "\x1f"  # between the parts of a table's name
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


def query_tables(query: JdbcQuery) -> tuple[Table, ...]:
    """The tables that a query reads, in order of appearance, without its CTEs."""
    found = _lineage(query)
    return () if found is None else tuple(_parts(name) for name in found.inputs)


@lru_cache(maxsize=256)
def query_columns(query: JdbcQuery) -> QueryColumns | None:
    """The origins of a query's columns; None if sqlglot is missing or cannot read the query.

    A column without a table name in a query over two tables gets both tables as its origins.
    """
    found = _lineage(query)
    if found is None:
        return None
    outputs: dict[str, tuple[ColumnOrigin, ...]] = {}
    for name, flow in found.relation.columns:
        outputs.setdefault(name.lower(), tuple(_origins(flow.dependencies)))
    star_tables = tuple(_parts(name) for name in found.relation.open_tables)
    return QueryColumns(outputs, tuple(_origins(found.relation.row_dependencies)), star_tables)


@lru_cache(maxsize=256)
def _lineage(query: JdbcQuery) -> QueryLineage | None:
    try:
        from colline.sql_lineage.script_lineage import query_lineage
        from colline.sql_lineage.script_statements import ScriptError
    except ImportError:
        _warn_sqlglot_is_missing()
        return None
    try:
        return query_lineage(_to_select(query.sql), query.dialect, _AnyTable(), fold=query.identifier_case.apply)
    except ScriptError as error:
        log.warning("cannot read the query of a JDBC source: %s", error.message)
        return None


class _AnyTable:
    """Every table exists, with columns that are not known: the database is not queried."""

    def find(self, parts: Table) -> TableSchema:
        """The table with its parts in the name, to be read back by `_parts`."""
        return TableSchema(DatasetName("", _SEPARATOR.join(parts)))


def _parts(name: DatasetName) -> Table:
    return tuple(name.name.split(_SEPARATOR))


def _origins(dependencies: Dependencies) -> Iterator[ColumnOrigin]:
    for column, transformations in dependencies.items():
        for effect in sorted({each.effect for each in transformations}, key=list(Effect).index):
            yield ColumnOrigin(_parts(column.dataset), column.field, effect)


def _to_select(sql: str) -> str:
    """`(select …) t`, `orders o join lines l on …` → `select * from …`."""
    text = sql.strip().rstrip(";")
    return text if re.match(r"(?is)^(select|with)\b", text) else f"select * from {text}"  # noqa: S608 - parsed, never run


@lru_cache(maxsize=1)
def _warn_sqlglot_is_missing() -> None:
    log.warning("the tables of a JDBC query are unknown: sqlglot is not installed\nhint: pip install 'colline[sql]'")
