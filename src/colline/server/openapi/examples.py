"""Answers as they look, for docs/rest.md and `/openapi.json`. A test holds them against the schemas."""

from __future__ import annotations

from typing import Any

_T = "2026-03-02T12:04:00Z"
_RUN = "019561f2-7c3a-7bb1-9d7e-5a4d1c0f2b11"
_JOB = {"namespace": "shop", "name": "daily_revenue"}
_TOTAL = {"id": 115, "namespace": "file", "name": "/lake/gold/daily_revenue", "field": "total"}
_AMOUNT = {"id": 112, "namespace": "file", "name": "/lake/silver/orders", "field": "amount"}
_EMAIL = {"id": 103, "namespace": "file", "name": "/lake/bronze/customers", "field": "email"}


def _ref(column: dict[str, Any]) -> dict[str, Any]:
    return {**column, "label": ".".join([*column["name"].split("/")[2:], column["field"]])}


def _column(column: dict[str, Any], **more: Any) -> dict[str, Any]:
    layer = column["name"].split("/")[2]
    return {**_ref(column), "type": "double", "tags": [], "layer": layer, "up": 1, "down": 1, **more}


def _reached(column: dict[str, Any], **more: Any) -> dict[str, Any]:
    return _column(column, distance=1, relation="direct", masked=False, **more)


_EDGE = {
    "from": 112,
    "to": 115,
    "type": "DIRECT",
    "subtype": "AGGREGATION",
    "masking": False,
    "level": "column",
    "job": _JOB,
    "last_run": _RUN,
    "last_state": "COMPLETE",
    "first_seen": "2026-01-10T02:00:00Z",
    "last_seen": "2026-03-02T02:00:00Z",
    "retired_at": None,
    "description": "sum(amount)",
}
_JOB_ROW = {
    "id": 9,
    **_JOB,
    "integration": "SPARK",
    "owner": None,
    "last_run": _RUN,
    "last_state": "COMPLETE",
    "last_error": None,
    "last_started": _T,
    "last_ended": _T,
    "last_success": _T,
    "last_failure": None,
    "runs": 51,
}
_END = {"unknown": [], "left_out": 0, "cursor": None, "snapshot": "20260302T120400000000Z"}


def _answer(question: str, verdict: str, totals: dict[str, Any], of: list[Any] | None = None, **rest: Any) -> Any:
    return {"question": question, "of": of or [], "as_of": _T, "verdict": verdict, "totals": totals, **rest, **_END}


def _walk(question: str, verdict: str, of: dict[str, Any], column: dict[str, Any]) -> Any:
    totals = {"columns": 1, "datasets": 1, "jobs": 1, "depth": 1}
    rest = {"columns": [column], "edges": [_EDGE], "edges_left_out": 0, "jobs": [{**_JOB_ROW, "flags": []}]}
    return _answer(question, verdict, totals, [_ref(of)], **rest)


EXAMPLES: dict[str, dict[str, Any]] = {
    "columns": _answer(
        "find", "1 column is called like email", {"columns": 1}, rows=[_column(_EMAIL, tags=["PII"], match="exact")]
    ),
    "upstream": _walk("upstream", "1 column in 1 dataset feeds gold.daily_revenue.total", _TOTAL, _reached(_AMOUNT)),
    "downstream": _walk(
        "downstream", "1 column in 1 dataset is built on silver.orders.amount", _AMOUNT, _reached(_TOTAL)
    ),
    "status": {
        "version": "0.1.0",
        "snapshot": "20260302T120400000000Z",
        "as_of": _T,
        "ready": True,
        "receiver": {"accepted": 5120, "refused": 3, "waiting": 0, "files": 12, "last_event": _T},
        "ingest": {
            "every": 60.0,
            "running": False,
            "runs": 7,
            "failures": 0,
            "last_started": _T,
            "last_ended": _T,
            "last_state": "ok",
            "last_message": None,
        },
        "health": {"published": _T, "last": _T, "gaps": 2, "failed_jobs": 1, "quarantined": 3},
    },
    "column_lineage": {
        "graph": [
            {
                "id": "datasetField:file:/lake/gold/daily_revenue:total",
                "type": "DATASET_FIELD",
                "data": {
                    "namespace": "file",
                    "dataset": "/lake/gold/daily_revenue",
                    "field": "total",
                    "fieldType": "double",
                    "inputFields": [
                        {
                            "namespace": "file",
                            "dataset": "/lake/silver/orders",
                            "field": "amount",
                            "transformationDescription": "sum(amount)",
                            "transformationType": "AGGREGATION",
                        }
                    ],
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
        "failed_events": [
            {"index": 1, "path": "$.run.runId", "reason": "Expected `str`, got `int`", "retriable": False}
        ],
    },
    "healthz": {"status": "ok"},
    "readyz": {"ready": True, "receiver": True, "lineage": True},
}
