"""JSON Schemas of responses, generated from the typed results, and of received events."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

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
    return {**components, **_UNTYPED, **EVENT_SCHEMAS}


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


def _object(required: dict[str, Schema], optional: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT: Schema = {"type": "string"}
_NOT_BLANK: Schema = {"type": "string", "pattern": "[^ ]"}
_NAME = {"namespace": _NOT_BLANK, "name": _NOT_BLANK}
_FACETS = _nullable({"type": "object"})
_DATASETS = _nullable({"type": "array", "items": reference_to("EventDataset")})
_STATES = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")

# what the receiver accepts: wider than the OpenLineage specification
EVENT_SCHEMAS: dict[str, Schema] = {
    "EventRun": _object({"runId": _NOT_BLANK}, {"facets": _FACETS}),
    "EventJob": _object(_NAME, {"facets": _FACETS}),
    "EventDataset": _object(_NAME, {"facets": _FACETS, "inputFacets": _FACETS, "outputFacets": _FACETS}),
    "Event": {
        **_object(
            {"eventTime": {"type": "string", "format": "date-time"}},
            {
                "producer": _nullable(_TEXT),
                "schemaURL": _nullable(_TEXT),
                "eventType": {"enum": [*_STATES, None]},
                "run": _nullable(reference_to("EventRun")),
                "job": _nullable(reference_to("EventJob")),
                "dataset": _nullable(reference_to("EventDataset")),
                "inputs": _DATASETS,
                "outputs": _DATASETS,
            },
        ),
        "anyOf": [
            _object({"job": reference_to("EventJob")}, {}),
            _object({"dataset": reference_to("EventDataset")}, {"run": {"type": "null"}}),
        ],
    },
}
