"""Shapes of what comes back, as JSON Schema. Every object may carry more keys than are listed."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}


def maybe(schema: Schema) -> Schema:
    """That, or null."""
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """A list of those."""
    return {"type": "array", "items": schema}


def record(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these keys; `required` ones are always there."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def ref(name: str) -> Schema:
    """A shape of the table below, by name."""
    return {"$ref": f"#/components/schemas/{name}"}


ANYTHING: Schema = {"type": "object"}
_NAMED = {"namespace": TEXT, "name": TEXT}
_FIELD = {**_NAMED, "field": TEXT}
_FACETS = maybe(ANYTHING)
_EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
_NOT_BLANK: Schema = {**TEXT, "pattern": "[^ ]"}
_SENT = {"namespace": _NOT_BLANK, "name": _NOT_BLANK}
_HEAD: dict[str, Schema] = {
    "question": TEXT,
    "of": many(ANYTHING),
    "as_of": maybe(TEXT),
    "verdict": TEXT,
    "totals": ANYTHING,
    "unknown": many(ref("Unknown")),
    "left_out": WHOLE,
    "cursor": maybe(TEXT),
    "snapshot": TEXT,
}


def _answer(*lists: str, **rest: Schema) -> Schema:
    """An answer with these lists of objects beside what every answer has."""
    return record({**_HEAD, **{name: many(ANYTHING) for name in lists}, **rest})


SCHEMAS: dict[str, Schema] = {
    "Problem": record({"error": TEXT, "code": TEXT, "hint": maybe(TEXT)}, {"candidates": many(TEXT), "path": TEXT}),
    "Unknown": record({"what": TEXT, "why": TEXT}, {"count": WHOLE}),
    "Job": record(_NAMED),
    "Column": record(
        _FIELD,
        {
            "id": WHOLE,
            "label": TEXT,
            "type": maybe(TEXT),
            "tags": many(TEXT),
            "layer": maybe(TEXT),
            "up": WHOLE,
            "down": WHOLE,
            "distance": WHOLE,
            "relation": {"type": "string", "enum": ["direct", "indirect"]},
            "masked": FLAG,
        },
    ),
    "Edge": record(
        {"from": WHOLE, "to": WHOLE, "type": {"type": "string", "enum": ["DIRECT", "INDIRECT"]}},
        {
            "subtype": maybe(TEXT),
            "masking": FLAG,
            "level": {"type": "string", "enum": ["column", "dataset"]},
            "job": maybe(ref("Job")),
            "description": maybe(TEXT),
            "first_seen": maybe(TEXT),
            "last_seen": maybe(TEXT),
            "last_run": maybe(TEXT),
        },
    ),
    "Walk": _answer("jobs", columns=many(ref("Column")), edges=many(ref("Edge"))),
    "Impact": _answer("datasets", "jobs", "readers", "changes", columns=many(ref("Column")), edges=many(ref("Edge"))),
    "Rows": _answer("rows"),
    "Landings": _answer("landings"),
    "Paths": _answer("paths"),
    "Compared": _answer("common", "only_a", "only_b", "divergences"),
    "Diff": _answer("added", "removed", "changed"),
    "Overview": _answer("layers", "flows", "recent", "examples", health=ANYTHING),
    "Dataset": _answer("upstream", "downstream", "jobs", columns=many(ref("Column")), dataset=ANYTHING),
    "Status": record(
        {
            "version": TEXT,
            "snapshot": maybe(TEXT),
            "as_of": maybe(TEXT),
            "ready": FLAG,
            "receiver": ANYTHING,
            "ingest": ANYTHING,
        },
        {"health": maybe(ANYTHING)},
    ),
    "Health": record({"status": TEXT}),
    "Ready": record({"ready": FLAG, "receiver": FLAG, "lineage": FLAG}),
    "OpenApi": record({"openapi": TEXT, "paths": ANYTHING}),
    "Text": TEXT,
    "MarquezGraph": record({"graph": many(ANYTHING)}),
    "Received": record({"status": TEXT, "events": WHOLE}),
    "BatchReceived": record(
        {
            "status": {"type": "string", "enum": ["success", "partial_success", "failure"]},
            "summary": record({"received": WHOLE, "successful": WHOLE, "failed": WHOLE}),
            "failed_events": many(record({"index": WHOLE, "path": TEXT, "reason": TEXT})),
        }
    ),
    "EventDataset": record(_SENT, {"facets": _FACETS, "inputFacets": _FACETS, "outputFacets": _FACETS}),
    "Event": {
        **record(
            {"eventTime": {"type": "string", "format": "date-time"}},
            {
                "producer": maybe(TEXT),
                "schemaURL": maybe(TEXT),
                "eventType": {**maybe(TEXT), "enum": [*_EVENT_TYPES, None]},
                "run": maybe(ref("EventRun")),
                "job": maybe(ref("EventJob")),
                "dataset": maybe(ref("EventDataset")),
                "inputs": maybe(many(ref("EventDataset"))),
                "outputs": maybe(many(ref("EventDataset"))),
            },
        ),
        "anyOf": [
            record({"job": ref("EventJob")}),
            record({"dataset": ref("EventDataset")}, {"run": {"type": "null"}}),
        ],
    },
    "EventRun": record({"runId": _NOT_BLANK}, {"facets": _FACETS}),
    "EventJob": record(_SENT, {"facets": _FACETS}),
}
