"""The REST API as an OpenAPI 3.1 document, generated from the table of endpoints."""

from __future__ import annotations

from typing import Any

from colline import __version__
from colline.graph.queries.registry import Parameter
from colline.graph.queries.request_arguments import json_schema
from colline.server.endpoints import ENDPOINTS, Endpoint
from colline.server.openapi.examples import example_response
from colline.server.openapi.schemas import component_schemas, reference_to

_STATUS_MEANINGS = {
    200: "The answer.", 201: "The event is on disk.", 304: "Not changed since the tag in If-None-Match.",
    400: "A parameter or the body is invalid.", 401: "No valid token.", 403: "Not allowed.", 404: "Not found.",
    408: "The body did not arrive in time.", 409: "The name is ambiguous.", 410: "The snapshot of the cursor is gone.",
    413: "Too large.", 415: "Unsupported content encoding.",
    422: "Not a valid event; it was moved to quarantine.", 429: "Too many requests; see Retry-After.",
    431: "The URL or the headers are too long.", 503: "Not ready, or no answer in time.", 507: "The disk is full.",
}  # fmt: skip
_NDJSON = "application/x-ndjson"


def openapi() -> dict[str, Any]:
    """The document."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    description = "Column-level lineage: receives OpenLineage events and answers questions."
    return {
        "openapi": "3.1.0",
        "info": {"title": "colline", "version": __version__, "description": description},
        "paths": paths,
        "components": {
            "schemas": component_schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    request = endpoint.request
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.group],
        "parameters": [_parameter(each) for each in request.parameters] if request else [],
        "responses": {str(status): _response(endpoint, status) for status in statuses(endpoint)},
    }
    if request and request.question.description:
        operation["description"] = request.question.description
    if endpoint.method == "POST":
        operation["requestBody"] = _request_body(endpoint)
    if endpoint.scope != "open":
        operation["security"] = [{}, {"token": []}]
    return operation


def statuses(endpoint: Endpoint) -> tuple[int, ...]:
    """Every status that the endpoint can respond with."""
    found = {*endpoint.statuses, 400, 403, 431}
    if endpoint.method == "GET":
        found.add(200)
    if endpoint.request:
        found |= {304, 410, 503}
    if endpoint.scope != "open":
        found.add(401)
    return tuple(sorted(found))


def _response(endpoint: Endpoint, status: int) -> dict[str, Any]:
    response: dict[str, Any] = {"description": _STATUS_MEANINGS[status]}
    if status in (304, 431):
        return response
    if status in (200, 201):
        content: dict[str, Any] = {"schema": reference_to(endpoint.result)}
        if (example := example_response(endpoint)) is not None:
            content["example"] = example
        return {**response, "content": {endpoint.media_type: content}}
    schema = reference_to("ErrorBody")
    if (endpoint.name, status) in (("receive_batch", 422), ("readyz", 503)):
        schema = reference_to(f"{endpoint.result} | ErrorBody")
    return {**response, "content": {"application/json": {"schema": schema}}}


def _request_body(endpoint: Endpoint) -> dict[str, Any]:
    event = {"schema": reference_to("Event")}
    if endpoint.name == "receive":
        return {"required": True, "content": {"application/json": event}}
    events = {"type": "array", "items": reference_to("Event")}
    lines = {**events, "description": "One event per line."}
    return {"required": True, "content": {"application/json": {"schema": events}, _NDJSON: {"schema": lines}}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": f"{parameter.help}.",
        "required": parameter.required,
        "schema": json_schema(parameter),
    }
    if parameter.repeatable:
        fields |= {"style": "form", "explode": True}
    if parameter.example is not None:
        fields["example"] = [parameter.example] if parameter.repeatable else parameter.example
    return fields
