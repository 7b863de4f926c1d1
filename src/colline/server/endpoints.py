"""The table of REST endpoints: the requests of the question registry, the receiver, and the service itself.

Routes, access checks, `/openapi.json` and docs/reference/rest.md are generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from colline.graph.queries.registry import REQUESTS, RequestForm, Scope

AccessScope = Scope | Literal["open"]
EndpointGroup = Literal["questions", "catalog", "receive", "service"]

_RECEIVE_STATUSES = (400, 408, 413, 415, 422, 429, 503, 507)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path. `result` names its response type; `request` is the question it answers, if any."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    summary: str
    result: str
    scope: AccessScope = "read"
    group: EndpointGroup = "service"
    statuses: tuple[int, ...] = ()
    media_type: str = "application/json"
    request: RequestForm | None = None


def _question(request: RequestForm) -> Endpoint:
    question = request.question
    return Endpoint(
        "GET", request.path, request.name, request.summary, question.result, question.scope, question.group, (404, 409),
        request=request,
    )  # fmt: skip


def _receive(path: str, name: str, summary: str, result: str, *, status: int) -> Endpoint:
    return Endpoint("POST", path, name, summary, result, "send", "receive", (status, *_RECEIVE_STATUSES))


ENDPOINTS: tuple[Endpoint, ...] = (
    *map(_question, REQUESTS.values()),
    _receive(
        "/api/v1/lineage", "receive", "Receive one OpenLineage event. 201 means that the event is on disk.",
        "Received", status=201,
    ),
    _receive(
        "/api/v1/lineage/batch", "receive_batch",
        "Receive several events: a JSON array, or one event per line. Invalid events do not affect the valid ones.",
        "BatchReceived", status=200,
    ),
    Endpoint("GET", "/api/v1/status", "status", "Snapshot, receiver and ingest state.", "ServerStatus"),
    Endpoint("GET", "/healthz", "healthz", "Whether the process is alive.", "Health", "open"),
    Endpoint(
        "GET", "/readyz", "readyz", "Whether the server receives events (503 if not). `lineage`: it has answers.",
        "Readiness", "open", statuses=(503,),
    ),
    Endpoint("GET", "/metrics", "metrics", "Metrics for Prometheus.", "Text", media_type="text/plain"),
    Endpoint("GET", "/openapi.json", "openapi", "This API as OpenAPI 3.1.", "OpenApiDocument", "open"),
)  # fmt: skip

BY_NAME: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in ENDPOINTS}
