"""What changes reach in the lake: columns and jobs downstream, new personal data in clear, and broken promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from colline.contracts.contract_document import ContractDocument, custom_property
from colline.contracts.findings import Severity
from colline.contracts.generated_contract import DATASET
from colline.contracts.promise_checks import PromiseContext, check_promise
from colline.contracts.promises import Promise, read_promises
from colline.contracts.table_facts import ColumnFacts, FactsReader, TableFacts
from colline.errors import ColumnError
from colline.graph.lineage import Lineage
from colline.review.combined_paths import CombinedLineage
from colline.review.definition_graph import ALL_ROWS, DefinitionGraph, FileColumn
from colline.review.lineage_changes import ReviewFinding

MAX_LISTED = 50
_BREAKING = {"column-removed": "drop", "table-removed": "drop"}


def with_reach(findings: Iterable[ReviewFinding], lineage: Lineage) -> list[ReviewFinding]:
    """The findings with what they touch. A removal that touches nothing is a warning."""
    return [_with_reach(finding, lineage) for finding in findings]


def _with_reach(finding: ReviewFinding, lineage: Lineage) -> ReviewFinding:
    column = finding.column
    if column is None or finding.kind == "column-added":
        return finding
    try:
        name = f"{column.namespace}/{column.name}.{column.field}"
        answer = lineage.impact(name, change=_BREAKING.get(finding.kind, "type"), limit=0)
    except ColumnError:  # the lake does not have it
        return replace(finding, severity=min(finding.severity, Severity.WARNING))
    labels = [row.label for row in answer.columns]
    touches = bool(labels or answer.jobs or answer.readers)
    return replace(
        finding,
        severity=finding.severity if touches else min(finding.severity, Severity.WARNING),
        columns=tuple(labels[:MAX_LISTED]),
        jobs=tuple(sorted({row.name for row in answer.jobs})),
        more=max(len(labels) - MAX_LISTED, 0),
    )


def new_personal_data(before: DefinitionGraph, after: DefinitionGraph, reader: FactsReader) -> Iterator[ReviewFinding]:
    """Columns that personal data reaches in clear after the change, and did not before."""
    known = _clear_columns(reader)
    was = _columns_in_clear({}, before, known)
    for column, path in sorted(_columns_in_clear({}, after, known).items()):
        if column not in was and column not in known:
            labels = tuple(each.label for each in path)
            message = f"personal data of {labels[0]} arrives in clear"
            yield ReviewFinding(
                "personal-data-in-clear", Severity.ERROR, column.label, message, path=labels, column=column
            )


def _clear_columns(reader: FactsReader) -> dict[FileColumn, tuple[FileColumn, ...]]:
    """The columns of the lake that have personal data in clear."""
    found: dict[FileColumn, tuple[FileColumn, ...]] = {}
    for tag in reader.tags:
        try:
            answer = reader.lineage.pii(tag=tag, limit=0)
        except ColumnError:
            continue
        rows = [*answer.of, *(row for row in answer.landings if row.verdict == "clear")]
        for row in rows:
            column = FileColumn(row.namespace, row.name, row.field)
            found[column] = (column,)
    return found


def _columns_in_clear(
    found: dict[FileColumn, tuple[FileColumn, ...]],
    graph: DefinitionGraph,
    known: Mapping[FileColumn, tuple[FileColumn, ...]],
) -> dict[FileColumn, tuple[FileColumn, ...]]:
    """The columns of the files that data in clear reaches, each with a path. Repeats until no more are found."""
    has_changed = True
    while has_changed:
        has_changed = False
        for column, edges in graph.edges.items():
            if column in found or column.field == ALL_ROWS:
                continue
            for edge in sorted(edges):
                path = found.get(edge.source) or known.get(edge.source)
                if path and edge.type == "DIRECT" and not edge.masking:
                    found[column] = (*path, column)
                    has_changed = True
                    break
    return found


def broken_promises(
    contracts: Iterable[ContractDocument], before: DefinitionGraph, after: DefinitionGraph, reader: FactsReader,
    *, now: datetime,
) -> Iterator[ReviewFinding]:  # fmt: skip
    """Promises of contracts that hold before the change, and do not after it."""
    old, new = CombinedLineage(reader.lineage, before), CombinedLineage(reader.lineage, after)
    for contract in contracts:
        for table in contract.tables():
            promises = [each for each in read_promises(table) if isinstance(each, Promise)]
            facts = _facts(table, after, reader) if promises else None
            if facts is None:
                continue
            contexts = [
                PromiseContext(reader.lineage, facts, None, now, combined.value_paths) for combined in (old, new)
            ]
            for promise in promises:
                was, is_now = ([*check_promise(promise, context)] for context in contexts)
                known = {finding.column for finding in was if finding.severity is Severity.ERROR}
                for finding in is_now:
                    if finding.severity is Severity.ERROR and finding.column not in known:
                        subject = f"{finding.table}.{finding.column}" if finding.column else finding.table
                        yield ReviewFinding(
                            "promise-broken", Severity.ERROR, subject, finding.message, path=finding.path
                        )


def _facts(table: Mapping[str, object], after: DefinitionGraph, reader: FactsReader) -> TableFacts | None:
    identity = custom_property(table, DATASET)
    try:
        if hasattr(identity, "get"):
            facts = reader.table(str(identity.get("name")), str(identity.get("namespace")))
        else:
            facts = reader.table(str(table["name"]))
    except ColumnError:
        return None
    columns = {column.name: column for column in facts.columns}
    for column in after.edges:
        if (column.namespace, column.name) == (facts.namespace, facts.name) and column.field != ALL_ROWS:
            columns.setdefault(column.field, ColumnFacts(column.field, None))
    return replace(facts, columns=tuple(columns.values()))
