"""Builds a JSON decoder from the Spark schema of an event: the receiver and the pipeline accept the same events.

The pipeline rejects an event with a wrong container, such as an object in the place of a list. So does the decoder: it
checks every struct, list and map of the schema. A leaf may have any type unless `LEAVES` restricts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from colline.events import spark_schema

EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]
EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
Name = Annotated[str, Meta(pattern="[^ ]")]
# Spark reads `T` and `Z` in upper case only.
Time = Annotated[str, Meta(pattern="^[^tz]*$", extra_json_schema={"type": "string", "format": "date-time"})]

# (container, key) → the type of a leaf that the pipeline needs; a leaf without `None` is required
LEAVES: dict[tuple[str, str], Any] = {
    ("", "eventTime"): Time,
    ("", "eventType"): EventType | None,
    ("", "producer"): str | None,
    ("run", "runId"): Name,
    ("job", "namespace"): Name,
    ("job", "name"): Name,
    **{(place, key): Name for place in ("dataset", "inputs", "outputs") for key in ("namespace", "name")},
    **{("inputFields", key): str for key in ("namespace", "name", "field")},
    **{("identifiers", key): str for key in ("namespace", "name")},
}
# container → keys that the pipeline does not read, with their type in the OpenLineage spec
UNREAD: dict[str, dict[str, Any]] = {
    "": {"schemaURL": str | None},
    **{place: {"outputFacets": dict[str, Raw] | None} for place in ("dataset", "inputs", "outputs")},
}
# (facet, key) → the schema of what the event's own schema has as text
UNPARSED: dict[tuple[str, str], str] = {
    ("schema", "fields"): spark_schema.SCHEMA_FIELDS,
    ("columnLineage", "fields"): spark_schema.FIELDS,
    ("columnLineage", "dataset"): spark_schema.INPUTS,
    ("colline_columnsRead", "fields"): spark_schema.READS,
}


def event_type() -> Any:
    """The msgspec type of an event."""
    return _struct(spark_schema.EVENT, "")


def _type(schema: str, parent: str, key: str) -> Any:
    """The type of the value at `parent.key`; containers may be null."""
    if schema == "string":
        unparsed = UNPARSED.get((parent, key))
        return _leaf(parent, key) if unparsed is None else _type(unparsed, parent, key)
    kind, _, inner = schema.partition("<")
    inner = inner.removesuffix(">")
    if kind == "struct":
        return _struct(schema, key) | None
    if kind == "array":
        return list[_element(inner, key)] | None  # type: ignore[misc]  # built at run time
    value = next(iter(_split(inner.partition(",")[2])))
    return dict[str, _element(value, key)] | None  # type: ignore[misc]  # built at run time


def _element(schema: str, key: str) -> Any:
    """The type of an element of a list or map; an element that is an object may not be null."""
    return _struct(schema, key) if schema.startswith("struct") else _type(schema, key, "")


def _leaf(parent: str, key: str) -> Any:
    return LEAVES.get((parent, key), Raw)


def _struct(schema: str, name: str) -> Any:
    fields: list[Any] = [_optional(key, kind) for key, kind in UNREAD.get(name, {}).items()]
    for member in _split(schema.removeprefix("struct<").removesuffix(">")):
        key, _, inner = member.partition(":")
        key = key.strip("`")
        if key == spark_schema.CORRUPT_RECORD:
            continue
        kind = _type(inner, name, key)
        is_required = (name, key) in LEAVES and type(None) not in get_args(kind)
        fields.append((key, kind) if is_required else _optional(key, kind))
    return msgspec.defstruct(name or "event", fields, kw_only=True, gc=False)


def _optional(key: str, kind: Any) -> tuple[str, Any, Any]:
    return key.replace(".", "_"), kind | UnsetType, msgspec.field(default=UNSET, name=key)


def _split(members: str) -> Iterator[str]:
    """The members of a struct: split at the commas outside of angle brackets."""
    depth, start = 0, 0
    for position, character in enumerate(members):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and not depth:
            yield members[start:position].strip()
            start = position + 1
    yield members[start:].strip()
