"""`CREATE … AS query` with options that sqlglot cannot parse: materialized, live and streaming tables."""

from __future__ import annotations

import re
from typing import Any

import sqlglot
from sqlglot import exp

from colline.sql_lineage.sql_scope import StatementContext

_CREATED = re.compile(
    r"^create\b(?:\s+or\s+(?:replace|refresh))?(?:\s+[a-z]+){0,4}?\s+(?:view|table)\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>(?:`[^`]+`|\"[^\"]+\"|\[[^\]]+\]|[\w$.-])+)",
    re.IGNORECASE,
)
_QUERY = re.compile(r"\bas\s*\(?\s*(?=(?:select|with)\b)", re.IGNORECASE)
_OPTIONS_AT_END = re.compile(r"\bwith\s+(?:no\s+)?data\s*$|\bwith\s+(?:local\s+|cascaded\s+)?check\s+option\s*$", re.I)


def created_view(text: str, context: StatementContext) -> tuple[Any, Any] | None:
    """The table and the query of a CREATE statement; None for any other statement."""
    created, query = _CREATED.match(text), _QUERY.search(text)
    if created is None or query is None:
        return None
    body = _OPTIONS_AT_END.sub("", text[query.end() :]).strip()
    dialect = context.dialect or None
    target = sqlglot.exp.to_table(created["name"], dialect=dialect)
    tree = sqlglot.parse_one(body, read=dialect)
    return (target, tree) if isinstance(tree, exp.Query) else None


def creates_view(text: str) -> bool:
    """Whether the text begins like the definition of a view or table by a query."""
    return _CREATED.match(text) is not None and re.search(r"\sas\s", text, re.IGNORECASE) is not None
