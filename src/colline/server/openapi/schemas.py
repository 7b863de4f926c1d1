"""JSON Schemas of responses, generated from the typed results, and of received events."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from colline.events.json_structure import event_type
from colline.graph import results
from colline.graph.answer import Answer
from colline.server import response_types
from colline.server.endpoints import ENDPOINTS
from colline.server.response_types import ErrorBody

Schema = dict[str, Any]

_PREFIX = "#/components/schemas/"
_UNTYPED: dict[str, Schema] = {"Text": {"type": "string"}, "OpenApiDocument": {"type": "object"}}


def reference_to(name: str) -> Schema:
    """A reference to a schema; `A | B` refers to either of two."""
    names = name.split(" | ")
    references = [{"$ref": _PREFIX + each} for each in names]
    return references[0] if len(names) == 1 else {"anyOf": references}


@cache
def component_schemas() -> dict[str, Schema]:
    """Every schema of the document by name."""
    names = {name for endpoint in ENDPOINTS for name in endpoint.result.split(" | ")} - set(_UNTYPED)
    types = [_response_type(name) for name in sorted(names)]
    _, components = msgspec.json.schema_components([ErrorBody, *types], ref_template=_PREFIX + "{name}")
    for kind in types:
        if issubclass(kind, Answer):
            _complete_answer(components[kind.__name__], kind)
    return {**components, **_UNTYPED, "Event": _event_schema()}


def _response_type(name: str) -> type[msgspec.Struct]:
    kind: type[msgspec.Struct] = getattr(results, name, None) or getattr(response_types, name)
    return kind


def _complete_answer(schema: Schema, kind: type[Answer]) -> None:
    """Keeps the keys of the JSON, in their order: an answer always has all of them, so that none has a default."""
    keys = list(kind.json_fields())
    schema["properties"] = {key: schema["properties"][key] for key in keys}
    schema["required"] = keys
    for value in schema["properties"].values():
        value.pop("default", None)


def _event_schema() -> Schema:
    """What the receiver accepts, from the type with which it validates events."""
    schema = _schema_of(inspect.type_info(event_type()))
    has_job = {"required": ["job"], "properties": {"job": {"type": "object"}}}
    is_dataset_event = {
        "required": ["dataset"],
        "properties": {"dataset": {"type": "object"}, "run": {"type": "null"}},
    }
    return {**schema, "anyOf": [has_job, is_dataset_event]}


def _schema_of(kind: inspect.Type) -> Schema:
    """The schema of a type, without references: the structs of an event share names such as `fields`."""
    if isinstance(kind, inspect.Metadata):
        return kind.extra_json_schema or _schema_of(kind.type)
    if isinstance(kind, inspect.UnionType):
        return {"anyOf": [_schema_of(each) for each in kind.types]}
    if isinstance(kind, inspect.ListType):
        return {"type": "array", "items": _schema_of(kind.item_type)}
    if isinstance(kind, inspect.DictType):
        return {"type": "object", "additionalProperties": _schema_of(kind.value_type)}
    if isinstance(kind, inspect.StructType):
        properties = {each.encode_name: _schema_of(each.type) for each in kind.fields}
        required = [each.encode_name for each in kind.fields if each.required]
        return {"type": "object", "properties": properties, "required": required}
    return _leaf_schema(kind)


def _leaf_schema(kind: inspect.Type) -> Schema:
    if isinstance(kind, inspect.StrType):
        return {"type": "string"} if kind.pattern is None else {"type": "string", "pattern": kind.pattern}
    if isinstance(kind, inspect.DateTimeType):
        return {"type": "string", "format": "date-time"}
    if isinstance(kind, inspect.LiteralType):
        return {"enum": list(kind.values)}
    return {"type": "null"} if isinstance(kind, inspect.NoneType) else {}
