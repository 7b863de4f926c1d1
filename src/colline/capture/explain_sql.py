"""Lineage of SQL text without data: tables are created empty from their DDL, queries are analyzed and never run.

The tables are in a temporary folder. The `LOCATION` of a table is removed, so that nothing outside the folder is
read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from colline.capture.analyze import QueryError, lineage, spark_message, without_error_logs
from colline.capture.explain_tables import create_insert_target, create_result_table, create_schema, defined_name
from colline.errors import CollineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from colline.trace import ColumnLineage

# the parser's names of statements that define tables, views and settings: they are executed
DEFINITIONS = {"CreateTable", "CreateNamespace", "CreateView", "CreateViewCommand", "CreateViewStatement", "SetCommand",
           "SetCatalogAndNamespace", "SetNamespaceCommand", "UseStatement", "DropTable", "DropView"}  # fmt: skip
# statements that create a table from a query: explained, then the table is created empty for later statements
CREATE_AS_SELECT = {"CreateTableAsSelect", "ReplaceTableAsSelect"}
# prefixes of the parser's names of statements without lineage
WITHOUT_LINEAGE = (
    "Show",
    "Describe",
    "Explain",
    "Analyze",
    "Refresh",
    "Optimize",
    "Vacuum",
    "Cache",
    "Uncache",
    "Comment",
    "Set",
)


# SQL that plain tables cannot analyze: it needs Delta
_NEEDS_DELTA = re.compile(r"\b(delta|merge|update|delete|clone|generated|identity)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ExplainedStatement:
    """A statement with its lineage, or with the error that prevents it."""

    statement: str
    lineage: ColumnLineage | None
    error: CollineError | None = None


def needs_delta(text: str) -> bool:
    """Whether a script may contain what only Delta tables support: MERGE, UPDATE, DELETE, clones, generated columns."""
    return _NEEDS_DELTA.search(text) is not None


def explain(text: str, spark: SparkSession) -> Iterator[ExplainedStatement]:
    """The lineage of each statement of a script, in order; statements without lineage are left out.

    A statement that fails has an error, and the statements after it are explained.
    """
    for statement in split_statements(text):
        try:
            found = _explain_statement(statement, spark)
        except CollineError as error:
            yield ExplainedStatement(statement, None, error)
        else:
            if found is not None:
                yield ExplainedStatement(statement, found)


def _explain_statement(statement: str, spark: SparkSession) -> ColumnLineage | None:
    with _query_errors("correct the SQL text"):
        parsed = spark._jsparkSession.sessionState().sqlParser().parsePlan(statement)
    kind = parsed.getClass().getSimpleName()
    if kind in DEFINITIONS:
        with _query_errors("write the table's columns and types: create table t (a int)"):
            create_schema(defined_name(parsed), spark)
            spark.sql(_without_location(statement))
        return None
    if kind.startswith(WITHOUT_LINEAGE):
        return None
    with _query_errors("create the tables that it reads with --ddl, or correct the SQL text"):
        if kind in CREATE_AS_SELECT:
            create_schema(defined_name(parsed), spark)
        else:
            create_insert_target(parsed, spark)
        found = lineage(statement, spark)
        if kind in CREATE_AS_SELECT:
            create_result_table(parsed, spark)
    return found


@contextmanager
def _query_errors(hint: str) -> Iterator[None]:
    """Replaces an error of Spark by its first lines: without the plan and without Java's trace."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with without_error_logs():
            yield
    except QueryError as error:
        raise QueryError(error.message, hint=hint) from None
    except PySparkException as error:
        raise QueryError(spark_message(error), hint=hint) from None
    except Py4JError as error:
        raise QueryError(str(error).strip().splitlines()[0], hint=hint) from None


_LOCATION = re.compile(r"""\blocation\s+('[^']*'|"[^"]*")""", re.IGNORECASE)


def _without_location(statement: str) -> str:
    return _LOCATION.sub("", statement)


# a string, a quoted identifier, a comment, or one character
_PART = re.compile(
    r"""'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`(?:``|[^`])*`|--[^\n]*|/\*.*?\*/|.""",
    re.DOTALL,
)


def split_statements(text: str) -> list[str]:
    """The statements of a script, without semicolons. A semicolon in quotes or a comment does not end a statement.

    `select ';'; -- a; b` → [`select ';'`]
    """
    return [statement for statement in _statements(text.replace("\r\n", "\n")) if statement]


def _statements(text: str) -> Iterator[str]:
    parts: list[str] = []
    has_code = False
    for part in _PART.findall(text):
        if part == ";":
            yield "".join(parts).strip() if has_code else ""
            parts, has_code = [], False
            continue
        parts.append(part)
        has_code = has_code or not (part.isspace() or part.startswith(("--", "/*")))
    yield "".join(parts).strip() if has_code else ""
