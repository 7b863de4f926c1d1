"""Finds the fields of a model in the JSON of a report.

A field is an object such as `{"Column": {"Expression": {"SourceRef": {"Entity": "Sales"}}, "Property": "Amount"}}`.
The keys above it decide how it is used. The search keeps a stack of its own, so its depth is not limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from colline.semantic_models.reports.report_definition import FieldUse
from colline.trace import Effect

# key above a field → how the report uses it
_USES = {
    "filterConfig": Effect.FILTER,
    "filters": Effect.FILTER,
    "filter": Effect.FILTER,
    "Where": Effect.FILTER,
    "sortDefinition": Effect.SORT,
    "OrderBy": Effect.SORT,
    "objects": Effect.CONDITIONAL,
    "visualContainerObjects": Effect.CONDITIONAL,
}
_COUNTS = frozenset((2, 5))  # QueryAggregateFunction: DistinctCount, Count


def field_uses(value: Any, effect: Effect = Effect.IDENTITY) -> tuple[FieldUse, ...]:
    """The fields in a part of a report, each use once."""
    return tuple(dict.fromkeys(_find(value, effect)))


def _find(root: Any, effect: Effect) -> Iterator[FieldUse]:
    stack: list[tuple[Any, Effect, Mapping[str, str], int | None]] = [(root, effect, {}, None)]
    while stack:
        value, use, aliases, aggregate = stack.pop()
        if isinstance(value, list):
            stack += [(item, use, aliases, aggregate) for item in reversed(value)]
        if not isinstance(value, dict):
            continue
        aliases = {**aliases, **_aliases(value.get("From"))}
        found = _field(value, aliases)
        if found is not None:
            yield _use(*found, use, aggregate=aggregate)
            continue
        function = value.get("Function") if "Expression" in value else aggregate
        number = function if isinstance(function, int) else aggregate
        stack += [(item, _effect(key, use), aliases, number) for key, item in reversed(value.items())]


def _effect(key: str, use: Effect) -> Effect:
    """How the fields below a key are used; a filter inside a visual stays a filter."""
    return use if not use.is_direct else _USES.get(key, use)


def _aliases(value: Any) -> dict[str, str]:
    """`From: [{"Name": "s", "Entity": "Sales"}]` → s is Sales."""
    sources = value if isinstance(value, list) else []
    return {
        each["Name"]: each["Entity"]
        for each in sources
        if isinstance(each, dict) and isinstance(each.get("Name"), str) and isinstance(each.get("Entity"), str)
    }


def _field(value: dict[str, Any], aliases: Mapping[str, str]) -> tuple[str, str, bool] | None:
    """The table, the name, and whether the report defines it; None if the object is not a field."""
    for kind in ("Column", "Measure"):
        inner = value.get(kind)
        if isinstance(inner, dict) and isinstance(inner.get("Property"), str):
            table, is_extension = _source(inner.get("Expression"), aliases)
            return (table, inner["Property"], is_extension) if table else None
    level = value.get("HierarchyLevel")
    hierarchy = level.get("Expression", {}).get("Hierarchy") if isinstance(level, dict) else None
    if isinstance(hierarchy, dict) and isinstance(hierarchy.get("Hierarchy"), str):
        table, is_extension = _source(hierarchy.get("Expression"), aliases)
        return (table, hierarchy["Hierarchy"], is_extension) if table else None
    return None


def _source(expression: Any, aliases: Mapping[str, str]) -> tuple[str, bool]:
    """The table of `{"SourceRef": {"Entity": "Sales"}}`; a date variation is the table of its column."""
    while isinstance(expression, dict):
        reference = expression.get("SourceRef")
        if isinstance(reference, dict):
            name = reference.get("Entity") or aliases.get(str(reference.get("Source")), "")
            return (name if isinstance(name, str) else ""), reference.get("Schema") == "extension"
        variation = expression.get("PropertyVariationSource")
        expression = variation.get("Expression") if isinstance(variation, dict) else None
    return "", False


def _use(table: str, name: str, is_extension: bool, use: Effect, *, aggregate: int | None) -> FieldUse:
    if aggregate is None or not use.is_direct:
        return FieldUse(table, name, use, is_extension=is_extension)
    return FieldUse(table, name, Effect.AGGREGATION, masking=aggregate in _COUNTS, is_extension=is_extension)
