"""One real-looking answer per endpoint, for docs/rest.md and `/openapi.json`. A test holds them against the schemas."""

from __future__ import annotations

from typing import Any

_T = "2026-03-02T12:04:00Z"
_RUN = "019561f2-7c3a-7bb1-9d7e-5a4d1c0f2b11"
_JOB = {"namespace": "shop", "name": "daily_revenue"}
_SILVER_JOB = {"namespace": "shop", "name": "clean_customers"}
_TOTAL = {"id": 40, "namespace": "file", "name": "/lake/gold/daily_revenue", "field": "total"}
_AMOUNT = {"id": 12, "namespace": "file", "name": "/lake/silver/orders", "field": "amount"}
_EMAIL = {"id": 3, "namespace": "file", "name": "/lake/bronze/customers", "field": "email"}
_CONTACT = {"id": 51, "namespace": "file", "name": "/lake/gold/contacts", "field": "email"}


def _known(column: dict[str, Any], layer: str, upstream: int, downstream: int, **more: Any) -> dict[str, Any]:
    facts = {"type": "string", "tags": [], "layer": layer, "upstream": upstream, "downstream": downstream}
    return {**column, **facts, **more}


def _near(column: dict[str, Any], layer: str) -> dict[str, Any]:
    return _known(column, layer, 1, 2, distance=1, relation="direct", masked=False)


_EDGE = {
    "from": 12,
    "to": 40,
    "type": "DIRECT",
    "subtype": "AGGREGATION",
    "masking": False,
    "job": _JOB,
    "description": "sum(amount)",
    "first_seen": "2026-01-10T02:00:00Z",
    "last_seen": "2026-03-02T02:00:00Z",
    "last_run": _RUN,
}
_END = {"unknown": [], "left_out": 0, "cursor": None}


def _answer(question: str, verdict: str, totals: dict[str, int], **rest: Any) -> dict[str, Any]:
    return {"question": question, "as_of": _T, "verdict": verdict, "totals": totals, **rest}


def _walk(question: str, verdict: str, of: dict[str, Any], column: dict[str, Any], **rest: Any) -> dict[str, Any]:
    totals = {"columns": 1, "datasets": 1, "jobs": 1, "depth": 1}
    return _answer(question, verdict, totals, of=[of], columns=[column], edges=[_EDGE], **rest, **_END)


def _rows(question: str, verdict: str, *rows: dict[str, Any], **totals: int) -> dict[str, Any]:
    return _answer(question, verdict, {"rows": len(rows), **totals}, rows=list(rows), **_END)


EXAMPLES: dict[str, dict[str, Any]] = {
    "columns": _rows(
        "find", "1 column is called like `email`", _known(_EMAIL, "bronze", 0, 4, tags=["PII"], match="exact")
    ),
    "upstream": _walk(
        "upstream", "1 column in 1 table feeds it", _known(_TOTAL, "gold", 1, 0), _near(_AMOUNT, "silver")
    ),
    "downstream": _walk(
        "downstream", "it feeds 1 column in 1 table", _known(_AMOUNT, "silver", 1, 1), _near(_TOTAL, "gold")
    ),
    "paths": _answer(
        "paths",
        "1 path, the shortest has 1 hop",
        {"paths": 1},
        of=[_AMOUNT, _TOTAL],
        paths=[{"hops": 1, "masked": False, "relation": "direct", "columns": [_AMOUNT, _TOTAL], "edges": [_EDGE]}],
        **_END,
    ),
    "impact": _walk(
        "impact",
        "dropping it breaks 1 column in 1 table, 1 job",
        _known(_AMOUNT, "silver", 1, 1),
        {**_near(_TOTAL, "gold"), "kind": "value"},
        change="drop",
    ),
    "pii": _answer(
        "pii",
        "it lands in 1 column, 1 of them in clear",
        {"landings": 1, "clear": 1, "masked": 0, "indirect": 0},
        of=[_EMAIL],
        landings=[{**_CONTACT, "verdict": "clear", "hop": 2, "job": _SILVER_JOB, "exit": False, "violation": False}],
        **_END,
    ),
    "droppable": _rows(
        "droppable",
        "no: 1 live reader",
        {
            **_AMOUNT,
            "verdict": "no",
            "readers": [{"job": _JOB, "use": "value", "last_read": _T}],
            "why": "read by daily_revenue",
        },
    ),
    "unused": _rows(
        "unused", "1 column nobody reads", {**_CONTACT, "last_written": _T, "last_read": None, "confidence": "high"}
    ),
    "writers": _rows(
        "writers", "1 job writes it", {"job": _JOB, "last_success": _T, "definition": "sum(amount)", "conflict": False}
    ),
    "compare": _rows("compare", "they share 1 source", {**_AMOUNT, "in": ["a", "b"], "differs": False}),
    "diff": _answer(
        "diff",
        "1 edge added",
        {"added": 1, "removed": 0, "changed": 0},
        **{"from": "2026-03-01T00:00:00Z", "to": _T},
        added=[
            {
                "kind": "edge",
                "from": _AMOUNT,
                "to": _TOTAL,
                "job": _JOB,
                "at": _T,
                "subtype": "AGGREGATION",
                "description": "sum(amount)",
            }
        ],
        removed=[],
        changed=[],
        left_out=0,
        cursor=None,
    ),
    "coverage": _rows(
        "coverage",
        "1 gap",
        {
            "kind": "opaque_step",
            "job": _JOB,
            "dataset": {"namespace": "file", "name": "/lake/gold/daily_revenue"},
            "detail": "mapInPandas(score)",
            "first_seen": _T,
            "last_seen": _T,
        },
    ),
    "hubs": _rows("hubs", "the column that feeds most feeds 4", _known(_EMAIL, "bronze", 0, 4)),
    "overview": {
        "as_of": _T,
        "totals": {"datasets": 25, "columns": 210, "edges": 390, "jobs": 12},
        "layers": [
            {"layer": "bronze", "datasets": [{"namespace": "file", "name": "/lake/bronze/customers", "columns": 9}]}
        ],
        "flows": [{"from": "bronze", "to": "silver", "edges": 120, "datasets": 8}],
        "changes": [{"kind": "edge_added", "from": _AMOUNT, "to": _TOTAL, "job": _JOB, "at": _T}],
        "examples": [_TOTAL, _EMAIL, _CONTACT],
    },
    "dataset": {
        "namespace": "file",
        "name": "/lake/silver/orders",
        "kind": "TABLE",
        "layer": "silver",
        "owner": None,
        "tags": [],
        "first_seen": _T,
        "last_written": _T,
        "last_read": _T,
        "dropped_at": None,
        "columns": [_known(_AMOUNT, "silver", 1, 1, ordinal=2, type="decimal(10,2)")],
    },
    "jobs": _rows(
        "jobs",
        "1 job",
        {
            **_JOB,
            "integration": "SPARK",
            "last_run": _RUN,
            "last_state": "COMPLETE",
            "last_started": _T,
            "last_ended": _T,
            "last_error": None,
            "runs": 51,
        },
    ),
    "runs": _rows(
        "runs", "1 run", {"run_id": _RUN, "job": _JOB, "state": "COMPLETE", "started": _T, "ended": _T, "error": None}
    ),
    "quarantine": _rows(
        "quarantine",
        "1 event set aside",
        {
            "reason": "wrong type at path",
            "path": "$.run.runId",
            "line": "{…}",
            "file": "landing/dt=2026-03-02/1772445840000-….ndjson",
            "position": 7,
            "at": _T,
        },
    ),
    "status": {
        "version": "0.1.0",
        "snapshot": "20260302T120400000000Z",
        "as_of": _T,
        "ready": True,
        "receiver": {"accepted": 5120, "refused": 3, "waiting": 0, "last_event": _T, "rate": 12.5},
        "ingest": {
            "every": 60,
            "running": False,
            "last_started": _T,
            "last_ended": _T,
            "last_state": "ok",
            "last_message": None,
            "landed_files": 0,
            "quarantined": 1,
            "unfinished": 0,
        },
    },
    "column_lineage": {
        "graph": [
            {
                "id": "datasetField:file:/lake/gold/daily_revenue:total",
                "type": "DATASET_FIELD",
                "data": {
                    "type": "DATASET_FIELD",
                    "namespace": "file",
                    "dataset": "/lake/gold/daily_revenue",
                    "field": "total",
                    "fieldType": "decimal(20,2)",
                    "inputFields": [{"namespace": "file", "dataset": "/lake/silver/orders", "field": "amount"}],
                },
                "inEdges": [
                    {
                        "origin": "datasetField:file:/lake/gold/daily_revenue:total",
                        "destination": "datasetField:file:/lake/silver/orders:amount",
                    }
                ],
                "outEdges": [],
            }
        ]
    },
    "receive": {"status": "success", "events": 1},
    "receive_batch": {
        "status": "partial_success",
        "summary": {"received": 2, "successful": 1, "failed": 1},
        "failed_events": [{"index": 1, "path": "$.run.runId", "reason": "Expected `str`, got `int`"}],
    },
    "healthz": {"status": "ok"},
    "readyz": {"ready": True, "receiver": True, "lineage": True},
}
