"""Writes what was generated into a contract, and leaves everything that people wrote: texts, rules, order, comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colline.contracts.contract_document import VENDOR, ContractDocument
from colline.contracts.generated_contract import CLASSIFICATIONS, DATASET
from colline.contracts.verified_statements import PREFIX

# generated parts of a column and of a table: replaced, and removed when they no longer apply
_COLUMN_KEYS = (
    "logicalType", "physicalType", "items", "partitioned", "partitionKeyPosition", "transformSourceObjects",
    "transformLogic", "transformDescription",
)  # fmt: skip
_TABLE_KEYS = ("physicalName", "physicalType", "logicalType")


def merge_contract(document: ContractDocument, generated: Mapping[str, Any]) -> list[str]:
    """Update the document. Returns the columns that the lake no longer has but that people described; they are kept."""
    tree, kept = document.tree, []
    for key, value in generated.items():
        if key == "schema":
            tables = tree.setdefault(key, [])
            for table in value:
                kept += _merge_table(tables, table)
        elif key == "apiVersion" or key not in tree:
            _assign(tree, key, _to_yaml(value))
    return kept


def _merge_table(tables: list[Any], generated: Mapping[str, Any]) -> list[str]:
    found = _same_table(tables, generated)
    if found is None:
        tables.append(_to_yaml(generated))
        return []
    _merge_keys(found, generated, _TABLE_KEYS)
    return _merge_columns(found, generated.get("properties", []), str(generated["name"]))


def _same_table(tables: list[Any], generated: Mapping[str, Any]) -> Any:
    """The table with the same dataset; else the one with the same name."""
    identity = _custom(generated, DATASET)
    rows = [table for table in tables if isinstance(table, Mapping)]
    same = [table for table in rows if identity and _custom(table, DATASET) == identity]
    same += [table for table in rows if table.get("name") == generated["name"]]
    return same[0] if same else None


def _custom(owner: Mapping[str, Any], name: str) -> Any:
    rows = owner.get("customProperties") or ()
    return next((row.get("value") for row in rows if isinstance(row, Mapping) and row.get("property") == name), None)


def _merge_columns(owner: Any, generated: Sequence[Mapping[str, Any]], path: str) -> list[str]:
    columns = owner.setdefault("properties", _to_yaml([]))
    names = {str(row["name"]) for row in generated}
    kept = []
    for place in reversed(range(len(columns))):
        column = columns[place]
        if isinstance(column, Mapping) and column.get("name") not in names:
            if _is_generated(column):
                del columns[place]
            else:
                kept.append(f"{path}.{column.get('name')}")
    by_name = {column.get("name"): column for column in columns if isinstance(column, Mapping)}
    for place, row in enumerate(generated):
        column = by_name.get(row["name"])
        if column is None:
            columns.insert(min(place, len(columns)), _to_yaml(row))
            continue
        _merge_keys(column, row, _COLUMN_KEYS)
        if "properties" in row:
            kept += _merge_columns(column, row["properties"], f"{path}.{row['name']}")
    return kept


def _is_generated(column: Mapping[str, Any]) -> bool:
    """Whether a column has nothing that people wrote."""
    known = {"name", "tags", "properties", *_COLUMN_KEYS}
    by_hand = [key for key in column if key not in known and key not in ("classification", "customProperties")]
    customs = [row for row in column.get("customProperties") or () if _vendor(row) != VENDOR]
    return not by_hand and not customs and column.get("classification") in (None, *CLASSIFICATIONS.values())


def _merge_keys(owner: Any, generated: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in keys:
        if key in generated:
            _assign(owner, key, _to_yaml(generated[key]))
        elif key in owner and key != "items":
            del owner[key]
    if "description" in generated:
        owner.setdefault("description", generated["description"])
    if owner.get("classification") in (None, *CLASSIFICATIONS.values()):  # a value that people wrote is kept
        _assign_or_remove(owner, "classification", generated.get("classification"))
    tags = [*(owner.get("tags") or ()), *(tag for tag in generated.get("tags", ()) if tag not in owner.get("tags", ()))]
    if tags:
        _assign(owner, "tags", _to_yaml(tags))
    _merge_custom_properties(owner, generated.get("customProperties", ()))
    if "context" in generated:
        _merge_context(owner, generated["context"])


def _merge_custom_properties(owner: Any, generated: Sequence[Mapping[str, Any]]) -> None:
    """Replace the properties of colline in their places; add new ones at the end."""
    rows = owner.get("customProperties")
    if rows is None:
        _assign_or_remove(owner, "customProperties", _to_yaml(list(generated)) if generated else None)
        return
    wanted = {row["property"]: row for row in generated}
    for place in reversed(range(len(rows))):
        if _vendor(rows[place]) == VENDOR:
            new = wanted.pop(rows[place].get("property"), None)
            if new is None:
                del rows[place]
            else:
                _assign(rows[place], "value", _to_yaml(new["value"]))
    rows.extend(_to_yaml(row) for row in generated if row["property"] in wanted)


def _merge_context(owner: Any, generated: Mapping[str, Any]) -> None:
    context = owner.get("context")
    if isinstance(context, str):  # the short form: instructions only
        context = owner["context"] = _to_yaml({"instructions": context})
    if context is None:
        owner["context"] = _to_yaml(generated)
        return
    context.setdefault("instructions", generated["instructions"])
    own = [row for row in context.get("verifiedStatements") or () if not _is_colline_statement(row)]
    _assign(context, "verifiedStatements", _to_yaml([*generated["verifiedStatements"], *own]))


def _is_colline_statement(row: Any) -> bool:
    return isinstance(row, Mapping) and str(row.get("id", "")).startswith(PREFIX)


def _vendor(row: Any) -> Any:
    return row.get("vendor") if isinstance(row, Mapping) else None


def _assign(owner: Any, key: str, value: Any) -> None:
    """Set a value only if it differs, so that comments and quotes at an equal value stay."""
    if key not in owner or owner[key] != value:
        owner[key] = value


def _assign_or_remove(owner: Any, key: str, value: Any) -> None:
    if value is not None:
        _assign(owner, key, value)
    elif key in owner:
        del owner[key]


def _to_yaml(value: Any) -> Any:
    """The value as a tree that can hold comments."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, CommentedMap | CommentedSeq):
        return value
    if isinstance(value, Mapping):
        return CommentedMap((key, _to_yaml(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return CommentedSeq(_to_yaml(each) for each in value)
    return value
