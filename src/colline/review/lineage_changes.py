"""What a change of files does to the columns they define."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colline.contracts.findings import Severity
from colline.review.definition_graph import ALL_ROWS, DefinitionGraph, FileColumn


@dataclass(frozen=True, slots=True)
class ReviewFinding:
    """One consequence of a change. `columns` and `jobs` are what it touches downstream in the lake."""

    kind: str
    severity: Severity
    subject: str
    message: str
    columns: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    more: int = 0
    column: FileColumn | None = None


def lineage_changes(before: DefinitionGraph, after: DefinitionGraph) -> list[ReviewFinding]:
    """Added, removed and re-derived columns, in the order of their names."""
    removed_tables = before.tables - after.tables
    found = [finding for column in sorted({*before.edges, *after.edges}) for finding in _change(column, before, after)]
    found = [each for each in found if each.column is None or each.column.dataset not in removed_tables]
    for table in sorted(removed_tables, key=str):
        columns = sorted(before.columns_of(table))
        label = columns[0].label.removesuffix(f".{columns[0].field}") if columns else table.name
        whole = FileColumn(table.namespace, table.name, ALL_ROWS)
        message = f"{label} is no longer defined"
        found.append(ReviewFinding("table-removed", Severity.ERROR, label, message, column=whole))
    return found


def _change(column: FileColumn, before: DefinitionGraph, after: DefinitionGraph) -> Iterator[ReviewFinding]:
    old, new = before.edges.get(column), after.edges.get(column)
    is_rows = column.field == ALL_ROWS
    label = "the set of rows of " + column.label.removesuffix(".*") if is_rows else column.label
    if old == new or (is_rows and (old is None or new is None)):
        return
    if old is None and new is not None:
        sources = ", ".join(edge.text for edge in sorted(new)) or "no column"
        yield ReviewFinding("column-added", Severity.INFO, label, f"new, from {sources}", column=column)
    elif new is None:
        yield ReviewFinding("column-removed", Severity.ERROR, label, "removed", column=column)
    elif old is not None:
        was = ", ".join(edge.text for edge in sorted(old - new)) or "nothing"
        now = ", ".join(edge.text for edge in sorted(new - old)) or "nothing"
        changes_value = any(edge.type == "DIRECT" for edge in old ^ new)
        severity = Severity.WARNING if changes_value or is_rows else Severity.INFO
        yield ReviewFinding("derivation-changed", severity, label, f"{was} → {now}", column=column)
