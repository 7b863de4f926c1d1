"""Compares a contract with a lake: schema, sources, personal data, consumers, promises and verified statements."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from colline.contracts.contract_document import ContractDocument, custom_property, line_of, properties_of
from colline.contracts.findings import ContractReport, Finding, Severity
from colline.contracts.generated_contract import CONSUMERS, DATASET, PERSONAL, read_edges
from colline.contracts.promise_checks import PromiseContext, check_promise
from colline.contracts.promises import InvalidPromise, read_promises
from colline.contracts.table_facts import ColumnFacts, ContractEdge, FactsReader, TableFacts
from colline.contracts.verified_statements import verified_statements
from colline.errors import ColumnError

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING


def check_contract(document: ContractDocument, reader: FactsReader, now: datetime) -> ContractReport:
    """All findings of a contract, worst first."""
    findings: list[Finding] = []
    tables = document.tables()
    if not tables:
        message, hint = "the contract has no table", "describe a table in `schema`, or export the contract of one"
        findings.append(Finding("contract-invalid", _ERROR, document.source, None, message, hint, 1))
    for table in tables:
        facts = find_table(table, reader)
        if facts is None:
            message = f"the lake has no table {table['name']}"
            hint = "it was renamed or never written; export the contract again, or delete it"
            findings.append(Finding("table-missing", _ERROR, table["name"], None, message, hint, line_of(table)))
            continue
        findings += _check_table(table, facts, PromiseContext(reader.lineage, facts, reader.as_of, now))
    ordered = sorted(findings, key=lambda each: (-each.severity, each.table, each.column or "", each.code))
    return ContractReport(document.source, tuple(str(table["name"]) for table in tables), tuple(ordered))


def find_table(table: Any, reader: FactsReader) -> TableFacts | None:
    """The facts of a contract's table: by its dataset, else by its name."""
    identity = custom_property(table, DATASET)
    names: list[tuple[str, str | None]] = [(str(table["name"]), None)]
    if hasattr(identity, "get") and identity.get("namespace") is not None and identity.get("name"):
        names.insert(0, (str(identity["name"]), str(identity["namespace"])))
    for name, namespace in names:
        try:
            return reader.table(name, namespace)
        except ColumnError:
            continue
    return None


def _check_table(table: Any, facts: TableFacts, context: PromiseContext) -> Iterator[Finding]:
    columns = dict(properties_of(table))
    yield from _check_schema(table, columns, facts)
    yield from _check_sources(table, facts)
    yield from _check_personal_data(columns, facts)
    yield from _check_consumers(table, facts)
    yield from _check_statements(table, facts)
    for promise in read_promises(table):
        if isinstance(promise, InvalidPromise):
            place = facts.label, promise.column
            yield Finding("promise-invalid", _ERROR, *place, promise.problem, promise.hint, promise.line)
        else:
            yield from check_promise(promise, context)


def _check_schema(table: Any, columns: dict[str, Any], facts: TableFacts) -> Iterator[Finding]:
    found = {column.name.lower(): column for column in facts.columns}
    for name, column in columns.items():
        actual = found.get(name.lower())
        line = line_of(column)
        if actual is None:
            hint = "the column was dropped or renamed; `colline diff` shows when"
            yield Finding(
                "column-missing", _ERROR, facts.label, name, f"{facts.label} has no column {name}", hint, line
            )
        elif not _is_same_type(column.get("physicalType"), actual.type):
            message = f"{name} is {actual.type}, the contract states {column['physicalType']}"
            hint = "cast it in the job, or change the contract"
            yield Finding("type-changed", _ERROR, facts.label, name, message, hint, line)
    known = {name.lower() for name in columns}
    for actual in facts.columns:
        if actual.name.lower() not in known:
            message = f"{actual.name} ({actual.type or 'unknown type'}) is not in the contract"
            hint = "export the contract again to add it"
            yield Finding("column-added", _WARNING, facts.label, actual.name, message, hint, line_of(table))


def _is_same_type(stated: Any, actual: str | None) -> bool:
    if not isinstance(stated, str) or actual is None:  # nothing was stated, or the type is not known
        return True
    synonyms = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "bool": "boolean"}
    one, two = ("".join(text.lower().split()) for text in (stated, actual))
    return synonyms.get(one, one) == synonyms.get(two, two)


def _check_sources(table: Any, facts: TableFacts) -> Iterator[Finding]:
    stated = read_edges(table)
    if stated is None:
        return
    line = line_of(table, "customProperties")
    before, now = _edges_by_key(stated), _edges_by_key(facts.edges)
    for column, source in sorted(before.keys() - now.keys()):
        message = f"{_name(column)} no longer depends on {source}"
        hint = "`colline diff` shows which job changed"
        severity = _ERROR if _gives_value(before[column, source]) else _WARNING
        yield Finding("source-gone", severity, facts.label, _column(column), message, hint, line)
    for column, source in sorted(now.keys() - before.keys()):
        jobs = ", ".join(sorted({edge.job for edge in now[column, source] if edge.job}))
        message = f"{_name(column)} depends on {source}, which the contract does not list; written by {jobs or '?'}"
        hint = "review it, and export the contract again"
        yield Finding("source-added", _WARNING, facts.label, _column(column), message, hint, line, (source,))
    for column, source in sorted(before.keys() & now.keys()):
        if _definitions(before[column, source]) != _definitions(now[column, source]):
            message = f"{_name(column)} is derived from {source} in another manner: {_show(now[column, source])}"
            hint = f"the contract states {_show(before[column, source])}; export it again to accept the change"
            yield Finding("derivation-changed", _WARNING, facts.label, _column(column), message, hint, line)


def _edges_by_key(edges: tuple[ContractEdge, ...]) -> dict[tuple[str, str], list[ContractEdge]]:
    found: dict[tuple[str, str], list[ContractEdge]] = {}
    for edge in edges:
        found.setdefault(edge.key, []).append(edge)
    return found


def _definitions(edges: list[ContractEdge]) -> set[tuple[str, str, bool, str]]:
    return {(edge.type, edge.subtype, edge.masking, edge.expression) for edge in edges}


def _gives_value(edges: list[ContractEdge]) -> bool:
    return any(edge.type == "DIRECT" for edge in edges)


def _show(edges: list[ContractEdge]) -> str:
    return "; ".join(sorted({edge.expression or edge.subtype.lower() for edge in edges}))


def _name(column: str) -> str:
    return "the set of rows" if column == "*" else column


def _column(column: str) -> str | None:
    return None if column == "*" else column


def _check_personal_data(columns: dict[str, Any], facts: TableFacts) -> Iterator[Finding]:
    for column in facts.columns:
        stated = columns.get(column.name)
        if column.personal == "clear" and not _states_personal_data(stated, column):
            message = f"{column.name} has personal data in clear, and the contract does not state it"
            hint = f"mask it in the job, or set `classification: {PERSONAL}` in the contract"
            line = line_of(stated) if stated is not None else None
            yield Finding(
                "personal-data-in-clear", _ERROR, facts.label, column.name, message, hint, line, column.personal_path
            )


def _states_personal_data(stated: Any, column: ColumnFacts) -> bool:
    """Whether the contract classifies the column, or has the tag that makes it personal data."""
    if stated is None:
        return False
    classification = stated.get("classification")
    tags = {str(tag).lower() for tag in stated.get("tags") or ()}
    has_own_class = isinstance(classification, str) and classification not in ("", "public", "pseudonymized")
    return has_own_class or bool(tags & {tag.lower() for tag in column.tags})


def _check_consumers(table: Any, facts: TableFacts) -> Iterator[Finding]:
    rows = custom_property(table, CONSUMERS)
    found = {consumer.job: set(consumer.tables) for consumer in facts.consumers}
    for row in rows if isinstance(rows, list) else ():
        if not hasattr(row, "get") or not isinstance(row.get("job"), str):
            continue
        names = row.get("tables")
        job, tables = row["job"], {str(name) for name in names} if isinstance(names, list) else set[str]()
        lost = sorted(tables - found.get(job, set())) if job in found else [""]
        for name in lost:
            message = f"{job} no longer reads it" + (f" to write {name}" if name else "")
            hint = "export the contract again if this is intended"
            yield Finding("consumer-lost", _WARNING, facts.label, None, message, hint, line_of(row))


def _check_statements(table: Any, facts: TableFacts) -> Iterator[Finding]:
    context = table.get("context")
    rows = context.get("verifiedStatements") if hasattr(context, "get") else None
    current = {row["id"]: row["answer"] for row in verified_statements(facts)}
    for row in rows if isinstance(rows, list) else ():
        if not hasattr(row, "get") or row.get("id") not in current or row.get("answer") is None:
            continue
        if str(row["answer"]) != current[row["id"]]:
            message = f"the answer to “{row.get('question')}” is now “{current[row['id']]}”"
            hint = "export the contract again"
            yield Finding("statement-outdated", _WARNING, facts.label, None, message, hint, line_of(row))
