"""Spark types → logical types of the Open Data Contract Standard."""

from __future__ import annotations

import re

_BASE = re.compile(r"[a-z_]+")
_LOGICAL: dict[str, str] = {
    **dict.fromkeys(("string", "varchar", "char", "binary", "uuid", "text", "nvarchar"), "string"),
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint", "long", "short", "byte"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "numeric", "real"), "number"),
    **dict.fromkeys(("timestamp", "timestamp_ntz", "timestamp_ltz", "datetime"), "timestamp"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    "date": "date",
    "time": "time",
    "struct": "object",
    "array": "array",
    "map": "map",
}


def logical_type(physical: str | None) -> str | None:
    """`decimal(10,2)` → `number`; None for a type without a logical counterpart."""
    found = _BASE.match((physical or "").strip().lower())
    return _LOGICAL.get(found[0]) if found else None


def element_type(physical: str | None) -> str | None:
    """`array<string>` → `string`; None for other types."""
    text = (physical or "").strip()
    is_array = text.lower().startswith("array<") and text.endswith(">")
    return text[len("array<") : -1] if is_array else None


def is_wider(old: str | None, new: str | None) -> bool:
    """Whether every value of the old type is a value of the new one, so that readers keep working."""
    order = ("tinyint", "smallint", "int", "bigint")
    names = [(text or "").strip().lower().replace("integer", "int").replace("long", "bigint") for text in (old, new)]
    if all(name in order for name in names):
        return order.index(names[0]) <= order.index(names[1])
    return names[0] == names[1] or names == ["float", "double"]
