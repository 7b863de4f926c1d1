"""Example responses, generated from the schemas: one row in each list, and a typical value for each key."""

from __future__ import annotations

from typing import Any

from colline.server.endpoints import Endpoint
from colline.server.openapi.schemas import Schema, component_schemas, reference_to

_TIME = "2026-03-02T12:04:00Z"
_TEXTS = {
    "namespace": "file", "name": "/lake/gold/daily_revenue", "field": "total", "column": "total",
    "label": "gold.daily_revenue.total", "dataset": "gold.daily_revenue", "type": "double", "layer": "gold",
    "owner": "finance", "domain": "sales", "tags": "finance", "subtype": "AGGREGATION", "description": "sum(amount)",
    "definition": "sum(amount)", "verdict": "1 column in 1 dataset", "snapshot": "20260302T120400000000Z",
    "version": "0.1.0", "what": "silver.orders", "why": "an opaque step", "integration": "SPARK",
    "last_run": "019561f2-7c3a-7bb1-9d7e-5a4d1c0f2b11", "run_id": "019561f2-7c3a-7bb1-9d7e-5a4d1c0f2b11",
    "last_state": "COMPLETE", "state": "COMPLETE", "match": "exact", "status": "success",
    "sql": "select region, sum(amount) as total from orders group by region",
    "location": "https://git.example.com/etl/daily_revenue.py", "kind": "TABLE",
    "reason": "Expected `str`, got `int`", "path": "$.run.runId",
}  # fmt: skip
_TIMES = {"as_of", "first", "last", "published", "from", "to", "when", "started", "ended"}
_TIME_SUFFIXES = ("_seen", "_at", "_started", "_ended", "_success", "_failure", "_written", "_read", "_event", "_write")
_EMPTY = {"unknown", "flags", "gaps", "retired", "failed_events", "candidates"}
_ZERO = {"left_out", "edges_left_out", "readers_left_out", "failed", "failures", "waiting", "refused"}
_NULL = {"cursor", "last_error", "error", "last_message", "retired_at", "dropped_at", "last_failure"}


def example_response(endpoint: Endpoint) -> Any:
    """A response of the endpoint; None if it is not JSON."""
    if endpoint.name in ("metrics", "openapi"):
        return None
    example = _example(reference_to(endpoint.result.split(" | ")[0]), "")
    if endpoint.request is not None:
        example["question"] = endpoint.request.question.name
    return example


def _example(schema: Schema, key: str) -> Any:
    if "$ref" in schema:
        return _object_example(component_schemas()[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return None if key in _NULL else _example(schema["anyOf"][0], key)
    if schema.get("type") == "array":
        return [] if key in _EMPTY else [_example(schema["items"], key)]
    return schema["enum"][0] if "enum" in schema else _simple_example(schema["type"], key)


def _simple_example(kind: str, key: str) -> Any:
    if kind == "object":
        return {"columns": 1} if key == "totals" else {}
    if kind == "integer":
        return 0 if key in _ZERO else 1
    if kind == "boolean":
        return key in ("ready", "receiver", "lineage")
    return 60.0 if kind == "number" else _text(key)


def _object_example(schema: Schema) -> dict[str, Any]:
    """The example of a struct; keys that are not always present are left out."""
    required = schema.get("required", ())
    example = {key: _example(value, key) for key, value in schema.get("properties", {}).items() if key in required}
    if "Job" in schema["title"]:
        example |= {key: text for key, text in {"namespace": "shop", "name": "daily_revenue"}.items() if key in example}
    return example


def _text(key: str) -> str:
    if key in _TIMES or key.endswith(_TIME_SUFFIXES):
        return _TIME
    return _TEXTS.get(key, key)
