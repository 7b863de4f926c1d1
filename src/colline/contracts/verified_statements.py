"""Questions about a table with answers that `colline contract check` can verify, for agents that read the contract."""

from __future__ import annotations

import re
from typing import Any

from colline.contracts.table_facts import ContractEdge, TableFacts

PREFIX = "colline-"  # of the ids of statements that colline writes
_UNSAFE = re.compile(r"[\s./#\\@!%&^]+")  # characters that the standard forbids in an id


def verified_statements(facts: TableFacts) -> list[dict[str, Any]]:
    """Who writes the table, what decides its rows, which personal data it has, and how derived columns are made."""
    personal = [column.name for column in facts.columns if column.personal == "clear"]
    rows = facts.column_edges("*")
    statements = [
        _statement("writers", f"Which jobs write {facts.label}?", _list(facts.writers) or "No known job."),
        _statement(
            "personal-data",
            f"Which columns of {facts.label} contain personal data in clear?",
            _list(personal) or "None.",
        ),
    ]
    if rows:
        question = f"Which columns decide which rows {facts.label} has?"
        statements.append(_statement("rows", question, _list(sorted({edge.source for edge in rows}))))
    for column in facts.columns:
        edges = facts.column_edges(column.name)
        if any(edge.subtype != "IDENTITY" for edge in edges):
            question = f"How is {facts.label}.{column.name} derived?"
            statements.append(_statement(f"column-{_UNSAFE.sub('-', column.name)}", question, _derivation(edges)))
    return _with_unique_ids(statements)


def _statement(name: str, question: str, answer: str) -> dict[str, Any]:
    return {"id": PREFIX + name, "question": question, "answer": answer}


def _list(names: list[str] | tuple[str, ...]) -> str:
    return f"{', '.join(names)}." if names else ""


def _derivation(edges: list[ContractEdge]) -> str:
    parts = []
    for kind, words in (("DIRECT", "From"), ("INDIRECT", "Influenced by")):
        found = sorted({edge.source for edge in edges if edge.type == kind})
        parts += [f"{words} {', '.join(found)}"] if found else []
    expressions = sorted({edge.expression for edge in edges if edge.type == "DIRECT" and edge.expression})
    text = "; ".join(parts)
    return f"{text}: {'; '.join(expressions)}" if expressions else f"{text}."


def _with_unique_ids(statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Columns `a b` and `a-b` have the same safe id; the second gets a number."""
    counts: dict[str, int] = {}
    for statement in statements:
        counts[statement["id"]] = counts.get(statement["id"], 0) + 1
        if counts[statement["id"]] > 1:
            statement["id"] += f"-{counts[statement['id']]}"
    return statements
