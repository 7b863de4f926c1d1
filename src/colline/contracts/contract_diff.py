"""Compares two versions of a contract: which changes break readers, and what they touch downstream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from colline.contracts.contract_document import ContractDocument, custom_property, line_of, properties_of
from colline.contracts.generated_contract import DATASET, read_edges
from colline.contracts.logical_types import is_wider
from colline.contracts.promises import PROMISES, Promise, read_promises
from colline.contracts.table_facts import ALL_ROWS, ContractEdge
from colline.errors import ColumnError
from colline.graph.lineage import Lineage

MAX_TOUCHED = 50


@dataclass(frozen=True, slots=True)
class ContractChange:
    """One change. `columns` and `jobs` are what it touches downstream, if a lake was given."""

    kind: str
    table: str
    column: str | None
    breaking: bool
    message: str
    line: int | None = None
    columns: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    more: int = 0  # columns that are touched too and not listed


def contract_changes(old: ContractDocument, new: ContractDocument) -> list[ContractChange]:
    """The changes from one version to another, breaking ones first."""
    before = {str(table["name"]): table for table in old.tables()}
    after = {str(table["name"]): table for table in new.tables()}
    found: list[ContractChange] = []
    for name in before.keys() - after.keys():
        found.append(ContractChange("table-removed", name, None, True, f"{name} was removed"))
    for name in after.keys() - before.keys():
        found.append(ContractChange("table-added", name, None, False, f"{name} was added", line_of(after[name])))
    for name in before.keys() & after.keys():
        found += _column_changes(name, before[name], after[name])
        found += _lineage_changes(name, before[name], after[name])
        found += _promise_changes(name, before[name], after[name])
    return sorted(found, key=lambda each: (not each.breaking, each.table, each.column or "", each.kind, each.message))


def _column_changes(table: str, before: Any, after: Any) -> Iterator[ContractChange]:
    old, new = dict(properties_of(before)), dict(properties_of(after))
    for name in old.keys() - new.keys():
        yield ContractChange("column-removed", table, name, True, f"{name} was removed")
    for name in new.keys() - old.keys():
        yield ContractChange("column-added", table, name, False, f"{name} was added", line_of(new[name]))
    for name in old.keys() & new.keys():
        yield from _property_changes(table, name, old[name], new[name])


def _property_changes(table: str, name: str, old: Any, new: Any) -> Iterator[ContractChange]:
    line = line_of(new)
    one, two = old.get("physicalType"), new.get("physicalType")
    if isinstance(one, str) and isinstance(two, str) and one.lower() != two.lower():
        is_breaking = not is_wider(one, two)
        yield ContractChange("type-changed", table, name, is_breaking, f"{name}: {one} → {two}", line)
    if bool(old.get("required")) != bool(new.get("required")):
        lost = bool(old.get("required"))
        message = f"{name} may be null now" if lost else f"{name} is required now"
        yield ContractChange("required-changed", table, name, lost, message, line)
    if bool(old.get("unique")) and not new.get("unique"):
        yield ContractChange("unique-removed", table, name, True, f"{name} no longer has to be unique", line)
    if old.get("classification") != new.get("classification"):
        message = f"{name}: classification {old.get('classification')} → {new.get('classification')}"
        yield ContractChange("classification-changed", table, name, False, message, line)


def _lineage_changes(table: str, before: Any, after: Any) -> Iterator[ContractChange]:
    """A new definition keeps the schema, but readers get other values: it is breaking if values are concerned."""
    old, new = read_edges(before), read_edges(after)
    if old is None or new is None:
        return
    for column in sorted({edge.column for edge in (*old, *new)}):
        one, two = _definition(old, column), _definition(new, column)
        if one != two:
            is_breaking = any(edge.type == "DIRECT" for edge in one ^ two)
            what = "the set of rows" if column == ALL_ROWS else column
            message = (
                f"{what} is derived differently: {_show(one - two) or 'nothing'} → {_show(two - one) or 'nothing'}"
            )
            yield ContractChange(
                "derivation-changed", table, None if column == ALL_ROWS else column, is_breaking, message
            )


def _definition(edges: tuple[ContractEdge, ...], column: str) -> set[ContractEdge]:
    return {replace(edge, job="") for edge in edges if edge.column == column}


def _show(edges: set[ContractEdge]) -> str:
    return ", ".join(sorted({f"{edge.source} ({edge.expression or edge.subtype.lower()})" for edge in edges}))


def _promise_changes(table: str, before: Any, after: Any) -> Iterator[ContractChange]:
    """A promise that is removed is one that readers relied on."""
    old, new = _promises(before), _promises(after)
    for column, text in sorted(old - new, key=str):
        yield ContractChange("promise-removed", table, column, True, f"no longer promised: {text}")
    for column, text in sorted(new - old, key=str):
        line = line_of(after, "customProperties") if custom_property(after, PROMISES) else None
        yield ContractChange("promise-added", table, column, False, f"promised now: {text}", line)


def _promises(table: Any) -> set[tuple[str | None, str]]:
    return {(each.column, each.text) for each in read_promises(table) if isinstance(each, Promise)}


def with_downstream(changes: list[ContractChange], old: ContractDocument, lineage: Lineage) -> list[ContractChange]:
    """The changes with the columns and jobs downstream of each. An added column touches nothing."""
    names = {str(table["name"]): _dataset_name(table) for table in old.tables()}
    return [_with_touched_columns(change, names, lineage) if change.table in names else change for change in changes]


def _dataset_name(table: Any) -> str:
    identity = custom_property(table, DATASET)
    return f"{identity['namespace']}/{identity['name']}" if hasattr(identity, "get") else str(table["name"])


def _with_touched_columns(change: ContractChange, names: dict[str, str], lineage: Lineage) -> ContractChange:
    if change.kind in ("column-added", "promise-added", "promise-removed"):
        return change
    verb = "type" if change.kind == "type-changed" else "drop"
    try:
        answer = lineage.impact(f"{names[change.table]}.{change.column or '*'}", change=verb, limit=0)
    except ColumnError:  # the lake no longer has it
        return change
    labels = tuple(row.label for row in answer.columns)
    jobs = tuple(sorted({row.name for row in answer.jobs}))
    return replace(change, columns=labels[:MAX_TOUCHED], jobs=jobs, more=max(len(labels) - MAX_TOUCHED, 0))
