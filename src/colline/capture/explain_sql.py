"""Lineage of SQL text without data: tables are created empty from their DDL, queries are analyzed and never run.

The tables are in a temporary folder. The `LOCATION` of a table is removed, so that nothing outside the folder is
read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from colline.capture.analyze import QueryError, lineage

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


@dataclass(frozen=True)
class ExplainedStatement:
    """A statement and its lineage."""

    statement: str
    lineage: ColumnLineage


def explain(text: str, spark: SparkSession) -> Iterator[ExplainedStatement]:
    """The lineage of each statement of a script, in order; statements without lineage are left out."""
    for statement in split_statements(text):
        parsed = _parse(statement, spark)
        kind = parsed.getClass().getSimpleName()
        if kind in DEFINITIONS:
            _run(_without_location(statement), spark)
        elif kind in CREATE_AS_SELECT:
            yield ExplainedStatement(statement, lineage(statement, spark))
            _create_empty_table(parsed, spark)
        elif not kind.startswith(WITHOUT_LINEAGE):
            yield ExplainedStatement(statement, lineage(statement, spark))


def _parse(statement: str, spark: SparkSession) -> Any:
    from pyspark.errors import PySparkException

    try:
        return spark._jsparkSession.sessionState().sqlParser().parsePlan(statement)
    except PySparkException as error:
        raise QueryError(str(error).strip(), hint="correct the SQL text") from None


def _run(statement: str, spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    try:
        spark.sql(statement)
    except PySparkException as error:
        raise QueryError(
            str(error).strip(), hint="write the table's columns and types: create table t (a int)"
        ) from None


def _create_empty_table(parsed: Any, spark: SparkSession) -> None:
    """Create the table that the statement would create, without rows."""
    parts = parsed.name().nameParts()
    name = ".".join(f"`{parts.apply(index).replace('`', '``')}`" for index in range(parts.size()))
    skip = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    analyzed = spark._jsparkSession.sessionState().executePlan(parsed.query(), skip).analyzed()
    _run(f"drop table if exists {name}", spark)
    _run(f"create table {name} ({analyzed.schema().toDDL()})", spark)


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
