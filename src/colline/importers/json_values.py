"""Reads values of JSON whose types are not certain: a wrong type is treated as missing."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def as_text(value: Any) -> str:
    """The text; empty for any other value."""
    return value if isinstance(value, str) else ""


def as_map(value: Any) -> Json:
    """The object; empty for any other value."""
    return value if isinstance(value, dict) else {}


def as_maps(value: Any) -> list[Json]:
    """The objects of a list, or the values of an object."""
    items = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    return [item for item in items if isinstance(item, dict)]


def as_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list; a text alone is a list of one."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str) and item)
