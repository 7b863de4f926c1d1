"""Checks that the parts of a contract that colline reads and changes are lists, mappings and texts where expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# what each key of a table or column must be
_LISTS = ("properties", "customProperties", "tags")


@dataclass(frozen=True, slots=True)
class ShapeProblem:
    """A value of a wrong type: its path, and what is expected. `owner` and `key` give its line."""

    path: str
    expected: str
    owner: Any
    key: str | None = None


def shape_problems(tree: Mapping[str, Any]) -> Iterator[ShapeProblem]:
    """The values that have a wrong type, in the order of the file."""
    if "schema" not in tree:
        return
    yield from _named_mappings(tree, "schema", "name", "")
    for at, table in enumerate(_mappings(tree["schema"])):
        yield from _owner_problems(table, f"schema[{at}]")


def _owner_problems(owner: Mapping[str, Any], path: str) -> Iterator[ShapeProblem]:
    """The problems of a table or column, and of the columns below it."""
    for key in _LISTS:
        if key in owner and not isinstance(owner[key], list):
            yield ShapeProblem(f"{path}.{key}", "a list", owner, key)
    yield from _named_mappings(owner, "properties", "name", f"{path}.")
    yield from _named_mappings(owner, "customProperties", "property", f"{path}.")
    yield from _context_problems(owner, path)
    for at, column in enumerate(_mappings(owner.get("properties"))):
        yield from _owner_problems(column, f"{path}.properties[{at}]")


def _named_mappings(owner: Mapping[str, Any], key: str, name: str, prefix: str) -> Iterator[ShapeProblem]:
    """A list of mappings, each with a name."""
    value = owner.get(key)
    if not isinstance(value, list):
        if key == "schema":
            yield ShapeProblem(key, "a list of tables", owner, key)
        return
    for at, item in enumerate(value):
        path = f"{prefix}{key}[{at}]"
        if not isinstance(item, Mapping):
            yield ShapeProblem(path, f"a mapping with the key `{name}`", owner, key)
        elif not isinstance(item.get(name), str):
            yield ShapeProblem(f"{path}.{name}", "a text", item, name)


def _context_problems(owner: Mapping[str, Any], path: str) -> Iterator[ShapeProblem]:
    context = owner.get("context")
    if "context" in owner and not isinstance(context, Mapping | str):
        yield ShapeProblem(f"{path}.context", "a mapping or a text", owner, "context")
    if not isinstance(context, Mapping) or "verifiedStatements" not in context:
        return
    statements = context["verifiedStatements"]
    if not isinstance(statements, list):
        yield ShapeProblem(f"{path}.context.verifiedStatements", "a list", context, "verifiedStatements")
    for at, each in enumerate(_mappings(statements)):
        if "id" in each and not isinstance(each["id"], str):
            yield ShapeProblem(f"{path}.context.verifiedStatements[{at}].id", "a text", each, "id")


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
