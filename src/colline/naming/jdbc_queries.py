"""Table names inside SQL text of another database: the `dbtable` and `query` options of a JDBC source.

sqlglot reads subqueries. It is optional and imported late; without it a query names no table, and that is said.
"""

from __future__ import annotations

import logging
import re
from enum import Enum
from functools import lru_cache

log = logging.getLogger("colline")


class Fold(Enum):
    """What a database does to the letters of an identifier that has no quotes."""

    NONE = "none"
    LOWER = "lower"
    UPPER = "upper"

    def __call__(self, text: str) -> str:
        """The identifier as the database stores it."""
        if self is Fold.LOWER:
            return text.lower()
        return text.upper() if self is Fold.UPPER else text


_PART = re.compile(r'"((?:[^"]|"")+)"|`([^`]+)`|\[([^\]]+)\]|([^\s."`\[\](),;\'=]+)')


def split_identifier(text: str, fold: Fold) -> tuple[str, ...]:
    """`"Sales".orders` → its parts with quotes undone; nothing if the text is more than a name."""
    parts: list[str] = []
    at = 0
    while match := _PART.match(text, at):
        quoted = next((part for part in match.groups()[:3] if part is not None), None)
        parts.append(quoted.replace('""', '"') if quoted is not None else fold(match.group(4)))
        at = match.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            break
        at += 1
    return ()


@lru_cache(maxsize=256)
def tables_of(sql: str, dialect: str, fold: Fold) -> tuple[tuple[str, ...], ...]:
    """Every table a query or a FROM item names, without its CTEs, in order of appearance."""
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
        from sqlglot.optimizer.scope import traverse_scope
    except ImportError:
        _say_sqlglot_is_missing()
        return ()
    try:
        tree = sqlglot.parse_one(as_query(sql), dialect=dialect or None)
        sources = [source for scope in traverse_scope(tree) for source in scope.sources.values()]
    except (SqlglotError, RecursionError, ValueError) as error:
        log.warning("cannot read the query of a JDBC source: %s", type(error).__name__)
        return ()
    tables = [source for source in sources if isinstance(source, sqlglot.exp.Table)]
    return tuple(dict.fromkeys(table_parts(table, fold) for table in tables if table.name))


def as_query(sql: str) -> str:
    """`(select …) t` and `orders o join lines l on …` as whole queries."""
    text = sql.strip().rstrip(";")
    return text if re.match(r"(?is)^(select|with)\b", text) else f"select * from {text}"  # noqa: S608 - parsed, never run


def table_parts(table: object, fold: Fold) -> tuple[str, ...]:
    """The parts of a table's name as the database stores them."""
    from sqlglot import exp

    assert isinstance(table, exp.Table)
    return tuple(part.name if part.args.get("quoted") else fold(part.name) for part in table.parts)


@lru_cache(maxsize=1)
def _say_sqlglot_is_missing() -> None:
    log.warning("the tables inside a JDBC query are not named: sqlglot is missing\nhint: pip install 'colline[sql]'")
