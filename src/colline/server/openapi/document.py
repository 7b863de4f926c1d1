"""The table of endpoints as OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from colline import __version__
from colline.server.endpoints import ENDPOINTS, Endpoint
from colline.server.openapi.examples import EXAMPLES
from colline.server.openapi.schemas import SCHEMAS, many, ref
from colline.server.parameters import Parameter

_MEANING = {
    200: "The answer.",
    201: "The event is durable.",
    304: "Not changed since the tag in If-None-Match.",
    400: "A parameter or the body is wrong.",
    401: "No valid token.",
    403: "Not allowed.",
    404: "No such thing.",
    408: "The body came too slowly.",
    409: "The name fits several.",
    410: "The cursor's snapshot is gone.",
    413: "Too large.",
    415: "Unknown content encoding.",
    422: "Not an event; it was kept for quarantine.",
    429: "Too many at once; see Retry-After.",
    431: "The address or the headers are too long.",
    503: "Not ready.",
    507: "The disk is full.",
}
_NDJSON = "application/x-ndjson"


def openapi() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    info = {"title": "colline", "version": __version__, "description": "Column-level lineage: receive and ask."}
    security = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": security},
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.group],
        "parameters": [_parameter(parameter) for parameter in endpoint.parameters],
        "responses": {str(status): _response(endpoint, status) for status in statuses(endpoint)},
    }
    if endpoint.method == "POST":
        operation["requestBody"] = _body(endpoint)
    if endpoint.scope != "open":
        operation["security"] = [{}, {"token": []}]
    return operation


def statuses(endpoint: Endpoint) -> tuple[int, ...]:
    """Every status this endpoint may answer with."""
    found = set(endpoint.statuses) | {400, 403, 431}
    if endpoint.method == "GET":
        found |= {200}
    if endpoint.group in ("questions", "page", "marquez"):
        found |= {304, 410, 503}
    if endpoint.name == "readyz":
        found |= {503}
    if endpoint.scope != "open":
        found |= {401}
    return tuple(sorted(found))


def _response(endpoint: Endpoint, status: int) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": _MEANING[status]}
    if status in (304, 431):
        return answer
    if status in (200, 201):
        return {**answer, "content": {endpoint.media: _content(endpoint)}}
    shape = ref("Problem")
    if (endpoint.name, status) in (("receive_batch", 422), ("readyz", 503)):
        shape = {"anyOf": [ref(endpoint.answer), ref("Problem")]}
    return {**answer, "content": {"application/json": {"schema": shape}}}


def _content(endpoint: Endpoint) -> dict[str, Any]:
    example = {"example": EXAMPLES[endpoint.name]} if endpoint.name in EXAMPLES else {}
    return {"schema": ref(endpoint.answer), **example}


def _body(endpoint: Endpoint) -> dict[str, Any]:
    if endpoint.name == "receive":
        return {"required": True, "content": {"application/json": {"schema": ref("Event")}}}
    events = {"schema": many(ref("Event"))}
    lines = {"schema": {**many(ref("Event")), "description": "one event a line"}}
    return {"required": True, "content": {"application/json": events, _NDJSON: lines}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.about,
        "required": parameter.required,
        "schema": parameter.schema(),
    }
    if parameter.repeated:
        fields |= {"style": "form", "explode": True}
    if parameter.example is not None:
        fields["example"] = [parameter.example] if parameter.repeated else parameter.example
    return fields
