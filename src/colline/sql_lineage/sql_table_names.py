"""The names of the tables that a SQL statement reads and writes, without their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from colline.sql_lineage.script_lineage import READ_ERRORS, without_warnings

MAX_SQL_CHARS = 200_000
TableParts = tuple[str, ...]
# statements whose own tables are neither read nor written
_IGNORED = (exp.Use, exp.Describe, exp.Set, exp.Command)


@dataclass(frozen=True)
class SqlTableNames:
    """The tables of one statement, each as the parts of its name.

    `is_query` if it is a query, not a command. `creates` if the tables that it writes need not exist before.
    """

    reads: tuple[TableParts, ...] = ()
    writes: tuple[TableParts, ...] = ()
    is_query: bool = True
    creates: bool = False


NO_TABLES = SqlTableNames()


def table_names(sql: str, dialect: str) -> SqlTableNames | None:
    """`insert into a select * from b.c` → reads b.c, writes a. None if the text cannot be read."""
    if len(sql) > MAX_SQL_CHARS:
        return None
    try:
        with without_warnings():
            statements = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except READ_ERRORS:
        return None
    if len(statements) != 1:
        return NO_TABLES if not statements else None
    return _names(statements[0])


def _names(statement: Any) -> SqlTableNames:
    if isinstance(statement, _IGNORED):
        return SqlTableNames(is_query=False)
    defined = {cte.alias.lower() for cte in statement.find_all(exp.CTE)}
    reads: dict[TableParts, None] = {}
    writes: dict[TableParts, None] = {}
    for table in statement.find_all(exp.Table):
        parts = tuple(part.name for part in table.parts if part.name)
        if not parts or not all(isinstance(part, exp.Identifier) for part in table.parts):
            continue
        if _is_target(table, statement):
            writes[parts] = None
        elif len(parts) > 1 or parts[0].lower() not in defined:
            reads[parts] = None
    if _is_temporary(statement):
        writes = {}
    return SqlTableNames(
        tuple(reads), tuple(writes), isinstance(statement, exp.Query), isinstance(statement, exp.Create)
    )


def _is_target(table: Any, statement: Any) -> bool:
    if isinstance(statement, exp.Query):
        return False
    parent = table.parent
    if isinstance(parent, exp.Schema):  # create table t (a int); insert into t (a)
        table, parent = parent, parent.parent
    if isinstance(parent, exp.AlterRename):
        return True
    is_statement = parent is statement or isinstance(parent, exp.Insert)
    return is_statement and table.arg_key in ("this", "tables", "expressions")


def _is_temporary(statement: Any) -> bool:
    """Whether a statement creates a temporary view or caches a table: nothing is written."""
    if isinstance(statement, (exp.Cache, exp.Uncache)):
        return True
    return isinstance(statement, exp.Create) and statement.find(exp.TemporaryProperty) is not None
