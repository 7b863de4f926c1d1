"""SQL text → what each statement writes, with the lineage of its columns.

A statement that cannot be read is a problem with its line; the other statements are read. Temporary tables are
resolved inside the script, so that lineage leads to the tables behind them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import Dialect, ErrorLevel
from sqlglot.errors import SqlglotError

from colline.sql_lineage.named_relation import NamedRelation
from colline.sql_lineage.script_statements import (
    ScriptError,
    ScriptStatement,
    script_statements,
    without_merge_output,
)
from colline.sql_lineage.sql_queries import query_relation
from colline.sql_lineage.sql_scope import Fold, StatementContext
from colline.sql_lineage.sql_targets import SqlWrite, TableComment
from colline.sql_lineage.sql_writes import written_tables
from colline.sql_lineage.table_schema import TableLookup
from colline.trace import DatasetName

READ_ERRORS = (SqlglotError, RecursionError, ValueError, LookupError, AttributeError, TypeError, AssertionError)


@dataclass(frozen=True)
class SqlProblem:
    """Something in SQL text that could not be read, with its line."""

    line: int
    message: str
    procedure: str = ""


@dataclass(frozen=True)
class ScriptLineage:
    """What a script writes, what it reads without writing, and what could not be read."""

    writes: tuple[SqlWrite, ...] = ()
    comments: tuple[TableComment, ...] = ()
    problems: tuple[SqlProblem, ...] = ()
    inputs: tuple[DatasetName, ...] = ()


@dataclass(frozen=True)
class QueryLineage:
    """The columns of one query, the tables it reads, and what is not known about it."""

    relation: NamedRelation
    inputs: tuple[DatasetName, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass
class _Script:
    """The state of a script that is read: its temporary tables and what was found so far."""

    dialect: str
    tables: TableLookup
    temporary: dict[str, NamedRelation] = field(default_factory=dict)
    writes: list[SqlWrite] = field(default_factory=list)
    comments: list[TableComment] = field(default_factory=list)
    problems: list[SqlProblem] = field(default_factory=list)
    inputs: dict[DatasetName, None] = field(default_factory=dict)


def script_lineage(sql: str, dialect: str, tables: TableLookup) -> ScriptLineage:
    """The lineage of every statement of a script."""
    script = _Script(dialect, tables)
    try:
        statements = script_statements(sql, dialect)
    except ScriptError as error:
        return ScriptLineage(problems=(SqlProblem(error.line, error.message),))
    with without_warnings():
        for statement in statements:
            _read_statement(statement, script)
    return ScriptLineage(tuple(script.writes), tuple(script.comments), tuple(script.problems), tuple(script.inputs))


def query_lineage(sql: str, dialect: str, tables: TableLookup, *, fold: Fold | None = None) -> QueryLineage:
    """The lineage of one query. Raises `ScriptError` if the text is not a query that can be read.

    `fold` is how the database stores names without quotes; by default as its dialect does.
    """
    statements = script_statements(sql, dialect)
    if len(statements) != 1:
        raise ScriptError(f"expected one query, found {len(statements)} statements")
    context = StatementContext(tables, dialect, fold=fold)
    try:
        with without_warnings():
            relation = query_relation(_parse(statements[0], dialect), context)
    except READ_ERRORS as error:
        raise ScriptError(_reason(error), statements[0].line) from error
    return QueryLineage(relation, tuple(context.inputs), tuple(dict.fromkeys(context.problems)))


def _read_statement(statement: ScriptStatement, script: _Script) -> None:
    if statement.is_dynamic:
        _report(script, statement, "runs SQL text that is built at run time")
        return
    has_variables = bool(statement.procedure) and script.dialect not in {"tsql", "fabric"}
    context = StatementContext(script.tables, script.dialect, script.temporary, has_variables=has_variables)
    try:
        found = written_tables(_parse(statement, script.dialect), context)
    except READ_ERRORS as error:
        _report(script, statement, _reason(error))
        return
    script.temporary.update(found.temporary)
    script.writes += [replace(each, line=statement.line, procedure=statement.procedure) for each in found.writes]
    script.comments += found.comments
    script.inputs.update(context.inputs)
    for problem in dict.fromkeys(context.problems):
        _report(script, statement, problem)


def _report(script: _Script, statement: ScriptStatement, message: str) -> None:
    script.problems.append(SqlProblem(statement.line, message, statement.procedure))


def _parse(statement: ScriptStatement, dialect: str) -> Any:
    parser = Dialect.get_or_raise(dialect or None).parser(error_level=ErrorLevel.IMMEDIATE)
    tokens = without_merge_output(statement.tokens) if dialect in {"tsql", "fabric"} else list(statement.tokens)
    trees = [tree for tree in parser.parse(tokens, statement.sql) if tree is not None]
    if len(trees) != 1:
        raise ValueError("not one statement")
    return trees[0]


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, SqlglotError) and getattr(error, "errors", None):
        first = error.errors[0]
        found = first.get("highlight") or first.get("start_context", "")[-20:]
        return f"not understood at `{found}`: {first.get('description', 'syntax error').rstrip('.')}"
    return f"not understood ({type(error).__name__})"


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppresses sqlglot's own log lines: what it cannot parse is reported as a problem."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
